"""The counters of a vLLM's /metrics: vllm:spec_decode_num_drafts_total and others, by model and engine."""

import re
from collections.abc import Sequence

from msopt.errors import ParameterError, describe
from msopt.measured.served_counts import MOST_TOKENS, Counts
from msopt.model.validation import MOST_SERVED

COUNTER = "vllm:spec_decode_num_"
_NAMES = ("drafts", "draft_tokens", "accepted_tokens", "accepted_tokens_per_pos", "emitted_tokens")
_NAME = re.compile(re.escape(COUNTER) + r"([a-z_]+)")
_LABEL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"\s*,?')
_VALUE = re.compile(r"\s+([0-9.eE+-]{1,40})(?:\s+[0-9]+)?")
_POSITION = re.compile(r"[0-9]{1,6}")
_SHOWN_MODELS = 8

_Key = tuple[str, str]
_Samples = dict[str, dict[_Key, dict[int, int]]]


def read_prometheus(lines: Sequence[str], model: str | None) -> list[Counts]:
    """The counts of every engine of one model.

    vLLM's V0 engine counts emitted tokens in place of drafts.

    Raises
    ------
    ParameterError
        One line, for counters that are cut short, contradict each other or are of several models.
    """
    samples = _samples(lines)
    keys = samples.get("drafts") or samples.get("draft_tokens", {})
    models = sorted({name for name, _ in keys})
    if model is not None and model not in models:
        raise ParameterError(f"has no counters of model {describe(model)}; it has {named(models) or 'none'}")
    if model is None and len(models) > 1:
        raise ParameterError(f"has counters of several models ({named(models)}); name one")
    return [_engine(samples, key) for key in keys if model in (None, key[0])]


def named(models: Sequence[str]) -> str:
    """Names in one list of bounded length."""
    shown = [name if len(name) <= 100 else f"{name[:97]}..." for name in models[:_SHOWN_MODELS]]
    more = len(models) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _samples(lines: Sequence[str]) -> _Samples:
    samples: _Samples = {}
    for place, line in enumerate(lines, 1):
        found = _NAME.match(line)
        name = found[1].removesuffix("_total") if found else ""
        if not found or name.endswith("_created"):
            continue
        labels, count = _labels_and_count(line, found.end(), place)
        if name not in _NAMES:
            continue
        position = labels.get("position", "0")
        if not _POSITION.fullmatch(position):
            raise ParameterError(f"line {place}: position = {describe(position)} is not a number from 0")
        key = (labels.get("model_name", ""), labels.get("engine", ""))
        held = samples.setdefault(name, {}).setdefault(key, {})
        if int(position) in held:
            raise ParameterError(f"line {place} gives a counter a second time; one scrape is needed, not several")
        held[int(position)] = count
    return samples


def _labels_and_count(line: str, end: int, place: int) -> tuple[dict[str, str], int]:
    labels = {}
    if line.startswith("{", end):
        end += 1
        while found := _LABEL.match(line, end):
            labels[found[1]] = found[2]
            end = found.end()
        if not line.startswith("}", end):
            raise ParameterError(f"line {place} is cut short or holds no count: {describe(line)}")
        end += 1
    value = _VALUE.fullmatch(line, end)
    try:
        count = float(value[1]) if value else -1.0
    except ValueError:
        count = -1.0
    if not (0.0 <= count <= MOST_TOKENS and count.is_integer()):
        raise ParameterError(
            f"line {place} is cut short or holds no count (a whole number from 0 to {MOST_TOKENS:g}): {describe(line)}"
        )
    return labels, int(count)


def _engine(samples: _Samples, key: _Key) -> Counts:
    def count(name: str) -> int:
        held = samples.get(name, {}).get(key)
        if held is None:
            raise ParameterError(f"is cut short: other counters are there and {COUNTER}{name}_total is not")
        return held[0]

    drafted, accepted = count("draft_tokens"), count("accepted_tokens")
    if accepted > drafted:
        raise ParameterError(f"contradicts itself: {accepted} tokens accepted of {drafted} drafted")
    if "drafts" not in samples:
        return Counts(None, drafted, accepted, emitted=samples.get("emitted_tokens", {}).get(key, {}).get(0))
    drafts = count("drafts")
    held = samples.get("accepted_tokens_per_pos", {}).get(key, {})
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
