"""The lines that llama.cpp's server writes when a request ends.

"draft acceptance rate = 0.77945 (  311 accepted /  399 generated), mean len =  2.55", earlier without the mean, later
without "rate": accepted over drafted tokens, and tokens a round with the target's own. What stands behind "acc per
pos" is the share of all drafts whose first l tokens were accepted.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from msopt.errors import describe
from msopt.measured.served_counts import Counts
from msopt.measured.server_records import ContradictionError, DamagedError, drafts_of_mean, read_records

ACCEPTANCE = re.compile(r"draft acceptance(?: rate)? = ")
_LINE = re.compile(
    r"([0-9]\.[0-9]{5}|nan) \(\s{0,9}([0-9]{1,9}) accepted /\s{0,9}([0-9]{1,9}) generated\)"
    r"(?:, mean (?:len|acceptance length) =\s{0,9}([0-9]{1,5}\.[0-9]{2}))?"
)
_RATE_DIGIT = 0.5e-5 + 1e-7


def read_llamacpp(lines: Sequence[str]) -> tuple[list[Counts], list[str]]:
    """The counts of every request, and what was left out.

    Where none of a request's tokens was accepted, its drafts are taken to be as long as the others' on average.
    """
    marked = ((place, line, ACCEPTANCE.search(line)) for place, line in enumerate(lines, 1))
    records = ((place, line[mark.end() :]) for place, line, mark in marked if mark)
    found, notes = read_records(records, len(lines), _counts)
    counts = [part for _, part in found]
    drafts = sum(part.drafts or 0 for part in counts)
    if drafts:
        mean = sum(part.drafted for part in counts if part.drafts) / drafts
        counts = [
            replace(part, drafts=max(1, round(part.drafted / mean))) if part.drafts is None and not part.accepted
            else part
            for part in counts
        ]  # fmt: skip
    return counts, notes


def _counts(record: str) -> Counts:
    found = _LINE.match(record)
    if not found or record[found.end() :].startswith(", mean"):
        raise DamagedError(describe(f"draft acceptance = {record}"))
    rate, accepted, drafted = float(found[1]), int(found[2]), int(found[3])
    if accepted > drafted or (drafted and not abs(accepted / drafted - rate) <= _RATE_DIGIT):
        raise ContradictionError(f"{accepted} tokens accepted of {drafted} generated, and a rate of {found[1]}")
    if found[4] is None or accepted == 0:
        return Counts(None, drafted, accepted)
    return Counts(drafts_of_mean(float(found[4]), accepted, drafted, np.empty(0)), drafted, accepted)
