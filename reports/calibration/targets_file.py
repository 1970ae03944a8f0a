"""A file of quoted numbers and of what was not stated with them (`msopt calibrate`).

name = "a paper"
settings = 64                          # of the unknowns: as many fill their ranges, as many again are near the fit
starts = 6                             # from which the best fit is searched
quoted = ["level-llama2"]              # numbers of the two papers by name; or tables of your own:
[base]
problem = "heterogeneous"
presets = ["multispin-llama2"]         # or scenarios = ["cell.toml"]: files beside this one, or bundled names
draws = 40                             # of a preset, at every setting the same
realisations = 10                      # draws behind each quoted number; without it they have no noise of their own
fixed = { devices = 20 }               # settings of all points
[unknowns.uplink_power_dbm]            # a setting between two ends
low = -55.0
high = -40.0
[unknowns.draft_mean_s]
low = 0.01
high = 0.05
scale = "log"                          # equal ratios are equally far
each = true                            # of each preset its own
[unknowns.fading]                      # a setting of a few values
values = [true, false]
[unknowns.centralised]                 # a method that may have been one of several
values = ["centralised", "centralised-serial"]
[unknowns.averages]                    # what was averaged over draws
values = ["ratio of means", "mean of ratios"]
[[targets]]
name = "gain at 5 MHz"
kind = "gain"                          # mean, ratio of two means, or gain: that less 1
method = "optimum"
over = "fixed"
value = 0.88
tolerance = 0.005                      # half of the last digit printed
limit = "at least"                     # or "at most"; without it the value itself
at = { bandwidth_hz = 5e6 }            # settings of this number
along = { devices = [10, 20] }         # it has to come out at each of them
"""

from dataclasses import dataclass
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from msopt import PROBLEMS, ParameterError
from msopt.errors import describe, did_you_mean
from msopt.files.scenario_toml import load_toml
from msopt.files.whole_files import read_as
from msopt.methods import methods_of
from msopt.model.scenario import Problem
from msopt.model.validation import LARGEST, LARGEST_WHOLE, SMALLEST
from reports.calibration.unknowns import AVERAGES, RANGES, Space, Unknown
from reports.studies.points import NUMBERS
from reports.studies.quoted import QUOTED, UPLINK_SET, Quoted, Statistic
from reports.studies.settings import SETTINGS, WHOLE_SETTINGS, scenario_at
from reports.studies.study import (
    MOST_POINTS,
    OPTIMUM,
    Number,
    Study,
    Value,
    beside,
    known_or_raise,
    once_or_raise,
    validated,
)

BUNDLED = {"multispin": "[MS]", "uldl": "[UD]"}
"""The files of the papers by name."""
_ALONG = {"bandwidth_hz": (5e6, 20e6)}
"""Where a paper's number that holds everywhere is asked for."""
_READ = ("averages", "realisations")
"""What may be unknown and is no setting: what was averaged, over how many draws."""
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


class StatedBase(BaseModel):
    """What is known: the problem, what is drawn or read, and the settings of all points."""

    model_config = _STRICT

    problem: Problem = "heterogeneous"
    presets: list[str] = []
    scenarios: list[str] = []
    draws: int = Field(default=1, ge=1, le=MOST_POINTS)
    seed: int = Field(default=0, ge=0, le=LARGEST_WHOLE)
    realisations: int | None = Field(default=None, ge=1)
    fixed: dict[str, Value] = {}
    options: dict[str, dict[str, Value]] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.presets) == bool(self.scenarios):
            raise ValueError("exactly one of presets and scenarios is needed, with at least one name")
        return self

    @property
    def bases(self) -> list[str]:
        """The presets or the scenarios."""
        return self.presets or self.scenarios


