"""Counts of verified drafts as a server reports them, and the acceptance curve of drafts of unlike lengths.

The share of all drafts whose first l tokens were accepted is S(l) only where every draft had l tokens. A server that
chooses its lengths by batch size mixes them within an interval; what matters at position l are the drafts that had
an l-th token, and their number follows from the tokens drafted where two lengths are mixed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from msopt.arrays import BoolArray, IntArray
from msopt.errors import ParameterError
from msopt.measured.task_acceptance import CurvePoint, curve_of_counts

MOST_TOKENS = 10**15
"""No server counts higher, and up to here a float holds every count exactly."""
_FEW_SHORT = 0.05
"""The share of drafts that may end early for all to count as of full length."""
_NO_CHANCE = 20
"""So many drafts of one length are not the ends of as many texts."""
_MOST_PAIRED = 64
"""The longest draft whose pairs of lengths are tried where none is known."""


@dataclass(frozen=True)
class Counts:
    """Drafts of one interval or engine.

    Attributes
    ----------
    drafts : int or None
        Drafts verified; None where it was not told.
    drafted, accepted : int
        Tokens in all, accepted being those before the first rejection of a draft [token].
    at : tuple of int
        Drafts whose first l tokens were accepted, l = 1, 2, ...; empty where it was not told.
    emitted : int or None
        Accepted tokens and one of the target's for each draft, where that is told in place of the drafts [token].
    by_confidence : bool
        Whether drafts end where the draft is unsure: the longer ones are the better ones then, and say nothing of all.
    reach : tuple of int
        Drafts that had an l-th token, l = 1, 2, ...; empty where it was not told.
    """

    drafts: int | None
    drafted: int
    accepted: int
    at: tuple[int, ...] = ()
    emitted: int | None = None
    by_confidence: bool = False
    reach: tuple[int, ...] = ()

    def of_length(self, draft_length: int) -> "Counts":
        """With the drafts and the accepted tokens that follow where all drafts have one length.

        Where emitted tokens are told, `accepted` is what the rule would have accepted, behind a rejection, too.
        ParameterError where the tokens do not come from drafts of this length.
        """
        drafts, over = divmod(self.drafted, draft_length)
        if self.emitted is None:
            return replace(self, drafts=max(1, round(self.drafted / draft_length)))
        if over or not drafts <= self.emitted <= drafts * (draft_length + 1):
            raise ParameterError(
                f"{self.emitted} tokens emitted for {self.drafted} drafted are not of drafts of {draft_length} tokens"
            )
        return replace(self, drafts=drafts, accepted=self.emitted - drafts)


@dataclass(frozen=True)
class _Part:
    """Drafts of one interval: how many of them had an l-th token, as far as that is known, and how it is known."""

    drafts: int
    at: tuple[int, ...]
    reach: tuple[float, ...]
    pair: tuple[int, int] | None = None
    short: bool = False

    @property
    def cut(self) -> bool:
        """Whether positions are left out because nobody knows how many drafts reached them."""
        return self.pair is None and len(self.reach) < len(self.at) and any(self.at[len(self.reach) :])


def curve_of(counts: Sequence[Counts], told: Collection[int] = ()) -> tuple[tuple[CurvePoint, ...], list[str]]:
    """The curve S(1), S(2), ... of counts by position, each with a number of drafts, and what to tell about it.

    Parameters
    ----------
    counts : sequence of Counts
        Of one model; all with drafts.
    told : collection of int
        The lengths that the server says it chooses from; empty where it does not say [token].
    """
    parts = _parts(counts, told)
    visited: list[float] = []
    kept: list[int] = []
    for place in range(max(len(part.reach) for part in parts)):
        held = [part for part in parts if place < len(part.reach)]
        visited.append(sum(_visited(part, place) for part in held))
        kept.append(sum(part.at[place] for part in held))
    return curve_of_counts(visited, kept), _notes(parts)


def _visited(part: _Part, place: int) -> float:
    """Drafts that came to a position with all before it accepted: of those accepted before, the ones long enough."""
    if place == 0:
        return part.drafts
    long_enough = part.at[place - 1] * (part.reach[place] / part.reach[place - 1])
    return max(part.at[place], long_enough)


def _parts(counts: Sequence[Counts], told: Collection[int]) -> list[_Part]:
    alike = [_alike_length(part) for part in counts]
    unlike = [
        part
        for part, length in zip(counts, alike, strict=True)
        if length is None and _sure(part) < len(part.at) and not part.by_confidence and not part.reach
    ]
    seen = {length for part, length in zip(counts, alike, strict=True) if length and (part.drafts or 0) >= _NO_CHANCE}
    known = sorted(set(told) or seen)
    pairs = _pairs(unlike, known)
    fits = [_fits(part, pairs) for part in unlike]
    if fits and len(known) <= 1:
        fits = [np.logical_and.reduce(fits)] * len(fits)  # one server mixes the same two lengths everywhere
    shortest = known[0] if len(known) > 1 else 1
    fitting = iter(fits)
    found = []
    for part, length in zip(counts, alike, strict=True):
        drafts = part.drafts or 0
        if part.reach:
            found.append(_Part(drafts, part.at, tuple(map(float, part.reach))))
        elif length is not None:
            found.append(_Part(drafts, part.at, (float(drafts),) * length))
        elif _sure(part) == len(part.at):
            found.append(_Part(drafts, part.at, (float(drafts),) * len(part.at), short=True))
        elif part.by_confidence:
            found.append(_mixed(part, pairs[:0], 1))
        else:
            found.append(_mixed(part, pairs[next(fitting)], shortest))
    return found


def _alike_length(part: Counts) -> int | None:
    """The length of all drafts; None where some were shorter than others."""
    drafts = part.drafts or 0
    length, over = divmod(part.drafted, drafts)
    return length if not over and _last(part) <= length <= len(part.at) else None


def _last(part: Counts) -> int:
    """The last position that accepted anything."""
    return next((place for place in range(len(part.at), 0, -1) if part.at[place - 1]), 0)


def _sure(part: Counts) -> int:
    """How many positions nearly all drafts reached, whatever their lengths were.

    Positions before l hold at most all drafts each, so that those from l on share what remains.
    """
    drafts, most = part.drafts or 0, len(part.at)
    place = np.arange(2, most + 1)
    least = (part.drafted - (place - 1) * float(drafts)) / (most - place + 1)
    few = np.flatnonzero(least < (1.0 - _FEW_SHORT) * drafts)
    return int(few[0]) + 1 if few.size else most


def _pairs(unlike: Sequence[Counts], known: Sequence[int]) -> IntArray:
    """The pairs of lengths that may be mixed, shape (n, 2): of the known ones, or all that hold a known one."""
    most = max((len(part.at) for part in unlike), default=0)
    if len(known) <= 1 and most <= _MOST_PAIRED:
        tried = [pair for pair in combinations(range(1, most + 1), 2) if not known or known[0] in pair]
    else:
        tried = list(combinations(known, 2)) if len(known) <= _MOST_PAIRED else []
    return np.array(tried, dtype=np.int64).reshape(-1, 2)


def _fits(part: Counts, pairs: IntArray) -> BoolArray:
    """Which pairs of lengths have this many tokens, and acceptance that does not rise beyond chance."""
    drafts = float(part.drafts or 0)
    at = np.array((*part.at, 0), dtype=float)
    low, high = pairs.T
    possible = (high <= len(part.at)) & (high >= _last(part))
    low = np.minimum(low, len(part.at))
    longer = (part.drafted - low * drafts) / (high - low)  # the drafts of the greater length
    before, after = at[low - 1] / drafts, at[low]
    chance = 3.0 * np.sqrt(np.maximum(longer * before * (1.0 - before), 0.0)) + 1.0
    within = (after <= longer + 0.5) & (after <= longer * before + chance)
    return np.asarray(possible & (longer > 0.0) & (longer < drafts) & within)


def _mixed(part: Counts, pairs: IntArray, shortest: int) -> _Part:
    """Drafts of unlike lengths: with two that fit all positions count, else those that all drafts had."""
    drafts = float(part.drafts or 0)
    if len(pairs) == 1:
        low, high = (int(length) for length in pairs[0])
        longer = (part.drafted - low * drafts) / (high - low)
        return _Part(int(drafts), part.at, (drafts,) * low + (longer,) * (high - low), pair=(low, high))
    common = max(_sure(part), int(pairs[:, 0].min()) if len(pairs) else min(shortest, len(part.at)))
    return _Part(int(drafts), part.at, (drafts,) * common)


def _notes(parts: Sequence[_Part]) -> list[str]:
    drafts = sum(part.drafts for part in parts)
    notes = []
    if short := sum(part.drafts for part in parts if part.short):
        most = max(len(part.at) for part in parts if part.short)
        notes.append(
            f"{short} of {drafts} drafts are of intervals in which some were shorter than {most} tokens; the curve "
            "counts them as rejected where they ended"
        )
    for low, high in sorted({part.pair for part in parts if part.pair}):
        mixed = sum(part.drafts for part in parts if part.pair == (low, high))
        notes.append(
            f"{mixed} of {drafts} drafts are of intervals taken to mix drafts of {low} and of {high} tokens, as the "
            "tokens drafted tell; a position counts the drafts that reached it"
        )
    if unknown := [part for part in parts if part.cut]:
        least = min(len(part.reach) for part in unknown)
        notes.append(
            f"{sum(part.drafts for part in unknown)} of {drafts} drafts are of intervals that mix lengths which are "
            f"not known; beyond position {least} they are not counted"
        )
    return notes
