"""What a running vLLM says about acceptance: its log lines and its Prometheus text.

Log (vllm/v1/spec_decode/metrics.py): "SpecDecoding metrics: Mean acceptance length: 2.91, ..., Accepted: 44 tokens,
Drafted: 161 tokens, Per-position acceptance rate: 0.739, 0.478, ..., Avg Draft acceptance rate: 27.3%". The rate at
position l is that of *all* drafts of the interval whose first l tokens were accepted, so it is S(l); the last figure
is accepted/drafted and no acceptance probability. Prometheus: counters vllm:spec_decode_num_drafts_total and others.
Both become counts, and counts of several lines or engines are added.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import brentq

from msopt.acceptance import Acceptance
from msopt.errors import ParameterError, describe
from msopt.profile import CurvePoint, curve_of_counts
from msopt.validation import MOST_SERVED, check_whole

_LINE = "SpecDecoding metrics:"
_COUNTER = "vllm:spec_decode_num_"
_MEAN_DIGIT, _RATE_DIGIT = 0.005 + 1e-9, 0.0005 + 1e-9  # half a unit of the last digit printed
_NUMBER = r"([0-9.]+|nan)"
_FIELDS = {
    "mean": re.compile(rf"Mean acceptance length: {_NUMBER}"),
    "accepted": re.compile(r"Accepted: (\d+) tokens"),
    "drafted": re.compile(r"Drafted: (\d+) tokens"),
}
_END = re.compile(rf"Avg Draft acceptance rate: {_NUMBER}%")
_RATES = re.compile(r"Per-position acceptance rate: ([0-9., ]*?), Avg")
_ENGINE = re.compile(r"Initializing a V\d LLM engine .*?config: model='([^']*)'")
_SAMPLE = re.compile(r"vllm:spec_decode_num_([a-z_]+?)(?:_total)?(?:\{(.*)\})? ([-+0-9.eE]+|NaN)(?: \d+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Served:
    """Acceptance of one model as vLLM served it.

    Attributes
    ----------
    drafts, drafted, accepted : int
        Drafts verified; tokens drafted and accepted in all [token].
    curve : tuple of CurvePoint
        S(1), S(2), ... with intervals; empty where vLLM told accepted and drafted only.
    pooled : tuple (alpha, length) or None
        In place of a curve: the geometric law's acceptance, and the draft length that it was found at.
    notes : tuple of str
        What a user should be told.
    """

    drafts: int
    drafted: int
    accepted: int
    curve: tuple[CurvePoint, ...]
    pooled: tuple[float, int] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_pooled(cls, rate: float, draft_length: int) -> Self:
        """Where only accepted/drafted at some draft length is known."""
        return cls(0, 0, 0, (), (pooled_acceptance(rate, draft_length), draft_length))

    def law(self, devices: int) -> Acceptance:
        """The same law for each of so many devices: the curve, or the geometric law of the pooled rate."""
        if self.pooled is not None:
            return Acceptance.of([self.pooled[0]] * devices)
        return Acceptance.of([0.0] * devices, curves=[[point.survival for point in self.curve]] * devices)


def pooled_acceptance(pooled: float, draft_length: int) -> float:
    """The geometric law's alpha whose drafts of one length have accepted/drafted = pooled.

    E = 1 + K pooled tokens a round, so pooled = alpha (1 - alpha^K)/((1 - alpha) K), which rises with alpha.

    Raises
    ------
    ParameterError
        For a rate outside [0, 1], or a length below 1.

    Examples
    --------
    >>> pooled_acceptance(44 / 161, 7)
    0.671
    """
    if not 0.0 <= pooled <= 1.0:
        raise ParameterError(f"pooled rate = {pooled:g} is outside [0, 1]")
    check_whole("draft length", draft_length, 1, MOST_SERVED)
    if pooled in (0.0, 1.0):
        return pooled
    powers = np.arange(1.0, draft_length + 1.0)
    return float(brentq(lambda alpha: np.mean(alpha**powers) - pooled, 0.0, 1.0, xtol=1e-15, rtol=1e-14))


def parse_vllm(text: str, model: str | None = None) -> Served:
    """What a log or a Prometheus text of vLLM says; of several models the one that is named.

    Raises
    ------
    ParameterError
        One line, without the file's name, where the text says nothing on speculative decoding, is cut short,
        contradicts itself, or speaks of several models.
    """
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]
    if any(line.startswith(_COUNTER) for line in lines):
        if lines[-1].startswith(_COUNTER) and not text.endswith("\n"):
            # The format asks for it, and without it half a number looks like a whole one.
            raise ParameterError(f"is cut short: its last line, {describe(lines[-1])}, has no line break")
        return _prometheus(lines, model)
    if any(_LINE in line for line in lines):
        if model is not None:
            raise ParameterError("a log does not say which model a line is of; a model can be named for counters only")
        return _log(lines)
    raise ParameterError(
        f'holds neither "{_LINE}" lines nor {_COUNTER}... counters: no drafts were verified, statistics were '
        "switched off, or it is not vLLM's"
    )


@dataclass(frozen=True)
class _Counts:
    """Drafts of one interval or engine. `depth`: the length of them all, None where some were shorter."""

    drafts: int
    drafted: int
    accepted: int
    at: tuple[int, ...]
    depth: int | None


def _log(lines: Sequence[str]) -> Served:
    models = sorted({found[1] for line in lines if (found := _ENGINE.search(line))})
    if len(models) > 1:
        raise ParameterError(f"is a log of several models ({', '.join(models)}); cut it to the lines of one")
    read = [_line(line, place) for place, line in enumerate(lines, 1) if _LINE in line]
    read = [counts for counts in read if counts.drafted]
    widths = sorted({len(counts.at) for counts in read if counts.at})
    if len(widths) > 1:
        raise ParameterError(
            f"has lines of {widths[0]} and of {widths[-1]} positions: several models or restarts; cut it to one"
        )
    return _joined([counts for counts in read if counts.at or not widths])


def _line(line: str, place: int) -> _Counts:
    line = line[line.index(_LINE) :]
    found = {key: pattern.search(line) for key, pattern in _FIELDS.items()}
    if not _END.search(line) or not all(found.values()):
        raise ParameterError(f"line {place} is cut short: {describe(line)}")
    mean, accepted, drafted = (float(match[1]) for match in found.values() if match)
    rates = _RATES.search(line)
    try:
        at = np.array([float(rate) for rate in rates[1].split(",")] if rates else [])
        drafts, depth = _drafts(mean, int(accepted), int(drafted), at)
    except ValueError:
        raise ParameterError(f"line {place} contradicts itself: {describe(line)}") from None
    counts = np.minimum.accumulate(np.rint(at * drafts)).astype(int)
    return _Counts(drafts, int(drafted), int(accepted), tuple(counts.tolist()), depth)


def _drafts(mean: float, accepted: int, drafted: int, rates: np.ndarray) -> tuple[int, int | None]:
    """How many drafts a line is about, which it does not print, and the length of them all.

    accepted/drafts is printed twice, as mean - 1 and as the sum of the rates, both rounded. Of the numbers that
    fit, the one that makes all drafts equally long; else the one whose multiples of 1/drafts fit the rates best.
    """
    if drafted == 0:
        return 0, None
    positions = rates.size
    if np.any(np.diff(rates) > 0.0) or np.any(rates > 1.0) or accepted > drafted:
        raise ValueError
    if accepted == 0:
        if np.any(rates > 0.0) or mean > 1.0 + _MEAN_DIGIT:
            raise ValueError
        return math.ceil(drafted / max(positions, 1)), positions or None
    per_draft = [(mean - 1.0, _MEAN_DIGIT)] + ([(float(rates.sum()), positions * _RATE_DIGIT)] if positions else [])
    low = max(accepted / (value + slack) for value, slack in per_draft)
    high = min(accepted / (value - slack) if value > slack else math.inf for value, slack in per_draft)
    fitting = range(max(1, math.ceil(low - 1e-9)), math.floor(min(high, drafted) + 1e-9) + 1)
    if positions:
        fitting = range(max(fitting.start, math.ceil(drafted / positions)), fitting.stop)
    for depth in range(positions or drafted // fitting.start, 0, -1):
        if drafted % depth == 0 and drafted // depth in fitting and not np.any(rates[depth:]):
            return drafted // depth, depth
    if not fitting:
        raise ValueError
    numbers = np.array(fitting)
    error = np.abs(np.rint(numbers[:, None] * rates) / numbers[:, None] - rates).max(axis=1, initial=0.0)
    return int(numbers[np.argmin(error)]), None


def _prometheus(lines: Sequence[str], model: str | None) -> Served:
    samples: dict[str, dict[tuple[str, str], dict[int, int]]] = {}
    for place, line in enumerate(lines, 1):
        if line.startswith(_COUNTER) and not re.match(r"[a-z:_]*_created[{ ]", line):
            name, labels, count = _sample(line, place)
            key = (labels.get("model_name", ""), labels.get("engine", ""))
            held = samples.setdefault(name, {}).setdefault(key, {})
            position = int(labels.get("position", 0))
            if position in held:
                raise ParameterError(f"line {place} gives a counter a second time; one scrape is needed, not several")
            held[position] = count
    drafts = samples.get("drafts", {})
    models = sorted({name for name, _ in drafts})
    if model is not None and model not in models:
        raise ParameterError(f"has no counters of model {describe(model)}; it has {', '.join(models) or 'none'}")
    if model is None and len(models) > 1:
        raise ParameterError(f"has counters of several models ({', '.join(models)}); name one")
    chosen = [key for key in drafts if model in (None, key[0])]
    return _joined([_engine(samples, key) for key in chosen])


def _sample(line: str, place: int) -> tuple[str, dict[str, str], int]:
    found = _SAMPLE.match(line)
    try:
        count = float(found[3] if found else "")
        labels = dict(_LABEL.findall(found[2] or "")) if found else {}
        int(labels.get("position", 0))
    except ValueError:
        count = -1.0
    if not found or not count.is_integer() or count < 0.0:
        raise ParameterError(f"line {place} is cut short or holds no count: {describe(line)}")
    return found[1], labels, int(count)


def _engine(samples: dict[str, dict[tuple[str, str], dict[int, int]]], key: tuple[str, str]) -> _Counts:
    def count(name: str) -> int:
        held = samples.get(name, {}).get(key)
        if held is None:
            raise ParameterError(f"is cut short: {_COUNTER}drafts_total is there and {_COUNTER}{name}_total is not")
        return held[0]

    drafts, drafted, accepted = count("drafts"), count("draft_tokens"), count("accepted_tokens")
    held = samples.get("accepted_tokens_per_pos", {}).get(key, {})
    at = tuple(held[position] for position in sorted(held))
    if sorted(held) != list(range(len(held))) or (at and sum(at) != accepted):
        raise ParameterError(
            f"is cut short: {accepted} tokens were accepted, and the counters by position hold "
            f"{sum(held.values())} of them"
        )
    if at and not all(after <= before for before, after in zip((drafts, *at), at, strict=False)):
        raise ParameterError("contradicts itself: more is accepted at a position than at the one before it")
    return _Counts(drafts, drafted, accepted, at, len(at) if drafted == drafts * len(at) else None)


def _joined(parts: Iterable[_Counts]) -> Served:
    """Counts added up: a position counts the drafts that reached it, where their lengths are known."""
    parts = [part for part in parts if part.drafts]
    drafts = sum(part.drafts for part in parts)
    drafted, accepted = (sum(getattr(part, key) for part in parts) for key in ("drafted", "accepted"))
    if not drafts or not drafted:
        raise ParameterError("has no drafts yet: nothing was drafted")
    short = sum(part.drafts for part in parts if part.depth is None)
    if not parts[0].at:
        length = max(1, round(drafted / drafts))
        alpha = pooled_acceptance(min(1.0, accepted / (drafts * length)), length)
        note = (
            f"no rates by position: alpha = {alpha:.4g} is that of the geometric law with {accepted} of {drafted} "
            f"tokens accepted at length {length}"
        )
        return Served(drafts, drafted, accepted, (), (alpha, length), (note,))
    positions = max(len(part.at) for part in parts)

    def total(of: Callable[[_Counts, int], int]) -> list[int]:
        reach = [(part, part.depth or len(part.at)) for part in parts]
        return [sum(of(part, place) for part, depth in reach if place < depth) for place in range(positions)]

    visited = total(lambda part, place: part.at[place - 1] if place else part.drafts)
    kept = total(lambda part, place: part.at[place])
    notes = (
        f"{short} of {drafts} drafts are of intervals in which some were shorter than {positions} tokens; the curve "
        "counts them as rejected where they ended",
    )
    return Served(drafts, drafted, accepted, curve_of_counts(visited, kept), notes=notes if short else ())
