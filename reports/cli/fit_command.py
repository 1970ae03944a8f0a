"""The command `msopt fit`: the costs of a round from throughputs that someone measured at a server."""

from typing import TYPE_CHECKING, Any

import numpy as np

from msopt.files.whole_files import read_as
from msopt.model.fields import KEYS
from msopt.numerics.intervals import LEVEL
from reports.cli import arguments as opt
from reports.shared.output import emit
from reports.shared.words import literal, number, per_cent

if TYPE_CHECKING:
    from rich.console import Console

    from verification.throughput_fit import ThroughputFit, ThroughputRow


def fit(file: opt.Throughputs, *, form: opt.Form = "table", output: opt.JsonOutput = None) -> None:
    """Fit the verification and drafting times of a scenario to throughputs at batch sizes and draft lengths."""
    from reports.cli.throughput_csv import parse_throughputs
    from verification.throughput_fit import POOR, fit_throughputs

    def fitted(text: str) -> "tuple[list[ThroughputRow], ThroughputFit]":
        rows = parse_throughputs(text)
        return rows, fit_throughputs(rows)

    rows, found = read_as(file, fitted)
    worst = int(np.abs(found.relative_residuals).argmax())
    off = float(found.relative_residuals[worst])
    warnings = []
    if found.told_with:
        warnings.append(
            f"the rows do not tell {', '.join(found.told_with)} apart from the other costs, which hold them; measure "
            "two batch sizes at two lengths each"
        )
    if found.negative:
        warnings.append(f"{', '.join(found.negative)} came out negative and is left out")
    if not found.holds:
        warnings.append(
            f"the model does not hold: a round at batch size {rows[worst].batch} and length {rows[worst].draft_length} "
            f"takes {per_cent(abs(off))} {'more' if off > 0.0 else 'less'} than fitted; above {per_cent(POOR)} the "
            "costs are no costs of a round"
        )
    record = {
        "rows": len(rows),
        "costs": {key: vars(cost) for key, cost in found.costs.items()},
        "level": LEVEL,
        "largest_relative_residual": abs(off),
        "holds": found.holds,
        "warnings": warnings,
    }
    emit(record, lambda console: _show(console, record), form=form, output=output, warnings=warnings)


def _show(console: "Console", record: dict[str, Any]) -> None:
    """The table of a scenario file, to be pasted there."""
    keys = {key.field: key.key for key in KEYS if key.table == "server"}
    console.print(literal("[server]"))
    for field, cost in record["costs"].items():
        ends = "" if cost["low"] is None else f"  # {number(cost['low'])} to {number(cost['high'])} at 95 %"
        console.print(f"{keys[field]} = {number(cost['seconds'])}{ends}")
    verdict = "the model holds" if record["holds"] else "the model does not hold"
    off = per_cent(record["largest_relative_residual"])
    console.print(f"# {verdict}: no round of {record['rows']} is further off than {off}")
