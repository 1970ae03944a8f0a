"""Problem `heterogeneous` with real lengths by one Newton iteration on deadline, price and lengths (ours).

Each step solves the linearised conditions of `msopt.lengths.conditions`. A handful of passes over the devices
suffices at any K; where a device sits at a kink the iteration may fail, and says so.

Arrays have shape (..., K), or (..., 1) where they belong to a scenario: many scenarios are solved at once. What
some rows need beyond plain steps is computed for all, and touches those rows only.
"""

from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, FloatArray, greatest, total
from msopt.lengths.conditions import JointConditions, Linear
from msopt.lengths.joint_start import common_guess, lengths_with, scanned_deadline
from msopt.lengths.response import JointPoint, Response

_STEPS = 40  # twice the usual number; who needs more is left to the nested searches
_CONVERGED = 1e-14  # what the next step would still change: round-off
_CLOSE = 1e-6  # an error from which on the rate of two steps tells the next
# In t = ln(D - D_min) and p = ln nu, so that 0.7 is a factor of 2:
_GREATEST_STEP = 1.5
_FARTHEST_STEP = 30.0  # towards the shortest deadline, thirteen decades at once
_GREATEST_PRICE_STEP = 3.0
_LEAST_PRICE_REACH = 0.1  # after turns: lengths that leave their limits make the price swing between two far values
_TRUSTED_PRICE_STEP = 2.0  # a larger one moves the lengths too far for its own linear model
_SEARCH_STEP = 0.5  # where the slope has the wrong sign
_LEAST_USED = 1e-3  # of the band, in ln(used)
_KEEPS_UP = 0.02  # [token] still to change: lengths that follow a long step
_NOTHING_LEFT = 1e-12  # of a round, between a deadline and the shortest one: no goodput is left to gain


class _Step(NamedTuple):
    """Newton's step.

    `dp` fills the band at the same deadline, `price_by_t` is dp/dt along a full band, which `dt` adds; `error` is the
    largest thing still to change, `far` whether `dt` wants to go further down and the lengths keep up with it.
    """

    dt: FloatArray
    dp: FloatArray
    price_by_t: FloatArray
    error: FloatArray
    far: BoolArray


class JointNewton:
    """The iteration between the deadlines at which all draft the least and the most, shape (..., 1) [s]."""

    def __init__(self, response: Response, shortest_s: FloatArray, longest_s: FloatArray) -> None:
        self._response = response
        self._shortest = shortest_s
        self._longest = longest_s
        self._conditions = JointConditions(response, shortest_s)

    def start(self, per_token_s: FloatArray) -> JointPoint:
        """About the best common length, or where none pays a deadline near the shortest; and its price."""
        response, least = self._response, self._conditions.least
        common, middle = common_guess(response, per_token_s), 0.5 * (self._shortest + self._longest)
        slow = common <= response.low[..., :1]
        deadline = np.where(slow, middle, np.minimum(per_token_s * common, middle))
        length = np.minimum(np.maximum(common, least), response.cap(deadline))
        _, slope, _ = response.bandwidth(length / deadline)
        p = np.log(self._conditions.goodput(deadline, length, 0.0) * deadline / total(slope * length))
        if slow.any():
            rows = np.flatnonzero(slow) if slow.ndim > 1 else slice(None)
            some = response if isinstance(rows, slice) else response.take(rows)
            near, p[rows], share = scanned_deadline(some, self._shortest[rows])
            deadline[rows] = np.minimum(near, middle[rows])
            length[rows] = np.maximum(lengths_with(some, deadline[rows], share), least[rows])
        return JointPoint(deadline, p, length, np.zeros(deadline.shape, dtype=bool))

    def run(self, start: JointPoint) -> JointPoint:
        """Steps until every scenario has ended: where they vanish, or all but at the shortest deadline."""
        t, p, length = np.log(start.deadline_s - self._shortest), start.log_price, start.length
        latest = np.log(self._longest - self._shortest)
        nothing = np.log(_NOTHING_LEFT * (self._shortest + self._response.idle_s))
        reach, price_reach = np.full_like(t, _GREATEST_STEP), np.full_like(t, _GREATEST_PRICE_STEP)
        heading, price_heading, last = np.zeros_like(t), np.zeros_like(t), np.ones_like(t)
        ended, stopped = np.zeros(t.shape, dtype=bool), np.zeros(t.shape, dtype=bool)
        for _ in range(_STEPS):
            linear = self._conditions.at(t, p, length)
            step = _newton(linear, reach)
            # Convergence is quadratic: the next error is to this one as the square of what this one is to the last.
            rate, last = step.error / last, step.error
            converged = (step.error < _CLOSE) & (step.error * rate * rate < _CONVERGED)
            dt = np.where(t + step.dt < latest, step.dt, 0.5 * (latest - t))
            dp = np.minimum(np.maximum(step.dp + step.price_by_t * dt, -price_reach), price_reach)
            reach = _next_reach(reach, dt, heading, np.where(step.far, _FARTHEST_STEP, _GREATEST_STEP))
            price_reach = np.maximum(
                _next_reach(price_reach, dp, price_heading, _GREATEST_PRICE_STEP), _LEAST_PRICE_REACH
            )
            heading, price_heading = np.where(dt == 0.0, heading, dt), dp
            moved = linear.length + linear.change + linear.by_t * dt + linear.by_p * dp
            moved = np.minimum(np.maximum(moved, self._conditions.least), self._response.high)
            still = stopped | ~np.isfinite(dt + dp)
            if still.any():
                # A row that has ended, or gone astray, stays as it is, whatever the others still need.
                dt, dp = np.where(still, 0.0, dt), np.where(still, 0.0, dp)
                moved = np.where(stopped, length, np.where(still, linear.length, moved))
            length, t, p = moved, t + dt, p + dp
            ended = np.where(stopped, ended, (t < nothing) | converged)
            stopped = still | ended
            if stopped.all():
                break
        return JointPoint(self._shortest + np.exp(t), p, length, ended)


