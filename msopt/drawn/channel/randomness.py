"""The laws of what is drawn, as inverse transforms of uniform random numbers in [0, 1).

A device's place and fading so stay the same whatever the powers, the band and the other devices are.
"""

import numpy as np
from scipy.special import ndtri

from msopt.arrays import FloatArray

_LEAST = 2.0**-54
"""Below the least positive number that numpy's generators draw: where the normal law puts a 0."""


def uniform(u: FloatArray, low: float, high: float) -> FloatArray:
    """Uniform in [low, high)."""
    return np.asarray(low + (high - low) * u)


def uniform_in_area(u: FloatArray, nearest_m: float, farthest_m: float) -> FloatArray:
    """The distance [m] of a point that lies anywhere in a ring with equal probability."""
    return np.sqrt(uniform(u, nearest_m**2, farthest_m**2))


def exponential(u: FloatArray) -> FloatArray:
    """Exponential with mean 1, the power |CN(0, 1)|² of Rayleigh fading."""
    return np.asarray(-np.log1p(-u))


def normal(u: FloatArray) -> FloatArray:
    """Normal with mean 0 and deviation 1."""
    return np.asarray(ndtri(np.maximum(u, _LEAST)))
