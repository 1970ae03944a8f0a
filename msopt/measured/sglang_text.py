"""What SGLang says, in its log, its gauges and its answer to /get_server_info.

Lines "Decode batch, #running-req: 18, ..., accept len: 2.31, accept rate: 0.58, ..."; sglang:spec_accept_length and
others; "avg_spec_accept_length".
All three are tokens a round with the target's own. The rate is (length - 1)/K of K drafted tokens, or, in earlier
versions, length/(K + 1): the target's own token counts on both sides. Two digits of both tell which, and K.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.measured.prometheus_text import one_model, samples
from msopt.measured.served import Served
from msopt.measured.server_json import Cut, held, json_objects
from msopt.measured.server_records import ContradictionError, DamagedError, ServerText, read_records
from msopt.model.validation import MOST_SERVED

GAUGES = "sglang:spec_"
INFO = "avg_spec_accept_length"
MEAN = re.compile(r"\baccept len: ")
_LENGTH = re.compile(r"([0-9]{1,5}\.[0-9]{2}),")
_RATE = re.compile(r"\baccept rate: (?:([0-9]\.[0-9]{2})(?![0-9]))?")
_RUNNING = re.compile(r"#running-req: ([0-9]{1,7}),")
_STEPS_TOLD = re.compile(r"\bspeculative_num_steps[='\": ]{1,4}([0-9]{1,6})\b")
_BRANCHES_TOLD = re.compile(r"\bspeculative_eagle_topk[='\": ]{1,4}([0-9]{1,6})\b")
_DIGIT = 0.005 + 1e-9
_LONGEST_TRIED = 64
_TREE = "its drafts are trees (speculative_eagle_topk above 1): a chain of the same length has less accepted"


@dataclass(frozen=True)
class RoundMean:
    """Tokens a round of one interval, the rate beside them (nan where none is), and the sequences that ran."""

    tokens: float
    rate: float
    running: int


def read_sglang_log(text: ServerText) -> Served:
    """The mean of a log's intervals, each weighed by its sequences where all tell them."""
    found, notes = read_records(_lines(text.lines), len(text.lines), _mean)
    means = [mean for _, mean in found if mean.tokens > 0.0]
    if not means:
        raise ParameterError("has no drafts yet: every accept len is 0")
    told = sorted({int(value[1]) for line in text.lines for value in _STEPS_TOLD.finditer(line)})
    tokens, rate = (np.array([getattr(mean, key) for mean in means]) for key in ("tokens", "rate"))
    length, more = _draft_length(tokens, rate, told, text.draft_length)
    weights = np.array([mean.running for mean in means], dtype=float)
    weights = weights if np.all(weights > 0.0) else np.ones(len(means))
    branches = {int(value[1]) for line in text.lines for value in _BRANCHES_TOLD.finditer(line)}
    notes += more + ([_TREE] if max(branches, default=1) > 1 else [])
    return Served.of_means(tokens, weights, length, tuple(notes))


