"""Measured parameters as figures: acceptance, curves beside their laws, verification times, payload."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from msopt.shown.palette import BLACK, BLUE, SERIES, VERMILION
from reports.plots.small_multiples import name_axes, small_multiples
from reports.plots.style import End, Panel, end_labels, new_panel, styled
from reports.shared.quantities import QUANTITIES

if TYPE_CHECKING:
    from pandas import DataFrame


def profile_panels(place: int, name: str, tables: "dict[str, DataFrame]") -> list[Panel]:
    """The panels of a profile by name; `tables` holds its rows of the tables of `reports.page.profile_tables`."""
    parts = (
        ("acceptance", "acceptance by task", acceptance_panel),
        ("curves", "acceptance curves by task", curves_panel),
        ("verification", "verification time", verification_panel),
        ("payload", "payload against acceptance", payload_panel),
    )
    return [
        Panel(f"profile-{place}-{part}", f"{name}: {title}", drawn(tables[f"profile_{part}"]))
        for part, title, drawn in parts
        if len(tables[f"profile_{part}"])
    ]


@styled
def acceptance_panel(rows: "DataFrame") -> Figure:
    """Acceptance of each task by both estimators, with intervals."""
    figure, axes = new_panel("Acceptance by task", 1.15 + 0.3 * len(rows))
    at = np.arange(len(rows))
    for shift, name, label, colour, marker in (
        (-0.13, "acceptance", "accepted / visited", BLACK, "o"),
        (0.13, "acceptance_by_overlap", "mean of Σ min(p, q)", VERMILION, "s"),
    ):
        axes.hlines(at + shift, rows[f"{name}_low"].astype(float), rows[f"{name}_high"].astype(float), color=colour)
        axes.plot(rows[name].astype(float), at + shift, marker, color=colour, label=label)
    axes.set_yticks(at, rows["task"], parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(QUANTITIES["acceptance"].axis)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@styled
def curves_panel(rows: "DataFrame") -> Figure:
    """S(l) of each task as measured, with its interval, beside the geometric and the Beta law."""
    figure, panels = small_multiples("Acceptance curves", list(rows["task"].unique()), ylim=(0.0, 1.0))
    for (_, group), axes in zip(rows.groupby("task", sort=False), panels, strict=True):
        at = group["position"].to_numpy(dtype=float)
        low, high, curve = (group[name].astype(float) for name in ("low", "high", "survival"))
        axes.fill_between(at, low, high, color=BLACK, alpha=0.13, linewidth=0.0)
        axes.plot(at, curve, "o-", color=BLACK, markersize=3.0, label="measured")
        for name, label, colour, line in (
            ("geometric", "geometric law", BLUE, "--"),
            ("beta", "Beta law", VERMILION, "-."),
        ):
            if (law := group[name].astype(float)).notna().any():
                axes.plot(at, law, line, color=colour, label=label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_xlim(rows["position"].min(), max(rows["position"].max(), rows["position"].min() + 1))
    name_axes(figure, panels, "drafted tokens l [token]", "all of them accepted, S(l) [1]")
    return figure


@styled
def verification_panel(rows: "DataFrame") -> Figure:
    """Median time of each batch and draft length, with quartiles; lines are the fit."""
    figure, axes = new_panel("Verification: points measured, lines fitted")
    time = QUANTITIES["verify_s"]
    ends = []
    for place, (length, group) in enumerate(rows.sort_values("batch").groupby("draft_length")):
        colour, marker, line = SERIES[place % len(SERIES)]
        batch = group["batch"].to_numpy(dtype=float)
        median, q25, q75 = (time.factor * group[f"{name}_s"].to_numpy(dtype=float) for name in ("median", "q25", "q75"))
        axes.errorbar(batch, median, [median - q25, q75 - median], fmt=marker, color=colour, linewidth=1.0)
        axes.plot(batch, time.factor * group["fit_s"].to_numpy(dtype=float), linestyle=line, color=colour)
        ends.append(End(f"L = {length}", time.factor * float(group["fit_s"].iloc[-1]), colour))
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(0.0, float(rows["batch"].max()) * 1.04)
    axes.set_xlabel(QUANTITIES["batch_devices"].head)
    axes.set_ylabel(time.head)
    end_labels(axes, ends)
    return figure


@styled
def payload_panel(rows: "DataFrame") -> Figure:
    """Acceptance when drafting from what is sent, against the bits of a distribution; a line for each quantisation."""
    figure, panels = small_multiples("Payload against acceptance", list(rows["task"].unique()))
    payload = QUANTITIES["distribution_bits"]
    looks = dict(zip(sorted(rows["probability_bits"].unique()), SERIES, strict=False))
    for (_, of_task), axes in zip(rows.groupby("task", sort=False), panels, strict=True):
        for bits, group in of_task.sort_values("distribution_bits", kind="stable").groupby("probability_bits"):
            colour, marker, line = looks[bits]
            at = payload.factor * group["distribution_bits"].to_numpy(dtype=float)
            low, high, mean = (group[f"acceptance{end}"].to_numpy(dtype=float) for end in ("_low", "_high", ""))
            axes.fill_between(at, low, high, color=colour, alpha=0.08, linewidth=0.0)
            axes.plot(at, mean, marker=marker, linestyle=line, color=colour, markersize=3.0, label=f"{bits} bit")
    panels[0].set_xscale("log")
    panels[0].xaxis.set_major_formatter("{x:g}")
    panels[0].xaxis.set_minor_formatter(NullFormatter())
    name_axes(figure, panels, payload.head, QUANTITIES["acceptance"].axis)
    return figure
