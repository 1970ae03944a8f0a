"""Corrections in given modes with bandwidths and power free, against closed forms and direct minimisation."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from msopt import ParameterError, Scenario, evaluate_reaction, react
from msopt.model.control import BAND_RULES, CORRECTIONS, Correction
from msopt.model.sharing import UplinkSharing
from msopt.modes.free_bands import FreeBands
from reports.crosscheck.random_scenarios import random_scenario
from tests.cases import base, scenario_of
from tests.tolerances import CLOSED_FORM, EXACT, FEW_ROUNDINGS, INDEPENDENT_OPTIMUM

SHARINGS: tuple[UplinkSharing, ...] = ("fixed-snr", "power-limited")
YES, NO = np.ones((1, 2), dtype=bool), np.zeros((1, 2), dtype=bool)


def cell(up_db: list[float], down_db: list[float], sharing: UplinkSharing = "fixed-snr") -> Scenario:
    devices = [(0.8, 0.02, *snr_db) for snr_db in zip(up_db, down_db, strict=True)]
    return scenario_of(base(*devices, radio={"uplink_sharing": sharing, "uplink_bandwidth_hz": 10e6}))


def root(function: Callable[[float], float], low: float = -30.0, high: float = 30.0) -> float:
    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-14))


def sent_up_s(scenario: Scenario, k: int, share: float) -> float:
    """Exchange time of device k over a share of the uplink band, from the rate's definition."""
    snr = scenario.uplink_snr[k] / (share if scenario.uplink_sharing == "power-limited" else 1.0)
    return float(scenario.distribution_bits / (share * scenario.uplink_bandwidth_hz * np.log2(1.0 + snr)))


def sent_down_s(scenario: Scenario, k: int, share: float, power: float, bits: float | None = None) -> float:
    rate = share * scenario.downlink_bandwidth_hz * np.log2(1.0 + scenario.downlink_snr[k] * power / share)
    return float((bits or scenario.distribution_bits) / rate)


def least(function: Callable[[float], float]) -> float:
    """The least value of a function of a share between 0 and 1."""
    found = minimize_scalar(
        lambda y: function(1.0 / (1.0 + np.exp(-y))), bounds=(-20.0, 20.0), options={"xatol": 1e-10}
    )
    return float(found.fun)


def both_down_s(scenario: Scenario, bits: tuple[float, float]) -> float:
    def slower(first: float) -> float:
        def lead(y: float) -> float:
            power = 1.0 / (1.0 + np.exp(-y))
            return np.log(
                sent_down_s(scenario, 0, first, power, bits[0])
                / sent_down_s(scenario, 1, 1.0 - first, 1.0 - power, bits[1])
            )

        return sent_down_s(scenario, 0, first, 1.0 / (1.0 + np.exp(-root(lead))), bits[0])

    return least(slower)


def test_by_uplink_at_a_fixed_snr_times_add_up() -> None:
    scenario = cell([20.0, 3.0, -7.0], [10.0, 10.0, 10.0])
    bits = np.array([1e3, 2e4, 5e3])
    whole_band = bits / (10e6 * np.log2(1.0 + 10.0 ** (scenario.uplink_snr_db / 10.0)))
    found = FreeBands.of(scenario, uplink_bits=bits).uplink_s(np.array([[True, True, True], [True, False, True]]))
    assert found == pytest.approx([whole_band.sum(), whole_band[[0, 2]].sum()], rel=FEW_ROUNDINGS)


@pytest.mark.parametrize("snr_db", [-30.0, 0.0, 60.0])
def test_devices_that_are_alike_share_equally(snr_db: float) -> None:
    """By downlink at the SNR of the whole power over the whole band, each in its part of both."""
    scenario = cell([0.0] * 4, [snr_db] * 4)
    expected = 4 * scenario.distribution_bits / (scenario.downlink_bandwidth_hz * np.log2(1.0 + 10 ** (snr_db / 10.0)))
    found = FreeBands.of(scenario).downlink(np.ones((1, 4), dtype=bool))
    assert found.seconds == pytest.approx([expected], rel=EXACT)


