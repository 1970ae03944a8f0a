"""How good whole lengths can be with a deadline in an interval: a multiple-choice knapsack (ours, design section 4).

At a trial goodput G a device that drafts l tokens is worth v_k(l) = E_k(l) - G c1 l and weighs beta_k(l, D) hertz;
a control with deadline D beats G only if sum v_k - G (D + T) > 0, T the verification of a round without drafts,
and sum beta_k <= B. With a price nu of bandwidth and every weight replaced by a tangent in D, which lies below it,

    phi(D) = sum_k max_l [v_k(l) - nu w_k(l, D)] + nu B - G (D + T)

bounds that difference. For given lengths it is linear in D, so over an interval only its two ends matter, and the
error is of second order in the interval's length: at the best price phi is the linear relaxation of the knapsack.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, every_length
from msopt.lengths.need import BandwidthNeed
from msopt.model.scenario import Scenario
from msopt.numerics.margins import FITS

_STEEPEST_FALL = 0.5  # of a weight over half an interval: with more its tangent nears 0 and says nothing
_SORTED_WHOLE = 20_000  # tokens: sorting fewer takes no longer than picking those near a price
_NEAR_PRICE = 1.5  # times or divided by: prices of neighbouring regions are closer


@dataclass(frozen=True)
class Broken:
    """The one device of which the linear relaxation takes a part of a token: of the one after `length`.

    `gain` is what that part is worth [token]; without it the control is whole.
    """

    device: int
    length: int
    gain: float


@dataclass(frozen=True, eq=False)
class Region:
    """An interval of the deadline with the lengths that are left to each device.

    Attributes
    ----------
    start_s, end_s : float
        The interval.
    first, last : arrays of int, shape (K,)
        No control with other lengths and a deadline in the interval beats the trial goodput.
    price : float
        nu [token/Hz].
    excess : array, shape (2,)
        phi at either end [token]; no control in the region beats the trial goodput where both are at most 0.
    broken : Broken or None
        None where the band holds the longest lengths.
    """

    start_s: float
    end_s: float
    first: IntArray
    last: IntArray
    price: float
    excess: FloatArray
    broken: Broken | None


@dataclass(frozen=True, eq=False)
class Choices:
    """A region with the numbers behind its bound.

    Attributes
    ----------
    region : Region
    best : array, shape (2, K)
        The lengths that attain phi at either end.
    length : array, shape (n, K)
        The lengths each device may choose from.
    loss : array, shape (2, n, K)
        How far each is below the best one at either end [token]; infinite where it does not fit.
    value, weight, fall : arrays, shape (n, K)
        v [token], w in the interval's middle [Hz] and minus its derivative [Hz/s].
    """

    region: Region
    best: FloatArray
    length: FloatArray
    loss: FloatArray
    value: FloatArray
    weight: FloatArray
    fall: FloatArray


class MultipleChoice:
    """The knapsacks of one scenario, with lengths up to a given one."""

    def __init__(self, scenario: Scenario, longest: int) -> None:
        self.scenario = scenario
        self.low = scenario.length_limits("heterogeneous")[0]
        self._need = BandwidthNeed.of(scenario)
        self._tokens = scenario.acceptance.expected_tokens(every_length((self.low, longest), scenario.device_count))

    def examine(
        self,
        interval_s: tuple[float, float],
        window: tuple[IntArray, IntArray],
        goodput: float,
        near_price: float | None = None,
    ) -> Choices | None:
        """What may beat a goodput with a deadline in an interval and lengths within a window; None: nothing.

        Parameters
        ----------
        interval_s : pair of float
            Start and end [s].
        window : pair of arrays of int, shape (K,)
            Least and greatest length of each device.
        goodput : float
            The trial goodput [token/s].
        near_price : float, optional
            The price of a region near by, which saves sorting all tokens.
        """
        start, end = interval_s
        first, last = window
        half = 0.5 * (end - start)
        whole = first + np.arange(int(np.max(last - first)) + 1)[:, None]  # (n, K)
        fits, length = whole <= last, whole.astype(float)
        weight, fall, steep = self._tangents(length, fits, start + half, half)
        fits &= np.isfinite(weight)
        if not np.all(np.any(fits, axis=0)):
            return None
        value = np.where(fits, self._value(np.minimum(whole, last), goodput), -np.inf)
        weight, fall = np.where(fits, weight, 0.0), np.where(fits, fall, 0.0)
        at_ends = np.stack([weight + fall * half, weight - fall * half])  # (2, n, K)
        band = self.scenario.uplink_bandwidth_hz
        if float(np.sum(np.min(np.where(fits, at_ends[1], np.inf), axis=0))) > band * FITS:
            return None
        found = _price(value, weight, first, fits, band, near_price)
        prices = [] if found is None else [found]
        if steep or found is None:
            # Where a weight all but leaps, the price in the middle is far too low for the interval's end.
            prices.append(_price(value, at_ends[1], first, fits, band, near_price) or (0.0, None))
        seconds = np.array([start, end]) + self.scenario.verify_idle_s
        tops = [np.max(value - price * at_ends, axis=1) for price, _ in prices]  # (2, K) for each price
        bounds = [np.sum(top, axis=1) + price * band for top, (price, _) in zip(tops, prices, strict=True)]
        chosen = int(np.argmin([np.max(bound - goodput * seconds) for bound in bounds]))
        (price, broken), excess = prices[chosen], bounds[chosen] - goodput * seconds
        if np.max(excess) <= 0.0:
            return None
        loss = tops[chosen][:, None, :] - (value - price * at_ends)  # (2, n, K)
        kept = np.any(loss < excess[:, None, None], axis=0)  # (n, K)
        below, above = np.argmax(kept, axis=0), len(kept) - 1 - np.argmax(kept[::-1], axis=0)
        region = Region(start, end, first + below, first + above, price, excess, broken)
        return Choices(region, first + np.argmin(loss, axis=1).astype(float), length, loss, value, weight, fall)

    def _value(self, length: IntArray, goodput: float) -> FloatArray:
        tokens = np.take_along_axis(self._tokens, length - self.low, axis=0)
        return np.asarray(tokens - goodput * self.scenario.verify_per_token_s * length)

    def _tangents(
        self, length: FloatArray, inside: BoolArray, middle: float, half: float
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Each weight's tangent, as its value in the middle and minus its slope, (n, K); and whether any is steep.

        It touches in the middle, or, where it would fall too fast for that, at the end of the interval.
        """
        weight, fall = self._need.by_deadline(length, middle)
        steep = inside & (np.isinf(weight) | (fall * half > _STEEPEST_FALL * weight))
        rows, devices = np.nonzero(steep)
        if devices.size:
            at_end, fall_at_end = self._need.take(devices).by_deadline(length[rows, devices], middle + half)
            weight[rows, devices] = at_end + np.where(np.isfinite(at_end), fall_at_end, 0.0) * half
            fall[rows, devices] = fall_at_end
        return weight, fall, bool(devices.size)


