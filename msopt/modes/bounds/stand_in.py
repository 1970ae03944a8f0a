"""An upper bound for problem `modes` that is near for tens of devices, without search and without a table (ours).

It holds where all or nothing does. The h devices whose rejection costs most by itself are kept, H; every other
one, O, is replaced by a stand-in that has the best uplink and the best downlink of all of O. That shortens no
outcome's time less: T(R) >= T(S, n), S = R in H, n = how many of O are in R, a table of 2^h (|O| + 1) numbers.

- T(S, n) is replaced by the greatest concave function of n that follows it from below. Of all sums n of
  independent events with mean mu the binomial spreads most (Hoeffding 1956), so E T(S, n) >= B_S(mu), its mean
  when each of O is rejected with probability mu/|O|; B_S is concave in mu (a Bernstein polynomial).
- The tokens of O are at most Phi(mu), a fractional knapsack: those with the most tokens for each rejection first.
- For deadlines from A0 to A1, lengths up to what fits A1, and mu between two neighbours of a grid, tokens less R
  times the seconds, with A0 for the deadline and a tangent for Phi, are linear in each rho of H and convex in mu.
  So the greatest ratio of tokens to seconds over the corners of H and the two ends bounds every control there.

The interval of deadlines with the greatest bound is halved until it is a single one, or often enough. Before, the
corners in which a device of H drafts may all be no better than a goodput that some control has: then the device
is set aside, for T(R) is at least T of R without it, and H goes on to the next.
"""

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, evenly_spread
from msopt.model.scenario import Scenario
from msopt.modes.correction import CorrectionTimes, alone_s
from msopt.modes.mode_problem import ModeProblem, deadlines, ends
from msopt.modes.subsets import expected_of_all, sizes_and_sums, sum_of_all, with_member
from msopt.numerics.binomial import binomial
from msopt.numerics.knapsack import fractional_knapsack

_KEPT = 10  # devices of H: a thousand sets
_LARGEST_TABLE = 2_000_000  # numbers: 16 MiB
_CELLS = 16  # of mu, at each end of which a tangent stands for Phi
_SETTLING_INTERVALS = 24  # of deadlines, while devices are set aside
_HALVINGS = 60  # of the worst interval after that
NEAR_ENOUGH = 1.0001  # times a goodput that some control has: a bound there is not refined further


def stand_in_bound(problem: ModeProblem, reached: float = 0.0) -> float:
    """No lengths, modes and powers have more goodput [token/s], provided that all or nothing holds.

    The greater the goodput `reached` by some control, the more devices are set aside; within 0.01 % of it the
    bound is not refined further.
    """
    idle = np.zeros(problem.scenario.device_count, dtype=bool)
    while True:
        pieces = _Pieces(problem, idle)
        intervals = pieces.intervals(_SETTLING_INTERVALS)
        drafting = np.max([interval.drafting for interval in intervals], axis=0)
        settled = pieces.kept[drafting <= reached]
        if settled.size == 0:
            break
        idle[settled] = True
    heapq.heapify(intervals)
    for _ in range(_HALVINGS):
        highest = intervals[0]
        if highest.end - highest.first == 1 or highest.bound <= reached * NEAR_ENOUGH:
            break
        middle = (highest.first + highest.end) // 2
        heapq.heapreplace(intervals, pieces.interval(highest.first, middle))
        heapq.heappush(intervals, pieces.interval(middle, highest.end))
    return max(intervals[0].bound, reached)


@dataclass(frozen=True, eq=False)
class _Interval:
    """Deadlines from place `first` to before place `end`, the bound there, and that with each kept device drafting."""

    first: int
    end: int
    bound: float
    drafting: FloatArray

    def __lt__(self, other: "_Interval") -> bool:
        return self.bound > other.bound


