"""How long each device drafts when bandwidth and tokens have a price (design section 4).

With x = l/D, tokens drafted per second, device k needs the bandwidth beta_k(x), convex in x whatever the deadline D
(`BandwidthNeed`). At the price nu of bandwidth and the cost G c1 of verifying one more token its best length is the
root of E_k'(l) = G c1 + nu beta_k'(l/D), between its limits. Prices are handled as logarithms: they span more
decades than a float does.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, total
from msopt.formulas.multispin import PricedLengths
from msopt.lengths.need import BandwidthNeed
from msopt.model.acceptance import Acceptance, Geometric
from msopt.model.goodput import finish_s
from msopt.model.scenario import Scenario
from msopt.model.sharing import FixedSnr
from msopt.model.stack import ScenarioStack
from msopt.numerics.special import log_or_minus_infinity

_STEPS = 200  # halvings of any bracket of floats down to its last digit
_TABLE_SPAN = 64  # whole lengths: a table of more takes longer than bisection
_NEWTON_RTOL = 1e-9  # the step after one this small is exact: convergence is quadratic
_BISECTION_RTOL = 1e-15  # the last digit
_LEAST_STIFFNESS = 1e-100  # below it a length jumps rather than moves
_LEAST_LENGTH = 1e-12  # a length below it need not be known any better


@dataclass(frozen=True, eq=False)
class JointPoint:
    """Where an iteration over deadline, price and lengths is: D [s] and ln nu, shapes (..., 1), and lengths, (..., K).

    Where it has not `ended`, shape (..., 1), a point proves nothing; where it has, `optimality_gap` says how much.
    """

    deadline_s: FloatArray
    log_price: FloatArray
    length: FloatArray
    ended: BoolArray


class Response:
    """The devices of a scenario, shape (K,), or of S scenarios with K devices each, shape (S, K).

    What belongs to a scenario has shape (1,) or (S, 1): `band` [Hz], `token_cost_s` (c1) and `idle_s`, the
    verification of a round without drafts [s].
    """

    def __init__(self, scenario: Scenario | ScenarioStack) -> None:
        self.acceptance: Acceptance | Geometric = scenario.acceptance
        self.need = BandwidthNeed.of(scenario)
        shape = self.need.draft_s.shape
        self.band = np.reshape(scenario.uplink_bandwidth_hz, (*shape[:-1], 1))
        self.token_cost_s = np.reshape(scenario.verify_per_token_s, self.band.shape)
        self.idle_s = np.reshape(scenario.verify_idle_s, self.band.shape)
        self.tokens_cost = bool(np.any(self.token_cost_s > 0.0))
        low, high = scenario.length_limits("heterogeneous")
        self.low, self.high = (np.broadcast_to(limit, shape).astype(float) for limit in (low, high))
        # With twice the band no solution reaches the cap, so the cap never carries a multiplier.
        self.least_s_per_token = finish_s(scenario, "heterogeneous", 1.0, 2.0 * self.band)
        # Whether some law is piecewise linear, and whether all are.
        self.kinked = not self.acceptance.geometric and bool(np.any(self.acceptance.knots))
        self._linear = self.kinked and bool(np.all(self.acceptance.knots))
        self._table: tuple[float, FloatArray, FloatArray] | None = None
        self._priced: PricedLengths | None = None
        self.explicit = self.acceptance.geometric and isinstance(scenario.uplink, FixedSnr)

    def take(self, rows: IntArray) -> "Response":
        """The devices of some scenarios of a stack, repeated or not."""
        taken = copy(self)
        taken._priced = None
        taken.acceptance = Geometric(self.acceptance.mean[rows])
        taken.need = self.need.take(rows)
        for name in ("band", "token_cost_s", "idle_s", "low", "high", "least_s_per_token"):
            setattr(taken, name, getattr(self, name)[rows])
        return taken

    def goodput(self, length: FloatArray, deadline_s: FloatArray) -> FloatArray:
        """Tokens per second of lengths of shape (..., K) that are there by a deadline, shapes (..., 1)."""
        return np.asarray(total(self.acceptance.expected_tokens(length)) / (deadline_s + self.verify_s(length)))

    def verify_s(self, length: FloatArray) -> FloatArray:
        """T_ver [s] of lengths of shape (..., K), shape (..., 1)."""
        return np.asarray(self.idle_s + self.token_cost_s * total(length)) if self.tokens_cost else self.idle_s

    def split(self, length: FloatArray, near_s: FloatArray | float = 0.0) -> tuple[FloatArray, FloatArray]:
        """`BandwidthNeed.split` of the whole band."""
        return self.need.split(length, self.band, near_s)

    def shortest_deadline(self, length: FloatArray, near_s: FloatArray | float = 0.0) -> FloatArray:
        """The deadline of `split` alone [s], shape (..., 1)."""
        return np.reshape(self.need.shortest_deadline(length, self.band, near_s), (*length.shape[:-1], 1))

    def bandwidth(self, pace: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """beta(x) [Hz] with its first and second derivative."""
        return self.need.at_pace(pace)

    def cap(self, deadline_s: FloatArray | float) -> FloatArray:
        """The longest length worth looking at for a deadline [token]."""
        return np.asarray(np.maximum(np.minimum(self.high, deadline_s / self.least_s_per_token), self.low))

    def lengths(
        self, deadline_s: float, log_price: float, log_cost: float, near: FloatArray | None = None
    ) -> FloatArray:
        """Best lengths at ln(nu) and ln(G c1), either of which may be -inf for none; `near` is a first guess."""
        cap = self.cap(deadline_s)
        if not self.explicit or log_cost > -np.inf:
            return self._stationary(deadline_s, log_price, log_cost, cap, near)
        if log_price == -np.inf:
            return np.where(self.acceptance.mean > 0.0, cap, self.low)
        return np.clip(self.explicit_lengths(np.asarray(deadline_s), np.asarray(log_price)), self.low, cap)

    def explicit_lengths(self, deadline_s: FloatArray, log_price: FloatArray) -> FloatArray:
        """Best lengths at ln(nu) within no limits, where tokens cost nothing and the closed form holds.

        [MS] Proposition 1.
        """
        if self._priced is None:
            _, airtime, _ = self.bandwidth(np.zeros(self.low.shape))
            self._priced = PricedLengths(self.acceptance.mean, self.need.draft_s, airtime)
        return self._priced.at(deadline_s, log_price)

    def use(self, length: FloatArray, deadline_s: float, log_price: float, log_cost: float) -> tuple[float, float]:
        """The bandwidth used [Hz], and how fast it falls with ln(nu); devices at a limit or knot do not move."""
        band, slope, curvature = self.bandwidth(length / deadline_s)
        moves = (length > self.low) & (length < self.cap(deadline_s)) & (slope > 0.0)
        moves &= ~(self.acceptance.knots & (length == np.floor(length)))
        slope = np.where(moves, slope, 1.0)
        priced = log_price + np.log(slope)
        share = np.exp(priced - np.logaddexp(priced, log_cost))
        stiffness = share * curvature / (slope * deadline_s) - self.acceptance.log_slope
        moves &= stiffness > _LEAST_STIFFNESS
        fall = float(np.sum(slope[moves] * share[moves] / stiffness[moves]) / deadline_s)
        return float(np.sum(band)), fall

    def _worth(
        self, length: FloatArray, log_marginal: FloatArray, deadline_s: float, log_price: float, log_cost: float
    ) -> tuple[FloatArray, FloatArray]:
        """ln E' - ln(G c1 + nu beta'), above 0 while another token pays; and its derivative."""
        _, slope, curvature = self.bandwidth(length / deadline_s)
        if log_price > -np.inf and ((slope > 0.0) & (slope < np.inf)).all():  # as usual, and in half the operations
            priced, bend = log_price + np.log(slope), curvature
            cost = priced
            if log_cost > -np.inf:
                cost = np.logaddexp(priced, log_cost)
                bend = np.exp(priced - cost) * curvature
            return log_marginal - cost, self.acceptance.log_slope - bend / (slope * deadline_s)
        priced = _priced(log_price, log_or_minus_infinity(slope))
        cost = np.logaddexp(priced, log_cost)
        bounded, carried = np.isfinite(cost), slope < np.inf
        none_left = np.isneginf(log_marginal)
        gain = np.where(none_left, -np.inf, np.where(none_left, 0.0, log_marginal) - cost)
        share = np.exp(np.where(bounded, priced, -np.inf) - np.where(bounded, cost, np.inf))
        curvature = np.where(carried, curvature, 0.0)
        moves = carried & (slope > 0.0)
        bend = np.divide(share * curvature, slope * deadline_s, out=np.zeros_like(slope), where=moves)
        return gain, self.acceptance.log_slope - bend

    def _stationary(
        self, deadline_s: float, log_price: float, log_cost: float, cap: FloatArray, near: FloatArray | None
    ) -> FloatArray:
        """A safeguarded Newton iteration on logarithms, for all devices at once.

        Without a guess it starts from the upper limit: `_worth` falls ever faster with the length, so the
        steps go down to the root without passing it.
        """
        prices = deadline_s, log_price, log_cost
        low, high = self._between_knots(cap, *prices)
        flat = self.acceptance.log_marginal_tokens(low)
        at_low, _ = self._worth(low, flat, *prices)
        high = np.where(at_low <= 0.0, low, high)
        # Between knots the limit itself is the answer as often as not, and is met exactly only from above.
        knots = self.acceptance.knots
        length = high if near is None or self._linear else np.where(knots, high, np.clip(near, low, high))
        for _ in range(_STEPS):
            marginal = flat if self._linear else np.where(knots, flat, self.acceptance.log_marginal_tokens(length))
            worth, slope = self._worth(length, marginal, *prices)
            low, high = np.where(worth >= 0.0, length, low), np.where(worth > 0.0, high, length)
            newton = length - np.divide(worth, slope, out=np.full_like(worth, np.inf), where=slope < 0.0)
            smooth = (newton >= low) & (newton <= high)
            following, tolerance = newton, np.asarray(_NEWTON_RTOL)
            if not smooth.all():
                following = np.where(smooth, newton, _middle(low, high))
                tolerance = np.where(smooth, _NEWTON_RTOL, _BISECTION_RTOL)
            still = np.abs(following - length) <= tolerance * np.maximum(_LEAST_LENGTH, length)
            length = following
            if still.all():
                break
        return length

    def _between_knots(
        self, cap: FloatArray, deadline_s: float, log_price: float, log_cost: float
    ) -> tuple[FloatArray, FloatArray]:
        """The limits, for piecewise linear laws narrowed to the two whole lengths between which the root lies."""
        low, high = self.low, cap
        knots = self.acceptance.knots
        if not self.kinked:
            return low, high
        first, last = np.floor(low), np.ceil(high)
        if float(np.max(last - first)) <= _TABLE_SPAN:
            first, last = self._knots_from_table(cap, deadline_s, log_price, log_cost)
        for _ in range(_STEPS):
            if not np.any(wide := knots & (last - first > 1.0)):
                break
            middle = np.where(wide, np.floor(0.5 * (first + last)), first)
            marginal = self.acceptance.log_marginal_tokens(middle)
            worth, _ = self._worth(np.minimum(middle, cap), marginal, deadline_s, log_price, log_cost)
            pays = wide & (worth > 0.0)
            first, last = np.where(pays, middle, first), np.where(wide & ~pays, middle, last)
        return np.where(knots, np.maximum(first, low), low), np.where(knots, np.minimum(last, cap), cap)

    def _knots_from_table(
        self, cap: FloatArray, deadline_s: float, log_price: float, log_cost: float
    ) -> tuple[FloatArray, FloatArray]:
        """The same from the slopes of all whole lengths, which serve every price of one deadline."""
        if self._table is None or self._table[0] != deadline_s:
            whole = np.minimum(self.low + np.arange(float(np.ceil(np.max(cap) - self.low[0])) + 1.0)[:, None], cap)
            _, slope, _ = self.bandwidth(whole / deadline_s)
            log_slope = log_or_minus_infinity(slope)
            self._table = deadline_s, self.acceptance.log_marginal_tokens(whole), log_slope
        _, marginal, log_slope = self._table
        pays = np.count_nonzero(marginal > np.logaddexp(_priced(log_price, log_slope), log_cost), axis=0)
        first = np.clip(self.low + pays - 1.0, self.low, cap)
        return np.floor(first), np.minimum(np.floor(first) + 1.0, np.ceil(cap))


def _priced(log_price: float, log_slope: FloatArray) -> FloatArray:
    """ln(nu beta'): what no bandwidth carries is beyond every price, also where bandwidth costs nothing."""
    carried = log_slope < np.inf
    if carried.all():
        return log_price + log_slope
    return np.where(carried, log_price + np.where(carried, log_slope, 0.0), np.inf)


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """A point between: the geometric mean, so that lengths of any order of magnitude are reached."""
    middle = np.where(low > 0.0, np.sqrt(low) * np.sqrt(high), np.where(high > _LEAST_LENGTH, 1e-3 * high, 0.5 * high))
    return np.asarray(np.minimum(np.maximum(middle, low), high))
