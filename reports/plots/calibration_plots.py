"""An inverse study as two panels: the misfit of every quoted number, and the settings that are left."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from msopt.shown.palette import BLACK, BLUE, GREY, SKY, VERMILION
from reports.plots.style import Panel, new_panel, styled

if TYPE_CHECKING:
    from pandas import DataFrame

_LINES = 48
_BEYOND = 5.0
_ROW_IN, _FRAME_IN = 0.21, 1.0


def calibration_panels(name: str, tables: "dict[str, DataFrame]") -> list[Panel]:
    """The panels of a study.

    Parameters
    ----------
    name : str
        Panels are numbered after it.
    tables : dict of DataFrame
        `calibration_numbers`, `calibration_unknowns` and `calibration_settings`; without them there is no panel.
    """
    if "calibration_numbers" not in tables:
        return []
    panels = [
        Panel(f"{name}-1", "Misfit of every quoted number at the best fit", misfit_panel(tables["calibration_numbers"]))
    ]
    settings = tables["calibration_settings"]
    coordinates = [column for column in settings if str(column).startswith("at_")]
    if coordinates:
        names = list(tables["calibration_unknowns"]["unknown"])[: len(coordinates)]
        left = settings[settings["plausible"]] if settings["plausible"].any() else settings
        words = "plausible settings" if settings["plausible"].any() else "settings of least misfit"
        panel = settings_panel(left.head(_LINES)[coordinates].to_numpy(dtype=float), names, words)
        panels.append(Panel(f"{name}-2", f"The {words}", panel))
    return panels


@styled
def misfit_panel(numbers: "DataFrame") -> Figure:
    """Bars of the signed misfit; within tolerance between the dashed lines, a dot; a cross beyond."""
    count = len(numbers)
    figure, axes = new_panel("Quoted numbers at the best fit", _FRAME_IN + _ROW_IN * count)
    misfit = numbers["misfit"].to_numpy(dtype=float)
    within = numbers["within"].to_numpy(dtype=bool)
    places = np.arange(count)
    shown = np.clip(misfit, -_BEYOND, _BEYOND)
    axes.barh(places, shown, height=0.6, color=np.where(within, SKY, VERMILION).tolist())
    for place, value, good in zip(places, shown, within, strict=True):
        axes.plot(value, place, "o" if good else "x", color=BLACK)
    for place, value in zip(places, misfit, strict=True):
        if abs(value) > _BEYOND:
            side = np.sign(value)
            axes.annotate(
                f"{value:+.3g}",
                (side * _BEYOND, place),
                xytext=(-7.0 * side, 0.0),  # beside the cross
                textcoords="offset points",
                ha="right" if side > 0 else "left",
                va="center",
            )
    for edge in (-1.0, 1.0):
        axes.axvline(edge, color=BLACK, linestyle="--", linewidth=0.8)
    axes.axvline(0.0, color=GREY, linewidth=0.6)
    axes.set_yticks(places, list(numbers["number"]), fontsize=7.5, parse_math=False)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("misfit [tolerance]")
    return figure


@styled
def settings_panel(points: np.ndarray, names: list[str], words: str) -> Figure:
    """A line for each setting across all unknowns, from the low to the high end of its range; the best in black."""
    figure, axes = new_panel(words.capitalize(), _FRAME_IN + 1.6 * _ROW_IN * len(names))
    places = np.arange(len(names))
    for point in points[:0:-1]:
        axes.plot(point, places, color=BLUE, alpha=0.25, linewidth=0.8)
    axes.plot(points[0], places, color=BLACK, marker="o")
    axes.set_yticks(places, [name.replace(" of ", "\nof ") for name in names], fontsize=7.5, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(-0.03, 1.03)
    axes.set_xticks([0.0, 0.5, 1.0], ["0 (low)", "0.5", "1 (high)"])
    axes.set_xlabel("place in its range, best fit in black [1]")
    return figure
