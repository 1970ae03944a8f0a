"""The answer as figures: the goodput of every method, and who gets what."""

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from msopt.model.problems import KINDS
from msopt.shown.palette import BLACK, BLUE, GREEN, GREY, SKY, VERMILION
from reports.plots.style import Panel, label_of, new_panel, readable, styled
from reports.shared.quantities import QUANTITIES
from reports.shared.rows import rows_of
from reports.shared.simpler_rules import simpler_rules
from reports.shared.words import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_BAR_IN, _REST_IN = 0.23, 0.95
_LONGEST = 22
_OVERVIEW = "Optimum and simpler rules"


def answer_panels(place: int, scenario: str, methods: "DataFrame", devices: "DataFrame") -> dict[str, list[Panel]]:
    """The panels of one scenario, by figure: an overview, then for each problem every method, and who gets what.

    Parameters
    ----------
    place : int
        Number of the scenario, in the names of the panels.
    scenario : str
        Its name, in their titles.
    methods, devices : DataFrame
        Its rows of the tables `answer_methods` and `answer_devices`.
    """
    overview = f"answer-{place}-overview"
    found = {overview: [Panel(overview, f"{scenario}: {_OVERVIEW.lower()}", overview_panel(methods))]}
    for problem, rows in methods.groupby("problem", sort=False):
        title, name = f"{scenario}: {KINDS[str(problem)].title.lower()}", f"answer-{place}-{problem}"
        given = devices[devices["problem"] == problem]
        found[name] = [
            Panel(name, f"{title}, every method", methods_panel(rows)),
            Panel(f"{name}-devices", f"{title}, who gets what", devices_panel(given)),
        ]
    return found


@styled
def overview_panel(methods: "DataFrame") -> Figure:
    """For each problem the optimum, the best and the worst of its simpler rules, and no drafts at all [token/s]."""
    names, values, colours = [], [], []
    for problem, rows in methods.groupby("problem", sort=False):
        solved = rows_of(rows[rows["goodput_tokens_per_s"].notna()])
        simpler = sorted(simpler_rules(solved), key=lambda row: -float(row["goodput_tokens_per_s"]))
        chosen = [(f"{KINDS[str(problem)].title}: optimum", solved[0], BLUE)]
        chosen += [(label_of(str(row["method"])), row, SKY) for row in [*simpler[:1], *simpler[1:][-1:]]]
        names += [name for name, _, _ in chosen]
        values += [float(row["goodput_tokens_per_s"]) for _, row, _ in chosen]
        colours += [colour for _, _, colour in chosen]
    for method, label in (("server-only", "no drafts at all"), ("centralised", "drafts at the server, one batch")):
        known = methods[(methods["method"] == method) & methods["goodput_tokens_per_s"].notna()]
        if len(known):
            names.append(label)
            values.append(float(known["goodput_tokens_per_s"].iloc[0]))
            colours.append("white")
    figure, axes = new_panel(_OVERVIEW, _REST_IN + _BAR_IN * len(names))
    bars = axes.barh(range(len(names)), values, height=0.72, color=colours, edgecolor=BLACK, linewidth=0.6)
    axes.bar_label(bars, fmt="%.4g", padding=3.0, fontsize=8.0)
    axes.set_xlim(0.0, 1.14 * max(values))
    _rows_of(axes, names)
    axes.set_xlabel(QUANTITIES["goodput_tokens_per_s"].head)
    return figure


