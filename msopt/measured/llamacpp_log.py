"""What llama.cpp's server says when a request ends: in its log, and in "timings" of its answers.

"draft acceptance rate = 0.77945 (  311 accepted /  399 generated), mean len =  2.55", earlier without the mean, later
without "rate": accepted over drafted tokens, and tokens a round with the target's own. What stands behind "acceptance
rate per position", or on a line of its own behind "acc per pos", is the share of all drafts whose first l tokens were
accepted. "statistics draft: ..., #gen drafts = 200, ..." counts the drafts since the start. Answers tell "draft_n" and
"draft_n_accepted" tokens; those of a stream of all before, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import describe
from msopt.measured.served_counts import Counts
from msopt.measured.server_json import Cut, count, held, json_objects
from msopt.measured.server_records import (
    ContradictionError,
    DamagedError,
    counts_by_rates,
    drafts_of_mean,
    read_records,
)
from msopt.model.validation import MOST_SERVED

ACCEPTANCE = re.compile(r"draft acceptance(?: rate)? = ")
DRAFTED = "draft_n"
_LINE = re.compile(
    r"([0-9]\.[0-9]{5}|nan) \(\s{0,9}([0-9]{1,9}) accepted /\s{0,9}([0-9]{1,9}) generated\)"
    r"(?:, mean (?:len|acceptance length) =\s{0,9}([0-9]{1,5}\.[0-9]{2}))?"
)
_PER_POSITION = re.compile(r"acc(?:eptance rate)? per pos(?:ition)? = \(([^)]{0,99999})(\)?)")
_STATISTICS = re.compile(
    r"\bstatistics\s{1,20}(draft[a-z0-9_-]{0,20}): #calls[^#]{0,99}#gen drafts =\s{0,9}([0-9]{1,12}), "
    r"#acc drafts =\s{0,9}[0-9]{1,12}, #gen tokens =\s{0,9}([0-9]{1,12}), #acc tokens =\s{0,9}([0-9]{1,12})(?![0-9])"
)
_RATE_DIGIT = 0.5e-5 + 1e-7


def read_llamacpp(lines: Sequence[str]) -> tuple[list[Counts], list[str]]:
    """The counts of every request, and what was left out.

    Where no line tells a mean, the statistics tell the drafts, of all requests together. Where none of a request's
    tokens was accepted, its drafts are taken to be as long as the others' on average.
    """
    found, notes = read_records(_records(lines), len(lines), _counts)
    counts = [part for _, part in found]
    if not any(part.drafts for part in counts) and (since_start := _statistics(lines)):
        counts = since_start
    drafts = sum(part.drafts or 0 for part in counts)
    if drafts:
        mean = sum(part.drafted for part in counts if part.drafts) / drafts
        counts = [
            replace(part, drafts=max(1, round(part.drafted / mean))) if part.drafts is None and not part.accepted
            else part
            for part in counts
        ]  # fmt: skip
    return counts, notes


def _records(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """What follows each mark, and the line after it, which may hold the rates by position."""
    for place, (line, after) in enumerate(pairwise([*lines, ""]), 1):
        if mark := ACCEPTANCE.search(line):
            yield place, (line[mark.end() :], "" if ACCEPTANCE.search(after) else after)


def _counts(record: tuple[str, str]) -> Counts:
    line, after = record
    found = _LINE.match(line)
    if not found or line[found.end() :].startswith(", mean"):
        raise DamagedError(describe(f"draft acceptance = {line}"))
    rate, accepted, drafted = float(found[1]), int(found[2]), int(found[3])
    if accepted > drafted or (drafted and not abs(accepted / drafted - rate) <= _RATE_DIGIT):
        raise ContradictionError(f"{accepted} tokens accepted of {drafted} generated, and a rate of {found[1]}")
    if found[4] is None or accepted == 0:
        return Counts(None, drafted, accepted)
    mean, rates = float(found[4]), _rates(line[found.end() :], after)
    if rates.size:
        return replace(counts_by_rates(mean, accepted, drafted, rates), by_confidence=True)
    return Counts(drafts_of_mean(mean, accepted, drafted, rates), drafted, accepted)


def _rates(rest: str, after: str) -> FloatArray:
    """S(1), S(2), ... as printed; none where they are not, or are cut short."""
    found = _PER_POSITION.search(rest) or _PER_POSITION.search(after)
    if not found or not found[2]:
        return np.empty(0)
    texts = found[1].split(", ")
    if len(texts) > MOST_SERVED or not all(re.fullmatch(r"[01]\.[0-9]{3}", text) for text in texts):
        raise DamagedError(describe(found[0]))
    rates = np.array([float(text) for text in texts])
    if np.any(rates > 1.0) or np.any(np.diff(rates) > 0.0):
        raise ContradictionError(f"rates by position that rise, or are above 1: {describe(found[1])}")
    return rates


def _statistics(lines: Sequence[str]) -> list[Counts]:
    """The last of each run of the server, where one model drafts; of several ways to draft, none."""
    told = [found for line in lines for found in _STATISTICS.finditer(line)]
    if len({found[1] for found in told}) != 1:
        return []
    numbers = [(int(found[2]), int(found[3]), int(found[4])) for found in told]
    last = [*(here > after for here, after in pairwise(numbers)), True]
    return [
        Counts(drafts, drafted, accepted)
        for (drafts, drafted, accepted), end in zip(numbers, last, strict=True)
        if end and drafts and accepted <= drafted <= drafts * MOST_SERVED
    ]


def read_llamacpp_answers(lines: Sequence[str]) -> tuple[list[Counts], list[str]]:
    """The tokens of every request, and what was left out."""
    found, notes = read_records(json_objects(lines, "timings"), len(lines), _timed)
    last = {request if request is not None else place: counts for place, (_, (request, counts)) in enumerate(found)}
    return [counts for counts in last.values() if counts], notes


def _timed(record: Mapping[str, Any] | Cut) -> tuple[str | None, Counts | None]:
    """Whose tokens, and how many; none where nothing was drafted, or the chunk is not the last of its stream."""
    record = held(record)
    timings, request = record["timings"], record.get("id")
    request = request if isinstance(request, str) else None
    if not isinstance(timings, dict) or DRAFTED not in timings or record.get("stop") is False:
        return request, None
    drafted, accepted = count(timings, DRAFTED), count(timings, f"{DRAFTED}_accepted")
    if accepted > drafted:
        raise ContradictionError(f"{accepted} tokens accepted of {drafted} drafted")
    return request, Counts(None, drafted, accepted)
