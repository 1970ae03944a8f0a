"""A band that changes leaves every transmit power and every channel as it was, or says so."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given

from msopt import ParameterError, PowerWarning, Scenario, draw, react, solve
from msopt.units import dbm_to_w, snr_db
from tests.cases import Description, base, s2, scenario_of
from tests.strategies import decades, descriptions
from tests.tolerances import EXACT, FEW_ROUNDINGS, NEVER_ABOVE, PRICE_ELASTICITY, PRICE_STEP

GAIN_DB = np.array([-115.0, -121.0, -125.0])
LIMITED = {"uplink_sharing": "power-limited"}


def phones(uplink_hz: float, downlink_hz: float, server_dbm: float = 30.0) -> Scenario:
    """Three phones of 10 dBm and a server, from powers, gains and noise densities alone."""
    up = snr_db(10.0, GAIN_DB, -169.0, uplink_hz)
    down = snr_db(server_dbm, GAIN_DB, -167.0, downlink_hz)
    devices = [(0.8, 0.02, float(one), float(other)) for one, other in zip(up, down, strict=True)]
    radio = {"uplink_bandwidth_hz": uplink_hz, "downlink_bandwidth_hz": downlink_hz, **LIMITED}
    return scenario_of(base(*devices, radio=radio, server={"downlink_power_w": float(dbm_to_w(server_dbm))}))


def assert_same_radio(one: Scenario, other: Scenario) -> None:
    assert one.uplink_bandwidth_hz == other.uplink_bandwidth_hz
    assert one.downlink_bandwidth_hz == other.downlink_bandwidth_hz
    assert one.downlink_power_w == pytest.approx(other.downlink_power_w, rel=FEW_ROUNDINGS)
    for name in ("uplink_snr_db", "downlink_snr_db"):  # decibels are a logarithm: their error is absolute
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=0.0, abs=EXACT)


def test_other_bands_are_those_of_the_same_powers_and_noise() -> None:
    cell = phones(5e6, 8e6)
    assert_same_radio(cell.with_bandwidth(40e6, 1e6), phones(40e6, 1e6))
    assert_same_radio(cell.with_bandwidth(downlink_hz=1e6), phones(5e6, 1e6))
    assert_same_radio(cell.with_downlink_power(20.0), phones(5e6, 8e6, 10.0 * np.log10(20e3)))
    assert cell.with_bandwidth() == cell
    assert cell.with_bandwidth(5e6, 8e6) == cell


@pytest.mark.parametrize("cell", [None, "3gpp-uma"])
def test_a_draw_with_another_band_has_the_same_powers(cell: str | None) -> None:
    narrow, wide = (draw("uldl-qwen25", devices=4, cell=cell, bandwidth_hz=hz)[0] for hz in (10e6, 25e6))
    found = narrow.with_bandwidth(25e6, 25e6)
    for name in ("uplink_snr_db", "downlink_snr_db"):
        assert getattr(found, name) == pytest.approx(getattr(wide, name), rel=0.0, abs=1.1e-9)  # files keep 9 digits


def test_the_papers_snr_stays_in_any_band() -> None:
    """[MS]: the noise is a power, and the rate is linear in the band."""
    narrow, wide = (draw("multispin-llama2", devices=4, bandwidth_hz=hz)[0] for hz in (10e6, 20e6))
    assert narrow.with_bandwidth(uplink_hz=20e6).uplink_snr_db.tolist() == wide.uplink_snr_db.tolist()


def test_bandwidth_does_not_make_power() -> None:
    """Phones whose power runs out gain little from more band: eight times gives less than a twentieth."""
    cell, bands = phones(5e6, 5e6), (5e6, 10e6, 20e6, 40e6)
    held = [solve(cell.with_bandwidth(hz), "heterogeneous", "exact").goodput for hz in bands]
    assert all(after >= before * (1.0 - NEVER_ABOVE) for before, after in itertools.pairwise(held))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PowerWarning)
        louder = solve(cell.replace(uplink_bandwidth_hz=bands[-1])).goodput
    assert held[-1] < 1.04 * held[0] < 1.4 * held[0] < louder


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_the_price_is_the_slope_of_the_sweep(problem: str, sharing: str) -> None:
    cell = scenario_of(s2(radio={"uplink_sharing": sharing}))
    at, found = cell.uplink_bandwidth_hz, solve(cell, problem)
    low, high = (
        solve(cell.with_bandwidth(at * factor), problem).relaxed_goodput for factor in (1 - PRICE_STEP, 1 + PRICE_STEP)
    )
    elasticity = found.price_of_bandwidth * at / found.relaxed_goodput
    assert elasticity == pytest.approx((high - low) / (2.0 * PRICE_STEP * found.relaxed_goodput), abs=PRICE_ELASTICITY)
    assert elasticity > 10.0 * PRICE_ELASTICITY


@given(descriptions(devices=(1, 4)), decades(1.0, 1e3), decades(1.0, 1e3))
def test_no_band_and_no_power_lengthens_a_correction(description: Description, wider: float, louder: float) -> None:
    cell = scenario_of(description)
    everyone = list(range(cell.device_count))
    more = cell.with_bandwidth(wider * cell.uplink_bandwidth_hz, wider * cell.downlink_bandwidth_hz)
    for better in (more, cell.with_downlink_power(louder * cell.downlink_power_w)):
        assert react(better, everyone)[1] <= react(cell, everyone)[1] * (1.0 + EXACT)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"uplink_bandwidth_hz": 40e6}, r"uplink_snr_db .* 2 times the band .* 2 times every .* with_bandwidth"),
        ({"downlink_bandwidth_hz": 5e6}, r"0\.25 times the band .* 0\.25 times the power, .* is 1 times what it was"),
        ({"downlink_power_w": 20.0}, r"1 times the band .* downlink_power_w is 2 times what it was; .* with_downlink"),
    ],
)
def test_a_replaced_band_warns_of_the_power(changes: dict[str, float], told: str) -> None:
    cell = scenario_of(s2(radio=LIMITED))
    with pytest.warns(PowerWarning, match=told) as caught:
        changed = cell.replace(**changes)
    assert [warning.filename for warning in caught] == [__file__]
    for name, value in changes.items():
        assert getattr(changed, name) == value
    assert changed.uplink_snr_db.tolist() == cell.uplink_snr_db.tolist()


def test_a_replaced_sharing_counts() -> None:
    cell = scenario_of(s2())
    with pytest.warns(PowerWarning, match="uplink_snr_db"):
        cell.replace(uplink_bandwidth_hz=40e6, uplink_sharing="power-limited")


def test_who_says_what_stays_is_not_warned() -> None:
    """Warnings are errors here."""
    cell = scenario_of(s2(radio=LIMITED))
    up, down = cell.uplink_snr_db, cell.downlink_snr_db
    cell.replace(uplink_bandwidth_hz=40e6, uplink_snr_db=up)
    cell.replace(downlink_bandwidth_hz=40e6, downlink_snr_db=down)
    cell.replace(downlink_power_w=1.0, downlink_snr_db=down)
    cell.replace(downlink_bandwidth_hz=40e6, downlink_power_w=20.0)  # the same density of power
    cell.replace(uplink_bandwidth_hz=cell.uplink_bandwidth_hz, token_bits=0)
    scenario_of(s2()).replace(uplink_bandwidth_hz=40e6)  # fixed-snr: the rate is the SNR's in any band


@pytest.mark.parametrize("band", [0.0, -1.0, float("nan"), "20 MHz", 1e31, True])
def test_no_other_band_than_a_scenario_may_have(band: object) -> None:
    cell = scenario_of(s2(radio=LIMITED))
    with pytest.raises(ParameterError, match=r"radio\.uplink_bandwidth_hz = .* is not"):
        cell.with_bandwidth(band)
    with pytest.raises(ParameterError, match=r"radio\.downlink_bandwidth_hz = .* is not"):
        cell.with_bandwidth(downlink_hz=band)
    with pytest.raises(ParameterError, match=r"server\.downlink_power_w = .* is not"):
        cell.with_downlink_power(band)
