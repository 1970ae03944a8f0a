"""The one place that converts units. Everything inside msopt is SI and linear; decibels exist at the border only."""

import numpy as np

from msopt.arrays import FloatArray


def db_to_linear(value_db: FloatArray | float) -> FloatArray:
    """Ratio of powers from decibels: 10^(x/10)."""
    return np.asarray(10.0 ** (np.asarray(value_db, dtype=float) / 10.0))


def linear_to_db(ratio: FloatArray | float) -> FloatArray:
    """Decibels from a positive ratio of powers."""
    return np.asarray(10.0 * np.log10(np.asarray(ratio, dtype=float)))


def dbm_to_w(power_dbm: FloatArray | float) -> FloatArray:
    """Watts from dBm (decibels above one milliwatt)."""
    return np.asarray(1e-3 * db_to_linear(power_dbm))


def w_to_dbm(power_w: FloatArray | float) -> FloatArray:
    """dBm from positive watts."""
    return linear_to_db(np.asarray(power_w, dtype=float) / 1e-3)


def snr_db(
    power_dbm: FloatArray | float,
    gain_db: FloatArray | float,
    noise_dbm_per_hz: FloatArray | float,
    bandwidth_hz: FloatArray | float,
) -> FloatArray:
    """Signal-to-noise ratio [dB] of a power sent through a gain into white noise over a whole band.

    >>> round(float(snr_db(23.0, -110.0, -174.0, 20e6)), 4)
    13.9897
    """
    noise_dbm = np.asarray(noise_dbm_per_hz, dtype=float) + linear_to_db(bandwidth_hz)
    return np.asarray(np.asarray(power_dbm, dtype=float) + np.asarray(gain_db, dtype=float) - noise_dbm)
