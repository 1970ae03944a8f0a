"""Records of a server's text, some of them damaged: which are read, which are left out, and what is told of those.

A server's log is damaged by full disks, by two writers and by being copied while it is written: a record that cannot
be read is left out and told; one that can be read and contradicts itself is an error, but for a last line that may
have been cut where no field shows it.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import MsoptError, ParameterError
from msopt.measured.served_counts import Counts
from msopt.model.validation import MOST_SERVED

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_UNDECODED = re.compile("[\udc80-\udcff]")
_MEAN_DIGIT, _RATE_DIGIT = 0.005 + 1e-9, 0.0005 + 1e-9  # half a unit of the last digit printed
_MOST_CANDIDATES = 20_000
_SHOWN_LINES, _SHOWN_NAMES = 5, 8

Record = TypeVar("Record")
Read = TypeVar("Read")


class DamagedError(MsoptError):
    """A record that cannot be read: its text says which part."""


class ContradictionError(MsoptError):
    """A record whose numbers cannot be true together: its text says which."""


@dataclass(frozen=True)
class ServerText:
    """A server's text, and what a user says of it.

    Attributes
    ----------
    lines : list of str
        Its lines (`plain_lines`); the last one has no line break after it unless it is empty.
    model : str or None
        The model, where counters of several are there.
    draft_length : int or None
        The tokens of every draft, for a text that does not tell them [token].
    """

    lines: list[str]
    model: str | None = None
    draft_length: int | None = None

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern is found in some line."""
        return any(pattern.search(line) for line in self.lines)


def plain_lines(text: str) -> list[str]:
    """The lines of a text without colours, numbered as an editor numbers them."""
    return [line.strip() for line in _COLOUR.sub("", text).split("\n")]


def undecoded(lines: Sequence[str]) -> list[str]:
    """A note on the lines with bytes that are no UTF-8, which were read as lone surrogates."""
    places = [place for place, line in enumerate(lines, 1) if _UNDECODED.search(line)]
    return [f"bytes that are not UTF-8 in {_listed(places)}"] if places else []


def named(names: Sequence[str]) -> str:
    """Names in one list of bounded length."""
    shown = [name if len(name) <= 100 else f"{name[:97]}..." for name in names[:_SHOWN_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def read_records(
    records: Iterable[tuple[int, Record]], last: int, read: Callable[[Record], Read]
) -> tuple[list[tuple[Record, Read]], list[str]]:
    """Read each record at its line, and note what was left out.

    ParameterError in one line where one that is not in the last line contradicts itself, or none can be read.

    Parameters
    ----------
    records : iterable of (int, record)
        The line of each, from 1.
    last : int
        The number of lines: the last may be cut.
    read : function
        Raises `DamagedError` or `ContradictionError`.
    """
    found: list[tuple[Record, Read]] = []
    damaged: dict[int, str] = {}
    for place, record in records:
        try:
            found.append((record, read(record)))
        except DamagedError as error:
            damaged.setdefault(place, f"is cut short or damaged: {error}")
        except ContradictionError as error:
            contradiction = f"contradicts itself: {error}"
            if place < last:
                raise ParameterError(f"line {place} {contradiction}") from None
            damaged.setdefault(place, contradiction)
    if damaged and not found:
        place, reason = next(iter(damaged.items()))
        raise ParameterError(f"line {place} {reason}")
    if not damaged:
        return found, []
    first = "the first" if len(damaged) > 1 else "it"
    return found, [f"{_listed(list(damaged))} left out: {first} {next(iter(damaged.values()))}"]


def _listed(places: Sequence[int]) -> str:
    shown = ", ".join(map(str, places[:_SHOWN_LINES]))
    more = f" and {len(places) - _SHOWN_LINES} more" if len(places) > _SHOWN_LINES else ""
    return f"line{'s' if len(places) > 1 else ''} {shown}{more}"


def counts_by_rates(mean: float, accepted: int, drafted: int, rates: FloatArray) -> Counts:
    """The counts of a line that tells mean and rates by position; both rounded."""
    drafts = drafts_of_mean(mean, accepted, drafted, rates)
    at = np.minimum.accumulate(np.rint(rates * drafts)).astype(np.int64)
    return Counts(drafts, drafted, accepted, tuple(at.tolist()))


def drafts_of_mean(mean: float, accepted: int, drafted: int, rates: FloatArray) -> int:
    """How many drafts a line is about, which it does not print.

    accepted/drafts is printed twice, as mean - 1 and as the sum of the rates, both rounded. Of the numbers that
    fit, the one that makes all drafts equally long; else the one whose multiples of 1/drafts fit the rates best.
    """
    positions = rates.size
    if accepted == 0:
        if np.any(rates > 0.0) or not abs(mean - 1.0) <= _MEAN_DIGIT:
            raise ContradictionError(f"no token accepted and a mean acceptance length of {mean:g}")
        return math.ceil(drafted / max(positions, 1))
    per_draft = [(mean - 1.0, _MEAN_DIGIT)] + ([(float(rates.sum()), positions * _RATE_DIGIT)] if positions else [])
    low = max(accepted / max(value + slack, 1e-30) for value, slack in per_draft)
    high = min(accepted / (value - slack) if value > slack else math.inf for value, slack in per_draft)
    least = max(1, math.ceil(low * (1.0 - 1e-12) - 1e-9), math.ceil(drafted / (positions or MOST_SERVED)))
    most = math.floor(min(high * (1.0 + 1e-12) + 1e-9, drafted))
    if not least <= most:
        raise ContradictionError(
            f"{accepted} tokens accepted of {drafted} drafted, a mean acceptance length of {mean:g} and rates that "
            f"add up to {rates.sum():g}"
        )
    used = int(np.flatnonzero(rates)[-1]) + 1 if positions and rates.any() else 1
    likely = max(1, round(drafted * (mean - 1.0) / accepted))
    for depth in range(positions, used - 1, -1) if positions else [likely]:
        if drafted % depth == 0 and least <= drafted // depth <= most:
            return drafted // depth
    if not positions or (most - least + 1) * positions > _MOST_CANDIDATES:
        return (least + most) // 2  # rates of three digits do not tell so many drafts apart
    numbers = np.arange(least, most + 1)
    error = np.abs(np.rint(numbers[:, None] * rates) / numbers[:, None] - rates).max(axis=1)
    return int(numbers[np.argmin(error)])
