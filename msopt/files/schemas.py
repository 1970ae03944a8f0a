"""JSON Schema of the files that people write, so that an editor tells a fault while it is typed.

The models that read the files are the source; units, words and domains are those of `msopt.model.fields`. A schema
says less than the reader: sums, orders and what depends on another key stay the reader's.
"""

from typing import Any, TypeAlias

from pydantic import TypeAdapter

from msopt.files.control_json import ControlFile
from msopt.files.scenario_toml import ScenarioFile
from msopt.model.fields import KEYS, Key
from msopt.model.validation import LARGEST, Choice, Number, Whole

Schema: TypeAlias = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> Schema:
    """Of a scenario file: every table and key with its unit, its meaning and its domain."""
    schema = schema_of(ScenarioFile, "A scenario of msopt")
    tables = schema["$defs"]
    for row in KEYS:
        tables[row.table]["properties"][row.key] |= _of_key(row)
    device = tables["devices"]
    of_laws = [device["properties"][key] for key in ("acceptance", "acceptance_std", "acceptance_curve")]
    for law in (of_laws[0], of_laws[1], of_laws[2]["items"]):
        law |= {"minimum": 0, "maximum": 1}
    device["anyOf"] = [{"required": [law]} for law in ("acceptance", "acceptance_curve", "profile")]
    schema["properties"]["devices"]["minItems"] = 1
    return schema


def control_schema() -> Schema:
    """Of a control, or of the reaction to rejections."""
    return schema_of(ControlFile, "A control or a reaction of msopt", nulls=True)


def schema_of(model: Any, title: str, *, nulls: bool = False) -> Schema:
    """A model's schema without the names that pydantic makes up, and without null, where no file of the kind has it."""
    return {"$schema": DIALECT, **_plain(TypeAdapter(model).json_schema(), nulls), "title": title}


def _of_key(row: Key) -> Schema:
    unit = f" [{row.unit}]" if row.unit not in ("", "1") else ""
    said: Schema = {"description": f"{row.words}{unit}".replace("`", "")} if row.words else {}
    domain = row.domain
    if isinstance(domain, Choice):
        return said | {"enum": list(domain.words)}
    if isinstance(domain, Whole):
        return said | {"minimum": domain.least, "maximum": domain.most}
    if not isinstance(domain, Number):
        return said
    if domain.largest is not None:
        return said | {"minimum": -domain.largest, "maximum": domain.largest}
    return said | {"exclusiveMinimum" if domain.above_zero else "minimum": 0, "maximum": LARGEST}


def _plain(schema: Any, nulls: bool, names: bool = False) -> Any:
    """One schema, or, where `names` says so, a table of schemas by name."""
    if isinstance(schema, list):
        return [_plain(part, nulls) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value if key == "enum" else _plain(value, nulls, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if names or key not in ("title", "default", "description")
    }
    if names or nulls or "anyOf" not in kept:
        return kept
    one, *others = [part for part in kept["anyOf"] if part != {"type": "null"}]
    if others:
        return kept | {"anyOf": [one, *others]}
    del kept["anyOf"]
    return one | kept
