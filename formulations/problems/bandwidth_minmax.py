r"""The split that makes the slowest token fastest, one length for all ([MS] Lemma 1).

.. math::
    \min_{B, \theta} \theta \quad\text{s.t.}\quad \tau_k + \frac{q}{R_k(B_k)} \le \theta, \quad \sum_k B_k \le B.

The split does not depend on the length. Lemma 1 says that at the optimum all per-token latencies are equal.
Both ways to share the band; the program is that of `equal_latency`, one token for each device.
"""

from typing import final

import numpy as np

from formulations.problems.equal_latency import EqualLatency
from msopt.arrays import FloatArray
from msopt.model.scenario import Problem


@final
class BandwidthMinMax(EqualLatency):
    """Least per-token latency theta [s/token] and its split."""

    name = "bandwidth-minmax"
    objective_unit = "s/token"

    @property
    def lengths(self) -> FloatArray:
        """One token each."""
        return np.ones(self.scenario.device_count)

    @property
    def payload_problem(self) -> Problem:
        """Tokens travel with their distribution."""
        return "homogeneous"
