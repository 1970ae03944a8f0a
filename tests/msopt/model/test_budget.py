"""No hertz and no watt more than there is, to the last digit and in every order of summation."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt import METHODS, PRESETS, PROBLEMS, Scenario, draw, evaluate_reaction, react, solve_many
from msopt.formulas.uldl import equal_delay_power
from msopt.lengths.homogeneous import per_token_optimum
from msopt.lengths.relaxed import length_split
from msopt.model.budget import equal_share, within_budget
from msopt.options import Options
from tests.strategies import decades, scenarios
from tests.tolerances import EXACT

EPS = 2.0**-52
SIZES = (1, 2, 3, 7, 10, 64, 1000, 100_000)


def one_by_one(values: list[float]) -> float:
    """What `sum` did before Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def sums(shares: np.ndarray) -> Iterator[float]:
    """The sums that someone who checks a control may take."""
    listed = shares.tolist()
    yield from (float(np.sum(shares)), float(np.sum(shares[::-1])), math.fsum(listed), sum(listed))
    yield from (one_by_one(listed), one_by_one(listed[::-1]), one_by_one(sorted(listed)))
    yield one_by_one(sorted(listed, reverse=True))
    yield float(np.add.reduce(np.append(shares, 0.0)[::2]) + np.add.reduce(shares[1::2]))


def assert_within(shares: np.ndarray, budget: float) -> None:
    assert np.all(shares >= 0.0)
    assert max(sums(shares)) <= budget


# The function itself


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["alike", "decades", "one large"])
def test_shares_of_any_number_and_spread(count: int, kind: str) -> None:
    rng = np.random.default_rng(count)
    for budget in (20e6, 1.0, 0.1, np.nextafter(2.0**24, 0.0), 1e-30, 1e30) if count <= 1000 else (1e7,):
        weights = {
            "alike": np.ones(count),
            "decades": 10.0 ** rng.uniform(-9.0, 0.0, count),
            "one large": np.append(np.full(count - 1, 1e-6 / count), 1.0),
        }[kind]
        given_ = budget * weights / np.sum(weights)
        shares = within_budget(given_, budget)
        assert_within(shares, budget)
        assert_within(rng.permutation(shares), budget)
        # Nobody loses more than the margin, whoever has how much.
        assert np.all(shares >= given_ * (1.0 - (count + 3.0) * EPS))
        assert np.all(shares <= given_)


def test_numbers_made_to_be_rounded_up() -> None:
    """Added to most of the budget each small one becomes a quarter of the last digit larger: 25 digits in all."""
    large, small = 1.1, np.floor(np.linspace(0.004, 0.012, 100) / EPS) * EPS + 0.75 * EPS
    given_ = np.append(large, small)
    budget = math.fsum(given_.tolist())
    assert one_by_one(given_.tolist()) == budget + 25.0 * EPS
    assert_within(within_budget(given_, budget), budget)


@given(st.lists(decades(1e-12, 1.0), min_size=1, max_size=40), decades(1e-30, 1e30), st.floats(0.5, 2.0))
def test_any_list(parts: list[float], budget: float, factor: float) -> None:
    """Shares below the budget stay, those above it fill it."""
    given_ = factor * budget * np.array(parts) / math.fsum(parts)
    shares = within_budget(given_, budget)
    assert_within(shares, budget)
    if factor < 1.0 - EXACT:
        assert np.array_equal(shares, given_)
    if factor > 1.0 + EXACT:
        assert math.fsum(shares.tolist()) >= budget * (1.0 - (len(parts) + 3.0) * EPS)


@pytest.mark.parametrize("shares", [[5e6, 15e6], [20e6], [0.0, 20e6, 0.0], [0.0, 0.0], [8e6, 4e6, 4e6, 4e6], []])
def test_what_is_added_exactly_stays(shares: list[float]) -> None:
    assert within_budget(shares, 20e6).tolist() == shares


def test_one_alone_has_all_and_no_more() -> None:
    assert within_budget([0.0, np.nextafter(0.1, 1.0)], 0.1).tolist() == [0.0, 0.1]


def test_rows_have_budgets_of_their_own() -> None:
    rows, budgets = (
        np.array([[3.0, 1.0], [0.3, 0.1], [np.inf, 1.0], [np.nan, 1.0]]),
        np.array([[2.0], [0.4], [1.0], [1.0]]),
    )
    shares = within_budget(rows, budgets)
    assert shares[:2] == pytest.approx(np.array([[1.5, 0.5], [0.3, 0.1]]), rel=EXACT)
    for row in range(2):
        assert_within(shares[row], float(budgets[row, 0]))
        assert np.array_equal(shares[row], within_budget(rows[row], float(budgets[row, 0])))
    assert np.array_equal(shares[2:], rows[2:], equal_nan=True)


