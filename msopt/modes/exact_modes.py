"""Problem `modes` solved to a proof: deadlines from the longest down, lengths by corners of boxes (design section 5).

At a trial goodput G let V(A) be the greatest value of sum_k (E_k(l_k) - G c1 l_k) - G C(rho(l)) over the lengths
that fit the deadline A. More lengths fit a longer deadline, so V never falls with A, and no deadline A with
V(A1) <= G (A + c0 + (c2 + c1) K), A <= A1, holds a control better than G. One V(A1) thus settles every
deadline down to V(A1)/G - c0 - (c2 + c1) K, and the search goes on below. (Were G to rise, V only falls.)

V(A1) is the best of the combinations of each device's lengths on the concave hull of `msopt.modes.hull`: two for
each where all or nothing holds, and one transform of the table gives them all. It settles devices, too: where
no combination without device k is worth more than G (A0 + c0 + (c2 + c1) K), k drafts at every deadline from A0
to A1 at which a control is better than G, because the value is linear in each rho and a shorter length is a
mixture of the ends; where none with k is, it does not draft. Below A1 only the few others are combined.
Where there are more combinations than fit memory (other laws, c1 > 0), the lengths are narrowed by the range of
each dC/drho_k over their box, and the box is split.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray, every_length
from msopt.errors import ParameterError
from msopt.lengths.region_search import Proof
from msopt.model.scenario import Scenario
from msopt.modes.bounds.upper import additive_values, minorant_from_table
from msopt.modes.hull import all_or_nothing, upper_hull
from msopt.modes.mode_problem import ModeProblem, deadlines, fitting
from msopt.modes.subsets import combination, combinations, expected_of_all, sum_of_all
from msopt.modes.table import TableOfOutcomes
from msopt.numerics.clock import UNLIMITED, Clock
from msopt.numerics.margins import FITS
from msopt.numerics.memory import require_memory

LARGEST = 20  # devices: a table of a million outcomes
_MOST_COMBINATIONS = 2**21  # at once: 16 MiB an array
_COPIES = 16  # of such an array that live together at most
_SKIPPED = 4  # open deadlines below one: its value is not narrowed further than to settle those above
_MOST_FREE = 10  # devices left open below a deadline: a thousand combinations


@dataclass(frozen=True, eq=False)
class ModesProof(Proof):
    """The best lengths found and their goodput, which is the bound, too, unless a limit stopped the search.

    Attributes
    ----------
    transforms : int
        Nodes at which the table was transformed to all combinations or to a box of them; at the others to those of a
        few devices, the others settled.
    """

    transforms: int


def require_exact(scenario: Scenario) -> None:
    """Raise ParameterError where the table of 2^K outcomes is too large, by K or by this machine's memory."""
    device_count = scenario.device_count
    if device_count > LARGEST:
        raise ParameterError(
            f"method exact of problem modes needs a table of all 2^K outcomes and takes at most K = {LARGEST} "
            f"devices; the scenario has {device_count}"
        )
    low, high = scenario.length_limits("modes")
    combined = min((high - low + 1) ** device_count, _MOST_COMBINATIONS)
    needed = 8 * _COPIES * max(2**device_count, combined)
    require_memory(needed, f"method exact of problem modes for K = {device_count}")


def exact_lengths(
    problem: ModeProblem, start: IntArray, node_limit: int | None = None, clock: Clock = UNLIMITED
) -> ModesProof:
    """The best lengths and the proof, from lengths to start with.

    Parameters
    ----------
    problem : ModeProblem
        With a table of outcomes.
    start : array of int, shape (K,)
        Any lengths within the limits; the better, the fewer transforms.
    node_limit, clock : optional
        End the search after so many nodes, or when the clock is over, with the bound that is proven by then.
    """
    return _Search(problem, start, node_limit, clock).run()


class _LimitReachedError(Exception):
    """Stops the search before it has ended; caught within this module."""


