"""The cross-check's records as tables: accuracy and verdict, then comparisons and times, then every failure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.shared.tables import add_row, new_table
from reports.shared.words import literal, number

if TYPE_CHECKING:
    from rich.console import Console

Record = dict[str, Any]
_SHOWN_FAILURES = 10


def show_crosscheck(console: "Console", records: Sequence[Record]) -> None:
    """Everything the records say."""
    _show_accuracy(console, records)
    _show_comparison(console, records)
    for record in records:
        _show_troubles(console, record)
    failed = sum(not record["passed"] for record in records)
    console.print(f"\n{len(records)} rows, {len(records) - failed} pass, {failed} fail", style="bold")
    saved = [record["worst_scenario"] for record in records if record["worst_scenario"]]
    if saved:
        console.print(f"The worst scenario of each row is in {literal(saved[0].rpartition('/')[0] or '.')}/, to replay")


def _show_accuracy(console: "Console", records: Sequence[Record]) -> None:
    heads = ("formulation", "solver", "tests", "solved", "objective\nworst", "\nmedian", "minimiser\nworst", "\nmedian")
    table = new_table((*heads, "certificate\nworst", "verdict"), numbers=range(3, 9))
    for record in records:
        objective, minimiser = record["objective_difference"], record.get("minimiser_difference")
        add_row(
            table,
            record["formulation"],
            record["solver"] or "–",
            record["statement"].partition(":")[0],
            f"{record['solved']}/{record['trials']}",
            *_pair(objective, "worst"),
            *_pair(minimiser, "worst"),
            number(record.get("certificate"), 2),
            _verdict(record),
        )
    console.print("Relative difference from the closed form", style="bold")
    console.print(table)


def _verdict(record: Record) -> str:
    if not record["trials"]:
        return "not asked"
    return "pass" if record["passed"] else "FAIL"


def _show_comparison(console: "Console", records: Sequence[Record]) -> None:
    heads = ("formulation", "solver", "above paper's\nleast", "\nmedian", "above all\nleast", "\nmedian")
    prices = ("prices\nagree", "build\n[ms]", "first solve\n[ms]", "re-solve\n[ms]")
    table = new_table((*heads, *prices), numbers=range(2, 10))
    for record in records:
        if record["solver"] is None:
            continue
        seconds, price = record["seconds"], record["price"]
        add_row(
            table,
            record["formulation"],
            record["solver"],
            *_pair(record["above_algorithm"], "least"),
            *_pair(record["above_brute_force"], "least"),
            "–" if price is None else f"{price['agree']}/{price['trials']}",
            *(
                number(None if seconds[name] is None else 1e3 * seconds[name], 3)
                for name in ("build", "first_solve", "re_solve")
            ),
        )
    console.print("Against the papers' algorithms and enumeration (K at most 4); median times", style="bold")
    console.print(table)


def _pair(record: Record | None, first: str) -> tuple[str, str]:
    if record is None:
        return "–", "–"
    return number(record[first], 2), number(record["median"], 2)


def _show_troubles(console: "Console", record: Record) -> None:
    label = " by ".join(part for part in (record["formulation"], record["solver"]) if part)
    for fault in record["faults"]:
        console.print(f"FAIL {literal(label)}: {literal(fault)}")
    for failure in record["failures"][:_SHOWN_FAILURES]:
        told = f"{failure['scenario']}: {failure['status']}. {failure['cause']}"
        console.print(f"not solved: {literal(label)}, {literal(told)}")
    more = len(record["failures"]) - _SHOWN_FAILURES
    if more > 0:
        console.print(f"not solved: {literal(label)}, {more} more, all in the JSON")
    if record.get("not_asked"):
        console.print(f"not asked in some trials: {literal(label)}: {literal(record['not_asked'])}")
    for apart in (record.get("minimisers") or {"apart": ()})["apart"]:
        why, off = apart["reason"] or "no reason known", abs(apart["objective_difference"])
        told = f"trial {apart['trial']}: {why}, objective within {off:.0e}"
        console.print(f"minimisers {apart['difference']:.1e} apart: {literal(label)}, {told}")
    for apart in (record.get("price") or {"apart": ()})["apart"]:
        why = apart["reason"] or "no reason known"
        console.print(f"prices {apart['difference']:.1e} apart: {literal(label)}, trial {apart['trial']}: {why}")
