"""The counters of speculative decoding in a server's /metrics, by model and engine.

vLLM has "vllm:spec_decode_num_drafts_total" and others; llama.cpp has the same behind "llamacpp:", without labels.
"""

import re
from collections.abc import Sequence

from msopt.errors import ParameterError, describe
from msopt.measured.prometheus_text import one_model, samples
from msopt.measured.served_counts import MOST_TOKENS, Counts
from msopt.model.validation import MOST_SERVED

VLLM_COUNTERS, LLAMACPP_COUNTERS = "vllm:spec_decode_num_", "llamacpp:spec_decode_num_"
_NAMES = ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos", "emitted_tokens")
_POSITION = re.compile(r"[0-9]{1,6}")

_Key = tuple[str, str]
_Samples = dict[str, dict[_Key, dict[int, int]]]


def read_counters(lines: Sequence[str], prefix: str, model: str | None) -> list[Counts]:
    """The counts of every engine of one model.

    vLLM's V0 engine counts emitted tokens in place of drafts. ParameterError in one line for counters that are cut
    short, contradict each other or are of several models.
    """
    counts = _counts(lines, prefix)
    keys = counts.get("drafts") or counts.get("draft_tokens", {})
    one_model(sorted({name for name, _ in keys}), model)
    return [_engine(counts, key, prefix) for key in keys if model in (None, key[0])]


def _counts(lines: Sequence[str], prefix: str) -> _Samples:
    counts: _Samples = {}
    unit = f"count (a whole number from 0 to {MOST_TOKENS:g})"
    for sample in samples(lines, prefix, unit):
        place = sample.place
        if not (0.0 <= sample.value <= MOST_TOKENS and float(sample.value).is_integer()):
            raise ParameterError(f"line {place} is cut short or holds no {unit}: {describe(lines[place - 1])}")
        if sample.name not in _NAMES:
            continue
        position = sample.labels.get("position", "0")
        if not _POSITION.fullmatch(position):
            raise ParameterError(f"line {place}: position = {describe(position)} is not a number from 0")
        key = (sample.labels.get("model_name", ""), sample.labels.get("engine", ""))
        held = counts.setdefault(sample.name, {}).setdefault(key, {})
        if int(position) in held:
            raise ParameterError(f"line {place} gives a counter a second time; one scrape is needed, not several")
        held[int(position)] = int(sample.value)
    return counts


def _engine(counts: _Samples, key: _Key, prefix: str) -> Counts:
    def count(name: str) -> int:
        held = counts.get(name, {}).get(key)
        if held is None:
            raise ParameterError(f"is cut short: other counters are there and {prefix}{name}_total is not")
        return held[0]

    drafted, accepted = count("draft_tokens"), count("accepted_tokens")
    if accepted > drafted:
        raise ParameterError(f"contradicts itself: {accepted} tokens accepted of {drafted} drafted")
    if "drafts" not in counts:
        return Counts(None, drafted, accepted, emitted=counts.get("emitted_tokens", {}).get(key, {}).get(0))
    drafts = count("drafts")
    held = counts.get("accepted_tokens_per_pos", {}).get(key, {})
    at = tuple(held[position] for position in sorted(held))
    if len(held) > MOST_SERVED:
        raise ParameterError(f"has counters of {len(held)} positions; at most {MOST_SERVED} are allowed")
    if sorted(held) != list(range(len(held))) or (at and sum(at) != accepted):
        raise ParameterError(
            f"is cut short: {accepted} tokens were accepted, and the counters by position hold "
            f"{sum(held.values())} of them"
        )
    if at and not all(after <= before for before, after in zip((drafts, *at), at, strict=False)):
        raise ParameterError("contradicts itself: more is accepted at a position than at the one before it")
    if drafted > drafts * (len(at) or MOST_SERVED):
        most = f" of at most {len(at)} tokens" if at else ""
        raise ParameterError(f"contradicts itself: {drafted} tokens drafted in {drafts} drafts{most}")
    return Counts(drafts, drafted, accepted, at)
