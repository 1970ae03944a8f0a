"""The evaluator against the independent brute force, and its own accounting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.formulas.split import equal_latency_split
from msopt.model.goodput import finish_s, play, round_at
from msopt.model.scenario import PROBLEMS
from tests import brute_force
from tests.cases import Description, s2, scenario_of
from tests.strategies import descriptions
from tests.tolerances import CLOSED_FORM, EXACT, FEW_ROUNDINGS, PUBLISHED_DIGITS


def draw_lengths(description: Description, data: st.DataObject) -> np.ndarray:
    return np.array([data.draw(st.integers(0, 12)) for _ in description["devices"]])


def test_fixed_lengths_and_shares_of_s2() -> None:
    """Field scenario S2: four tokens each over half of the band; and nobody drafting."""
    scenario = scenario_of(s2())
    half = np.full(2, 10e6)
    assert play(scenario, "heterogeneous", [4, 4], half).goodput == pytest.approx(14.3431566219, rel=PUBLISHED_DIGITS)
    assert play(scenario, "heterogeneous", [0, 0], half).goodput == pytest.approx(9.9900099900, rel=PUBLISHED_DIGITS)


@given(descriptions(), st.data())
def test_best_split_scores_as_brute_force(description: Description, data: st.DataObject) -> None:
    scenario, lengths = scenario_of(description), draw_lengths(description, data)
    bits = lengths * scenario.token_payload_bits("heterogeneous")
    busy = lengths * scenario.draft_s_per_token
    _, share = equal_latency_split(busy, bits, scenario.uplink, scenario.uplink_bandwidth_hz)
    played = play(scenario, "heterogeneous", lengths, share)
    assert played.goodput == pytest.approx(
        brute_force.goodput_of_lengths(description, lengths.tolist()), rel=CLOSED_FORM
    )


@given(descriptions(devices=(1, 3)), st.data())
def test_modes_score_as_brute_force(description: Description, data: st.DataObject) -> None:
    scenario, lengths = scenario_of(description), draw_lengths(description, data)
    share = np.full(scenario.device_count, scenario.equal_share_hz)
    correction = brute_force.expected_correction(description, lengths.tolist())
    played = play(scenario, "modes", lengths, share, correction)
    exact = brute_force.modes_goodput_of_lengths(description, lengths.tolist())
    assert played.goodput == pytest.approx(exact, rel=CLOSED_FORM)


@pytest.mark.parametrize("problem", PROBLEMS)
@given(descriptions(), st.data())
def test_the_parts_add_up(problem: str, description: Description, data: st.DataObject) -> None:
    scenario, lengths = scenario_of(description), draw_lengths(description, data)
    share = np.array([data.draw(st.floats(0.05, 1.0)) for _ in lengths])
    share *= scenario.uplink_bandwidth_hz / share.sum()
    played = play(scenario, problem, lengths, share, 0.01)
    assert played.round_s == pytest.approx(played.draft_upload_s + played.verify_s + 0.01, rel=EXACT)
    assert played.goodput == pytest.approx(np.sum(played.device_goodput), rel=EXACT)
    server = description["server"]
    verify = server["verify_base_s"] + server["verify_per_device_s"] * lengths.size
    verify += server.get("verify_per_token_s", 0.0) * (lengths + 1).sum()
    assert played.verify_s == pytest.approx(verify, rel=EXACT)
    finished = finish_s(scenario, problem, lengths, share)
    bits = description["payload"]["token_bits"] + (problem != "modes") * description["payload"]["distribution_bits"]
    for k, length in enumerate(lengths):
        sending = bits / brute_force.uplink_rate(description, share)[k]
        slowest = length * (description["devices"][k]["draft_s_per_token"] + sending)
        assert finished[k] == pytest.approx(slowest, rel=EXACT, abs=0.0)
    assert played.draft_upload_s == finished.max()


def test_many_controls_at_once() -> None:
    scenario = scenario_of(s2())
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 9, (5, 4, 2))
    share = rng.uniform(0.1, 0.5, (5, 4, 2)) * scenario.uplink_bandwidth_hz
    together = play(scenario, "heterogeneous", lengths, share)
    assert together.goodput.shape == (5, 4)
    assert together.device_goodput.shape == (5, 4, 2)
    for place in np.ndindex(5, 4):
        alone = play(scenario, "heterogeneous", lengths[place], share[place])
        assert together.goodput[place] == pytest.approx(alone.goodput, rel=FEW_ROUNDINGS)


def test_devices_that_draft_nothing_need_no_band() -> None:
    scenario = scenario_of(s2())
    assert finish_s(scenario, "heterogeneous", [3, 0], [20e6, 0.0])[1] == 0.0
    assert play(scenario, "heterogeneous", [3, 0], [20e6, 0.0]).goodput > 0.0


def test_drafting_without_band_never_ends() -> None:
    scenario = scenario_of(s2())
    assert finish_s(scenario, "heterogeneous", [3, 1], [20e6, 0.0]).tolist()[1] == np.inf
    assert play(scenario, "heterogeneous", [3, 1], [20e6, 0.0]).goodput == 0.0


def test_tokens_without_bits_need_no_band() -> None:
    scenario = scenario_of(s2(payload={"token_bits": 0}))
    assert finish_s(scenario, "modes", [3, 1], [0.0, 0.0]) == pytest.approx([0.06, 0.04], rel=FEW_ROUNDINGS)


def test_a_round_that_is_given() -> None:
    scenario = scenario_of(s2())
    given_round = round_at(scenario, [2.5, 0.0], 0.5, 0.1)
    assert given_round.expected_tokens == pytest.approx([(1.0 - 0.8**3.5) / 0.2, 1.0], rel=FEW_ROUNDINGS)
    assert given_round.round_s == pytest.approx(0.5 + 0.1 + 0.2 + 1e-4 * 4.5, rel=FEW_ROUNDINGS)
