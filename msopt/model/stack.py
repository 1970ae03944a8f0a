"""Many scenarios of K devices side by side, as arrays, for what is solved for all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.model.acceptance import Geometric
from msopt.model.scenario import Problem, Scenario
from msopt.model.sharing import Sharing, stacked


@dataclass(frozen=True, eq=False)
class ScenarioStack:
    """S scenarios with K devices each, all of the geometric law and one way to share the uplink.

    The names are those of `Scenario`; devices have shape (S, K), what belongs to a scenario (S, 1).
    """

    acceptance: Geometric
    draft_s_per_token: FloatArray
    uplink_bandwidth_hz: FloatArray
    verify_idle_s: FloatArray
    verify_per_token_s: FloatArray
    uplink: Sharing
    scenarios: tuple[Scenario, ...]

    @classmethod
    def of(cls, scenarios: Sequence[Scenario]) -> Self:
        """Stack scenarios with as many devices, the geometric law, and one way to share the uplink."""

        def column(values: Sequence[float]) -> FloatArray:
            return np.array(values, dtype=float)[:, None]

        return cls(
            Geometric(np.array([s.acceptance.mean for s in scenarios])),
            np.array([s.draft_s_per_token for s in scenarios]),
            column([s.uplink_bandwidth_hz for s in scenarios]),
            column([s.verify_idle_s for s in scenarios]),
            column([s.verify_per_token_s for s in scenarios]),
            stacked([s.uplink for s in scenarios]),
            tuple(scenarios),
        )

    def verify_s(self, draft_length: FloatArray) -> FloatArray:
        """Verification time T_ver [s] for lengths of shape (S, K), shape (S,)."""
        per_token = self.verify_per_token_s * np.sum(draft_length, axis=-1, keepdims=True)
        return np.asarray(self.verify_idle_s + per_token)[..., 0]

    def token_payload_bits(self, problem: Problem) -> FloatArray:
        """What one drafted token sends [bit], shape (S, 1)."""
        return np.array([[s.token_payload_bits(problem)] for s in self.scenarios])

    def length_limits(self, problem: Problem) -> tuple[IntArray, IntArray]:
        """Least and greatest draft length, shapes (S, 1)."""
        limits = np.array([s.length_limits(problem) for s in self.scenarios], dtype=np.int64)
        return limits[:, :1], limits[:, 1:]
