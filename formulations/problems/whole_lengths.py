r"""Whole lengths for a given deadline: a multiple-choice knapsack, mixed-integer linear (ours; HiGHS).

.. math::
    \max_{z \in \{0,1\}} \frac{\sum_{k,l} E_k(l)\, z_{kl}}{D + T_{ver}(z)} \quad\text{s.t.}\quad
    \sum_l z_{kl} = 1, \quad \sum_{k,l} w_k(l)\, z_{kl} \le 1, \quad
    w_k(l) = \frac{1}{B} R_k^{-1}\Bigl(\frac{q\, l}{D - \tau_k l}\Bigr),

where a length that does not fit the deadline is left out. With c1 > 0 the ratio is met by Dinkelbach's
iteration: at a guess G of the goodput maximise the tokens less G times the round time; at the optimum that
difference is 0, and until then its solution is the next guess. One pass does where c1 = 0.
"""

from typing import ClassVar, final

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.problems.at_deadline import AtDeadline
from msopt.arrays import FloatArray
from msopt.model.budget import within_budget
from msopt.model.control import Control
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario


@final
class WholeLengths(AtDeadline):
    """The best whole lengths for a deadline; any law and sharing.

    Parameters
    ----------
    scenario : Scenario
        Any law and sharing.
    deadline_s : float
        When all drafts must be there [s].
    """

    name = "whole-lengths"
    solvers = ("HIGHS",)
    passes: ClassVar[int] = 2
    least_repeats: ClassVar[int] = 20
    agreement: ClassVar[float] = 1e-9

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        return *super()._structure(scenario), f"lengths {scenario.length_limits('heterogeneous')}"

    def _build(self) -> cp.Maximize:
        least, greatest = self.scenario.length_limits("heterogeneous")
        shape = (greatest - least + 1, self.scenario.device_count)
        z = self.variable("chosen", shape, boolean=True)
        value, weight, fits = (self.parameter(name, shape) for name in ("value", "weight", "fits"))
        charge = self.parameter("round_charge")
        self.constrain("one_length", cp.sum(z, axis=0) == 1)
        self.constrain("fits", z <= fits)
        self.constrain("bandwidth", cp.sum(cp.multiply(weight, z)) <= 1)
        self.quantity("draft_length", np.arange(least, greatest + 1.0) @ z, "token")
        return cp.Maximize(1.0 + cp.sum(cp.multiply(value, z)) - charge)

    @property
    def _lengths(self) -> FloatArray:
        least, greatest = self.scenario.length_limits("heterogeneous")
        return np.arange(least, greatest + 1.0)[:, None] * np.ones(self.scenario.device_count)

    def _estimate(self) -> None:
        least, _ = self.scenario.length_limits("heterogeneous")
        lengths = np.full(self.scenario.device_count, float(least))
        self._guess = round_at(self.scenario, lengths, self._given)

    def rescale(self, found: bool) -> None:
        """Dinkelbach: the last solution's goodput is the next guess."""
        if found:
            self._guess = round_at(self.scenario, self.decision()["draft_length"], self._given)

    def _set_parameters(self) -> None:
        scenario, lengths = self.scenario, self._lengths
        tokens, goodput = float(np.sum(self._guess.expected_tokens)), float(self._guess.goodput)
        slack = self._given - lengths * scenario.draft_s_per_token
        bits = scenario.token_payload_bits("heterogeneous") * lengths
        rate = np.where(slack > 0.0, bits / np.where(slack > 0.0, slack, 1.0), 1.0)
        weight = np.where(slack > 0.0, scenario.uplink.bandwidth(rate), np.inf) / scenario.uplink_bandwidth_hz
        weight = np.where(lengths == 0.0, 0.0, weight)
        cost = goodput * scenario.verify_per_token_s * lengths
        self.set("value", (scenario.acceptance.expected_tokens(lengths) - cost) / tokens)
        self.set("weight", np.where(weight <= 1.0, weight, 1.0))
        self.set("fits", weight <= 1.0)
        self.set("round_charge", goodput * (self._given + scenario.verify_idle_s) / tokens)

    @property
    def objective_scale(self) -> float:
        """Tokens per second of one unit: the guess, which at the optimum is the objective."""
        return float(self._guess.goodput)

    def decision(self) -> Decision:
        """Whole lengths [token] and the bandwidths they need [Hz]."""
        chosen = np.argmax(self.solved("chosen"), axis=0)
        weight = np.take_along_axis(self.given("weight"), chosen[None, :], axis=0)[0]
        whole = self.scenario.uplink_bandwidth_hz
        band = within_budget(weight * whole, whole)
        return {"draft_length": np.take_along_axis(self._lengths, chosen[None, :], axis=0)[0], "bandwidth_hz": band}

    def score(self, decision: Decision) -> float:
        """Goodput at the deadline [token/s]."""
        return float(round_at(self.scenario, decision["draft_length"], self._given).goodput)

    def control(self, decision: Decision) -> Control:
        """The lengths and bandwidths as a control."""
        return Control(
            problem="heterogeneous",
            draft_length=np.rint(decision["draft_length"]).astype(np.int64),
            bandwidth_hz=decision["bandwidth_hz"],
        )
