"""A user's own method beside ours: a function from a Scenario to a Control or a Solution, scored by the one evaluator.

It answers None where it does not apply. A control of another problem than the one asked for does not join: a method
belongs to the tables and figures of the problem that its controls are of.
"""

from collections.abc import Iterable

import msopt
from msopt import Control, ParameterError, Scenario, Solution
from msopt.scenario import Problem
from reports.user_function import load_function

OPTION = "--method"


def check_methods(names: Iterable[str]) -> None:
    """Load every method named, so that a bad name is told before anything is computed."""
    for name in names:
        load_function(OPTION, name)


def user_solution(name: str, scenario: Scenario, problem: Problem) -> Solution | None:
    """What the method MODULE:FUNCTION makes of a scenario, its goodput computed here; None where it does not apply.

    Raises
    ------
    ParameterError
        Where the function cannot be loaded, fails, or answers neither Control nor Solution nor None.
    InfeasibleError
        Where its control breaks a constraint.
    """
    function = load_function(OPTION, name)
    try:
        answer = function(scenario)
    except (Exception, SystemExit) as error:
        raise ParameterError(f"{OPTION} {name}: fails on {scenario.name}: {type(error).__name__}: {error}") from None
    if answer is None:
        return None
    control = answer.control if isinstance(answer, Solution) else answer
    if not isinstance(control, Control):
        kind = "a Solution without a control" if isinstance(answer, Solution) else f"a {type(answer).__name__}"
        raise ParameterError(f"{OPTION} {name}: returns {kind}, not a Control, a Solution with one, or None")
    if control.problem != problem:
        return None
    try:
        evaluation = msopt.evaluate(scenario, control)
        evaluation.require_feasible()
    except msopt.MsoptError as error:
        raise type(error)(f"{OPTION} {name}: on {scenario.name}: {error}") from None
    return Solution.of(scenario, control, evaluation, method=name)
