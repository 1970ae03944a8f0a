"""What an inverse study found, in a terminal and on the page: tables and sentences from its record."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reports.shared.record import Record
from reports.shared.rows import Row, rows_of
from reports.shared.text_table import Column, Table, ratio_column, words_column, yes_column
from reports.shared.words import counted

if TYPE_CHECKING:
    from rich.console import Console

NUMBERS_SHOWN: tuple[Column, ...] = (
    words_column("number", "number"),
    words_column("unit_words", "unit"),
    words_column("quoted_words", "quoted", numeric=True),
    words_column("found_words", "at the best fit", numeric=True),
    words_column("reach", "where such papers would print it"),
    words_column("misfit_words", "misfit", numeric=True),
    yes_column("within", "within"),
    ratio_column("settings_within", "settings within"),
    words_column("given_words", "as it was", numeric=True),
    yes_column("given_within", "within"),
)
UNKNOWNS_SHOWN: tuple[Column, ...] = (
    words_column("unknown", "not stated"),
    words_column("range", "range"),
    words_column("best", "best fit"),
    words_column("left", "settings left"),
)


def fit_tables(record: Record, of: str = "") -> dict[str, Table]:
    """The tables of the numbers and of the unknowns, of the study whose tables begin with `of`; none where it has none.

    Their names have hyphens, as all that is shown.
    """
    found = {}
    for name, columns in (("calibration_numbers", NUMBERS_SHOWN), ("calibration_unknowns", UNKNOWNS_SHOWN)):
        if of + name in record.tables:
            rows = rows_of(record.tables[of + name])
            shown = [row | _number_words(row) for row in rows] if columns is NUMBERS_SHOWN else rows
            title = record.manifest["tables"][of + name]["title"]
            found[(of + name).replace("_", "-")] = Table.of(title, shown, columns)
    return found


def show_fit(console: "Console", record: Record) -> None:
    """Print them."""
    from reports.shared.table_terminal import show_table

    for table in fit_tables(record).values():
        show_table(console, table)


def fit_words(summary: Row) -> Iterator[str]:
    """What a study found, in sentences."""
    tried = f"{counted(summary['settings'], 'setting')} tried"
    tried += f", each read in {summary['readings']} ways" if summary["readings"] > 1 else ""
    how = f" ({summary['reading']})" if summary["reading"] else ""
    yield (
        f"{tried}; the best fit{how} has {summary['within_at_best']} of {counted(summary['numbers'], 'number')} within "
        f"tolerance, misfit {summary['misfit']:.3g} (as it was before: {summary['given_misfit']:.3g})."
    )
    if summary["plausible"]:
        yield f"Plausible, with every number within its tolerance: {counted(summary['left'], 'setting')}."
        return
    how = "no setting tried, and none that was searched for, meets" if summary["sought"] else "no setting tried meets"
    yield (
        f"Plausible: none; {how} together: {', '.join(summary['excluding'])}. "
        f"With tolerances {summary['wider']:.3g} times as wide one setting would meet all numbers. "
        f"In their place stand the nearest, of at most twice the least misfit: {counted(summary['left'], 'setting')}."
    )
    if summary["others_excluding"]:
        others = counted(summary["others_excluding"], "other set")
        yield f"No setting tried meets any of {others} of as many numbers, either."


def _number_words(row: Row) -> Row:
    """The numbers of a row as texts in its unit, per cent for "1"."""
    unit = row["unit"]
    limit = ", at most" if row["from"] is None else ", at least" if row["to"] is None else ""
    return {
        "unit_words": ("%" if unit == "1" else unit) + limit,
        "quoted_words": _shown(row["quoted"], unit),
        "found_words": _shown(row["found"], unit),
        "reach": None if row["low"] is None else f"{_shown(row['low'], unit)} to {_shown(row['high'], unit)}",
        "given_words": _shown(row["given"], unit),
        "misfit_words": f"{row['misfit']:.2f}",
    }


def _shown(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{100.0 * value if unit == '1' else value:.4g}"
