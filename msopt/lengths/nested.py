"""Problem `heterogeneous` with real lengths as three nested scalar searches (design section 4).

For a deadline D the price of bandwidth is the root of the bandwidth budget; over deadlines the goodput is
unimodal, with a slope of known sign, N'(D) - G where N'(D) = nu sum_k beta_k'(x_k) x_k by the envelope
theorem. With c1 > 0 the cost of a token contains the goodput itself; its fixed point is found at each
deadline. Each of the three equations is monotone, so the search is slow but cannot fail: it serves the laws
that are piecewise linear, and the kinks at which Newton's iteration gives up.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from msopt.arrays import FloatArray
from msopt.lengths.response import JointPoint, Response
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario
from msopt.numerics.clock import Clock
from msopt.numerics.margins import RISES
from msopt.numerics.special import log_or_minus_infinity

_BUDGET_RTOL = 1e-12  # of the band: a sum of K bandwidths is no more exact
_PRICE_STEPS = 200  # halving a bracket of 1e308 down to its last digit takes about 60
_PATIENCE = 4  # Newton's steps that do not halve the bracket, before it is halved
_GOODPUT_STEPS = 100  # Dinkelbach's ratios converge faster than linearly; ten are many
_DEADLINE_STEPS = 200  # as those of the price
_GAP_RTOL = 1e-12  # what no deadline left can gain
_NO_GAIN = -700.0  # ln of the least float, about: stands for no gain at all
_BEYOND = 1.0 + 1e-9  # times the longest deadline: more than its own round-off


@dataclass(frozen=True, eq=False)
class _AtDeadline:
    """The best lengths for one deadline, shape (K,); ln(N'(D)/G) is above 0 while a longer deadline pays."""

    deadline_s: float
    length: FloatArray
    goodput: float
    log_price: float
    log_gain: float

    @property
    def gain(self) -> float:
        """N'(D) [token/s]."""
        return self.goodput * float(np.exp(self.log_gain)) if self.log_gain > _NO_GAIN else 0.0


class NestedSearch:
    """The search for one scenario."""

    def __init__(self, scenario: Scenario, response: Response, time_limit_s: float | None = None) -> None:
        self.scenario = scenario
        self.response = response
        self.band = scenario.uplink_bandwidth_hz
        self._clock = Clock(time_limit_s)

    def run(self, shortest: float, longest: float) -> JointPoint:
        """The best point for deadlines from the one all minimum lengths need up to that of all maximum ones.

        Where drafting no more than the minimum is best, a point a hair above the shortest deadline. Every point solves
        its own deadline, so that also one at a limit has ended.
        """
        start = shortest * (1.0 + 1e-14) if shortest > 0.0 else 1e-6 * float(self.response.least_s_per_token.min())
        best = self._climb(shortest, start, max(longest, start))
        return JointPoint(np.array([best.deadline_s]), np.array([best.log_price]), best.length, np.array([True]))

    def _climb(self, shortest: float, start: float, longest: float) -> _AtDeadline:
        """The best point between `start` and `longest`, closed in from both sides.

        N is concave, so below its tangents on both sides; where they meet, their ratio bounds the goodput of
        the whole interval, and the search ends when nothing above the best point is left. It steps to that
        meeting point and to the secant of ln(N'/G) over ln(D - shortest) in turns: one is exact at kinks, the
        other where N is smooth. Returns the best point visited: where one device leaves no time to the others,
        neighbouring floats D are further apart in goodput than the tolerance.
        """
        left = self.at(start, None)
        if left.log_gain <= 0.0:
            return left
        # Just beyond the longest deadline the band is surely not full, and no gain is left.
        right = self.at(longest * _BEYOND, None)
        best = max(left, right, key=lambda point: point.goodput)
        for step in range(_DEADLINE_STEPS):
            meeting, ceiling = self._meeting(left, right)
            if ceiling <= best.goodput * (1.0 + _GAP_RTOL) or self._clock.over:
                break
            deadline = meeting if step % 2 == 0 else self._secant(left, right, shortest)
            if not left.deadline_s < deadline < right.deadline_s:
                deadline = 0.5 * (left.deadline_s + right.deadline_s)
            if not left.deadline_s < deadline < right.deadline_s:
                break
            found = self.at(deadline, left if left.log_price > -np.inf else right)
            best = max(best, found, key=lambda point: point.goodput)
            if found.log_gain > 0.0:
                left = found
            else:
                right = found
        return best

    def _meeting(self, left: _AtDeadline, right: _AtDeadline) -> tuple[float, float]:
        """Where the tangents of N at two points meet [s], and the goodput they allow there."""
        here, there = self._worth(left), self._worth(right)
        fall = left.gain - right.gain
        if fall <= 0.0:
            return right.deadline_s, max(left.goodput, right.goodput)
        part = (there - here - right.gain * (right.deadline_s - left.deadline_s)) / fall
        part = float(np.clip(part, 0.0, right.deadline_s - left.deadline_s))
        deadline = left.deadline_s + part
        return deadline, (here + left.gain * part) / (deadline + self.scenario.verify_idle_s)

    def _worth(self, point: _AtDeadline) -> float:
        """N(D): expected tokens less what verifying the drafts costs at the point's own goodput."""
        return point.goodput * (point.deadline_s + self.scenario.verify_idle_s)

    @staticmethod
    def _secant(left: _AtDeadline, right: _AtDeadline, shortest: float) -> float:
        low, high = np.log(left.deadline_s - shortest), np.log(right.deadline_s - shortest)
        if right.log_gain <= _NO_GAIN:
            return shortest + float(np.exp(0.5 * (low + high)))
        part = left.log_gain / (left.log_gain - right.log_gain)
        return shortest + float(np.exp(low + float(np.clip(part, 0.02, 0.98)) * (high - low)))

    def at(self, deadline: float, near: _AtDeadline | None) -> _AtDeadline:
        """Solve for one deadline, starting from a solution near by."""
        goodput = 0.0 if near is None else near.goodput
        log_price = -np.inf if near is None else near.log_price
        token_cost = self.scenario.verify_per_token_s
        for step in range(_GOODPUT_STEPS):
            log_cost = float(np.log(goodput * token_cost)) if goodput * token_cost > 0.0 else -np.inf
            length, log_price = self._fill_band(deadline, log_cost, log_price)
            before, goodput = goodput, float(round_at(self.scenario, length, deadline).goodput)
            # Dinkelbach's iterates rise from the second on; when they no longer do, only round-off is left.
            if token_cost == 0.0 or (step > 0 and goodput <= before * RISES):
                break
        pace = length / deadline
        _, slope, _ = self.response.bandwidth(pace)
        spread = float(np.sum(slope * pace))
        log_gain = log_price + float(np.log(spread / goodput)) if spread > 0.0 else _NO_GAIN
        return _AtDeadline(deadline, length, goodput, log_price, max(log_gain, _NO_GAIN))

    def _fill_band(self, deadline: float, log_cost: float, guess: float) -> tuple[FloatArray, float]:
        """Lengths and ln(nu) that use the whole band by a deadline; -inf where the band does not bind."""
        longest = self.response.lengths(deadline, -np.inf, log_cost)
        if self._used(longest, deadline) <= self.band:
            return longest, -np.inf
        shortest, cheap, dear = self.response.low, -np.inf, self._choking_price(deadline, log_cost)
        if self._used(shortest, deadline) >= self.band * (1.0 - _BUDGET_RTOL):
            return shortest, dear
        price, reach = guess if -np.inf < guess < dear else min(self._first_price(deadline), dear - 1.0), 1.0
        length, slow = longest, 0
        for _ in range(_PRICE_STEPS):
            length = self.response.lengths(deadline, price, log_cost, length)
            used, fall = self.response.use(length, deadline, price, log_cost)
            if abs(used - self.band) <= _BUDGET_RTOL * self.band:
                return length, price
            before = dear - cheap
            if used > self.band:
                cheap, longest = price, length
            else:
                dear, shortest = price, length
            if np.isfinite(dear) and dear - cheap <= 1e-15 * max(1.0, abs(dear)):
                break
            halved = dear - cheap <= 0.5 * before if np.isfinite(before) else bool(np.isfinite(dear - cheap))
            slow = 0 if halved else slow + 1
            newton = price + used / fall * float(np.log(used / self.band)) if fall > 0.0 else np.nan
            # Where lengths jump, Newton's steps can be arbitrarily short: then the bracket is halved.
            if abs(newton - price) > reach or not cheap < newton < dear or slow > _PATIENCE:
                newton, slow = 0.5 * (cheap + dear), 0
                if not np.isfinite(newton):
                    newton = cheap + reach if np.isfinite(cheap) else dear - reach
                    reach *= 2.0
            price = newton
        return self._blend(shortest, longest, deadline), dear if np.isfinite(dear) else price

    def _choking_price(self, deadline: float, log_cost: float) -> float:
        """The price above which every device stays at its minimum; infinite where the first token is free."""
        log_worth = self.response.acceptance.log_marginal_tokens(self.response.low)
        worth = np.exp(log_worth) - np.exp(log_cost)
        _, slope, _ = self.response.bandwidth(self.response.low / deadline)
        keen = worth > 0.0
        if np.any(slope[keen] == 0.0):
            return np.inf
        ratio = worth[keen] / slope[keen]
        return float(np.max(log_or_minus_infinity(ratio), initial=-np.inf))

    def _first_price(self, deadline: float) -> float:
        """The price at which the keenest device would draft at half its greatest pace."""
        _, slope, _ = self.response.bandwidth(0.5 / self.response.least_s_per_token)
        worth = self.response.acceptance.log_marginal_tokens(self.response.low) - log_or_minus_infinity(slope)
        return float(np.max(worth)) if np.isfinite(np.max(worth)) else 0.0

    def _used(self, length: FloatArray, deadline: float) -> float:
        band, _, _ = self.response.bandwidth(length / deadline)
        return float(np.sum(band))

    def _blend(self, shortest: FloatArray, longest: FloatArray, deadline: float) -> FloatArray:
        """Lengths that jump at the price (a linear E with a linear cost) are filled in proportion."""

        def excess(part: float) -> float:
            return self._used(shortest + part * (longest - shortest), deadline) - self.band

        if excess(0.0) >= 0.0:
            return shortest
        part = float(brentq(excess, 0.0, 1.0, xtol=1e-15, rtol=1e-14))
        return np.clip(shortest + part * (longest - shortest), self.response.low, self.response.high)
