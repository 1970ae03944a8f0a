"""A user's own formula in the cross-check: its control scored by the evaluator, against the closed form's optimum.

The function takes a Scenario. It returns a Control, or K draft lengths for problem `heterogeneous`, which get
the split that suits them: an array of whole numbers (integer dtype) is held against the best whole control, of
real ones against the relaxed optimum. None says that the formula does not apply to the scenario.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import msopt
from formulations.registry import OBJECTIVE_RTOL
from msopt import Control, ParameterError, Scenario, Solution
from msopt.files.whole_files import make_folder
from msopt.lengths.relaxed import exact_goodput, length_split, solve_relaxed
from reports.methods.user_method import answer_of, control_of
from reports.shared.user_function import load_function, users_code

Record = dict[str, Any]
OPTION = "--formula"
FORMULA_RTOL = OBJECTIVE_RTOL
"""How far below the closed form's optimum a formula may stay."""


@dataclass(frozen=True)
class Formula:
    """A function of a scenario and what the user called it."""

    name: str
    function: Callable[[Scenario], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """One scenario: goodput over the optimum less one, or why there is none."""

    number: int
    scenario: Scenario
    difference: float | None = None
    status: str = "optimal"
    cause: str = ""
    seconds: float = 0.0


def load_formula(name: str) -> Formula:
    """The function that MODULE:FUNCTION names, the current folder included; ParameterError in one line."""
    return Formula(name, load_function(OPTION, name))


def score_formula(formula: Formula, number: int, scenario: Scenario) -> Score:
    """Ask the formula and score what it says; whatever goes wrong is told as a failure."""
    started = time.perf_counter()
    score = Score(number=number, scenario=scenario)
    try:
        answer = answer_of(f"{OPTION} {formula.name}", formula.function, scenario)
    except ParameterError as error:
        return replace(score, status="error", cause=str(error))
    seconds = time.perf_counter() - started
    if answer is None:
        return replace(score, status="does not apply")
    try:
        goodput, optimum = _scored(scenario, answer)
    except msopt.MsoptError as error:
        return replace(score, status="not scored", cause=str(error))
    return replace(score, difference=goodput / optimum - 1.0, seconds=seconds)


def _scored(scenario: Scenario, answer: Any) -> tuple[float, float]:
    if issubclass(type(answer), Control | Solution):
        control = control_of(answer)
        evaluation = msopt.evaluate(scenario, control)
        evaluation.require_feasible()
        return evaluation.goodput, msopt.solve(scenario, control.problem).goodput
    lengths = _lengths(answer, scenario.device_count)
    low, high = scenario.length_limits("heterogeneous")
    if not np.all((lengths >= low) & (lengths <= high)):
        raise ParameterError(f"a length is outside {low} to {high}")
    if not np.issubdtype(lengths.dtype, np.integer):
        return float(exact_goodput(scenario, lengths)), solve_relaxed(scenario).goodput
    _, share = length_split(scenario, lengths.astype(float))
    control = Control(problem="heterogeneous", draft_length=lengths, bandwidth_hz=share)
    return msopt.evaluate(scenario, control).goodput, msopt.solve(scenario, "heterogeneous").goodput


def _lengths(answer: Any, device_count: int) -> np.ndarray[Any, np.dtype[Any]]:
    """The answer as an array of whole or of real numbers, one for each device."""
    with users_code("what it returns", "is no array"):
        lengths = np.array(answer)
    real = lengths.dtype.kind in "iuf" and not np.ma.is_masked(answer)
    if lengths.shape != (device_count,) or not real:
        raise ParameterError(f"neither a Control nor {device_count} lengths")
    return lengths


def formula_row(formula: Formula, scores: Sequence[Score], folder: Path | None) -> Record:
    """The record of a formula, with the keys of the others that mean something for it."""
    asked = [score for score in scores if score.status != "does not apply"]
    solved = [score for score in asked if score.difference is not None]
    differences = [score.difference for score in solved if score.difference is not None]
    faults = []
    if not solved:
        faults.append("scored on no scenario")
    if len(solved) < len(asked):
        faults.append(f"{len(asked) - len(solved)} of {len(asked)} scenarios without a score")
    worst = min(solved, key=lambda score: score.difference or 0.0, default=None)
    above = max(differences, default=0.0)
    if worst is not None and (worst.difference or 0.0) < -FORMULA_RTOL:
        faults.append(f"below the optimum by {-(worst.difference or 0.0):.1e} in trial {worst.number}")
    if above > FORMULA_RTOL:
        faults.append(f"above the closed form's optimum by {above:.1e}: one of the two is wrong")
    path = None
    if folder is not None and worst is not None:
        make_folder(folder)
        path = str(folder / "formula.toml")
        worst.scenario.write(path, f"The worst for {formula.name}: {worst.difference:.2e} from the optimum.")
    return {
        "formulation": f"formula {formula.name}",
        "solver": None,
        "statement": "yours",
        "closed_form": "msopt.solve, msopt.lengths.relaxed:solve_relaxed",
        "trials": len(asked),
        "solved": len(solved),
        "failures": [
            {"trial": score.number, "scenario": score.scenario.name, "status": score.status, "cause": score.cause}
            for score in asked
            if score.difference is None
        ],
        "objective_difference": {
            "worst": max(differences, key=abs),
            "median": statistics.median(abs(value) for value in differences),
        }
        if differences
        else None,
        "objective_tolerance": FORMULA_RTOL,
        "seconds": {"formula": statistics.median(score.seconds for score in solved) if solved else None},
        "faults": faults,
        "passed": not faults,
        "worst_scenario": path,
    }