class _Search:
    def __init__(self, problem: ModeProblem, start: IntArray, node_limit: int | None, clock: Clock) -> None:
        if not isinstance(problem.correction, TableOfOutcomes):
            raise ParameterError("exact lengths need the table of all outcomes")
        self.problem, self.table = problem, problem.correction
        self.order = problem.correction.times.order
        self.lengths = np.asarray(start, dtype=float)
        self.goodput = float(problem.goodput(self.lengths[None, :])[0])
        self.nodes = self.transforms = 0
        self.settles = all_or_nothing(problem)
        self.settled_from_s = np.inf
        self.drafts, self.idles = np.zeros((2, self.order.size), dtype=bool)
        self.most_nodes = node_limit
        self.clock = clock
        self.idle_s = problem.scenario.verify_idle_s
        every = every_length(problem.limits, problem.scenario.device_count)
        self.tokens = problem.scenario.acceptance.expected_tokens(every)[:, self.order]  # (lengths, K), by place
        self.rejection = problem.rejection(every)[:, self.order]  # (lengths, K), by place
        self.length = every[:, :1]  # (lengths, 1)

    def run(self) -> ModesProof:
        every = deadlines(self.problem)
        additive = minorant_from_table(self.table)
        left = every.size
        reached = np.inf
        try:
            while True:
                value = additive_values(self.problem, additive, every[:left], self.goodput)
                open_ones = np.flatnonzero(np.minimum(value, reached) > self._par(every[:left]) * FITS)
                if open_ones.size == 0:
                    return self._answer(self.goodput)
                left = int(open_ones[-1]) + 1
                before = self.goodput
                target = self._par(every[open_ones[max(0, open_ones.size - 1 - _SKIPPED)]])
                value_here = self._best_value(float(every[left - 1]), float(target))
                if self.goodput <= before * FITS:  # else the same deadline again, at the greater G
                    reached = value_here
                    left -= 1
        except _LimitReachedError:
            value = additive_values(self.problem, additive, every[:left], self.goodput)
            par = self._par(every[:left])
            # A control beats G by at most the excess of its value over its least round.
            excess = np.maximum(np.minimum(value, reached) - par, 0.0) / (every[:left] + self.idle_s)
            return self._answer(self.goodput + float(np.max(excess)))

    def _par(self, deadline_s: FloatArray) -> FloatArray:
        """The value at which a control with this deadline has the goodput G."""
        return np.asarray(self.goodput * (deadline_s + self.idle_s))

    def _answer(self, bound: float) -> ModesProof:
        lengths = np.asarray(np.rint(self.lengths), dtype=np.int64)
        return ModesProof(lengths, self.goodput, bound, self.nodes, self.transforms)

    def _best_value(self, deadline_s: float, least: float) -> float:
        """V at a deadline, or `least` where V is below it; better controls met on the way are kept."""
        low, _ = self.problem.limits
        caps = fitting(self.problem, np.array([deadline_s]))[0][self.order].astype(np.int64) - low
        goodput, best = self.goodput, least
        boxes = [(np.zeros_like(caps), caps)]
        if deadline_s >= self.settled_from_s:
            boxes = [(np.where(self.drafts, caps, 0), np.where(self.idles, 0, caps))]
            best = max(best, float(self._par(np.array(self.settled_from_s))))
        settles = self.settles and deadline_s < self.settled_from_s
        while boxes:
            first, last = boxes.pop()
            choices = self._hulls(goodput, first, last)
            if combinations([c.size for c in choices]) > _MOST_COMBINATIONS:
                settles = False
                choices, bound = self._narrowed(goodput, choices)
                if bound <= best:
                    continue
            if combinations([c.size for c in choices]) <= _MOST_COMBINATIONS:
                best = max(best, self._enumerate(goodput, deadline_s, choices, settles))
            else:
                boxes += _halves(choices)
        return best

    def _worth(self, goodput: float) -> FloatArray:
        """E_k(l) - G c1 l for every length and place."""
        return np.asarray(self.tokens - goodput * self.problem.scenario.verify_per_token_s * self.length)

    def _hulls(self, goodput: float, first: IntArray, last: IntArray) -> list[IntArray]:
        if self.settles:
            return [np.unique([a, b]) for a, b in zip(first, last, strict=True)]
        worth = self._worth(goodput)
        spans = [slice(a, b + 1) for a, b in zip(first, last, strict=True)]
        return [
            span.start + upper_hull(self.rejection[span, place], worth[span, place]) for place, span in enumerate(spans)
        ]

    def _transform(self, choices: Sequence[IntArray]) -> FloatArray:
        if self.nodes == self.most_nodes or self.clock.over:
            raise _LimitReachedError
        self.nodes += 1
        self.transforms += all(c.size > 1 for c in choices)
        return expected_of_all(self.table.seconds, [self.rejection[c, place] for place, c in enumerate(choices)])

    def _enumerate(self, goodput: float, deadline_s: float, choices: Sequence[IntArray], settles: bool) -> float:
        """The best value of all combinations; the one of the greatest goodput becomes the control if it is better."""
        correction = self._transform(choices)
        tokens = sum_of_all([self.tokens[c, place] for place, c in enumerate(choices)])
        seconds = deadline_s + self.idle_s + correction
        per_token = self.problem.scenario.verify_per_token_s
        if per_token > 0.0:
            seconds += per_token * sum_of_all([self.length[c, 0] for c in choices])
        self._keep(choices, int(np.argmax(tokens / seconds)))
        value = tokens - goodput * seconds
        if settles:
            self._settle(value, choices, deadline_s)
        return float(np.max(value)) + goodput * (deadline_s + self.idle_s)

    def _settle(self, value: FloatArray, choices: Sequence[IntArray], deadline_s: float) -> None:
        """Which devices surely draft or surely do not, down to the deadline at which many are open."""
        without, using = np.full((2, len(choices)), -np.inf)  # (K,) each
        for place, kept in enumerate(choices):
            if kept.size == 2:
                pairs = value.reshape(-1, 2, combinations([c.size for c in choices[:place]]))  # (after, own, before)
                without[place], using[place] = pairs[:, 0].max(), pairs[:, 1].max()
        # By how much a deadline may be shorter before the device is open: value / G above `deadline_s`.
        opens = np.minimum(without, using)
        lowest = np.sort(opens)[max(0, opens.size - 1 - _MOST_FREE)]
        self.settled_from_s = max(0.0, deadline_s + lowest / self.goodput * (1.0 - 1e-12) if lowest > -np.inf else 0.0)
        self.drafts, self.idles = without <= lowest, (using <= lowest) & (without > lowest)

    def _keep(self, choices: Sequence[IntArray], index: int) -> None:
        chosen = combination(index, [c.size for c in choices])
        placed = np.array([self.length[c[i], 0] for c, i in zip(choices, chosen, strict=True)])
        lengths = self.table.times.by_device(placed)
        goodput = float(self.problem.goodput(lengths[None, :])[0])
        if goodput > self.goodput:
            self.goodput, self.lengths = goodput, lengths

    def _narrowed(self, goodput: float, choices: list[IntArray]) -> tuple[list[IntArray], float]:
        """Lengths left once dC/drho_k is known to lie between two numbers all over the box, and a bound on the value.

        dC/drho_k is linear in every other probability, so its range over the box is that over its corners, and
        one transform gives the differences along every axis. Narrower boxes are tried again while they shrink.
        """
        worth = self._worth(goodput)
        while True:
            corners = [c[[0, -1]] if c.size > 1 else c for c in choices]
            values = self._transform(corners).reshape([c.size for c in reversed(corners)])
            bound = -goodput * float(values.flat[0])
            narrower = []
            for place, kept in enumerate(choices):
                rho, gain = self.rejection[kept, place], worth[kept, place]
                if kept.size == 1:
                    bound += float(gain[0])
                    narrower.append(kept)
                    continue
                slope = np.diff(values, axis=-1 - place) / (rho[-1] - rho[0])
                least, greatest = goodput * float(slope.min()), goodput * float(slope.max())
                bound += float(np.max(gain - least * (rho - rho[0])))
                narrower.append(kept[_best_for_some_price(rho, gain, least, greatest)])
            shrunk = [c.size for c in narrower] != [c.size for c in choices]
            choices = narrower
            if not shrunk or combinations([c.size for c in choices]) <= _MOST_COMBINATIONS:
                return choices, bound


def _best_for_some_price(rejection: FloatArray, worth: FloatArray, least: float, greatest: float) -> IntArray:
    """Which vertices of a concave hull maximise worth - price rejection for some price between two."""
    chords = np.diff(worth) / np.diff(rejection)
    slack = 1e-9 * (abs(least) + abs(greatest) + np.max(np.abs(chords)))
    after, before = np.append(chords, -np.inf), np.insert(chords, 0, np.inf)
    return np.flatnonzero((after <= greatest + slack) & (before >= least - slack))


def _halves(choices: Sequence[IntArray]) -> list[tuple[IntArray, IntArray]]:
    """The box split between the lengths of the device that has the most of them."""
    widest = int(np.argmax([c.size for c in choices]))
    first, last = np.array([c[0] for c in choices]), np.array([c[-1] for c in choices])
    middle = choices[widest].size // 2
    below, above = last.copy(), first.copy()
    below[widest], above[widest] = choices[widest][middle - 1], choices[widest][middle]
    return [(first, below), (above, last)]
