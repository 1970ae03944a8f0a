"""What the formulations share whose deadline is given: when all drafts must be there."""

from typing import ClassVar

import numpy as np

from formulations.core.formulation import AbstractFormulation
from formulations.terms.first_guess import common_latency
from msopt.errors import ParameterError, describe
from msopt.model.scenario import Scenario

ROUND_OFF = 1e-7
"""A deadline just long enough must not fail for its last digits: it may be exceeded by this share."""


class AtDeadline(AbstractFormulation):
    """A formulation of a scenario and a deadline.

    Parameters
    ----------
    scenario : Scenario
    deadline_s : float
        When all drafts must be there [s].
    """

    always_feasible: ClassVar[bool] = False

    def __init__(self, scenario: Scenario, deadline_s: float) -> None:
        self._given = _checked(deadline_s)
        super().__init__(scenario)

    def update(self, scenario: Scenario, deadline_s: float | None = None) -> None:
        """Take another scenario, and another deadline where given."""
        self._given = self._given if deadline_s is None else _checked(deadline_s)
        super().update(scenario)

    def known_infeasible(self) -> bool:
        """Whether the shortest drafts take longer than the deadline."""
        return self.shortest_s() > self._given * (1.0 + ROUND_OFF)

    def infeasible_cause(self) -> tuple[str, str]:
        """The deadline is too short for the shortest drafts."""
        took = f"the shortest drafts take {self.shortest_s():.6g} s, longer than deadline_s = {self._given:g}"
        return took, "raise deadline_s"

    def shortest_s(self) -> float:
        """When the shortest drafts can be there [s]."""
        scenario = self.scenario
        least = np.full(scenario.device_count, float(scenario.length_limits("heterogeneous")[0]))
        bits = least * scenario.token_payload_bits("heterogeneous")
        busy = least * scenario.draft_s_per_token
        if not np.any(bits > 0.0):
            return float(np.max(busy))
        latest, rest = common_latency(busy, bits, scenario.uplink, scenario.uplink_bandwidth_hz)
        return float(latest + rest)


def _checked(deadline_s: float) -> float:
    if not (np.isfinite(deadline_s) and deadline_s > 0.0):
        raise ParameterError(f"deadline_s = {describe(deadline_s)} is not a finite number above 0")
    return float(deadline_s)
