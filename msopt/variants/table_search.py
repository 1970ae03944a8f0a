"""The best choice of a table with a proof, or a bound as near as the effort allows (ours, design section 7).

Best first over regions of deadlines, of the devices' own verification time and of actions. A region is closed when
nothing in it can beat the best value known, or when the few choices that may are all scored.
"""

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError
from msopt.lengths.region_search import SearchEffort
from msopt.variants.action_problem import ActionProblem, Outcome
from msopt.variants.near_choices import near_choices
from msopt.variants.table_relaxation import Relaxed, TableRegion, TableRelaxation

_COMBINATIONS = 2000
_ALIKE = 0.5  # of the excess that is left in the middle of an interval: halving it gains less than settling a device
_NARROW = 1e-13  # relative: deadlines that differ by round-off
_WIDE = 4.0  # an end so many times as far from the first deadline as the other: halved on a logarithmic scale
_NEAR_START = 1.0 / 16.0
_EDGE = 1e-9  # relative, beyond either end of the deadlines
_FIRST_DEADLINES = 24
_POLISHES = 50
_HALVINGS = 60
_LEVELS = 40
_HUGE = 1e30


@dataclass(frozen=True, eq=False)
class TableProof:
    """The best choice met, and what bounds every choice.

    Attributes
    ----------
    choice : array of int, shape (K,)
        Rows of the table.
    value, bound : float
        Its utility, and what no choice exceeds.
    deadline_s : float
        The shortest that it allows [s].
    nodes : int
        Regions examined and partial choices looked at.
    """

    choice: IntArray
    value: float
    bound: float
    deadline_s: float
    nodes: int


