"""Problem `heterogeneous`: a draft length for each device, as whole numbers, with a bound (design section 4)."""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.homogeneous import solve_homogeneous
from msopt.relaxed import RelaxedOptimum, length_split, lengths_around, solve_relaxed
from msopt.scenario import Scenario
from msopt.whole_lengths import improve


@dataclass(frozen=True, eq=False)
class HeterogeneousOptimum:
    """The best whole control that was found, and what bounds every other.

    Attributes
    ----------
    draft_length : array of int, shape (K,)
    bandwidth_hz : array, shape (K,)
        The split that lets all finish together [Hz].
    relaxed : RelaxedOptimum
        The optimum over real lengths.
    bound : float
        No whole control has more goodput [token/s]: the optimum with every E_k replaced by its piecewise
        linear interpolation through the whole lengths.
    """

    draft_length: IntArray
    bandwidth_hz: FloatArray
    relaxed: RelaxedOptimum
    bound: float


def solve_heterogeneous(scenario: Scenario) -> HeterogeneousOptimum:
    """The relaxed optimum turned into whole lengths by rounding and local search, with the interpolated bound.

    Local search starts from the roundings of the relaxed optimum, from the homogeneous control, and from
    the vertices of the interpolated program at deadlines around its best: all its lengths but one or two
    are whole.
    """
    return whole_optimum(scenario, solve_relaxed(scenario))


def whole_optimum(scenario: Scenario, relaxed: RelaxedOptimum) -> HeterogeneousOptimum:
    """The same from a relaxed optimum at hand, whoever found it."""
    interpolated = interpolated_optimum(scenario)
    vertices = lengths_around(_piecewise(scenario), interpolated)
    real = relaxed.draft_length
    common = solve_homogeneous(scenario).draft_length
    starts = np.vstack([np.floor(real), np.rint(real), np.ceil(real), common, np.floor(vertices), np.ceil(vertices)])
    lengths = improve(scenario, starts)
    _, share = length_split(scenario, lengths.astype(float))
    return HeterogeneousOptimum(lengths, share, relaxed, interpolated.goodput)


def interpolated_optimum(scenario: Scenario) -> RelaxedOptimum:
    """The optimum with every E_k piecewise linear between whole lengths: the tighter bound for whole controls."""
    return solve_relaxed(_piecewise(scenario))


def _piecewise(scenario: Scenario) -> Scenario:
    return scenario.replace(acceptance=scenario.acceptance.interpolated())
