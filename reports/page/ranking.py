"""Every method of a scenario's problems in the order of what it brings, and what more of one thing would bring.

The plain record of `msopt compare`; every number is in SI units, None for what is not there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from msopt import METHODS, MsoptError, Scenario, Solution
from msopt.model.objective import Sum
from msopt.model.problems import Problem
from msopt.sensitivity import elasticities
from reports.methods.user_variant import Variants
from reports.page.comparison import answer_by, beside, best_of, row_of
from reports.page.lead import best_of_problems
from reports.page.what_if import what_if
from reports.shared.protocols import CENTRALISED, SERVER_ONLY, with_protocols
from reports.shared.rows import Row
from reports.shared.simpler_rules import ONE_LENGTH, closest_and_weakest
from reports.shared.solution_warnings import told_once
from reports.studies.points import Failure, attempt

_OF_A_PROBLEM = (
    "problem",
    "method",
    "goodput_tokens_per_s",
    "standard_error_tokens_per_s",
    "bound_tokens_per_s",
    "gap",
    "utility",
    "utility_value",
    SERVER_ONLY,
    CENTRALISED,
)
"""What is kept of a problem's best solution; `msopt solve` shows the rest."""
_ROUND_OFF = ".9e"
"""Digits by which methods are ranked: the later ones differ between two ways to the same control."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What is to be compared.

    Attributes
    ----------
    scenario : Scenario
    problems : sequence of str
    own : sequence of "MODULE:FUNCTION"
        Methods of the user, beside ours.
    asked : Variants
        A utility and limits of the user, beside the scenario's.
    options : mapping
        `samples` and `seed`, of every method.
    """

    scenario: Scenario
    problems: Sequence[Problem]
    own: Sequence[str]
    asked: Variants
    options: Mapping[str, Any]

    @property
    def steps(self) -> int:
        """How many steps `compared` tells of."""
        return sum(len(METHODS[problem]) + len(self.own) for problem in self.problems) + 1


def compared(order: Comparison, tick: Callable[[str], None] = lambda _: None) -> Row:
    """The tables `problems`, `methods`, `changes`, `elasticities` as lists of rows, and names and texts beside them.

    `changes` and `elasticities` are those of `best_problem`. A problem or a method without an answer has a `reason`.

    Parameters
    ----------
    order : Comparison
    tick : callable
        Told the name of each step before it is taken.

    Raises
    ------
    MsoptError
        Where no problem has an answer: why the first one has none.
    """
    ranked: dict[Problem, tuple[Solution, list[Row]]] = {}
    errors: dict[Problem, MsoptError] = {}
    for problem in order.problems:
        try:
            ranked[problem] = _ranked(order, problem, tick)
        except MsoptError as error:
            errors[problem] = error
    if not ranked:
        raise next(iter(errors.values()))
    problems = [_of_problem(best, rows) for best, rows in ranked.values()]
    chosen = best_of_problems(problems)["problem"]
    without = dict.fromkeys(problems[0])
    problems += [without | {"problem": problem, "reason": str(error)} for problem, error in errors.items()]
    best, rows = ranked[chosen]
    tick(f"{chosen}: what more would bring")
    worth = attempt(_elasticities, best)
    return {
        "scenario": order.scenario.name,
        "devices": order.scenario.device_count,
        "best_problem": chosen,
        "draft_length": [] if best.control is None else best.control.draft_length.tolist(),
        "problems": problems,
        "methods": [row for _, rows in ranked.values() for row in rows],
        "changes": what_if([best], rows, order.asked, order.options),
        "elasticities": [] if isinstance(worth, Failure) else worth,
        "warnings": told_once([solution for solution, _ in ranked.values()]),
    }


def _ranked(order: Comparison, problem: Problem, tick: Callable[[str], None]) -> tuple[Solution, list[Row]]:
    """The best control of a problem, which may be a user's, and a row for each method, the best first."""

    def timed(name: str, function: Callable[..., Any], *given: Any) -> tuple[Any, float]:
        tick(f"{problem}: {name}")
        started = perf_counter()
        return function(*given, order.asked, order.options), perf_counter() - started

    ours, seconds = timed("the best", best_of, order.scenario, problem)
    answers = {ours.method: (ours, seconds)}
    answers |= {name: timed(name, answer_by, ours, name) for name in beside(ours, order.own)}
    controls = [found for found, _ in answers.values() if isinstance(found, Solution) and found.control is not None]
    best = max(controls, key=_worth)
    if best.bound is None and ours.bound is not None:
        best = replace(best, bound=max(ours.bound, best.goodput))  # a user's method knows none
    server_only = with_protocols(ours)[SERVER_ONLY]
    rows = [
        row | _more(found, seconds, server_only)
        for name, (found, seconds) in answers.items()
        if (row := row_of(best, name, found)) is not None
    ]
    worth = {name: _worth(found) for name, (found, _) in answers.items()}
    return best, sorted(rows, key=lambda row: worth[row["method"]], reverse=True)


def _worth(found: Solution | Failure | None) -> float:
    """By what a method is ranked: the goodput, or of another utility its value; last without an answer."""
    if not isinstance(found, Solution):
        return float("-inf")
    value = found.goodput if found.evaluation is None else found.evaluation.utility_value
    return float(f"{value:{_ROUND_OFF}}")


def _more(found: Solution | Failure, seconds: float, server_only: float) -> Row:
    """What a row has beside `row_of`: against no drafts, the utility, the ends of the draft lengths, the time taken."""
    solution = found if isinstance(found, Solution) else None
    control, evaluation = (None, None) if solution is None else (solution.control, solution.evaluation)
    other = evaluation is not None and not isinstance(evaluation.utility, Sum)
    return {
        "gain_over_server_only": None if solution is None else solution.goodput / server_only - 1.0,
        "utility_value": evaluation.utility_value if evaluation is not None and other else None,
        "least_draft_length": None if control is None else int(control.draft_length.min()),
        "greatest_draft_length": None if control is None else int(control.draft_length.max()),
        "seconds": seconds,
    }


def _of_problem(best: Solution, rows: Sequence[Row]) -> Row:
    """A problem's best control in numbers, and what it gains over one length for all and over the simpler rules."""
    record = with_protocols(best)
    rule = ONE_LENGTH.get(best.problem)
    simpler = [row for row in rows if row["method"] != best.method]
    return {
        **{key: record[key] for key in _OF_A_PROBLEM},
        **closest_and_weakest(simpler),
        "one_length": rule,
        "one_length_gain": next((row["gain_of_best"] for row in rows if row["method"] == rule), None),
        "reason": None,
    }


def _elasticities(best: Solution) -> list[Row]:
    """What 1 % more of each number that is common to all devices brings, the greatest first."""
    assert best.control is not None
    assert best.evaluation is not None
    found = elasticities(best.scenario, best.control, best.evaluation, devices=False)
    return [{key: value for key, value in vars(one).items() if key != "device"} for one in found]
