"""Every figure of the page, from a record: groups of panels, each panel a file of its own."""

from dataclasses import replace
from typing import TYPE_CHECKING

from msopt import PlayedRounds
from reports.plots.answer_plots import answer_panels
from reports.plots.calibration_plots import calibration_panels
from reports.plots.distributions import error_panels, gain_panels
from reports.plots.profile_plots import profile_panels
from reports.plots.study_plots import study_panels
from reports.plots.style import WIDTH_IN, Panel
from reports.plots.timeline import timeline_panel
from reports.shared.record import Record

if TYPE_CHECKING:
    from pandas import DataFrame

STUDY_FIGURES: dict[str, tuple[str, ...]] = {
    "ms_fig3": ("ms_fig3",),
    "ms_fig4": ("ms_fig4_verification", "ms_fig4_latency", "ms_fig4_acceptance"),
    "ms_fig5": ("ms_fig5",),
    "ms_fig6": ("ms_fig6",),
    "ms_fig7": ("ms_fig7",),
    "ms_grid": ("ms_grid",),
    "ms_fig8": ("ms_fig8",),
    "ud_fig6": ("ud_fig6",),
    "ud_fig7_8": ("ud_fig7_8_goodput", "ud_fig7_8_length", "ud_fig7_8_shares"),
    "ud_fig9_10": ("ud_fig9_10",),
    "ud_fig11": ("ud_fig11",),
}
"""The papers' figures and the tables that each is drawn from."""

OUR_FIGURES = ("unknown_value", "unknown_regret")
"""Figures of studies of ours, each drawn from the table of its name."""

HEADINGS_OF = {
    "ms_fig4": "The best length, and what moves it ([MS] Fig. 4)",
    "ud_fig7_8": "Goodput, lengths and modes against downlink power ([UD] Figs. 7 and 8)",
}
"""Of figures drawn from several tables."""

WHOLE = ("whole-lengths", "mode-selection")
"""The formulations that enumeration must meet."""

CLAIMS_OF: dict[str, tuple[str, ...]] = {
    "ms_fig3": ("unimodal", "closed-form"),
    "ms_fig4": ("length-verification", "length-latency", "length-acceptance", "asymptote"),
    "ms_fig5": (),
    "ms_fig6": (
        *("level-llama2", "level-qwen35", "over-centralised-llama2", "over-centralised-qwen35"),
        *("over-centralised-serial-llama2", "over-centralised-serial-qwen35", "over-point-to-point-llama2"),
    ),
    "ms_fig7": (
        *("gain-at-5-mhz-llama2", "gain-at-5-mhz-qwen35", "gain-at-most-llama2", "gain-at-most-qwen35"),
        *("saturates", "gain-narrows", "uni-bw-above-homo"),
    ),
    "ms_grid": ("grid-global",),
    "ms_fig8": (
        *("gain-at-10-devices-llama2", "gain-at-24-devices-llama2"),
        *("gain-at-10-devices-qwen35", "gain-at-24-devices-qwen35", "gain-grows"),
        *("fixed-saturates", "fixed-degrades", "fixed-degrades-later", "gap-widens", "gap-widens-in-tokens"),
    ),
    "ud_fig6": ("crossing", "crossing-size", "best-uplink-set-qwen25", "best-uplink-set-deepseek-r1"),
    "ud_fig7_8": (
        *("power-rises-greedy", "power-rises-optimum", "power-saturates-greedy", "power-saturates-optimum"),
        *("length-rises-greedy", "length-rises-optimum", "length-never-falls-greedy", "length-never-falls-optimum"),
        *("moves-to-downlink", "not-all-move"),
    ),
    "ud_fig9_10": (
        *("selection-over-all-uplink", "selection-over-all-downlink", "selection-over-random-modes"),
        *("ratio-closer", "ratio-behind", "ratio-further-behind"),
        *("uplink-somewhere", "downlink-somewhere", "uplink-in-a-draw", "downlink-in-a-draw"),
    ),
    "ud_fig11": (
        *("greedy-above-uniform-length", "optimum-above-uniform-length", "greedy-above-computation-only-greedy"),
        *("greedy-above-computation-only", "optimum-above-computation-only", "greedy-close"),
    ),
}
"""The claims that each of them bears on."""


