"""The scenario file: TOML to the fields of a Scenario and back (design section 2).

Which keys stand in which table, and of which type they are, is `msopt.model.fields`'s subject, which values they may
have `scenario_checks`'s, and what a profile puts in their place `profile_keys`'s. Every error is one line: file, key,
value, what is allowed.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import GenericAlias
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from msopt.errors import ParameterError, describe, did_you_mean
from msopt.files.profile_keys import Profiles
from msopt.model.acceptance import Acceptance
from msopt.model.fields import KEYS, ONE_FOR_ALL, PER_DEVICE, Key, keys_of
from msopt.model.scenario_checks import device_label


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _model(table: str) -> type[_Table]:
    """The keys of one table with their types; what no file needs may be left out."""
    keys: dict[str, Any] = {
        row.key: (row.kind, ...) if row.required else (row.kind | None, None) for row in keys_of(table)
    }
    return create_model(table, __base__=_Table, **keys)


_MODELS = {table: _model(table) for table in dict.fromkeys(row.table for row in KEYS)}
_NEEDED = tuple(dict.fromkeys(row.table for row in KEYS if row.required))
_OF_FILE: dict[str, Any] = {
    "name": (str | None, None),
    **{table: (model, ... if table in _NEEDED else model()) for table, model in _MODELS.items()},
    "devices": (GenericAlias(list, (_MODELS["devices"],)), ...),
}
ScenarioFile = create_model("ScenarioFile", __base__=_Table, **_OF_FILE)
"""What a file holds, before profiles are read and laws are checked."""
_SPELLINGS = (
    (".*\u2212", 'the minus sign is U+2212, write "-"'),
    (r"[+-]?\d{1,3}(,\d{3})+", "write numbers without commas"),
    (r"[+-]?[\d.]+(?![eE][+-]?\d)\s*[A-Za-z%]", "write the number alone, in the unit that the key names"),
    (r"[+-]?(\.\d|\d+\.(\D|$))", "write a digit on both sides of the point"),
    (r"[+-]?0\d", "write the number without leading zeros"),
    ("True$", "write true"),
    ("False$", "write false"),
)
_MOST_PARTS = 64
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS}}}")
_TYPES = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "model_type": "a table",
}


def parse(text: str, name: str, folder: Path | None = None) -> dict[str, Any]:
    """The fields of the Scenario that a file's text describes; `name` is used where the text gives none.

    Profiles that it names are read, those named by a path from there relative to `folder`; the fields hold their
    numbers. ParameterError for a text that describes no scenario; in one line, without the file's name.
    """
    raw = load_toml(text)
    _check_tables(raw)
    try:
        file = ScenarioFile.model_validate(raw).model_dump()
    except ValidationError as error:
        raise ParameterError(_first_fault(error, raw)) from None
    names = tuple(device["name"] for device in file["devices"])
    profiles = Profiles(folder)
    file["server"] = profiles.server(file["server"], len(names))
    devices = [profiles.device(device, device_label(names, k)) for k, device in enumerate(file["devices"])]
    for k, device in enumerate(devices):
        _check_laws(device, device_label(names, k))
    given = {row.field: file[row.table][row.key] for row in ONE_FOR_ALL}
    return {
        "name": name if file["name"] is None else file["name"],
        **{field: value for field, value in given.items() if value is not None},
        "device_names": names,
        "acceptance": Acceptance.of(
            [0.0 if device["acceptance"] is None else device["acceptance"] for device in devices],
            [device["acceptance_std"] or 0.0 for device in devices],
            [device["acceptance_curve"] for device in devices],
        ),
        **{row.field: _each(row, devices, names) for row in PER_DEVICE},
    }


def _each(row: Key, devices: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Any] | None:
    """One key of all devices; None where it is optional and no device has it."""
    values = [device[row.key] for device in devices]
    if not row.optional or all(value is not None for value in values):
        return values
    if all(value is None for value in values):
        return None
    if row.default is None:
        k = values.index(None)
        raise ParameterError(f"{device_label(names, k)}: {row.key} is missing; other devices have it")
    return [row.default if value is None else value for value in values]


def to_toml(fields: Mapping[str, Any], comment: str = "") -> str:
    """The text that `parse` turns back into the same fields, under a comment, each line behind a "# ".

    It holds numbers only: what came from a profile stays the same when the profile is measured anew or left behind.
    """
    content: dict[str, Any] = {"name": fields["name"]}
    for row in ONE_FOR_ALL:
        if fields[row.field] is not None:
            content.setdefault(row.table, {})[row.key] = fields[row.field]
    content["devices"] = [
        {
            "name": name,
            **_law_keys(fields["acceptance"], k),
            **{row.key: float(fields[row.field][k]) for row in PER_DEVICE if fields[row.field] is not None},
        }
        for k, name in enumerate(fields["device_names"])
    ]
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    return head + tomli_w.dumps(content)


def _law_keys(acceptance: Acceptance, k: int) -> dict[str, Any]:
    curve = acceptance.curves[k]
    if curve is not None:
        return {"acceptance_curve": curve.tolist()}
    law = {"acceptance": float(acceptance.mean[k])}
    if acceptance.std[k] != 0.0:
        law["acceptance_std"] = float(acceptance.std[k])
    return law


def load_toml(text: str) -> dict[str, Any]:
    """What a TOML text holds; ParameterError in one line, without the file's name, where it is none."""
    if long := _LONG_KEY.search(text):
        # Reading one takes a time that grows with the square of its parts.
        number = text.count("\n", 0, long.start()) + 1
        raise ParameterError(f"line {number}: a key of more than {_MOST_PARTS} parts: {describe(long[0])}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = text.splitlines()[int(place[1]) - 1] if place else ""
        raise ParameterError(f"{error}{_spelling_hint(line)}") from None
    except (ValueError, RecursionError) as error:
        # Integers of thousands of digits, and tables in tables without end.
        raise ParameterError(f"cannot be read as TOML: {error}") from None


def _spelling_hint(line: str) -> str:
    value = line.partition("=")[2].partition("#")[0].strip()
    return next((f"; {hint}" for pattern, hint in _SPELLINGS if re.match(pattern, value)), "")


def _check_tables(raw: dict[str, Any]) -> None:
    """Name what pydantic's own messages would not: a table that is misspelt, missing or empty."""
    for key in raw:
        if key not in ScenarioFile.model_fields:
            raise ParameterError(f"unknown table or key {describe(key)}{_suggest(key, ScenarioFile.model_fields)}")
    for table in _NEEDED:
        if table != "devices" and table not in raw:
            raise ParameterError(f"no [{table}] table")
    if not raw.get("devices"):
        raise ParameterError("no devices; at least one [[devices]] table is needed")


def _first_fault(error: ValidationError, raw: dict[str, Any]) -> str:
    """One line for the fault that explains the others: a misspelt key before the key it leaves missing."""
    faults = error.errors()
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    place = [part for part in fault["loc"] if isinstance(part, str | int)]
    table, key = str(place[0]), str(place[-1])
    where = table
    if table == "devices" and len(place) > 1:
        k = int(place[1])
        device = raw["devices"][k]
        name = device.get("name") if isinstance(device, dict) else None
        where = f"devices[{k}]" + (f" ({describe(name)})" if isinstance(name, str) else "")
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key {key}{_suggest(key, _MODELS[table].model_fields)}"
    if fault["type"] == "missing":
        return f"{where}: {key} is missing"
    if isinstance(place[-1], int) and len(place) > 2:
        key = f"{place[-2]}[{place[-1]}]"
    allowed = _TYPES.get(fault["type"], fault["msg"])
    kind = "a text, not " if isinstance(fault["input"], str) else "not "
    label = where if len(place) == 1 or (table == "devices" and len(place) == 2) else f"{where}: {key}"
    return f"{label} = {describe(fault['input'])} is {kind}{allowed}"


def _suggest(key: str, known: Iterable[str]) -> str:
    if own := did_you_mean(key, known):
        return own
    for table, model in _MODELS.items():
        if key in model.model_fields:
            return f"; it belongs in [[{table}]]" if table == "devices" else f"; it belongs in [{table}]"
    other = [(near, table) for table, model in _MODELS.items() for near in model.model_fields]
    near = difflib.get_close_matches(key, [name for name, _ in other], n=1)
    return (
        f"; the nearest known key is {near[0]} in [{dict(other)[near[0]]}]"
        if near
        else f"; known are {', '.join(known)}"
    )


def _check_laws(device: Mapping[str, Any], label: str) -> None:
    given = [key for key in ("acceptance", "acceptance_curve") if device[key] is not None]
    if len(given) != 1:
        found = "both are there" if given else "neither is there"
        raise ParameterError(f"{label}: exactly one of acceptance and acceptance_curve is needed; {found}")
    if device["acceptance_std"] is not None and device["acceptance"] is None:
        raise ParameterError(f"{label}: acceptance_std goes with acceptance, not with acceptance_curve")
    if device["acceptance_curve"] is not None and not device["acceptance_curve"]:
        raise ParameterError(f"{label}: acceptance_curve is empty; it needs S(1), S(2), ...")
