"""Records as tables in a terminal; every name is shown as it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msopt import Scenario
from reports.shared.protocols import CENTRALISED, SERVER_ONLY, verdict
from reports.shared.summary import parameters
from reports.shared.words import literal, number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Record = dict[str, Any]
_LINES: tuple[tuple[str, str, str, float], ...] = (
    ("goodput", "token/s", "goodput_tokens_per_s", 1.0),
    ("its standard error", "token/s", "standard_error_tokens_per_s", 1.0),
    ("proven bound", "token/s", "bound_tokens_per_s", 1.0),
    ("bound above goodput", "%", "gap", 100.0),
    ("without drafts", "token/s", SERVER_ONLY, 1.0),
    ("drafts at the server", "token/s", CENTRALISED, 1.0),
    ("round", "s", "round_s", 1.0),
    ("  draft and upload", "s", "draft_upload_s", 1.0),
    ("  verification", "s", "verify_s", 1.0),
    ("  expected correction", "s", "correction_s", 1.0),
    ("time per token, θ", "s", "per_token_s", 1.0),
    ("optimum, real lengths", "token/s", "relaxed_goodput_tokens_per_s", 1.0),
    ("price of bandwidth", "token/s per MHz", "price_of_bandwidth_tokens_per_s_per_hz", 1e6),
)
_COLUMNS: tuple[tuple[str, str, float, int], ...] = (
    ("length\n[token]", "draft_length", 1.0, 6),
    ("band\n[MHz]", "bandwidth_hz", 1e-6, 5),
    ("rejected\n[prob.]", "rejection_probability", 1.0, 4),
    ("up\n[prob.]", "uplink_probability", 1.0, 4),
    ("down\n[prob.]", "downlink_probability", 1.0, 4),
    ("tokens\n[/round]", "expected_tokens", 1.0, 5),
    ("goodput\n[token/s]", "goodput_tokens_per_s", 1.0, 5),
)
_ABBREVIATED = {"homogeneous": "homog.", "heterogeneous": "heterog."}
_SHORT = tuple(column for column in _COLUMNS if column[1] in ("draft_length", "bandwidth_hz"))


def _show_read(console: "Console", scenario: Scenario) -> None:
    """What was read, each number beside its reading with a prefix."""
    table = new_table(("read from the file", "value", "that is"), numbers=())
    for row in parameters(scenario):
        add_row(table, *row)
    console.print(table)


def show_solutions(console: "Console", scenario: Scenario, records: Sequence[Record]) -> None:
    """One solution, or several side by side; then the scenario as read."""
    methods = {record["method"] for record in records}
    heads = [f"{record['problem']}" for record in records]
    solvers = {f", solver {record['solver']}" for record in records if record["solver"]}
    console.print(literal(scenario.name), style="bold")
    console.print(f"method {', '.join(sorted(methods))}{''.join(sorted(solvers))}")
    _show_verdicts(console, records)
    _show_lines(console, heads, records)
    _show_devices(console, records)
    _show_read(console, scenario)


def show_score(console: "Console", scenario: Scenario, record: Record) -> None:
    """The score of someone's control, or of someone's reaction; then the scenario as read."""
    console.print(literal(scenario.name), style="bold")
    if "correction_s" in record and "problem" not in record:
        best = record["best_correction_s"]
        console.print(f"correction {number(record['correction_s'])} s; the best reaction takes {number(best)} s")
        _show_exchanges(console, record["devices"])
    else:
        _show_verdicts(console, [record])
        _show_lines(console, [str(record["problem"])], [record])
        _show_devices(console, [record])
    table = new_table(("constraint", "least slack", "unit", "device"), numbers=(1,))
    for slack in record["slacks"]:
        add_row(table, slack["constraint"], number(slack["least_slack"]), slack["unit"], slack["device"] or "all")
    console.print(table)
    _show_read(console, scenario)


def _show_verdicts(console: "Console", records: Sequence[Record]) -> None:
    """Whether drafting pays: a line for each problem, which is named where there are several."""
    for record in records:
        console.print((f"{record['problem']}: " if len(records) > 1 else "") + verdict(record))


def show_reaction(console: "Console", record: Record) -> None:
    """The best reaction to one outcome."""
    console.print(f"correction {number(record['correction_s'])} s")
    _show_exchanges(console, record["devices"])


def show_bundled(console: "Console", rows: Sequence[tuple[str, int, str]]) -> None:
    """The bundled scenarios: name, number of devices, what each is."""
    table = new_table(("name", "devices", "what it is"), numbers=(1,))
    for name, devices, about in rows:
        add_row(table, name, str(devices), about)
    console.print(table)


def _show_lines(console: "Console", heads: Sequence[str], records: Sequence[Record]) -> None:
    table = new_table(("", "unit", *heads), numbers=range(2, 2 + len(heads)))
    for label, unit, key, factor in _LINES:
        if any(record[key] is not None for record in records):
            digits = 3 if unit == "%" else 6
            add_row(table, label, unit, *(_scaled(record, key, factor, digits) for record in records))
    console.print(table)


def _show_devices(console: "Console", records: Sequence[Record]) -> None:
    """A row for each device; of several solutions side by side lengths and bandwidths only."""
    held = [record for record in records if record["devices"]]
    if not held:
        console.print("This method has no one control: there is no row for each device.")
        return
    columns: list[tuple[str, list[str]]] = []
    for record in held:
        devices, single = record["devices"], len(records) == 1
        for head, key, factor, digits in _COLUMNS if single else _SHORT:
            if any(device[key] is not None for device in devices):
                title = head if single else f"{_ABBREVIATED.get(record['problem'], record['problem'])}\n{head}"
                columns.append((title, [_scaled(device, key, factor, digits) for device in devices]))
    table = new_table(("device", *(title for title, _ in columns)), numbers=range(1, 1 + len(columns)))
    for k, device in enumerate(held[0]["devices"]):
        add_row(table, device["name"], *(cells[k] for _, cells in columns))
    console.print(table)


def _show_exchanges(console: "Console", devices: Sequence[Record]) -> None:
    timed = [("exchange\n[s]", "exchange_s", 1.0)] if devices and "exchange_s" in devices[0] else []
    columns = [("bandwidth\n[MHz]", "bandwidth_hz", 1e-6), ("downlink power\n[W]", "downlink_power_w", 1.0), *timed]
    table = new_table(("device", "mode", *(head for head, _, _ in columns)), numbers=range(2, 2 + len(columns)))
    for device in devices:
        add_row(table, device["name"], device["mode"], *(_scaled(device, key, factor) for _, key, factor in columns))
    console.print(table)


def _scaled(record: Record, key: str, factor: float, digits: int = 6) -> str:
    value = record[key]
    return number(None if value is None else factor * value, digits)


def new_table(heads: Sequence[str], numbers: Sequence[int]) -> "Table":
    """A table with heads, the columns of numbers to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for place, head in enumerate(heads):
        if place in numbers:
            table.add_column(Text(head), justify="right", no_wrap=True, vertical="bottom")
        else:
            table.add_column(Text(head), overflow="fold", vertical="bottom")
    return table


def add_row(table: "Table", *cells: str) -> None:
    """A row of texts, shown as they are."""
    from rich.text import Text

    table.add_row(*(Text(literal(cell)) for cell in cells))
