"""The three conditions of the best real lengths, linearised around an iterate (design section 4, ours).

At the optimum every length solves E_k' = G c1 + nu beta_k'(l_k/D), the band is full, and a longer deadline gains
nothing, nu sum_k beta_k' x_k = G. The first are one equation for each length and are eliminated here; the other
two remain, in t = ln(D - D_min) and p = ln nu. G is the Lagrangian's value, whose error is quadratic in that of the
iterate, so it needs no equation.

Arrays have shape (..., K), or (..., 1) where they belong to a scenario.
"""

from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, FloatArray, total
from msopt.lengths.response import Response

_LEAST_SHARE = 0.3  # of the tokens that a band overused by far may not take away: the value stays positive
_INNER_STEPS = 20  # quadratic convergence ends it long before; else the outer steps go on from there
_TINY_LENGTH = 1e-18  # [token] in place of 0: logarithms and paces stay finite, and no digit of a sum changes
_ENDLESS_PACE = 1e15  # [token/s] in place of infinity
_SMALL_CHANGE = 0.1  # of a length or of the band in use: Newton's error is then a hundredth
_AT_LIMIT = 1e-9  # relative: nearer to a limit than this a length is at it


class Linear(NamedTuple):
    """The conditions around an iterate, to first order in t and p.

    `length` + `change` + `by_t` dt + `by_p` dp is what solves every length's own condition; `used` is the band in
    use after `change` over the whole band, `gain` is ln(N'(D)/G).
    """

    length: FloatArray
    change: FloatArray
    by_t: FloatArray
    by_p: FloatArray
    used: FloatArray
    used_by_t: FloatArray
    used_by_p: FloatArray
    gain: FloatArray
    gain_by_t: FloatArray
    gain_by_p: FloatArray


class _Lengths(NamedTuple):
    """Lengths at a deadline and a price: `change` is still missing to their own conditions.

    `share` is that of bandwidth in the cost of a token, `stiffness` D times the fall of ln E' that the price asks
    for with a token more, `soft` tokens for a fall by one, 0 for those that a limit holds; `goodput` is G.
    """

    length: FloatArray
    change: FloatArray
    pace: FloatArray
    share: FloatArray | float
    stiffness: FloatArray
    soft: FloatArray
    slope: FloatArray
    curvature: FloatArray
    used: FloatArray
    goodput: FloatArray


class JointConditions:
    """The conditions of one or many scenarios for deadlines above the shortest, shape (..., 1) [s]."""

    def __init__(self, response: Response, shortest_s: FloatArray) -> None:
        self._response = response
        self._shortest = shortest_s
        self._explicit = response.explicit and not response.tokens_cost
        self.least = np.maximum(response.low, _TINY_LENGTH)
        need = response.need
        self._beyond_reach = np.minimum(1.0 / (need.draft_s + need.bits / need.uplink.ceiling()), _ENDLESS_PACE)

    def at(self, t: FloatArray, p: FloatArray, near: FloatArray) -> Linear:
        """The conditions at (t, p), lengths near those given."""
        excess, price = np.exp(t), np.exp(p)
        deadline = self._shortest + excess
        cap = np.maximum(self._response.cap(deadline), self.least)
        here = self._closed_form(deadline, p, price, cap) if self._explicit else self._near(deadline, price, cap, near)
        length, change, pace, share, stiffness, soft, slope, curvature, used, goodput = here
        band = self._response.band
        by_t, by_p = stiffness * pace * soft * (excess / deadline), -share * soft
        pull = total(slope * pace)
        faster = (by_t - pace * excess) / deadline  # dx/dt
        bend = (slope + curvature * pace) / pull  # d ln(pull)/dx for each device
        gain = p + np.log(pull / goodput)
        if not self._explicit:
            used, gain = used + total(slope * change) / deadline, gain + total(bend * change) / deadline
        return Linear(
            length,
            change,
            by_t,
            by_p,
            used / band,
            total(slope * faster) / band,
            total(slope * by_p) / (deadline * band),
            gain,
            total(bend * faster),
            1.0 + total(bend * by_p) / deadline,
        )

    def goodput(self, deadline: FloatArray, length: FloatArray, unused: FloatArray | float) -> FloatArray:
        """The Lagrangian's value, kept positive where the iterate is far from using just the whole band."""
        tokens = total(self._response.acceptance.expected_tokens(length))
        tokens = np.maximum(tokens + unused, _LEAST_SHARE * tokens)
        return np.asarray(tokens / (deadline + self._response.verify_s(length)))

    def _closed_form(self, deadline: FloatArray, p: FloatArray, price: FloatArray, cap: FloatArray) -> _Lengths:
        """[MS] Proposition 1, where it holds: nothing is left to change."""
        response = self._response
        free = response.explicit_lengths(deadline, p)
        length = np.minimum(np.maximum(free, self.least), cap)
        pace = length / deadline
        band, slope, curvature = response.bandwidth(pace)
        used = total(band)
        stiffness = curvature / slope
        soft = (free == length) / (stiffness / deadline - response.acceptance.log_slope)
        goodput = self.goodput(deadline, length, price * deadline * (response.band - used))
        return _Lengths(length, np.zeros_like(used), pace, 1.0, stiffness, soft, slope, curvature, used, goodput)

    def _near(self, deadline: FloatArray, price: FloatArray, cap: FloatArray, near: FloatArray) -> _Lengths:
        """Newton's steps of each length, until what they still change is small."""
        response = self._response
        length = np.minimum(np.maximum(near, self.least), cap)
        goodput = np.zeros_like(deadline)
        for _ in range(_INNER_STEPS):
            pace = length / deadline
            band, slope, curvature = response.bandwidth(pace)
            used = total(band)
            # The Lagrangian's best value is at least that of any lengths.
            value = self.goodput(deadline, length, price * deadline * (response.band - used))
            goodput = np.maximum(goodput, value)
            priced = price * slope
            cost = priced + goodput * response.token_cost_s
            share = priced / cost
            stiffness = share * curvature / slope
            fall = stiffness / deadline - response.acceptance.log_slope
            worth = response.acceptance.log_marginal_tokens(length) - np.log(cost)
            soft = np.divide(1.0, fall, out=np.zeros_like(fall), where=self._free(length, cap, worth) & (fall > 0.0))
            step = np.where(soft > 0.0, worth, 0.0) * soft
            change = np.minimum(np.maximum(length + step, self.least), cap) - length
            more = total(slope * change) / deadline
            rough = np.abs(more) > _SMALL_CHANGE * np.minimum(used, response.band)
            rough |= np.any(np.abs(change) > _SMALL_CHANGE * np.maximum(length, _SMALL_CHANGE), axis=-1, keepdims=True)
            if not np.any(rough):
                break
            # The worth falls to minus infinity at a length beyond reach, as the logarithm of what is missing to it.
            missing = np.maximum(deadline * self._beyond_reach - length, _TINY_LENGTH)
            moved = np.minimum(np.maximum(length - missing * np.expm1(-step / missing), self.least), cap)
            length = np.where(rough, moved, length)
        return _Lengths(length, change, pace, share, stiffness, soft, slope, curvature, used, goodput)

    def _free(self, length: FloatArray, cap: FloatArray, worth: FloatArray) -> BoolArray:
        """Lengths that a limit does not hold: at a limit those that want to leave it."""
        held_low = (length <= self.least * (1.0 + _AT_LIMIT)) & (worth <= 0.0)
        held_high = (length >= cap * (1.0 - _AT_LIMIT)) & (worth >= 0.0)
        return np.asarray(~(held_low | held_high))
