"""The best choice of a table with a proof, or a bound as near as the effort allows (ours, design section 7).

Best first over regions of deadlines, of the devices' own verification time and of actions. A region is closed when
nothing in it can beat the best value known, or when the few choices that may are all scored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError
from msopt.lengths.enumeration import combinations
from msopt.numerics.best_first import EDGE, NARROW, BestFirst, SearchEffort, cut, is_narrow
from msopt.variants.action_problem import ActionProblem, Outcome
from msopt.variants.table_relaxation import Relaxed, TableRegion, TableRelaxation

_COMBINATIONS = 2000  # of few devices
_SCORED = 2_000_000  # actions of all combinations of many devices
_LEAST_COMBINATIONS = 16  # however many devices there are
_ALIKE = 0.9  # of the excess that is left in the middle of an interval: halving it gains less than settling a device
_HALF = 0.5  # of the share of a device's actions
_FIRST_DEADLINES = 24
_MORE_DEADLINES = 3  # where a value is known already
_POLISHES = 50
_ALMOST = 1e-3  # relative: what a choice is worth, less this, is beaten by choices that are worth as much
_FOREVER = 1e9  # times a round without waiting
_AROUND = 1e-6  # relative: how near the ends of the deadlines are found, on the safe side


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


class TableSearch(BestFirst[Relaxed]):
    """One search; `run` once.

    Parameters
    ----------
    problem : ActionProblem
    effort : SearchEffort
    known : float
        A value reached elsewhere: only choices that are better are of interest.
    """

    def __init__(self, problem: ActionProblem, effort: SearchEffort, known: float = -np.inf) -> None:
        super().__init__(effort)
        self.problem = problem
        self.known = known
        self.numbers = problem.table.tokens.size
        self._most = int(np.clip(_SCORED // problem.table.shape[1], _LEAST_COMBINATIONS, _COMBINATIONS))
        self.value, self.deadline_s = -np.inf, np.inf
        self.choice: IntArray | None = None
        self._relaxation = TableRelaxation(problem)

    def score(self, choices: IntArray) -> Outcome:
        """Keep the best of some choices, shape (n, K), where it beats what is known."""
        outcome = self.problem.outcomes(choices)
        best = int(np.argmax(outcome.value))
        if outcome.value[best] > self.value:
            self.value, self.deadline_s = float(outcome.value[best]), float(outcome.deadline_s[best])
            self.choice = choices[best].copy()
        return outcome

    def run(self, starts: IntArray | None = None) -> TableProof | None:
        """Search until proven or until the effort is spent; None where no choice keeps all limits and is of interest.

        Parameters
        ----------
        starts : array of int, shape (n, K), optional
            Choices to begin with.

        Raises
        ------
        InfeasibleError
            Where none was found before the effort was spent.
        """
        if starts is not None and len(starts):
            self.score(starts)
        interval = self._deadlines()
        if interval is None:
            return None
        everywhere = TableRegion(interval, (0.0, np.inf), self.problem.rules.allowed)
        if self.known > -np.inf and self._relaxation.examine(everywhere, self.trial) is None:
            return None
        self._first_choices(interval)
        self._polish()
        self._add(everywhere)
        while self.step():
            pass
        if self.choice is None:
            if self.open:
                raise InfeasibleError("no choice of actions keeps all limits, as far as the search went")
            return None
        bound = float(np.floor(self.bound)) if self.problem.utility.whole else self.bound
        return TableProof(self.choice, self.value, bound, self.deadline_s, self.nodes)

    def possible(self) -> bool:
        """Whether any choice keeps all limits, as far as the effort goes."""
        interval = self._deadlines()
        if interval is None:
            return False
        self._add(TableRegion(interval, (0.0, np.inf), self.problem.rules.allowed))
        if self.choice is None and self.open:
            self._first_choices(interval, until_any=True)
        while self.choice is None and self.step():
            pass
        return self.choice is not None

    @property
    def trial(self) -> float:
        """What a choice must have to count as better."""
        reached = max(self.value, self.known)
        return self.problem.utility.better(reached) if reached > -np.inf else self._worst

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
            return float(np.sum(np.max(np.where(ever, need(deadline_s), 0.0), axis=0))) <= problem.band_hz

        if not np.all(np.any(allowed, axis=0)):
            return None
        size = float(np.max(np.where(allowed, problem.ready_s, 0.0))) + problem.base_s + own
        size = max(size, np.finfo(float).tiny)
        first = (0.0, 0.0) if possible(0.0) else _least(possible, size)
        if first is None:
            return None
        start = max(first[0], problem.rules.least_deadline_s)
        ever = allowed & np.isfinite(need(size * _FOREVER))  # who never fits is not waited for
        last = _least(all_fit, max(size, first[1], start))
        end = max(start, size * _FOREVER if last is None else last[1])
        self._worst = self._worst_value(end * (1.0 + EDGE) + problem.base_s + own)
        interval = start * (1.0 - EDGE), end * (1.0 + EDGE)
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

    def _first_choices(self, interval: tuple[float, float], until_any: bool = False) -> None:
        """Roundings of the linear program at deadlines over the interval."""
        start, end = interval
        base = max(start, 1e-6 * end)
        for deadline in np.geomspace(base, end, _FIRST_DEADLINES if self.known == -np.inf else _MORE_DEADLINES):
            if (until_any or self.spent) and self.choice is not None:
                return
            found = self._relaxation.examine(self._slice(float(deadline)), self.trial)
            self.regions += 1
            if found is not None:
                self.score(found.candidates)

    def _polish(self) -> None:
        """Better choices by changing one device's action, as long as there are any; of many the likeliest changes."""
        count = self.problem.table.shape[1]
        at_once = max(_SCORED // count, _LEAST_COMBINATIONS)
        for _ in range(_POLISHES if self.choice is not None else 0):
            assert self.choice is not None
            allowed = self.problem.rules.allowed.copy()
            allowed[self.choice, np.arange(count)] = False
            action, device = np.nonzero(allowed)
            likely = action.size > at_once
            if likely:
                worse = self._worse(self.choice)[action, device]
                best = np.argpartition(worse, at_once - 1)[:at_once]
                action, device = action[best], device[best]
            before = self.value
            choices = np.repeat(self.choice[None, :], action.size, axis=0)
            choices[np.arange(action.size), device] = action
            if action.size:
                self.score(choices)
            if likely or not self.value > before or self.spent:
                return

    def _worse(self, choice: IntArray) -> FloatArray:
        """How much more each action loses than the chosen one where the deadline stays, shape (A, K)."""
        almost = self.problem.utility.scaled(self.value, 1.0 - _ALMOST)
        found = self._relaxation.examine(self._slice(self.deadline_s), almost)
        self.regions += 1
        if found is None:
            return np.zeros(self.problem.table.shape)
        loss = found.loss[1]
        chosen = loss[choice, np.arange(choice.size)]
        return np.asarray(loss - np.where(np.isfinite(chosen), chosen, 0.0))

    def _slice(self, deadline_s: float) -> TableRegion:
        """A hair of deadlines up to one."""
        return TableRegion((deadline_s * (1.0 - 1e-3), deadline_s), (0.0, np.inf), self.problem.rules.allowed)

    # Regions.

    def _add(self, region: TableRegion) -> None:
        """Examine a region and keep it where it is not closed."""
        self.nodes += 1
        self.regions += 1
        found = self._relaxation.examine(region, self.trial)
        if found is None:
            return
        self.score(found.candidates)
        choices, _, seen = combinations(found.loss, found.excess, found.region.left, self._most)
        self.nodes += seen
        if choices is not None:
            if len(choices):
                self.score(choices)
            return
        self.keep(found.bound, found)

    def split(self, found: Relaxed) -> None:
        """Halve an interval; or, where that would tell little, settle the device that the relaxation breaks."""
        region = found.region
        narrow = self._narrow(region)
        device = found.broken
        by_device = device is not None and (narrow or self._in_the_middle(region) > _ALIKE * np.max(found.excess))
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

    def _in_the_middle(self, region: TableRegion) -> float:
        """The excess where both intervals shrink to their middles: what halving them leaves at least."""
        deadline = 0.5 * sum(region.deadline_s)
        own = 0.5 * sum(region.own_within(self.problem.own_s)) if self._curved else None
        self.regions += 1
        point = TableRegion(
            (deadline, deadline), region.own_s if own is None else (own, own), region.left, region.prices
        )
        found = self._relaxation.examine(point, self.trial)
        return -np.inf if found is None else float(np.max(found.excess))

    def _halves(self, found: Relaxed, device: int) -> Iterator[TableRegion]:
        """The region with the lighter, then with the heavier actions of one device."""
        region = found.region
        actions = np.flatnonzero(region.left[:, device])
        order = actions[np.argsort(found.heavy[actions, device], kind="stable")]
        share = np.cumsum(found.share[order, device])
        cut = int(np.clip(np.searchsorted(share, _HALF) + 1, 1, order.size - 1))
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
        own = region.own_within(self.problem.own_s)
        start, end = region.deadline_s
        if self._curved and own[1] - own[0] > end - start:
            middle = 0.5 * (own[0] + own[1])
            for part in ((own[0], middle), (middle, own[1])):
                yield TableRegion(region.deadline_s, part, region.left, None)
            return
        middle = cut(start, end)
        for interval in ((start, middle), (middle, end)):
            yield TableRegion(interval, region.own_s, region.left, region.prices)

    @property
    def _curved(self) -> bool:
        """Whether more of the round's length matters than a line in it: then the devices' own time is halved too."""
        rules = self.problem.rules
        return not self.problem.utility.linear or bool(rules.spares or rules.airtimes)

    def _narrow(self, region: TableRegion) -> bool:
        start, end = region.deadline_s
        own = region.own_within(self.problem.own_s)
        return is_narrow(start, end) and (not self._curved or own[1] - own[0] <= NARROW * max(end, own[1]))


def _least(holds: Callable[[float], bool], size: float) -> tuple[float, float] | None:
    """Around the least number from which on something holds; None where that is beyond 1e9 times a size."""
    low, high = 0.0, size
    while not holds(high):
        low, high = high, 4.0 * high
        if high > _FOREVER * size:
            return None
    while high - low > _AROUND * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
