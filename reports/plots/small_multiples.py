"""Small panels alike in one figure, which share their axes and one legend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from reports.plots.style import WIDTH_IN, legend_columns
from reports.shared.words import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def small_multiples(
    title: str, names: Sequence[str], ylim: tuple[float, float] | None = None
) -> tuple[Figure, "list[Axes]"]:
    """A figure of small panels alike, two in a row, one for each name; to be called from a `styled` function."""
    rows = -(-len(names) // 2)
    figure = Figure(figsize=(WIDTH_IN, 1.1 + 1.25 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for axes, name in zip(panels, names, strict=False):
        axes.set_title(literal(name), fontsize=8.5, pad=3.0, parse_math=False)
    for axes in panels[len(names) :]:
        axes.remove()
        panels[max(len(names) - 2, 0)].xaxis.set_tick_params(labelbottom=True)
    if ylim is not None:
        panels[0].set_ylim(*ylim)
    figure.suptitle(title, x=0.02, ha="left", fontsize=10.0, parse_math=False)
    return figure, panels[: len(names)]


def name_axes(figure: Figure, panels: "Sequence[Axes]", across: str, up: str) -> None:
    """What stands on the axes of small panels, and what the lines of all of them are, told once."""
    for axes in panels[-2:]:
        axes.set_xlabel(across)
    figure.supylabel(up, fontsize=9.0)
    told = (zip(*axes.get_legend_handles_labels(), strict=True) for axes in panels)
    handles = {label: handle for pairs in told for handle, label in pairs}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=legend_columns(handles))
