r"""The least common latency, shared by `bandwidth_minmax` and `bandwidth_for_lengths` ([MS] Lemmas 1, 2 and 3).

.. math::
    \min_{B, \theta} \theta \quad\text{s.t.}\quad R_k(B_k)\,(\theta - t_k) \ge q_k, \quad \sum_k B_k \le B,

where device k is busy for t_k before it sends q_k bits. Scaled: \theta = t_{max} + w_0 u with w_0 a guess of
what the busiest device has left; the guess gives each device its time a_k = w_0 + t_{max} - t_k, its rate q_k/a_k
and its bandwidth B_{0k}, so that the product of a scaled time and a scaled rate must reach one. Fixed SNR: the
scaled rate is the scaled bandwidth. Power-limited: a relative entropy, as in `uplink_sharing`. A second solve takes
its guess from the first.
"""

from abc import abstractmethod

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from formulations.terms.program_limits import BandwidthBudget
from formulations.terms.rate_cone import declare_rate, set_rate
from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.budget import within_budget
from msopt.model.goodput import finish_s
from msopt.model.scenario import Problem, Scenario
from msopt.model.sharing import LN2, FixedSnr

SMALLEST_SHARE = 1e-9
OTHER_UNITS = (1.0, 2.0, 0.5, 4.0)
"""Factors of what is left to the busiest device; a repeat takes the next. With every scaled time and rate near 1 ECOS
fails in one power-limited cell of 150."""


class EqualLatency(AbstractFormulation):
    """All devices end at the same time; what they send differs between the two programs."""

    passes = 2

    @property
    @abstractmethod
    def lengths(self) -> FloatArray:
        """Tokens each device drafts, shape (K,)."""

    @property
    @abstractmethod
    def payload_problem(self) -> Problem:
        """The problem whose payload a token carries."""

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        return *super()._structure(scenario), scenario.uplink_sharing

    def _build(self) -> cp.Minimize:
        K = self.scenario.device_count
        u, b = self.variable("latency"), self.variable("bandwidth", K)
        rest, lead = self.parameter("rest", K, nonneg=True), self.parameter("lead", K, nonneg=True)
        share = self.parameter("share", K, nonneg=True)
        offset = self.parameter("offset", nonneg=True)
        if isinstance(self.scenario.uplink, FixedSnr):
            rate: cp.Expression = b
        else:
            rate = self._power_limited_rate(b)
        time = u * rest + lead
        self.constrain("latency", cp.SOC(time + rate, cp.vstack([2.0 * np.ones(K), time - rate])))
        used = cp.multiply(share, b)
        self.quantity("bandwidth_hz", used, "Hz", lambda: self.scenario.uplink_bandwidth_hz)
        self.limit(BandwidthBudget())
        self.quantity("latency_s", u + offset, "s", lambda: self.rest_0)
        return cp.Minimize(u + offset)

    def _power_limited_rate(self, b: cp.Variable) -> cp.Variable:
        K = self.scenario.device_count
        rate = self.variable("rate", K)
        declare_rate(self, cp.multiply(self.parameter("bits", K, nonneg=True), rate), b, cp.Constant(1.0))
        return rate

    # Units.

    def _estimate(self) -> None:
        scenario = self.scenario
        self.busy = self.lengths * scenario.draft_s_per_token
        self.bits = self.lengths * scenario.token_payload_bits(self.payload_problem)
        if not np.any(self.bits > 0.0):
            raise ParameterError(f"{self.name}: no device drafts a token, so there is nothing to send")
        self.latest = float(np.max(self.busy))
        airtime = self.bits / scenario.uplink.rate(np.full(scenario.device_count, scenario.equal_share_hz))
        self._left_s = max(float(np.max(self.busy + airtime)) - self.latest, 1e-12 * self.latest)

    def rescale(self, found: bool) -> None:
        """Take what is left to the busiest device from the last answer; repeats are in other units."""
        if usable := found and float(self.solved("latency")) > 0.0:
            self._left_s = self.rest_0 * float(self.solved("latency"))
        super().rescale(usable)

    @property
    def rest_0(self) -> float:
        """The unit of what is left to the busiest device [s]."""
        return self._left_s * OTHER_UNITS[self.tried % len(OTHER_UNITS)]

    def _set_parameters(self) -> None:
        scenario, band = self.scenario, self.scenario.uplink_bandwidth_hz
        time = self.rest_0 + self.latest - self.busy
        rate = self.bits / time
        share = np.minimum(scenario.uplink.bandwidth(rate), band)
        if not isinstance(scenario.uplink, FixedSnr):
            share = np.maximum(share, SMALLEST_SHARE * band)
            self.set("bits", rate * LN2 / share)
            set_rate(self, scenario.uplink_snr * band / share)
        self.set("rest", self.rest_0 / time)
        self.set("lead", (self.latest - self.busy) / time)
        self.set("share", share / band)
        self.set("offset", self.latest / self.rest_0)

    @property
    def objective_scale(self) -> float:
        """Seconds of one unit."""
        return self.rest_0

    # Solution.

    def decision(self) -> Decision:
        """Bandwidths [Hz], within the band."""
        bandwidth = within_budget(np.maximum(self.bandwidth_hz.value, 0.0), self.scenario.uplink_bandwidth_hz)
        return {"bandwidth_hz": bandwidth, "latency_s": self.latency_s.value}

    def score(self, decision: Decision) -> float:
        """When the last device is done [s]."""
        finished = finish_s(self.scenario, self.payload_problem, self.lengths, decision["bandwidth_hz"])
        return float(np.max(finished))
