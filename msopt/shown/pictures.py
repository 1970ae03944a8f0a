"""Pictures of plain arrays, on axes that are given or new; matplotlib loads when the first is drawn."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import MsoptError, literal
from msopt.shown.letters import give_letters, tell_letters
from msopt.shown.palette import BLACK, BLUE, GREY, SERIES, Fill

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414  (for those who pass theirs on)

MOST_NAMED = 40
"""Rows up to which each is named."""
MOST_NAMED_POINTS = 12
"""Points up to which each is named: more names would lie on each other."""
_ROUND_OFF = 1e-9
"""Of the longest row: a step that takes no more is not there."""
_LEGEND_POINTS = 44.0
"""What a legend of two lines takes of the height."""
_HEADROOM = 1.1
"""Room above the highest point for its name."""
_LETTER_POINTS = 4.6
"""Width of a letter of 8 points, on average."""


def axes_for(ax: "Axes | None", wide_in: float = 6.0, high_in: float = 3.6) -> "Axes":
    """The axes given, or the only ones of a new figure; MsoptError where matplotlib is not installed."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  (a heavy library, loaded only here)
    except ImportError:
        raise MsoptError("plot needs matplotlib: pip install 'msopt[report]'") from None
    axes = plt.subplots(figsize=(wide_in, high_in), layout="constrained")[1]
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def titled(axes: "Axes", title: str) -> "Axes":
    """The axes with a title in one line, as it is: names in it are no formulas."""
    axes.set_title(literal(title), loc="left", parse_math=False)
    if (figure := axes.get_figure(root=True)) is not None:
        tell_letters(give_letters(figure))
    return axes


