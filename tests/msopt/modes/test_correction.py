"""The reaction to one outcome: modes, shares and power, against all 2^r assignments by brute force."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt import evaluate_reaction
from msopt.errors import ParameterError
from msopt.model.scenario import Scenario
from msopt.modes.correction import react
from tests import brute_force
from tests.cases import Description, base, permuted, s3, scenario_of
from tests.strategies import decades, descriptions
from tests.tolerances import CLOSED_FORM, EXACT


def subsets(count: int) -> list[tuple[int, ...]]:
    return [s for r in range(count + 1) for s in itertools.combinations(range(count), r)]


# Given answers


def test_power_for_unequal_users() -> None:
    """All on the downlink at SNRd 20, 10, 0 dB; equal power would take 5.0688 ms."""
    devices = [(0.8, 0.02, -60.0, snr) for snr in (20.0, 10.0, 0.0)]
    description = base(*devices, payload={"distribution_bits": 33792})
    reaction, seconds = react(scenario_of(description), [0, 1, 2])
    assert reaction.modes == ("downlink",) * 3
    assert reaction.downlink_power_w == pytest.approx([0.0900901, 0.9009009, 9.0090090], abs=5e-8)
    assert seconds == pytest.approx(2.6839231e-3, rel=2e-8)
    weakest_at_equal_power = 33792 / (20e6 / 3 * np.log2(1.0 + 1.0))
    assert weakest_at_equal_power == pytest.approx(5.0688e-3, rel=1e-5)


def test_power_at_extreme_channels() -> None:
    """At 60 and -20 dB nearly all goes to the weak one."""
    reaction, _ = react(scenario_of(base((0.8, 0.02, -80.0, 60.0), (0.8, 0.02, -80.0, -20.0))), [0, 1])
    assert reaction.downlink_power_w / 10.0 == pytest.approx([1e-8, 0.99999999], rel=1e-7)


# Against all assignments


@given(descriptions(devices=(1, 5)), st.data())
def test_one_prefix_is_the_best_of_all_modes(description: Description, data: st.DataObject) -> None:
    scenario = scenario_of(description)
    rejected = sorted(data.draw(st.sets(st.integers(0, scenario.device_count - 1))))
    reaction, seconds = react(scenario, rejected)
    assert reaction.rejected.tolist() == rejected
    best = brute_force.reaction(description, rejected)["correction_s"]
    assert seconds == pytest.approx(best, rel=CLOSED_FORM)
    attained = brute_force.correction_of_modes(description, rejected, reaction.modes)
    assert attained == pytest.approx(seconds, rel=CLOSED_FORM)


@given(descriptions(devices=(1, 6)))
def test_the_uplink_set_is_a_prefix_in_snr(description: Description) -> None:
    scenario = scenario_of(description)
    reaction, _ = react(scenario, np.arange(scenario.device_count))
    snr = scenario.uplink_snr_db[reaction.rejected]
    if reaction.on_uplink.any() and not reaction.on_uplink.all():
        assert snr[reaction.on_uplink].min() >= snr[~reaction.on_uplink].max()


@given(descriptions(devices=(2, 5)))
def test_time_grows_with_the_set(description: Description) -> None:
    scenario = scenario_of(description)
    seconds = {s: react(scenario, list(s))[1] for s in subsets(scenario.device_count)}
    assert seconds[()] == 0.0
    for smaller, at_most in seconds.items():
        for k in set(range(scenario.device_count)) - set(smaller):
            larger = tuple(sorted((*smaller, k)))
            assert at_most <= seconds[larger] * (1.0 + EXACT)


def more_downlink(scenario: Scenario, decibels: np.ndarray) -> Scenario:
    return scenario.replace(downlink_snr_db=scenario.downlink_snr_db + decibels)


@given(descriptions(devices=(1, 5)), st.data())
def test_more_downlink_power_never_takes_longer(description: Description, data: st.DataObject) -> None:
    """More power for all is as many decibels for each; a better channel of one device helps as well."""
    scenario = scenario_of(description)
    gain = np.array([data.draw(st.floats(0.0, 20.0)) for _ in range(scenario.device_count)])
    for decibels in (gain, np.full_like(gain, gain[0])):
        better = more_downlink(scenario, decibels)
        for rejected in subsets(scenario.device_count):
            after, before = react(better, list(rejected))[1], react(scenario, list(rejected))[1]
            assert after <= before * (1.0 + EXACT)


@given(descriptions(devices=(2, 5)), st.randoms(use_true_random=False))
def test_permuting_devices(description: Description, random: object) -> None:
    scenario = scenario_of(description)
    order = list(range(scenario.device_count))
    random.shuffle(order)  # type: ignore[attr-defined]
    everyone = np.arange(scenario.device_count)
    assert react(permuted(scenario, order), everyone)[1] == pytest.approx(react(scenario, everyone)[1], rel=EXACT)


# Shares and power


@given(descriptions(devices=(1, 6)), decades(1e-3, 1e3), st.data())
def test_shares_and_power(description: Description, power_w: float, data: st.DataObject) -> None:
    scenario = scenario_of(description).with_downlink_power(power_w)
    rejected = sorted(data.draw(st.sets(st.integers(0, scenario.device_count - 1), min_size=1)))
    reaction, seconds = react(scenario, rejected)
    up, count = reaction.on_uplink, len(rejected)
    bands = np.where(up, scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz)
    assert reaction.bandwidth_hz == pytest.approx(bands / count, rel=EXACT)
    assert np.all(count * reaction.bandwidth_hz <= bands)
    assert np.all(np.isnan(reaction.downlink_power_w[up]))
    power = reaction.downlink_power_w[~up]
    if power.size:
        assert np.sum(power) <= power_w
        assert sum(power.tolist()) <= power_w
        assert np.sum(power) == pytest.approx(power_w, rel=EXACT)
        snr = scenario.downlink_snr[reaction.rejected[~up]] * power / power_w * count
        delay = scenario.distribution_bits / (reaction.bandwidth_hz[~up] * np.log1p(snr) / np.log(2.0))
        assert delay == pytest.approx(np.full(power.size, delay[0]), rel=EXACT)
        assert delay[0] <= seconds * (1.0 + EXACT)


# What may be asked


def test_rejected_by_index_mask_and_name_in_any_order() -> None:
    scenario = scenario_of(s3())
    reaction, seconds = react(scenario, [2, 0])
    mask = np.array([True, False, True])
    for same in (np.array([0, 2]), mask, [0, 2, 2], np.array([2, 0], dtype=np.int8), ["dev-3", "dev-1"]):
        again, as_long = react(scenario, same)  # type: ignore[arg-type]
        assert again.rejected.tolist() == [0, 2]
        assert again.modes == reaction.modes
        assert as_long == seconds


def test_nobody_rejected() -> None:
    for nobody in ([], np.zeros(3, dtype=bool)):
        reaction, seconds = react(scenario_of(s3()), nobody)
        assert seconds == 0.0
        assert reaction.modes == ()
        assert reaction.downlink_power_w.size == reaction.bandwidth_hz.size == 0
        assert evaluate_reaction(scenario_of(s3()), reaction).correction_s == 0.0


@pytest.mark.parametrize("rejected", [[3], [-1], [0, 7], ["dev-9"], np.array([True, False])], ids=str)
def test_devices_that_are_not_there(rejected: Any) -> None:
    with pytest.raises(ParameterError, match=r"rejected.* is not a device of the scenario"):
        react(scenario_of(s3()), rejected)
