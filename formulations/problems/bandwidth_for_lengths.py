r"""The split for given lengths ([MS] Lemmas 2 and 3).

.. math::
    \min_{B, D} D \quad\text{s.t.}\quad L_k \Bigl(\tau_k + \frac{q}{R_k(B_k)}\Bigr) \le D, \quad \sum_k B_k \le B.

The lemmas say that at the optimum all latencies are equal. Devices with length 0 take no part. Both ways to
share the band; the program is that of `equal_latency`.
"""

from typing import Any, final

import numpy as np

from formulations.problems.equal_latency import EqualLatency
from msopt.arrays import FloatArray, vector
from msopt.errors import ParameterError
from msopt.model.scenario import Problem, Scenario


def _lengths(scenario: Scenario, draft_length: Any) -> FloatArray:
    lengths = vector(draft_length, "draft_length")
    if lengths.size != scenario.device_count or not np.all(np.isfinite(lengths) & (lengths >= 0.0)):
        raise ParameterError(f"draft_length needs {scenario.device_count} finite numbers of at least 0")
    return lengths


@final
class BandwidthForLengths(EqualLatency):
    """Least deadline D [s] for given lengths, and its split.

    Parameters
    ----------
    scenario : Scenario
        Any sharing.
    draft_length : K numbers
        Whole or relaxed [token].
    """

    name = "bandwidth-for-lengths"
    objective_unit = "s"

    def __init__(self, scenario: Scenario, draft_length: Any) -> None:
        self._given = _lengths(scenario, draft_length)
        super().__init__(scenario)

    def update(self, scenario: Scenario, draft_length: Any = None) -> None:
        """Take another scenario, and other lengths where given."""
        self._given = _lengths(scenario, self._given if draft_length is None else draft_length)
        super().update(scenario)

    @property
    def lengths(self) -> FloatArray:
        """The given lengths."""
        return self._given

    @property
    def payload_problem(self) -> Problem:
        """Tokens travel with their distribution."""
        return "heterogeneous"
