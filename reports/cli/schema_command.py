"""The command `msopt schema`: JSON Schema of the files that people write, for their editors."""

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from msopt.files.schemas import Schema, control_schema, scenario_schema, schema_of
from reports.cli import arguments as opt
from reports.shared.output import as_json, say
from reports.studies.settings import SETTINGS
from reports.studies.study import Study

FileKind = Literal["scenario", "control", "study"]


def study_schema() -> Schema:
    """Of a study file; `fixed` and `axes` name the settings that there are."""
    found = schema_of(Study, "A study of msopt")
    for table in ("fixed", "axes"):
        found["properties"][table]["propertyNames"] = {"enum": list(SETTINGS)}
    return found


SCHEMAS: dict[FileKind, Callable[[], Schema]] = {
    "scenario": scenario_schema,
    "control": control_schema,
    "study": study_schema,
}


def schema(
    kind: Annotated[FileKind, typer.Argument(help="Of which file.")] = "scenario", output: opt.JsonOutput = None
) -> None:
    """Print the JSON Schema of a file that you write, with which an editor checks it while you type."""
    text = as_json(SCHEMAS[kind]())
    if output is not None:
        from msopt.files.whole_files import write_text

        write_text(output, text)
    say(text, end="")
