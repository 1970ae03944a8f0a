"""Numbers and names as people read them."""

import math

from msopt import MsoptError
from msopt.errors import literal as literal  # noqa: PLC0414  (one of the words)
from msopt.shown.object_summary import PROVEN_GAP
from msopt.shown.object_summary import counted as counted  # noqa: PLC0414

LONGEST_TOLD = 300
"""Letters of an exception's text that are told."""
_TIMES = 10.0
_SMALL_GAIN = 1e-4
"""Below it a gain is rounded: nobody needs three digits of a hundredth of a per cent."""
_ROUND_OFF = 1e-12
"""What is less of a whole is the last digits of numbers that are equal."""
_PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}


def number(value: float | None, digits: int = 6) -> str:
    """Some significant digits; a dash for what is not there."""
    return "–" if value is None else f"{value:.{digits}g}"


def with_prefix(value: float, unit: str, digits: int = 6) -> str:
    """A quantity with the prefix that keeps its number near 1.

    >>> with_prefix(200e6, "Hz"), with_prefix(34816, "bit"), with_prefix(0.0, "s")
    ('200 MHz', '34.816 kbit', '0 s')
    """
    power = 0
    if value and math.isfinite(value):
        power = min(max(math.floor(math.log10(abs(value)) / 3.0 + 1e-12), min(_PREFIXES)), max(_PREFIXES))
    return f"{value / 1000.0**power:.{digits}g} {_PREFIXES[power]}{unit}"


def per_cent(ratio: float | None) -> str:
    """A ratio in per cent, with a dash for what is not there.

    >>> per_cent(0.0035146), per_cent(18.07), per_cent(-9.4e-17), per_cent(None)
    ('0.351 %', '1807 %', '0 %', '–')
    """
    if ratio is None:
        return "–"
    value = 0.0 if abs(ratio) < _ROUND_OFF else 100.0 * ratio
    return f"{value:.0f} %" if abs(value) >= 1000.0 else f"{value:.3g} %"


def between(low: float | None, high: float | None) -> str:
    """The ends of an interval of ratios, in per cent."""
    return f"{per_cent(low)} to {per_cent(high)}"


def gain(ratio: float | None) -> str:
    """A gain in words: in per cent, as a multiple from ten times on, "equal" where it is round-off.

    >>> gain(0.0813), gain(296.36), gain(-6.234e-05), gain(-3e-12), gain(None)
    ('8.13 %', '297 times', '-0.0062 %', 'equal', '–')
    """
    if ratio is None:
        return per_cent(ratio)
    if abs(ratio) < PROVEN_GAP:
        return "equal"
    if ratio >= _TIMES - 1.0:
        return f"{1.0 + ratio:.3g} times"
    return per_cent(round(ratio, 6) if abs(ratio) < _SMALL_GAIN else ratio)


def against(ratio: float) -> str:
    """A gain as what stands between two things that are compared; the smaller one is never some times less.

    >>> [against(ratio) for ratio in (0.0813, 296.36, -0.98, 1e-12)]
    ['8.13 % more than', '297 times as much as', '98 % less than', 'as much as']
    """
    words = gain(ratio)
    if words == "equal":
        return "as much as"
    return (
        f"{words} as much as"
        if words.endswith("times")
        else f"{gain(abs(ratio))} {'more' if ratio > 0.0 else 'less'} than"
    )


def gap(ratio: float | None) -> str:
    """How far something lies below a bound: in per cent, or "proven" where that is round-off.

    >>> gap(0.0012), gap(5e-11), gap(None)
    ('0.12 %', 'proven', '–')
    """
    return "proven" if ratio is not None and ratio < PROVEN_GAP else per_cent(ratio)


def one_line(text: str) -> str:
    """A message of any shape as one line."""
    return literal(" ".join(text.split()))


def exception_words(error: BaseException) -> str:
    r"""What an exception says, in one line that is not too long; its `__str__` may fail.

    >>> exception_words(ValueError("no\nway")), exception_words(MemoryError())
    ('ValueError: no way', 'MemoryError')
    """
    try:
        text = one_line(str(error))
    except BaseException:
        text = ""
    text = text if len(text) <= LONGEST_TOLD else text[:LONGEST_TOLD] + "..."
    if isinstance(error, MsoptError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
