r"""The per-second variables and their units, shared by every draft-control program (design section 4, ours).

With s = 1/T, d = D/T and l = L/T the ratio of goodput becomes linear, and the round time one equation. What
differs between programs is the law (`acceptance_laws`), the sharing (`uplink_sharing`), what is maximised
(`utilities`) and what limits are put to it (`limits`).

Scaling (all values of a guess end in `_0`): with lengths L_0, slacks w_0 = D_0 - \tau L_0 and round time T_0,
the unknowns are \lambda = l/L_0, d in units of D_0/T_0 and \xi = (x - l) w_0/(r \tau L_0^2), all near one; the
second-order cone becomes

.. math:: r \frac{D - \tau l}{w_0}\,\xi_k \ge \lambda_k^2,

also where \tau = 0. The first factor is written out, not made a variable. The stretch r >= 1 is for devices
with \tau << D/L: their excess x - l costs next to nothing of the band, so that solvers let \xi run to 10^5 and
lose the cone in round-off; r makes it cost about STRETCH/K of the band. A second solve takes its guess from
the first; repeats change the stretch too. (All of 300 random draws with ECOS and with CLARABEL; without the
stretch and with a variable for the first factor, ECOS failed in 39 of them.)
"""

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision
from formulations.core.formulation import AbstractFormulation
from formulations.core.solvers import solvers_for
from formulations.terms.first_guess import SMALLEST_LENGTH, draft_control_guess
from formulations.terms.program_limits import GreatestLength, LeastLength
from formulations.terms.utility_terms import bears_units, check_utility, conic, in_units, value_of
from msopt.arrays import FloatArray
from msopt.errors import MsoptError
from msopt.model.acceptance import Acceptance
from msopt.model.budget import within_budget
from msopt.model.goodput import Round, finish_s, round_at
from msopt.model.objective import GOODPUT, Utility
from msopt.model.scenario import Problem, Scenario

SMALLEST_SLACK = 1e-9
"""The share of the deadline that a device is thought to have for sending, at least."""

COLLAPSED = 1e-2
"""A deadline below this share of its guess is no guess for the next pass."""

NO_TOKEN = 1e-7
"""A length below this [token] is none."""

STRETCH = 1e-3
"""What the excess bandwidth of all devices is scaled to cost at least, as a share of the band."""

OTHER_STRETCHES = (1.0, 3.0, 0.3, 10.0)
"""Factors of every stretch: the next one where a pass found no new units, and for every repeat, so that no attempt is
the one before."""

LARGEST_STRETCH = 1e3

LEAST_ROUND_RATE = 1e-3
"""A round may take a thousand times the guess. Without this, constraints that no round meets are met by s = 0."""


