"""Every method of every problem on a scenario, as plain records: what the report shows, and nothing else is solved."""

from collections.abc import Sequence
from typing import Any

import msopt
from msopt import ParameterError, Scenario, Solution
from msopt.scenario import Problem
from reports.method_notes import note
from reports.studies.points import best_method
from reports.studies.study import EXACT_UP_TO
from reports.user_method import user_solution

Row = dict[str, Any]


def best_of(scenario: Scenario, problem: Problem) -> Solution:
    """The optimum where method `exact` is affordable, else the best control that `decomposition` finds."""
    return msopt.solve(scenario, problem, best_method(problem, scenario.device_count, EXACT_UP_TO[problem]))


def compare(ours: Solution, own: Sequence[str] = ()) -> list[Row]:
    """A row for each method of a problem, and for a user's own, beside the best solution, which comes first."""
    others = [method for method in msopt.METHODS[ours.problem] if method != ours.method]
    rows = [_row(ours, method) for method in (ours.method, *others, *own)]
    return [row for row in rows if row is not None]


def _row(ours: Solution, method: str) -> Row | None:
    """One method's goodput, what the best gains over it, and its gap to the bound; None where it is of another problem.

    `gap` is None where the bound does not apply: the method is no control of the problem. A method that needs
    what the scenario lacks has a `reason` in place of numbers.
    """
    whose, what = note(ours.problem, method)
    solution, reason = (ours, None) if method == ours.method else _attempt(ours, method)
    if solution is None and reason is None:
        return None
    of_the_problem = solution is not None and solution.control is not None and ours.bound is not None
    goodput = None if solution is None else float(solution.goodput)
    return {
        "problem": ours.problem,
        "method": method,
        "whose": whose,
        "what": what,
        "goodput_tokens_per_s": goodput,
        "standard_error_tokens_per_s": None if solution is None else solution.standard_error,
        "gain_of_best": None if goodput is None else ours.goodput / goodput - 1.0,
        "gap": ours.bound / goodput - 1.0 if of_the_problem and ours.bound and goodput else None,
        "reason": reason,
    }


def _attempt(ours: Solution, method: str) -> tuple[Solution | None, str | None]:
    if ":" in method:
        return user_solution(method, ours.scenario, ours.problem), None
    try:
        return msopt.solve(ours.scenario, ours.problem, method, bound=ours.bound), None
    except ParameterError as error:
        return None, str(error)