def figures(record: Record) -> dict[str, list[Panel]]:
    """The panels of each figure, by the figure's name.

    Parameters
    ----------
    record : Record
        With every table of the report.
    """
    tables, about = record.tables, record.manifest["tables"]
    found: dict[str, list[Panel]] = {}
    scenarios = tables["answer_scenarios"]
    for place, scenario in zip(scenarios["place"], scenarios["scenario"], strict=True):
        methods, devices = (
            tables[name][tables[name]["place"] == place] for name in ("answer_methods", "answer_devices")
        )
        found |= answer_panels(int(place), str(scenario), methods, devices)
    found["crosscheck"] = _crosscheck(record)
    for figure, names in (STUDY_FIGURES | {name: (name,) for name in OUR_FIGURES}).items():
        found[figure] = [panel for name in names for panel in _studied(record, name)]
    for study in ("ms", "ud"):
        of = {name.removeprefix(f"{study}_"): table for name, table in tables.items()}
        panels = calibration_panels(f"{study}_calibration", of)
        named = [replace(panel, title=f"[{study.upper()}]: {panel.title.lower()}") for panel in panels]
        found[f"{study}_calibration"] = _effort_said(record, named)
    found["timeline"] = _timelines(tables["loop_timeline"])
    paper = float(about["gains"]["paper_gain"])
    for problem in dict.fromkeys(tables["gains"]["problem"]):
        quantiles, gains = (tables[name][tables[name]["problem"] == problem] for name in ("gains_quantiles", "gains"))
        known = paper if problem == "heterogeneous" else None
        found[f"gains-{problem}"] = _effort_said(record, gain_panels(str(problem), quantiles, gains, known))
    for place, profile in enumerate(tables["profiles"]["profile"], start=1):
        measured = {
            name: table[table["profile"] == profile] for name, table in tables.items() if name.startswith("profile_")
        }
        found[f"profile-{place}"] = profile_panels(place, str(profile), measured)
    return found


def _studied(record: Record, name: str) -> list[Panel]:
    """The panels of a table of means; a closed form costs nothing, and has all its points in every report."""
    table = record.tables[name]
    panels = study_panels(name, table, record.manifest["tables"][name])
    return _effort_said(record, panels) if (table["draws"] > 1).any() else panels


def _effort_said(record: Record, panels: list[Panel]) -> list[Panel]:
    """In a quick report every figure that a full one draws better says so itself: it may be taken out of its page."""
    effort = record.manifest["effort"]["name"]
    return panels if effort == "full" else [panel.noted(effort) for panel in panels]


def _timelines(table: "DataFrame") -> list[Panel]:
    """A panel for each problem, with the first rounds of a cell."""
    found = []
    for (of_pair, problem), rows in table.groupby(["pair", "problem"], sort=False):
        played = PlayedRounds.from_frame(rows)
        title = f"Problem {problem}, {of_pair}"
        panel = timeline_panel(played, f"Problem {problem}", width_in=WIDTH_IN)
        found.append(Panel(f"timeline-{problem}", title, panel))
    return found


def _crosscheck(record: Record) -> list[Panel]:
    """Trials with what their formulation is: a bound, which may lie above, is left out of the differences."""
    rows = record.tables["crosscheck"].set_index(["formulation", "solver"])
    trials = record.tables["crosscheck_trials"].join(rows[["bound", "algorithm"]], on=["formulation", "solver"])
    bound = trials["bound"].astype(bool)
    numbers = ("objective_difference", "certificate", "above_algorithm", "above_brute_force")
    trials = trials.assign(
        **{name: trials[name].astype(float) for name in numbers}, whole=trials["formulation"].isin(WHOLE)
    )
    trials.loc[bound, "objective_difference"] = float("nan")
    return error_panels(trials, float(record.manifest["tolerances"]["objective_rtol"]))
