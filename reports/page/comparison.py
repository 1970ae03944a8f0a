"""Every method of every problem on a scenario, as plain records: what the report shows, and nothing else is solved."""

from collections.abc import Sequence

import msopt
from msopt import Scenario, Solution
from msopt.model.objective import GOODPUT
from msopt.model.scenario import Problem
from reports.methods.user_method import user_solution, what_it_is
from reports.methods.user_variant import NONE, Variants
from reports.shared.rows import Row
from reports.studies.points import SOLVED, Failure, attempt, solve_best


def best_of(scenario: Scenario, problem: Problem, asked: Variants = NONE) -> Solution:
    """The optimum where method `exact` is affordable, else the best control that `decomposition` finds."""
    return solve_best(scenario, problem, own=asked)


def compare(ours: Solution, own: Sequence[str] = (), asked: Variants = NONE) -> list[Row]:
    """A row for each method of a problem, and for a user's own, beside the best solution, which comes first."""
    others = [method for method in msopt.METHODS[ours.problem] if method != ours.method]
    rows = [_row(ours, method, asked) for method in (ours.method, *others, *own)]
    return [row for row in rows if row is not None]


def _row(ours: Solution, method: str, asked: Variants) -> Row | None:
    """One method's goodput, what the best gains over it, and its gap to the bound; None where it is of another problem.

    `gap` is None where the bound does not apply: the method is no control of the problem. A method that needs
    what the scenario lacks, or that fails, has a `status` and a `reason` in place of numbers.
    """
    known = msopt.METHODS[ours.problem].get(method)
    found = ours if method == ours.method else attempt(_solve, ours, method, asked)
    if found is None:
        return None
    failure = found if isinstance(found, Failure) else Failure(SOLVED, None)
    solution = found if isinstance(found, Solution) else None
    summed = ours.evaluation is None or ours.evaluation.utility.name == GOODPUT.name  # else goodputs rank nothing
    of_the_problem = solution is not None and solution.control is not None and ours.bound is not None
    goodput = None if solution is None else float(solution.goodput)
    return {
        "problem": ours.problem,
        "method": method,
        "whose": known.whose if known else "yours",
        "what": known.what if known else what_it_is(method),
        "goodput_tokens_per_s": goodput,
        "standard_error_tokens_per_s": None if solution is None else solution.standard_error,
        "gain_of_best": ours.goodput / goodput - 1.0 if goodput and summed else None,
        "gap": ours.bound / goodput - 1.0 if of_the_problem and ours.bound and goodput else None,
        "status": failure.status,
        "reason": failure.cause,
    }


def _solve(ours: Solution, method: str, asked: Variants) -> Solution | None:
    if ":" in method:
        return user_solution(method, ours.scenario, ours.problem)
    return msopt.solve(ours.scenario, ours.problem, method, bound=ours.bound, **asked.asked)
