"""TensorRT-LLM's statistics of iterations, as JSON, and its counters.

`get_stats`, or /metrics of trtllm-serve: "specDecodingStats".

One object an iteration: numRequestsWithDraftTokens drafts of numDraftTokens tokens in all, numAcceptedTokens of them
accepted; acceptanceLength = 1 + accepted/drafts is tokens a round with the target's own. With attention data
parallelism the other ranks repeat the first one's numbers. /prometheus/metrics: trtllm_spec_decode_drafted_tokens and
accepted_tokens by position, the drafts that had such a token and those whose first tokens were accepted up to it;
earlier num_draft_tokens and num_accepted_tokens alone.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from msopt.errors import ParameterError, describe
from msopt.measured.prometheus_text import one_model, samples
from msopt.measured.served_counts import MOST_TOKENS, Counts
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


COUNTERS = "trtllm_spec_decode_"
_UNIT = f"count (a whole number from 0 to {MOST_TOKENS:g})"
_BY_POSITION, _IN_ALL = ("drafted_tokens", "accepted_tokens"), ("num_draft_tokens", "num_accepted_tokens")


def read_tensorrt_counters(lines: Sequence[str], model: str | None) -> list[Counts]:
    """The counts of all workers of one model.

    ParameterError in one line for counters that are cut short, contradict each other or are of several models.
    """
    counts: dict[str, dict[str, dict[int, int]]] = {}
    for sample in samples(lines, COUNTERS, _UNIT):
        if sample.name not in (*_BY_POSITION, *_IN_ALL):
            continue
        position = sample.labels.get("token_position", "0")
        if not (0.0 <= sample.value <= MOST_TOKENS and float(sample.value).is_integer()):
            raise ParameterError(
                f"line {sample.place} is cut short or holds no {_UNIT}: {describe(lines[sample.place - 1])}"
            )
        if not (position.isdecimal() and position.isascii() and int(position[:7]) < MOST_SERVED):
            raise ParameterError(f"line {sample.place}: token_position = {describe(position)} is not a number from 0")
        held = counts.setdefault(sample.labels.get("model_name", ""), {}).setdefault(sample.name, {})
        held[int(position)] = held.get(int(position), 0) + int(sample.value)
    one_model(sorted(counts), model)
    return [_of_counters(counts[model] if model is not None else next(iter(counts.values()), {}))]


def _of_counters(counts: Mapping[str, Mapping[int, int]]) -> Counts:
    names = _BY_POSITION if any(name in counts for name in _BY_POSITION) else _IN_ALL
    drafted, accepted = (counts.get(name, {}) for name in names)
    if not drafted:
        raise ParameterError(f"is cut short: other counters are there and {COUNTERS}{names[0]}_total is not")
    if names is _IN_ALL:
        tokens, kept = drafted.get(0, 0), accepted.get(0, 0)
        if kept > tokens:
            raise ParameterError(f"contradicts itself: {kept} tokens accepted of {tokens} drafted")
        return Counts(None, tokens, kept)
    most = 1 + max((*drafted, *accepted))
    reach, at = (tuple(held.get(place, 0) for place in range(most)) for held in (drafted, accepted))
    falls = all(after <= before for row in (reach, at) for before, after in pairwise(row))
    if not falls or any(kept > had for kept, had in zip(at, reach, strict=True)):
        raise ParameterError("contradicts itself: more is drafted or accepted at a position than at the one before it")
    last = next((place for place in range(most, 0, -1) if reach[place - 1]), 0)
    return Counts(reach[0], sum(reach), sum(at), at[:last], reach=reach[:last])
