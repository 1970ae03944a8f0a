"""A study: which scenarios, drawn how often, solved by which methods. Its file is a small TOML (`msopt sweep`).

    name = "goodput against bandwidth"
    problem = "heterogeneous"
    presets = ["multispin-llama2"]           # or scenarios = ["cell.toml"]: files beside this one, or bundled names
    methods = ["optimum", "grid", "fixed"]   # optimum: exact up to exact_up_to_devices, else decomposition
    draws = 10                               # of a preset; 1 by default
    seed = 0
    [fixed]                                  # settings of every point
    dataset = "GSM8K"
    [axes]                                   # every combination is a point
    bandwidth_hz = [5e6, 10e6, 20e6]
    devices = [10, 20]
    [options.grid]                           # what a method is given
    grid_phi = 200

The settings are those of `reports.studies.settings`. A draw has the same seed at every point, so that points are
compared on the same devices.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from numpy.random import SeedSequence
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from msopt import PRESETS, ParameterError
from msopt.errors import describe, did_you_mean
from msopt.files.scenario_toml import load_toml
from msopt.files.whole_files import read_as
from msopt.methods import methods_of
from msopt.model.scenario import Problem
from msopt.model.validation import LARGEST_WHOLE, MOST_DEVICES
from msopt.options import checked_options
from reports.studies.settings import SETTINGS, scenario_at

OPTIMUM = "optimum"
"""A study's name for `msopt.methods.optimum_at`."""
MOST_POINTS = 1_000_000
"""Of one study: a typing error beyond must not fill the memory."""

Kind = TypeVar("Kind", bound=BaseModel)
Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # what a column of the results holds
Value = Annotated[bool | Whole | Number | str, Field(union_mode="smart")]


class Point(NamedTuple):
    """One draw of one setting: what is solved at once, and recorded at once."""

    base: str
    settings: dict[str, Any]
    draw: int
    seed: int


class Study(BaseModel):
    """The content of a study file; checked, with one line for the first fault."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str = "study"
    problem: Problem = "heterogeneous"
    presets: list[str] = []
    scenarios: list[str] = []
    methods: list[str] = Field(default=[OPTIMUM], min_length=1)
    draws: int = Field(default=1, ge=1, le=MOST_POINTS)
    seed: int = Field(default=0, ge=0, le=LARGEST_WHOLE)
    exact_up_to_devices: int | None = Field(default=None, ge=0, le=MOST_DEVICES)
    fixed: dict[str, Value] = {}
    axes: dict[str, Annotated[list[Value], Field(min_length=1)]] = {}
    options: dict[str, dict[str, Value]] = {}
    variants: list[str] = []

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.presets) == bool(self.scenarios):
            raise ValueError("exactly one of presets and scenarios is needed, with at least one name")
        for preset in self.presets:
            known_or_raise("presets", preset, PRESETS)
        if self.scenarios and self.draws != 1:
            raise ValueError(f"draws = {self.draws}: a scenario file is not drawn, so draws must be 1")
        for key in ("presets", "scenarios", "methods", "variants"):
            once_or_raise(key, getattr(self, key))
        for name, values in self.axes.items():
            once_or_raise(f"axes.{name}", values)
        for method in self.methods:
            if ":" not in method:
                known_or_raise("methods", method, [OPTIMUM, *(method.name for method in methods_of(self.problem))])
        for table in ("fixed", "axes"):
            for name in getattr(self, table):
                known_or_raise(table, name, SETTINGS)
        for name in self.axes:
            if name in self.fixed:
                raise ValueError(f"{name} stands in both [fixed] and [axes]")
        self._check_options()
        self._check_count()
        return self

    def _check_options(self) -> None:
        named = [method for method in self.methods if ":" not in method and method != OPTIMUM]
        if OPTIMUM in self.methods:
            named += [method.name for method in methods_of(self.problem, "optimum")]
        for method, given in self.options.items():
            known_or_raise("options", method, named)
            try:
                checked_options(method, dict(given), self.problem)
            except ParameterError as error:
                raise ValueError(f"[options.{method}]: {error}") from None

    def _check_count(self) -> None:
        counts = self.draws, math.prod(map(len, self.axes.values())), len(self.bases)
        if math.prod(counts) > MOST_POINTS:
            of = "presets" if self.presets else "scenarios"
            told = " * ".join(map(str, counts))
            raise ValueError(
                f"draws * settings * {of} = {told} = {math.prod(counts)} points, "
                f"above {MOST_POINTS}, the most that is allowed"
            )

    @property
    def bases(self) -> list[str]:
        """The presets or the scenarios."""
        return self.presets or self.scenarios

    def settings(self) -> Iterator[dict[str, Any]]:
        """Every combination of the axes, with what is fixed."""
        for values in itertools.product(*self.axes.values()):
            yield {**self.fixed, **dict(zip(self.axes, values, strict=True))}

    def points(self) -> list[Point]:
        """Every draw of every setting of every base, in the order of the results."""
        seeds = [draw_seed(self.seed, number) for number in range(self.draws)]
        return [
            Point(base, settings, number, seed)
            for base in self.bases
            for settings in self.settings()
            for number, seed in enumerate(seeds)
        ]

    def devices_at(self, point: Point) -> int:
        """The number of devices at a point; no setting draws it."""
        if "devices" in point.settings:
            return int(point.settings["devices"])
        return scenario_at(point.base, point.settings, point.seed).device_count

    def check_scenarios(self) -> None:
        """Draw every setting once; ParameterError for the first that no scenario has."""
        for base in self.bases:
            for settings in self.settings():
                scenario_at(base, settings, 0)


def draw_seed(seed: int, number: int) -> int:
    """The seed of a draw, spawned from the study's: `msopt scenario PRESET --seed` draws the same again."""
    return int(SeedSequence(seed, spawn_key=(number,)).generate_state(1)[0])


