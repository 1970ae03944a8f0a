"""Every method of every problem on a scenario, as plain records: what is shown of them, and nothing else is solved."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msopt
from msopt import ParameterError, Scenario, Solution, Sum
from msopt.methods import DECOMPOSITION, EXACT, method_of, methods_of
from msopt.model.problems import PROBLEMS, Problem
from reports.methods.user_method import user_solution, what_it_is
from reports.methods.user_variant import NONE, Variants
from reports.shared.rows import Row
from reports.studies.points import SOLVED, Failure, attempt, solve_best

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


def problems_of(scenario: Scenario, asked: Variants = NONE) -> list[Problem]:
    """Those that take the scenario: with a variant not every problem does."""
    return [
        problem
        for problem in PROBLEMS
        if not (scenario.variant_fields or asked.names)
        or any(method.of_variant for method in methods_of(problem, "optimum"))
    ]


def best_of(
    scenario: Scenario, problem: Problem, asked: Variants = NONE, options: Mapping[str, Any] = NO_OPTIONS
) -> Solution:
    """The optimum where method `exact` is affordable, else the best control that `decomposition` finds.

    `options` are those that go with every method, `samples` and `seed`, here and below.
    """
    return solve_best(scenario, problem, own=asked, options=dict.fromkeys((EXACT, DECOMPOSITION), options))


def compare(ours: Solution, own: Sequence[str] = (), asked: Variants = NONE) -> list[Row]:
    """A row for each method of a problem, and for a user's own, beside the best solution, which comes first."""
    answers = {method: answer_by(ours, method, asked) for method in beside(ours, own)}
    rows = [row_of(ours, method, found) for method, found in {ours.method: ours, **answers}.items()]
    return [row for row in rows if row is not None]


def beside(ours: Solution, own: Sequence[str] = ()) -> list[str]:
    """The names of the other methods of a problem, and of a user's own."""
    return [*(method for method in msopt.METHODS[ours.problem] if method != ours.method), *own]


def answer_by(
    ours: Solution, method: str, asked: Variants = NONE, options: Mapping[str, Any] = NO_OPTIONS
) -> Solution | Failure | None:
    """What another method answers to the problem of a solution, or why it does not; None where it is of another one."""
    return attempt(_solve, ours, method, asked, options)


def row_of(best: Solution, method: str, found: Solution | Failure | None) -> Row | None:
    """One method's goodput, what the best gains over it, and its gap to the bound; None where it is of another problem.

    `gap` is None where the bound does not apply: the method is no control of the problem. A method that needs
    what the scenario lacks, or that fails, has a `status` and a `reason` in place of numbers.
    """
    known = msopt.METHODS[best.problem].get(method)
    if found is None:
        return None
    failure = found if isinstance(found, Failure) else Failure(SOLVED, None)
    solution = found if isinstance(found, Solution) else None
    summed = best.evaluation is None or isinstance(best.evaluation.utility, Sum)  # else goodputs rank nothing
    of_the_problem = solution is not None and solution.control is not None and best.bound is not None
    goodput = None if solution is None else float(solution.goodput)
    return {
        "problem": best.problem,
        "method": method,
        "whose": known.whose if known else "yours",
        "what": known.what if known else what_it_is(method),
        "goodput_tokens_per_s": goodput,
        "standard_error_tokens_per_s": None if solution is None else solution.standard_error,
        "gain_of_best": best.goodput / goodput - 1.0 if goodput and summed else None,
        "gap": best.bound / goodput - 1.0 if of_the_problem and best.bound and goodput else None,
        "status": failure.status,
        "reason": failure.cause,
    }


def _solve(ours: Solution, method: str, asked: Variants, options: Mapping[str, Any]) -> Solution | None:
    scenario, problem = ours.scenario, ours.problem
    if ":" in method:
        return user_solution(method, scenario, problem, **asked.asked, **options)
    most = method_of(problem, method).tried_up_to
    if most is not None and scenario.device_count > most:
        raise ParameterError(f"is tried with at most {most} devices")
    return msopt.solve(scenario, problem, method, bound=ours.bound, **asked.asked, **options)
