"""One setting tried: what every quoted number comes to there. Pure functions of a calibration and a point."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from msopt import MsoptError, ParameterError
from msopt.arrays import FloatArray, IntArray
from msopt.numerics.intervals import LEVEL
from reports.calibration.targets_file import Asked, Calibration
from reports.calibration.unknowns import MEAN_OF_RATIOS
from reports.shared.estimators import Mean
from reports.shared.rows import Row
from reports.studies.closed_forms import best_uplink_set
from reports.studies.points import REFUSED, SOLVED, solve_points
from reports.studies.quoted import UPLINK_SET, Quoted
from reports.studies.settings import scenario_at
from reports.studies.study import Point, draw_seed

NO_NUMBER = 1e3
"""The misfit of a number that does not come out at all: a method failed."""
LEAST_REACH = 1e-3
"""Of a limit, relatively: how far beyond it a number without noise may be before its misfit is 1 (ours)."""
_STEP = 0.03
_MOST_STEPS = 8
_INSIDE = 0.02
_PAPERS = 1000
"""So many are drawn from the draws of a setting, each with the quoted number's realisations."""
_READ_BY = {"server_draft_s_per_token": {"centralised", "centralised-serial"}}
"""Settings that only some methods read: where none of these is asked, a change of them changes nothing."""
_SHIFT = 1.0
"""Of the coordinates in a search: its steps are relative, and so have one length everywhere within a factor of 2."""

Goodputs = dict[str, list[float]]
"""Of each method the draws of one number."""


class AskedCell(NamedTuple):
    """A base at some settings of its own, and which quantity of which methods is asked for there."""

    base: str
    condition: dict[str, Any]
    quantity: str
    methods: tuple[str, ...]


class Tried(NamedTuple):
    """A point of the unknowns, and the goodputs of each cell there."""

    point: list[float]
    goodputs: list[Goodputs]


class Found(NamedTuple):
    """What one number comes to over all draws; what the median paper and 95 of 100 print; its misfit (signed)."""

    estimate: Mean
    printed: float
    low: float
    high: float
    misfit: float


def cells(calibration: Calibration) -> list[AskedCell]:
    """Every place at which some number is asked for, once."""
    readings = calibration.readings()
    methods: dict[tuple[str, str, str], list[str]] = {}
    conditions: dict[str, dict[str, Any]] = {}
    for asked in calibration.asked():
        for condition in asked.conditions:
            conditions[str(condition)] = condition
            names = [reading.get(name, name) for name in asked.record.methods for reading in readings]
            key = (asked.record.preset, str(condition), asked.quantity)
            methods[key] = list(dict.fromkeys([*methods.get(key, []), *names]))
    return [
        AskedCell(base, conditions[condition], quantity, tuple(names))
        for (base, condition, quantity), names in methods.items()
    ]


@dataclass
class Trials:
    """Settings tried one after another; what they share is computed once."""

    calibration: Calibration
    _known: dict[str, Goodputs] = field(default_factory=dict)

    def at(self, point: Sequence[float]) -> Tried:
        """The goodputs of every cell at a point of the unknowns."""
        space, found = self.calibration.space, []
        for cell in cells(self.calibration):
            settings = self.calibration.base.fixed | space.settings(point, cell.base) | cell.condition
            for name, readers in _READ_BY.items():
                if not readers & set(cell.methods) and not any(":" in method for method in cell.methods):
                    settings.pop(name, None)
            key = str((cell, settings))
            if key not in self._known:
                self._known[key] = self._goodputs(cell, settings)
            found.append(self._known[key])
        return Tried([float(x) for x in point], found)

    def _goodputs(self, cell: AskedCell, settings: dict[str, Any]) -> Goodputs:
        base = self.calibration.base
        points = [Point(cell.base, settings, number, draw_seed(base.seed, number)) for number in range(base.draws)]
        solved = [method for method in cell.methods if method != UPLINK_SET]
        found: Goodputs = {method: [] for method in cell.methods}
        if solved:
            study = self.calibration.study([cell.base], solved)
            for rows in solve_points(study, points, hashed=False):
                for row in rows:
                    value = row[cell.quantity]
                    found[row["scheme"]].append(math.nan if value is None else float(value))
        if UPLINK_SET in found:
            found[UPLINK_SET] = [_uplink_set(point) for point in points]
        return found