def read_study(path: str) -> Study:
    """The study of a file, its scenarios checked.

    Raises
    ------
    ParameterError
        In one line: file, key, value, what is allowed.
    """

    def checked(text: str) -> Study:
        study = parse_study(text)
        study = study.model_copy(update={"scenarios": beside(path, study.scenarios)})
        study.check_scenarios()
        return study

    return read_as(path, checked)


def beside(path: str, scenarios: Iterable[str]) -> list[str]:
    """The files of these names beside a file, and the names that have none there."""
    near = {name: Path(path).parent / name for name in scenarios}
    return [str(file) if file.exists() else name for name, file in near.items()]


def parse_study(text: str) -> Study:
    """The study of a text; ParameterError in one line, without the file's name."""
    return validated(Study, load_toml(text))


def validated(kind: type[Kind], raw: dict[str, Any], known: Iterable[str] = ()) -> Kind:
    """What a file holds as its model; ParameterError in one line for the first fault.

    Parameters
    ----------
    kind : subclass of BaseModel
    raw : dict
    known : iterable of str
        Keys of the tables inside, where an unknown one may be meant.
    """
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            near = did_you_mean(str(fault["loc"][-1]), [*kind.model_fields, *known])
            raise ParameterError(f"unknown key {place}{near}") from None
        message = fault["msg"].removeprefix("Value error, ")
        if place.endswith(".bool"):  # the first kind that a Value may be of
            place, message = place.removesuffix(".bool"), "is no finite number, no text, and not true or false"
        table = isinstance(fault["input"], dict)
        given = "" if not place else f"{place}: " if table else f"{place} = {describe(fault['input'])}: "
        raise ParameterError(f"{given}{message[:1].lower()}{message[1:]}") from None


def known_or_raise(key: str, name: str, known: Iterable[str]) -> None:
    """ValueError for a name that is none of those known, with the nearest."""
    names = list(known)
    if name not in names:
        raise ValueError(f"{key}: {describe(name)} is not one of {', '.join(names)}{did_you_mean(name, names)}")


def once_or_raise(key: str, values: Iterable[Value]) -> None:
    """ValueError for a value that stands twice."""
    seen: list[Value] = []
    for value in values:
        if value in seen:
            raise ValueError(f"{key} holds {describe(value)} twice")
        seen.append(value)