class PerSecondProgram(AbstractFormulation):
    """The per-second variables, their units and the score that all draft-control programs share.

    Attributes
    ----------
    common : bool
        Whether all devices draft equally many tokens.
    always_chords : bool
        Whether a geometric law, too, is piecewise linear between whole lengths.
    fixed_deadline_s : float or None
        When all drafts must be there [s]; None: the program chooses.
    utility : Utility
        What is maximised.
    scaled : bool
        Whether it is maximised in the program's units.
    parts : int
        What the unit of the sum is divided by for it: powers of a device's goodput want that near 1.
    """

    passes = 2
    common: bool = False
    always_chords: bool = False
    fixed_deadline_s: float | None = None
    utility: Utility = GOODPUT
    scaled: bool = True
    parts: int = 1

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        smooth = scenario.acceptance.geometric and not self.always_chords
        law = "geometric law" if smooth else f"lengths {scenario.length_limits(self.problem_name)}"
        return *super()._structure(scenario), law, scenario.uplink_sharing

    @property
    def problem_name(self) -> Problem:
        """The problem whose payload and length limits hold."""
        return "homogeneous" if self.common else "heterogeneous"

    @property
    def chords(self) -> bool:
        """Whether the expected tokens are piecewise linear between whole lengths."""
        return self.always_chords or not self.scenario.acceptance.geometric

    @property
    def acceptance(self) -> Acceptance:
        """The laws that count the tokens."""
        laws = self.scenario.acceptance
        return laws.interpolated() if self.chords else laws

    # Declaration.

    def _declare(self) -> tuple[cp.Variable, cp.Variable, cp.Expression]:
        """Round rate s, deadline share d and lengths, with what holds for every sharing and law."""
        K = self.scenario.device_count
        s, d = self.variable("s"), self.variable("d")
        length = self.variable("length") * np.ones(K) if self.common else self.variable("length", K)
        deadline = self.parameter("deadline", nonneg=True)
        idle = self.parameter("verify_idle", nonneg=True)
        per_token = self.parameter("verify_per_token", K, nonneg=True)
        unit, busy = (self.parameter(name, K, nonneg=True) for name in ("length_unit", "busy_unit"))
        deadline_unit, round_unit = (self.parameter(name, nonneg=True) for name in ("deadline_unit", "round_unit"))
        self.quantity("draft_length", cp.multiply(unit, length), "token", per=s)
        self.quantity("draft_s", cp.multiply(busy, length), "s", per=s)
        self.quantity("deadline_s", deadline_unit * d, "s", per=s)
        self.quantity("round_s", round_unit, "s", per=s)
        self.constrain("time", deadline * d + idle * s + per_token @ length == 1.0)
        self.constrain("finite_round", s >= LEAST_ROUND_RATE)
        self.limit(LeastLength(self.problem_name))
        self.limit(GreatestLength(self.problem_name))
        return s, d, length

    def _count(self, goodput: cp.Expression) -> cp.Maximize:
        """The utility of the devices' goodputs, which are in units of the guess of their sum."""
        self.quantity("device_goodput", goodput, "token/s", lambda: self.goodput_unit)
        return self._objective_of(self.utility)

    def _objective_of(self, utility: Utility) -> cp.Maximize:
        count = self.scenario.device_count
        check_utility(utility, count)
        goodput = self.device_goodput.expression
        self.scaled = utility is GOODPUT or bears_units(utility, count)
        self.parts = 1 if utility is GOODPUT or not self.scaled else count
        more: list[cp.Constraint] = []
        if not self.scaled:
            counted = self._counted_goodput()  # in token/s: a parameter by a variable, not by others
            more, goodput = [counted <= goodput], self.parameters["goodput_unit"] * counted
        elif self.parts > 1:
            goodput = float(self.parts) * goodput
        expression, cones = conic(utility, goodput)
        kept = {name: one for name, one in self.constraints.items() if not name.startswith("utility ")}
        self.constraints = kept
        for n, cone in enumerate([*more, *cones], start=1):
            self.constrain(f"utility {n}", cone)
        return cp.Maximize(expression)

    def _counted_goodput(self) -> cp.Variable:
        """The goodputs as variables of their own, with their unit as a number of the program."""
        if "goodput_unit" not in self.parameters:
            self.parameter("goodput_unit", nonneg=True)
            self.set("goodput_unit", self.goodput_unit)
            self.variable("counted", self.scenario.device_count)
        return self.variables["counted"]

    def maximise(self, utility: Utility) -> None:
        """Put another utility of the goodputs in place of the one in force; objective and prices are in its unit.

        Parameters
        ----------
        utility : Utility
            With an expression that says the same as its numbers; `GOODPUT`, the sum, is what programs begin with.

        Raises
        ------
        ParameterError
            Where the two differ, or there is no expression.
        FormulationError
            Where the expression is not concave by CVXPY's rules.
        """
        before = dict(vars(self))
        try:
            self._objective = self._objective_of(utility)
            self.utility, self.objective_unit = utility, utility.unit
            self.solvers = solvers_for(self.constraints.values(), self.declared_solvers)
            self._compile()
        except MsoptError:
            vars(self).update(before)
            raise

    def delay(self, d: cp.Variable, length: cp.Expression, excess: cp.Expression) -> None:
        """(p - l)(x - l) >= l^2 for all devices, in one vectorised second-order cone."""
        K = self.scenario.device_count
        deadline, busy = (self.parameter("slack_of_deadline", K, nonneg=True), self.parameter("busy", K, nonneg=True))
        slack = d * deadline - cp.multiply(busy, length)
        self.constrain("delay", cp.SOC(slack + excess, cp.vstack([2.0 * length, slack - excess])))

    def dual(self, name: str) -> FloatArray:
        """Multiplier of a named constraint, scaled."""
        return np.asarray(self.constraints[name].constraint.dual_value, dtype=float)

    # Units.

    def _estimate(self) -> None:
        length, round_s, slack = draft_control_guess(self.scenario, self.common, self.fixed_deadline_s)
        self._adopt(length, round_s, float(np.max(slack + self.scenario.draft_s_per_token * length)), slack)

    def rescale(self, found: bool) -> None:
        """Take lengths, deadline and slacks from the last answer, however inaccurate; else, and in repeats, stretch."""
        s, d = (float(self.solved(name)) if found else 0.0 for name in ("s", "d"))
        usable = s > 0.0 and d > COLLAPSED * s  # else nobody drafts, and the units stay
        super().rescale(usable)
        if usable:
            length = self.solved("length")
            slack = (self.deadline_0 * d - self.scenario.draft_s_per_token * self.length_0 * length) / s
            self._adopt(self.length_0 * length / s, self.round_0 / s, self.deadline_0 * d / s, slack)

    def _adopt(self, length: FloatArray, round_s: float, deadline_s: float, slack_s: FloatArray) -> None:
        least, greatest = self.scenario.length_limits(self.problem_name)
        self.length_0 = np.clip(length, max(least, SMALLEST_LENGTH), max(greatest, SMALLEST_LENGTH))
        self.round_0, self.deadline_0 = round_s, self.fixed_deadline_s or deadline_s
        self.slack_0 = np.clip(slack_s, SMALLEST_SLACK * self.deadline_0, self.deadline_0)
        self.tokens_0 = float(np.sum(self.acceptance.expected_tokens(self.length_0)))

    def set_common(self, share_of_length: FloatArray) -> FloatArray:
        """Set the shared parameters; returns x - l in units of L_0 for one unit of the excess.

        Parameters
        ----------
        share_of_length : array, shape (K,)
            Share of the band that L_0 tokens take when all of D_0 is left for sending.
        """
        scenario = self.scenario
        sigma = self.length_0 * scenario.draft_s_per_token / self.slack_0
        wanted = STRETCH / scenario.device_count
        cost = np.maximum(share_of_length * sigma, np.finfo(float).tiny)
        stretch = np.clip(wanted / cost, 1.0, LARGEST_STRETCH) * OTHER_STRETCHES[self.tried % len(OTHER_STRETCHES)]
        self.set("deadline", self.deadline_0 / self.round_0)
        self.set("verify_idle", scenario.verify_idle_s / self.round_0)
        self.set("verify_per_token", scenario.verify_per_token_s / self.round_0 * self.length_0)
        self.set("length_unit", self.length_0)
        self.set("busy_unit", scenario.draft_s_per_token * self.length_0)
        self.set("deadline_unit", self.deadline_0)
        self.set("round_unit", self.round_0)
        if "goodput_unit" in self.parameters:
            self.set("goodput_unit", self.goodput_unit)
        self.set("slack_of_deadline", stretch * self.deadline_0 / self.slack_0)
        self.set("busy", stretch * sigma)
        return np.asarray(sigma * stretch)

    @property
    def goodput_unit(self) -> float:
        """Tokens per second of one unit of goodput."""
        return self.tokens_0 / self.round_0

    @property
    def objective_scale(self) -> float:
        """The utility of one unit."""
        if not self.scaled:
            return 1.0
        return in_units(self.utility, self.scenario.device_count, self.goodput_unit / self.parts)[0]

    @property
    def objective_offset(self) -> float:
        """What the unit of goodput adds to a logarithm, say."""
        if not self.scaled:
            return 0.0
        return in_units(self.utility, self.scenario.device_count, self.goodput_unit / self.parts)[1]

    # Solution.

    def decision(self) -> Decision:
        """Relaxed lengths [token], bandwidths [Hz], times [s], and goodputs by the evaluator [token/s]."""
        least, greatest = self.scenario.length_limits(self.problem_name)
        bandwidth = within_budget(np.maximum(self.bandwidth_hz.value, 0.0), self.scenario.uplink_bandwidth_hz)
        length = np.clip(self.draft_length.value, least, greatest)
        length = np.where(length < NO_TOKEN, 0.0, length)
        return {
            "draft_length": length,
            "draft_s": length * self.scenario.draft_s_per_token,
            "bandwidth_hz": bandwidth,
            "deadline_s": self.deadline_s.value,
            "round_s": self.round_s.value,
            "device_goodput": self._played(length, bandwidth).device_goodput,
        }

    def _played(self, length: FloatArray, bandwidth: FloatArray) -> Round:
        """The round of relaxed lengths and bandwidths, by the evaluator.

        It verifies as soon as all drafts are there, or at a deadline that is given; where requirements can ask for a
        later one (energy over the round, say), at the deadline found.
        """
        scenario = self.scenario.replace(acceptance=self.acceptance)
        finished = float(np.max(finish_s(scenario, self.problem_name, length, bandwidth)))
        asked = self.fixed_deadline_s or (float(self.deadline_s.value) if self.requirements else 0.0)
        return round_at(scenario, length, max(finished, asked))

    def score(self, decision: Decision) -> float:
        """The utility of the goodputs that the evaluator finds."""
        return value_of(self.utility, decision["device_goodput"])