def check_answers(calibration: Calibration) -> None:
    """Solve one draw of every number in the middle of all ranges, and at their ends where a method has no answer there.

    Raises
    ------
    MsoptError
        Where a method has an answer nowhere, and why.
    """
    base, space = calibration.base, calibration.space
    for cell in cells(calibration):
        methods = [method for method in cell.methods if method != UPLINK_SET]
        if not methods:
            continue
        study = calibration.study([cell.base], methods)
        faults: list[Row] = []
        for point in space.ends():
            settings = base.fixed | space.settings(point, cell.base) | cell.condition
            rows = solve_points(study, [Point(cell.base, settings, 0, draw_seed(base.seed, 0))], hashed=False)[0]
            faults = [row for row in rows if row["status"] != SOLVED]
            if not faults:
                break
        if faults:
            kind = ParameterError if faults[0]["status"] == REFUSED else MsoptError
            cause = faults[0]["cause"] or "does not apply"
            raise kind(f"method {faults[0]['scheme']} has no answer at either end of any range: {cause}")


def _uplink_set(point: Point) -> float:
    try:
        return float(best_uplink_set(scenario_at(point.base, point.settings, point.seed))[0])
    except MsoptError:
        return math.nan


def tried(calibration: Calibration, point: Sequence[float]) -> Tried:
    """A point as a task of its own; an empty one leaves the base as it is."""
    return Trials(calibration).at(point)


def found_at(calibration: Calibration, at: Tried, reading: Mapping[str, str]) -> list[Found]:
    """What every number comes to at a setting, read in one way; of one asked for at several settings, the worst."""
    by_cell = {
        (cell.base, str(cell.condition), cell.quantity): goodputs
        for cell, goodputs in zip(cells(calibration), at.goodputs, strict=True)
    }
    return [_found(calibration, asked, by_cell, reading) for asked in calibration.asked()]


def _found(
    calibration: Calibration,
    asked: Asked,
    by_cell: Mapping[tuple[str, str, str], Goodputs],
    reading: Mapping[str, str],
) -> Found:
    every = []
    for condition in asked.conditions:
        drawn = by_cell[asked.record.preset, str(condition), asked.quantity]
        goodputs = {name: drawn[reading.get(name, name)] for name in asked.record.methods}
        realisations = calibration.base.realisations
        if "realisations" in reading:
            realisations = int(reading["realisations"])
        every.append(_number(asked.record, goodputs, reading, realisations))
    return max(every, key=lambda one: abs(one.misfit))


def _number(record: Quoted, goodputs: Goodputs, reading: Mapping[str, str], realisations: int | None) -> Found:
    if not all(np.all(np.isfinite(values)) for values in goodputs.values()):
        nothing = Mean(math.nan, math.nan, math.nan, 0)
        return Found(nothing, math.nan, math.nan, math.nan, NO_NUMBER)
    of_ratios = reading.get("averages") == MEAN_OF_RATIOS
    ratios = record.mean_of_ratios(goodputs) if of_ratios else None
    estimate = record.estimate(goodputs) if ratios is None else ratios
    printed, low, high = estimate.mean, estimate.low, estimate.high
    if realisations is not None and estimate.draws > 1:
        printed, low, high = _of_papers(record, goodputs, realisations, of_ratios)
    return Found(estimate, printed, low, high, _misfit(record, printed, low, high))


def _of_papers(record: Quoted, goodputs: Goodputs, realisations: int, of_ratios: bool) -> tuple[float, float, float]:
    """What papers of so many of the draws print: the median, and the ends between which 95 of 100 lie."""
    above, *below = (np.array(goodputs[method]) for method in record.methods)
    chosen = _papers(above.size, realisations)
    if not below:
        numbers = above[chosen].mean(axis=1)
    else:
        numbers = (
            (above / below[0])[chosen].mean(axis=1)
            if of_ratios
            else above[chosen].mean(axis=1) / below[0][chosen].mean(axis=1)
        )
        numbers = numbers - (1.0 if record.statistic == "gain" else 0.0)
    low, median, high = np.quantile(numbers, [(1.0 - LEVEL) / 2.0, 0.5, (1.0 + LEVEL) / 2.0])
    return float(median), float(low), float(high)


