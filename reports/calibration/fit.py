"""The inverse study itself: settings that fill the ranges, the best fit, more settings near it, and what is excluded.

The stages follow from one another without chance, so that an interrupted run goes on as if it had not been.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from reports.calibration.settings_tried import Found, Tried, found_at, searched, tried
from reports.calibration.targets_file import Calibration
from reports.shared.parallel import Task

SAMPLE, SEARCH, NEAR, EXCLUSION = "fills the ranges", "searched", "near the fit", "searched for some numbers"
_NEAR = 2.0
_LEAST_NEAR = 3
_WIDER, _LEAST_WIDER = 0.25, 0.03
_SLACK = 0.9
_MOST_ROUNDS = 5
_STARTS_OF_A_ROUND = 2

Run = Callable[[Mapping[int, Task]], Mapping[int, Tried]]
"""Computes numbered tasks, or knows what they gave."""


class Candidate(NamedTuple):
    """A setting, read in one way."""

    number: int
    stage: str
    tried: Tried
    reading: dict[str, str]
    found: list[Found]

    @property
    def misfits(self) -> FloatArray:
        """Of each number, without sign."""
        return np.abs([one.misfit for one in self.found])

    @property
    def misfit(self) -> float:
        """Root of the mean square over the numbers."""
        return float(np.sqrt(np.mean(self.misfits**2)))

    @property
    def plausible(self) -> bool:
        """Whether every number comes out within its tolerance."""
        return bool(np.all(self.misfits <= 1.0))


@dataclass(frozen=True)
class Fit:
    """All settings tried, by falling fit, and what they say.

    Attributes
    ----------
    calibration : Calibration
    candidates : list of Candidate
        The best one first.
    plausible : list of Candidate
        Those at which every number comes out within its tolerance.
    given : list of Found
        Every number with the base as it is, its own values in place of the unknown ones, read as it fits best.
    excluding : tuple of int
        Where there are none: a smallest set of numbers that no setting meets together, of several the one that is
        furthest from being met.
    others_excluding : int
        How many other sets of that size no setting tried meets.
    sought : bool
        Whether a search for a setting that meets just that set found none, too.
    """

    calibration: Calibration
    candidates: list[Candidate]
    plausible: list[Candidate]
    given: list[Found]
    excluding: tuple[int, ...]
    others_excluding: int
    sought: bool

    @property
    def best(self) -> Candidate:
        """The setting of the least misfit."""
        return self.candidates[0]

    @property
    def left(self) -> list[Candidate]:
        """The plausible settings, those of least misfit first; where there are none, the nearest."""
        return self.plausible or nearest(self.candidates)


def fit(calibration: Calibration, run: Run) -> Fit:
    """The whole study.

    Parameters
    ----------
    calibration : Calibration
    run : function
        Numbers are the same in every run.
    """
    numbers = itertools.count()
    found: list[Candidate] = []

    def stage(name: str, tasks: Sequence[Task]) -> list[Candidate]:
        mine = {next(numbers): task for task in tasks}
        every = run(mine)
        new = [
            Candidate(number, name, every[number], reading, found_at(calibration, every[number], reading))
            for number in mine
            for reading in calibration.readings()
        ]
        found.extend(new)
        return new

    space, asked = calibration.space, range(len(calibration.asked()))
    stage(SAMPLE, [(tried, (calibration, list(point))) for point in space.filling(calibration.settings)])
    sought = False
    if calibration.starts and space.dimensions:
        starts = _starts(found, calibration.starts, asked)
        stage(SEARCH, [_search(calibration, start, asked) for start in starts])
        low, high = _box(found)
        stage(NEAR, [(tried, (calibration, list(point))) for point in space.filling(calibration.settings, low, high)])
        sought = _seek_excluded(calibration, found, stage)
    ordered = sorted(found, key=lambda one: (one.misfit, one.number, str(one.reading)))
    plausible = [one for one in ordered if one.plausible]
    sets = _excluding_sets(found)
    number = next(numbers)
    own = run({number: (tried, (calibration, []))})[number]
    given = min(
        (found_at(calibration, own, reading) for reading in calibration.readings()),
        key=lambda every: sum(one.misfit**2 for one in every),
    )
    return Fit(
        calibration, ordered, plausible, given, sets[0] if sets else (), max(0, len(sets) - 1), bool(sets) and sought
    )


def _search(calibration: Calibration, start: Candidate, only: Sequence[int], slack: float = 0.0) -> Task:
    return searched, (calibration, start.tried.point, start.reading, list(only), slack)


def _starts(found: Sequence[Candidate], count: int, only: Sequence[int]) -> list[Candidate]:
    """Where searches begin: the best settings for some numbers, each reading and each of a few values in turn."""
    ordered = sorted(found, key=lambda one: (float(np.sum(one.misfits[list(only)] ** 2)), one.number))
    groups: dict[str, list[Candidate]] = {}
    for one in ordered:
        groups.setdefault(str(one.reading), []).append(one)
    turns = itertools.zip_longest(*groups.values())
    return [one for turn in turns for one in turn if one is not None][:count]


def nearest(ordered: list[Candidate]) -> list[Candidate]:
    """Of settings by falling fit those of at most twice the least misfit, three at least."""
    near = [one for one in ordered if one.misfit <= _NEAR * ordered[0].misfit]
    return near if len(near) >= _LEAST_NEAR else ordered[:_LEAST_NEAR]


def _box(found: Sequence[Candidate]) -> tuple[FloatArray, FloatArray]:
    """A box around the settings that fit best, somewhat wider."""
    kept = nearest(sorted(found, key=lambda one: (one.misfit, one.number)))
    points = np.array([one.tried.point for one in kept])
    low, high = points.min(axis=0), points.max(axis=0)
    wider = _WIDER * (high - low) + _LEAST_WIDER
    return np.maximum(low - wider, 0.0), np.minimum(high + wider, 1.0)


def _excluding_sets(found: Sequence[Candidate]) -> list[tuple[int, ...]]:
    """The smallest sets of numbers that no setting tried meets together, the furthest from being met first."""
    misfits = np.array([one.misfits for one in found])
    return sorted(smallest_sets(misfits <= 1.0), key=lambda some: -float(misfits[:, list(some)].max(axis=1).min()))


def _seek_excluded(
    calibration: Calibration,
    found: list[Candidate],
    stage: Callable[[str, Sequence[Task]], list[Candidate]],
) -> bool:
    """Search for settings that meet the numbers which none met together so far; True once a search finds none.

    First all numbers together, then a smallest set of them, until one stays unmet.
    """
    sets = _excluding_sets(found)
    for round_ in range(_MOST_ROUNDS):
        if not sets:
            return False
        only = list(sets[0]) if round_ else list(range(len(calibration.asked())))
        starts = _starts(found, _STARTS_OF_A_ROUND, only)
        new = stage(EXCLUSION, [_search(calibration, start, only, _SLACK) for start in starts])
        if round_ and not any(np.all(one.misfits[only] <= 1.0) for one in new):
            return True
        sets = _excluding_sets(found)
    return False


def smallest_sets(within: BoolArray) -> list[tuple[int, ...]]:
    """All smallest sets of columns that no row has together; none where a row has all.

    >>> smallest_sets(np.array([[True, False, True], [False, True, True]]))
    [(0, 1)]
    """
    columns = range(within.shape[1])
    for size in range(1, within.shape[1] + 1):
        sets = [some for some in itertools.combinations(columns, size) if not within[:, list(some)].all(axis=1).any()]
        if sets or math.comb(len(columns), size + 1) > 10**6:
            return sets
    return []
