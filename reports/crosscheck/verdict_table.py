"""The cross-check's tables in a terminal: accuracy and verdict, then comparisons and times, then every failure."""

from typing import TYPE_CHECKING

from reports.crosscheck.crosscheck_tables import CrosscheckTables, with_fractions
from reports.shared.rows import Row
from reports.shared.table_terminal import show_table
from reports.shared.text_table import Column, Table, number_column, words_column
from reports.shared.words import literal

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_FAILURES = 10
_NAMES = (words_column("formulation", "formulation"), words_column("solver", "solver"))
_ACCURACY = (
    *_NAMES,
    words_column("tests", "tests"),
    Column("solved_of", "solved", numeric=True),
    number_column("objective_difference_worst", "objective\nworst", digits=2),
    number_column("objective_difference_median", "\nmedian", digits=2),
    number_column("minimiser_difference_worst", "minimiser\nworst", digits=2),
    number_column("minimiser_difference_median", "\nmedian", digits=2),
    number_column("certificate_worst", "certificate\nworst", digits=2),
    words_column("verdict", "verdict"),
)
_COMPARISON = (
    *_NAMES,
    number_column("above_algorithm_least", "above paper's\nleast", digits=2),
    number_column("above_algorithm_median", "\nmedian", digits=2),
    number_column("above_brute_force_least", "above all\nleast", digits=2),
    number_column("above_brute_force_median", "\nmedian", digits=2),
    Column("prices_agree_of", "prices\nagree", numeric=True),
    number_column("build_s", "build", "ms", digits=3),
    number_column("first_solve_s", "first solve", "ms", digits=3),
    number_column("re_solve_s", "re-solve", "ms", digits=3),
)


def show_crosscheck(console: "Console", found: CrosscheckTables) -> None:
    """Everything the tables say."""
    verdicts = [with_fractions(row) for row in found.verdicts]
    show_table(console, Table.of("Relative difference from the closed form", verdicts, _ACCURACY, whole=True))
    solved = [row for row in verdicts if row["solver"] is not None]
    title = "Against the papers' algorithms and enumeration (K at most 4); median times"
    show_table(console, Table.of(title, solved, _COMPARISON, whole=True))
    for verdict in verdicts:
        notes, trials = ([row for row in rows if _same(row, verdict)] for rows in (found.notes, found.trials))
        _show_troubles(console, verdict, notes, trials)
    failed = sum(row["verdict"] == "FAIL" for row in verdicts)
    console.print(f"\n{len(verdicts)} rows, {len(verdicts) - failed} pass, {failed} fail", style="bold")
    saved = [row["worst_scenario"] for row in verdicts if row["worst_scenario"]]
    if saved:
        console.print(f"The worst scenario of each row is in {literal(saved[0].rpartition('/')[0] or '.')}/, to replay")


def _same(row: Row, verdict: Row) -> bool:
    return bool(row["formulation"] == verdict["formulation"] and row["solver"] == verdict["solver"])


def _show_troubles(console: "Console", verdict: Row, notes: list[Row], trials: list[Row]) -> None:
    label = literal(" by ".join(part for part in (verdict["formulation"], verdict["solver"]) if part))
    faults, unsolved, refused = (
        [literal(note["text"]) for note in notes if note["kind"] == kind]
        for kind in ("fault", "not solved", "not asked")
    )
    for text in faults:
        console.print(f"FAIL {label}: {text}")
    for text in unsolved[:_SHOWN_FAILURES]:
        console.print(f"not solved: {label}, {text}")
    if len(unsolved) > _SHOWN_FAILURES:
        console.print(f"not solved: {label}, {len(unsolved) - _SHOWN_FAILURES} more, all in the JSON")
    for text in refused:
        console.print(f"not asked in some trials: {label}: {text}")
    solved = [trial for trial in trials if trial["status"] == "optimal"]
    for trial in solved:
        if why := trial["minimiser_apart"]:
            told = f"trial {trial['trial']}: {why}, objective within {abs(trial['objective_difference']):.0e}"
            console.print(f"minimisers {trial['minimiser_difference']:.1e} apart: {label}, {told}")
    for trial in solved:
        if why := trial["price_apart"]:
            console.print(f"prices {trial['price_difference']:.1e} apart: {label}, trial {trial['trial']}: {why}")
