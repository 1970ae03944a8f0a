"""The best whole lengths with a proof, or a bound as near as the effort allows (ours, design section 4).

A branch and bound. A region is an interval of deadlines, and a window of lengths for each device. It is closed when
nothing in it can beat the best goodput known, or when the few controls that may are all scored. The lengths that attain
its bound are scored too: that is how better controls are found on the way.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.lengths.enumeration import near_controls
from msopt.lengths.multiple_choice import MultipleChoice, Region
from msopt.lengths.relaxed import exact_goodput, shortest_deadline
from msopt.model.goodput import finish_s
from msopt.model.scenario import Scenario
from msopt.numerics.best_first import EDGE, BestFirst, SearchEffort, cut, is_narrow

PROOF_RTOL = 5e-11
LARGEST_CHOICE = 5_000_000
_COMBINATIONS = 4000  # of few devices: listing more takes longer than a few halvings
_LENGTHS_SCORED = 2_000_000  # lengths of all combinations of many devices: tens of megabytes
_LEAST_COMBINATIONS = 16  # however many devices there are
_ALIKE = 0.5  # the lesser excess over the greater, of ends that count as alike
_CAP_STEPS = 100  # each from the last longest useful deadline to a shorter one


@dataclass(frozen=True, eq=False)
class Proof:
    """The best control met, and what bounds every control.

    Attributes
    ----------
    draft_length : array of int, shape (K,)
    goodput : float
        Of these lengths under their best split [token/s].
    bound : float
        No whole control has more [token/s].
    nodes : int
        Regions examined and partial controls looked at.
    """

    draft_length: IntArray
    goodput: float
    bound: float
    nodes: int


def prove(
    scenario: Scenario, lengths: FloatArray | None = None, effort: SearchEffort | None = None, claim: float = 0.0
) -> Proof:
    """The best whole lengths of problem `heterogeneous`, searched until proven or until the effort is spent.

    ParameterError where the table of lengths would hold more than `LARGEST_CHOICE` numbers.

    Parameters
    ----------
    scenario : Scenario
        Any law and sharing.
    lengths : array, shape (n, K), optional
        Whole lengths to start from; the shortest ones by default.
    effort : SearchEffort, optional
        No limit by default.
    claim : float
        A goodput that is said to be a bound [token/s]: only a control with more is looked for, and the bound is never
        less.
    """
    search = DeadlineSearch(scenario, effort or SearchEffort(), claim)
    if lengths is not None:
        search.score(lengths)
    return search.run()


def longest_useful(scenario: Scenario, goodput: float) -> tuple[float, int]:
    """A deadline [s] and a length beyond which no control has more than a goodput."""
    _, high = scenario.length_limits("heterogeneous")
    alone_s = finish_s(scenario, "heterogeneous", 1.0, scenario.uplink_bandwidth_hz)
    deadline = float(shortest_deadline(scenario, np.full(alone_s.size, float(high))))
    for _ in range(_CAP_STEPS):
        reach = np.minimum(float(high), deadline / alone_s)
        if not scenario.acceptance.geometric and float(np.max(reach)) * alone_s.size > LARGEST_CHOICE:
            break
        tokens = float(np.sum(scenario.acceptance.expected_tokens(reach)))
        shorter = max(0.0, tokens / goodput - scenario.verify_idle_s)
        if shorter >= deadline:
            break
        deadline = shorter
    deadline *= 1.0 + EDGE
    return deadline, int(min(float(high), np.max(deadline / alone_s)))


class DeadlineSearch(BestFirst[Region]):
    """Best first over regions: an interval of the deadline, a window of lengths for each device."""

    def __init__(self, scenario: Scenario, effort: SearchEffort, claim: float = 0.0) -> None:
        super().__init__(effort)
        self.scenario = scenario
        self.claim = claim
        self.low, _ = scenario.length_limits("heterogeneous")
        count = scenario.device_count
        self._most = int(np.clip(_LENGTHS_SCORED // count, _LEAST_COMBINATIONS, _COMBINATIONS))
        self.lengths = np.full(count, float(self.low))
        self._least_verify_s = float(scenario.verify_s(self.lengths))
        self.goodput = float(exact_goodput(scenario, self.lengths))

    def score(self, lengths: FloatArray) -> None:
        """Keep the best of some controls, shape (n, K), where it beats what is known."""
        if len(lengths):
            scores = exact_goodput(self.scenario, lengths)
            best = int(np.argmax(scores))
            if scores[best] > self.goodput:
                self.goodput, self.lengths = float(scores[best]), lengths[best]

    def run(self) -> Proof:
        """Steps until no region may hold a better control, or until the effort is spent."""
        scenario, count = self.scenario, self.scenario.device_count
        end, longest = longest_useful(scenario, max(self.goodput, self.claim))
        longest = max(longest, self.low)
        if (longest - self.low + 1) * count > LARGEST_CHOICE:
            raise ParameterError(
                f"lengths from {self.low} to {longest} for {count} devices need a table of more than "
                f"{LARGEST_CHOICE} numbers; lower max_draft_length"
            )
        self.numbers = (longest - self.low + 1) * count
        self._problem = MultipleChoice(scenario, longest)
        self._start = float(shortest_deadline(scenario, np.full(count, float(self.low)))) * (1.0 - EDGE)
        window = np.full(count, self.low, dtype=np.int64), np.full(count, longest, dtype=np.int64)
        if end > self._start:
            self._add((self._start, end), window, None)
        while self.step():
            pass
        lengths = np.asarray(np.rint(self.lengths), dtype=np.int64)
        return Proof(lengths, self.goodput, self.bound, self.nodes)

    @property
    def trial(self) -> float:
        """What a control must have to count as better: more than round-off, and more than was claimed."""
        return max(self.goodput * (1.0 + PROOF_RTOL), self.claim)

    def _add(self, interval_s: tuple[float, float], window: tuple[IntArray, IntArray], price: float | None) -> None:
        """Examine a region and keep it where it is not closed."""
        self.nodes += 1
        self.regions += 1
        trial = self.trial
        choices = self._problem.examine(interval_s, window, trial, price)
        if choices is None:
            return
        # A control of the region gains at most the excess; at a higher goodput it loses a token a second at least.
        bound = trial + float(np.max(choices.region.excess)) / (interval_s[0] + self._least_verify_s)
        self.score(choices.best)
        band, idle = self.scenario.uplink_bandwidth_hz, self.scenario.verify_idle_s
        controls, seen = near_controls(choices, band, trial, idle, self._most)
        self.nodes += seen
        if controls is None:
            self.keep(bound, choices.region)
        else:
            self.score(controls)

    def split(self, region: Region) -> None:
        """Halve the interval; or, where that would tell little, settle the device that the relaxation breaks."""
        interval = region.start_s, region.end_s
        device = self._undecided(region)
        if device is not None:
            at, length = device
            for side, value in ((1, length), (0, length + 1)):
                window = region.first.copy(), region.last.copy()
                window[side][at] = value
                self._add(interval, window, region.price)
            return
        middle = cut(*interval, self._start)
        if not region.start_s < middle < region.end_s:
            # No float lies between: only one deadline is left, and at most one length for each device.
            self.score(region.first[None, :].astype(float))
            return
        for half in ((region.start_s, middle), (middle, region.end_s)):
            self._add(half, (region.first, region.last), region.price)

    def _undecided(self, region: Region) -> tuple[int, int] | None:
        """A device whose window is better split than the interval, and the length after which; None: none."""
        broken, most = region.broken, float(np.max(region.excess))
        narrow = is_narrow(region.start_s, region.end_s, self._start)
        if broken is not None and region.first[broken.device] <= broken.length < region.last[broken.device]:
            # Alike at both ends and no more than the broken token is worth: the excess is the relaxation's own.
            if narrow or (broken.gain > most and float(np.min(region.excess)) > _ALIKE * most):
                return broken.device, broken.length
        elif narrow:
            widest = int(np.argmax(region.last - region.first))
            if region.first[widest] < region.last[widest]:
                return widest, int(region.first[widest] + region.last[widest]) // 2
        return None
