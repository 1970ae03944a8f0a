"""The command `msopt schema`: JSON Schema of the files that people write, for their editors."""

from typing import Annotated, Literal

import typer

from msopt.files.whole_files import write_text
from reports.cli import arguments as opt
from reports.shared.output import as_json, say

FileKind = Literal["scenario", "control", "study", "calibration", "faults"]


def schema(
    kind: Annotated[FileKind, typer.Argument(help="Of which file.")] = "scenario", output: opt.JsonOutput = None
) -> None:
    """Print the JSON Schema of a file that you write, with which an editor checks it while you type."""
    from reports.cli.file_schemas import SCHEMAS

    text = as_json(SCHEMAS[kind]())
    if output is not None:
        write_text(output, text)
    say(text, end="")
