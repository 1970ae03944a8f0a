"""Elasticities: against laws of scale, closed forms, the price of bandwidth and whole optima solved anew."""

import numpy as np
import pytest

from msopt import Acceptance, MaxMin, ParameterError, ProportionalFair, Scenario, draw, solve
from msopt.model.problems import PROBLEMS, Problem
from msopt.sensitivity import Elasticity, elasticities
from msopt.solution import Solution
from tests.cases import base, scenario_of

CELL = draw("multispin-llama2", devices=5, seed=4)[0].replace(verify_per_token_s=1e-3)
LOUD = draw("uldl-qwen25", devices=4, seed=1)[0]


def sensitivity(solution: Solution, *, devices: bool = True) -> tuple[Elasticity, ...]:
    assert solution.control is not None
    assert solution.evaluation is not None
    return elasticities(solution.scenario, solution.control, solution.evaluation, devices=devices)


def of(found: tuple[Elasticity, ...], *parameters: str) -> float:
    return sum(one.elasticity for one in found if one.parameter in parameters)


def of_times_and_bits(found: tuple[Elasticity, ...]) -> float:
    """A band at the same power is a band and its SNRs: bits alone rise as bands and powers fall together."""
    times = {one.parameter for one in found if one.parameter.endswith(("_s", "_s_per_token"))}
    return of(found, *times, "payload.token_bits", "payload.distribution_bits")


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("scenario", [CELL, LOUD], ids=["fixed SNR", "power-limited"])
def test_twice_the_time_is_half_the_goodput(scenario: Scenario, problem: Problem) -> None:
    """All times c-fold and all rates over c: elasticities to times, less those to bands at the same SNR, are -1."""
    assert of_times_and_bits(sensitivity(solve(scenario, problem))) == pytest.approx(-1.0, abs=1e-4)


def test_the_price_of_bandwidth_is_its_elasticity_where_lengths_are_at_a_limit() -> None:
    scenario = CELL.replace(min_draft_length=3, max_draft_length=3)
    solution = solve(scenario)
    expected = solution.price_of_bandwidth * scenario.uplink_bandwidth_hz / solution.goodput
    assert of(sensitivity(solution), "radio.uplink_bandwidth_hz") == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("field", ["verify_base_s", "distribution_bits"])
def test_it_is_the_slope_of_optima_that_are_solved_anew(field: str) -> None:
    solution = solve(CELL, method="exact")
    more, less = (solve(CELL.replace(**{field: getattr(CELL, field) * f}), method="exact") for f in (1.0001, 0.9999))
    assert np.array_equal(more.control.draft_length, less.control.draft_length)  # type: ignore[union-attr]
    slope = np.log(more.goodput / less.goodput) / np.log(1.0001 / 0.9999)
    table = {"verify_base_s": "server.verify_base_s", "distribution_bits": "payload.distribution_bits"}
    assert of(sensitivity(solution), table[field]) == pytest.approx(slope, rel=1e-3)


def test_of_one_device_without_a_radio_it_is_a_quotient() -> None:
    """E/(L tau + c0): -L tau/T to the draft time, -c0/T to the verification."""
    base_s, per_token_s = 0.05, 0.02
    server = {"verify_base_s": base_s, "verify_per_token_s": 0.0}
    payload = {"token_bits": 0, "distribution_bits": 1e-9}
    solution = solve(scenario_of(base((0.8, per_token_s, 20.0, 20.0), server=server, payload=payload)))
    drafting = float(solution.control.draft_length[0]) * per_token_s
    found = sensitivity(solution)
    assert of(found, "devices.draft_s_per_token") == pytest.approx(-drafting / (drafting + base_s), abs=1e-8)
    assert of(found, "server.verify_base_s") == pytest.approx(-base_s / (drafting + base_s), abs=1e-8)


def test_another_utility_has_the_elasticity_of_the_factor_that_is_worth_as_much() -> None:
    """Times scale all goodputs alike, whatever is maximised."""
    for utility in (ProportionalFair(), MaxMin()):
        assert of_times_and_bits(sensitivity(solve(CELL, utility=utility))) == pytest.approx(-1.0, abs=1e-4)


def test_the_common_numbers_alone_are_there_without_devices() -> None:
    found = sensitivity(solve(CELL), devices=False)
    assert {one.device for one in found} == {None}
    frame = solve(CELL).sensitivity(devices=False)
    assert list(frame["parameter"]) == [one.parameter for one in found]
    assert np.all(np.diff(np.abs(frame["elasticity"])) <= 0.0)


def test_a_method_without_a_control_is_one_line() -> None:
    with pytest.raises(ParameterError, match="server-only has no one control"):
        solve(CELL, method="server-only").sensitivity()


def test_a_curve_with_tokens_that_are_always_accepted_has_the_elasticity_of_the_others() -> None:
    """Two tokens, the second always accepted after the first: 1 + 2 S, so that S counts by 2 S/(1 + 2 S)."""
    law = Acceptance.of([0.0], curves=[[0.6, 0.6]])
    cell = draw("multispin-llama2", devices=1, seed=1)[0]
    scenario = cell.replace(acceptance=law, min_draft_length=2, max_draft_length=2)
    found = of(sensitivity(solve(scenario)), "devices.acceptance")
    assert found == pytest.approx(2 * 0.6 / (1.0 + 2 * 0.6), rel=1e-6)
