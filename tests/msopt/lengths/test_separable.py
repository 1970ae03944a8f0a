"""The separable optimum against enumeration, and what rests on it: equal shares, no corrections, a bound."""

import itertools

import numpy as np
import pytest

from msopt.lengths.separable import best_separable
from msopt.model.goodput import finish_s, play
from msopt.model.scenario import Problem, Scenario
from msopt.modes.bounds.upper import upper_bound
from msopt.modes.expected import expected_correction
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from msopt.rivals.baselines import computation_only_lengths, equal_bandwidth_lengths
from tests.brute_force import random_scenario
from tests.cases import REFERENCE, REFERENCE_NAMES, Description, scenario_of
from tests.tolerances import EXACT, NEVER_ABOVE


def every_length(scenario: Scenario, problem: Problem) -> np.ndarray:
    low, high = scenario.length_limits(problem)
    return np.array(list(itertools.product(range(low, high + 1), repeat=scenario.device_count)), dtype=float)


@pytest.mark.parametrize("seed", range(30))
def test_equal_shares_and_no_corrections_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scenario = scenario_of(random_scenario(rng, int(rng.integers(1, 4)), laws=("geometric", "curve", "beta")))
    share = np.full(scenario.device_count, scenario.equal_share_hz)
    for problem, lengths in (
        ("heterogeneous", equal_bandwidth_lengths(scenario)),
        ("modes", computation_only_lengths(scenario)),
    ):
        best = np.max(play(scenario, problem, every_length(scenario, problem), share).goodput)  # type: ignore[arg-type]
        reached = float(play(scenario, problem, lengths, share).goodput)  # type: ignore[arg-type]
        assert reached == pytest.approx(best, rel=EXACT)


@pytest.mark.parametrize("seed", range(10))
def test_with_a_cost_for_each_rejection(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    scenario = scenario_of(random_scenario(rng, 3))
    cost = rng.uniform(0.0, 0.2, 3)
    one = np.ones(3)
    per_token = finish_s(scenario, "modes", one, one * scenario.equal_share_hz)
    rows = every_length(scenario, "modes")
    seconds = np.max(rows * per_token, axis=1) + scenario.verify_s(rows)
    seconds = seconds + (1.0 - scenario.acceptance.survival(rows)) @ cost
    best = np.max(np.sum(scenario.acceptance.expected_tokens(rows), axis=1) / seconds)
    goodput, lengths = best_separable(scenario, per_token, scenario.length_limits("modes"), cost)
    assert goodput == pytest.approx(best, rel=EXACT)
    place = np.flatnonzero(np.all(rows == lengths, axis=1))[0]
    assert np.sum(scenario.acceptance.expected_tokens(rows[place])) / seconds[place] == pytest.approx(best, rel=EXACT)


@pytest.mark.parametrize("case", REFERENCE, ids=REFERENCE_NAMES)
def test_the_bound_for_modes_is_never_below_the_enumerated_optimum(case: Description) -> None:
    scenario = scenario_of(case["scenario"])
    bound = upper_bound(ModeProblem(scenario, expected_correction(scenario, "best")))
    assert bound >= case["expected"]["modes"]["goodput"] * (1.0 - NEVER_ABOVE)


def test_one_device_leaves_no_gap() -> None:
    case = next(case for case in REFERENCE if len(case["scenario"]["devices"]) == 1)
    scenario = scenario_of(case["scenario"])
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    reached = float(problem.goodput(best_lengths(problem)[None, :].astype(float))[0])
    assert upper_bound(problem) == pytest.approx(reached, rel=EXACT)
