"""The expected correction: the table of all outcomes and the sampled one, under every rule for the modes.

Sampled means are compared with exact ones at four standard errors. Were everything right, one comparison
would fail for about 6.3e-5 of all seeds; there are 16 of them here, so about one seed in 1000 gives a false
alarm. Seeds are fixed.
"""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt.model.control import BAND_RULES, EQUAL_SHARE_RULES, MODE_RULES, ModeRule
from msopt.model.scenario import Scenario
from msopt.modes.correction import react
from msopt.modes.expected import EXACT_UP_TO, RANDOM_EXACT_UP_TO, expected_correction
from msopt.modes.samples import (
    SampledOutcomes,
    correction_of_sets,
    correction_of_toggled_sets,
)
from msopt.modes.table import TableOfOutcomes
from tests import brute_force
from tests.cases import REFERENCE, REFERENCE_NAMES, Description, permuted, s1, s3, scenario_of
from tests.strategies import descriptions, scenarios
from tests.tolerances import CLOSED_FORM, EXACT, SINGLE_PRECISION, STANDARD_ERRORS

SAMPLES = 40_000
POLICIES = {"best": "best", "all-uplink": "uplink", "all-downlink": "downlink"}


def rejection(description: Description, lengths: list[int]) -> np.ndarray:
    kept = [brute_force.survival(d, l) for d, l in zip(description["devices"], lengths, strict=True)]
    return 1.0 - np.array(kept)


def time_of(description: Description, rejected: list[int], rule: ModeRule) -> float:
    """T(R) by brute force; random modes are averaged over all 2^r tosses."""
    if rule == "best":
        return float(brute_force.reaction(description, rejected)["correction_s"])
    if rule == "random":
        tosses = list(itertools.product(("uplink", "downlink"), repeat=len(rejected)))
        return float(np.mean([brute_force.correction_of_modes(description, rejected, toss) for toss in tosses]))
    return brute_force.correction_of_modes(description, rejected, [POLICIES[rule]] * len(rejected))


def mean_over_outcomes(description: Description, rho: np.ndarray, rule: ModeRule) -> float:
    total = 0.0
    for outcome in itertools.product((False, True), repeat=rho.size):
        rejected = np.flatnonzero(outcome).tolist()
        total += float(np.prod(np.where(outcome, rho, 1.0 - rho))) * time_of(description, rejected, rule)
    return total


def probabilities(data: st.DataObject, count: int) -> np.ndarray:
    inner = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0]))
    return np.array(data.draw(st.lists(inner, min_size=count, max_size=count)))


# Exact


@pytest.mark.parametrize("case", REFERENCE, ids=REFERENCE_NAMES)
def test_reference_cases(case: Description) -> None:
    expected = case["expected"]["modes"]
    table = TableOfOutcomes(scenario_of(case["scenario"]), "best")
    found = table.expected_s(rejection(case["scenario"], expected["lengths"])[None, :])
    assert found[0] == pytest.approx(expected["expected_correction_s"], rel=CLOSED_FORM)


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
@settings(max_examples=25)
@given(description=descriptions(devices=(1, 4)), data=st.data())
def test_table_against_enumeration(rule: ModeRule, description: Description, data: st.DataObject) -> None:
    rho = probabilities(data, len(description["devices"]))
    found = TableOfOutcomes(scenario_of(description), rule).expected_s(rho[None, :])
    # Where nobody can be rejected both are 0.
    assert found[0] == pytest.approx(mean_over_outcomes(description, rho, rule), rel=CLOSED_FORM, abs=0.0)


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
@given(scenario=scenarios(devices=(1, 7)), data=st.data())
def test_gradient_by_differences(rule: ModeRule, scenario: Scenario, data: st.DataObject) -> None:
    """C is linear in each probability: the difference between 1 and 0 is the derivative itself."""
    table = TableOfOutcomes(scenario, rule)
    rho = probabilities(data, scenario.device_count)
    value, slope = table.gradient_s(rho[None, :])
    assert value[0] == pytest.approx(table.expected_s(rho[None, :])[0], rel=EXACT, abs=0.0)
    scale = float(table.seconds.max())
    for k in range(rho.size):
        ends = np.tile(rho, (2, 1))
        ends[:, k] = [0.0, 1.0]
        low, high = table.expected_s(ends)
        assert slope[0, k] == pytest.approx(high - low, rel=EXACT, abs=EXACT * scale)


