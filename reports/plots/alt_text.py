"""What is seen in a figure, in words, for those who do not see it: read off the figure itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from reports.shared.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TOLD = 6


def alt_text(figure: Figure, title: str) -> str:
    """The title, what stands on the axes, and where the lines or bars begin and end."""
    shown = [axes for axes in figure.axes if axes.get_visible()]
    told = [part for axes in shown for part in _of_axes(axes, axes.get_title(loc="left") if len(shown) > 1 else "")]
    return ". ".join(dict.fromkeys(part for part in (title.rstrip("."), figure.get_supylabel(), *told) if part)) + "."


def _of_axes(axes: "Axes", name: str) -> Iterator[str]:
    across, up = (" ".join(label.split()) for label in (axes.get_xlabel(), axes.get_ylabel()))
    yield from [f"{up} against {across}"] if across and up else [across or up] if across or up else []
    told = [*_bars(axes), *_lines(axes)]
    if told and name:
        told[0] = f"{' '.join(name.split())}: {told[0]}"
    yield from told[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield f"{len(told) - _MOST_TOLD} more series"


def _bars(axes: "Axes") -> Iterator[str]:
    """The greatest and the least of horizontal bars, by the names of their rows."""
    # Axes that share their rows with others have places there, and no names.
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=False)
    names = {round(place): text.get_text() for place, text in ticks}
    widths: dict[str, float] = {}
    for bars in (container for container in axes.containers if isinstance(container, BarContainer)):
        for bar in bars.patches:
            name = names.get(round(bar.get_y() + 0.5 * bar.get_height()), "")
            if name:
                widths.setdefault(name, float(bar.get_width()))
    if widths:
        most, least = max(widths, key=widths.__getitem__), min(widths, key=widths.__getitem__)
        count, low, high = counted(len(widths), "bar"), f"{widths[least]:.3g}", f"{widths[most]:.3g}"
        if len(widths) == 1:
            yield f"{count}, {most} with {high}"
        elif widths[least] == widths[most]:
            yield f"{count}, each with {high}"
        else:
            yield f"{count}, from {least} with {low} to {most} with {high}"


def _lines(axes: "Axes") -> Iterator[str]:
    """Where each line begins and ends; lines that are named at their ends, all together with these names."""
    unnamed = []
    for line in axes.get_lines():
        if not line.get_transform().contains_branch_seperately(axes.transData)[1]:
            yield f"an upright line at {np.asarray(line.get_xdata(), dtype=float)[0]:.3g}"
            continue
        y = np.asarray(line.get_ydata(), dtype=float)
        y = y[np.isfinite(y)]
        if y.size < 2:
            continue
        name = str(line.get_label())
        if name.startswith("_"):
            unnamed.append(y)
        else:
            yield f"{name} from {y[0]:.3g} to {y[-1]:.3g}"
    if unnamed:
        names = dict.fromkeys(" ".join(text.get_text().split()) for text in axes.texts if text.get_text().strip())
        told = f" ({', '.join(names)})" if names else ""
        low, high = min(map(np.min, unnamed)), max(map(np.max, unnamed))
        yield f"{counted(len(unnamed), 'line')}{told} between {low:.3g} and {high:.3g}"
