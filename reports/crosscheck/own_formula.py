"""A user's own formula in the cross-check: its control scored by the evaluator, against the closed form's optimum.

`reports.methods.user_answer` says what it may return. A control, of whole lengths too, is held against the best one of
its problem, K real lengths against the relaxed optimum, a real length for all against that of problem `homogeneous`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import msopt
from formulations.registry import OBJECTIVE_RTOL
from msopt import Control, ParameterError, Scenario
from msopt.files.whole_files import make_folder
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.relaxed import exact_goodput, solve_relaxed
from reports.crosscheck.crosscheck_tables import CrosscheckTables, Subject, tables_of
from reports.crosscheck.trial import Trial
from reports.methods.user_answer import answer_of, control_or_lengths
from reports.shared.user_function import load_function

OPTION = "--formula"
FORMULA_RTOL = OBJECTIVE_RTOL
"""How far below the closed form's optimum a formula may stay."""


@dataclass(frozen=True)
class Formula:
    """A function of a scenario and what the user called it."""

    name: str
    function: Callable[[Scenario], Any]


def load_formula(name: str) -> Formula:
    """The function that MODULE:FUNCTION names, the current folder included; ParameterError in one line."""
    return Formula(name, load_function(OPTION, name))


def score_formula(formula: Formula, number: int, scenario: Scenario) -> Trial:
    """Ask the formula and score what it says; whatever goes wrong is told as a failure."""
    started = time.perf_counter()
    trial = Trial(number=number, scenario=scenario, status="optimal")
    try:
        answer = answer_of(f"{OPTION} {formula.name}", formula.function, scenario)
    except ParameterError as error:
        return replace(trial, status="error", cause=str(error))
    seconds = time.perf_counter() - started
    if answer is None:
        return replace(trial, status="does not apply")
    try:
        goodput, optimum = _scored(scenario, answer)
    except msopt.MsoptError as error:
        return replace(trial, status="not scored", cause=str(error))
    return replace(trial, difference=goodput / optimum - 1.0, first_s=seconds)


def _scored(scenario: Scenario, answer: Any) -> tuple[float, float]:
    """The goodput of what it answered, and the optimum that it is held against."""
    found = control_or_lengths(answer, scenario)
    if not isinstance(found, Control):
        optimum = solve_relaxed(scenario).goodput if found.ndim else solve_homogeneous(scenario).relaxed_goodput
        return float(exact_goodput(scenario, np.broadcast_to(found, scenario.device_count))), optimum
    evaluation = msopt.evaluate(scenario, found)
    evaluation.require_feasible()
    return evaluation.goodput, msopt.solve(scenario, found.problem).goodput


def formula_tables(formula: Formula, trials: Sequence[Trial], folder: Path | None) -> CrosscheckTables:
    """The tables of a formula, from its trials; the worst scenario is written into a folder, where there is one."""
    asked = [trial for trial in trials if trial.status != "does not apply"]
    differences = [(trial.difference, trial) for trial in asked if trial.difference is not None]
    faults = []
    if not differences:
        faults.append("scored on no scenario")
    if len(differences) < len(asked):
        faults.append(f"{len(asked) - len(differences)} of {len(asked)} scenarios without a score")
    below, worst = min(differences, key=lambda pair: pair[0], default=(0.0, None))
    above = max((difference for difference, _ in differences), default=0.0)
    if worst is not None and below < -FORMULA_RTOL:
        faults.append(f"below the optimum by {-below:.1e} in trial {worst.number}")
    if above > FORMULA_RTOL:
        faults.append(f"above the closed form's optimum by {above:.1e}: one of the two is wrong")
    path = None
    if folder is not None and worst is not None:
        make_folder(folder)
        path = str(folder / "formula.toml")
        worst.scenario.write(path, f"The worst for {formula.name}: {below:.2e} from the optimum.")
    subject = Subject(
        formulation=f"formula {formula.name}",
        solver=None,
        statement="yours",
        closed_form="msopt.solve, msopt.lengths.relaxed:solve_relaxed",
        bound=False,
        objective_tolerance=FORMULA_RTOL,
    )
    return tables_of(subject, asked, faults, worst=path)
