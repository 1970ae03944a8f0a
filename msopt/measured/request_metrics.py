"""What vLLM and TensorRT-LLM tell of single requests, in answers kept as JSON.

vLLM (`--per-request-spec-decode-metrics`): "metrics": {"speculative_decoding": {...}} with a list as histogram, or
"speculative_decoding_stats" of a choice with an object as histogram. TensorRT-LLM: "speculative_decoding" of a choice,
and in "perf_metrics" without steps. Entry j counts the steps that accepted exactly j tokens, the target's own not among
them. With "detailed" vLLM tells in two lists what each step drafted and accepted, so that drafts of every length are
counted apart and no length is taken for another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msopt.measured.served_counts import Counts
from msopt.measured.server_json import Cut, checked_count, count, counts, held, json_objects
from msopt.measured.server_records import ContradictionError, read_records
from msopt.model.validation import MOST_SERVED

HISTOGRAM = "acceptance_histogram"
STEPS = "num_spec_steps"


@dataclass(frozen=True)
class AnswerKeys:
    """What a server calls the tokens of a request."""

    mark: str
    drafted: str
    accepted: str


VLLM_ANSWERS = AnswerKeys(HISTOGRAM, "num_draft_tokens", "num_accepted_draft_tokens")
TENSORRT_ANSWERS = AnswerKeys("total_draft_tokens", "total_draft_tokens", "total_accepted_draft_tokens")


@dataclass(frozen=True)
class RequestSteps:
    """The verified drafts of one request: how many accepted j tokens, by length where each step's is told.

    Attributes
    ----------
    by_length : mapping of int to Counter
        How many drafts of each length accepted how many tokens; with 0 for all where lengths are not told by step.
    drafted : int
        Tokens in all [token].
    most : int
        The most tokens of a draft [token].
    plain : Counts or None
        In place of all that where steps are not told.
    """

    by_length: Mapping[int, Counter[int]] = field(default_factory=dict)
    drafted: int = 0
    most: int = 0
    plain: Counts | None = None


def read_requests(keys: AnswerKeys, lines: Sequence[str]) -> tuple[list[Counts], list[str]]:
    """The counts of all requests, one for each draft length where they are told by step, and what was left out."""
    found, notes = read_records(json_objects(lines, keys.mark), len(lines), lambda record: _steps(keys, record))
    requests = [steps for _, steps in found]
    exact: dict[int, Counter[int]] = {}
    pooled: dict[int, list[RequestSteps]] = {}
    for steps in requests:
        for length, accepted in steps.by_length.items():
            if length:
                exact.setdefault(length, Counter()).update(accepted)
            else:
                pooled.setdefault(steps.most, []).append(steps)
    parts = [_counted(accepted, length, length * accepted.total()) for length, accepted in sorted(exact.items())]
    for most, alike in sorted(pooled.items()):
        accepted = sum((steps.by_length[0] for steps in alike), Counter[int]())
        parts.append(_counted(accepted, most, sum(steps.drafted for steps in alike)))
    return [*parts, *(steps.plain for steps in requests if steps.plain)], notes


def _counted(accepted: Mapping[int, int], most: int, drafted: int) -> Counts:
    at = tuple(sum(n for j, n in accepted.items() if j >= place) for place in range(1, most + 1))
    return Counts(sum(accepted.values()), drafted, sum(at), at)


def _steps(keys: AnswerKeys, record: Mapping[str, Any] | Cut) -> RequestSteps:
    record = held(record)
    drafted, accepted = count(record, keys.drafted), count(record, keys.accepted)
    if HISTOGRAM not in record:
        if not accepted <= drafted:
            raise ContradictionError(f"{accepted} of {drafted} tokens accepted")
        return RequestSteps(plain=Counts(None, drafted, accepted))
    steps, by_count = count(record, STEPS), histogram(record[HISTOGRAM], HISTOGRAM)
    most = max(max(by_count, default=0), checked_count(record.get("num_spec_tokens") or 0, "num_spec_tokens"))
    if keys is TENSORRT_ANSWERS and record.get("num_spec_tokens") is None:  # lengths by batch size have no bound
        most = max(most, -(-drafted // max(steps, 1)))
    if (by_count.total(), tokens_of(by_count)) != (steps, accepted):
        raise ContradictionError(f"{steps} steps accept {accepted} tokens, and the histogram tells others")
    if most > MOST_SERVED or not accepted <= drafted <= steps * most:
        raise ContradictionError(f"{accepted} of {drafted} tokens accepted in {steps} drafts of at most {most}")
    if record.get("per_step_drafted") is None or record.get("per_step_accepted") is None:
        return RequestSteps({0: +by_count} if drafted else {}, drafted, most)
    pairs = list(_paired(record))
    if (sum(long for long, _ in pairs), Counter(kept for _, kept in pairs)) != (drafted, +by_count):
        raise ContradictionError("the steps one by one add up to other numbers than those of the request")
    by_length: dict[int, Counter[int]] = {}
    for long, kept in pairs:
        if long:
            by_length.setdefault(long, Counter())[kept] += 1
    return RequestSteps(by_length, drafted, most)


def _paired(record: Mapping[str, Any]) -> Iterable[tuple[int, int]]:
    drafted = counts(record["per_step_drafted"], "per_step_drafted")
    accepted = counts(record["per_step_accepted"], "per_step_accepted")
    if len(drafted) != len(accepted):
        raise ContradictionError(f"{len(drafted)} steps draft and {len(accepted)} accept")
    for step, (long, kept) in enumerate(zip(drafted, accepted, strict=True), 1):
        if not kept <= long <= MOST_SERVED:
            raise ContradictionError(f"step {step} accepts {kept} of {long} tokens")
        yield long, kept


def histogram(value: Any, name: str) -> Counter[int]:
    """By tokens accepted, from a list or from an object with numbers as keys."""
    if isinstance(value, dict):
        if not all(key.isdecimal() and key.isascii() and len(key) <= 6 for key in value):
            raise ContradictionError(f"{name} has a key that is no number of tokens")
        return Counter({int(key): checked_count(held, name) for key, held in value.items()})
    return Counter(dict(enumerate(counts(value, name))))


def tokens_of(by_count: Mapping[int, int]) -> int:
    """The tokens that a histogram's steps accepted."""
    return sum(j * n for j, n in by_count.items())
