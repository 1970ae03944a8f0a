r"""A bound for the draft lengths at a deadline that lets rejections follow any joint law (ours; linear).

Device k's rejection has probability 1 - S_k(L_k), independently of the others. Keep only these marginals, let
lengths be mixed, and the best goodput at a deadline A is bounded by

.. math::
    \max_{z, \pi \ge 0}
    \frac{\sum_{k,l} E_k(l) z_{kl}}{A + T_{ver}(z) + \sum_{\mathcal R} T(\mathcal R) \pi_{\mathcal R}}
    \quad\text{s.t.}\quad \sum_{\mathcal R \ni k} \pi_{\mathcal R} = \sum_l (1 - S_k(l)) z_{kl}, \quad
    \sum_l z_{kl} = 1, \quad \sum_{\mathcal R} \pi_{\mathcal R} = 1,

over lengths that fit the deadline, l u_k <= A. Divided by the round time it is a linear program; T(\mathcal R) is the
least time of a rejected set, here by trying every choice of modes, 3^K in all, so K <= 10.
"""

from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.problems.at_deadline import AtDeadline
from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError
from msopt.model.goodput import Round
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2

LARGEST_K = 10
FIT_RTOL = 1e-12


def rejected_sets(count: int) -> BoolArray:
    """All sets of devices as rows of a mask, shape (2^K, K); row 0 is the empty set."""
    return np.asarray((np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1)


def correction_times(scenario: Scenario) -> FloatArray:
    """Least time T of every rejected set [s], shape (2^K,), over all choices of modes.

    For a downlink set all powers end at the same time t, which solves sum_k p_k(t) = P with
    p_k/P = (2^(V r/(B_d t)) - 1)/(r SNRd_k).
    """
    sets = rejected_sets(scenario.device_count)
    need = sets @ (1.0 / scenario.downlink_snr)
    times = np.zeros(len(sets))
    for row, members in enumerate(sets[1:], start=1):
        r = int(np.sum(members))
        share = np.full(scenario.device_count, scenario.uplink_bandwidth_hz / r)
        up = scenario.distribution_bits / scenario.uplink.rate(share)
        down = np.flatnonzero(~np.any(sets & ~members, axis=1))
        slowest_up = np.max(np.where(members & ~sets[down], up, 0.0), axis=1)
        capacity = scenario.downlink_bandwidth_hz / r / LN2
        ends = np.zeros(down.size)
        ends[1:] = scenario.distribution_bits / (capacity * np.log1p(r / need[down[1:]]))
        times[row] = np.min(np.maximum(slowest_up, ends))
    return times


@final
class JointLawBound(AtDeadline):
    """An upper bound for the goodput of problem `modes` at a deadline.

    Parameters
    ----------
    scenario : Scenario
        At most 10 devices; any law.
    deadline_s : float
        A: when all drafts must be there [s].
    """

    name = "joint-law-bound"
    solvers = ("HIGHS", "CLARABEL", "ECOS")
    agreement: ClassVar[float] = 1e-7

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        if scenario.device_count > LARGEST_K:
            raise ParameterError(
                f"{self.name} tries every rejected set; {scenario.device_count} devices are above {LARGEST_K}"
            )
        return *super()._structure(scenario), f"lengths {scenario.length_limits('modes')}"

    def _build(self) -> cp.Maximize:
        least, greatest = self.scenario.length_limits("modes")
        K = self.scenario.device_count
        shape = (greatest - least + 1, K)
        s, z, pi = self.variable("s"), self.variable("chosen", shape), self.variable("outcome", 2**K)
        tokens, rejection, fits = (self.parameter(name, shape, nonneg=True) for name in ("tokens", "rejection", "fits"))
        idle, per_token = self.parameter("idle", nonneg=True), self.parameter("per_token", nonneg=True)
        correction = self.parameter("correction", 2**K, nonneg=True)
        lengths = np.arange(least, greatest + 1.0)
        sets = rejected_sets(K).astype(float)
        self.constrain("time", idle * s + per_token * cp.sum(lengths @ z) + correction @ pi == 1.0)
        self.constrain("one_length", cp.sum(z, axis=0) == s)
        self.constrain("one_outcome", cp.sum(pi) == s)
        self.constrain("marginals", sets.T @ pi == cp.sum(cp.multiply(rejection, z), axis=0))
        self.constrain("some_length", z >= 0.0)
        self.constrain("some_outcome", pi >= 0.0)
        self.constrain("fits", cp.sum(cp.multiply(1.0 - fits, z), axis=0) <= 0.0)
        self.quantity("mean_length", lengths @ z, "token", per=s)
        return cp.Maximize(cp.sum(cp.multiply(tokens, z)))

    @property
    def _lengths(self) -> FloatArray:
        least, greatest = self.scenario.length_limits("modes")
        return np.arange(least, greatest + 1.0)[:, None] * np.ones(self.scenario.device_count)

    @property
    def _per_token_s(self) -> FloatArray:
        """Time to draft a token and to send it over an equal share [s], shape (K,)."""
        scenario = self.scenario
        share = np.full(scenario.device_count, scenario.equal_share_hz)
        bits = scenario.token_payload_bits("modes")
        return np.asarray(scenario.draft_s_per_token + bits / scenario.uplink.rate(share))

    def shortest_s(self) -> float:
        """When the shortest drafts are there [s]: here the shares are equal."""
        return float(np.max(self._lengths[0] * self._per_token_s))

    def _estimate(self) -> None:
        scenario = self.scenario
        self._times = correction_times(scenario)
        self._fits = self._lengths * self._per_token_s <= self._given * (1.0 + FIT_RTOL)
        self.round_0 = self._given + scenario.verify_idle_s
        self.tokens_0 = float(scenario.device_count)

    def _set_parameters(self) -> None:
        scenario, lengths = self.scenario, self._lengths
        self.set("tokens", scenario.acceptance.expected_tokens(lengths) / self.tokens_0)
        self.set("rejection", 1.0 - scenario.acceptance.survival(lengths))
        self.set("fits", self._fits)
        self.set("idle", (self._given + scenario.verify_idle_s) / self.round_0)
        self.set("per_token", scenario.verify_per_token_s / self.round_0)
        self.set("correction", self._times / self.round_0)

    @property
    def objective_scale(self) -> float:
        """Tokens per second of one unit."""
        return self.tokens_0 / self.round_0

    def decision(self) -> Decision:
        """Probabilities of the lengths, shape (lengths, K), and of the rejected sets, shape (2^K,)."""
        mix, outcome = (np.maximum(self.solved(name), 0.0) for name in ("chosen", "outcome"))
        return {"mix": mix / np.sum(mix, axis=0), "outcome": outcome / np.sum(outcome)}

    def score(self, decision: Decision) -> float:
        """Tokens over time of the mixture [token/s]."""
        mix, lengths = decision["mix"], self._lengths
        played = Round(
            np.sum(mix * self.scenario.acceptance.expected_tokens(lengths), axis=0),
            np.asarray(self._given),
            self.scenario.verify_s(np.sum(mix * lengths, axis=0)),
            np.asarray(decision["outcome"] @ self._times),
        )
        return float(played.goodput)
