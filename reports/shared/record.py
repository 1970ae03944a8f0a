"""Recorded data: what a report is made of, and nothing else. Written to a folder, and read back the same.

A folder holds `manifest.json`, `timings.json`, and for each table `tables/NAME.csv` and `tables/NAME.json` with the
same content in full precision (in CSV, what a spreadsheet would take for a formula has an apostrophe before it).
Everything but `timings.json` is the same bytes for the same seed on one machine.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msopt import ParameterError
from msopt.files.json_text import to_json
from msopt.files.whole_files import make_folder, read_text, write_text
from reports.shared.output import as_json
from reports.shared.rows import Row

if TYPE_CHECKING:
    import pandas as pd

_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
MANIFEST, TIMINGS, TABLES = "manifest.json", "timings.json", "tables"


@dataclass(frozen=True, eq=False)
class Record:
    """Tables, what they say, and where they came from.

    Attributes
    ----------
    manifest : dict
        "versions", "machine", "effort", "seed", "seeds", "scenario_hashes", "solver", "tolerances"; and "tables": for
        each table its "title", "paper_says" (None where no paper says anything), "source" (of the setting), "x" (the
        column along which it is drawn, or None), "y" (the quantity), "y_unit", and "columns", which names the unit
        of each column with one.
    tables : dict of DataFrame
        By name, in the order of the manifest.
    timings : dict
        What differs between two runs of one seed: dates, seconds.
    """

    manifest: dict[str, Any]
    tables: dict[str, "pd.DataFrame"]
    timings: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write every file whole, the manifest last.

        Raises
        ------
        ParameterError
            For a place that cannot be written.
        """
        place = folder / TABLES
        make_folder(place)
        for name, table in self.tables.items():
            write_text(place / f"{name}.csv", table_csv(table))
            write_text(place / f"{name}.json", table_json(table))
        write_text(folder / TIMINGS, as_json(self.timings))
        write_text(folder / MANIFEST, as_json(self.manifest))

    @classmethod
    def read(cls, folder: Path) -> "Record":
        """The record of a folder.

        Raises
        ------
        ParameterError
            Where a file is missing or is not what `write` left.
        """
        manifest, timings = _json(folder / MANIFEST), _json(folder / TIMINGS)
        if "tables" not in manifest:
            raise ParameterError(f"{folder / MANIFEST}: names no tables")
        tables = {name: table_from_json(_json(folder / TABLES / f"{name}.json")) for name in manifest["tables"]}
        return cls(manifest, tables, timings)


def undrawn(title: str, source: str, columns: Mapping[str, str] = MappingProxyType({})) -> Row:
    """What the manifest says of a table that is no figure of a paper; the columns with their units."""
    entry = {"title": title, "paper_says": None, "source": source, "x": None, "y": None, "y_unit": None}
    return entry | {"columns": dict(columns)}


def table_csv(table: "pd.DataFrame") -> str:
    """A table as CSV; a text that a spreadsheet would take for a formula has an apostrophe before it."""
    texts = {str(name): column.map(_plain) for name, column in table.items() if column.dtype.kind == "O"}
    return table.assign(**texts).to_csv(index=False, lineterminator="\n")


def _plain(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r", "\\r")  # which the writer would not put in quotes
    return f"'{text}" if cell.startswith(_BEGINS_A_FORMULA) else text


def table_json(table: "pd.DataFrame") -> str:
    """A table as {"columns": [...], "rows": [[...], ...]}, one row a line; what is missing is null."""
    cells = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    rows = ",\n".join(to_json(row, ensure_ascii=False) for row in cells)
    columns = to_json([str(column) for column in table.columns], ensure_ascii=False)
    return f'{{"columns": {columns}, "rows": [\n{rows}\n]}}\n'


def table_from_json(content: dict[str, Any]) -> "pd.DataFrame":
    """What `table_json` wrote."""
    import pandas as pd

    return pd.DataFrame(content["rows"], columns=content["columns"])


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ParameterError(f"{path}: is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ParameterError(f"{path}: is not a JSON object")
    return content
