"""Problem `heterogeneous` as a user of CVXPY would write it: SI units, no scaling, no first guess.

Divided by the round time T: s = 1/T [1/s], d = D/T, l tokens per second, eta = D B_k/T [Hz], g tokens a second.
The tokens are E_k = (1 - alpha^(L + 1))/(1 - alpha); x = l/(1 - tau l/d) is what has to be sent, were sending all that
the device did.
"""

import cvxpy as cp
import numpy as np

from msopt import Scenario
from msopt.arrays import FloatArray


class PlainProgram:
    """The program of a scenario with the geometric law and power-limited sharing."""

    def __init__(self, scenario: Scenario) -> None:
        K, bits = scenario.device_count, scenario.token_payload_bits("heterogeneous")
        alpha, tau = scenario.acceptance.mean, scenario.draft_s_per_token
        power_hz = scenario.uplink_snr * scenario.uplink_bandwidth_hz
        low, high = scenario.length_limits("heterogeneous")
        s, d = cp.Variable(), cp.Variable()
        l, x, eta, g = (cp.Variable(K) for _ in range(4))
        idle, extra = d - cp.multiply(tau, l), x - l
        self._per_round, self._lengths = s, l
        self.cvxpy = cp.Problem(
            cp.Maximize(cp.sum(g)),
            [
                d + scenario.verify_idle_s * s + scenario.verify_per_token_s * cp.sum(l) == 1,
                cp.sum(eta) <= scenario.uplink_bandwidth_hz * d,
                low * s <= l,
                l <= high * s,
                cp.ExpCone(cp.multiply(np.log(alpha), l + s), s * np.ones(K), s - cp.multiply(1 - alpha, g)),
                cp.SOC(idle + extra, cp.vstack([cp.multiply(2 * np.sqrt(tau), l), idle - extra])),
                bits * np.log(2.0) * x <= -cp.rel_entr(eta, eta + power_hz * d),
            ],
        )

    def solve(self, solver: str) -> tuple[str, FloatArray | None]:
        """The solver's status, or the error it ended with, and the lengths where it has any."""
        try:
            self.cvxpy.solve(solver=solver)
        except Exception as error:  # a solver may fail in any way; that is a result here
            return type(error).__name__, None
        if self._lengths.value is None or self._per_round.value is None:
            return str(self.cvxpy.status), None
        return str(self.cvxpy.status), np.asarray(self._lengths.value / self._per_round.value)