@pytest.mark.parametrize("rule", ["best", "all-uplink", "all-downlink", *BAND_RULES])
@settings(max_examples=30)
@given(scenario=scenarios(devices=(1, 6)), data=st.data())
def test_more_rejections_take_longer(rule: ModeRule, scenario: Scenario, data: st.DataObject) -> None:
    """T is monotone in the set, so every partial derivative of C is at least 0."""
    table = TableOfOutcomes(scenario, rule)
    _, slope = table.gradient_s(probabilities(data, scenario.device_count)[None, :])
    assert np.all(slope >= -EXACT * table.seconds.max())


@settings(max_examples=30)
@given(scenarios(devices=(1, 5)), st.data())
def test_best_modes_are_never_behind_a_rule(scenario: Scenario, data: st.DataObject) -> None:
    """Nor are equal shares ahead of free ones, or one band of two."""
    rho = probabilities(data, scenario.device_count)[None, :]
    found = {rule: TableOfOutcomes(scenario, rule).expected_s(rho)[0] for rule in MODE_RULES}
    order = ("separate-bands", "shared-band", "best")
    for first, second in [*itertools.pairwise(order), *(("best", rule) for rule in EQUAL_SHARE_RULES)]:
        assert found[first] <= found[second] * (1.0 + EXACT)


@pytest.mark.parametrize("rule", MODE_RULES)
def test_rows_are_scored_alone(rule: ModeRule) -> None:
    table = TableOfOutcomes(scenario_of(s3()), rule)
    rows = np.random.default_rng(1).uniform(size=(3000, 3))
    together = table.expected_s(rows)
    picked = [0, 1023, 1024, 2999]
    assert together[picked] == pytest.approx([table.expected_s(rows[[i]])[0] for i in picked], rel=EXACT)
    assert table.standard_error_s(rows[0]) == 0.0
    assert table.exact


@given(scenarios(devices=(2, 5)), st.data(), st.randoms(use_true_random=False))
def test_permuting_devices(scenario: Scenario, data: st.DataObject, random: Any) -> None:
    order = list(range(scenario.device_count))
    random.shuffle(order)
    rho = probabilities(data, len(order))
    one, other = TableOfOutcomes(scenario, "best"), TableOfOutcomes(permuted(scenario, order), "best")
    value, slope = one.gradient_s(rho[None, :])
    moved, moved_slope = other.gradient_s(rho[order][None, :])
    scale = float(one.seconds.max())
    assert moved[0] == pytest.approx(value[0], rel=EXACT, abs=EXACT * scale)
    assert moved_slope[0] == pytest.approx(slope[0][order], rel=EXACT, abs=EXACT * scale)


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
@settings(max_examples=20)
@given(scenario=scenarios(devices=(1, 5)), data=st.data())
def test_uplink_probability(rule: ModeRule, scenario: Scenario, data: st.DataObject) -> None:
    rho = probabilities(data, scenario.device_count)
    found = TableOfOutcomes(scenario, rule).uplink_probability(rho)
    expected = np.zeros(rho.size)
    for outcome in itertools.product((False, True), repeat=rho.size):
        rejected = np.flatnonzero(outcome)
        weight = np.prod(np.where(outcome, rho, 1.0 - rho))
        if rule == "best":
            part = react(scenario, rejected)[0].on_uplink.astype(float)
        else:
            part = np.full(rejected.size, {"all-uplink": 1.0, "all-downlink": 0.0, "random": 0.5}[rule])
        expected[rejected] += weight * part
    assert found == pytest.approx(expected, rel=EXACT, abs=EXACT)


def test_which_kind_serves_how_many_devices() -> None:
    def cell(count: int) -> Scenario:
        devices = [s1()["devices"][0] | {"name": f"d{k}", "uplink_snr_db": float(k)} for k in range(count)]
        return scenario_of(s1() | {"devices": devices})

    assert expected_correction(cell(3), "best").exact
    assert expected_correction(cell(RANDOM_EXACT_UP_TO), "random").exact
    assert not expected_correction(cell(RANDOM_EXACT_UP_TO + 1), "random", samples=10).exact
    assert not expected_correction(cell(EXACT_UP_TO + 1), "best", samples=10).exact
    assert (EXACT_UP_TO, RANDOM_EXACT_UP_TO) == (20, 10)


# Sampled


