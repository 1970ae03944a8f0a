"""Which lengths of one device can be best at all, whatever the others do (ours).

With the others fixed C is linear in rho_k, so device k maximises E_k(l) - G c1 l - g rho_k(l) for some price
g >= 0 of its rejection: only vertices of the upper concave hull of the points (rho_k(l), E_k(l) - G c1 l) can
be best. Where E_k is convex in rho_k the hull has two vertices, the least and the greatest length: all or
nothing. It is convex where c1 = 0 and the ratio S(l+1)/S(l) never falls, as in the geometric and the Beta law.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray, every_length
from msopt.model.acceptance import Acceptance
from msopt.modes.mode_problem import ModeProblem

_NEVER_FALLS = 1e-12  # relative: the rounding of a curve that was computed as products
_ROUND_OFF = 1e-14  # of a worth: a point so little above an edge lies on it


def all_or_nothing(problem: ModeProblem) -> bool:
    """Whether every device drafts, at the best, the minimum or all that fits the deadline."""
    if problem.scenario.verify_per_token_s > 0.0:
        return False
    acceptance: Acceptance = problem.scenario.acceptance
    if acceptance.geometric:
        return True
    low, high = problem.limits
    survival = acceptance.survival(every_length((low, high), problem.scenario.device_count))
    # S(l+1)/S(l) never falls: S(l+1)^2 <= S(l) S(l+2).
    middle, around = survival[1:-1] ** 2, survival[:-2] * survival[2:]
    return bool(np.all(middle <= around * (1.0 + _NEVER_FALLS)))


def upper_hull(rejection: FloatArray, worth: FloatArray) -> IntArray:
    """Indices of the points on the upper concave hull, from the first to the last.

    Points are in the order of `rejection`, which never falls. Of points with the same rejection the one of
    the greatest worth counts; points that lie on an edge, but for round-off, are left out.
    """
    kept: list[int] = []
    for i in range(rejection.size):
        if kept and rejection[i] == rejection[kept[-1]]:
            if worth[i] <= worth[kept[-1]]:
                continue
            kept.pop()
        while len(kept) > 1 and _below_chord(rejection, worth, kept[-2], kept[-1], i):
            kept.pop()
        kept.append(i)
    return np.array(kept, dtype=np.int64)


def _below_chord(x: FloatArray, y: FloatArray, first: int, middle: int, last: int) -> bool:
    slack = _ROUND_OFF * abs(y[middle]) * (x[last] - x[first])
    return bool((y[middle] - y[first]) * (x[last] - x[first]) <= (y[last] - y[first]) * (x[middle] - x[first]) + slack)
