"""Distributions as figures: the errors of the cross-check, and the gains over the baselines."""

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from msopt.arrays import FloatArray
from msopt.methods import names_of
from msopt.shown.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE
from reports.plots.style import Panel, label_of, legend_columns, looks, new_panel, plain_powers, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame, Series

_COLOURS = {"ECOS": BLUE, "CLARABEL": ORANGE, "SCS": GREEN, "HIGHS": GREY} | dict(
    zip(names_of("algorithm"), (BLUE, ORANGE), strict=False)
)
_LEAST = 1e-16
"""What an exact agreement is drawn as."""


def error_panels(trials: "DataFrame", objective_rtol: float) -> list[Panel]:
    """Histograms of the cross-check's trials.

    Parameters
    ----------
    trials : DataFrame
        The table `crosscheck_trials`, without the formulations that only bound.
    objective_rtol : float
        The tolerance drawn beside the first.
    """
    solver, whole = trials["solver"], trials[trials["whole"]]
    objective, certificate = (_of_each(trials[name], solver) for name in ("objective_difference", "certificate"))
    enumeration = _of_each(whole["above_brute_force"], solver)
    algorithms = _of_each(trials["above_algorithm"].dropna().clip(lower=0.0), trials["algorithm"])
    far, above = "relative difference [1]", "relaxed optimum above the algorithm [1]"
    panels = [
        ("objective", "Objective: solver against closed form", objective, far, "Objective"),
        (
            "certificate",
            "Optimality conditions: worst residual",
            certificate,
            "scaled KKT residual [1]",
            "Certificates",
        ),
        ("enumeration", "Whole lengths and modes: solver against enumeration", enumeration, far, "Enumeration"),
        ("algorithms", "The relaxed optimum above the papers' algorithms", algorithms, above, "The papers' algorithms"),
    ]
    return [
        Panel(
            f"crosscheck-{name}",
            title,
            histogram_panel(series, x_label, head, objective_rtol if series is objective else None),
        )
        for name, title, series, x_label, head in panels
        if any(values.size for values in series.values())
    ]


def _of_each(values: "Series[float]", by: "Series[str]") -> dict[str, FloatArray]:
    """The sizes of the values that are known, by solver or algorithm."""
    groups = values.abs().groupby(by, sort=False)
    return {str(name): np.array(group.dropna(), dtype=np.float64) for name, group in groups}


