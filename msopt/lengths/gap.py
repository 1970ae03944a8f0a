"""How far a point of the relaxed problem can be from its optimum: the Lagrangian as a proof (ours).

For a goodput G that is reached and any price nu >= 0 the function

    L(l, D) = sum_k E_k(l_k) - G (D + T_ver(l)) + nu D (B - sum_k beta_k(l_k/D))

is jointly concave and, wherever the band suffices, at least the excess N - G (D + T_ver). A concave function
lies below its tangents, so the stationarity residuals times the ranges of l and D bound the excess of every
feasible point, and with it the goodput.
"""

import numpy as np

from msopt.arrays import FloatArray, total
from msopt.lengths.response import Response

BOUND_RTOL = 1e-9
"""By how much a bound is raised at least, for the round-off of its proof."""


def optimality_gap(
    response: Response,
    length: FloatArray,
    deadline_s: FloatArray,
    price: FloatArray,
    goodput: FloatArray,
    deadlines_s: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """A relative bound, shape (..., 1): no real lengths have more than (1 + gap) times the goodput.

    Parameters
    ----------
    response : Response
    length : array, shape (..., K)
        Where L is linearised [token]; in reach by the deadline.
    deadline_s, price, goodput : arrays, shape (..., 1)
        D [s] and nu [token/(Hz s) times s], both above 0, and a goodput that is reached [token/s].
    deadlines_s : pair of arrays, shape (..., 1)
        The shortest and the longest deadline that can be best [s].
    """
    law, pace = response.acceptance, length / deadline_s
    band, slope, _ = response.bandwidth(pace)
    cost = price * slope + goodput * response.token_cost_s
    residual = np.exp(law.log_marginal_tokens(length)) - cost
    if response.kinked:
        # At a knot every slope between the two sides is a tangent's; the one nearest to 0 says most.
        before = np.where(law.knots, np.nextafter(length, 0.0), length)
        less = np.exp(law.log_marginal_tokens(before)) - cost
        residual = np.where(residual > 0.0, residual, np.minimum(less, 0.0))
    span = total(np.maximum(residual * (response.high - length), residual * (response.low - length)))
    unused = response.band - total(band)
    by_deadline = price * (unused + total(slope * pace)) - goodput
    spare = np.maximum(*(by_deadline * (end - deadline_s) for end in deadlines_s))
    tokens, seconds = total(law.expected_tokens(length)), deadline_s + response.verify_s(length)
    excess = tokens - goodput * seconds + price * deadline_s * unused
    shortest_round = deadlines_s[0] + response.verify_s(response.low)
    return np.asarray(np.maximum(excess + span + spare, 0.0) / (goodput * shortest_round))
