"""Shares of a budget (hertz, watts) that no checker finds above it, in whatever order it adds them up.

Adding n numbers of at least 0 in floats rounds n - 1 times, each time by a factor of at most 1 + 2^-53, whatever the
order and the brackets. So shares whose exact sum stays below the budget by n 2^-53 of it are within it for every
checker; multiples of the budget's last digit are added without any rounding, and need no such margin. No margin
that serves every order is much less: of 1e5 shares that are all alike the plain sum alone may end 1e-11 too high.
"""

from typing import Any

import numpy as np

from msopt.arrays import FloatArray

_EPS = 2.0**-52


def within_budget(shares: Any, budget: FloatArray | float) -> FloatArray:
    """Shares of shape (..., n), all scaled down by one factor where needed, so that every sum of them is within.

    The factor takes (n + 1) 2^-52 from shares whose sum is the budget: 2^-53 of it for every addition of the checker
    and of the sum taken here, the rest for the three roundings of the scaling. Shares that are added exactly stay as
    they are, and so does one alone.

    Parameters
    ----------
    shares : array, shape (..., n)
        At least 0; rows with numbers that are not finite are left alone.
    budget : float or array, shape (..., 1)
        Above 0.
    """
    values = np.asarray(shares, dtype=float)
    used = np.asarray(np.add.reduce(values, axis=-1, keepdims=True))
    adds = np.add.reduce(values != 0.0, axis=-1, keepdims=True)
    allowed = budget * (1.0 - np.where(adds > 1, (adds + 1.0) * _EPS, 0.0))
    over = (used > allowed) & np.isfinite(used)
    if not over.any():
        return values
    within = over & (used <= budget)
    if within.any():
        digits = np.where(within, values, 0.0) / np.spacing(budget)  # by a power of two: exact
        within &= np.all(digits == np.rint(digits), axis=-1, keepdims=True)
    factor = np.where(over & ~within, allowed / np.where(over, used, 1.0), 1.0)
    return np.asarray(np.where(over, np.minimum(values * factor, budget), values))


def equal_share(budget: float, count: int) -> float:
    """The greatest n-th part of a budget that is a multiple of its last digit, so that n of them are added exactly."""
    digit = float(np.spacing(budget))
    return int(budget / digit) // count * digit
