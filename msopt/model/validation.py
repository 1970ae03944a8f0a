"""What a number, a whole number or a word may be: each check says in one line where it fails and what is allowed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe

POSITIVE = "a finite number above 0"
NOT_NEGATIVE = "a finite number of at least 0"
LARGEST_SNR_DB = 1000.0

SMALLEST, LARGEST = 1e-30, 1e30
_BETWEEN = f"between {SMALLEST:g} and {LARGEST:g}"
LARGEST_WHOLE = 2**63 - 1
"""Of any whole number, seeds and node limits among them: what a column of a table holds."""
MOST_TOKENS = 1_000_000_000
"""The longest draft [token]."""
MOST_DEVICES = 1_000_000
"""That are drawn: a typing error beyond must not fill the memory."""
MOST_SAMPLES = 10_000_000
"""Outcomes that are drawn."""
MOST_GRID_POINTS = 10_000
"""Of either variable of method `grid`."""
MOST_TRIALS = 1_000_000
"""Random scenarios behind each row of a cross-check."""
MOST_MEASURED = 1_000_000
"""Prompts, tokens, rows or repeats of a measurement."""
MOST_JOBS = 1024
"""Processes on one machine."""
MOST_SERVED = 10_000
"""The longest draft of a server that drafts and verifies itself [token]."""
MOST_TOGETHER = 100_000
"""The greatest batch size of such a server."""


def check_whole(option: str, value: object, least: int, most: int = LARGEST_WHOLE) -> None:
    """Raise ParameterError where an option is not a whole number of at least some, and of at most some."""
    whole = not isinstance(value, bool) and isinstance(value, int | np.integer)
    if not whole or value < least:  # type: ignore[operator]
        raise ParameterError(f"{option} = {describe(value)} is not a whole number of at least {least}")
    if value > most:  # type: ignore[operator]
        raise ParameterError(f"{option} = {describe(value)} is above {most}, the most that is allowed")


@dataclass(frozen=True)
class Number:
    """A finite number of at least 0, or above 0, that is no further from 1 than a factor of 1e30; or one of any sign.

    Attributes
    ----------
    above_zero : bool
        Whether 0 is refused.
    largest : float, optional
        Of any sign where it is given, and at most so far from 0 [unit].
    unit : str
        What a message about it names.
    """

    above_zero: bool = False
    largest: float | None = None
    unit: str = ""

    def rules(self, values: FloatArray | Any) -> Iterator[tuple[BoolArray | Any, str]]:
        """Each rule in turn: for which values it holds, and what it allows."""
        if self.largest is not None:
            allowed = f"a finite number from {-self.largest:g} to {self.largest:g} [{self.unit}]"
            yield abs(values) <= self.largest, allowed
            return
        yield (values > 0.0, POSITIVE) if self.above_zero else (values >= 0.0, NOT_NEGATIVE)
        yield (values == 0.0) | ((values >= SMALLEST) & (values <= LARGEST)), _BETWEEN

    def check(self, place: str, value: object) -> None:
        """Raise ParameterError where a value at a place is outside."""
        try:
            wrong = isinstance(value, bool | str | complex | np.complexfloating)
            number = float("nan") if wrong else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        for good, allowed in self.rules(number):
            if not (good and isfinite(number)):
                raise ParameterError(f"{place} = {describe(value)} is not {allowed}")

    def check_each(self, key: str, values: FloatArray, label: Callable[[int], str]) -> None:
        """Raise ParameterError for the first device whose value is outside."""
        for good, allowed in self.rules(values):
            bad = np.flatnonzero(~(good & np.isfinite(values)))
            if bad.size:
                k = int(bad[0])
                raise ParameterError(f"{label(k)}: {key} = {values[k]:g} is not {allowed}")


@dataclass(frozen=True)
class Whole:
    """A whole number between two, the ends included."""

    least: int
    most: int

    def check(self, place: str, value: object) -> None:
        """Raise ParameterError where a value at a place is outside."""
        check_whole(place, value, self.least, self.most)


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    def check(self, place: str, value: object) -> None:
        """Raise ParameterError where a value at a place is another."""
        if value not in self.words:
            allowed = " or ".join(f'"{word}"' for word in self.words)
            raise ParameterError(f"{place} = {describe(value)} is not {allowed}")


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def check(self, place: str, value: object) -> None:
        """Raise ParameterError where a value at a place is neither."""
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{place} = {describe(value)} is not true or false")
