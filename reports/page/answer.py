"""The answer as tables: every method of every problem on each scenario, who gets what, and what was read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from msopt import Scenario, Solution, react
from msopt.files.whole_files import read_text
from reports.methods.user_variant import NONE, Variants
from reports.page.comparison import best_of, compare, problems_of
from reports.page.variant_rows import limit_rows, variant_rows
from reports.page.what_if import what_if
from reports.shared.inputs import provenance
from reports.shared.protocols import with_protocols
from reports.shared.quantities import units_of
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row
from reports.shared.summary import parameters

if TYPE_CHECKING:
    from pandas import DataFrame

_TITLES = {
    "answer_scenarios": "The scenarios and where their numbers come from",
    "answer_parameters": "What was read of each scenario",
    "answer_cells": "The devices of each scenario",
    "answer_solutions": "The best control found, its bound, and where the time of a round goes",
    "answer_methods": "Every method of every problem",
    "answer_devices": "Who gets which length and bandwidth, and how its corrections travel",
    "answer_variant": "What a variant asks for, and what it costs",
    "answer_limits": "What the limits of a variant leave, and what they are worth",
    "answer_reaction": "The reaction if every draft were rejected: who corrects which way, at what power",
    "answer_what_if": "What more of one thing would bring",
    "answer_warnings": "What the methods warn of",
}
TABLES = tuple(_TITLES)
_SKIPPED = ("scenario", "devices", "warnings", "solver", "correction", "limits")


def answer(scenarios: Sequence[tuple[str, Path]], own: Sequence[str] = (), asked: Variants = NONE) -> Record:
    """Solve every problem of each scenario by every method.

    Parameters
    ----------
    scenarios : sequence of (what the user called it, file)
    own : sequence of "MODULE:FUNCTION"
        Methods of the user, beside ours.
    asked : Variants
        A utility and limits of the user, beside what the scenarios ask for.

    Returns
    -------
    Record
        The tables named in `TABLES`; each has a column `place`, the scenario's number from 1.

    Raises
    ------
    ParameterError
        For a bad scenario.
    """
    import pandas as pd

    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for place, (source, path) in enumerate(scenarios, start=1):
        for name, found in _study(source, path, own, asked).items():
            rows[name] += [{"place": place} | row for row in found]
    tables = {name: pd.DataFrame(found, columns=None if found else ["place"]) for name, found in rows.items()}
    return Record({"tables": {name: _about(name, table) for name, table in tables.items()}}, tables)


def _about(name: str, table: "DataFrame") -> Row:
    return undrawn(_TITLES[name], "the scenario files named on the command line", units_of(table.columns))


def _study(source: str, path: Path, own: Sequence[str], asked: Variants) -> dict[str, list[Row]]:
    scenario = Scenario.read(path)
    solutions = {problem: best_of(scenario, problem, asked) for problem in problems_of(scenario, asked)}
    kept = {name: with_protocols(value) for name, value in solutions.items()}
    methods = [row for solution in solutions.values() for row in compare(solution, own, asked)]
    warnings = dict.fromkeys(text for record in kept.values() for text in record["warnings"])
    told = "\n".join(provenance(read_text(path)))
    return {
        "answer_scenarios": [{"scenario": scenario.name, "source": source, "provenance": told}],
        "answer_parameters": [row._asdict() for row in parameters(scenario)],
        "answer_cells": _cells(scenario),
        "answer_solutions": [
            {key: value for key, value in record.items() if key not in _SKIPPED} for record in kept.values()
        ],
        "answer_methods": methods,
        "answer_devices": [
            {"problem": problem, "device": device.pop("name")} | device
            for problem, record in kept.items()
            for device in record["devices"]
        ],
        "answer_variant": variant_rows(scenario, solutions, asked),
        "answer_limits": limit_rows(solutions, asked),
        "answer_reaction": _reaction(solutions["modes"]) if "modes" in solutions else [],
        "answer_what_if": what_if(list(solutions.values()), methods, asked),
        "answer_warnings": [{"text": text} for text in warnings],
    }


def _reaction(solution: Solution) -> list[Row]:
    """What each device that drafts would do were all drafts rejected."""
    assert solution.control is not None
    scenario = solution.scenario
    drafting = np.flatnonzero(solution.control.draft_length > 0)
    if not drafting.size:
        return []
    reaction, _ = react(scenario, drafting.tolist())
    return [
        {
            "device": scenario.device_names[k],
            "mode": reaction.modes[place],
            "bandwidth_hz": float(reaction.bandwidth_hz[place]),
            "downlink_power_w": None if np.isnan(watts := reaction.downlink_power_w[place]) else float(watts),
        }
        for place, k in enumerate(reaction.rejected)
    ]


def _cells(scenario: Scenario) -> list[Row]:
    laws = zip(scenario.acceptance.mean, scenario.acceptance.std, scenario.acceptance.curves, strict=True)
    return [
        {
            "device": scenario.device_names[k],
            "acceptance": float(mean) if curve is None else float(curve[0]),
            "acceptance_std": float(std) if std > 0.0 else None,
            "curve_points": None if curve is None else len(curve),
            "draft_s_per_token": float(scenario.draft_s_per_token[k]),
            "uplink_snr_db": float(scenario.uplink_snr_db[k]),
            "downlink_snr_db": float(scenario.downlink_snr_db[k]),
        }
        for k, (mean, std, curve) in enumerate(laws)
    ]