def _price(
    value: FloatArray, weight: FloatArray, first: IntArray, fits: BoolArray, band: float, near: float | None
) -> tuple[float, Broken | None] | None:
    """The price at which the band is used up, and the token that no longer fits whole.

    None where the first lengths alone need more. Tokens in the order of what they gain by the hertz solve the
    linear relaxation, because values are concave in the length and weights convex.
    """
    room = band - float(np.sum(weight[0]))
    if room < 0.0 or not np.all(fits[0]):
        return None
    gain = np.where(fits[1:], value[1:] - np.where(fits[:-1], value[:-1], 0.0), 0.0)
    row, device = np.nonzero(fits[:-1] & (gain > 0.0))
    gain, cost = gain[row, device], np.maximum(weight[row + 1, device] - weight[row, device], 0.0)
    rate = np.divide(gain, cost, out=np.full_like(gain, np.inf), where=cost > 0.0)
    candidates = np.arange(rate.size)
    if near is not None and rate.size > _SORTED_WHOLE:
        above = rate > near * _NEAR_PRICE
        close = np.flatnonzero(~above & (rate > near / _NEAR_PRICE))
        left = room - float(np.sum(cost[above]))
        if 0.0 <= left < float(np.sum(cost[close])):
            candidates, room = close, left
    order = candidates[np.argsort(-rate[candidates])]
    filled = np.cumsum(cost[order])
    place = int(np.searchsorted(filled, room, side="right"))
    if place == order.size:
        return 0.0, None
    last = order[place]
    part = 1.0 - (float(filled[place]) - room) / float(cost[last])
    at = int(device[last])
    return float(rate[last]), Broken(at, int(first[at] + row[last]), part * float(gain[last]))