def steps_of_rows(
    ax: "Axes | None", names: Sequence[str], steps: Mapping[str, tuple[Fill, FloatArray]], notes: Sequence[str] = ()
) -> "Axes":
    """A bar for each row, of steps one after another.

    Parameters
    ----------
    ax : Axes or None
    names : sequence of N str
    steps : mapping
        Step to its colour and hatch, and how long it takes in each row [s], shape (N,).
    notes : sequence of N str
        What stands at the end of each row.
    """
    axes = axes_for(ax, high_in=1.4 + 0.24 * min(len(names), MOST_NAMED))
    rows, begin_s = np.arange(len(names)), np.zeros(len(names))
    least_s = _ROUND_OFF * float(np.max(sum(length_s for _, length_s in steps.values())))
    for step, ((colour, hatch), length_s) in steps.items():
        end_s = begin_s + length_s
        look: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "label": step}
        if len(names) > MOST_NAMED and np.any(length_s > least_s):
            # One area: as many bars as there can be rows would take minutes.
            axes.fill_betweenx(rows, begin_s, end_s, step="mid", linewidth=0.0, **look)
        elif np.any(length_s > least_s):
            axes.barh(rows, length_s, left=begin_s, height=0.8, linewidth=0.3, **look)
        begin_s = end_s
    if len(names) <= MOST_NAMED:
        axes.set_yticks(rows, [literal(name) for name in names], parse_math=False)
        for row, note in enumerate(notes):
            axes.annotate(note, (begin_s[row], row), (4, 0), textcoords="offset points", va="center", fontsize=8)
    else:
        axes.set_ylabel("device, by its place")
        notes = ()
    _room_for_rows(axes, len(names), legend=ax is not None)
    noted = _LETTER_POINTS * max(map(len, notes)) + 8.0 if notes else 0.0
    share = min(noted * axes.figure.dpi / 72.0 / axes.get_window_extent().width, 0.7)
    axes.set_xlim(0.0, float(np.max(begin_s)) / (1.0 - share))
    axes.set_xlabel("time [s]")
    looks = {"frameon": False, "fontsize": 8}
    if ax is None:
        axes.figure.legend(loc="outside lower center", ncols=len(steps), **looks)
    else:
        axes.legend(loc="lower center", ncols=(len(steps) + 1) // 2, **looks)
    return axes


def _room_for_rows(axes: "Axes", count: int, *, legend: bool) -> None:
    """Rows from the top down; a legend has its own room below them, inside axes that others laid out."""
    high = axes.get_window_extent().height * 72.0 / axes.figure.dpi
    share = min(_LEGEND_POINTS / high, 0.5) if legend else 0.0
    axes.set_ylim(count - 0.4 + (count + 0.2) * share / (1.0 - share), -0.6)


def devices_in_plane(
    ax: "Axes | None",
    names: Sequence[str],
    x: tuple[str, FloatArray],
    y: tuple[str, FloatArray],
    colour: tuple[str, FloatArray],
) -> "Axes":
    """A point for each device: two of its numbers by place, a third by colour; each with its axis label."""
    axes = axes_for(ax)
    points = axes.scatter(x[1], y[1], c=colour[1], cmap="viridis", s=45, edgecolors=GREY, linewidths=0.5)
    axes.figure.colorbar(points, ax=axes, label=colour[0])
    axes.set_xlabel(x[0])
    axes.set_ylabel(y[0])
    axes.set_ylim(0.0, _HEADROOM * float(np.max(y[1])) or None)
    if len(names) <= MOST_NAMED_POINTS:
        _name_points(axes, [literal(name) for name in names], np.column_stack([x[1], y[1]]))
    return axes


def _name_points(axes: "Axes", names: Sequence[str], points: FloatArray) -> None:
    """Each name on the first side of its point where it covers no point and no name, and stays within the axes."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415  (a heavy library, loaded only here)

    points_per_pixel = 72.0 / axes.figure.dpi
    frame = np.array(axes.get_window_extent().extents) * points_per_pixel
    at = axes.transData.transform(points) * points_per_pixel
    taken = [Bbox.from_bounds(across - 4.0, up - 4.0, 8.0, 8.0) for across, up in at]
    for name, point, (across, up) in zip(names, points, at, strict=True):
        wide, least = _LETTER_POINTS * len(name), np.inf
        for beside, above in ((5.0, 4.0), (-5.0, 4.0), (5.0, -11.0), (-5.0, -11.0)):
            side = Bbox.from_bounds(across + beside - wide * (beside < 0.0), up + above, wide, 8.0)
            outside = side.x0 < frame[0] or side.x1 > frame[2] or side.y0 < frame[1] or side.y1 > frame[3]
            if (covered := side.count_overlaps(taken) + outside) < least:
                least, offset, box = covered, (beside, above), side
        taken.append(box)
        looks: dict[str, Any] = {"fontsize": 8, "parse_math": False, "ha": "left" if offset[0] > 0.0 else "right"}
        axes.annotate(name, tuple(point), offset, textcoords="offset points", **looks)


def share_at_most(ax: "Axes | None", values: FloatArray, label: str) -> "Axes":
    """The empirical distribution of some values."""
    axes = axes_for(ax)
    axes.ecdf(values, color=BLUE)
    axes.axvline(float(np.mean(values)), color=GREY, linestyle="--", label="mean")
    axes.set_xlabel(label)
    axes.set_ylabel("share of scenarios [1]")
    axes.legend(frameon=False)
    return axes


def curves_with_intervals(
    ax: "Axes | None", curves: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]], x: str, y: str
) -> "Axes":
    """Curves at 1, 2, ..., each a value with the ends of its interval, told apart by colour, marker and line."""
    axes, lines = axes_for(ax), []
    for number, (value, low, high) in enumerate(curves.values()):
        colour, marker, line = SERIES[number % len(SERIES)]
        at = np.arange(1, len(value) + 1)
        axes.fill_between(at, low, high, color=colour, alpha=0.13, linewidth=0.0)
        lines += axes.plot(at, value, marker=marker, linestyle=line, color=colour, markersize=4.0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(0.0, 1.0)
    # Handed over by hand: a label of its own that begins with an underscore would be left out.
    for told in axes.legend(lines, [literal(name) for name in curves], frameon=False, fontsize=8).get_texts():
        told.set_parse_math(False)
    return axes


def running_value(ax: "Axes | None", values: FloatArray, expected: float, x: str, y: str) -> "Axes":
    """A value after 1, 2, ... rounds beside what was expected of it."""
    axes = axes_for(ax)
    axes.plot(np.arange(1, len(values) + 1), values, color=BLUE, label="realised so far")
    axes.axhline(expected, color=BLACK, linestyle="--", label="predicted")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(frameon=False)
    return axes
