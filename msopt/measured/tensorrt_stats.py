"""TensorRT-LLM's iteration statistics (`get_stats`, or /metrics of trtllm-serve): "specDecodingStats" as JSON.

One object an iteration: numRequestsWithDraftTokens drafts of numDraftTokens tokens in all, numAcceptedTokens of them
accepted; acceptanceLength = 1 + accepted/drafts is tokens a round with the target's own. With attention data
parallelism the other ranks repeat the first one's numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msopt.errors import describe
from msopt.measured.served_counts import Counts
from msopt.measured.server_json import Cut, count, held, json_objects
from msopt.measured.server_records import ContradictionError, DamagedError, read_records
from msopt.model.validation import MOST_SERVED

STATS = "specDecodingStats"


def read_stats(lines: Sequence[str]) -> tuple[list[Counts], list[str]]:
    """The counts of every iteration of the first rank, and what was left out."""
    found, notes = read_records(json_objects(lines, STATS), len(lines), _counts)
    return [counts for record, counts in found if not held(record).get("attentionDpRank")], notes


def _counts(record: Mapping[str, Any] | Cut) -> Counts:
    stats = held(record)[STATS]
    if stats is None:
        return Counts(0, 0, 0)
    if not isinstance(stats, dict):
        raise DamagedError(f"{STATS} = {describe(stats)}")
    drafted, accepted = count(stats, "numDraftTokens"), count(stats, "numAcceptedTokens")
    drafts = count(stats, "numRequestsWithDraftTokens")
    if not accepted <= drafted or not drafts <= drafted <= drafts * MOST_SERVED:
        raise ContradictionError(f"{accepted} of {drafted} tokens accepted in {drafts} drafts")
    return Counts(drafts, drafted, accepted)
