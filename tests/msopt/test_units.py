"""Conversions of units, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.model.sharing import spectral_efficiency
from msopt.units import db_to_linear, dbm_to_w, linear_to_db, snr_db, w_to_dbm
from tests.tolerances import EXACT, FEW_ROUNDINGS


def test_by_hand() -> None:
    assert db_to_linear([0.0, 10.0, -20.0, 30.0]) == pytest.approx([1.0, 10.0, 0.01, 1000.0], rel=FEW_ROUNDINGS)
    assert dbm_to_w([0.0, 30.0]) == pytest.approx([1e-3, 1.0], rel=FEW_ROUNDINGS)
    assert w_to_dbm(1.0) == pytest.approx(30.0, rel=FEW_ROUNDINGS)


@given(st.floats(-200.0, 200.0))
def test_there_and_back(value: float) -> None:
    # Decibels are a logarithm: their error is absolute, some roundings of the largest number on the way.
    assert abs(float(linear_to_db(db_to_linear(value))) - value) <= 200.0 * FEW_ROUNDINGS
    assert abs(float(w_to_dbm(dbm_to_w(value))) - value) <= 230.0 * FEW_ROUNDINGS


@given(st.floats(-100.0, 100.0), st.floats(-100.0, 100.0))
def test_decibels_add(one: float, other: float) -> None:
    product = db_to_linear(one) * db_to_linear(other)
    assert db_to_linear(one + other) == pytest.approx(product, rel=EXACT)


def test_noise_density_times_band() -> None:
    """23 dBm through -110 dB into -174 dBm/Hz over 20 MHz, and three ways to get it wrong."""
    assert snr_db(23.0, -110.0, -174.0, 20e6) == pytest.approx(13.9897, abs=5e-5)
    assert spectral_efficiency(db_to_linear(13.9897)) == pytest.approx(4.70373, abs=1e-5)
    assert snr_db(23.0, -110.0, -174.0 + 30.0, 20e6) == pytest.approx(-16.01, abs=5e-3)
    assert snr_db(23.0, -110.0, -174.0, 1.0) == pytest.approx(87.0, abs=5e-3)
    assert snr_db(23.0 + 30.0, -110.0, -174.0, 20e6) == pytest.approx(43.99, abs=5e-3)


def test_shapes_broadcast() -> None:
    powers, gains = np.array([[10.0], [20.0]]), np.array([-90.0, -100.0, -110.0])
    assert snr_db(powers, gains, -174.0, 10e6).shape == (2, 3)
