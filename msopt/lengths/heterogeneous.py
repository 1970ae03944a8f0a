"""Problem `heterogeneous`: a draft length for each device, as whole numbers, with a bound (design section 4).

Real lengths first; the search over whole ones starts from their roundings and, unless a proof is asked for, is short.
"""

from dataclasses import dataclass, replace

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.lengths.gap import BOUND_RTOL
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.region_search import prove
from msopt.lengths.relaxed import RelaxedOptimum, better, exact_goodput, length_split, solve_relaxed
from msopt.lengths.response import Response
from msopt.model.scenario import Scenario
from msopt.numerics.best_first import SearchEffort
from msopt.numerics.clock import Clock

USUAL_EFFORT = SearchEffort(regions=200, numbers=200_000_000)


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
        No whole control has more goodput [token/s].
    """

    draft_length: IntArray
    bandwidth_hz: FloatArray
    relaxed: RelaxedOptimum
    bound: float


def solve_heterogeneous(
    scenario: Scenario, effort: SearchEffort | None = None, start_length: IntArray | None = None
) -> HeterogeneousOptimum:
    """The relaxed optimum, and from its roundings the best whole lengths that a search of a given effort finds.

    ParameterError where the table of lengths is too large and an effort was given.

    Parameters
    ----------
    scenario : Scenario
    effort : SearchEffort, optional
        The usual one, 200 regions of deadlines and lengths, is most often enough for a proof; where the table of
        lengths is too large for the search, the best rounding is returned with the relaxed bound.
    start_length : array of int, shape (K,), optional
        Lengths to begin with beside the roundings.
    """
    limit_s = None if effort is None else effort.seconds
    clock = Clock(limit_s)
    relaxed = solve_relaxed(scenario, limit_s)
    if effort is not None:
        effort = replace(effort, seconds=clock.left_s)
    lengths, bound = _search(scenario, relaxed, effort, start_length)
    if relaxed.gap > BOUND_RTOL:
        relaxed = better(Response(scenario), relaxed, lengths.astype(float))
    return _optimum(scenario, relaxed, lengths, min(bound, relaxed.bound))


def whole_optimum(scenario: Scenario, relaxed: RelaxedOptimum) -> HeterogeneousOptimum:
    """The same from a relaxed optimum at hand, whoever found it; the bound does not rest on it."""
    lengths, bound = _search(scenario, relaxed, None)
    return _optimum(scenario, relaxed, lengths, bound if bound < np.inf else solve_relaxed(scenario).bound)


def _search(
    scenario: Scenario, relaxed: RelaxedOptimum, effort: SearchEffort | None, start_length: IntArray | None = None
) -> tuple[IntArray, float]:
    """The best whole lengths found, and the bound that the search proves: infinite where the table is too large."""
    low, high = scenario.length_limits("heterogeneous")
    real = relaxed.draft_length
    common = solve_homogeneous(scenario).draft_length
    given = common if start_length is None else start_length
    starts = np.clip(np.vstack([np.floor(real), np.rint(real), np.ceil(real), common, given]), low, high)
    try:
        proof = prove(scenario, starts, effort or USUAL_EFFORT)
    except ParameterError:
        if effort is not None:
            raise
        best = starts[np.argmax(exact_goodput(scenario, starts))]
        return np.asarray(np.rint(best), dtype=np.int64), np.inf
    return proof.draft_length, proof.bound


def _optimum(scenario: Scenario, relaxed: RelaxedOptimum, lengths: IntArray, bound: float) -> HeterogeneousOptimum:
    _, share = length_split(scenario, lengths.astype(float))
    return HeterogeneousOptimum(lengths, share, relaxed, bound)


def interpolated_bound(scenario: Scenario) -> float:
    """No whole control has more goodput [token/s]: the optimum with E_k piecewise linear, as far as that is proven.

    Its own residuals seldom prove it, because at a kink they leave the price open; then a search over deadlines
    does, which asks only for more than that.
    """
    relaxed = solve_relaxed(scenario.replace(acceptance=scenario.acceptance.interpolated()))
    if relaxed.gap <= BOUND_RTOL:
        return relaxed.bound
    try:
        proof = prove(scenario, effort=USUAL_EFFORT, claim=relaxed.goodput * (1.0 + BOUND_RTOL))
        return min(proof.bound, relaxed.bound)
    except ParameterError:  # the table of lengths is too large
        return relaxed.bound
