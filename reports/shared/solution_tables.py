"""Solutions, scores and reactions as tables in a terminal; every name is shown as it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msopt import Scenario
from reports.shared.protocols import CENTRALISED, SERVER_ONLY, verdict
from reports.shared.rows import Row
from reports.shared.summary import parameters
from reports.shared.table_terminal import show_table
from reports.shared.text_table import Column, Table, gap_column, number_column, quantity_column, words_column
from reports.shared.words import literal, number

if TYPE_CHECKING:
    from rich.console import Console

_LINES = (
    quantity_column("goodput_tokens_per_s", digits=6),
    quantity_column("standard_error_tokens_per_s", "its standard error", digits=6),
    quantity_column("bound_tokens_per_s", "proven bound", digits=6),
    gap_column("gap", "bound above goodput"),
    quantity_column(SERVER_ONLY, digits=6),
    quantity_column(CENTRALISED, digits=6),
    quantity_column("round_s"),
    quantity_column("draft_upload_s", "  draft and upload"),
    quantity_column("verify_s", "  verification", unit="s", digits=6),
    quantity_column("correction_s", "  expected correction"),
    quantity_column("per_token_s", "time per token, θ", unit="s", digits=6),
    quantity_column("relaxed_goodput_tokens_per_s", digits=6),
    quantity_column("price_of_bandwidth_tokens_per_s_per_hz"),
)
_DEVICES = (
    quantity_column("draft_length", "length", digits=6),
    quantity_column("bandwidth_hz", "band", digits=5),
    quantity_column("rejection_probability", "rejected", unit="prob.", digits=4),
    quantity_column("uplink_probability", "up", unit="prob.", digits=4),
    quantity_column("downlink_probability", "down", unit="prob.", digits=4),
    quantity_column("expected_tokens", unit="/round", digits=5),
    quantity_column("goodput_tokens_per_s"),
)
_SHORT = _DEVICES[:2]
_EXCHANGES = (
    words_column("name", "device"),
    words_column("mode", "mode"),
    quantity_column("bandwidth_hz", digits=6),
    quantity_column("downlink_power_w", unit="W", digits=6),
)
_TIMED = quantity_column("exchange_s")
_SLACKS = (
    words_column("constraint", "constraint"),
    number_column("least_slack", "least slack", digits=6),
    words_column("unit", "unit"),
    Column("device", "device", text=lambda device: device or "all"),
)


def _prices(price: float | list[float] | None) -> str:
    """One price, or the range of the devices'."""
    if price is None:
        return "–"
    ends = sorted({min(price), max(price)}) if isinstance(price, list) else [price]
    return " to ".join(number(end, 4) for end in ends)


_LIMITS = (
    words_column("name", "limit"),
    number_column("slack", "slack", digits=6),
    words_column("unit", "unit"),
    Column("price", "price, utility per unit", numeric=True, text=_prices),
)
_ABBREVIATED = {"homogeneous": "homog.", "heterogeneous": "heterog."}


def _show_read(console: "Console", scenario: Scenario) -> None:
    """What was read, each number beside its reading with a prefix."""
    columns = (Column("key", "read from the file"), Column("value", "value"), Column("reading", "that is"))
    show_table(console, Table.of("", [row._asdict() for row in parameters(scenario)], columns))


def show_solutions(console: "Console", scenario: Scenario, records: Sequence[Row], following: str) -> None:
    """One solution, or several side by side; then the scenario as read, and what to try next."""
    methods = {record["method"] for record in records}
    heads = [f"{record['problem']}" for record in records]
    solvers = {f", solver {record['solver']}" for record in records if record["solver"]}
    console.print(literal(scenario.name), style="bold")
    console.print(f"method {', '.join(sorted(methods))}{''.join(sorted(solvers))}")
    _show_verdicts(console, records)
    _show_lines(console, heads, records)
    _show_variant(console, records)
    _show_devices(console, records)
    _show_read(console, scenario)
    console.print(f"next: {literal(following)}")


def show_score(console: "Console", scenario: Scenario, record: Row) -> None:
    """The score of someone's control, or of someone's reaction; then the scenario as read."""
    console.print(literal(scenario.name), style="bold")
    if "correction_s" in record and "problem" not in record:
        best = record["best_correction_s"]
        console.print(f"correction {number(record['correction_s'])} s; the best reaction takes {number(best)} s")
        _show_exchanges(console, record["devices"])
    else:
        _show_verdicts(console, [record])
        _show_lines(console, [str(record["problem"])], [record])
        _show_variant(console, [record])
        _show_devices(console, [record])
    show_table(console, Table.of("", record["slacks"], _SLACKS, whole=True))
    _show_read(console, scenario)


def _show_variant(console: "Console", records: Sequence[Row]) -> None:
    """What a variant maximises, if that is not the sum, and what its limits leave."""
    for record in records:
        where = f"{record['problem']}: " if len(records) > 1 else ""
        if record["utility"] not in (None, "sum"):
            bound = record["utility_bound"]
            most = "" if bound is None else f", at most {number(bound, 6)}"
            console.print(f"{where}utility {literal(record['utility'])}: {number(record['utility_value'], 6)}{most}")
        if record["limits"]:
            show_table(console, Table.of(where.removesuffix(": "), record["limits"], _LIMITS, whole=True))


def _show_verdicts(console: "Console", records: Sequence[Row]) -> None:
    """Whether drafting pays: a line for each problem, which is named where there are several."""
    for record in records:
        console.print((f"{record['problem']}: " if len(records) > 1 else "") + verdict(record))


def show_reaction(console: "Console", record: Row) -> None:
    """The best reaction to one outcome."""
    console.print(f"correction {number(record['correction_s'])} s")
    _show_exchanges(console, record["devices"])


def show_bundled(console: "Console", rows: Sequence[Row]) -> None:
    """The bundled scenarios: name, number of devices, what each is."""
    columns = (Column("name", "name"), Column("devices", "devices", numeric=True), Column("about", "what it is"))
    show_table(console, Table.of("", rows, columns))


def _show_lines(console: "Console", heads: Sequence[str], records: Sequence[Row]) -> None:
    """A line for each number that any of the records has, a column for each record."""
    columns = [Column(str(place), head, numeric=True) for place, head in enumerate(heads)]
    rows = [
        {"words": line.words, "unit": line.unit}
        | {str(place): line.text(record[line.key]) for place, record in enumerate(records)}
        for line in _LINES
        if any(record[line.key] is not None for record in records)
    ]
    show_table(console, Table.of("", rows, (Column("words", ""), Column("unit", "unit"), *columns)))


def _show_devices(console: "Console", records: Sequence[Row]) -> None:
    """A row for each device; of several solutions side by side lengths and bandwidths only."""
    held = [record for record in records if record["devices"]]
    if not held:
        console.print("This method has no one control: there is no row for each device.")
        return
    rows = [{"name": device["name"]} for device in held[0]["devices"]]
    columns = [Column("name", "device")]
    for record in held:
        problem = record["problem"]
        for column in _DEVICES if len(records) == 1 else _SHORT:
            key = f"{problem} {column.key}"
            words = column.words if len(records) == 1 else f"{_ABBREVIATED.get(problem, problem)}\n{column.words}"
            columns.append(replace(column, key=key, words=words))
            for row, device in zip(rows, record["devices"], strict=True):
                row[key] = device[column.key]
    show_table(console, Table.of("", rows, columns))


def _show_exchanges(console: "Console", devices: Sequence[Row]) -> None:
    timed = (_TIMED,) if devices and "exchange_s" in devices[0] else ()
    show_table(console, Table.of("", devices, (*_EXCHANGES, *timed), whole=True))
