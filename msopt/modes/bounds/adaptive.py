"""An upper bound for problem `modes` that is near for hundreds of devices, without search and without a table (ours).

It holds where all or nothing does. Many devices are rejected in nearly the same number every round, M = sum rho.

- With n devices in equal shares each delay rises with n and, divided by n, never does. So for any r
  T(R) >= min(1, |R|/r) T_r(R), where T_r is T with shares of B/r. Both factors grow with R, and devices are rejected
  independently, so that E T(R) >= E min(1, |R|/r) E T_r(R) (Harris 1960). The first mean is least where |R| is
  binomial (Hoeffding 1956) and grows with M.
- For deadlines from A0 to A1 and M from M0 to M1 let lengths be up to what fits A1, r = max(M0, 1), f the first mean
  at M0. At a goodput G, tokens less G times the seconds are at most price M1 - G (A0 + T_ver) plus the mean of
  tokens - price |R| - G f T_r(R), for any price >= 0: at most that of the best adaptive choice (`adaptive_choice`).
  Where the sum is e > 0 no control there has more than G + e/(A0 + T_ver), else none has more than G.

G is what some control has. Intervals with the greatest bound are halved until the work is spent.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, evenly_spread
from msopt.modes.bounds.adaptive_choice import AdaptiveChoice
from msopt.modes.bounds.stand_in import NEAR_ENOUGH
from msopt.modes.correction import CorrectionTimes
from msopt.modes.mode_problem import ModeProblem, deadlines, ends
from msopt.numerics.binomial import binomial
from msopt.numerics.knapsack import fractional_knapsack
from msopt.numerics.margins import FITS

_DEADLINES, _MEANS = 4, 24  # first intervals; halving does the rest
_NESTED = 64  # nested sets tried for G
_ROWS = 2000  # values a device, and
_MOST_WORK = 200_000  # values times stages in all: about a second
_NARROW = 1e-4  # of a round: intervals that gain no more than a bound's 0.01 %
_ELASTICITY = 0.65
"""By how many percent T grows with a percent of M, about; it guides prices and halvings, no proof rests on it."""


def adaptive_bound(problem: ModeProblem, reached: float = 0.0) -> float:
    """No lengths, modes and powers have more goodput [token/s], provided that all or nothing holds.

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

    def _best_nested(self, times: CorrectionTimes) -> tuple[float, float, float]:
        """All but the n worst draft the most, all are rejected: the best goodput; |R| and T(R) of the best with any."""
        tokens, rejection = self._ends(self.every[-1])
        count = self.worst_first.size
        drafting = np.arange(count) >= evenly_spread(0, count, _NESTED + 1)[:, None]
        member = drafting | (rejection[0] > 0.0)
        sharers = np.maximum(np.count_nonzero(member, axis=1), 1)[:, None]
        down = times.downlink_s(sharers, np.cumsum(member * times.inverse_snr[::-1], axis=1))
        delay = np.minimum(times.uplink_s(sharers, np.arange(count)[::-1]), down)
        seconds = np.max(np.where(member, delay, 0.0), axis=1)
        yields = np.sum(np.where(drafting, tokens[1], tokens[0]), axis=1)
        goodput = yields / (self.every[-1] + self.scenario.verify_idle_s + seconds)
        best = int(np.argmax(np.where(seconds > 0.0, goodput, 0.0)))
        return float(np.max(goodput)), float(sharers[best, 0]), float(seconds[best])

    def _ends(self, deadline_s: float) -> tuple[FloatArray, FloatArray]:
        """`ends`, worst uplink first."""
        tokens, rejection = ends(self.problem, deadline_s)
        return tokens[:, self.worst_first], rejection[:, self.worst_first]

    def all_controls(self) -> list[_Column]:
        """Every control is in one of these columns, or has no more goodput than G."""
        places = evenly_spread(0, self.every.size, _DEADLINES + 1).tolist()
        edges = np.linspace(0.0, float(np.sum(self._ends(self.every[-1])[1][1])) * FITS, _MEANS + 1)
        columns = [self._column(first, end, edges[:-1], edges[1:]) for first, end in itertools.pairwise(places)]
        return [column for column in columns if column.bound.size]

    def _column(self, first: int, end: int, low: FloatArray, high: FloatArray) -> _Column:
        """Bounds of an interval of deadlines and some of M."""
        tokens, rejection = self._ends(self.every[end - 1])
        idle_s = float(self.every[first]) + self.scenario.verify_idle_s
        most_tokens, last_price = _rationed(tokens, rejection, high * FITS)
        some = (most_tokens > self.goodput * idle_s) & (low <= float(np.sum(rejection[1])) * FITS)
        low, high, last_price = low[some], high[some], last_price[some]
        sharers = np.maximum(low, 1.0)
        n = np.arange(self.worst_first.size + 1)
        share = np.sum(binomial(n.size - 1, low) * np.minimum(1.0, n / sharers[:, None]), axis=1)
        # Two prices: what a rejection costs by making shares smaller, and half way to the least worth of those in M1.
        least = _ELASTICITY * self.goodput * self.typical_s / np.maximum(high, 1.0)
        price = np.stack([least, np.sqrt(least * np.maximum(last_price, least))])
        row = np.tile(np.arange(low.size), 2)
        self.work += row.size * self.choice.stages
        value = self.choice.best(tokens, rejection, sharers[row], price.reshape(-1), self.goodput * share[row])
        excess = np.min(value.reshape(price.shape) + price * high, axis=0) - self.goodput * idle_s
        highest = np.argsort(-excess, kind="stable")[: int(np.count_nonzero(excess > 0.0))]
        return _Column(first, end, low[highest], high[highest], self.goodput + excess[highest] / idle_s)

    def refined(self, column: _Column) -> list[_Column]:
        """The upper half of the bounds anew, after halving the deadlines or each M, and the rest as it is.

        Nothing where both are so narrow that halving them would gain next to nothing.
        """
        upper = column.bound > 0.5 * (self.goodput + column.bound[0])
        top = column.only(upper)
        first, end, low, high = top.first, top.end, top.low, top.high
        deadlines_s = float(self.every[end - 1] - self.every[first])
        means_s = _ELASTICITY * self.typical_s * float(np.max((high - low) / np.maximum(high, 1.0)))
        if max(deadlines_s, means_s) <= _NARROW * (float(self.every[first]) + self.scenario.verify_idle_s):
            return []
        if deadlines_s > means_s:
            middle = (first + end) // 2
            parts = [self._column(first, middle, low, high), self._column(middle, end, low, high)]
        else:
            mean = 0.5 * (low + high)
            parts = [self._column(first, end, np.concatenate([low, mean]), np.concatenate([mean, high]))]
        return [column.only(~upper), *parts]


def _rationed(tokens: FloatArray, rejection: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Tokens of the fractional knapsack that lets sum rho be some number at most, and what the last rejection yields.

    -inf tokens where the least lengths are rejected more often than that; a yield of 0 where all fit.
    """
    used, total, ratio = fractional_knapsack(tokens, rejection)
    place = np.searchsorted(used, most, side="right")
    last = np.append(ratio, 0.0)[np.clip(place - 1, 0, ratio.size)]
    return np.where(place == 0, -np.inf, np.interp(most, used, total)), last
