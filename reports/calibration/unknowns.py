"""What was not stated: ranges and values, and settings that fill them.

A setting is a point of the unit cube, a coordinate for each unknown; one of a few values has equal parts of its edge.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.stats import qmc

from msopt.arrays import FloatArray
from reports.studies.settings import SETTINGS, WHOLE_SETTINGS
from reports.studies.study import Number, Value, once_or_raise

RATIO_OF_MEANS, MEAN_OF_RATIOS = "ratio of means", "mean of ratios"
AVERAGES = (RATIO_OF_MEANS, MEAN_OF_RATIOS)
RANGES = {"swept_to_dbm": ("ud_fig7_8", "downlink_power_dbm")}
"""Unknown ends of what a figure sweeps, no settings of a scenario: its draws, and the column that ends there."""


class Unknown(BaseModel):
    """A range or a few values of one setting; the keys are those of `reports.calibration.targets_file`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    low: Number | None = None
    high: Number | None = None
    scale: Literal["linear", "log"] = "linear"
    values: Annotated[list[Value], Field(min_length=2)] | None = None
    each: bool = False
    why: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ends = (self.low is not None, self.high is not None)
        if ends != (self.values is None, self.values is None):
            raise ValueError("needs either `low` and `high`, or `values`")
        if self.values is not None:
            once_or_raise("values", self.values)
        elif not self.low < self.high:  # type: ignore[operator]
            raise ValueError(f"low = {self.low:g} is not below high = {self.high:g}")
        elif self.scale == "log" and not self.low > 0.0:  # type: ignore[operator]
            raise ValueError(f"low = {self.low:g} is not above 0, as a logarithmic scale needs")
        return self

    def at(self, coordinate: float, whole: bool) -> Any:
        """The value at a coordinate from 0 to 1."""
        if self.values is not None:
            return self.values[min(int(coordinate * len(self.values)), len(self.values) - 1)]
        assert self.low is not None
        assert self.high is not None
        if self.scale == "log":
            value = exp(log(self.low) + coordinate * (log(self.high) - log(self.low)))
        else:
            value = self.low + coordinate * (self.high - self.low)
        return round(value) if whole else float(f"{value:.12g}")


@dataclass(frozen=True)
class Dimension:
    """One coordinate: an unknown setting, of one base where each has its own ("" for all)."""

    setting: str
    base: str
    unknown: Unknown

    @property
    def name(self) -> str:
        """The setting, and of whom."""
        return f"{self.setting} of {self.base}" if self.base else self.setting

    @property
    def continuous(self) -> bool:
        """Whether a search may move along it."""
        return self.unknown.values is None and self.setting not in WHOLE_SETTINGS

    def at(self, coordinate: float) -> Any:
        """The value at a coordinate from 0 to 1."""
        return self.unknown.at(coordinate, self.setting in WHOLE_SETTINGS)


@dataclass(frozen=True)
class Space:
    """All unknown settings."""

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, unknowns: Mapping[str, Unknown], bases: Sequence[str]) -> Self:
        """The unknowns that are settings or ends of what is swept, in their order."""
        return cls(
            tuple(
                Dimension(name, base, unknown)
                for name, unknown in unknowns.items()
                if name in SETTINGS or name in RANGES
                for base in (bases if unknown.each else [""])
            )
        )

    def values(self, point: Sequence[float]) -> dict[str, Any]:
        """The value of each dimension, by name."""
        return {one.name: one.at(x) for one, x in zip(self.dimensions, point, strict=True)}

    def settings(self, point: Sequence[float], base: str) -> dict[str, Any]:
        """The settings of one base at a point; none where the point is empty."""
        if not len(point):
            return {}
        return {
            one.setting: one.at(x)
            for one, x in zip(self.dimensions, point, strict=True)
            if one.base in ("", base) and one.setting in SETTINGS
        }

    def swept_to(self, point: Sequence[float]) -> dict[str, float]:
        """The ends of what figures sweep at a point, by name."""
        return {name: value for name, value in self.values(point).items() if name in RANGES}

    def filling(self, count: int, low: FloatArray | float = 0.0, high: FloatArray | float = 1.0) -> FloatArray:
        """So many points of a box that fill it: Sobol's sequence, without chance; shape (count, dimensions).

        Each point lies in the middle of its cell, so that none sits on an edge.
        """
        if not self.dimensions:
            return np.zeros((1, 0))
        power = int(count - 1).bit_length()
        unit = qmc.Sobol(len(self.dimensions), scramble=False).random_base2(power)[:count] + 0.5**power / 2.0
        return np.asarray(np.round(low + (np.asarray(high) - low) * unit, 12))

    def ends(self) -> Iterator[list[float]]:
        """The middle, and either end of each dimension with the others in the middle."""
        middle = [0.5] * len(self.dimensions)
        yield middle
        for place, one in enumerate(self.dimensions):
            values = one.unknown.values
            places = (0.0, 1.0) if values is None else [(n + 0.5) / len(values) for n in range(len(values))]
            for x in places:
                yield [*middle[:place], x, *middle[place + 1 :]]
