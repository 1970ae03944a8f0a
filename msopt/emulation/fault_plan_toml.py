"""A plan of faults from its file: TOML with a table `[[faults]]` for each, `deadline_factor` and `seed` above them."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from msopt.emulation.faults import Fault, FaultPlan
from msopt.errors import ParameterError, describe, did_you_mean
from msopt.files.scenario_toml import load_toml
from msopt.files.whole_files import read_as

_PLAN_KEYS = tuple(field.name for field in fields(FaultPlan))
_FAULT_KEYS = tuple(field.name for field in fields(Fault))


def read_fault_plan(path: str | Path) -> FaultPlan:
    """The plan that a file holds.

    ParameterError for a file that cannot be read or holds something else: one line with the file, the fault and the
    key.
    """
    return read_as(path, parse_fault_plan)


def parse_fault_plan(text: str) -> FaultPlan:
    r"""The plan that a text holds.

    >>> parse_fault_plan('deadline_factor = 2.0\n[[faults]]\nkind = "lost"\nprobability = 0.1').faults[0].kind
    'lost'
    """
    raw = load_toml(text)
    _check_keys(raw, _PLAN_KEYS)
    tables = raw.pop("faults", None)
    if not isinstance(tables, list) or not tables:
        raise ParameterError("no faults; at least one [[faults]] table is needed")
    return FaultPlan(faults=tuple(_fault(table, f"faults[{place}]") for place, table in enumerate(tables)), **raw)


def _fault(table: Any, place: str) -> Fault:
    try:
        if not isinstance(table, dict):
            raise ParameterError(f"{describe(table)} is not a table")
        _check_keys(table, _FAULT_KEYS)
        if "kind" not in table:
            raise ParameterError("kind is missing")
        names = table.get("devices")
        if names is not None:
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ParameterError(f"devices = {describe(names)} is not a list of names")
            table = table | {"devices": tuple(names)}
        return Fault(**table)
    except ParameterError as error:
        raise ParameterError(f"{place}: {error}") from None


def _check_keys(given: dict[str, Any], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) or f"; known are {', '.join(known)}"
            raise ParameterError(f"unknown key {describe(key)}{hint}")
