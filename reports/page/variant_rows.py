"""What a variant is, what its limits leave and are worth, and what it costs: rows of the answer."""

from collections.abc import Mapping

import numpy as np

import msopt
from msopt import Scenario, Solution
from msopt.model.fields import OF_A_VARIANT
from msopt.model.scenario import Problem
from reports.methods import CONVEX
from reports.methods.user_variant import Variants
from reports.shared.rows import Row
from reports.shared.summary import parameters
from reports.studies.points import attempt, solve_best


def variant_rows(scenario: Scenario, solutions: Mapping[Problem, Solution], asked: Variants) -> list[Row]:
    """What is asked for beside the papers' problem, and the goodput that this costs; none without a variant."""
    if not (scenario.variant_fields or asked.names):
        return []
    keys = {field.removeprefix("device_") for field in scenario.variant_fields}
    words = [f"{one.key} = {one.value}" for one in parameters(scenario) if one.key.removeprefix("variant.") in keys]
    plain = scenario.replace(**dict.fromkeys(OF_A_VARIANT))
    found = []
    for problem, solution in solutions.items():
        free = solve_best(plain, problem).goodput
        found.append(
            {
                "problem": problem,
                "asked": "; ".join([*words, *asked.names]),
                "goodput_tokens_per_s": solution.goodput,
                "plain_goodput_tokens_per_s": free,
                "cost": 1.0 - solution.goodput / free if free else None,
            }
        )
    return found


def limit_rows(solutions: Mapping[Problem, Solution], asked: Variants) -> list[Row]:
    """Each limit's least slack; where the conic program has a price, that of the device for whom it is greatest."""
    return [row for problem, solution in solutions.items() for row in _of_problem(problem, solution, asked)]


def _of_problem(problem: Problem, solution: Solution, asked: Variants) -> list[Row]:
    limits = solution.to_dict()["limits"]
    found = attempt(_convex, solution, asked) if limits else None
    prices = found.limit_prices if isinstance(found, Solution) else {}
    return [
        {"problem": problem, "name": name, "slack": limit["slack"], "unit": limit["unit"]}
        | {"price": float(np.max(prices[name])) if name in prices else None}
        for limit in limits
        for name in (limit["name"],)
    ]


def _convex(solution: Solution, asked: Variants) -> Solution:
    return msopt.solve(solution.scenario, solution.problem, CONVEX, **asked.asked)
