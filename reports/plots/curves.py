"""Tidy tables of means and intervals as figures: lines against a number, bars against a word."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from msopt.arrays import FloatArray
from msopt.shown.palette import GREY
from reports.plots.style import End, Look, end_labels, looks, new_panel, plain_powers, readable, set_title, styled
from reports.shared.rows import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_FEW = 8
"""So many points on the horizontal axis have a tick each."""

_FEW_BANDS = 4
"""So many points on each of several lines have bars for their intervals, else a line has a band."""

_BAR_STEP_IN = 0.035
"""How far the bars of two lines stand apart [inch]."""

_ABOVE, _CUT = 0.06, 0.4
"""Room above and below the data, and how far beyond the means an interval is shown, as shares of the means' range."""

_NEAR = 0.4
"""The least of the means, as a part of their greatest, below which the axis begins at 0."""

_ROOM_FACTOR = 1.6
"""The same room where the axis is logarithmic."""


_WHOLE = 3.0
"""From such a range on ticks are whole numbers: no half a token."""


@styled
def curve_panel(
    table: "DataFrame",
    x: str,
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    powers_of: Literal[0, 2, 10] = 0,
    y_top: float | None = None,
    from_zero: bool = False,
) -> Figure:
    """One panel: a line for each scheme against a number, its interval as a band or bars, its name at its end.

    Parameters
    ----------
    table : DataFrame
        Columns `x`, `scheme`, `mean`, `low`, `high` (NaN where there is no interval).
    x : str
        Column on the horizontal axis.
    x_label, y_label : str
        With their units.
    title : str
    powers_of : int
        2 for a logarithmic horizontal axis, 10 for two logarithmic axes.
    y_top : float, optional
        Where the vertical axis ends, whatever lies above.
    from_zero : bool
        Whether it begins at 0, as it does where the means come near that; for panels beside each other to be alike.
    """
    figure, axes = new_panel(title)
    if powers_of:
        axes.set_xscale("log", base=powers_of)
    if powers_of == 10:
        axes.set_yscale("log")
    styles = looks(table["scheme"])
    ends = []
    for place, (scheme, look) in enumerate(styles.items()):
        rows = table[table["scheme"] == scheme].sort_values(x)
        at, mean = rows[x].to_numpy(dtype=float), rows["mean"].to_numpy(dtype=float)
        low, high = (rows[name].to_numpy(dtype=float) for name in ("low", "high"))
        if len(at) > _FEW_BANDS or len(styles) == 1:
            axes.fill_between(at, low, high, color=look.colour, alpha=0.13, linewidth=0.0)
        else:  # bands over each other would fill the panel
            _bars(axes, at, low, high, look, place - (len(styles) - 1) / 2)
        _line(axes, at, mean, look, place, len(styles), clip=y_top is not None)
        known = np.flatnonzero(np.isfinite(mean))
        if len(at) == 1 < table[x].nunique():
            _named_point(axes, float(at[0]), float(mean[0]), look)
        elif known.size:
            ends.append(_end(look, at[known], mean[known], y_top))
    _frame(axes, table, x, y_top, from_zero or near_zero(table))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if len(ends) > 1:
        end_labels(axes, ends)
    elif len(styles) == 1:
        label = ends[0].label
        set_title(axes, label if title in label else f"{title}: {label}")
    return figure


def _bars(axes: "Axes", at: FloatArray, low: FloatArray, high: FloatArray, look: Look, step: float) -> None:
    """Intervals of few points, beside those of the other lines."""
    aside = ScaledTranslation(_BAR_STEP_IN * step, 0.0, axes.figure.dpi_scale_trans)
    axes.vlines(at, low, high, color=look.colour, linewidth=1.2, alpha=0.6, transform=axes.transData + aside)


def _end(look: Look, at: FloatArray, mean: FloatArray, y_top: float | None) -> End:
    """The last point of a line, or where it leaves the axes at their top."""
    above = np.flatnonzero(mean > (np.inf if y_top is None else y_top))
    if y_top is None or not len(above) or not above[0]:
        return End(look.label, float(mean[-1]), look.colour)
    crossing = slice(above[0] - 1, above[0] + 1)
    return End(look.label, y_top, look.colour, float(np.interp(y_top, mean[crossing], at[crossing])))


def _inside(look: Look, points: int) -> str:
    """Colour inside a marker: full on solid lines and single points; where there is no line, points show through."""
    if look.line == "-" or points == 1:
        return look.colour
    return "white" if look.line else "none"


def _named_point(axes: "Axes", x: float, y: float, look: Look) -> None:
    axes.annotate(
        look.label,
        (x, y),
        xytext=(7, 2),
        textcoords="offset points",
        va="bottom",
        fontsize=8.0,
        color=readable(look.colour),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
        zorder=5.0,
    )


def _line(axes: "Axes", at: FloatArray, mean: FloatArray, look: Look, place: int, of: int, clip: bool) -> None:
    """A line whose markers stand apart from those of other lines that lie on it; a single point is a large marker."""
    step = max(1, len(at) // 8)
    axes.plot(
        at,
        mean,
        color=look.colour,
        marker=look.marker,
        markersize=11.0 if len(at) == 1 else None,
        linestyle=look.line,
        markevery=(place * step // max(of, 1), step) if look.line else None,
        markerfacecolor=_inside(look, len(at)),
        zorder=3.0 + (of - place) / of,
        clip_on=clip,
    )


def near_zero(table: "DataFrame") -> bool:
    """Whether the means reach from near 0 to far from it."""
    mean = table["mean"].to_numpy(dtype=float)
    return bool(0.0 <= np.nanmin(mean) < _NEAR * np.nanmax(mean))


def _frame(axes: "Axes", table: "DataFrame", x: str, y_top: float | None, from_zero: bool) -> None:
    """Limits by the means: wide intervals are cut, and an axis may begin at 0.

    Ticks stand where the points are, if those are few.
    """
    low, mean, high = (table[name].to_numpy(dtype=float) for name in ("low", "mean", "high"))
    least, most = float(np.nanmin(mean)), float(np.nanmax(mean))
    room = (most - least) or abs(most) or 1.0
    bottom = max(float(np.nanmin(low)), least - _CUT * room) - _ABOVE * room
    top = min(float(np.nanmax(high)), most + _CUT * room) + _ABOVE * room
    if least >= 0.0 and (bottom < 0.0 or from_zero):
        bottom = 0.0
    if axes.get_yscale() == "log":
        bottom, top = least / _ROOM_FACTOR, most * _ROOM_FACTOR
    axes.set_ylim(bottom, top if y_top is None else y_top)
    at = np.unique(table[x].to_numpy(dtype=float))
    if axes.get_yscale() == "log":
        plain_powers(axes.xaxis)
        plain_powers(axes.yaxis)
    elif len(at) <= _FEW:
        axes.set_xticks(at, [f"{value:g}" for value in at], minor=False)
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=bool(np.all(at == np.round(at)))))
    if axes.get_yscale() == "linear" and top - bottom > _WHOLE:
        axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
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
