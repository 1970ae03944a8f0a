"""Means over draws, with the interval that the mean lies in."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from msopt.numerics.intervals import LEVEL


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
    reach = float(stats.t.ppf(0.5 + LEVEL / 2.0, drawn.size - 1) * np.std(drawn, ddof=1) / np.sqrt(drawn.size))
    return Mean(mean, mean - reach, mean + reach, int(drawn.size))
