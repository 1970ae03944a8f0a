"""The relaxed optimum of problem `heterogeneous` against general-purpose optimisers, differences and bounds."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from msopt.lengths.relaxed import shortest_deadline, solve_relaxed
from msopt.model.acceptance import Acceptance
from msopt.model.goodput import finish_s, play
from msopt.model.scenario import Scenario
from tests import brute_force
from tests.cases import Description, base, permuted, s1, s2, scenario_of, stretched, with_band
from tests.strategies import LAWS, SHARINGS, descriptions, scenarios
from tests.tolerances import (
    CLOSED_FORM,
    EXACT,
    FIVE_DIGITS,
    FLAT_ARGUMENT,
    INDEPENDENT_OPTIMUM,
    PRICE_ELASTICITY,
    PRICE_STEP,
    PUBLISHED_DIGITS,
    RELAXED_OPTIMUM,
)

FAST: dict[str, Any] = {"sharings": ("fixed-snr",), "per_token": False}
SLOW: dict[str, Any] = {"sharings": ("power-limited",), "devices": (1, 2), "longest": (1, 8)}
SOME, FEW = settings(max_examples=8), settings(max_examples=5)
"""The general path takes tenths of a second a solution, so it sees fewer and smaller examples."""


def tokens(device: dict[str, Any], length: float) -> float:
    """E at real lengths: the geometric formula (design section 1), else linear between whole lengths."""
    if "acceptance_curve" not in device and not device.get("acceptance_std"):
        alpha = device["acceptance"]
        return float((1.0 - alpha ** (length + 1.0)) / (1.0 - alpha))
    whole = int(length)
    return brute_force.expected_tokens(device, whole) + (length - whole) * brute_force.survival(device, whole + 1)


def goodput(description: Description, lengths: np.ndarray) -> float:
    """Goodput of real lengths at the deadline that brute force finds by bracketing."""
    server, devices = description["server"], description["devices"]
    seconds = float(brute_force.deadlines(description, lengths[None, :], by_brentq=True)[0])
    seconds += server["verify_base_s"] + server.get("verify_per_device_s", 0.0) * len(devices)
    seconds += server.get("verify_per_token_s", 0.0) * float(np.sum(lengths + 1.0))
    return sum(tokens(device, float(l)) for device, l in zip(devices, lengths, strict=True)) / seconds


# Published values


def test_two_devices() -> None:
    """Field scenario S2."""
    found = solve_relaxed(scenario_of(s2()))
    assert found.goodput == pytest.approx(18.6189740585, rel=PUBLISHED_DIGITS)
    assert found.draft_length == pytest.approx([5.07815577, 2.23802286], rel=FLAT_ARGUMENT)
    assert found.price_of_bandwidth == pytest.approx(2.6411e-8, rel=FIVE_DIGITS * 2.0)
    assert np.sum(found.bandwidth_hz) == pytest.approx(20e6, rel=EXACT)


def test_twenty_devices() -> None:
    """Two solvers agreed on 355.067 for the program in hertz and seconds."""
    rng = np.random.default_rng(3)
    alpha, draft, snr_db = rng.uniform(0.5, 0.95, 20), rng.uniform(0.01, 0.05, 20), rng.uniform(-5.0, 20.0, 20)
    devices = [(a, t, s, 10.0) for a, t, s in zip(alpha.tolist(), draft.tolist(), snr_db.tolist(), strict=True)]
    found = solve_relaxed(scenario_of(base(*devices, payload={"distribution_bits": 1215488})))
    assert found.goodput == pytest.approx(42.80428, abs=5e-6)


@pytest.mark.parametrize(("alpha", "length", "value"), [(1.0, 16.0, 32.1046448757), (0.0, 1.0, 4.5312706460)])
def test_ends_of_acceptance(alpha: float, length: float, value: float) -> None:
    """Where the best relaxed length is whole."""
    description = s1() | {"devices": [s1()["devices"][0] | {"acceptance": alpha}]}
    found = solve_relaxed(scenario_of(description))
    assert found.draft_length == pytest.approx([length], rel=RELAXED_OPTIMUM)
    assert found.goodput == pytest.approx(value, rel=PUBLISHED_DIGITS)


# General-purpose optimisers


def nested_optimum(description: Description) -> float:
    """One or two devices: a bounded scalar search within another; a partial maximum of G is unimodal too."""
    limits = description["limits"]
    bounds = (limits.get("min_draft_length", 1), limits["max_draft_length"])

    def best(done: tuple[float, ...]) -> float:
        if len(done) == len(description["devices"]):
            return goodput(description, np.array(done))
        ends = [best((*done, float(end))) for end in bounds]
        if bounds[0] == bounds[1]:
            return ends[0]
        inside = minimize_scalar(lambda x: -best((*done, x)), bounds=bounds, method="bounded", options={"xatol": 1e-7})
        return max(*ends, -float(inside.fun))

    return best(())


@pytest.mark.parametrize(("sharing", "law", "seed"), list(itertools.product(SHARINGS, LAWS, (1, 2))))
def test_against_a_nested_scalar_search(sharing: str, law: str, seed: int) -> None:
    rng = np.random.default_rng([seed, LAWS.index(law), SHARINGS.index(sharing)])
    description = brute_force.random_scenario(rng, seed, sharing=sharing, laws=(law,))
    found, best = solve_relaxed(scenario_of(description)).goodput, nested_optimum(description)
    assert found >= best * (1.0 - RELAXED_OPTIMUM)
    assert best >= found * (1.0 - INDEPENDENT_OPTIMUM)


# The oldest SciPy allowed steps out of the box, clips, and warns of it.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize(("sharing", "seed"), list(itertools.product(SHARINGS, range(4))))
def test_against_sequential_quadratic_programming(sharing: str, seed: int) -> None:
    rng = np.random.default_rng([seed, SHARINGS.index(sharing)])
    description = brute_force.random_scenario(rng, 3 + seed % 2, sharing=sharing)
    limits = description["limits"]
    low, high = limits.get("min_draft_length", 1), limits["max_draft_length"]
    # At length 0 a device leaves the split at a corner; the search is kept a hair away from it.
    box = [(max(low, 1e-6), high)] * len(description["devices"])
    start = np.full(len(box), 0.5 * (box[0][0] + high))
    solution = minimize(
        lambda x: -goodput(description, np.clip(x, *box[0])) / 10.0,
        start,
        method="SLSQP",
        bounds=box,
        options={"ftol": 1e-15, "maxiter": 300},
    )
    found, best = solve_relaxed(scenario_of(description)).goodput, goodput(description, np.clip(solution.x, *box[0]))
    assert found >= best * (1.0 - RELAXED_OPTIMUM)
    assert best >= found * (1.0 - 1e-5)


# Feasibility, and that it bounds what the evaluator gives any control


@settings(max_examples=25)
@given(scenarios(**FAST), st.data())
def test_it_bounds_every_whole_control(scenario: Scenario, data: st.DataObject) -> None:
    check_bound(scenario, data)


@FEW
@given(scenarios(**SLOW), st.data())
def test_it_bounds_every_whole_control_with_limited_power(scenario: Scenario, data: st.DataObject) -> None:
    check_bound(scenario, data)


def check_bound(scenario: Scenario, data: st.DataObject) -> None:
    found = solve_relaxed(scenario)
    low, high = scenario.length_limits("heterogeneous")
    assert np.all(found.draft_length >= low)
    assert np.all(found.draft_length <= high)
    assert np.sum(found.bandwidth_hz) <= scenario.uplink_bandwidth_hz * (1.0 + CLOSED_FORM)
    finished = finish_s(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert np.all(finished <= found.deadline_s * (1.0 + CLOSED_FORM))
    own = play(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert own.goodput == pytest.approx(found.goodput, rel=CLOSED_FORM)
    for _ in range(5):
        count = scenario.device_count
        lengths = np.array(data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))
        weight = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=count, max_size=count)))
        share = scenario.uplink_bandwidth_hz * weight / weight.sum()
        assert play(scenario, "heterogeneous", lengths, share).goodput <= found.goodput * (1.0 + RELAXED_OPTIMUM)


# The price of bandwidth


def check_price(scenario: Scenario) -> None:
    """As an elasticity, against a central difference; with limited power SNR times band is held fixed."""
    found = solve_relaxed(scenario)
    more, less = (solve_relaxed(with_band(scenario, 1.0 + step)).goodput for step in (PRICE_STEP, -PRICE_STEP))
    difference = (more - less) / (2.0 * PRICE_STEP * found.goodput)
    elasticity = found.price_of_bandwidth * scenario.uplink_bandwidth_hz / found.goodput
    assert elasticity == pytest.approx(difference, abs=PRICE_ELASTICITY)


@pytest.mark.parametrize("sharing", SHARINGS)
def test_price_of_two_devices(sharing: str) -> None:
    check_price(scenario_of(s2(radio={"uplink_sharing": sharing})))


@SOME
@given(scenarios(sharings=("fixed-snr",), kinds=("geometric",), inner=True))
def test_price(scenario: Scenario) -> None:
    check_price(scenario)


@FEW
@given(scenarios(**SLOW, kinds=("geometric",), inner=True))
def test_price_with_limited_power(scenario: Scenario) -> None:
    check_price(scenario)


def test_price_where_the_band_is_not_needed() -> None:
    scenario = scenario_of(s2(limits={"min_draft_length": 0, "max_draft_length": 3}, server={"verify_base_s": 1e-4}))
    found = solve_relaxed(scenario)
    assert found.draft_length.tolist() == [0.0, 0.0]
    assert (found.deadline_s, found.price_of_bandwidth) == (0.0, 0.0)
    assert not found.bandwidth_hz.any()


# What helps, never hurts


def with_more_acceptance(scenario: Scenario) -> Scenario:
    law = scenario.acceptance
    curves = [None if c is None else np.sqrt(c) for c in law.curves]
    # Of a Beta law with more deviation every S(l) is greater, and so it is with a greater mean.
    std = np.where(law.std > 0.0, np.minimum(law.std * 1.2, 0.99 * np.sqrt(law.mean * (1.0 - law.mean))), 0.0)
    mean = np.where(law.std > 0.0, law.mean, np.sqrt(law.mean))
    return scenario.replace(acceptance=Acceptance.of(mean, std, curves))


BETTER = {
    "more bandwidth, same power": lambda scenario: with_band(scenario, 1.3),
    "more bandwidth, same SNR": lambda s: s.replace(
        uplink_bandwidth_hz=1.3 * s.uplink_bandwidth_hz, uplink_snr_db=s.uplink_snr_db
    ),
    "more SNR": lambda s: s.replace(uplink_snr_db=s.uplink_snr_db + np.linspace(0.0, 6.0, s.device_count + 1)[1:]),
    "more acceptance": with_more_acceptance,
    "faster drafting": lambda s: s.replace(draft_s_per_token=0.7 * s.draft_s_per_token),
}


@pytest.mark.parametrize("better", BETTER)
@SOME
@given(scenario=scenarios(**FAST))
def test_improvements_never_lower_the_optimum(better: str, scenario: Scenario) -> None:
    check_improvement(better, scenario)


@pytest.mark.parametrize("better", BETTER)
@FEW
@given(scenario=scenarios(**SLOW))
def test_improvements_never_lower_the_optimum_with_limited_power(better: str, scenario: Scenario) -> None:
    check_improvement(better, scenario)


def check_improvement(better: str, scenario: Scenario) -> None:
    before, after = solve_relaxed(scenario).goodput, solve_relaxed(BETTER[better](scenario)).goodput
    assert after >= before * (1.0 - RELAXED_OPTIMUM)


@SOME
@given(scenarios(sharings=("fixed-snr",), kinds=("geometric",), devices=(2, 5), inner=True), st.data())
def test_the_split_rewards_acceptance(scenario: Scenario, data: st.DataObject) -> None:
    """B_k rises with alpha_k, all else equal: the channel and the draft time are those of the first device."""
    alpha = np.sort([data.draw(st.floats(0.05, 0.98)) for _ in range(scenario.device_count)])
    alike = scenario.replace(
        acceptance=alpha,
        draft_s_per_token=np.full(alpha.size, scenario.draft_s_per_token[0]),
        uplink_snr_db=np.full(alpha.size, scenario.uplink_snr_db[0]),
    )
    found = solve_relaxed(alike)
    assert np.all(np.diff(found.bandwidth_hz) >= -CLOSED_FORM * scenario.uplink_bandwidth_hz)
    assert np.all(np.diff(found.draft_length) >= -CLOSED_FORM * found.draft_length.max())


# Symmetries


@FEW
@given(scenarios(devices=(2, 3), longest=(1, 8), inner=True), st.randoms(use_true_random=False))
def test_permuting_devices(scenario: Scenario, random: Any) -> None:
    order = list(range(scenario.device_count))
    random.shuffle(order)
    found, moved = solve_relaxed(scenario), solve_relaxed(permuted(scenario, order))
    assert moved.goodput == pytest.approx(found.goodput, rel=RELAXED_OPTIMUM)
    if scenario.acceptance.geometric:  # else the optimum may be a segment
        # A flat top: lengths are as exact as the root of the goodput's exactness, relative to the longest.
        slack = 1e-5 * max(1.0, float(found.draft_length.max()))
        assert moved.draft_length == pytest.approx(found.draft_length[order], abs=slack)
        band = 1e-5 * scenario.uplink_bandwidth_hz
        assert moved.bandwidth_hz == pytest.approx(found.bandwidth_hz[order], abs=band)


@FEW
@given(scenarios(devices=(1, 3), longest=(1, 8)), st.sampled_from([1e-3, 0.37, 2.0, 1e4]))
def test_stretching_time(scenario: Scenario, factor: float) -> None:
    found, slow = solve_relaxed(scenario), solve_relaxed(stretched(scenario, factor))
    assert slow.goodput * factor == pytest.approx(found.goodput, rel=RELAXED_OPTIMUM)


# Extremes of one device against another


def test_an_snr_span_of_sixty_decibels() -> None:
    """Conic solvers gave 34.35, 34.36 and 39.79 here."""
    scenario = scenario_of(base((0.999, 1e-4, 40.0, 25.0), (0.01, 0.2, -20.0, 10.0)))
    found = solve_relaxed(scenario)
    assert found.goodput == pytest.approx(34.3466930410, rel=PUBLISHED_DIGITS)
    assert found.draft_length == pytest.approx([16.0, 1.0], rel=EXACT)


def test_a_device_almost_without_channel() -> None:
    """Relaxed: device 2 at -60 dB takes nearly all of the round."""
    scenario = scenario_of(base((0.8, 0.02, 10.0, 25.0), (0.6, 0.04, -60.0, 10.0)))
    found = solve_relaxed(scenario)
    assert found.draft_length == pytest.approx([16.0, 1.0], rel=EXACT)
    assert found.goodput == pytest.approx(0.005535, abs=5e-7)
    assert found.deadline_s == pytest.approx(1171.8, abs=0.3)


def test_a_device_that_hardly_sends() -> None:
    """Device 1 drafts until almost the deadline of device 2, whose drafts take no time and hardly any band."""
    description = base(
        (0.5, 0.02, 20.0, 25.0),
        (0.999, 0.0, 35.0, 25.0),
        server={"verify_base_s": 0.05, "verify_per_token_s": 0.0},
        payload={"token_bits": 0, "distribution_bits": 10.0},
        limits={"min_draft_length": 0},
    )
    for sharing in SHARINGS:
        description["radio"]["uplink_sharing"] = sharing
        best = brute_force.heterogeneous_optimum(description)["goodput"]
        assert solve_relaxed(scenario_of(description)).goodput >= best * (1.0 - RELAXED_OPTIMUM)


# Helpers


@given(descriptions(), st.data())
def test_shortest_deadline_against_brute_force(description: Description, data: st.DataObject) -> None:
    scenario = scenario_of(description)
    lengths = np.array([data.draw(st.floats(0.01, 20.0)) for _ in range(scenario.device_count)])
    exact = brute_force.deadlines(description, lengths[None, :], by_brentq=True)[0]
    assert shortest_deadline(scenario, lengths) == pytest.approx(exact, rel=CLOSED_FORM)
