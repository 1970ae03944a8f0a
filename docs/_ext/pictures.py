"""The pictures of the guide, drawn anew by every build from the package itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import msopt
from msopt.shown.palette import BLUE, GREEN, GREY, ORANGE, PALE, VERMILION
from reports.plots.style import readable
from reports.plots.timeline import timeline_panel

K = 8


def system() -> Figure:
    """Devices, radio and server, and what travels between them."""
    figure = Figure(figsize=(5.0, 3.4))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0.0, 10.0), ylim=(0.0, 6.8))
    axes.set_axis_off()
    words: dict[str, Any] = {"ha": "center", "va": "center"}
    for name, drafted, accepted, y in (("device 1", 4, 4, 5.5), ("device 2", 2, 1, 3.5), ("device K", 6, 3, 1.0)):
        _box(axes, (0.2, y - 0.5), (2.0, 1.0), BLUE)
        axes.text(1.2, y, f"{name}\nsmall model", fontsize=9, **words)
        for place in range(drafted):
            colour = GREEN if place < accepted else VERMILION if place == accepted else PALE
            _box(axes, (2.65 + 0.42 * place, y - 0.28), (0.24, 0.28), "white", colour)
        axes.text(2.6, y + 0.3, f"a draft of {drafted}", fontsize=8, color=GREY)
        _arrow(axes, (5.3, y), (6.75, 3.5 + 0.3 * (y - 3.5)), ORANGE)
    axes.text(1.2, 2.25, "⋮", fontsize=14, color=GREY, **words)
    axes.text(5.9, 6.2, "one shared\nuplink band", fontsize=8.5, color=readable(ORANGE), **words)
    _box(axes, (7.0, 2.4), (2.7, 2.2), GREEN)
    axes.text(8.35, 3.5, "edge server\nlarge model:\nverifies all\nin one batch", fontsize=9, **words)
    _arrow(axes, (8.35, 2.25), (8.35, 1.65), GREEN)
    axes.text(8.35, 0.95, "what is accepted,\nand one more token\nfor each device", fontsize=8, **words)
    return figure


def _box(axes: Axes, corner: tuple[float, float], size: tuple[float, float], edge: str, face: str = "white") -> None:
    shape = f"round,pad={0.05 if face != 'white' else 0.08}"
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=shape, facecolor=face, edgecolor=edge))


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    axes.add_patch(FancyArrowPatch(begin, end, arrowstyle="-|>", mutation_scale=11, color=colour, linewidth=1.4))


def _first_cell() -> msopt.Scenario:
    return msopt.Scenario.read(msopt.bundled.path(msopt.bundled.default))


def rounds() -> Figure:
    """Three rounds of problem `modes` as they are played."""
    cell = _first_cell()
    found = msopt.solve(cell, "modes")
    assert found.control is not None
    return timeline_panel(msopt.emulate(cell, found.control, 3, seed=5), "Three rounds of the first scenario")


def answer() -> Figure:
    """What a solution draws of itself."""
    figure = msopt.solve(_first_cell()).plot().figure
    plt.close("all")
    assert isinstance(figure, Figure)
    return figure


def trade() -> Figure:
    """Why there is a best length: what a round yields, what it lasts, and their ratio."""
    cell = msopt.draw("multispin-llama2", devices=K, seed=1)[0].replace(min_draft_length=0, max_draft_length=20)
    lengths = np.arange(1, 21)
    split = msopt.solve(cell, "homogeneous").control
    assert split is not None
    scores = [
        msopt.evaluate(
            cell, msopt.Control(problem="homogeneous", draft_length=np.full(K, length), bandwidth_hz=split.bandwidth_hz)
        )
        for length in lengths
    ]
    goodput = np.array([score.goodput for score in scores])
    seconds = np.array([float(score.round.round_s) for score in scores])
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(lengths, goodput / goodput.max(), color=BLUE, marker="o", label="goodput: their ratio")
    axes.plot(lengths, goodput * seconds / (goodput * seconds).max(), color=GREEN, ls="--", label="tokens of a round")
    axes.plot(lengths, seconds / seconds.max(), color=VERMILION, ls="-.", label="seconds of a round")
    best = int(lengths[goodput.argmax()])
    axes.axvline(best, color=GREY, lw=0.8)
    axes.text(best + 0.3, 0.06, f"best: {best} tokens", fontsize=9)
    axes.set(xlabel="draft length of every device [token]", ylabel="part of the greatest", ylim=(0.0, 1.05))
    axes.set_xticks(range(2, 21, 3))
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {"system": system, "rounds": rounds, "answer": answer, "trade": trade}


def draw_all(folder: Path) -> None:
    """Each as an SVG file whose text stays text."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "msopt", "font.family": "sans-serif"}):
        for name, draw in PICTURES.items():
            draw().savefig(folder / f"{name}.svg", metadata={"Date": None})
