"""Many scenarios at once against enumeration, against one by one, and what belongs to which scenario."""

import numpy as np
import pytest

from msopt import Control, ParameterError, draw, evaluate, solve, solve_many
from msopt.many import LARGEST_TOGETHER
from msopt.model.scenario import Scenario
from msopt.model.sharing import UplinkSharing
from reports.crosscheck.random_scenarios import family
from tests import brute_force
from tests.cases import scenario_of
from tests.tolerances import EXACT, MANY_AS_ONE, NEVER_ABOVE, OPTIMAL


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_against_enumeration(sharing: UplinkSharing) -> None:
    """Wide random draws of three devices, kinks included, enumerated without any formula of the package."""
    descriptions = [
        brute_force.random_scenario(np.random.default_rng([seed, 7]), 3, sharing=sharing) for seed in range(40)
    ]
    found = solve_many([scenario_of(description) for description in descriptions])
    best = np.array([brute_force.heterogeneous_optimum(description)["goodput"] for description in descriptions])
    assert found.goodput == pytest.approx(best, rel=OPTIMAL)
    assert np.all(found.bound >= best * (1.0 - NEVER_ABOVE))


@pytest.mark.parametrize("preset", ["multispin-llama2", "multispin-qwen35"])
def test_as_one_by_one(preset: str) -> None:
    scenarios = [draw(preset, devices=8, seed=seed)[0] for seed in range(40)]
    found = solve_many(scenarios)
    alone = np.array([solve(scenario).goodput for scenario in scenarios])
    assert found.goodput == pytest.approx(alone, rel=MANY_AS_ONE)


def test_every_row_is_a_control_of_its_own_scenario() -> None:
    """Scenarios differ in everything but their size: band, payload, verification, limits."""
    scenarios: list[Scenario] = [
        family(seed, 5).replace(min_draft_length=seed % 3, max_draft_length=6 + seed % 7) for seed in range(20)
    ]
    found = solve_many(scenarios)
    for row, scenario in enumerate(scenarios):
        control = Control(
            problem="heterogeneous", draft_length=found.draft_length[row], bandwidth_hz=found.bandwidth_hz[row]
        )
        evaluation = evaluate(scenario, control)
        assert evaluation.goodput == pytest.approx(found.goodput[row], rel=EXACT)
        assert found.bound[row] >= found.goodput[row]


@pytest.mark.parametrize("problem", ["homogeneous", "modes"])
def test_other_problems(problem: str) -> None:
    scenarios = [family(seed, 3) for seed in range(4)]
    found = solve_many(scenarios, problem)  # type: ignore[arg-type]
    assert found.goodput.tolist() == [solve(scenario, problem).goodput for scenario in scenarios]  # type: ignore[arg-type]


def test_measured_curves_are_solved_one_by_one() -> None:
    scenarios = [family(seed, 3) for seed in range(3)]
    curved = [scenario.replace(acceptance=scenario.acceptance.interpolated()) for scenario in scenarios]
    assert solve_many(curved).goodput == pytest.approx(solve_many(scenarios).goodput, rel=MANY_AS_ONE)


def test_scenarios_of_different_sizes() -> None:
    with pytest.raises(ParameterError, match=r"one number of devices; given are \[3, 4\]"):
        solve_many([family(0, 3), family(0, 4)])
    with pytest.raises(ParameterError, match=r"given are \[\]"):
        solve_many([])


def _mixed(count: int) -> list[Scenario]:
    """Kinks, both ways to share, costs of a token or none, other limits, other laws: all of four devices."""
    found = []
    for seed in range(count):
        sharing: UplinkSharing = "power-limited" if seed % 2 else "fixed-snr"
        wild = scenario_of(brute_force.random_scenario(np.random.default_rng([seed, 7]), 4, sharing=sharing))
        tame = family(seed, 4, sharing).replace(min_draft_length=seed % 3, max_draft_length=6 + seed % 7)
        found += [wild, tame, tame.replace(verify_per_token_s=0.0)]
    found[3] = found[3].replace(acceptance=found[3].acceptance.interpolated())
    return found


def test_a_row_does_not_depend_on_the_others() -> None:
    """To the last digit: alone, in another order, and among some of the others."""
    scenarios = _mixed(10)
    whole = solve_many(scenarios)
    rng = np.random.default_rng(11)
    parts = [np.array([row]) for row in range(len(scenarios))]
    parts += [rng.permutation(len(scenarios))[:count] for count in (2, 7, 20, len(scenarios))]
    for rows in parts:
        part = solve_many([scenarios[int(row)] for row in rows])
        for name in ("goodput", "bound", "draft_length", "bandwidth_hz"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[rows]), (name, rows)


def test_too_many_devices_are_solved_one_by_one() -> None:
    scenarios = [family(seed, LARGEST_TOGETHER + 1) for seed in range(2)]
    found = solve_many(scenarios)
    alone = [solve(scenario) for scenario in scenarios]
    assert found.goodput.tolist() == [solution.goodput for solution in alone]
    assert found.bound.tolist() == [solution.bound for solution in alone]


def test_scenarios_that_can_be_gone_through_once() -> None:
    scenarios = [family(seed, 3) for seed in range(3)]
    assert solve_many(iter(scenarios)).goodput.tolist() == solve_many(scenarios).goodput.tolist()
