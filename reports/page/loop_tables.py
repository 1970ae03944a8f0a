"""The tables of the closed loop: played without models, and with those whose results are stored."""

from math import isnan
from typing import TYPE_CHECKING

from reports.plots.style import label_of
from reports.shared.record import Record
from reports.shared.rows import Row, rows_of
from reports.shared.text_table import Table, count_column, gain_column, number_column, ratio_column, words_column
from reports.shared.words import between, per_cent

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_LOOP_DRAWN = (
    words_column("problem", "problem"),
    words_column("method", "method"),
    count_column("device_rounds", "drafts played"),
    number_column("predicted_tokens_per_s", "predicted", "token/s", digits=5),
    number_column("goodput_tokens_per_s", "as played", "token/s", digits=5),
    words_column("range", "its interval [token/s]"),
    gain_column("predicted_gain", "ours above it, predicted"),
    gain_column("realised_gain", "as played"),
    words_column("gain_range", "its interval"),
)
_LOOP_COSTS = (
    words_column("effect", "effect"),
    words_column("late", "what comes late is"),
    words_column("size", "how much of it"),
    ratio_column("heterogeneous", "costs, heterogeneous"),
    words_column("heterogeneous_range", "its interval"),
    ratio_column("modes", "costs, modes"),
    words_column("modes_range", "its interval"),
)
_LOOP_MODELS = (
    words_column("pair", "result"),
    words_column("target", "target"),
    words_column("drafts", "drafts"),
    number_column("temperature", "temperature", digits=3),
    count_column("text_tokens", "a text", "token"),
    words_column("clock", "clock"),
    words_column("cpu", "machine"),
    words_column("date", "date"),
    words_column("note", "note"),
)
_LOOP_HEAD = (
    words_column("pair", "result"),
    words_column("problem", "problem"),
    words_column("method", "method"),
    words_column("prompts", "prompts"),
)
_LOOP_PLAYS = (
    *_LOOP_HEAD,
    count_column("device_rounds", "drafts played"),
    number_column("tokens_per_round", "tokens a round"),
    words_column("tokens_range", "its interval"),
    number_column("predicted_tokens_curve", "by the measured curve"),
    number_column("predicted_tokens_geometric", "by the geometric law"),
    ratio_column("tokens_more", "more than by the curve"),
    words_column("tokens_more_range", "its interval"),
    number_column("goodput", "goodput", "token/s"),
    words_column("goodput_range", "its interval [token/s]"),
    number_column("predicted_goodput_curve", "by the measured curve", "token/s"),
    number_column("predicted_goodput_geometric", "by the geometric law", "token/s"),
    ratio_column("goodput_more", "more than by the curve"),
    words_column("goodput_more_range", "its interval"),
    words_column("same_control", "the same control by"),
)
_LOOP_ORDER = (
    *(_LOOP_HEAD[place] for place in (0, 1, 3, 2)),
    words_column("against", "over"),
    gain_column("predicted_gain", "gain predicted"),
    words_column("predicted_range", "its interval"),
    gain_column("realised_gain", "delivered"),
    words_column("gain_range", "its interval"),
    ratio_column("difference", "delivered less predicted"),
    words_column("difference_range", "its interval"),
)
_LOOP_PHASES = (
    *_LOOP_HEAD,
    words_column("phase", "phase"),
    number_column("predicted_s", "predicted", "ms"),
    number_column("realised_s", "as played", "ms"),
    words_column("phase_range", "its interval [ms]"),
)
_LOOP_ASSUMPTIONS = (
    *_LOOP_HEAD,
    words_column("assumption", "assumption dropped"),
    words_column("of", "moves"),
    ratio_column("change", "the prediction by"),
    words_column("change_range", "its interval"),
)


def loop_tables(record: Record) -> dict[str, Table]:
    """By name; those of real models only where their results are stored."""
    tables, about = record.tables, record.manifest["tables"]
    drawn = tables["loop_drawn"]
    plays, order, phases = (tables[f"loop_{name}"] for name in ("plays", "order", "phases"))
    assumptions = tables["loop_assumptions"]
    every = {
        "drawn": (
            drawn.assign(
                method=drawn["method"].map(label_of),
                range=_between(drawn["low"], drawn["high"], digits=5),
                gain_range=_between(drawn["gain_low"], drawn["gain_high"]),
            ),
            _LOOP_DRAWN,
        ),
        "costs": (_costs_by_problem(tables["loop_costs"]), _LOOP_COSTS),
        "models": (tables["loop_models"], _LOOP_MODELS),
        "plays": (
            plays.assign(
                method=plays["method"].map(label_of),
                tokens_range=_between(plays["tokens_low"], plays["tokens_high"], digits=4),
                tokens_more_range=_between(plays["tokens_more_low"], plays["tokens_more_high"]),
                goodput_more_range=_between(plays["goodput_more_low"], plays["goodput_more_high"]),
                goodput_range=_between(plays["goodput_low"], plays["goodput_high"], digits=4),
            ),
            _LOOP_PLAYS,
        ),
        "order": (
            order.assign(
                method=order["method"].map(label_of),
                against=order["against"].map(label_of),
                gain_range=_between(order["low"], order["high"]),
                predicted_range=_between(order["predicted_low"], order["predicted_high"]),
                difference_range=_between(order["difference_low"], order["difference_high"]),
            ),
            _LOOP_ORDER,
        ),
        "phases": (
            phases.assign(
                method=phases["method"].map(label_of),
                phase_range=_between(phases["low_s"], phases["high_s"], digits=4, factor=1e3),
            ),
            _LOOP_PHASES,
        ),
        "assumptions": (
            assumptions.assign(
                method=assumptions["method"].map(label_of),
                change_range=_between(assumptions["low"], assumptions["high"]),
            ),
            _LOOP_ASSUMPTIONS,
        ),
    }
    return {
        f"loop-{name}": Table.of(about[f"loop_{name}"]["title"], rows_of(table), columns)
        for name, (table, columns) in every.items()
        if len(table)
    }


def _costs_by_problem(costs: "DataFrame") -> "DataFrame":
    """One row for each effect, with a column for each problem."""
    import pandas as pd

    rows: dict[tuple[str, ...], Row] = {}
    for row in rows_of(costs):
        kept = rows.setdefault(
            (row["effect"], row["late"] or "", row["size"]),
            {"effect": row["effect"], "late": row["late"], "size": row["size"]},
        )
        kept[row["problem"]] = row["cost"]
        kept[f"{row['problem']}_range"] = between(row["low"], row["high"])
    return pd.DataFrame(list(rows.values()))


def _between(low: "Series[float]", high: "Series[float]", digits: int | None = None, factor: float = 1.0) -> list[str]:
    """Intervals in words: shares in per cent, or numbers with some digits."""

    def words(end: float) -> str:
        return per_cent(end) if digits is None else f"{factor * end:.{digits}g}"

    ends = zip(low.astype(float), high.astype(float), strict=True)
    return ["–" if isnan(one) else f"{words(one)} to {words(other)}" for one, other in ends]
