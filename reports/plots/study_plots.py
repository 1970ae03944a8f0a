"""The papers' figures: each tidy table of means and intervals as one panel for each pair and setting."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from reports.plots.curves import bar_panel, curve_panel, near_zero
from reports.plots.style import OF, Panel
from reports.shared.quantities import axis_of, axis_of_quantity

if TYPE_CHECKING:
    from pandas import DataFrame

OPTIMUM = "optimum"
_FACETS = {"power_ratio": "ratio", "devices": "K ="}
"""Columns that part the panels of a figure, and what stands before their values."""
_CROSSINGS = 4.0
_POWERS: "dict[str, Literal[2, 10]]" = {"power_ratio": 2, "rounds": 10}
"""Quantities that are drawn by powers."""
_VALUES = ("mean", "low", "high")


def study_panels(name: str, table: "DataFrame", about: dict[str, Any]) -> list[Panel]:
    """The panels of a table, pairs in their order.

    Parameters
    ----------
    name : str
        Of the table; panels are numbered after it.
    table : DataFrame
        `pair`, the x column, `scheme`, `mean`, `low`, `high`; perhaps `method`, `share`, `power_ratio`.
    about : dict
        Its entry in the manifest: x, y and y_unit are used.
    """
    x, y_axis = about["x"], axis_of_quantity(about["y"], about["y_unit"])
    x_axis = axis_of(x)
    table = table.assign(**{column: table[column].astype(float) * y_axis.factor for column in _VALUES})
    table = table.assign(**{x: table[x].astype(float) * x_axis.factor}, scheme=_schemes(table))
    panels = []
    of_draw_0 = table.assign(**dict.fromkeys(_VALUES, table["example"] * y_axis.factor)) if "example" in table else None
    facets = list(_facets(table, x))
    if of_draw_0 is not None:
        facets += [(f"{title}, draw 0 alone", rows) for title, rows in _facets(of_draw_0, x)]
    one = len(facets) == 1
    if one:
        facets = [(about["title"].partition(" ([")[0], facets[0][1])]
    from_zero = any(near_zero(rows) for _, rows in facets)
    for place, (title, rows) in enumerate(facets, start=1):
        if rows[x].nunique() == 1:
            figure = bar_panel(rows.reset_index(drop=True), x_label=y_axis.axis, title=title)
        else:
            figure = curve_panel(
                rows,
                x,
                x_label=x_axis.axis,
                y_label=y_axis.axis,
                title=title,
                powers_of=_POWERS.get(x, 0),
                y_top=_y_top(rows),
                from_zero=from_zero,
            )
        panels.append(Panel(f"{name}-{place}", about["title"] if one else f"{about['title']}: {title}", figure))
    return panels


def _y_top(rows: "DataFrame") -> float | None:
    """[UD] Fig. 6: the uplink of the weakest devices takes so long that the crossing would not be seen beside it."""
    downlink = rows.loc[rows["scheme"] == "downlink", "mean"]
    return _CROSSINGS * float(downlink.max()) if len(downlink) and "uplink_devices" in rows else None


def _schemes(table: "DataFrame") -> "pd.Series[Any]":
    """The scheme of each row; `optimum` says which method it was, a share of which."""
    scheme = table["scheme"].astype(str)
    if OPTIMUM in set(scheme):
        ours = table.loc[scheme == OPTIMUM, "method"] if "method" in table else pd.Series(["decomposition"])
        methods = sorted(set(ours.dropna()))
        name = methods[0] if len(methods) == 1 else "exact or decomposition"
        scheme = scheme.where(scheme != OPTIMUM, name)
    if "share" in table:
        scheme = table["share"].astype(str) + OF + scheme
    return scheme


def _facets(table: "DataFrame", x: str) -> Iterator[tuple[str, "DataFrame"]]:
    columns = [column for column in ("pair", *_FACETS) if column in table and column != x]
    if not columns:
        yield "", table
        return
    for key, rows in table.groupby(columns, sort=False, dropna=False):
        named = dict(zip(columns, key, strict=True))
        parts = [str(named.pop("pair"))] if "pair" in named else []
        parts += [f"{_FACETS[column]} {value:g}" for column, value in named.items()]
        yield ", ".join(parts), rows
