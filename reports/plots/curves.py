"""Tidy tables of means and intervals as figures: lines against a number, bars against a word."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from msopt.arrays import FloatArray
from reports.plots.style import GREY, Look, end_labels, looks, new_panel, set_title, styled
from reports.rows import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_FEW = 8
"""So many points on the horizontal axis have a tick each."""

_ABOVE = 0.06
"""Room above and below the data, as a share of their range."""


@styled
def curve_panel(
    table: "DataFrame", x: str, *, x_label: str, y_label: str, title: str = "", log2: bool = False
) -> Figure:
    """One panel: a line for each scheme against a number, its interval as a band, its name at its end.

    Parameters
    ----------
    table : DataFrame
        Columns `x`, `scheme`, `mean`, `low`, `high` (NaN where there is no interval).
    x : str
        Column on the horizontal axis.
    x_label, y_label : str
        With their units.
    title : str
    log2 : bool
        Whether the horizontal axis is logarithmic.
    """
    figure, axes = new_panel(title)
    if log2:
        axes.set_xscale("log", base=2)
    styles = looks(table["scheme"])
    ends = []
    for place, (scheme, look) in enumerate(styles.items()):
        rows = table[table["scheme"] == scheme].sort_values(x)
        at, mean = rows[x].to_numpy(dtype=float), rows["mean"].to_numpy(dtype=float)
        low, high = (rows[name].to_numpy(dtype=float) for name in ("low", "high"))
        axes.fill_between(at, low, high, color=look.colour, alpha=0.13, linewidth=0.0)
        _line(axes, at, mean, look, place, len(styles))
        known = np.flatnonzero(np.isfinite(mean))
        if len(at) == 1 < table[x].nunique():
            _named_point(axes, float(at[0]), float(mean[0]), look)
        elif known.size:
            ends.append((look.label, float(mean[known[-1]]), look.colour))
    _frame(axes, table, x)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if len(ends) > 1:
        end_labels(axes, ends)
    else:
        set_title(axes, ": ".join(text for text in (title, ends[0][0]) if text))
    return figure


def _named_point(axes: "Axes", x: float, y: float, look: Look) -> None:
    axes.annotate(
        look.label, (x, y), xytext=(2, -9), textcoords="offset points", va="top", fontsize=8.0, color=look.colour
    )


def _line(axes: "Axes", at: FloatArray, mean: FloatArray, look: Look, place: int, of: int) -> None:
    """A line whose markers stand apart from those of other lines that lie on it; a single point is a large marker."""
    step = max(1, len(at) // 8)
    axes.plot(
        at,
        mean,
        color=look.colour,
        marker=look.marker,
        markersize=11.0 if len(at) == 1 else None,
        linestyle=look.line,
        markevery=(place * step // max(of, 1), step),
        markerfacecolor=look.colour if look.line in ("-", "") else "white",
        zorder=3.0 + (of - place) / of,
        clip_on=False,
    )


def _frame(axes: "Axes", table: "DataFrame", x: str) -> None:
    """Limits with some room, from 0 where the data come near it; ticks where the points are, if those are few."""
    values = table[["mean", "low", "high"]].to_numpy(dtype=float)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = _ABOVE * ((high - low) or abs(high) or 1.0)
    axes.set_ylim(0.0 if 0.0 <= low < 0.4 * high else low - room, high + room)
    at = np.unique(table[x].to_numpy(dtype=float))
    if len(at) <= _FEW:
        axes.set_xticks(at, [f"{value:g}" for value in at], minor=False)
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=bool(np.all(at == np.round(at)))))
    axes.margins(x=0.03)


@styled
def bar_panel(table: "DataFrame", *, x_label: str, title: str = "") -> Figure:
    """One panel: a bar for each scheme with its interval and its value.

    Parameters
    ----------
    table : DataFrame
        Columns `scheme`, `mean`, `low`, `high`.
    x_label : str
        What the bars measure, with its unit.
    title : str
    """
    figure, axes = new_panel(title, 0.9 + 0.27 * len(table))
    styles = looks(table["scheme"])
    for place, row in enumerate(rows_of(table)):
        look = styles[row["scheme"]]
        mean, low, high = (np.nan if row[name] is None else float(row[name]) for name in ("mean", "low", "high"))
        first = place == 0
        axes.barh(
            place,
            mean,
            height=0.66,
            facecolor=look.colour,
            edgecolor="black",
            linewidth=0.6,
            hatch="" if first else "////",
            alpha=1.0 if first else 0.55,
        )
        if np.isfinite(low) and high > low:
            axes.plot([low, high], [place, place], color="black", linewidth=1.0, marker="|", markersize=5)
        end = high if np.isfinite(high) else mean
        axes.annotate(f"{mean:.4g}", (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.set_yticks(range(len(table)), [styles[scheme].label for scheme in table["scheme"]], parse_math=False)
    axes.set_ylim(len(table) - 0.45, -0.55)
    axes.grid(False, axis="y")
    axes.margins(x=0.16)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(x_label)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(GREY)
    return figure