class _Pieces:
    """The scenario split into H and O, and the bound for an interval of deadlines."""

    def __init__(self, problem: ModeProblem, idle: BoolArray) -> None:
        scenario = problem.scenario
        self.problem, self.scenario = problem, scenario
        self.every = deadlines(problem)
        costliest = np.argsort(-alone_s(scenario), kind="stable")
        active = costliest[~idle[costliest]]
        kept = min(_KEPT, active.size)
        while kept > 0 and 2**kept * (active.size - kept + 1) > _LARGEST_TABLE:
            kept -= 1
        self.others = active[kept:]
        self.kept, seconds = time_with_stand_ins(scenario, active[:kept], self.others)
        self.seconds = concave_from_below(seconds)
        self.idle_tokens = float(np.sum(ends(problem, float(self.every[0]))[0][0, idle]))

    def intervals(self, most: int) -> list[_Interval]:
        """All deadlines in intervals of as many each."""
        places = evenly_spread(0, self.every.size, most + 1).tolist()
        return [self.interval(first, end) for first, end in itertools.pairwise(places)]

    def interval(self, first: int, end: int) -> _Interval:
        """No control with a deadline from one place of `every` to before another has more goodput [token/s]."""
        tokens, rejection = (part.T for part in ends(self.problem, float(self.every[end - 1])))  # (K, 2)
        mean, others_tokens = _tangents(rejection[self.others], tokens[self.others])
        spread = binomial(self.others.size, mean) @ self.seconds.T
        correction = expected_of_all(spread.reshape(-1), list(rejection[self.kept])).reshape(-1, mean.size)
        seconds = float(self.every[first]) + self.scenario.verify_idle_s + correction
        own_tokens = sum_of_all(list(tokens[self.kept])) + self.idle_tokens
        ratio = np.max((own_tokens[:, None] + others_tokens) / seconds, axis=1)
        drafting = [np.max(with_member(ratio, place)) for place in range(self.kept.size)]
        return _Interval(first, end, float(np.max(ratio)), np.array(drafting))


def _tangents(rejection: FloatArray, tokens: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A grid of mu, and at each the greater of the tangents of Phi over the two cells that meet there."""
    ends, values, slopes = fractional_knapsack(tokens.T, rejection.T)
    if slopes.size == 0:
        return ends, values
    grid = np.linspace(ends[0], ends[-1], _CELLS + 1)
    middle = 0.5 * (grid[1:] + grid[:-1])
    piece = np.clip(np.searchsorted(ends, middle) - 1, 0, slopes.size - 1)
    slope = slopes[piece]
    value = values[piece] + slope * (middle - ends[piece])
    left, right = value + slope * (grid[:-1] - middle), value + slope * (grid[1:] - middle)
    return grid, np.maximum(np.append(left, -np.inf), np.insert(right, 0, -np.inf))


def time_with_stand_ins(scenario: Scenario, kept: IntArray, others: IntArray) -> tuple[IntArray, FloatArray]:
    """T(S, n) [s], shape (2^h, |O| + 1), and the kept devices in the order of the bits of S, best uplink first.

    Stand-ins are alike, so that they are all on the uplink or all on the downlink: once its time is spent for
    one of them the others shorten the downlink for nothing.
    """
    times = CorrectionTimes(scenario)
    place = times.place
    kept = kept[np.argsort(place[kept])]
    need = 1.0 / scenario.downlink_snr
    sizes, sums = sizes_and_sums(need[kept])
    n = np.arange(others.size + 1)
    rejected = sizes[:, None] + n
    stand_in_need = n * float(np.min(need[others], initial=np.inf)) if others.size else np.zeros(1)
    stand_in_place = int(np.min(place[others], initial=scenario.device_count))
    every = np.arange(sizes.size)
    seconds = times.downlink_s(rejected, sums[:, None] + stand_in_need)

    def up_to(last: int, there: BoolArray, left: FloatArray) -> FloatArray:
        by_size = times.uplink_s(np.arange(scenario.device_count + 1), np.array([last]))
        slower = np.maximum(by_size[rejected], times.downlink_s(rejected, left))
        return np.where(there, np.minimum(seconds, slower), seconds)

    for bit, device in enumerate(kept):
        behind = sums[every >> (bit + 1) << (bit + 1)][:, None]
        left = behind + (0.0 if stand_in_place < place[device] else stand_in_need)
        seconds = up_to(int(place[device]), (every >> bit & 1)[:, None] > 0, left)
    if others.size:
        bit = int(np.searchsorted(place[kept], stand_in_place))
        left = np.broadcast_to(sums[every >> bit << bit][:, None], rejected.shape)
        seconds = up_to(stand_in_place, (n > 0)[None, :], left)
    return kept, seconds


def concave_from_below(values: FloatArray) -> FloatArray:
    """A function concave along the rows, with the first values, and nowhere above `values`, which do not fall."""
    answer = values.copy()
    step = np.full(len(values), np.inf)
    for n in range(1, values.shape[1]):
        step = np.minimum(step, values[:, n] - answer[:, n - 1])
        answer[:, n] = answer[:, n - 1] + step
    return answer
