"""Problem `modes` as a function of the lengths alone: everything after the rejections is in one expectation."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from msopt.arrays import FloatArray, every_length
from msopt.model.goodput import Round, finish_s, rejection_probability, round_at
from msopt.model.scenario import Scenario
from msopt.modes.expected import ExpectedCorrection
from msopt.numerics.margins import FITS


@dataclass(frozen=True, eq=False)
class ModeProblem:
    """A scenario with the expected correction of one rule for the modes; lengths have shape (m, K)."""

    scenario: Scenario
    correction: ExpectedCorrection

    @property
    def limits(self) -> tuple[int, int]:
        """Least and greatest draft length."""
        return self.scenario.length_limits("modes")

    @cached_property
    def s_per_token(self) -> FloatArray:
        """u_k: drafting and sending one token over an equal share [s], shape (K,)."""
        return finish_s(self.scenario, "modes", 1.0, self.scenario.equal_share_hz)

    def rejection(self, lengths: FloatArray) -> FloatArray:
        """rho_k = 1 - S_k(L_k)."""
        return rejection_probability(self.scenario, lengths)

    def play(self, lengths: FloatArray) -> Round:
        """The rounds of m controls, each with its expected correction."""
        upload = np.max(lengths * self.s_per_token, axis=-1)
        return round_at(self.scenario, lengths, upload, self.correction.expected_s(self.rejection(lengths)))

    def goodput(self, lengths: FloatArray) -> FloatArray:
        """Goodput [token/s], shape (m,)."""
        return np.asarray(self.play(lengths).goodput)


def ends(problem: ModeProblem, deadline_s: float) -> tuple[FloatArray, FloatArray]:
    """E_k [token] and rho_k of the least lengths and of the greatest that make a deadline, shapes (2, K)."""
    greatest = fitting(problem, np.array([deadline_s]))[0]
    lengths = np.stack([np.full(greatest.size, float(problem.limits[0])), greatest])
    return problem.scenario.acceptance.expected_tokens(lengths), problem.rejection(lengths)


def fitting(problem: ModeProblem, deadline_s: FloatArray) -> FloatArray:
    """The longest lengths that make deadlines of shape (m,), shape (m, K); plain floor loses tokens to round-off."""
    low, high = problem.limits
    unit = problem.s_per_token
    ratio = np.divide(
        deadline_s[:, None], unit, out=np.full((deadline_s.size, unit.size), float(high)), where=unit > 0.0
    )
    return np.asarray(np.clip(np.floor(np.minimum(ratio, float(high)) * FITS), low, high))


def deadlines(problem: ModeProblem) -> FloatArray:
    """Every deadline that can be best [s]: products l u_k, from the one that all minimum lengths need on."""
    low, _ = problem.limits
    unit = problem.s_per_token
    least = low * float(unit.max())
    products = np.unique(every_length(problem.limits, unit.size) * unit)
    return np.concatenate([[least], products[products > least]])
