"""Means over draws, with the interval that the mean lies in."""

import math
from typing import Any, NamedTuple

import numpy as np

from msopt.numerics.intervals import mean_interval


class Mean(NamedTuple):
    """A mean, its interval and how many draws it is made of."""

    mean: float
    low: float
    high: float
    draws: int


def mean_of(values: Any) -> Mean:
    """Mean of independent draws with Student's 95 % interval; of one draw, the value itself three times; of none, NaN.

    >>> [round(x, 3) for x in mean_of([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484, 3]
    """
    drawn = np.asarray(values, dtype=float)
    if not drawn.size:
        return Mean(math.nan, math.nan, math.nan, 0)
    mean = float(np.mean(drawn))
    if drawn.size < 2:
        return Mean(mean, mean, mean, int(drawn.size))
    return Mean(mean, *mean_interval(drawn), int(drawn.size))
