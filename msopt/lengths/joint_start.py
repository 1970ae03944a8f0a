"""Where the joint iteration begins: a deadline, a price and lengths near the best ones (ours).

Where a token more of everyone pays it is a common length. Else one or a few slow devices take most of the time for
the tokens they cannot do without, and the best deadline lies as close to the shortest one as leaves the others a
band: a few decades of deadlines are scanned, on a sample of the devices, with a split that any share can tell.

Arrays have shape (..., K), or (..., 1) where they belong to a scenario.
"""

from copy import copy

import numpy as np

from msopt.arrays import FloatArray, total
from msopt.lengths.response import Response
from msopt.model.acceptance import Geometric
from msopt.numerics.special import near_excess_root

_FLAT = 1e-6  # the least |ln alpha| of a common length, a million tokens a rejection
_SCANNED = np.geomspace(1e-9, 3.0, 39)  # of the shortest round, beyond the shortest deadline
_NONE_PAYS = 33  # of those, about a tenth: from there the way down to the shortest is short
_SAMPLE = 64  # devices, the slowest quarter of them as they are; each other one stands for its like


def common_guess(response: Response, per_token_s: FloatArray) -> FloatArray:
    """About the best common length, shape (..., 1); nothing above the least where few tokens pay.

    It is that of [MS] Theorem 1 for the median acceptance, held above half its asymptote
    sqrt(2 T_ver/(theta |ln alpha|)), because some devices draft in any case.
    """
    low, high = response.low[..., :1], response.high[..., :1]
    middle = response.low.shape[-1] // 2
    fall = np.maximum(-np.partition(response.acceptance.log_slope, middle, axis=-1)[..., middle : middle + 1], _FLAT)
    ratio = response.idle_s / per_token_s
    common = near_excess_root(np.maximum(ratio - 1.0, 0.0) * fall) / fall - ratio
    common = np.maximum(common, 0.5 * np.sqrt(2.0 * ratio / fall))
    return np.asarray(np.minimum(np.maximum(common, low), 0.5 * (low + high)))


def scanned_deadline(response: Response, shortest_s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A deadline [s] near the shortest one, ln nu there, and what it leaves to each device [Hz], shapes (..., 1).

    Every device has the band for the least length and an equal part of what is left.
    """
    some, stands_for = _sample(response)
    devices = response.low.shape[-1]

    def at(deadline: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        least, _, _ = some.bandwidth(some.low / deadline)
        each = np.maximum(some.band - total(stands_for * least), 0.0) / devices
        length = lengths_with(some, deadline, least + each)
        tokens = total(stands_for * some.acceptance.expected_tokens(length))
        return tokens / (deadline + some.idle_s + some.token_cost_s * total(stands_for * length)), each, length

    beyond = _SCANNED.reshape(-1, *np.ones(shortest_s.ndim, dtype=int)) * (shortest_s + response.idle_s)
    deadlines = shortest_s + beyond
    best = np.argmax(at(deadlines)[0], axis=0, keepdims=True)
    best = np.where(best > 0, best, _NONE_PAYS)
    deadline = np.take_along_axis(deadlines, best, axis=0)[0]
    goodput, each, length = at(deadline)
    _, slope, _ = some.bandwidth(length / deadline)
    return deadline, np.log(goodput * deadline / total(stands_for * slope * length)), each


def lengths_with(response: Response, deadline_s: FloatArray, share_hz: FloatArray) -> FloatArray:
    """The lengths that devices can send by a deadline with given shares, within their limits."""
    rate = response.need.uplink.rate(share_hz)
    length = deadline_s * rate / (response.need.bits + response.need.draft_s * rate)
    return np.asarray(np.minimum(np.maximum(length, response.low), response.cap(deadline_s)))


def _sample(response: Response) -> tuple[Response, FloatArray]:
    """A few devices of a scenario, and how many each of them stands for; all devices of a stack, or where few."""
    devices = response.low.shape[-1]
    if devices <= _SAMPLE or response.low.ndim > 1:
        return response, np.ones(devices)
    slowest = _SAMPLE // 4
    order = np.argpartition(-response.least_s_per_token, slowest)
    others = order[slowest:][:: max(1, (devices - slowest) // (_SAMPLE - slowest))]
    chosen = np.concatenate([order[:slowest], others])
    some = copy(response)
    some.acceptance = Geometric(response.acceptance.mean[chosen])
    some.need = response.need.take(chosen)
    for name in ("low", "high", "least_s_per_token"):
        setattr(some, name, getattr(response, name)[chosen])
    stands_for = np.ones(chosen.size)
    stands_for[slowest:] = (devices - slowest) / others.size
    return some, stands_for