class TableSearch:
    """One search; `run` once.

    Parameters
    ----------
    problem : ActionProblem
    effort : SearchEffort
    """

    def __init__(self, problem: ActionProblem, effort: SearchEffort) -> None:
        self.problem = problem
        self.effort = effort
        self.nodes = self.regions = 0
        self.value, self.deadline_s = -np.inf, np.inf
        self.choice: IntArray | None = None
        self._relaxation = TableRelaxation(problem)
        self._heap: list[tuple[float, int, Relaxed]] = []
        self._number = itertools.count()
        self._began = time.monotonic()

    def score(self, choices: IntArray) -> Outcome:
        """Keep the best of some choices, shape (n, K), where it beats what is known."""
        outcome = self.problem.outcomes(choices)
        best = int(np.argmax(outcome.value))
        if outcome.value[best] > self.value:
            self.value, self.deadline_s = float(outcome.value[best]), float(outcome.deadline_s[best])
            self.choice = choices[best].copy()
        return outcome

    def run(self, starts: IntArray | None = None, otherwise: Callable[[], IntArray] | None = None) -> TableProof:
        """Search until proven or until the effort is spent.

        Parameters
        ----------
        starts : array of int, shape (n, K), optional
            Choices to begin with.
        otherwise : callable, optional
            Gives such choices where the first ones that come to mind keep no limits; may raise InfeasibleError.

        Raises
        ------
        InfeasibleError
            Where no choice keeps all limits, or none was found before the effort was spent.
        """
        if starts is not None and len(starts):
            self.score(starts)
        interval = self._deadlines()
        if interval is None:
            raise InfeasibleError("no choice of actions keeps all limits, however long the round")
        self._first_choices(interval)
        if self.choice is None and otherwise is not None:
            self.score(otherwise())
        self._polish()
        everywhere = (0.0, np.inf)
        self._add(TableRegion(interval, everywhere, self.problem.rules.allowed))
        while self._heap and -self._heap[0][0] > self._trial and not self._spent():
            self._split(heapq.heappop(self._heap)[2])
        left = -self._heap[0][0] if self._heap else -np.inf
        if self.choice is None:
            finished = not self._heap or left <= self._trial
            raise InfeasibleError(
                "no choice of actions keeps all limits" + ("" if finished else ", as far as the search went")
            )
        bound = max(left, self._trial)
        return TableProof(
            self.choice,
            self.value,
            float(np.floor(bound)) if self.problem.utility.whole else bound,
            self.deadline_s,
            self.nodes,
        )

    @property
    def _trial(self) -> float:
        """What a choice must have to count as better."""
        if self.choice is None:
            return self._worst
        return self.problem.utility.better(self.value)

    def _spent(self) -> bool:
        effort = self.effort
        return (
            (effort.regions is not None and self.regions >= effort.regions)
            or (effort.nodes is not None and self.nodes >= effort.nodes)
            or (effort.seconds is not None and time.monotonic() - self._began >= effort.seconds)
        )

    # Where to look.

    def _deadlines(self) -> tuple[float, float] | None:
        """From before the first deadline at which all may have an action to one after which nothing is gained."""
        problem = self.problem
        allowed = problem.rules.allowed
        own = float(np.sum(np.max(np.where(allowed, problem.own_s, 0.0), axis=0)))

        def need(deadline_s: float) -> FloatArray:
            return np.where(allowed, problem.need_hz(deadline_s, deadline_s + problem.base_s + own), np.inf)

        def possible(deadline_s: float) -> bool:
            return float(np.sum(np.min(need(deadline_s), axis=0))) <= problem.band_hz

        def all_fit(deadline_s: float) -> bool:
            needed = need(deadline_s)
            last = need(deadline_s * 1e6)
            needed = np.where(np.isfinite(last), needed, 0.0)  # who never fits is not waited for
            return float(np.sum(np.max(np.where(allowed, needed, 0.0), axis=0))) <= problem.band_hz

        if not np.all(np.any(allowed, axis=0)):
            return None
        size = float(np.max(np.where(allowed, problem.ready_s, 0.0))) + problem.base_s + own
        size = max(size, np.finfo(float).tiny)
        start = 0.0 if possible(0.0) else _least(possible, size)
        if start is None:
            return None
        start = max(start, problem.least_deadline_s)
        end = _least(all_fit, max(size, start))
        end = size * 1e9 if end is None else end
        self._worst = self._worst_value(end * (1.0 + _EDGE) + problem.base_s + own)
        interval = start * (1.0 - _EDGE), max(end, start) * (1.0 + _EDGE)
        return interval if interval[1] > interval[0] else (interval[0], interval[0] + np.finfo(float).tiny)

    def _worst_value(self, round_s: float) -> float:
        """Below the value of every choice that keeps the limits."""
        tokens = np.where(self.problem.rules.allowed, self.problem.table.tokens, np.inf)
        some = np.where(tokens > 0.0, tokens, np.inf)
        for least in (np.min(tokens, axis=0), np.min(some, axis=0)):
            value = float(self.problem.utility.value(np.where(np.isfinite(least), least, 1.0), np.asarray(round_s)))
            if np.isfinite(value):
                return value - 1e-9 * max(1.0, abs(value))
        return -np.finfo(float).max

    def _first_choices(self, interval: tuple[float, float]) -> None:
        """Roundings of the linear program at deadlines over the interval."""
        start, end = interval
        base = max(start, 1e-6 * end)
        for deadline in np.geomspace(base, end, _FIRST_DEADLINES):
            if self._spent() and self.choice is not None:
                return
            slice_s = (float(deadline) * (1.0 - 1e-3), float(deadline))
            found = self._relaxation.examine(
                TableRegion(slice_s, (0.0, np.inf), self.problem.rules.allowed), self._trial
            )
            self.regions += 1
            if found is not None:
                self.score(found.candidates)

    def _polish(self) -> None:
        """Better choices by changing one device's action, as long as there are any."""
        allowed = self.problem.rules.allowed
        for _ in range(_POLISHES if self.choice is not None else 0):
            assert self.choice is not None
            action, device = np.nonzero(allowed)
            changed = action != self.choice[device]
            action, device = action[changed], device[changed]
            before = self.value
            for part in _parts(action.size, self.choice.size):
                choices = np.repeat(self.choice[None, :], action[part].size, axis=0)
                choices[np.arange(len(choices)), device[part]] = action[part]
                if len(choices):
                    self.score(choices)
            if not self.value > before or self._spent():
                return

    # Regions.

    def _add(self, region: TableRegion) -> None:
        """Examine a region and keep it where it is not closed."""
        self.nodes += 1
        self.regions += 1
        while True:
            trial = self._trial
            found = self._relaxation.examine(region, trial)
            if found is None:
                return
            self.score(found.candidates)
            if not self._trial > trial or np.isfinite(found.bound):
                break
        choices, seen = near_choices(found.loss, found.excess, found.region.left, _COMBINATIONS)
        self.nodes += seen
        if choices is not None:
            if len(choices):
                self.score(choices)
            return
        bound = found.bound if np.isfinite(found.bound) else self._level(found)
        heapq.heappush(self._heap, (-bound, next(self._number), found))

    def _level(self, found: Relaxed) -> float:
        """The highest target for which a region stays open, where the utility itself gives no bound."""
        low = self._trial
        step = max(abs(low), np.finfo(float).tiny)
        while self._relaxation.examine(found.region, low + step) is not None and step < _HUGE:
            step *= 2.0
        high = low + step
        for _ in range(_LEVELS):
            middle = 0.5 * (low + high)
            if self._relaxation.examine(found.region, middle) is None:
                high = middle
            else:
                low = middle
        return high

    def _split(self, found: Relaxed) -> None:
        """Halve an interval; or, where that would tell little, settle the device that the relaxation breaks."""
        region = found.region
        narrow = self._narrow(region)
        device = found.broken
        by_device = device is not None and (narrow or found.middle > _ALIKE * float(np.max(found.excess)))
        if narrow and device is None:
            several = np.count_nonzero(region.left, axis=0)
            device = int(np.argmax(several))
            by_device = several[device] > 1
            if not by_device:
                self.score(np.argmax(region.left, axis=0)[None, :])
                return
        if by_device:
            assert device is not None
            parts = self._halves(found, device)
        else:
            parts = self._cuts(region)
        for part in parts:
            self._add(part)

    def _halves(self, found: Relaxed, device: int) -> Iterator[TableRegion]:
        """The region with the lighter, then with the heavier actions of one device."""
        region = found.region
        actions = np.flatnonzero(region.left[:, device])
        order = actions[np.argsort(found.heavy[actions, device], kind="stable")]
        share = np.cumsum(found.share[order, device])
        cut = int(np.clip(np.searchsorted(share, _ALIKE) + 1, 1, order.size - 1))
        if share[cut - 1] >= 1.0 - 1e-9 and cut > 1:  # all of the share is on one side: between the two that have some
            cut = max(1, int(np.searchsorted(share, 1e-9)) + 1)
            cut = min(cut, order.size - 1)
        for kept in (order[:cut], order[cut:]):
            left = region.left.copy()
            left[:, device] = False
            left[kept, device] = True
            yield TableRegion(region.deadline_s, region.own_s, left, region.prices)

    def _cuts(self, region: TableRegion) -> Iterator[TableRegion]:
        """The region's deadlines in two; or the devices' own time, where that spans more and makes a round no line."""
        own = self._own(region)
        start, end = region.deadline_s
        if self._curved and own[1] - own[0] > end - start:
            middle = 0.5 * (own[0] + own[1])
            for part in ((own[0], middle), (middle, own[1])):
                yield TableRegion(region.deadline_s, part, region.left, None)
            return
        cut = self._cut(start, end)
        for interval in ((start, cut), (cut, end)):
            yield TableRegion(interval, region.own_s, region.left, region.prices)

    @property
    def _curved(self) -> bool:
        """Whether more of the round's length matters than a line in it: then the devices' own time is halved too."""
        rules = self.problem.rules
        return not self.problem.utility.linear or bool(rules.spares or rules.airtimes)

    def _own(self, region: TableRegion) -> tuple[float, float]:
        own = self.problem.own_s
        least = float(np.sum(np.min(np.where(region.left, own, np.inf), axis=0)))
        most = float(np.sum(np.max(np.where(region.left, own, -np.inf), axis=0)))
        return max(least, region.own_s[0]), min(most, region.own_s[1])

    def _narrow(self, region: TableRegion) -> bool:
        start, end = region.deadline_s
        own = self._own(region)
        thin = end - start <= _NARROW * end or not start < self._cut(start, end) < end
        return thin and (not self._curved or own[1] - own[0] <= _NARROW * max(end, own[1]))

    @staticmethod
    def _cut(start: float, end: float) -> float:
        """The middle, on a logarithmic scale where the interval spans much."""
        if start <= 0.0:
            return _NEAR_START * end
        return float(np.sqrt(start * end)) if end > _WIDE * start else 0.5 * (start + end)


def _least(holds: object, size: float) -> float | None:
    """The least number for which something holds that holds for all greater ones; None: none up to 1e9 times a size."""
    assert callable(holds)
    high = size
    while not holds(high):
        high *= 4.0
        if high > 1e9 * size:
            return None
    low = 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _parts(count: int, devices: int) -> Iterator[slice]:
    """Slices of so many changes that few numbers are held at once."""
    size = max(1, 1_000_000 // devices)
    return (slice(start, start + size) for start in range(0, count, size))
