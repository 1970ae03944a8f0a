"""Why average power and round trips have no convex program: two points that keep them, a midpoint that does not.

Per second of the round, with l = L/T, d = D/T, s = 1/T and one device's band share c l/(time for sending) at fixed SNR.
"""

import numpy as np

BAND = 1.0


def shares(length: np.ndarray, airtime: np.ndarray) -> float:
    """Of all devices, each with one unit of bits a token and unit efficiency."""
    return float(np.sum(length / airtime))


def test_an_average_power_limits_the_airtime_and_then_the_set_is_not_convex() -> None:
    """Device 1 is bound by the deadline (airtime d), device 2 by its power (airtime m of the round, m < d)."""
    mean = 0.1

    def used(point: np.ndarray) -> float:
        deadline, first, second = point
        return shares(np.array([first, second]), np.array([deadline, min(deadline, mean)]))

    one, other = np.array([0.8, 0.8, 0.0]), np.array([0.2, 0.0, 0.1])
    assert used(one) <= BAND * (1.0 + 1e-12)
    assert used(other) <= BAND * (1.0 + 1e-12)
    assert used(0.5 * (one + other)) > 1.2 * BAND


def test_round_trips_of_different_length_shift_the_deadlines_apart() -> None:
    """Airtime d - r s; with r = 0 for device 1 and r = 1 for device 2 the band's limit is no convex set."""

    def used(point: np.ndarray) -> float:
        rate, deadline, first, second = point
        return shares(np.array([first, second]), np.array([deadline, deadline - rate]))

    one, other = np.array([0.01, 0.51, 0.0, 0.5]), np.array([0.79, 0.8, 0.8, 0.0])
    assert used(one) <= BAND * (1.0 + 1e-12)
    assert used(other) <= BAND * (1.0 + 1e-12)
    assert used(0.5 * (one + other)) > 1.5 * BAND