@pytest.fixture(scope="module")
def seven() -> Scenario:
    """Seven unlike devices: up and down, strong and weak."""
    return scenario_of(brute_force.random_scenario(np.random.default_rng(17), 7))


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
@pytest.mark.parametrize("chance", [0.03, 0.5, 0.9, None])
def test_sampled_mean_within_its_error(seven: Scenario, rule: ModeRule, chance: float | None) -> None:
    mixed = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0])
    rho = mixed if chance is None else np.full(7, chance)
    exact = TableOfOutcomes(seven, rule)
    sampled = SampledOutcomes(seven, rule, SAMPLES, 123)
    truth, error = float(exact.expected_s(rho[None, :])[0]), sampled.standard_error_s(rho)
    rounding = 7.0 * SINGLE_PRECISION * float(exact.seconds.max())
    assert 0.0 < error < 0.05 * truth
    assert abs(float(sampled.expected_s(rho[None, :])[0]) - truth) <= STANDARD_ERRORS * error + rounding


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
def test_sampled_gradient_is_that_of_the_mean(seven: Scenario, rule: ModeRule) -> None:
    """On the samples themselves: T with the device rejected less T without, all else the same."""
    sampled = SampledOutcomes(seven, rule, 500, 3)
    rho = np.array([[0.2, 0.4, 0.6, 0.8, 0.1, 0.5, 0.9], [0.5] * 7])
    value, slope = sampled.gradient_s(rho)
    assert value == pytest.approx(sampled.expected_s(rho), rel=EXACT)
    for k in range(7):
        ends = np.repeat(rho, 2, axis=0)
        ends[:, k] = [0.0, 1.0, 0.0, 1.0]
        seconds = sampled.expected_s(ends)
        assert slope[:, k] == pytest.approx(seconds[1::2] - seconds[::2], rel=EXACT, abs=EXACT * seconds.max())


@pytest.mark.parametrize("rule", EQUAL_SHARE_RULES)
@settings(max_examples=25)
@given(scenario=scenarios(devices=(1, 6)), seed=st.integers(0, 1000))
def test_sets_and_toggled_sets(rule: ModeRule, scenario: Scenario, seed: int) -> None:
    """Every set at once against one at a time; a toggled set is the set with one device put in or out."""
    times = TableOfOutcomes(scenario, "best").times
    count = scenario.device_count
    members = np.array(list(itertools.product((False, True), repeat=count)))
    coin = np.random.default_rng(seed).random(members.shape) < 0.5 if rule == "random" else None
    seconds, on_uplink = correction_of_sets(times, members, rule, coin)
    toggled = correction_of_toggled_sets(times, members, rule, coin)
    assert not np.any(on_uplink & ~members)
    for row, chosen in enumerate(members):
        devices = np.sort(times.order[chosen])
        if rule == "best":
            assert seconds[row] == pytest.approx(react(scenario, devices)[1], rel=EXACT)
        for place in range(count):
            other = chosen.copy()
            other[place] = not other[place]
            one_coin = None if coin is None else coin[[row]]
            alone, _ = correction_of_sets(times, other[None, :], rule, one_coin)
            assert toggled[row, place] == pytest.approx(alone[0], rel=1e-9, abs=0.0)


def test_sampled_uplink_probability(seven: Scenario) -> None:
    rho = np.full(7, 0.5)
    exact = TableOfOutcomes(seven, "best").uplink_probability(rho)
    sampled = SampledOutcomes(seven, "best", SAMPLES, 5).uplink_probability(rho)
    error = np.sqrt(exact * (1.0 - exact) / SAMPLES)
    assert np.all(np.abs(sampled - exact) <= STANDARD_ERRORS * error + SINGLE_PRECISION * 7.0)


def test_samples_depend_on_the_seed_alone(seven: Scenario) -> None:
    rho = np.full((1, 7), 0.5)
    one, same, other = (SampledOutcomes(seven, "best", 100, seed).expected_s(rho)[0] for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_common_random_numbers_rise_with_the_probability(seven: Scenario) -> None:
    """The same uniforms: a higher rejection probability never shortens any sample."""
    sampled = SampledOutcomes(seven, "best", 2000, 8)
    seconds = sampled.expected_s(np.linspace(0.0, 1.0, 21)[:, None] * np.ones(7))
    assert seconds[0] == 0.0
    assert np.all(np.diff(seconds) >= 0.0)


def test_one_sample_has_no_error(seven: Scenario) -> None:
    assert SampledOutcomes(seven, "best", 1, 0).standard_error_s(np.full(7, 0.5)) == np.inf