@styled
def histogram_panel(series: dict[str, FloatArray], x_label: str, title: str, tolerance: float | None = None) -> Figure:
    """A histogram over powers of ten for each series, below each other; what is 0 stands at the left end."""
    known = {name: np.maximum(values, _LEAST) for name, values in series.items() if values.size}
    figure, axes = new_panel("", 0.9 + 0.62 * len(known))
    figure.delaxes(axes)
    rows = figure.subplots(len(known), 1, sharex=True, squeeze=False)[:, 0]
    every = np.concatenate(list(known.values()))
    low, high = np.floor(np.log10(every.min())), np.ceil(np.log10(max(every.max(), tolerance or _LEAST)) + 0.25)
    edges = 10.0 ** np.arange(low, high + 0.5, 0.5)
    for row, (name, values) in zip(rows, known.items(), strict=True):
        row.hist(values, edges, color=_COLOURS.get(name, PURPLE), edgecolor=BLACK, linewidth=0.5)
        row.set_xscale("log")
        row.set_xlim(edges[0], edges[-1])
        row.set_ylabel("trials")
        row.yaxis.set_major_locator(MaxNLocator(2, integer=True))
        row.set_ylim(0.0, 1.5 * row.get_ylim()[1])
        row.grid(visible=False, axis="y")
        row.annotate(
            f"{label_of(name)} ({values.size})",
            (0.0, 0.98),
            xycoords="axes fraction",
            xytext=(3, 0),
            va="top",
            textcoords="offset points",
            fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
        if tolerance is not None:
            row.axvline(tolerance, color=BLACK, linestyle=(0, (4, 2)), linewidth=1.2)
    if tolerance is not None:
        rows[0].annotate(
            "tolerance",
            (tolerance, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            ha="center",
            textcoords="offset points",
            fontsize=8.0,
        )
    rows[0].set_title(title)
    powers = np.arange(low, high + 1)
    rows[-1].set_xticks(10.0 ** powers[:: max(1, math.ceil(len(powers) / 7))])
    rows[-1].xaxis.set_minor_locator(NullLocator())
    plain_powers(rows[-1].xaxis)
    rows[-1].set_xlabel(x_label)
    return figure


def gain_panels(problem: str, quantiles: "DataFrame", summary: "DataFrame", paper: float | None) -> list[Panel]:
    """The gain over each baseline of a problem: its distribution in all families, and family by family.

    Parameters
    ----------
    problem : str
    quantiles, summary : DataFrame
        The problem's rows of the tables `gains_quantiles` and `gains`.
    paper : float or None
        The gain that a paper reports [1].
    """
    pooled = quantiles[quantiles["family"] == "all"]
    families = summary[summary["setting"] == "all"]
    title = f"Gain of the optimum, problem {problem}"
    return [
        Panel(f"gains-{problem}", f"{title}, all families", quantile_panel(pooled, paper)),
        Panel(f"gains-{problem}-families", f"{title}, family by family", family_panel(families, paper)),
    ]


@styled
def quantile_panel(rows: "DataFrame", paper: float | None) -> Figure:
    """Share of the scenarios whose gain is at most so large, a line for each baseline."""
    figure, axes = new_panel("All families")
    styles = looks(rows["baseline"])
    for place, (baseline, look) in enumerate(styles.items()):
        line = rows[rows["baseline"] == baseline].sort_values("level")
        gain, level = 100.0 * line["gain"].to_numpy(), line["level"].to_numpy()
        axes.plot(gain, level, color=look.colour, linestyle=look.line, marker=look.marker, markevery=(place * 3, 20))
    _gain_axis(axes, 100.0 * rows["gain"].to_numpy(dtype=float))
    axes.set_ylim(0.0, 1.0)
    labels = [look.label for look in styles.values()]
    if paper is not None:
        labels.append(_paper_line(axes, paper))
    axes.set_ylabel("share of scenarios below [1]")
    figure.legend(
        handles=axes.lines[: len(labels)],
        labels=labels,
        loc="outside lower center",
        ncols=legend_columns(labels),
        handlelength=2.4,
        columnspacing=1.0,
        fontsize=8.0,
    )
    return figure


@styled
def family_panel(rows: "DataFrame", paper: float | None) -> Figure:
    """Median (marker), 95th percentile (bar) and greatest gain (tick) of each family and baseline."""
    families = list(dict.fromkeys(rows["family"]))
    styles = looks(rows["baseline"])
    each = 0.8 / len(styles)
    figure, axes = new_panel("Family by family", 1.1 + (0.11 * len(styles) + 0.08) * len(families))
    for place, (baseline, look) in enumerate(styles.items()):
        mine = rows[rows["baseline"] == baseline].set_index("family").reindex(families)
        at = np.arange(len(families)) - 0.4 + (place + 0.5) * each
        axes.hlines(at, 100 * mine["median"], 100 * mine["p95"], color=look.colour, linewidth=1.4)
        axes.plot(100 * mine["median"], at, look.marker, color=look.colour, markersize=4.0, label=look.label)
        axes.plot(100 * mine["max"], at, "|", color=look.colour, markersize=5.0)
    axes.set_yticks(range(len(families)), families, fontsize=8.0)
    axes.set_ylim(len(families) - 0.5, -0.5)
    axes.set_yticks(np.arange(len(families) - 1) + 0.5, minor=True)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="y", which="minor", color="#BBBBBB", linewidth=0.5)
    axes.tick_params(axis="y", which="both", length=0)
    _gain_axis(axes, 100.0 * rows[["median", "max"]].to_numpy(dtype=float))
    labels = [look.label for look in styles.values()]
    if paper is not None:
        labels.append(_paper_line(axes, paper))
    columns = legend_columns(labels)
    figure.legend(loc="outside lower center", ncols=columns, handlelength=1.4, columnspacing=1.0, fontsize=8.0)
    return figure


def _gain_axis(axes: "Axes", gains: FloatArray) -> None:
    """Gains [%]: linear up to 1 %, logarithmic beyond."""
    axes.set_xscale("symlog", linthresh=1.0, linscale=0.4)
    axes.set_xlim(min(0.0, float(gains.min())), 1.15 * max(float(gains.max()), 100.0))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("gain of the optimum over the baseline [%]")


def _paper_line(axes: "Axes", paper: float) -> str:
    """The gain that a paper reports, named in the legend: a text beside the line would lie over the data."""
    label = f"[MS]: up to {100.0 * paper:g} %"
    axes.axvline(100.0 * paper, color=GREY, linestyle=(0, (4, 2)), linewidth=1.2, zorder=1.0, label=label)
    return label