def _lines(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    for place, line in enumerate(lines, 1):
        if found := MEAN.search(line):
            yield place, (line[: found.start()], line[found.end() :])


def _mean(record: tuple[str, str]) -> RoundMean:
    before, after = record
    length, rate, running = _LENGTH.match(after), _RATE.search(after), _RUNNING.search(before)
    if not length:
        raise DamagedError(describe(f"accept len: {after}"))
    if rate and not rate[1]:
        raise DamagedError(describe(after[rate.start() :]))
    tokens = float(length[1])
    if 0.0 < tokens < 1.0:
        raise ContradictionError(f"accept len {tokens:g} is below the target's own token")
    return RoundMean(tokens, float(rate[1]) if rate else math.nan, int(running[1]) if running else 0)


def _draft_length(
    tokens: FloatArray, rate: FloatArray, told: Sequence[int], given: int | None
) -> tuple[int, list[str]]:
    """K, from the server's arguments, from the user, or from the two numbers of every line; and what the rate is."""
    if len(told) == 1 and given not in (None, told[0]):
        raise ParameterError(f"tells that its drafts have {told[0]} tokens; no --pooled-length is to be given")
    with_rate = ~np.isnan(rate)
    tried = np.arange(1, _LONGEST_TRIED + 1)
    fits = {
        own: tried[_fits(tokens[with_rate], rate[with_rate], tried, own)] if with_rate.any() else tried[:0]
        for own in (True, False)
    }
    known = given or (told[0] if len(told) == 1 else None)
    likely = sorted({int(length) for lengths in fits.values() for length in lengths})
    if known is None:
        if len(likely) != 1:
            several = f"; lengths {likely[0]} to {likely[-1]} fit its rates" if likely else ""
            raise ParameterError(f"tells tokens a round and not how long its drafts are{several}: give --pooled-length")
        known = likely[0]
    notes = [] if known in told or given else [f"accept len and accept rate are of drafts of {known} tokens"]
    own = [word for word, lengths in fits.items() if known in lengths]
    if own == [True]:
        notes.append(
            f"its accept rate is accept len/{known + 1}: the target's own token counts as drafted and as accepted"
        )
    elif given and likely and not own:
        raise ParameterError(f"has rates of drafts of {likely[0]} tokens, not of {given}")
    return known, notes


def _fits(tokens: FloatArray, rate: FloatArray, lengths: Any, own: bool) -> BoolArray:
    """Which draft lengths make the rate of every line, within what two digits of both leave open."""
    one = 0.0 if own else 1.0
    over = lengths[:, None] + (1.0 if own else 0.0)
    error = np.abs((tokens - one) / over - rate)
    possible = tokens <= lengths[:, None] + 1.0 + _DIGIT
    return np.asarray(np.all((error <= _DIGIT + _DIGIT / over) & possible, axis=1))


def read_sglang_gauges(text: ServerText) -> Served:
    """The mean of the gauges of one model's ranks: each is about the last interval before the scrape."""
    held_by: dict[str, dict[str, list[float]]] = {}
    for sample in samples(text.lines, GAUGES, "number"):
        by_name = held_by.setdefault(sample.labels.get("model_name", ""), {})
        by_name.setdefault(sample.name, []).append(float(sample.value))
    one_model(sorted(held_by), text.model)
    values = held_by[text.model] if text.model is not None else next(iter(held_by.values()))
    tokens = [value for value in values.get("accept_length", []) if value > 0.0]
    if not tokens:
        raise ParameterError("has no drafts yet: sglang:spec_accept_length is 0, no number, or not there")
    steps = sorted({int(value) for value in values.get("num_steps", []) if 1.0 <= value <= MOST_SERVED})
    widths = [value for value in values.get("num_draft_tokens", []) if steps and value > steps[-1] + 1]
    return _of_mean(tokens, steps, text.draft_length, [_TREE] if widths else [])


def read_sglang_info(text: ServerText) -> Served:
    """The mean since the start, of the answer to /get_server_info."""
    found, notes = read_records(json_objects(text.lines, INFO), len(text.lines), _average)
    tokens = [value for _, value in found if value > 0.0]
    if not tokens:
        raise ParameterError(f"has no drafts yet: {INFO} is null or 0")
    joined = " ".join(text.lines)
    steps = sorted({int(value[1]) for value in _STEPS_TOLD.finditer(joined)})
    branches = {int(value[1]) for value in _BRANCHES_TOLD.finditer(joined)}
    notes += [_TREE] if max(branches, default=1) > 1 else []
    return _of_mean(tokens, steps, text.draft_length, notes)


def _average(record: Mapping[str, Any] | Cut) -> float:
    value = held(record)[INFO]
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1.0 <= value <= MOST_SERVED + 1:
        raise ContradictionError(f"{INFO} = {describe(value)} is no number of tokens a round")
    return float(value)


def _of_mean(tokens: Sequence[float], steps: Sequence[int], given: int | None, notes: list[str]) -> Served:
    mean = np.array([sum(tokens) / len(tokens)])
    length, more = _draft_length(mean, np.array([math.nan]), steps, given)
    return Served.of_means(mean, np.ones(1), length, (*notes, *more))
