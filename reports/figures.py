"""Figures from records: no function here solves anything, and every name is shown as it is."""

import io
import textwrap
import warnings
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reports.words import literal, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = dict[str, Any]

# Okabe and Ito's colours: told apart by colour-blind readers; in grey by lightness and hatching.
_DEFAULT: dict[str, Any] = {"facecolor": "#0072B2", "edgecolor": "black"}
_OTHER: dict[str, Any] = {"facecolor": "#B9DCF2", "edgecolor": "black"}
_APART: dict[str, Any] = {"facecolor": "white", "edgecolor": "black", "hatch": "////"}
_BOUND = "#D55E00"
_WIDTH_IN, _BAR_IN, _PANEL_IN = 8.0, 0.27, 0.55


def goodput_figure(rows: Sequence[Record], title: str) -> Figure:
    """Goodput of each method [token/s]: a panel for each problem, one axis for all, the proven bound as a line.

    Parameters
    ----------
    rows : records of `comparison.compare`, those of a problem in a row, the default method's first
    title : str
        The scenario's name.
    """
    panels = [(problem, list(group)) for problem, group in groupby(rows, key=lambda row: row["problem"])]
    heights = [len(group) * _BAR_IN + _PANEL_IN for _, group in panels]
    figure = Figure(figsize=(_WIDTH_IN, sum(heights) + 1.3), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for place, (panel, (problem, group)) in enumerate(zip(axes, panels, strict=True)):
        _draw(panel, problem, group)
        panel.tick_params(axis="x", labelbottom=place == len(panels) - 1)
    axes[-1].set_xlabel("goodput [token/s]")
    values = [row["goodput_tokens_per_s"] for row in rows] + [_bound_of(group) for _, group in panels]
    axes[0].set_xlim(0.0, 1.13 * max(value for value in values if value is not None))
    figure.suptitle("\n".join(textwrap.wrap(literal(title), 80)[:3]), parse_math=False)
    figure.legend(
        handles=[
            Patch(label="decomposition, the default method", **_DEFAULT),
            Patch(label="other controls of the problem", **_OTHER),
            Patch(label="another system: the bound does not apply", **_APART),
        ],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize="small",
    )
    return figure


def _bound_of(rows: Sequence[Record]) -> float | None:
    """The proven bound of a problem [token/s]; None where no method's gap to it is known."""
    return next((row["goodput_tokens_per_s"] * (1.0 + row["gap"]) for row in rows if row["gap"] is not None), None)


def _draw(panel: "Axes", problem: str, rows: Sequence[Record]) -> None:
    for place, row in enumerate(rows):
        value, error = row["goodput_tokens_per_s"], row["standard_error_tokens_per_s"]
        if value is None:
            panel.text(0.0, place, f" {literal(row['reason'])}", va="center", fontsize="x-small", parse_math=False)
            continue
        style = _DEFAULT if place == 0 else _OTHER if row["gap"] is not None else _APART
        panel.barh(place, value, height=0.7, xerr=error, linewidth=0.6, **style)
        panel.annotate(
            f"{value:#.4g}",
            (value, place),
            xytext=(6.0, 0.0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
    bound = _bound_of(rows)
    suffix = "" if bound is None else f": no control above {number(bound, 5)} token/s (dashed)"
    if bound is not None:
        panel.axvline(bound, color=_BOUND, linestyle="--", linewidth=1.6, zorder=3)
    panel.set_title(f"problem {problem}{suffix}", loc="left", fontsize="medium")
    panel.set_yticks(range(len(rows)), [row["method"] for row in rows], parse_math=False)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.spines[["top", "right"]].set_visible(False)


def rendered(figure: Figure, form: str) -> bytes:
    """The figure as "svg" or "png", the same bytes for the same data."""
    metadata = {"svg": {"Date": None}, "png": {"Software": None}}[form]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "msopt"}), warnings.catch_warnings():
        # A name may hold a letter that the font lacks; a box is shown in its place.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format=form, dpi=150, metadata=metadata)
    return buffer.getvalue()
