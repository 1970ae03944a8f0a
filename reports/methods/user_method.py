"""A user's own method beside ours (`user_answer` says what it may return), scored by the one evaluator.

A control of another problem than the one asked for does not join: a method belongs to the tables and figures of the
problem that its controls are of.
"""

from collections.abc import Iterable
from typing import Any

import msopt
from msopt import Control, ParameterError, Scenario, Solution
from msopt.model.scenario import Problem
from reports.methods.user_answer import answer_of, control_or_lengths
from reports.shared.user_function import load_function
from reports.shared.words import LONGEST_TOLD, one_line

OPTION = "--method"


def check_methods(names: Iterable[str]) -> None:
    """Load every method named, so that a bad name is told before anything is computed."""
    for name in names:
        load_function(OPTION, name)


def what_it_is(name: str) -> str:
    """What its author says of a method in the first line of its docstring."""
    said = load_function(OPTION, name).__doc__
    first = one_line(said.strip().partition("\n")[0]) if isinstance(said, str) else ""
    return first[:LONGEST_TOLD] or "a function that says nothing of itself"


def user_solution(name: str, scenario: Scenario, problem: Problem, **scoring: Any) -> Solution | None:
    """What the method MODULE:FUNCTION makes of a scenario, its goodput computed here; None where it does not apply.

    `scoring` are arguments of `msopt.evaluate`: a utility and limits beside the scenario's, samples and their seed.

    Raises
    ------
    ParameterError
        Where the function cannot be loaded, fails, or answers what no control is made of.
    InfeasibleError
        Where its control breaks a constraint.
    """
    answer = answer_of(f"{OPTION} {name}", load_function(OPTION, name), scenario)
    if answer is None:
        return None
    try:
        control = control_or_lengths(answer, scenario)
        if not isinstance(control, Control):
            raise ParameterError("it returns real lengths, which are no control; whole numbers are needed")
        if control.problem != problem:
            return None
        evaluation = msopt.evaluate(scenario, control, **scoring)
        evaluation.require_feasible()
    except msopt.MsoptError as error:
        raise type(error)(f"{OPTION} {name}: on {scenario.name}: {error}") from None
    return Solution.of(scenario, control, evaluation, method=name)
