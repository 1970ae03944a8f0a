"""What `msopt compare` found, in a terminal: sentences first, then a ranked table for each problem."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msopt.model.problems import KINDS
from reports.page.lead import certainty, lengths_told
from reports.page.what_if import MOST_DEVICES
from reports.shared.protocols import verdict
from reports.shared.rows import Row
from reports.shared.table_terminal import show_table
from reports.shared.text_table import (
    Table,
    decimals_column,
    gain_column,
    number_column,
    quantity_column,
    words_column,
)
from reports.shared.words import against, gain, literal, number

if TYPE_CHECKING:
    from rich.console import Console

_MOST_ELASTICITIES, _LEAST_ELASTICITY = 3, 0.005
"""How many numbers of the scenario are named, and which are not worth it."""
_LENGTHS = replace(words_column("lengths", "length", numeric=True), unit="token")
_METHODS = (
    words_column("method", "method"),
    replace(words_column("whose", "whose"), text=lambda whose: str(whose).partition(",")[0]),
    quantity_column("goodput_tokens_per_s"),
    number_column("standard_error_tokens_per_s", "±", digits=2),
    number_column("utility_value", "utility", digits=5),
    gain_column("gain_over_server_only", "over no\ndrafts"),
    _LENGTHS,
    decimals_column("seconds", "took", "s", ".2f"),
)


def show_compared(console: "Console", record: Row, names: Sequence[str], following: str) -> None:
    """The answer, a table for each problem, what more would bring, and what to try next.

    Parameters
    ----------
    console : Console
    record : dict
        Of `compared`.
    names : sequence of str
        Of the devices.
    following : str
        The next command, in words.
    """
    best = next(row for row in record["problems"] if row["problem"] == record["best_problem"])
    console.print(literal(record["scenario"]), style="bold")
    console.print(verdict(best))
    lengths = lengths_told(
        [(literal(name), length) for name, length in zip(names, record["draft_length"], strict=True)]
    )
    console.print(f"Best is problem {best['problem']} by {literal(best['method'])}: draft {lengths}.")
    console.print(" ".join([*_gains(best), certainty(best)]))
    for row in record["problems"]:
        _show_problem(console, row, [one for one in record["methods"] if one["problem"] == row["problem"]])
    for line in _more(record):
        console.print(line)
    console.print(f"next: {literal(following)}")


def _gains(best: Row) -> Iterator[str]:
    """What the optimum gains over simpler rules."""
    rules = {best["closest"]: ("the best of the simpler rules", best["closest_gain"])}
    rules[best["one_length"]] = ("one length for all", best["one_length_gain"])
    told = [f"{against(ratio)} {words} ({rule})" for rule, (words, ratio) in rules.items() if ratio is not None]
    if told:
        yield f"That is {' and '.join(told)}."


def _show_problem(console: "Console", problem: Row, methods: Sequence[Row]) -> None:
    title = f"{problem['problem']}: {KINDS[problem['problem']].title.lower()}"
    console.print()
    if problem["reason"] is not None:
        console.print(f"{title}: {literal(problem['reason'])}")
        return
    answered = [row | {"lengths": _lengths(row)} for row in methods if row["reason"] is None]
    show_table(console, Table.of(title, answered, _METHODS))
    for reason, names in _without(methods).items():
        console.print(f"no number: {', '.join(names)}: {literal(reason)}")


def _lengths(row: Row) -> str | None:
    ends = row["least_draft_length"], row["greatest_draft_length"]
    return None if None in ends else " to ".join(dict.fromkeys(map(str, ends)))


def _without(methods: Sequence[Row]) -> dict[str, list[str]]:
    """The methods without an answer by the reason, which many may share."""
    found: dict[str, list[str]] = {}
    for row in methods:
        if row["reason"] is not None:
            reason = row["reason"].removeprefix("--").removeprefix(f"method {row['method']}")
            reason = reason.removeprefix(f" of problem {row['problem']}").lstrip(": ")
            found.setdefault(reason, []).append(literal(row["method"]))
    return found


def _more(record: Row) -> Iterator[str]:
    """What more of one thing would bring to the best problem: each change solved anew, then small ones."""
    if record["changes"]:
        yield f"What more would bring to problem {record['best_problem']}, solved anew:"
        for row in sorted(record["changes"], key=lambda row: -row["gain"]):
            yield f"  {gain(row['gain']):>8}  {row['change']}"
    elif record["devices"] > MOST_DEVICES:
        yield f"Changes are solved anew with at most {MOST_DEVICES} devices."
    small = [row for row in record["elasticities"] if abs(row["elasticity"]) >= _LEAST_ELASTICITY]
    told = [f"{row['parameter']} {number(row['elasticity'], 2)} %" for row in small[:_MOST_ELASTICITIES]]
    if told:
        yield f"1 % more of a number, lengths kept: {', '.join(told)}."
