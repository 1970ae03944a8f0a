"""An upper bound for problem `modes` that is near from tens of devices to thousands, under any law (ours).

It needs no search and no table; |R| hardly leaves its mean M = sum rho there, and it takes the number of sharers as
if it were drawn apart from R:

- Let h(n, t) be the least that a delay of t with r sharers becomes with n (`CorrectionTimes.with_sharers`). It rises
  with both; one sharer more adds the more the longer t, and the less the greater n. T(R) >= h(|R|, T_r(R)), T_r being
  T with shares of B/r. What the n-th sharer adds grows with R, and so does whether there is one; devices are rejected
  independently, so E T(R) >= E h(N, T_r(R)) with N like |R| but independent of R (Harris 1960), and so with N binomial
  of the same mean (Hoeffding 1956). Call that E g_M(T_r(R)).
- g_M is concave in M. So with r the middle of M0 to M1, a price for each rejection, and lengths up to what fits A1,
  the mean of tokens - G g_M(T_r(R)) + price (M - |R|) is at most the greater of those with g and M at M0 and at M1,
  each at most that of the best adaptive choice (`adaptive_choice`). Where that less G (A0 + T_ver) is e > 0 no control
  with a deadline from A0 to A1 and sum rho from M0 to M1 has more than G + e/(A0 + T_ver), else none has more than G.

G is what some control has. Intervals with the greatest bound are halved until the work is spent.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, evenly_spread, every_length
from msopt.modes.bounds.adaptive_choice import AdaptiveChoice
from msopt.modes.bounds.stand_in import NEAR_ENOUGH
from msopt.modes.correction import CorrectionTimes
from msopt.modes.hull import all_or_nothing
from msopt.modes.mode_problem import ModeProblem, deadlines, ends, fitting
from msopt.numerics.knapsack import fractional_knapsack
from msopt.numerics.margins import FITS

_DEADLINES, _MEANS = 4, 8  # first intervals; halving does the rest
_NESTED = 64  # nested sets tried for G
_ROWS = 3000  # values a device, and
_MOST_WORK = 150_000  # values times stages in all: a fraction of a second
_EACH = 32  # lengths that are looked at one by one
_NARROW = 1e-4  # of a round: intervals that gain no more than a bound's 0.01 %
_CURVATURE = 0.3
"""How much a wide M loosens a bound, about: this times T times the relative width squared; it only guides halvings."""


def adaptive_bound(problem: ModeProblem, reached: float = 0.0) -> float:
    """No lengths, modes and powers have more goodput [token/s].

    `reached` is a goodput that some control has: a bound 0.01 % above it is not refined further.
    """
    boxes = _Boxes(problem, reached)
    columns = boxes.all_controls()
    heapq.heapify(columns)
    most_work = min(_MOST_WORK, _ROWS * problem.scenario.device_count)
    while columns and columns[0].bound[0] > boxes.goodput * NEAR_ENOUGH and boxes.work < most_work:
        parts = boxes.refined(columns[0])
        if not parts:
            break
        heapq.heappop(columns)
        for part in parts:
            if part.bound.size:
                heapq.heappush(columns, part)
    return float(columns[0].bound[0]) if columns else boxes.goodput


@dataclass(frozen=True, eq=False)
class _Column:
    """Deadlines from place `first` to before `end`: intervals of M with a bound above G, the highest first."""

    first: int
    end: int
    low: FloatArray
    high: FloatArray
    bound: FloatArray

    def __lt__(self, other: "_Column") -> bool:
        return bool(self.bound[0] > other.bound[0])

    def only(self, some: BoolArray) -> "_Column":
        return _Column(self.first, self.end, self.low[some], self.high[some], self.bound[some])


class _Boxes:
    """Intervals of deadlines and of M, the goodput G, and the work so far: values asked of the choice, times stages."""

    def __init__(self, problem: ModeProblem, reached: float) -> None:
        self.problem, self.scenario = problem, problem.scenario
        self.every = deadlines(problem)
        times = CorrectionTimes(self.scenario)
        self.worst_first = times.order[::-1]
        self.work = 0
        nested, sharers, self.typical_s = self._best_nested(times)
        self.goodput = max(reached, nested)
        self.choice = AdaptiveChoice(times, sharers, self.typical_s)
        low, high = problem.limits
        longer = np.geomspace(_EACH, max(high - low, _EACH), _EACH).astype(np.int64)
        self.starts = np.union1d(np.arange(min(high - low + 1, _EACH)), longer[longer <= high - low])
        self.each = None if all_or_nothing(problem) else self._every_length()

    def _every_length(self) -> tuple[FloatArray, FloatArray]:
        """Tokens less G c1 l, and rho, of all lengths, worst uplink first; long ones in groups.

        A group has the most of the one and the least of the other: better than each of its lengths.
        """
        length = every_length(self.problem.limits, self.worst_first.size)
        tokens = self.scenario.acceptance.expected_tokens(length)
        worth = tokens - self.goodput * self.scenario.verify_per_token_s * length
        rejection = self.problem.rejection(length)[self.starts]
        return np.maximum.reduceat(worth, self.starts, axis=0)[:, self.worst_first], rejection[:, self.worst_first]

    def _best_nested(self, times: CorrectionTimes) -> tuple[float, float, float]:
        """All but the n worst draft the most: a goodput that one surely has; of the best M, and T were |R| always M."""
        count = self.worst_first.size
        drafting = np.arange(count) >= evenly_spread(0, count, _NESTED + 1)[:, None]
        tokens, often = (np.where(drafting, part[1], part[0]) for part in self._ends(-1))
        longest = fitting(self.problem, self.every[-1:])[0, self.worst_first]
        lengths = np.where(drafting, longest, float(self.problem.limits[0]))
        idle_s = self.every[-1] + self.scenario.verify_s(lengths)
        yields = np.sum(tokens, axis=1)
        _, all_rejected_s = self._nested_s(times, np.where(often > 0.0, 1.0, 0.0))
        sharers, seconds = self._nested_s(times, often)
        best = int(np.argmax(np.where(seconds > 0.0, yields / (idle_s + seconds), 0.0)))
        return float(np.max(yields / (idle_s + all_rejected_s))), float(sharers[best]), float(seconds[best])

    def _nested_s(self, times: CorrectionTimes, often: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of how often each device is rejected, and T as if that many of each were, worst uplink first."""
        sharers = np.maximum(np.sum(often, axis=1, keepdims=True), 1.0)
        down = times.downlink_s(sharers, np.cumsum(often * times.inverse_snr[::-1], axis=1))
        delay = np.minimum(times.uplink_s(sharers, np.arange(self.worst_first.size)[::-1]), down)
        return sharers[:, 0], np.max(np.where(often > 0.0, delay, 0.0), axis=1)

    def _ends(self, place: int) -> tuple[FloatArray, FloatArray]:
        """`ends` at the deadline at a place, worst uplink first."""
        tokens, rejection = ends(self.problem, float(self.every[place]))
        return tokens[:, self.worst_first], rejection[:, self.worst_first]

    def _lengths_to_choose(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Tokens less G c1 l, and rho, of lengths among which the best one is for any price, worst uplink first."""
        if self.each is None:
            return self._ends(place)
        low, _ = self.problem.limits
        caps = fitting(self.problem, self.every[place : place + 1])[0, self.worst_first].astype(np.int64) - low
        group = np.searchsorted(self.starts, caps, side="right") - 1
        row = np.minimum(np.arange(int(group.max()) + 1)[:, None], group)
        worth, rejection = (np.take_along_axis(table, row, axis=0) for table in self.each)
        return worth, rejection

    def all_controls(self) -> list[_Column]:
        """Every control is in one of these columns, or has no more goodput than G."""
        places = evenly_spread(0, self.every.size, _DEADLINES + 1).tolist()
        edges = np.linspace(0.0, float(np.sum(self._ends(-1)[1][1])) * FITS, _MEANS + 1)
        columns = [self._column(first, end, edges[:-1], edges[1:]) for first, end in itertools.pairwise(places)]
        return [column for column in columns if column.bound.size]

    def _column(self, first: int, end: int, low: FloatArray, high: FloatArray) -> _Column:
        """Bounds of an interval of deadlines and some of M."""
        worth, rejection = self._lengths_to_choose(end - 1)
        some = low <= float(np.sum(rejection[-1])) * FITS
        means = np.stack([low[some], high[some]])
        up, down = self.choice.mean_delays_s(np.maximum(np.mean(means, axis=0), 1.0), means)
        dearer_s = down[self.choice.typical, 1] - down[self.choice.typical, 0]
        prices = _prices(worth, rejection, means, self.goodput * dearer_s)
        row = np.tile(np.arange(means.size), len(prices))
        self.work += row.size * self.choice.stages * (2 + len(worth)) // 4
        cost = (self.goodput * delay.reshape(len(delay), -1)[:, row] for delay in (up, down))
        value = self.choice.best(worth, rejection, np.repeat(prices, 2, axis=0).reshape(-1), *cost)
        value = np.max(value.reshape(len(prices), 2, -1) + prices[:, None] * means, axis=1)
        idle_s = float(self.every[first]) + self.scenario.verify_idle_s
        excess = np.min(value, axis=0) - self.goodput * idle_s
        highest = np.argsort(-excess, kind="stable")[: int(np.count_nonzero(excess > 0.0))]
        return _Column(first, end, means[0, highest], means[1, highest], self.goodput + excess[highest] / idle_s)

    def refined(self, column: _Column) -> list[_Column]:
        """The upper half of the bounds anew, after halving the deadlines or each M, and the rest as it is.

        Nothing where both are so narrow that halving them would gain next to nothing.
        """
        upper = column.bound > 0.5 * (self.goodput + column.bound[0])
        top = column.only(upper)
        first, end, low, high = top.first, top.end, top.low, top.high
        deadlines_s = float(self.every[end - 1] - self.every[first])
        means_s = _CURVATURE * self.typical_s * float(np.max((high - low) / np.maximum(high, 1.0))) ** 2
        if max(deadlines_s, means_s) <= _NARROW * (float(self.every[first]) + self.scenario.verify_idle_s):
            return []
        if deadlines_s > means_s:
            middle = (first + end) // 2
            parts = [self._column(first, middle, low, high), self._column(middle, end, low, high)]
        else:
            mean = 0.5 * (low + high)
            parts = [self._column(first, end, np.concatenate([low, mean]), np.concatenate([mean, high]))]
        return [column.only(~upper), *parts]


def _prices(worth: FloatArray, rejection: FloatArray, means: FloatArray, dearer: FloatArray) -> FloatArray:
    """Two prices of a rejection for each interval of M, shape (2, m): any are allowed, good ones are near.

    What it costs by making shares smaller, and half way from there to the least worth of those that fit M1.
    """
    least = np.maximum(dearer / (means[1] - means[0]), 0.0)
    used, _, ratio = fractional_knapsack(worth[[0, -1]], rejection[[0, -1]])
    place = np.searchsorted(used, means[1] * FITS, side="right")
    last = np.append(ratio, 0.0)[np.clip(place - 1, 0, ratio.size)]
    return np.stack([least, np.sqrt(least * np.maximum(last, least))])