class TargetNumber(BaseModel):
    """One quoted number; the keys are in the head of this module."""

    model_config = _STRICT

    name: str
    of: str = ""
    kind: Statistic = "mean"
    method: str = OPTIMUM
    over: str = ""
    quantity: str = "goodput_tokens_per_s"
    value: Number
    tolerance: Annotated[Number, Field(gt=0.0)]
    limit: Literal["at least", "at most"] | None = None
    unit: str = ""
    at: dict[str, Value] = {}
    along: dict[str, Annotated[list[Value], Field(min_length=1)]] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.kind == "mean") == bool(self.over):
            raise ValueError("`over` names the method below a ratio or gain, and a mean has none")
        for key, size in (("value", abs(self.value)), ("tolerance", self.tolerance)):  # whose quotient is a misfit
            if size and not SMALLEST <= size <= LARGEST:
                raise ValueError(f"{key} is further from 1 than a factor of {LARGEST:g}")
        known_or_raise("quantity", self.quantity, NUMBERS)
        if len(self.along) > 1:
            raise ValueError("`along` has one setting")
        for name in (*self.at, *self.along):
            known_or_raise("at", name, SETTINGS)
        return self

    def record(self, base: str) -> Quoted:
        """As the papers' numbers are kept."""
        low = -inf if self.limit == "at most" else self.value - self.tolerance
        high = inf if self.limit == "at least" else self.value + self.tolerance
        return Quoted(
            id=self.name, paper="", preset=base, sentence=self.name, statistic=self.kind, scheme=self.method,
            over=self.over, quoted=self.value, low=low, high=high,
            unit=self.unit or ("token/s" if self.kind == "mean" else "times" if self.kind == "ratio" else "1"),
        )  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A number that is looked for: its record, the settings that it is asked for at, and of what quantity."""

    record: Quoted
    conditions: tuple[dict[str, Any], ...]
    quantity: str


class Calibration(BaseModel):
    """The content of a file; checked, with one line for the first fault."""

    model_config = _STRICT

    name: str = "calibration"
    settings: int = Field(default=64, ge=2, le=2**16)
    starts: int = Field(default=6, ge=0, le=1000)
    base: StatedBase
    unknowns: dict[str, Unknown] = Field(min_length=1)
    quoted: list[str] = []
    targets: list[TargetNumber] = []

    @model_validator(mode="after")
    def _check(self) -> Self:
        once_or_raise("quoted", self.quoted)
        once_or_raise("targets", [*self.quoted, *(target.name for target in self.targets)])
        for name in self.quoted:
            known_or_raise("quoted", name, [record.id for record in QUOTED])
        if not self.quoted and not self.targets:
            raise ValueError("there is no number to meet: quoted is empty, and there are no [[targets]]")
        self.study(self.base.bases)
        for name, unknown in self.unknowns.items():
            self._check_unknown(name, unknown)
        for asked in self.asked():
            if asked.record.preset not in self.base.bases:
                raise ValueError(f"{asked.record.id} is of {asked.record.preset}, which is not in [base]")
        return self

    def _check_unknown(self, name: str, unknown: Unknown) -> None:
        methods = [method.name for method in methods_of(self.base.problem)]
        known = names_of_unknowns(self.base.problem)
        if name not in known:
            raise ValueError(f"unknowns: {describe(name)} is no setting{did_you_mean(name, known)}")
        if name in SETTINGS or name in RANGES:
            if name in self.base.fixed:
                raise ValueError(f"{name} stands in both [unknowns] and base.fixed")
            return
        if not unknown.values or unknown.each:
            raise ValueError(f"unknowns.{name}: has `values` alone")
        for value in unknown.values:
            if name == "realisations":
                if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                    raise ValueError(f"unknowns.realisations: {describe(value)} is not a whole number of at least 1")
                continue
            known_or_raise(f"unknowns.{name}", str(value), AVERAGES if name == "averages" else methods)

    @property
    def space(self) -> Space:
        """What is unknown."""
        return Space.of(self.unknowns, self.base.bases)

    def asked(self) -> tuple[Asked, ...]:
        """The numbers that are looked for, in the order of the file."""
        of = {record.id: record for record in QUOTED}
        found = []
        for name in self.quoted:
            record = of[name]
            along = {record.along: list(_ALONG[record.along])} if record.along else {}
            found.append(Asked(record=record, conditions=_conditions(record.at, along), quantity=NUMBERS[0]))
        for target in self.targets:
            if not target.of and len(self.base.bases) > 1:
                raise ValueError(
                    f"target {describe(target.name)}: `of` has to say which of {', '.join(self.base.bases)}"
                )
            record = target.record(target.of or self.base.bases[0])
            found.append(
                Asked(record=record, conditions=_conditions(target.at, target.along), quantity=target.quantity)
            )
        return tuple(found)

    def readings(self) -> list[dict[str, str]]:
        """Every way to read what is no setting: which averages, which methods."""
        found: list[dict[str, str]] = [{}]
        for name, unknown in self.unknowns.items():
            if name not in SETTINGS and name not in RANGES:
                found = [reading | {name: str(value)} for reading in found for value in unknown.values or ()]
        return found

    def study(self, bases: list[str], methods: list[str] | None = None) -> Study:
        """The study that solves points of some bases."""
        base = self.base
        needed = methods or self.methods()
        return Study(
            problem=base.problem,
            presets=bases if base.presets else [],
            scenarios=bases if base.scenarios else [],
            methods=needed,
            draws=base.draws,
            seed=base.seed,
            exact_up_to_devices=0,
            fixed=base.fixed,
            options={name: given for name, given in base.options.items() if name in needed or methods is None},
        )

    def methods(self) -> list[str]:
        """All methods of the numbers, in every reading."""
        named = dict.fromkeys(name for asked in self.asked() for name in asked.record.methods)
        replaced = {name: unknown.values or () for name, unknown in self.unknowns.items() if name in named}
        return [str(method) for name in named for method in replaced.get(name, [name]) if method != UPLINK_SET] or [
            OPTIMUM
        ]


def names_of_unknowns(*problems: Problem) -> list[str]:
    """What may be unknown: settings, which method of the problems (of any where none is named), how it was read."""
    methods = [method.name for problem in problems or PROBLEMS for method in methods_of(problem)]
    return list(dict.fromkeys([*SETTINGS, *methods, *RANGES, *_READ]))


def _conditions(at: Any, along: Any) -> tuple[dict[str, Any], ...]:
    whole = {
        name: int(value) if name in WHOLE_SETTINGS and isinstance(value, float) and value.is_integer() else value
        for name, value in at.items()
    }
    return tuple(whole | {name: value} for name, values in along.items() for value in values) or (whole,)


def parse_calibration(text: str) -> Calibration:
    """The calibration of a text; ParameterError in one line, without the file's name."""
    return validated(
        Calibration, load_toml(text), [*StatedBase.model_fields, *Unknown.model_fields, *TargetNumber.model_fields]
    )


def read_calibration(file: str) -> Calibration:
    """The calibration of a path or a bundled name; a path wins if it exists.

    Raises
    ------
    ParameterError
        In one line: file, key, value, what is allowed.
    """
    if file in BUNDLED and not Path(file).exists():
        return parse_calibration(files(__package__).joinpath(f"targets/{file}.toml").read_text(encoding="utf-8"))
    if not Path(file).exists():
        raise ParameterError(
            f"{describe(file)} is neither a file nor one of {', '.join(BUNDLED)}{did_you_mean(file, BUNDLED)}"
        )

    def checked(text: str) -> Calibration:
        calibration = parse_calibration(text)
        found = beside(file, calibration.base.scenarios)
        calibration = calibration.model_copy(update={"base": calibration.base.model_copy(update={"scenarios": found})})
        check_ends(calibration)
        return calibration

    return read_as(file, checked)


def check_ends(calibration: Calibration) -> None:
    """Draw every number's setting once at either end of every unknown; ParameterError for what no scenario has."""
    for asked in calibration.asked():
        base = asked.record.preset
        for point in calibration.space.ends():
            settings = calibration.base.fixed | calibration.space.settings(point, base)
            for condition in asked.conditions:
                scenario_at(base, settings | condition, 0)
