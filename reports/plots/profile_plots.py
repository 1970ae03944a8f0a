"""Measured parameters as figures: acceptance, curves beside their laws, verification times, payload."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from msopt.shown.palette import BLACK, BLUE, SERIES, VERMILION
from reports.plots.style import Panel, end_labels, new_panel, styled
from reports.shared.quantities import QUANTITIES

if TYPE_CHECKING:
    from pandas import DataFrame


def profile_panels(place: int, tables: "dict[str, DataFrame]") -> list[Panel]:
    """The panels of one profile; `tables` holds its rows of the tables of `reports.page.profile_tables`."""
    parts = ("acceptance", "curves", "verification", "payload")
    acceptance, curves, verification, payload = (tables[f"profile_{part}"] for part in parts)
    panels = []
    if len(acceptance):
        panels.append(("acceptance", "Acceptance by task", acceptance_panel(acceptance)))
    if len(curves):
        for number, (task, rows) in enumerate(curves.groupby("task", sort=False), start=1):
            panels.append((f"curve-{number}", f"Acceptance curve, {task}", curve_law_panel(rows, str(task))))
    if len(verification):
        panels.append(("verification", "Verification time", verification_panel(verification)))
    if len(payload):
        panels.append(("payload", "Payload against acceptance", payload_panel(payload)))
    return [Panel(f"profile-{place}-{name}", title, figure) for name, title, figure in panels]


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
def curve_law_panel(rows: "DataFrame", task: str) -> Figure:
    """S(l) as measured, with its interval, beside the geometric and the Beta law."""
    figure, axes = new_panel(task)
    at = rows["position"].to_numpy(dtype=float)
    axes.fill_between(at, rows["low"].astype(float), rows["high"].astype(float), color=BLACK, alpha=0.13, linewidth=0.0)
    axes.plot(at, rows["survival"].astype(float), "o-", color=BLACK)
    ends = [("measured", float(rows["survival"].iloc[-1]), BLACK)]
    for name, colour, line in (("geometric", BLUE, "--"), ("beta", VERMILION, "-.")):
        law = rows[name].astype(float)
        if law.notna().any():
            axes.plot(at, law, line, color=colour)
            ends.append((f"{name} law".capitalize() if name == "beta" else f"{name} law", float(law.iloc[-1]), colour))
    axes.set_xlim(at.min(), max(at.max(), at.min() + 1))
    axes.set_ylim(0.0, 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("drafted tokens l [token]")
    axes.set_ylabel("all of them accepted, S(l) [1]")
    end_labels(axes, ends)
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
        ends.append((f"L = {length}", time.factor * float(group["fit_s"].iloc[-1]), colour))
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(0.0, float(rows["batch"].max()) * 1.04)
    axes.set_xlabel(QUANTITIES["batch_devices"].head)
    axes.set_ylabel(time.head)
    end_labels(axes, ends)
    return figure


@styled
def payload_panel(rows: "DataFrame") -> Figure:
    """Acceptance when drafting from what is sent, against the bits of a distribution; a line for each quantisation."""
    figure, axes = new_panel("Payload against acceptance")
    payload = QUANTITIES["distribution_bits"]
    ends = []
    ordered = rows.sort_values("distribution_bits", kind="stable")
    for place, (key, group) in enumerate(ordered.groupby(["task", "probability_bits"])):
        colour, marker, line = SERIES[place % len(SERIES)]
        task, bits = key
        at, mean = (
            payload.factor * group["distribution_bits"].to_numpy(dtype=float),
            group["acceptance"].to_numpy(dtype=float),
        )
        low, high = (group[f"acceptance_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        axes.fill_between(at, low, high, color=colour, alpha=0.13, linewidth=0.0)
        axes.plot(at, mean, marker=marker, linestyle=line, color=colour)
        ends.append((f"{bits} bit" if rows["task"].nunique() == 1 else f"{task}, {bits} bit", float(mean[-1]), colour))
    axes.set_xscale("log")
    ticks = sorted(set(payload.factor * rows["distribution_bits"]))
    axes.set_xticks(ticks if len(ticks) <= 8 else ticks[:: len(ticks) // 6], minor=False)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.3g}")
    axes.set_xlabel(payload.head)
    axes.set_ylabel(QUANTITIES["acceptance"].axis)
    end_labels(axes, ends)
    return figure