def _next_reach(
    reach: FloatArray, moved: FloatArray, heading: FloatArray, greatest_step: FloatArray | float
) -> FloatArray:
    """Half the step after a turn; then twice as much each time, up to the greatest step."""
    return np.where(moved * heading < 0.0, 0.5 * np.abs(moved), np.minimum(2.0 * reach, greatest_step))


def _newton(linear: Linear, reach: FloatArray) -> _Step:
    """Newton's step in (t, p), the step in t at most `reach`."""
    # ln(used) is nearly linear in p.
    used = np.maximum(linear.used, _LEAST_USED)
    dp = -np.log(used) * used / linear.used_by_p
    price_by_t = -linear.used_by_t / linear.used_by_p
    gain = linear.gain + linear.gain_by_p * dp
    fall = -(linear.gain_by_t + linear.gain_by_p * price_by_t)
    dt = gain / fall
    largest = greatest(np.abs(linear.change))
    steep, near = fall > 0.0, np.abs(dt) < reach
    # A deadline that answers for the band more than its price does fills it where the price is far off.
    elastic = (linear.used_by_p < 0.0) & ((np.abs(dp) <= _TRUSTED_PRICE_STEP) | (linear.used_by_p < linear.used_by_t))
    # Where the band hardly answers to its price, t fills it, and the two large steps in p all but cancel.
    trusted = np.abs(dp) <= _TRUSTED_PRICE_STEP
    trusted |= near & (np.abs(dp + price_by_t * dt) <= _TRUSTED_PRICE_STEP)
    regular = elastic & steep & trusted & near
    far = np.zeros(regular.shape, dtype=bool)
    if not regular.all():
        dt = np.where(steep, np.minimum(np.maximum(dt, -reach), reach), np.copysign(_SEARCH_STEP, gain))
        dt = np.where(trusted, dt, 0.0)
        # Where every length is at a limit t alone fills the band and p alone balances the gain.
        fill = np.clip((1.0 - linear.used) / linear.used_by_t, -_GREATEST_STEP, _GREATEST_STEP)
        dt, price_by_t = np.where(elastic, dt, fill), np.where(elastic, price_by_t, 0.0)
        dp = np.where(elastic, dp, -linear.gain - linear.gain_by_t * fill)
        far = (dt == -reach) & (largest < _KEEPS_UP)
    error = np.maximum(np.maximum(np.abs(dt), np.abs(dp)), np.maximum(np.abs(linear.used - 1.0), largest))
    return _Step(dt, dp, price_by_t, error, far)