@styled
def methods_panel(rows: "DataFrame") -> Figure:
    """Goodput of each method of a problem [token/s], the best first; the proven bound as a line."""
    problem = str(rows["problem"].iloc[0])
    figure, axes = new_panel(KINDS[problem].title, _REST_IN + _BAR_IN * (len(rows) + 0.7))
    for place, row in enumerate(rows_of(rows)):
        value = row["goodput_tokens_per_s"]
        if value is None:
            axes.text(0.0, place, f" {_missing(row['reason'])}", va="center", fontsize=7.5, parse_math=False)
            continue
        of_the_problem = row["gap"] is not None
        axes.barh(
            place,
            value,
            height=0.68,
            xerr=row["standard_error_tokens_per_s"],
            facecolor=BLUE if place == 0 else SKY if of_the_problem else "white",
            edgecolor=BLACK,
            linewidth=0.6,
            hatch="" if of_the_problem else "////",
        )
        axes.annotate(f"{value:#.4g}", (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=8.0)
    first = rows.iloc[0]
    if not pd.isna(first["gap"]):
        bound = float(first["goodput_tokens_per_s"]) * (1.0 + float(first["gap"]))
        axes.axvline(bound, color=VERMILION, linestyle="--", linewidth=1.4, zorder=3)
        axes.annotate(
            "no control above",
            (bound, len(rows) + 0.3),
            xytext=(-3.0, 2.0),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=7.5,
            color=readable(VERMILION),
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_xlim(0.0, 1.03 * float(rows["goodput_tokens_per_s"].max()))
    _rows_of(axes, [label_of(str(method)) for method in rows["method"]], bottom=0.75)
    axes.set_xlabel(QUANTITIES["goodput_tokens_per_s"].head)
    return figure


def _missing(reason: str) -> str:
    """That a method has no number, or the key that it lacks, where its message names one, to fit into a row."""
    keys = [word for word in reason.replace(",", " ").split() if "." in word and "_" in word]
    return f"needs {keys[0]}" if keys else "has no number here"


@styled
def devices_panel(rows: "DataFrame") -> Figure:
    """Length, share of the band, and fate of each device's draft, side by side over the same rows."""
    problem = str(rows["problem"].iloc[0])
    with_modes = KINDS[problem].corrects
    figure, axes = new_panel("", _REST_IN + 0.18 * len(rows) + (0.25 if with_modes else 0.0))
    figure.delaxes(axes)
    left, right = figure.subplots(1, 2, sharey=True)
    left.set_title(KINDS[problem].title)
    place = range(len(rows))
    left.barh(place, rows["draft_length"], height=0.7, color=BLUE, edgecolor=BLACK, linewidth=0.4)
    left.set_xlabel(QUANTITIES["draft_length"].head)
    left.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if with_modes:
        accepted = 1.0 - rows["rejection_probability"]
        start = pd.Series(0.0, index=rows.index)
        parts = (("accepted", accepted, "#D9D9D9", ""), ("uplink", rows["uplink_probability"], BLUE, "//"))
        for label, share, colour, hatch in (
            *parts,
            ("downlink", rows["downlink_probability"], "#F3B48A", ".."),
        ):
            right.barh(
                place,
                share,
                left=start,
                height=0.7,
                color=colour,
                hatch=hatch,
                edgecolor=BLACK,
                linewidth=0.4,
                label=label,
            )
            start = start + share
        right.set_xlim(0.0, 1.0)
        right.set_xlabel("draft is … [probability]")
        figure.legend(loc="outside lower center", ncols=3, fontsize=8.0, handlelength=1.2, columnspacing=1.0)
    else:
        band = QUANTITIES["bandwidth_hz"]
        width = band.factor * rows["bandwidth_hz"]
        right.barh(place, width, height=0.7, color=GREEN, edgecolor=BLACK, linewidth=0.4)
        right.set_xlabel(band.head)
    _rows_of(left, [_short(str(name)) for name in rows["device"]])
    right.grid(visible=False, axis="y")
    right.tick_params(axis="y", length=0)
    return figure


def _rows_of(axes: "Axes", labels: list[str], bottom: float = 0.0) -> None:
    axes.set_yticks(range(len(labels)), labels, parse_math=False, fontsize=8.0)
    axes.set_ylim(len(labels) - 0.45 + bottom, -0.55)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(GREY)


def _short(name: str) -> str:
    shown = literal(name)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
