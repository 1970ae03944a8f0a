"""The bound of problem `modes` without search: never below the optimum, the pieces of its proof, and how near it is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import Scenario, draw, solve
from msopt.modes.bounds import stand_in as mode_bound_stand_in
from msopt.modes.bounds.stand_in import concave_from_below, stand_in_bound, time_with_stand_ins
from msopt.modes.bounds.upper import upper_bound
from msopt.modes.correction import alone_s, react
from msopt.modes.local_search import best_lengths
from msopt.numerics.binomial import binomial
from tests import brute_force
from tests.cases import scenario_of
from tests.mode_cases import all_or_nothing_cases, one, problem_of
from tests.strategies import scenarios
from tests.tolerances import EXACT, NEVER_ABOVE


@pytest.mark.parametrize("kept", [0, 1, 3, 10])
def test_never_below_the_optimum(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 random cases of up to nine devices for each number of devices kept: geometric and Beta laws, both sharings."""
    monkeypatch.setattr(mode_bound_stand_in, "_KEPT", kept)
    for problem, best in all_or_nothing_cases(20260901, kept):
        for reached in (0.0, 0.8 * best, 0.99 * best, best):
            assert best <= stand_in_bound(problem, reached) * (1.0 + NEVER_ABOVE)


def test_never_below_enumeration() -> None:
    """60 cases of all laws, c1 zero or not, by brute force alone."""
    for case in range(60):
        description = brute_force.random_scenario(
            np.random.default_rng([20260902, case]), 1 + case % 4, longest=(2, 5), laws=("geometric", "curve", "beta")
        )
        best = brute_force.modes_optimum(description)["goodput"]
        assert best <= upper_bound(problem_of(scenario_of(description))) * (1.0 + NEVER_ABOVE)


@settings(max_examples=30)
@given(scenarios(devices=(1, 6)), st.integers(0, 6))
def test_stand_ins_are_never_slower(scenario: Scenario, kept: int) -> None:
    """T of every set is at least that of its kept devices with as many stand-ins; equal where nobody is replaced."""
    costliest = np.argsort(-alone_s(scenario), kind="stable")
    chosen, seconds = time_with_stand_ins(scenario, costliest[:kept], costliest[kept:])
    below = concave_from_below(seconds)
    assert np.all(below <= seconds * (1.0 + EXACT))
    assert np.all(np.diff(below, n=2, axis=1) <= EXACT * np.max(seconds))
    for outcome in itertools.product((False, True), repeat=scenario.device_count):
        members = np.array(outcome)
        subset = int(np.sum(members[chosen] << np.arange(chosen.size)))
        others = int(members.sum() - members[chosen].sum())
        _, exact = react(scenario, members)
        assert seconds[subset, others] <= exact * (1.0 + EXACT)
        if others == 0:
            assert seconds[subset, 0] == pytest.approx(exact, rel=EXACT)


@pytest.mark.parametrize("preset", ["multispin-llama2", "multispin-qwen35", "uldl-qwen25", "uldl-deepseek-r1"])
@pytest.mark.parametrize("power_dbm", [10.0, 20.0, 30.0])
def test_gap_on_the_presets(preset: str, power_dbm: float) -> None:
    """Median gap to the proven optimum at most 2 % at K = 20, over five draws."""
    gaps = []
    for seed in range(5):
        problem = problem_of(draw(preset, seed=seed, downlink_power_dbm=power_dbm)[0])
        best = one(problem, best_lengths(problem))
        gaps.append(upper_bound(problem, best) / best - 1.0)
    assert min(gaps) >= -NEVER_ABOVE
    assert np.median(gaps) <= 0.02


@pytest.mark.parametrize("preset", ["uldl-qwen25", "uldl-deepseek-r1"])
def test_costly_devices_are_set_aside_beyond_the_table(preset: str) -> None:
    """K = 50 at 10 dBm, where a few devices never draft at the best: at most 2 %, by sampled goodput."""
    solution = solve(draw(preset, devices=50, seed=2, downlink_power_dbm=10.0)[0], "modes", samples=2000)
    assert 0.0 <= solution.gap <= 0.02


@settings(max_examples=20)
@given(st.integers(1, 7), st.data())
def test_binomial_spreads_most(count: int, data: st.DataObject) -> None:
    """Hoeffding's theorem as it is used: the mean of a concave function is least for equal probabilities."""
    probability = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=count, max_size=count)))
    steps = np.sort(data.draw(st.lists(st.floats(0.0, 1.0), min_size=count, max_size=count)))[::-1]
    function = np.concatenate([[0.0], np.cumsum(steps)])
    mass = np.ones(1)
    for p in probability:
        mass = np.convolve(mass, [1.0 - p, p])
    equal = binomial(count, np.array([probability.sum()]))[0]
    assert equal.sum() == pytest.approx(1.0, rel=EXACT)
    assert float(equal @ function) <= float(mass @ function) + EXACT
