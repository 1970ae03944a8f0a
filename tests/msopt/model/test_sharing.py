"""Both ways to share the uplink: rates, their inverse and its derivatives."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.model.sharing import FixedSnr, PowerLimited, Sharing, spectral_efficiency
from msopt.units import db_to_linear
from tests.strategies import decades
from tests.tolerances import DIFFERENCE, DIFFERENCE_STEP, EXACT, FEW_ROUNDINGS

BAND = 20e6


def both(snr: float) -> tuple[Sharing, Sharing]:
    ratio = np.array([snr])
    return FixedSnr(spectral_efficiency(ratio)), PowerLimited(ratio * BAND)


def amplified(snr_in_share: float) -> float:
    """Bandwidth hardly changes a power-limited rate at a small SNR z: an error of the rate grows by 2/z."""
    return FEW_ROUNDINGS * (1.0 + 2.0 / snr_in_share)


# Spectral efficiency


@pytest.mark.parametrize(("snr_db", "efficiency"), [(-174.0, 5.743472e-18), (-300.0, 1.442695e-30)])
def test_efficiency_where_one_plus_snr_rounds_to_one(snr_db: float, efficiency: float) -> None:
    assert float(spectral_efficiency(db_to_linear(snr_db))) == pytest.approx(efficiency, rel=1e-6)


@given(decades(1e-30, 1e30))
def test_efficiency_against_decimal_arithmetic(snr: float) -> None:
    getcontext().prec = 80
    exact = (1 + Decimal(snr)).ln() / Decimal(2).ln()
    assert float(spectral_efficiency(np.array(snr))) == pytest.approx(float(exact), rel=FEW_ROUNDINGS)


# Rates


def test_rates_of_two_equal_halves() -> None:
    """Fixed density against fixed power; with one device they are the same."""
    fixed, limited = both(10.0)
    half = np.array([BAND / 2.0])
    assert fixed.rate(half)[0] == pytest.approx(34_594_316.19, abs=5e-3)
    assert limited.rate(half)[0] == pytest.approx(43_923_174.23, abs=5e-3)
    for sharing in (fixed, limited):
        assert sharing.rate(np.array([BAND]))[0] == pytest.approx(69_188_632.37, abs=5e-3)


@given(decades(1e-4, 1e6), decades(1e-3, 1.0))
def test_concentrated_power_never_sends_less(snr: float, part: float) -> None:
    fixed, limited = both(snr)
    share = np.array([part * BAND])
    assert limited.rate(share)[0] >= fixed.rate(share)[0] * (1.0 - FEW_ROUNDINGS)


@given(decades(1e-4, 1e6), decades(1e-3, 1.0), decades(1e-3, 1.0))
def test_rates_rise_and_are_concave(snr: float, one: float, other: float) -> None:
    for sharing in both(snr):
        low, high = sorted((one * BAND, other * BAND))
        rates = [float(sharing.rate(np.array([band]))[0]) for band in (low, 0.5 * (low + high), high)]
        assert rates[0] <= rates[1] * (1.0 + FEW_ROUNDINGS) <= rates[2] * (1.0 + 2.0 * FEW_ROUNDINGS)
        assert rates[1] >= 0.5 * (rates[0] + rates[2]) * (1.0 - FEW_ROUNDINGS)


def test_no_band_no_rate() -> None:
    for sharing in both(10.0):
        assert sharing.rate(np.zeros(1)).tolist() == [0.0]
        assert sharing.bandwidth(np.zeros(1)).tolist() == [0.0]
        assert sharing.bandwidth_slope(np.zeros(1))[0].tolist() == [0.0]


# The inverse


@given(st.floats(-60.0, 60.0), decades(1e-6, 1.0))
def test_bandwidth_of_a_rate_round_trip(snr_db: float, part: float) -> None:
    snr = float(db_to_linear(snr_db))
    share = np.array([part * BAND])
    for sharing in both(snr):
        band = sharing.bandwidth(sharing.rate(share))
        assert band[0] == pytest.approx(share[0], rel=amplified(snr / part))
        assert sharing.bandwidth_slope(sharing.rate(share))[0][0] == pytest.approx(band[0], rel=FEW_ROUNDINGS)


@given(decades(1e-9, 0.999), decades(1e3, 1e12))
def test_rate_of_a_bandwidth_round_trip(part: float, power_hz: float) -> None:
    """The other way round nothing is amplified, however near to the ceiling of the rate."""
    sharing = PowerLimited(np.array([power_hz]))
    rate = np.array([part * power_hz / math.log(2.0)])
    assert sharing.rate(sharing.bandwidth(rate))[0] == pytest.approx(rate[0], rel=4.0 * FEW_ROUNDINGS)


@given(decades(1e-2, 1e6), decades(1e-4, 1.0))
def test_derivatives_by_differences(snr: float, part: float) -> None:
    for sharing in both(snr):
        rate = float(sharing.rate(np.array([part * BAND]))[0])
        step = DIFFERENCE_STEP * rate * min(1.0, snr / part)  # the scale on which a tiny SNR bends the curve
        rates = np.array([[rate - step], [rate], [rate + step]])
        band, slope, curvature = (values[:, 0] for values in sharing.bandwidth_slope(rates))
        assert slope[1] == pytest.approx((band[2] - band[0]) / (2.0 * step), rel=10.0 * DIFFERENCE)
        bend = (slope[2] - slope[0]) / (2.0 * step)
        assert curvature[1] == pytest.approx(bend, rel=10.0 * DIFFERENCE)


@pytest.mark.parametrize("power_hz", [1e3, 2e8, 1e12])
def test_ceiling_of_a_power_limited_rate(power_hz: float) -> None:
    """B log2(1 + s/B) stays below s/ln 2 for every B."""
    sharing = PowerLimited(np.array([power_hz]))
    ceiling = power_hz / math.log(2.0)
    for rate in (ceiling * (1.0 + 1e-12), 2.0 * ceiling, 1e300):
        assert sharing.bandwidth(np.array([rate])).tolist() == [math.inf]
        assert [float(value[0]) for value in sharing.bandwidth_slope(np.array([rate]))] == [math.inf] * 3
    below = sharing.bandwidth(np.array([ceiling * (1.0 - 1e-9)]))[0]
    # ln(1 + z)/z = 1 - z/2 + ...: 1e-9 below the ceiling z is 2e-9.
    assert below == pytest.approx(power_hz / 2e-9, rel=1e-6)


@pytest.mark.parametrize("snr_db", [-300.0, -174.0, -60.0, 60.0, 174.0])
def test_extreme_snr_gives_finite_positive_numbers(snr_db: float) -> None:
    for sharing in both(float(db_to_linear(snr_db))):
        rate = sharing.rate(np.array([BAND / 7.0]))
        assert 0.0 < rate[0] < math.inf
        half = sharing.bandwidth_slope(0.5 * rate)
        assert 0.0 < half[0][0] <= BAND / 7.0
        assert 0.0 < half[1][0] < math.inf
        assert 0.0 <= half[2][0] < math.inf


def test_shapes_and_selection() -> None:
    snr = np.array([0.1, 10.0, 1000.0])
    bands = BAND * np.array([[0.1, 0.2, 0.3], [0.5, 0.25, 0.125]])
    for sharing in (FixedSnr(spectral_efficiency(snr)), PowerLimited(snr * BAND)):
        rates = sharing.rate(bands)
        assert rates.shape == (2, 3)
        assert sharing.bandwidth(rates) == pytest.approx(bands, rel=EXACT)
        chosen = np.array([2, 0])
        assert np.array_equal(sharing.take(chosen).rate(bands[:, chosen]), rates[:, chosen])
        assert np.array_equal(sharing.take(chosen).bandwidth(rates[:, chosen]), sharing.bandwidth(rates)[:, chosen])
