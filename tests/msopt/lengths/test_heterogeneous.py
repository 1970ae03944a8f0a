"""Problem `heterogeneous` in whole lengths against enumeration of all lengths, and its bound."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt.lengths.heterogeneous import HeterogeneousOptimum, solve_heterogeneous
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.model.goodput import play
from msopt.model.scenario import Scenario
from tests import brute_force
from tests.cases import (
    REFERENCE,
    REFERENCE_NAMES,
    Description,
    base,
    permuted,
    s2,
    scenario_of,
    stretched,
)
from tests.strategies import LAWS, scenarios
from tests.tolerances import (
    CLOSED_FORM,
    EXACT,
    NEVER_ABOVE,
    OPTIMAL,
    OPTIMAL_SHARE,
    PUBLISHED_DIGITS,
    RELAXED_OPTIMUM,
)

SOME = settings(max_examples=6)


def scored(description: Description, found: HeterogeneousOptimum) -> float:
    """Goodput of the lengths found, by brute force."""
    return brute_force.goodput_of_lengths(description, found.draft_length.tolist())


# Given answers


@pytest.mark.parametrize("case", REFERENCE, ids=REFERENCE_NAMES)
def test_reference_cases(case: Description) -> None:
    scenario, expected = scenario_of(case["scenario"]), case["expected"]["heterogeneous"]["goodput"]
    found = solve_heterogeneous(scenario)
    assert scored(case["scenario"], found) == pytest.approx(expected, rel=OPTIMAL)
    assert found.bound >= expected * (1.0 - NEVER_ABOVE)
    own = play(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert own.goodput == pytest.approx(expected, rel=CLOSED_FORM)
    assert own.goodput <= expected * (1.0 + NEVER_ABOVE)
    band = scenario.uplink_bandwidth_hz if found.draft_length.any() else 0.0
    assert found.bandwidth_hz.sum() == pytest.approx(band, rel=EXACT)


@pytest.mark.parametrize(
    ("description", "lengths", "value"),
    [
        (base((0.999, 1e-4, 40.0, 25.0), (0.01, 0.2, -20.0, 10.0)), [16, 1], 34.3466930410),
        (
            base((0.8, 0.02, 10.0, 25.0), (0.6, 0.04, -60.0, 10.0), limits={"min_draft_length": 0}),
            [5, 0],
            15.4688584627,
        ),
    ],
    ids=["60 dB apart", "almost no channel"],
)
def test_extremes_of_one_device(description: Description, lengths: list[int], value: float) -> None:
    found = solve_heterogeneous(scenario_of(description))
    assert found.draft_length.tolist() == lengths
    assert scored(description, found) == pytest.approx(value, rel=PUBLISHED_DIGITS)
    assert found.bound >= value * (1.0 - PUBLISHED_DIGITS)


def test_bound_of_two_devices() -> None:
    """Field scenario S2: the relaxed optimum, and the tighter interpolated bound between it and the best."""
    found = solve_heterogeneous(scenario_of(s2()))
    assert found.relaxed.goodput == pytest.approx(18.6189740585, rel=PUBLISHED_DIGITS)
    assert 18.5400314930 * (1.0 - PUBLISHED_DIGITS) <= found.bound <= found.relaxed.goodput * (1.0 + RELAXED_OPTIMUM)


def test_a_device_almost_without_channel() -> None:
    """With a minimum of one token: right for that model, however slow."""
    description = base((0.8, 0.02, 10.0, 25.0), (0.6, 0.04, -60.0, 10.0))
    found = solve_heterogeneous(scenario_of(description))
    assert found.draft_length.tolist() == [16, 1]
    assert scored(description, found) == pytest.approx(0.005535, abs=5e-7)


# Enumeration


@dataclass(frozen=True)
class Family:
    """How many random cases of a kind, and whether verification takes time by the token."""

    sharing: str
    per_token: bool
    cases: int


FAMILIES = (
    Family("fixed-snr", False, 130),
    Family("fixed-snr", True, 50),
    Family("power-limited", False, 12),
    Family("power-limited", True, 8),
)
SEED = 20260604


def test_random_cases_against_enumeration() -> None:
    """At least 99.5 % of 200 cases end at the enumerated optimum, the worst within 0.5 % of it; bounds hold."""
    ratios = []
    for number, family in enumerate(FAMILIES):
        for case in range(family.cases):
            rng = np.random.default_rng([SEED, number, case])
            laws = (LAWS[case % 3],) if case % 2 else ("geometric",) if case % 4 else LAWS
            description = brute_force.random_scenario(rng, 1 + case % 4, sharing=family.sharing, laws=laws)
            per_token = float(rng.uniform(1e-4, 5e-3))
            description["server"]["verify_per_token_s"] = per_token if family.per_token else 0.0
            best = brute_force.heterogeneous_optimum(description)["goodput"]
            found = solve_heterogeneous(scenario_of(description))
            ratios.append(scored(description, found) / best)
            assert ratios[-1] <= 1.0 + NEVER_ABOVE
            assert found.bound >= best * (1.0 - NEVER_ABOVE)
            assert found.relaxed.goodput >= found.bound * (1.0 - RELAXED_OPTIMUM)
    assert len(ratios) == 200
    assert np.mean(np.array(ratios) >= 1.0 - OPTIMAL) >= OPTIMAL_SHARE
    assert min(ratios) >= OPTIMAL_SHARE


# Properties


@SOME
@given(scenarios(longest=(1, 8)))
def test_between_homogeneous_and_the_bound(scenario: Scenario) -> None:
    common = solve_homogeneous(scenario)
    least = play(scenario, "homogeneous", common.draft_length, common.bandwidth_hz).goodput
    found = solve_heterogeneous(scenario)
    own = play(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz).goodput
    assert least <= own * (1.0 + EXACT)
    assert own <= found.bound * (1.0 + NEVER_ABOVE)
    assert found.bound <= found.relaxed.goodput * (1.0 + RELAXED_OPTIMUM)
    low, high = scenario.length_limits("heterogeneous")
    assert np.all((found.draft_length >= low) & (found.draft_length <= high))


@SOME
@given(scenarios(sharings=("fixed-snr",), devices=(2, 5), inner=True), st.randoms(use_true_random=False))
def test_permuting_devices_permutes_the_control(scenario: Scenario, random: object) -> None:
    order = list(range(scenario.device_count))
    random.shuffle(order)  # type: ignore[attr-defined]
    found, moved = solve_heterogeneous(scenario), solve_heterogeneous(permuted(scenario, order))
    scores = [
        float(play(cell, "heterogeneous", optimum.draft_length, optimum.bandwidth_hz).goodput)
        for cell, optimum in ((scenario, found), (permuted(scenario, order), moved))
    ]
    assert scores[0] == pytest.approx(scores[1], rel=OPTIMAL)
    assert moved.draft_length.tolist() == found.draft_length[order].tolist()
    assert moved.bandwidth_hz == pytest.approx(found.bandwidth_hz[order], rel=CLOSED_FORM)


@SOME
@given(scenarios(sharings=("fixed-snr",), inner=True), st.sampled_from([0.01, 3.0, 1e3]))
def test_stretching_time_keeps_the_control(scenario: Scenario, factor: float) -> None:
    found, slow = solve_heterogeneous(scenario), solve_heterogeneous(stretched(scenario, factor))
    assert slow.draft_length.tolist() == found.draft_length.tolist()
    assert slow.bandwidth_hz == pytest.approx(found.bandwidth_hz, rel=CLOSED_FORM)
    assert slow.bound * factor == pytest.approx(found.bound, rel=RELAXED_OPTIMUM)
