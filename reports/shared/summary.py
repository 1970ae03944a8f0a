"""What was read of a scenario, with units and prefixes, so that a person sees a slip of a unit."""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from msopt import PROBLEMS, Scenario
from msopt.arrays import FloatArray
from msopt.model.fields import ONE_FOR_ALL, PER_DEVICE, Key
from msopt.units import db_to_linear, w_to_dbm
from reports.shared.words import number, with_prefix


class Parameter(NamedTuple):
    """One line of the summary: the file's key, the value in the file's unit, and the same for a reader."""

    key: str
    value: str
    reading: str


_UNITS = ("Hz", "W", "bit", "s")
"""The order in which quantities are shown: those of one unit together."""
_DEFAULTS = {field.name: field.default for field in fields(Scenario)}


def parameters(scenario: Scenario) -> list[Parameter]:
    """Every parameter of a scenario that is not at its default; of the devices' numbers the range."""
    given = [row for row in ONE_FOR_ALL if getattr(scenario, row.field) != _DEFAULTS[row.field]]
    once = [row for row in given if row.kind is float and row.table != "variant"]
    return [
        Parameter("devices", str(scenario.device_count), ""),
        *(_quantity(scenario, row) for row in sorted(once, key=lambda row: [*_UNITS, row.unit].index(row.unit))),
        Parameter("draft_length", _lengths(scenario), ""),
        Parameter("acceptance", _range(scenario.acceptance.mean), _law(scenario)),
        *(
            _of_devices(row.key, getattr(scenario, row.field), row.unit)
            for row in PER_DEVICE
            if getattr(scenario, row.field) is not None
        ),
        *(_of_variant(scenario, row) for row in given if row.table == "variant"),
    ]


def _of_variant(scenario: Scenario, row: Key) -> Parameter:
    value = getattr(scenario, row.field)
    if row.kind is bool:
        return Parameter(row.place, str(value).lower(), "")
    if row.kind is str:
        return Parameter(row.place, value, "")
    return _quantity(scenario, row)._replace(key=row.place)


def _quantity(scenario: Scenario, row: Key) -> Parameter:
    value = getattr(scenario, row.field)
    unit = "" if row.unit == "1" else row.unit
    plain, read = f"{value:.12g} {unit}".rstrip(), with_prefix(value, unit).rstrip()
    remark = ""
    if row.field == "uplink_bandwidth_hz":
        remark = scenario.uplink_sharing
    elif row.field == "distribution_bits":
        remark = with_prefix(value / 8, "B")
    elif row.unit == "W":
        remark = f"{float(w_to_dbm(value)):.4g} dBm"
    key = row.key if row.key == row.field else row.place
    return Parameter(key, plain, ", ".join(text for text in (read if read != plain else "", remark) if text))


def _lengths(scenario: Scenario) -> str:
    """The limits of the first problem, and the least length of those that have another."""
    low = {problem: scenario.length_limits(problem)[0] for problem in PROBLEMS}
    least = low[PROBLEMS[0]]
    others = ", ".join(f"problem {problem}: from {other}" for problem, other in low.items() if other != least)
    return f"{least} to {scenario.max_draft_length} token" + (f" ({others})" if others else "")


def _of_devices(key: str, values: FloatArray, unit: str) -> Parameter:
    if unit == "dB":
        ratios = " to ".join(f"{float(db_to_linear(end)):.4g}" for end in _ends(values))
        return Parameter(key, _range(values, unit), f"{ratios} times the noise")
    unit = "" if unit == "1" else unit
    reading = " to ".join(with_prefix(end, unit, 4) for end in _ends(values)) if unit else ""
    return Parameter(key, _range(values, unit), reading)


def _ends(values: FloatArray) -> list[float]:
    return sorted({float(np.min(values)), float(np.max(values))})


def _range(values: FloatArray, unit: str = "") -> str:
    return f"{' to '.join(number(end) for end in _ends(values))} {unit}".rstrip()


def _law(scenario: Scenario) -> str:
    measured = sum(curve is not None for curve in scenario.acceptance.curves)
    beta = sum(
        curve is None and std > 0.0
        for curve, std in zip(scenario.acceptance.curves, scenario.acceptance.std, strict=True)
    )
    kinds = {"geometric": scenario.device_count - measured - beta, "measured curve, S(1) shown": measured, "Beta": beta}
    present = {kind: count for kind, count in kinds.items() if count}
    return next(iter(present)) if len(present) == 1 else ", ".join(f"{n} {kind}" for kind, n in present.items())
