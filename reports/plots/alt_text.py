"""What is seen in a figure, in words, for those who do not see it: read off the figure itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from msopt.arrays import FloatArray
from reports.shared.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TOLD = 6
_ROUND_OFF = 1e-12


def alt_text(figure: Figure, title: str) -> str:
    """The title, what stands on the axes, and where the lines or bars begin and end."""
    shown = [axes for axes in figure.axes if axes.get_visible()]
    told = [part for axes in shown for part in _of_axes(axes, axes.get_title(loc="left") if len(shown) > 1 else "")]
    return ". ".join(dict.fromkeys(part for part in (title.rstrip("."), figure.get_supylabel(), *told) if part)) + "."


def _of_axes(axes: "Axes", name: str) -> Iterator[str]:
    across, up = (" ".join(label.split()) for label in (axes.get_xlabel(), axes.get_ylabel()))
    yield from [f"{up} against {across}"] if across and up else [across or up] if across or up else []
    rows = _row_names(axes)
    told = [*_bars(axes, rows), *_lines(axes, rows)]
    if told and name:
        told[0] = f"{' '.join(name.split())}: {told[0]}"
    yield from told[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield f"{len(told) - _MOST_TOLD} more series"


def _row_names(axes: "Axes") -> dict[int, str]:
    """Of rows that are named: what is told of them lies along x. Axes that share their rows have the names, too."""
    names = axes.yaxis.get_major_formatter()
    if not isinstance(axes.yaxis.get_major_locator(), FixedLocator) or not isinstance(names, FuncFormatter):
        return {}
    return {round(place): " ".join(names(place).split()) for place in axes.get_yticks()}


def _bars(axes: "Axes", rows: dict[int, str]) -> Iterator[str]:
    """The longest and the shortest of horizontal bars by the names of their rows; between what a histogram lies."""
    ends: dict[str, float] = {}
    for bars in (container for container in axes.containers if isinstance(container, BarContainer)):
        for bar in bars.patches if rows else ():
            if name := rows.get(round(bar.get_y() + 0.5 * bar.get_height()), ""):
                end = float(bar.get_x() + bar.get_width())
                ends[name] = max(ends.get(name, end), end)
        counted_in = [bar for bar in bars.patches if not rows and bar.get_height() > 0.0]
        if counted_in:
            low, high = counted_in[0].get_x(), counted_in[-1].get_x() + counted_in[-1].get_width()
            what = " ".join(axes.texts[0].get_text().split()) if axes.texts else "bars"
            yield f"{what} between {low:.1g} and {high:.1g}"
    if ends:
        yield _extremes(counted(len(ends), "bar"), ends)


def _extremes(what: str, values: dict[str, float]) -> str:
    most, least = max(values, key=values.__getitem__), min(values, key=values.__getitem__)
    low, high = f"{values[least]:.3g}", f"{values[most]:.3g}"
    if len(values) == 1:
        return f"{what}, {most} with {high}"
    return f"{what}, each with {high}" if low == high else f"{what}, from {least} with {low} to {most} with {high}"


def _lines(axes: "Axes", rows: dict[int, str]) -> Iterator[str]:
    """Where each line begins and ends; lines that are named at their ends, all together with these names."""
    unnamed = []
    for line in axes.get_lines():
        if not line.get_transform().contains_branch_seperately(axes.transData)[1]:
            yield f"an upright line at {np.asarray(line.get_xdata(), dtype=float)[0]:.3g}"
            continue
        x, y = (np.asarray(data, dtype=float) for data in line.get_data())
        known = np.isfinite(x) & np.isfinite(y)
        if np.count_nonzero(known) < 2:
            continue
        name, values = str(line.get_label()), (x if rows else y)[known]
        if name.startswith("_"):
            unnamed.append(values)
        elif rows:
            yield _extremes(name, {rows.get(round(at), ""): value for at, value in zip(y[known], values, strict=True)})
        else:
            yield f"{name} from {values[0]:.3g} to {values[-1]:.3g}"
    if unnamed and not (rows and axes.containers):  # beside bars: ends of intervals, and what parts rows
        yield _together(axes, unnamed)


def _together(axes: "Axes", lines: list[FloatArray]) -> str:
    """Lines without a name of their own, which a legend of the figure or texts beside them have."""
    legends = axes.figure.legends
    texts = legends[0].get_texts() if legends else axes.texts
    names = dict.fromkeys(" ".join(text.get_text().split()) for text in texts if text.get_text().strip())
    told = f" ({'; '.join(names)})" if names else ""
    low, high = float(min(map(np.min, lines))), float(max(map(np.max, lines)))
    low = 0.0 if abs(low) < _ROUND_OFF * abs(high) else low
    return f"{counted(len(lines), 'line')}{told} between {low:.3g} and {high:.3g}"
