"""Problem `modes` of scenarios, and small ones where all or nothing holds, with their optimum."""

from collections.abc import Iterator

import numpy as np

from msopt import Scenario
from msopt.model.control import ModeRule
from msopt.modes.exact_modes import exact_lengths
from msopt.modes.expected import expected_correction
from msopt.modes.hull import all_or_nothing
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from tests import brute_force
from tests.cases import scenario_of


def problem_of(scenario: Scenario, rule: ModeRule = "best", *, seed: int = 0) -> ModeProblem:
    """The problem with exact corrections, beyond the table with sampled ones."""
    return ModeProblem(scenario, expected_correction(scenario, rule, seed=seed))


def one(problem: ModeProblem, lengths: np.ndarray) -> float:
    """The goodput of one control."""
    return float(problem.goodput(np.asarray(lengths, dtype=float)[None, :])[0])


def all_or_nothing_cases(*seed: int) -> Iterator[tuple[ModeProblem, float]]:
    """40 random cases of up to nine devices, geometric and Beta laws, both sharings; each with its best goodput."""
    for case in range(40):
        rng = np.random.default_rng([*seed, case])
        laws = ("geometric",) if case % 2 else ("geometric", "beta")
        description = brute_force.random_scenario(rng, 1 + case % 9, longest=(3, 9), laws=laws)
        description["server"]["verify_per_token_s"] = 0.0
        problem = problem_of(scenario_of(description))
        assert all_or_nothing(problem)
        yield problem, exact_lengths(problem, best_lengths(problem)).bound
