"""The lines of a vLLM's log that speak of speculative decoding, of every version so far.

From 0.11: "SpecDecoding metrics: Mean acceptance length: 2.91, ..., Accepted: 44 tokens, Drafted: 161 tokens,
Per-position acceptance rate: 0.739, 0.478, ..., Avg Draft acceptance rate: 27.3%". 0.9 and 0.10 say the same in another
order, the rates last; 0.8 tells accepted and drafted tokens only. A line is about the interval since the one before.
The V0 engine: "Speculative metrics: ..., Number of speculative tokens: 3, Number of accepted tokens: 8547, Number of
draft tokens: 13311, Number of emitted tokens: 10616.", about all since the start, and with accepted tokens that stand
behind a rejection.

A server's log is damaged by full disks, by two writers and by being copied while it is written: a line that cannot be
read is left out and told; one that can be read and contradicts itself is an error.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import MsoptError, ParameterError, describe
from msopt.measured.served_counts import MOST_TOKENS, Counts
from msopt.measured.vllm_prometheus import named
from msopt.model.validation import MOST_SERVED

MARK = re.compile(r"(?:SpecDecoding|Speculative) metrics:")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_UNDECODED = re.compile("[\udc80-\udcff]")
_FIELD = re.compile(r", (?=[A-Z])")
_COUNT = re.compile(r"([0-9]{1,15})(?![0-9])")
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?|nan)(?![0-9.])")
_RATES = re.compile(r"[0-9.]+(?:, [0-9.]+)*")
_MEAN_DIGIT, _RATE_DIGIT = 0.005 + 1e-9, 0.0005 + 1e-9  # half a unit of the last digit printed
_MOST_CANDIDATES = 20_000
_SHOWN_LINES = 5

_MEAN, _AT = "Mean acceptance length", "Per-position acceptance rate"
_RATE, _LATER_RATE = "Draft acceptance rate", "Avg Draft acceptance rate"
_LENGTH, _EMITTED, _EFFICIENCY = "Number of speculative tokens", "Number of emitted tokens", "System efficiency"

_LENGTHS_TOLD = re.compile(r"num_speculative_tokens_per_batch_size['\"]?\s?[:=]\s?(\[[\[\]()0-9, ]{1,9999})")
_RANGE = re.compile(r"[\[(]\s?[0-9]{1,9},\s?[0-9]{1,9},\s?([0-9]{1,9})\s?[\])]")
_METHOD_TOLD = re.compile(r"SpeculativeConfig\(method='([a-z0-9_]{1,40})'")
_SAMPLING_TOLD = re.compile(r"draft_sample_method['\"]?\s?[:=]\s?['\"]?(greedy|probabilistic)\b")


class _DamagedError(MsoptError):
    """A record that cannot be read: its text says which part."""


class _ContradictionError(MsoptError):
    """A record whose numbers cannot be true together: its text says which."""


@dataclass(frozen=True)
class LogReading:
    """What a log says.

    Attributes
    ----------
    counts : list of Counts
        Of every interval that drafted, or of every run of the server where its lines are about all since the start.
    lengths : frozenset of int
        The lengths that the server chooses from, where the log holds its arguments [token].
    method : str or None
        What drafts, such as "draft_model" or "eagle3", where the log says so and says one thing only.
    draft_sample_method : str or None
        "greedy" or "probabilistic", likewise.
    notes : list of str
        What was left out.
    """

    counts: list[Counts]
    lengths: frozenset[int]
    method: str | None
    draft_sample_method: str | None
    notes: list[str]


def plain_lines(text: str) -> list[str]:
    """The lines of a text without colours, numbered as an editor numbers them."""
    return [line.strip() for line in _COLOUR.sub("", text).split("\n")]


def undecoded(lines: Sequence[str]) -> list[str]:
    """A note on the lines with bytes that are no UTF-8, which were read as lone surrogates."""
    places = [place for place, line in enumerate(lines, 1) if _UNDECODED.search(line)]
    return [f"bytes that are not UTF-8 in {_listed(places)}"] if places else []


def read_log(lines: Sequence[str]) -> LogReading:
    """What the lines of a log say; the last one has no line break after it unless it is empty.

    Raises
    ------
    ParameterError
        One line, where no record can be read, one contradicts itself, or several models speak.
    """
    models = sorted({model for line in lines if (model := _model(line))})
    if len(models) > 1:
        raise ParameterError(f"is a log of several models ({named(models)}); cut it to the lines of one")
    counts: list[Counts] = []
    since_start: list[Counts] = []
    damaged: dict[int, str] = {}
    for place, record in _records(lines):
        try:
            found = _counts(record)
        except _DamagedError as error:
            damaged.setdefault(place, f"is cut short or damaged: {error}")
        except _ContradictionError as error:
            contradiction = f"contradicts itself: {error}"
            if place < len(lines):
                raise ParameterError(f"line {place} {contradiction}") from None
            damaged.setdefault(place, contradiction)
        else:
            (since_start if _EMITTED in record else counts).append(found)
    if damaged and not counts and not since_start:
        place, reason = next(iter(damaged.items()))
        raise ParameterError(f"line {place} {reason}")
    notes = []
    if damaged:
        first = "the first" if len(damaged) > 1 else "it"
        notes.append(f"{_listed(list(damaged))} left out: {first} {next(iter(damaged.values()))}")
    counts = [part for part in (*counts, *_runs(since_start)) if part.drafted]
    if since_start and counts:
        notes.append("vLLM's V0 engine counts accepted tokens behind a rejection, too; its emitted tokens are taken")
    widths = sorted({len(part.at) for part in counts if part.at})
    if len(widths) > 1:
        raise ParameterError(
            f"has lines of {widths[0]} and of {widths[-1]} positions: several models or restarts; cut it to one"
        )
    return LogReading(counts, _lengths_told(lines), _told(lines, _METHOD_TOLD), _told(lines, _SAMPLING_TOLD), notes)


def _model(line: str) -> str:
    start = line.find("LLM engine")
    if start < 0 or "Initializing a" not in line[:start]:
        return ""
    _, _, rest = line[start:].partition("config: model='")
    return rest.partition("'")[0]


def _listed(places: Sequence[int]) -> str:
    shown = ", ".join(map(str, places[:_SHOWN_LINES]))
    more = f" and {len(places) - _SHOWN_LINES} more" if len(places) > _SHOWN_LINES else ""
    return f"line{'s' if len(places) > 1 else ''} {shown}{more}"


def _records(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """What follows every mark, up to the next: two writers may share a line."""
    for place, line in enumerate(lines, 1):
        for text in MARK.split(line)[1:]:
            yield place, text


def _runs(records: Sequence[Counts]) -> list[Counts]:
    """The last of the records of each run of a server: counts since its start never fall within one."""
    ends = [(here.drafted, here.accepted) > (after.drafted, after.accepted) for here, after in pairwise(records)]
    return [record for record, end in zip(records, [*ends, True], strict=False) if end]


def _lengths_told(lines: Sequence[str]) -> frozenset[int]:
    told = [found[1] for line in lines for found in _LENGTHS_TOLD.finditer(line)]
    lengths = {int(found) for text in told for found in _RANGE.findall(text)}
    return frozenset(length for length in lengths if 1 <= length <= MOST_SERVED)


def _told(lines: Sequence[str], pattern: re.Pattern[str]) -> str | None:
    told = {found[1] for line in lines for found in pattern.finditer(line)}
    return told.pop() if len(told) == 1 else None


# One record


def _counts(record: str) -> Counts:
    fields: dict[str, str] = {}
    for item in _FIELD.split(record.strip()):
        label, colon, value = item.partition(": ")
        label = label.replace("tokens tokens", "tokens")  # as 0.5 writes
        if not colon or label in fields:
            raise _DamagedError(describe(item))
        fields[label] = value
    if _LENGTH in fields or _EFFICIENCY in fields or _EMITTED in fields:
        return _since_start(fields)
    early = "Number of draft tokens" in fields
    accepted = _count(fields, "Number of accepted tokens" if early else "Accepted", "" if early else " tokens")
    drafted = _count(fields, "Number of draft tokens" if early else "Drafted", "" if early else " tokens")
    _check_rate(fields, _LATER_RATE if _LATER_RATE in fields else _RATE, accepted, drafted)
    if _MEAN in fields and _RATE in fields and _AT not in fields:
        raise _DamagedError(f"the rates by position are missing: {describe(record.strip())}")
    if drafted == 0 or (_MEAN not in fields and _AT not in fields):
        return Counts(None, drafted, accepted)
    mean, rates = _number(fields, _MEAN), _rates(fields)
    if not mean >= 1.0:
        raise _ContradictionError(f"{describe(f'{_MEAN}: {fields[_MEAN]}')} is below 1, or no number")
    drafts = _drafts(mean, accepted, drafted, rates)
    at = np.minimum.accumulate(np.rint(rates * drafts)).astype(np.int64)
    return Counts(drafts, drafted, accepted, tuple(at.tolist()))


def _since_start(fields: Mapping[str, str]) -> Counts:
    length = _count(fields, _LENGTH)
    accepted, drafted = _count(fields, "Number of accepted tokens"), _count(fields, "Number of draft tokens")
    emitted = _count(fields, _EMITTED, ".")
    if not 1 <= length <= MOST_SERVED:
        raise _ContradictionError(f"{length} tokens in a draft")
    if drafted == 0:
        return Counts(0, 0, 0)
    _check_rate(fields, _RATE, accepted, drafted)
    try:
        return Counts(None, drafted, accepted, emitted=emitted).of_length(length)
    except ParameterError as error:
        raise _ContradictionError(str(error)) from None


def _count(fields: Mapping[str, str], label: str, unit: str = "") -> int:
    value = fields.get(label)
    if value is None:
        raise _DamagedError(f'"{label}" is missing')
    found = _COUNT.match(value)
    if not found or not value.startswith(unit, found.end()):
        raise _DamagedError(f"{describe(f'{label}: {value}')} is no count of at most {MOST_TOKENS:g}")
    return int(found[1])


def _number(fields: Mapping[str, str], label: str) -> float:
    value = fields.get(label)
    if value is None:
        raise _DamagedError(f'"{label}" is missing')
    found = _NUMBER.match(value)
    if not found:
        raise _DamagedError(f"{describe(f'{label}: {value}')} is no number")
    return float(found[1])


def _check_rate(fields: Mapping[str, str], label: str, accepted: int, drafted: int) -> None:
    """Accepted/drafted is printed, too, in per cent since 0.8; without any drafted token it is no number."""
    rate = _number(fields, label)
    text = fields[label]
    unit = 100.0 if "%" in text else 1.0
    if unit == 1.0 and label == _LATER_RATE:
        raise _DamagedError(f"{describe(f'{label}: {text}')} is no number of per cent")
    if accepted > drafted:
        raise _ContradictionError(f"{accepted} tokens accepted of {drafted} drafted")
    digits = len(text.split("%")[0].partition(".")[2]) if unit > 1.0 else 3
    slack = 0.5 * 10.0**-digits + 1e-6
    if drafted and not abs(unit * accepted / drafted - rate) <= slack:
        raise _ContradictionError(
            f"{accepted} tokens accepted of {drafted} drafted, and {describe(f'{label}: {text}')}"
        )


def _rates(fields: Mapping[str, str]) -> FloatArray:
    """S(1), S(2), ... as printed. Where the rates end the line, one with fewer digits than the first is cut."""
    value = fields.get(_AT)
    if value is None:
        return np.empty(0)
    found = _RATES.match(value)
    texts = found[0].split(", ") if found else [""]
    follows = value[found.end() : found.end() + 1] if found else ""
    if _RATE in fields:
        cut = len(texts[-1]) < len(texts[0]) or follows.isalnum() or follows in tuple(",-")
    else:
        cut = follows != ""
    if cut or len(texts) > MOST_SERVED or not all(map(_NUMBER.fullmatch, texts)):
        raise _DamagedError(describe(f"{_AT}: {value}"))
    rates = np.array([float(text) for text in texts])
    if np.any(rates > 1.0) or np.any(np.diff(rates) > 0.0):
        raise _ContradictionError(f"rates by position that rise, or are above 1: {describe(value)}")
    return rates


def _drafts(mean: float, accepted: int, drafted: int, rates: FloatArray) -> int:
    """How many drafts a line is about, which it does not print.

    accepted/drafts is printed twice, as mean - 1 and as the sum of the rates, both rounded. Of the numbers that
    fit, the one that makes all drafts equally long; else the one whose multiples of 1/drafts fit the rates best.
    """
    positions = rates.size
    if accepted == 0:
        if np.any(rates > 0.0) or not abs(mean - 1.0) <= _MEAN_DIGIT:
            raise _ContradictionError(f"no token accepted and a mean acceptance length of {mean:g}")
        return math.ceil(drafted / max(positions, 1))
    per_draft = [(mean - 1.0, _MEAN_DIGIT)] + ([(float(rates.sum()), positions * _RATE_DIGIT)] if positions else [])
    low = max(accepted / max(value + slack, 1e-30) for value, slack in per_draft)
    high = min(accepted / (value - slack) if value > slack else math.inf for value, slack in per_draft)
    least = max(1, math.ceil(low * (1.0 - 1e-12) - 1e-9), math.ceil(drafted / (positions or MOST_SERVED)))
    most = math.floor(min(high * (1.0 + 1e-12) + 1e-9, drafted))
    if not least <= most:
        raise _ContradictionError(
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
