"""A user's own method beside ours: a function from a Scenario to a Control or a Solution, scored by the one evaluator.

It answers None where it does not apply. A control of another problem than the one asked for does not join: a method
belongs to the tables and figures of the problem that its controls are of.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import msopt
from msopt import Control, ParameterError, Scenario, Solution
from msopt.model.scenario import Problem
from reports.shared.user_function import load_function, users_code

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
    answer = answer_of(f"{OPTION} {name}", load_function(OPTION, name), scenario)
    if answer is None:
        return None
    try:
        control = control_of(answer)
        if control.problem != problem:
            return None
        evaluation = msopt.evaluate(scenario, control)
        evaluation.require_feasible()
    except msopt.MsoptError as error:
        raise type(error)(f"{OPTION} {name}: on {scenario.name}: {error}") from None
    return Solution.of(scenario, control, evaluation, method=name)


def answer_of(who: str, function: Callable[[Scenario], Any], scenario: Scenario) -> Any:
    """What a user's function answers; ParameterError where it fails."""
    with users_code(who, f"fails on {scenario.name}"):
        answer = function(scenario)
        if inspect.iscoroutine(answer):
            answer.close()  # else Python warns, whenever it comes to it, that nothing waited for it
    return answer


def control_of(answer: Any) -> Control:
    """The control that a user's answer is or holds, made anew, so that it is whole and checked.

    Raises
    ------
    ParameterError
        Where there is none, or what looks like one is none.
    """
    control = answer
    # Of its type and not of what it says of itself: an object may name any class as its own.
    if issubclass(type(answer), Solution):
        with users_code("what it returns", "is no whole Solution"):
            control = answer.control
    if not issubclass(type(control), Control):
        kind = "a Solution without a control" if control is None else f"a {type(control).__name__}"
        raise ParameterError(f"it returns {kind}, not a Control, a Solution with one, or None")
    with users_code("what it returns", "is no whole Control"):
        return Control(**{field.name: getattr(control, field.name) for field in fields(Control)})
