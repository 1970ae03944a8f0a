"""Problem `homogeneous` against brute force, enumeration of all lengths, and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.lengths.homogeneous import best_common_length, solve_homogeneous
from msopt.model.scenario import Scenario
from msopt.units import linear_to_db
from tests import brute_force
from tests.cases import Description, base, permuted, s2, scenario_of, with_band
from tests.strategies import SHARINGS, descriptions, scenarios
from tests.tolerances import CLOSED_FORM, EXACT, PRICE_ELASTICITY, PRICE_STEP


def goodput(description: Description, lengths: np.ndarray) -> float:
    return brute_force.goodput_of_lengths(description, lengths.tolist())


@given(descriptions(longest=(1, 25)))
def test_against_every_length(description: Description) -> None:
    found, best = solve_homogeneous(scenario_of(description)), brute_force.homogeneous_optimum(description)
    assert np.ptp(found.draft_length) == 0
    assert goodput(description, found.draft_length) == pytest.approx(best["goodput"], rel=CLOSED_FORM)
    assert found.per_token_s == pytest.approx(best["theta_s"], rel=CLOSED_FORM)
    assert found.relaxed_goodput >= best["goodput"] * (1.0 - EXACT)


def test_a_device_almost_without_channel() -> None:
    """At -60 dB the other's tokens wait for some twenty minutes: right for one length of at least 1."""
    description = base((0.8, 0.02, 10.0, 25.0), (0.6, 0.04, -60.0, 10.0))
    assert goodput(description, solve_homogeneous(scenario_of(description)).draft_length) == pytest.approx(
        0.002901, abs=5e-7
    )


@pytest.mark.parametrize(("least", "length", "value"), [(1, 1, 30.0), (0, 0, 100.0)])
def test_drafting_that_does_not_pay(least: int, length: int, value: float) -> None:
    """A verification faster than a draft; theta and the split are reported all the same."""
    server = {"verify_base_s": 0.01, "verify_per_token_s": 0.0}
    # 20 MHz at an SNR of 3 carry 40 Mbit/s: 0.4 Mbit take 0.01 s.
    payload = {"token_bits": 0, "distribution_bits": 4e5}
    limits = {"min_draft_length": least}
    description = base((0.8, 0.04, float(linear_to_db(3.0)), 0.0), server=server, payload=payload, limits=limits)
    found = solve_homogeneous(scenario_of(description))
    assert found.draft_length.tolist() == [length]
    assert goodput(description, found.draft_length) == pytest.approx(value, rel=CLOSED_FORM)
    of_length = [goodput(description, np.array([longer])) for longer in range(4)]
    assert of_length == pytest.approx([100.0, 30.0, 244 / 11, 18.45], abs=5e-3)
    assert found.per_token_s == pytest.approx(0.05, rel=EXACT)
    assert found.bandwidth_hz == pytest.approx([20e6], rel=EXACT)


@given(scenarios(longest=(1, 40)), st.floats(0.0, 1.0))
def test_no_real_length_is_better(scenario: Scenario, part: float) -> None:
    """The relaxed goodput against any other real length, by the evaluator's own formula."""
    found = solve_homogeneous(scenario)
    low, high = scenario.length_limits("homogeneous")
    assert low <= found.relaxed_length <= high
    length = np.full(scenario.device_count, low + part * (high - low))
    tokens = np.sum(scenario.acceptance.expected_tokens(length))
    seconds = found.per_token_s * length[0] + scenario.verify_s(length)
    assert tokens / seconds <= found.relaxed_goodput * (1.0 + EXACT)


@pytest.mark.parametrize("sharing", SHARINGS)
@given(data=st.data())
def test_price_by_differences(sharing: str, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(sharings=(sharing,), kinds=("geometric",), inner=True))
    found = solve_homogeneous(scenario)
    more, less = (solve_homogeneous(with_band(scenario, 1.0 + step)) for step in (PRICE_STEP, -PRICE_STEP))
    difference = (more.relaxed_goodput - less.relaxed_goodput) / (2.0 * PRICE_STEP * found.relaxed_goodput)
    elasticity = found.price_of_bandwidth * scenario.uplink_bandwidth_hz / found.relaxed_goodput
    assert elasticity == pytest.approx(difference, abs=PRICE_ELASTICITY)


@given(scenarios(devices=(2, 5)), st.randoms(use_true_random=False))
def test_permuting_devices_permutes_the_split(scenario: Scenario, random: object) -> None:
    order = list(range(scenario.device_count))
    random.shuffle(order)  # type: ignore[attr-defined]
    found, moved = solve_homogeneous(scenario), solve_homogeneous(permuted(scenario, order))
    assert moved.bandwidth_hz == pytest.approx(found.bandwidth_hz[order], rel=EXACT)
    assert moved.relaxed_goodput == pytest.approx(found.relaxed_goodput, rel=EXACT)
    assert moved.per_token_s == pytest.approx(found.per_token_s, rel=EXACT)


def test_limits_are_respected() -> None:
    scenario = scenario_of(s2())
    for limits, length in (((5, 9), 5), ((0, 2), 2), ((3, 3), 3), ((1, 16), 3)):
        assert best_common_length(scenario, 0.04435173021, limits)[0] == length


def test_tokens_that_cost_nothing() -> None:
    """No draft time, no verification time and no upload time per token: the longest draft."""
    scenario = scenario_of(s2(server={"verify_per_token_s": 0.0}))
    assert best_common_length(scenario, 0.0, (1, 16)) == (16, 16.0)
