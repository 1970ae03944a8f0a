"""What SGLang tells of single requests: "meta_info" of its answers, in a stream of every chunk for all before it, too.

"spec_verify_ct" rounds, "spec_accept_histogram" their number by accepted tokens, the target's own not among them, and
drafted tokens, which of a tree (topk above 1) are those of all its branches; names differ between versions. Earlier
ones tell the rounds alone, beside all tokens of the answer.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from msopt.errors import ParameterError
from msopt.measured.request_metrics import histogram
from msopt.measured.served import Served
from msopt.measured.served_counts import Counts
from msopt.measured.server_json import Cut, checked_count, count, held, json_objects
from msopt.measured.server_records import ContradictionError, ServerText, read_records
from msopt.model.validation import MOST_SERVED

ROUNDS = "spec_verify_ct"
_DRAFTED = ("spec_draft_token_num", "spec_num_proposed_drafts", "spec_proposed_drafts")
_ACCEPTED = ("spec_accept_token_num", "spec_num_correct_drafts", "spec_accepted_drafts")
_HISTOGRAM = ("spec_accept_histogram", "spec_correct_drafts_histogram")


@dataclass(frozen=True)
class _Answer:
    """Of one request: its rounds, all tokens, and what else its version tells."""

    rounds: int
    tokens: int | None
    drafted: int | None
    accepted: int | None
    by_count: Counter[int] | None


def read_sglang_answers(text: ServerText) -> Served:
    """The curve of the histograms, else the mean of accepted over drafted tokens, else of tokens a round."""
    found, notes = read_records(json_objects(text.lines, ROUNDS), len(text.lines), _answer)
    told = {_request(place, record): answer for place, (record, answer) in enumerate(found)}
    answers = [answer for answer in told.values() if answer.rounds]
    if not answers:
        raise ParameterError(f"has no drafts yet: {ROUNDS} is 0")
    if all(answer.by_count is not None for answer in answers):
        counts, more = _counted(answers)
        served = Served.of_counts([counts], text.draft_length)
    elif all(answer.drafted is not None and answer.accepted is not None for answer in answers):
        counts_of = [Counts(a.rounds, a.drafted or 0, a.accepted or 0) for a in answers]
        served, more = Served.of_counts(counts_of, text.draft_length), []
    elif all(answer.tokens is not None for answer in answers):
        if text.draft_length is None:
            raise ParameterError("tells tokens a round and not how long its drafts are: give --pooled-length")
        rounds = np.array([answer.rounds for answer in answers], dtype=float)
        means = np.array([max(1.0, (answer.tokens or 0) / answer.rounds) for answer in answers])
        served, more = Served.of_means(means, rounds, text.draft_length, ()), []
    else:
        raise ParameterError("has answers of several versions, which tell different numbers; cut it to those of one")
    return Served(**{**vars(served), "notes": (*notes, *more, *served.notes)})


def _request(place: int, record: Mapping[str, Any] | Cut) -> object:
    """Which request a record is of: its id, else its place."""
    told = None if isinstance(record, Cut) else record.get("id")
    return told if isinstance(told, str) else place


def _answer(record: Mapping[str, Any] | Cut) -> _Answer:
    record = held(record)
    rounds, numbers = count(record, ROUNDS), [_first(record, names) for names in (_DRAFTED, _ACCEPTED)]
    drafted, accepted = (None if value is None else checked_count(value, "a count of tokens") for value in numbers)
    if drafted is not None and not (accepted or 0) <= drafted <= rounds * MOST_SERVED:
        raise ContradictionError(f"{accepted} of {drafted} tokens accepted in {rounds} rounds")
    tokens = record.get("completion_tokens")
    tokens = None if tokens is None else checked_count(tokens, "completion_tokens")
    told, by_count = _first(record, _HISTOGRAM), None
    if told is not None:
        by_count = +histogram(told, _HISTOGRAM[0])
        if by_count.total() != rounds or max(by_count, default=0) > MOST_SERVED:
            raise ContradictionError(f"{rounds} rounds, and the histogram tells of {by_count.total()}")
    return _Answer(rounds, tokens, drafted, accepted, by_count)


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _counted(answers: list[_Answer]) -> tuple[Counts, list[str]]:
    """All rounds, as far as all drafts went and some draft was accepted."""
    by_count = sum((answer.by_count or Counter() for answer in answers), Counter[int]())
    lengths = sorted({answer.drafted // answer.rounds for answer in answers if answer.drafted})
    deepest = max(by_count, default=0)
    most = max(1, min(deepest, lengths[0]) if lengths else deepest)
    at = tuple(sum(n for j, n in by_count.items() if j >= place) for place in range(1, most + 1))
    rounds, notes = by_count.total(), []
    if lengths and lengths[-1] > most:
        notes.append(
            f"positions beyond {most} are not counted: up to {lengths[-1]} tokens are drafted a round, which may be "
            "drafts of several lengths, or trees less deep than that"
        )
    return Counts(rounds, rounds * most, sum(at), at), notes