@pytest.mark.parametrize("budget", [20e6, 1.0, 0.1, 10.0 / 3.0, np.nextafter(2.0, 0.0), np.nextafter(2.0, 3.0), 1e-30])
def test_equal_shares(budget: float) -> None:
    for count in (*range(1, 70), 1000, 99_999, 100_000):
        share = equal_share(budget, count)
        assert count * Fraction(share) <= Fraction(budget) < count * Fraction(share + np.spacing(budget))
        if count in (3, 7, 49, 1000, 99_999):
            assert_within(np.full(count, share), budget)


def test_a_plain_division_does_not_hold() -> None:
    """Why there are equal shares at all: fifty-nine hundredths of a tenth, one by one, are more than a tenth."""
    over = [n for n in range(1, 1000) if one_by_one([0.1 / n] * n) > 0.1]
    assert over
    assert all(one_by_one([equal_share(0.1, n)] * n) <= 0.1 for n in over)


def test_power_shares_of_unequal_bands() -> None:
    rng = np.random.default_rng(1)
    for count in (1, 2, 3, 7, 50, 1000):
        band = rng.uniform(0.1, 1.0, count)
        _, power = equal_delay_power(10.0 ** rng.uniform(-1, 4, count), 20e6 * band / band.sum(), 20e6, 33792)
        assert_within(power, 1.0)
        assert math.fsum(power.tolist()) == pytest.approx(1.0, rel=EXACT)


# Every control of every method


def assert_control_within(scenario: Scenario, problem: str, method: str) -> None:
    found = METHODS[problem][method].procedure(scenario, Options(), np.inf)  # type: ignore[index]
    assert_within(found.control.bandwidth_hz, scenario.uplink_bandwidth_hz)
    budget = next(slack for slack in found.evaluation.slacks if "budget" in slack.constraint)
    assert budget.value >= 0.0


def methods_with_a_control() -> list[tuple[str, str]]:
    alone = ("point-to-point", "centralised", "centralised-serial", "server-only")
    return [(problem, name) for problem in PROBLEMS for name in METHODS[problem] if name not in alone]


@pytest.mark.parametrize(("problem", "method"), methods_with_a_control())
def test_every_method_on_every_preset(problem: str, method: str) -> None:
    for seed, preset in enumerate(PRESETS):
        assert_control_within(draw(preset, devices=3 + seed % 4, seed=seed)[0], problem, method)


@given(scenarios(devices=(1, 5)))
def test_the_split_of_any_scenario(scenario: Scenario) -> None:
    lengths = np.arange(scenario.device_count) % (scenario.max_draft_length + 1.0)
    for _, share in (per_token_optimum(scenario), length_split(scenario, lengths)):
        assert_within(share, scenario.uplink_bandwidth_hz)
    assert_within(np.full(scenario.device_count, scenario.equal_share_hz), scenario.uplink_bandwidth_hz)


@pytest.mark.parametrize("devices", [430, 10_000, 100_000])
def test_many_devices(devices: int) -> None:
    for preset in ("multispin-llama2", "uldl-qwen25"):
        scenario = draw(preset, devices=devices, seed=devices)[0]
        assert_control_within(scenario, "homogeneous", "decomposition")
        assert_control_within(scenario, "heterogeneous", "fixed")
        assert_reaction_within(scenario, np.arange(devices))


def assert_reaction_within(scenario: Scenario, rejected: np.ndarray) -> None:
    reaction, _ = react(scenario, rejected)
    up = reaction.on_uplink
    assert_within(reaction.bandwidth_hz[up], scenario.uplink_bandwidth_hz)
    assert_within(reaction.bandwidth_hz[~up], scenario.downlink_bandwidth_hz)
    assert_within(reaction.downlink_power_w[~up], scenario.downlink_power_w)
    for slack in evaluate_reaction(scenario, reaction).slacks:
        assert "budget" not in slack.constraint or slack.value >= 0.0


@given(scenarios(devices=(1, 8)), decades(1e-3, 1e3))
def test_reactions(scenario: Scenario, power_w: float) -> None:
    assert_reaction_within(scenario.with_downlink_power(power_w), np.arange(scenario.device_count))


def test_many_scenarios_at_once() -> None:
    for preset in PRESETS:
        drawn = [draw(preset, devices=7, seed=seed)[0] for seed in range(20)]
        found = solve_many(drawn)
        for scenario, share in zip(drawn, found.bandwidth_hz, strict=True):
            assert_within(share, scenario.uplink_bandwidth_hz)
