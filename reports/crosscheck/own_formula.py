"""A user's own formula in the cross-check: its control scored by the evaluator, against the closed form's optimum.

`reports.methods.user_answer` says what it may return. A control, of whole lengths too, is held against the best one of
its problem, real lengths against the relaxed optimum.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msopt
from formulations.registry import OBJECTIVE_RTOL
from msopt import Control, ParameterError, Scenario
from msopt.files.whole_files import make_folder
from msopt.lengths.relaxed import exact_goodput, solve_relaxed
from reports.methods.user_answer import answer_of, control_or_lengths
from reports.shared.user_function import load_function

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
    """The goodput of what it answered, and the optimum that it is held against."""
    found = control_or_lengths(answer, scenario)
    if not isinstance(found, Control):
        return float(exact_goodput(scenario, found)), solve_relaxed(scenario).goodput
    evaluation = msopt.evaluate(scenario, found)
    evaluation.require_feasible()
    return evaluation.goodput, msopt.solve(scenario, found.problem).goodput


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