@lru_cache(maxsize=16)
def _papers(draws: int, realisations: int) -> IntArray:
    """Which draws each paper has, the same whatever is asked of them; shape (papers, realisations)."""
    return np.random.default_rng(0).integers(draws, size=(_PAPERS, realisations))


def _misfit(record: Quoted, value: float, low: float, high: float) -> float:
    """How far a number is from the quoted one, in units of what both may be off: within tolerance up to 1 (signed).

    That is half of the range of what is printed so, and how far the interval of papers reaches towards it.
    """
    if not (math.isfinite(value) and math.isfinite(low) and math.isfinite(high)):
        return NO_NUMBER
    if math.isfinite(record.low) and math.isfinite(record.high):
        middle, half = (record.low + record.high) / 2.0, (record.high - record.low) / 2.0
        return (value - middle) / (half + (value - low if value > middle else high - value))
    below = math.isfinite(record.low)
    limit = record.low if below else record.high
    beyond = min(0.0, value - limit) if below else max(0.0, value - limit)
    return beyond / (abs(limit) * LEAST_REACH + (high - value if below else value - low) + 1e-12)


def searched(
    calibration: Calibration, start: Sequence[float], reading: dict[str, str], only: Sequence[int], slack: float
) -> Tried:
    """The setting near another one at which some numbers fit best: least squares over the continuous unknowns.

    Parameters
    ----------
    calibration : Calibration
    start : sequence of float
        A point of the unknowns; those of a few values stay as they are there.
    reading : dict
    only : sequence of int
        The numbers that count.
    slack : float
        Misfit that does not count: 0 for the best fit; a little below 1 to find out whether they can be met together.
    """
    trials = Trials(calibration)
    moving = np.array([one.continuous for one in calibration.space.dimensions], dtype=bool)
    begin = np.array(start, dtype=float)

    def at(moved: FloatArray) -> list[float]:
        whole = begin.copy()
        whole[moving] = moved - _SHIFT
        return [round(float(x), 12) for x in whole]

    def misfits(moved: FloatArray) -> FloatArray:
        found = found_at(calibration, trials.at(at(moved)), reading)
        misfit = np.array([found[number].misfit for number in only])
        return np.asarray(np.sign(misfit) * np.maximum(np.abs(misfit) - slack, 0.0))

    if not moving.any():
        return trials.at(list(begin))
    inside = np.clip(begin[moving], _INSIDE, 1.0 - _INSIDE) + _SHIFT
    ends = (_SHIFT, _SHIFT + 1.0)
    best = least_squares(misfits, inside, bounds=ends, diff_step=[_STEP], max_nfev=_MOST_STEPS, xtol=1e-4, ftol=1e-4)
    return trials.at(at(best.x))


def as_content(one: Tried) -> list[Any]:
    """What a file holds of a setting tried; null for what has no number."""
    plain = [
        {name: [None if math.isnan(x) else x for x in drawn] for name, drawn in goodputs.items()}
        for goodputs in one.goodputs
    ]
    return [one.point, plain]


def of_content(calibration: Calibration, content: Any) -> Tried:
    """What `as_content` gave; ValueError, TypeError or AttributeError for what it cannot have given."""
    point, goodputs = content
    asked = cells(calibration)
    values = [
        {str(name): [math.nan if x is None else float(x) for x in drawn] for name, drawn in one.items()}
        for one in goodputs
    ]
    places = (0, len(calibration.space.dimensions))
    whole = all(len(drawn) == calibration.base.draws for one in values for drawn in one.values())
    wanted = [set(cell.methods) for cell in asked]
    if not whole or len(point) not in places or [set(one) for one in values] != wanted:
        raise ValueError
    return Tried([float(x) for x in point], values)
