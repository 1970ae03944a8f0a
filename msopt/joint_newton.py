"""Problem `heterogeneous` with real lengths by one Newton iteration on deadline, price and lengths (ours).

At the optimum three conditions meet (design section 4): every length solves E_k' = G c1 + nu beta_k'(l_k/D),
the band is full, and a longer deadline gains nothing, nu sum_k beta_k' x_k = G. Each step linearises all of
them; eliminating the lengths, one equation each, leaves two equations in t = ln(D - D_min) and p = ln nu. G is
the Lagrangian's value, whose error is quadratic in that of the iterate, so it needs no equation. A handful of
passes over the devices suffices at any K; where a device sits at a kink the iteration may fail, and says so.

Arrays have shape (..., K), or (..., 1) where they belong to a scenario: many scenarios are solved at once.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.response import Response

_STEPS = 30
_INNER_STEPS = 20
_CONVERGED = 1e-9  # the step that follows one this small is exact: convergence is quadratic
_GREATEST_STEP = 1.5
_FARTHEST_STEP = 30.0
_GREATEST_PRICE_STEP = 3.0
_TRUSTED_PRICE_STEP = 2.0
_SEARCH_STEP = 0.5
_PATIENCE = 2
_LITTLE = 1e-3
_SOME = 1e-18
_SMALL_CHANGE = 0.1
_NEARLY_FULL = 0.02
_AT_LIMIT = 1e-9
_LEAST_SHARE = 0.3
_NOTHING_LEFT = 1e-12
_FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class JointPoint:
    """D [s], ln nu, the lengths, and whether the iteration came to an end there.

    It ends where the steps vanish, or on the way to the shortest deadline. Whether a point is optimal is for
    `msopt.kkt` to say.
    """

    deadline_s: FloatArray
    log_price: FloatArray
    length: FloatArray
    ended: BoolArray


@dataclass(frozen=True, eq=False)
class _Linear:
    """The conditions around an iterate, to first order in t and p.

    `change` + `by_t` dt + `by_p` dp is what solves every length's own condition; `used` is the band in use
    after `change` over the whole band, `gain` is ln(N'(D)/G).
    """

    change: FloatArray
    by_t: FloatArray
    by_p: FloatArray
    used: FloatArray
    used_by_t: FloatArray
    used_by_p: FloatArray
    gain: FloatArray
    gain_by_t: FloatArray
    gain_by_p: FloatArray


@dataclass(frozen=True, eq=False)
class _Step:
    """Newton's step.

    `dp` fills the band at the same deadline, `price_by_t` is dp/dt along a full band, which `dt` adds; `gain` is
    that of the full band, `error` the largest thing still to change.
    """

    dt: FloatArray
    dp: FloatArray
    price_by_t: FloatArray
    gain: FloatArray
    error: FloatArray


class JointNewton:
    """The iteration between the deadlines at which all draft the least and the most, shape (..., 1) [s]."""

    def __init__(self, response: Response, shortest_s: FloatArray, longest_s: FloatArray) -> None:
        self._response = response
        self._band = response.band
        self._shortest = shortest_s
        self._longest = longest_s
        self._explicit = response.explicit and not np.any(response.token_cost_s > 0.0)
        self._least = np.maximum(response.low, _SOME)

    def first_guess(self, per_token_s: FloatArray) -> JointPoint:
        """The best common length, from the papers' asymptote sqrt(2 T_ver/(theta |ln alpha|)), and its price."""
        response = self._response
        low, high = response.low[..., :1], response.high[..., :1]
        fall = np.median(np.maximum(-response.acceptance.log_slope, _FLAT), axis=-1, keepdims=True)
        common = np.sqrt(2.0 * response.idle_s / (per_token_s * fall))
        common = np.minimum(np.maximum(common, low), 0.5 * (low + high))
        near = self._shortest + _SMALL_CHANGE * (response.idle_s + self._shortest)
        deadline = np.where(common > low, per_token_s * common, near)
        deadline = np.minimum(deadline, 0.5 * (self._shortest + self._longest))
        length = np.minimum(np.maximum(common, self._least), response.cap(deadline))
        _, slope, _ = response.bandwidth(length / deadline)
        price = self._goodput(deadline, length, np.zeros_like(deadline)) * deadline / _sum(slope * length)
        return JointPoint(deadline, np.log(price), length, np.zeros(deadline.shape, dtype=bool))

    def run(self, start: JointPoint) -> JointPoint:
        """Newton's steps, kept within a bracket, until every scenario has ended or the patience has."""
        t, p, length = np.log(start.deadline_s - self._shortest), start.log_price, start.length
        bracket, reach = _Bracket(t, np.log(self._longest - self._shortest)), np.full_like(t, _GREATEST_STEP)
        nothing = np.log(_NOTHING_LEFT * (self._shortest + self._response.idle_s))
        ended, stopped = np.zeros(t.shape, dtype=bool), np.zeros(t.shape, dtype=bool)
        for _ in range(_STEPS):
            here, linear = self._linearise(t, p, length)
            step = _newton(linear, reach)
            # Towards the shortest deadline steps may grow, but only while the lengths keep up with them.
            far = (step.dt == -reach) & (_greatest(np.abs(linear.change)) < _NEARLY_FULL)
            reach = np.where(far, np.minimum(2.0 * reach, _FARTHEST_STEP), _GREATEST_STEP)
            converged = step.error < _CONVERGED
            safe_dp, safe_dt = bracket.within(t, p, linear, step)
            # Where the bracket is so tight that round-off leaves it, the plain step is the better one.
            dt = np.where(converged, step.dt, safe_dt)
            dp = np.where(converged, step.dp + step.price_by_t * step.dt, safe_dp)
            # A row that stopped stays as it is, whatever the others still need.
            halted = stopped | (t < nothing) | ~np.isfinite(dt + dp)
            dt, dp = np.where(halted, 0.0, dt), np.where(halted, 0.0, dp)
            moved = np.clip(here + linear.change + linear.by_t * dt + linear.by_p * dp, self._least, None)
            moved = np.where(halted, here, np.minimum(moved, self._response.high))
            length = np.where(stopped, length, moved)
            t, p = t + dt, p + dp
            ended = np.where(stopped, ended, (t < nothing) | converged)
            stopped = halted | ended
            if np.all(stopped):
                break
        return JointPoint(self._shortest + np.exp(t), p, length, ended)

    def _linearise(self, t: FloatArray, p: FloatArray, length: FloatArray) -> tuple[FloatArray, _Linear]:
        """Lengths near their own conditions at (D, nu), and everything's derivatives there."""
        response = self._response
        excess, price = np.exp(t), np.exp(p)
        deadline = self._shortest + excess
        cap = np.maximum(response.cap(deadline), self._least)
        length = np.clip(response.explicit_lengths(deadline, p) if self._explicit else length, self._least, cap)
        token_cost: FloatArray | None = None
        for _ in range(_INNER_STEPS):
            pace = length / deadline
            band, slope, curvature = response.bandwidth(pace)
            used = _sum(band)
            if token_cost is None:
                goodput = self._goodput(deadline, length, price * deadline * (self._band - used))
                token_cost = goodput * response.token_cost_s
            priced = price * slope
            cost = priced + token_cost
            share = priced / cost
            stiffness = share * curvature / slope
            fall = stiffness / deadline - response.acceptance.log_slope
            worth = response.acceptance.log_marginal_tokens(length) - np.log(cost)
            soft = np.divide(1.0, fall, out=np.zeros_like(fall), where=self._free(length, cap, worth) & (fall > 0.0))
            if self._explicit:
                change, more = np.zeros_like(length), np.zeros_like(used)
                break
            change = np.where(soft > 0.0, worth, 0.0) * soft
            change = np.clip(length + change, self._least, cap) - length
            more = _sum(slope * change) / deadline
            rough = np.abs(more) > _SMALL_CHANGE * np.minimum(used, self._band)
            rough |= np.any(np.abs(change) > _SMALL_CHANGE * np.maximum(length, _SMALL_CHANGE), axis=-1, keepdims=True)
            if not np.any(rough):
                break
            length = np.where(rough, length + change, length)
        by_t, by_p = stiffness * pace * soft * (excess / deadline), -share * soft
        per_pull = 1.0 / _sum(slope * pace)
        faster = (by_t - pace * excess) / deadline  # dx/dt
        bend = slope + curvature * pace  # d(beta' x)/dx
        return length, _Linear(
            change,
            by_t,
            by_p,
            (used + more) / self._band,
            _sum(slope * faster) / self._band,
            _sum(slope * by_p) / (deadline * self._band),
            p - np.log(per_pull * goodput) + _sum(bend * change) * per_pull / deadline,
            _sum(bend * faster) * per_pull,
            1.0 + _sum(bend * by_p) * per_pull / deadline,
        )

    def _free(self, length: FloatArray, cap: FloatArray, worth: FloatArray) -> BoolArray:
        """Lengths that a limit does not hold: at a limit those that want to leave it."""
        held_low = (length <= self._least * (1.0 + _AT_LIMIT)) & (worth <= 0.0)
        held_high = (length >= cap * (1.0 - _AT_LIMIT)) & (worth >= 0.0)
        return np.asarray(~(held_low | held_high))

    def _goodput(self, deadline: FloatArray, length: FloatArray, unused: FloatArray) -> FloatArray:
        """The Lagrangian's value, kept positive where the iterate is far from using just the whole band."""
        tokens = _sum(self._response.acceptance.expected_tokens(length))
        tokens = np.maximum(tokens + unused, _LEAST_SHARE * tokens)
        return np.asarray(tokens / (deadline + self._response.verify_s(length)))


def _sum(values: FloatArray) -> FloatArray:
    return np.asarray(np.sum(values, axis=-1, keepdims=True))


def _greatest(values: FloatArray) -> FloatArray:
    return np.asarray(np.max(values, axis=-1, keepdims=True))


def _newton(linear: _Linear, reach: FloatArray) -> _Step:
    """Newton's step in (t, p), the step in t at most `reach`."""
    elastic = linear.used_by_p < 0.0
    by_p = np.where(elastic, linear.used_by_p, -1.0)
    # ln(used) is nearly linear in p; a linearised use below 0 asks for the longest step.
    excess = np.where(linear.used > 0.0, np.log(np.maximum(linear.used, np.finfo(float).tiny)), -_FARTHEST_STEP)
    dp = -excess * np.maximum(linear.used, _LITTLE) / by_p
    price_by_t = -linear.used_by_t / by_p
    gain = linear.gain + linear.gain_by_p * dp
    fall = -(linear.gain_by_t + linear.gain_by_p * price_by_t)
    steep = fall > 0.0
    dt = np.clip(gain / np.where(steep, fall, 1.0), -reach, reach)
    dt = np.where(steep, dt, np.copysign(_SEARCH_STEP, gain))
    dt = np.where(np.abs(dp) > _TRUSTED_PRICE_STEP, 0.0, dt)
    # Where every length is at a limit t alone fills the band and p alone balances the gain.
    fill = np.clip((1.0 - linear.used) / linear.used_by_t, -_GREATEST_STEP, _GREATEST_STEP)
    dt, price_by_t = np.where(elastic, dt, fill), np.where(elastic, price_by_t, 0.0)
    dp = np.where(elastic, dp, -linear.gain - linear.gain_by_t * fill)
    largest = _greatest(np.abs(linear.change))
    error = np.maximum(np.maximum(np.abs(dt), np.abs(dp)), np.maximum(np.abs(linear.used - 1.0), largest))
    return _Step(dt, dp, price_by_t, np.where(elastic, gain, linear.gain), error)


class _Bracket:
    """What is known of t, and of p while t stays: steps that leave it are halved into it."""

    def __init__(self, t: FloatArray, latest: FloatArray) -> None:
        self._earliest, self._latest = np.full_like(t, -np.inf), latest
        self._cheapest, self._dearest = np.full_like(t, -np.inf), np.full_like(t, np.inf)
        self._lowered: IntArray = np.zeros(t.shape, dtype=np.int64)

    def within(self, t: FloatArray, p: FloatArray, linear: _Linear, step: _Step) -> tuple[FloatArray, FloatArray]:
        """The whole step in p, and that in t."""
        elastic = linear.used_by_p < 0.0
        off = np.maximum(np.abs(linear.used - 1.0), _greatest(np.abs(linear.change)))
        sure = np.maximum(off, np.where(elastic, np.abs(step.dp), 0.0)) < _NEARLY_FULL
        sure &= np.abs(step.gain - linear.gain) < _LEAST_SHARE * np.abs(step.gain)
        self._earliest = np.where(sure & (step.gain > 0.0), np.maximum(self._earliest, t), self._earliest)
        self._latest = np.where(sure & (step.gain <= 0.0), np.minimum(self._latest, t), self._latest)
        outside = elastic & (step.dt != 0.0) & ~((self._earliest < t + step.dt) & (t + step.dt < self._latest))
        inside = 0.5 * (np.maximum(self._earliest, t - _GREATEST_STEP) + self._latest)
        dt = np.where(outside, inside - t, step.dt)
        dp = step.dp + step.price_by_t * dt
        return self._price(p, dp, dt, linear.used > 1.0)

    def _price(
        self, p: FloatArray, dp: FloatArray, dt: FloatArray, overfull: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        self._cheapest = np.where(overfull, p, self._cheapest)
        self._dearest = np.where(overfull, self._dearest, p)
        falls = (dp < -_TRUSTED_PRICE_STEP) & (self._cheapest == -np.inf)
        self._lowered = np.where(overfull, 0, self._lowered + falls)
        # However cheap, bandwidth is left over: the deadline is too long.
        dt = np.where(falls & (self._lowered > _PATIENCE), -_SEARCH_STEP, dt)
        dp = np.clip(dp, -_GREATEST_PRICE_STEP, _GREATEST_PRICE_STEP)
        bounded = np.isfinite(self._cheapest) & np.isfinite(self._dearest)
        outside = (dt == 0.0) & bounded & ~((self._cheapest < p + dp) & (p + dp < self._dearest))
        middle = 0.5 * (np.where(bounded, self._cheapest, p) + np.where(bounded, self._dearest, p))
        dp = np.where(outside, middle - p, dp)
        self._cheapest = np.where(dt != 0.0, -np.inf, self._cheapest)
        self._dearest = np.where(dt != 0.0, np.inf, self._dearest)
        return dp, dt