@pytest.mark.parametrize("bits", [None, (5e3, 9e4)])
@pytest.mark.parametrize("snr_db", [(30.0, 5.0), (0.0, -20.0), (12.0, 11.0)])
def test_two_by_downlink(snr_db: tuple[float, float], bits: tuple[float, float] | None) -> None:
    scenario = cell([0.0, 0.0], list(snr_db))
    expected = both_down_s(scenario, bits or (scenario.distribution_bits,) * 2)
    found = FreeBands.of(scenario, downlink_bits=bits).downlink(YES).seconds[0]
    assert found == pytest.approx(expected, rel=INDEPENDENT_OPTIMUM)
    assert found <= expected * (1.0 + EXACT)


@pytest.mark.parametrize("sharing", SHARINGS)
def test_one_each_way_in_one_band(sharing: UplinkSharing) -> None:
    """The uplink's share is where both take as long: the downlink has all the power."""
    scenario = cell([4.0, 9.0], [20.0, 15.0], sharing)

    def lead(y: float) -> float:
        up = 1.0 / (1.0 + np.exp(-y))
        return float(np.log(sent_up_s(scenario, 0, up) / sent_down_s(scenario, 1, 1.0 - up, 1.0)))

    expected = sent_up_s(scenario, 0, 1.0 / (1.0 + np.exp(-root(lead))))
    up = np.array([[True, False]])
    found = FreeBands.of(scenario).shared(up, ~up)
    assert found.seconds == pytest.approx([expected], rel=CLOSED_FORM)


@pytest.mark.parametrize("sharing", SHARINGS)
def test_two_by_uplink(sharing: UplinkSharing) -> None:
    """Alone in a shared band as in a band of their own: where both take as long."""
    scenario = cell([4.0, -9.0], [20.0, 15.0], sharing)

    def lead(y: float) -> float:
        first = 1.0 / (1.0 + np.exp(-y))
        return float(np.log(sent_up_s(scenario, 0, first) / sent_up_s(scenario, 1, 1.0 - first)))

    expected = sent_up_s(scenario, 0, 1.0 / (1.0 + np.exp(-root(lead))))
    bands = FreeBands.of(scenario)
    assert bands.uplink_s(YES) == pytest.approx([expected], rel=CLOSED_FORM)
    shared = bands.shared(YES, NO)
    assert shared.seconds == pytest.approx([expected], rel=CLOSED_FORM)
    assert np.isnan(shared.log_price[0])
    assert bands.uplink_s(NO).tolist() == [0.0]


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("sharing", SHARINGS)
def test_a_reaction_keeps_its_limits_and_takes_its_time(sharing: UplinkSharing, correction: Correction) -> None:
    for seed in range(8):
        scenario = random_scenario(seed, devices=(2, 6), uplink_sharing=sharing)
        everyone = np.arange(scenario.device_count)
        reaction, seconds = react(scenario, everyone, correction)
        score = evaluate_reaction(scenario, reaction)
        score.require_feasible()
        assert score.correction_s == pytest.approx(seconds, rel=CLOSED_FORM)
        assert seconds <= react(scenario, everyone)[1] * (1.0 + EXACT)
        if correction == "shared-band":
            bands = np.where(reaction.on_uplink, scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz)
            assert np.sum(reaction.bandwidth_hz / bands) <= 1.0


@pytest.mark.parametrize("bits", [0.0, [1.0], [1.0, 2.0, -1.0], [1.0, np.nan, 2.0]])
def test_payloads_are_above_0(bits: object) -> None:
    with pytest.raises(ParameterError, match=r"uplink_bits = .* is not a number above 0, or one for each device"):
        FreeBands.of(cell([0.0] * 3, [0.0] * 3), uplink_bits=bits)


def test_nobody_and_too_many() -> None:
    scenario = random_scenario(3, devices=(21, 21))
    for correction in BAND_RULES:
        reaction, seconds = react(scenario, [], correction)
        assert (reaction.rejected.size, seconds) == (0, 0.0)
        with pytest.raises(
            ParameterError, match=f"correction {correction} is known for at most 20 rejected devices; 21"
        ):
            react(scenario, np.arange(21), correction)
    with pytest.raises(
        ParameterError, match='correction = "nope" is not equal-shares or shared-band or separate-bands'
    ):
        react(scenario, [0], "nope")  # type: ignore[arg-type]
