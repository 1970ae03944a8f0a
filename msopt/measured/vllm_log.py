"""The lines of a vLLM's log that speak of speculative decoding, of every version so far.

From 0.11: "SpecDecoding metrics: Mean acceptance length: 2.91, ..., Accepted: 44 tokens, Drafted: 161 tokens,
Per-position acceptance rate: 0.739, 0.478, ..., Avg Draft acceptance rate: 27.3%". 0.9 and 0.10 say the same in another
order, the rates last; 0.8 tells accepted and drafted tokens only. A line is about the interval since the one before.
The V0 engine: "Speculative metrics: ..., Number of speculative tokens: 3, Number of accepted tokens: 8547, Number of
draft tokens: 13311, Number of emitted tokens: 10616.", about all since the start, and with accepted tokens that stand
behind a rejection.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe
from msopt.measured.served_counts import MOST_TOKENS, Counts
from msopt.measured.server_records import ContradictionError, DamagedError, counts_by_rates, named, read_records
from msopt.model.validation import MOST_SERVED

MARK = re.compile(r"(?:SpecDecoding|Speculative) metrics:")
_FIELD = re.compile(r", (?=[A-Z])")
_COUNT = re.compile(r"([0-9]{1,15})(?![0-9])")
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?|nan)(?![0-9.])")
_RATES = re.compile(r"[0-9.]+(?:, [0-9.]+)*")

_MEAN, _AT = "Mean acceptance length", "Per-position acceptance rate"
_RATE, _LATER_RATE = "Draft acceptance rate", "Avg Draft acceptance rate"
_LENGTH, _EMITTED, _EFFICIENCY = "Number of speculative tokens", "Number of emitted tokens", "System efficiency"

_LENGTHS_TOLD = re.compile(r"num_speculative_tokens_per_batch_size['\"]?\s?[:=]\s?(\[[\[\]()0-9, ]{1,9999})")
_RANGE = re.compile(r"[\[(]\s?[0-9]{1,9},\s?[0-9]{1,9},\s?([0-9]{1,9})\s?[\])]")
_METHOD_TOLD = re.compile(r"SpeculativeConfig\(method='([a-z0-9_]{1,40})'")
_SAMPLING_TOLD = re.compile(r"draft_sample_method['\"]?\s?[:=]\s?['\"]?(greedy|probabilistic)\b")


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


def read_log(lines: Sequence[str]) -> LogReading:
    """What the lines of a log say; the last one has no line break after it unless it is empty.

    ParameterError in one line where no record can be read, one contradicts itself, or several models speak.
    """
    models = sorted({model for line in lines if (model := _model(line))})
    if len(models) > 1:
        raise ParameterError(f"is a log of several models ({named(models)}); cut it to the lines of one")
    found, notes = read_records(_records(lines), len(lines), _counts)
    counts = [part for record, part in found if _EMITTED not in record]
    since_start = [part for record, part in found if _EMITTED in record]
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
            raise DamagedError(describe(item))
        fields[label] = value
    if _LENGTH in fields or _EFFICIENCY in fields or _EMITTED in fields:
        return _since_start(fields)
    early = "Number of draft tokens" in fields
    accepted = _count(fields, "Number of accepted tokens" if early else "Accepted", "" if early else " tokens")
    drafted = _count(fields, "Number of draft tokens" if early else "Drafted", "" if early else " tokens")
    _check_rate(fields, _LATER_RATE if _LATER_RATE in fields else _RATE, accepted, drafted)
    if _MEAN in fields and _RATE in fields and _AT not in fields:
        raise DamagedError(f"the rates by position are missing: {describe(record.strip())}")
    if drafted == 0 or (_MEAN not in fields and _AT not in fields):
        return Counts(None, drafted, accepted)
    mean, rates = _number(fields, _MEAN), _rates(fields)
    if not mean >= 1.0:
        raise ContradictionError(f"{describe(f'{_MEAN}: {fields[_MEAN]}')} is below 1, or no number")
    return counts_by_rates(mean, accepted, drafted, rates)


def _since_start(fields: Mapping[str, str]) -> Counts:
    length = _count(fields, _LENGTH)
    accepted, drafted = _count(fields, "Number of accepted tokens"), _count(fields, "Number of draft tokens")
    emitted = _count(fields, _EMITTED, ".")
    if not 1 <= length <= MOST_SERVED:
        raise ContradictionError(f"{length} tokens in a draft")
    if drafted == 0:
        return Counts(0, 0, 0)
    _check_rate(fields, _RATE, accepted, drafted)
    try:
        return Counts(None, drafted, accepted, emitted=emitted).of_length(length)
    except ParameterError as error:
        raise ContradictionError(str(error)) from None


def _count(fields: Mapping[str, str], label: str, unit: str = "") -> int:
    value = fields.get(label)
    if value is None:
        raise DamagedError(f'"{label}" is missing')
    found = _COUNT.match(value)
    if not found or not value.startswith(unit, found.end()):
        raise DamagedError(f"{describe(f'{label}: {value}')} is no count of at most {MOST_TOKENS:g}")
    return int(found[1])


def _number(fields: Mapping[str, str], label: str) -> float:
    value = fields.get(label)
    if value is None:
        raise DamagedError(f'"{label}" is missing')
    found = _NUMBER.match(value)
    if not found:
        raise DamagedError(f"{describe(f'{label}: {value}')} is no number")
    return float(found[1])


def _check_rate(fields: Mapping[str, str], label: str, accepted: int, drafted: int) -> None:
    """Accepted/drafted is printed, too, in per cent since 0.8; without any drafted token it is no number."""
    rate = _number(fields, label)
    text = fields[label]
    unit = 100.0 if "%" in text else 1.0
    if unit == 1.0 and label == _LATER_RATE:
        raise DamagedError(f"{describe(f'{label}: {text}')} is no number of per cent")
    if accepted > drafted:
        raise ContradictionError(f"{accepted} tokens accepted of {drafted} drafted")
    digits = len(text.split("%")[0].partition(".")[2]) if unit > 1.0 else 3
    slack = 0.5 * 10.0**-digits + 1e-6
    if drafted and not abs(unit * accepted / drafted - rate) <= slack:
        raise ContradictionError(f"{accepted} tokens accepted of {drafted} drafted, and {describe(f'{label}: {text}')}")


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
        raise DamagedError(describe(f"{_AT}: {value}"))
    rates = np.array([float(text) for text in texts])
    if np.any(rates > 1.0) or np.any(np.diff(rates) > 0.0):
        raise ContradictionError(f"rates by position that rise, or are above 1: {describe(value)}")
    return rates
