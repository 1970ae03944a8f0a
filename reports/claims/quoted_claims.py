"""A claim for every number that the papers quote: each its own test, by the statistic that the papers plot."""

import math
from typing import TYPE_CHECKING

from reports.claims.comparisons import SHORT
from reports.claims.judging import Case, Claim, mean_of_ratios_words, number_words, range_words, within
from reports.studies.paper_figures import GOODPUT, pair
from reports.studies.quoted import QUOTED, REALISATIONS, UPLINK_SET, Quoted

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_FIGURES = ("ms_fig6", "ms_fig7", "ms_fig8")
_SETTINGS = ("devices", "bandwidth_hz")
_WHAT = {
    "mean": "Mean over the draws",
    "ratio": "Ratio of the two means over the draws",
    "gain": "Ratio of the two means over the draws, less 1",
}


def claims_of(paper: str) -> tuple[Claim, ...]:
    """One claim for each quoted number of a paper."""
    return tuple(_claim(record) for record in QUOTED if record.paper == paper)


def _claim(record: Quoted) -> Claim:
    if math.isinf(record.low):
        reach = f"at most {number_words(record.high, record.unit)}"
    elif math.isinf(record.high):
        reach = f"at least {number_words(record.low, record.unit)}"
    else:
        reach = f"from {range_words(record.low, record.high, record.unit)}"
    everywhere = f", at every value of {record.along}" if record.along else ""
    return Claim(
        id=record.id,
        paper=record.paper,
        sentence=record.sentence,
        test=f"{_WHAT[record.statistic]}{everywhere}: its whole interval lies where numbers are printed so, {reach}"
        + (_CHOSEN if record.statistic == "mean" and record.scheme != UPLINK_SET else ""),
        cases=lambda draws: _cases(record, draws),
    )


_CHOSEN = (
    "; no independent evidence, since transmit power and draft time, which the paper does not state, were chosen to "
    "come near"
)


def _cases(record: Quoted, draws: "Draws") -> list[Case]:
    if record.scheme == UPLINK_SET:
        rows = draws["ud_fig6"].drop_duplicates(["pair", "draw"])
        sizes = rows[rows["pair"] == pair(record.preset)]["best_uplink_devices"]
        return [_case(record, SHORT[pair(record.preset)], {UPLINK_SET: sizes})]
    for figure in _FIGURES:
        table = _rows(record, draws[figure])
        if len(table):
            return [_case(record, name, rows) for name, rows in _points(record, table)]
    return []


def _rows(record: Quoted, table: "pd.DataFrame") -> "pd.DataFrame":
    """The draws of a figure at the record's setting, a column for each method; empty where it has none."""
    mine = table[table["pair"] == pair(record.preset)]
    stated = {*record.at, record.along}
    # Of what a record does not state the preset's own is meant: a figure that varies it is another one.
    varied = any(key in mine and mine[key].nunique() > 1 for key in _SETTINGS if key not in stated)
    if varied or not set(record.methods) <= set(mine["scheme"]) or (record.along and record.along not in mine):
        return mine.iloc[:0]
    for key, value in record.at.items():
        mine = mine[mine[key] == value] if key in mine else mine.iloc[:0]
    keys = [record.along] if record.along else []
    wide = mine.pivot(index=[*keys, "draw"], columns="scheme", values=GOODPUT)
    return wide[[method for method in record.methods if method in wide]].dropna()


def _points(record: Quoted, table: "pd.DataFrame") -> list[tuple[str, dict[str, "pd.Series[float]"]]]:
    name = SHORT[pair(record.preset)]
    if not record.along:
        return [(name, {method: table[method] for method in record.methods})]
    return [
        (f"{name} at {record.along} = {value:g}", {method: rows[method] for method in record.methods})
        for value, rows in table.groupby(level=record.along)
    ]


def _case(record: Quoted, name: str, goodputs: "dict[str, pd.Series[float]]") -> Case:
    estimate, ratios, words = record.estimate(goodputs), record.mean_of_ratios(goodputs), []
    if ratios is not None:
        words.append(mean_of_ratios_words(ratios, record.unit))
    if record.paper == "[MS]" and estimate.draws > 1:
        ends = range_words(*record.of_so_many(goodputs), record.unit)
        words.append(f"{REALISATIONS} draws would print {ends}")
    return within(name, estimate, record.low, record.high, unit=record.unit, beside="; ".join(words))
