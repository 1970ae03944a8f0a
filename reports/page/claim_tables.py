"""The tables of the claims: one line for each with its verdict and its number; how each is tested; every case."""

from typing import TYPE_CHECKING

from reports.claims.judging import number_words, range_words
from reports.shared.record import Record
from reports.shared.rows import Row, rows_of
from reports.shared.text_table import Table, count_column, words_column
from reports.shared.words import counted

if TYPE_CHECKING:
    from pandas import DataFrame

_LEAST = 1e-300
"""Below it a limit is the least number above 0."""
_CLAIM = words_column("id", "claim")
CLAIMS = (
    words_column("verdict", "verdict"),
    words_column("sentence", "what it says"),
    words_column("number", "number found", numeric=True),
    words_column("holds", "it holds in", numeric=True),
    words_column("paper", "paper"),
    _CLAIM,
)
TESTS = (
    _CLAIM,
    words_column("test", "how it was tested"),
    words_column("plausible", "over what the paper leaves open"),
    words_column("turns", "depends most on"),
)
CASES = (
    _CLAIM,
    words_column("case", "case"),
    words_column("outcome", "outcome"),
    words_column("number", "number found", numeric=True),
    words_column("range", "its interval", numeric=True),
    words_column("wanted", "where it has to lie"),
    count_column("draws", "draws"),
    words_column("beside", "beside"),
)


def claim_tables(record: Record) -> dict[str, Table]:
    """The sentences and the tacit assumptions, the tests of both and their cases, by name."""
    claims, cases = record.tables["claims"], record.tables["claims_cases"]
    shown = claims.assign(
        number=[_numbers(cases[cases["id"] == claim]) for claim in claims["id"]],
        holds=[holding(claim) for claim in rows_of(claims)],
    )
    return {
        "claims": Table.of("The papers' claims", rows_of(shown[shown["kind"] == "sentence"]), CLAIMS),
        "assumptions": Table.of(
            "The papers' tacit assumptions", rows_of(shown[shown["kind"] == "tacit assumption"]), CLAIMS
        ),
        "claims-tests": Table.of("How each claim was tested, and what it depends on", rows_of(claims), TESTS),
        "claims-cases": Table.of("Every case of every claim", [_case(row) for row in rows_of(cases)], CASES),
    }


def holding(claim: Row) -> str:
    """Of how many cases, draws or steps a claim holds in how many."""
    every = claim["holding"] + claim["failing"] + claim["unsettled"]
    return f"{claim['holding']} of {counted(every, claim['counted_in'].removesuffix('s'))}"


def _numbers(cases: "DataFrame") -> str:
    """The number of a claim's cases, from the least to the greatest; a dash where they have several units or none."""
    units = set(cases["unit"])
    if len(units) != 1:
        return "–"
    unit = str(units.pop())
    low, high = float(cases["value"].min()), float(cases["value"].max())
    alike = number_words(low, unit) == number_words(high, unit)
    return number_words(low, unit) if alike else range_words(low, high, unit)


def _case(row: Row) -> Row:
    unit, low, high = row["unit"], row["low"], row["high"]
    return row | {
        "number": number_words(row["value"], unit),
        "range": None if low is None or high is None or low == high else range_words(low, high, unit),
        "wanted": _wanted(row["wanted_low"], row["wanted_high"], unit),
        "beside": row["beside"] or None,
    }


def _wanted(low: float | None, high: float | None, unit: str) -> str | None:
    if low is not None and high is not None:
        return range_words(low, high, unit)
    if high is not None:
        return f"up to {number_words(high, unit)}"
    if low is None:
        return None
    return "above 0" if 0.0 < low < _LEAST else f"from {number_words(low, unit)}"
