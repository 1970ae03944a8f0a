"""Variants at the edge of what a scenario may hold: rounds of no time, floors of both kinds, times without digits."""

from typing import Any

import numpy as np
import pytest

from msopt import Control, InfeasibleError, ParameterError, Scenario, evaluate, solve
from msopt.files.control_json import parse_control
from msopt.files.json_text import to_json
from tests.cases import Description, s2, s3, scenario_of


def varied(description: Description, **variant: Any) -> Scenario:
    return scenario_of({**description, "variant": variant})


NO_BASE = s3(server={"verify_base_s": 0.0, "verify_per_device_s": 0.01, "verify_per_token_s": 0.0})


@pytest.mark.parametrize(
    "variant",
    [
        {"slots": 1},
        {"slots": 2, "utility": "alpha-fair", "fairness_alpha": 0.5},
        {"utility": "admission", "goodput_floor_tokens_per_s": 2.0},
    ],
)
def test_a_round_without_anybody_is_none_where_verification_takes_no_time_of_a_batch(variant: dict[str, Any]) -> None:
    found = solve(varied(NO_BASE, **variant), method="exact")
    assert found.evaluation.round.round_s > 0.0
    assert found.utility_bound == pytest.approx(found.evaluation.utility_value, rel=1e-9)


def test_one_alone_without_a_base_time_is_the_best_of_all_that_play_alone() -> None:
    scenario = varied(NO_BASE, slots=1)
    found = solve(scenario, method="exact")
    length = np.arange(1.0, 9.0)
    best = 0.0
    for acceptance, draft_s, snr_db in ((0.8, 0.02, 14.0), (0.6, 0.03, 0.0), (0.9, 0.04, -6.0)):
        rate = 20e6 * np.log2(1.0 + 10.0 ** (snr_db / 10.0))
        tokens = (1.0 - acceptance ** (length + 1.0)) / (1.0 - acceptance)
        bits = length * float(scenario.token_payload_bits("heterogeneous"))
        best = max(best, float(np.max(tokens / (length * draft_s + bits / rate + 0.01))))
    assert found.goodput == pytest.approx(best, rel=1e-9)


def test_nobody_in_a_round_of_no_time_is_told() -> None:
    nobody = Control(problem="heterogeneous", draft_length=[0] * 3, bandwidth_hz=[0.0] * 3, served=[False] * 3)
    with pytest.raises(InfeasibleError, match="nobody takes part"):
        evaluate(varied(NO_BASE, slots=1), nobody)


def test_a_floor_for_all_and_one_of_a_device_go_together() -> None:
    description = s3()
    description["devices"][1]["goodput_floor_tokens_per_s"] = 4.5
    found = solve(varied(description, goodput_floor_tokens_per_s=3.0))
    goodput = found.evaluation.round.device_goodput
    assert np.all(goodput >= np.array([3.0, 4.5, 3.0]) * (1.0 - 1e-9))
    (floor,) = found.evaluation.limits
    np.testing.assert_allclose(floor.value, goodput - [3.0, 4.5, 3.0], rtol=1e-12)


def test_a_control_written_with_an_idle_device_is_read_with_it() -> None:
    scenario = varied(s3(), slots=2)
    found = solve(scenario)
    text = to_json(found.to_dict())
    again = parse_control(text, scenario)
    np.testing.assert_array_equal(again.served, found.control.served)
    assert evaluate(scenario, again).goodput == found.goodput


@pytest.mark.parametrize("trip_s", [1e16, 1e29])
def test_times_that_leave_sending_no_digit_have_shares_all_the_same(trip_s: float) -> None:
    description = s2()
    for device in description["devices"]:
        device["round_trip_s"] = trip_s
    found = solve(scenario_of(description))
    assert np.sum(found.control.bandwidth_hz) == pytest.approx(20e6, rel=1e-12)


def test_a_flag_that_is_none_says_what_is_allowed() -> None:
    with pytest.raises(ParameterError, match=r"padded_batches = 1 is not true or false$"):
        varied(s2(), padded_batches=1)


@pytest.mark.parametrize("variant", [{"bandwidth_cap_hz": 5e6}, {"resource_block_hz": 4e6}])
def test_shares_that_a_limit_holds_have_no_elasticities_of_free_ones(variant: dict[str, float]) -> None:
    held = solve(varied(s3(), utility="max-min", **variant))
    with pytest.raises(ParameterError, match="a limit holds the shares"):
        held.sensitivity()
    free = solve(varied(s3(), utility="max-min", token_budget=6))
    assert len(free.sensitivity(devices=False)) > 3


@pytest.mark.parametrize(
    "variant",
    [
        {"utility": "proportional-fair", "token_budget": 0, "slots": 2, "bandwidth_cap_hz": 1.0},
        {"utility": "alpha-fair", "fairness_alpha": 100.0, "bandwidth_cap_hz": 1.0},
        {"utility": "admission", "goodput_floor_tokens_per_s": 0.5},
    ],
    ids=lambda variant: variant["utility"],
)
def test_bits_beyond_all_floats_are_told_and_warn_of_nothing(variant: dict[str, Any]) -> None:
    description = s2()
    description["payload"]["distribution_bits"] = 1e30
    scenario = varied(description, **variant)
    for problem in ("homogeneous", "heterogeneous"):
        try:
            found = solve(scenario, problem)
        except InfeasibleError:
            continue
        found.evaluation.require_feasible()
