"""Intervals for what was counted, and for means of independent draws."""

import numpy as np
from scipy.special import betaincinv, stdtrit

from msopt.arrays import FloatArray
from msopt.errors import ParameterError

LEVEL = 0.95
"""The level of every interval that a profile, a log's reading or a report states where nothing else is said."""


def proportion_interval(accepted: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Clopper and Pearson's interval of a probability from independent trials: never below its level.

    Counts may be fractions: where some trials were cut short, the number of trials that they are worth.
    Without trials the interval is [0, 1].

    Raises
    ------
    ParameterError
        Where the counts are no counts, or the level no level.

    Examples
    --------
    >>> proportion_interval(20, 20)
    (0.8316, 1.0)
    >>> proportion_interval(31, 48)
    (0.4946, 0.7784)
    """
    if not 0.0 <= accepted <= trials:
        raise ParameterError(f"{accepted:g} of {trials:g} trials is no proportion; from 0 to {trials:g} is allowed")
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level = {level:g} is not between 0 and 1")
    tail = (1.0 - level) / 2.0
    low = float(betaincinv(accepted, trials - accepted + 1.0, tail)) if accepted > 0.0 else 0.0
    high = float(betaincinv(accepted + 1.0, trials - accepted, 1.0 - tail)) if accepted < trials else 1.0
    return low, high


def student_factor(freedom: int, level: float = LEVEL) -> float:
    """How many standard errors Student's interval reaches to either side, by its degrees of freedom.

    >>> student_factor(2)
    4.3027
    """
    return float(stdtrit(freedom, 0.5 + level / 2.0))


def mean_interval(drawn: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """Student's interval of the mean of two or more independent draws.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 2.0, 3.0]))
    (-0.4841, 4.4841)
    """
    mean = float(np.mean(drawn))
    reach = float(student_factor(drawn.size - 1, level) * np.std(drawn, ddof=1) / np.sqrt(drawn.size))
    return mean - reach, mean + reach


def ratio_residuals(above: FloatArray, below: FloatArray) -> FloatArray:
    """What each of n independent parts adds to the error of a ratio of sums, linearised; together they add nothing.

    Examples
    --------
    >>> ratio_residuals(np.array([3.0, 5.0]), np.array([1.0, 1.0]))
    array([-0.5,  0.5])
    """
    whole = np.sum(below)
    return np.asarray((above - np.sum(above) / whole * below) / whole)


def residual_reach(residuals: FloatArray, level: float = LEVEL) -> float:
    """How far Student's interval of a ratio of sums reaches to either side, from the residuals of two or more parts.

    Examples
    --------
    >>> residual_reach(np.array([-0.5, 0.5]))
    12.7062
    """
    parts = residuals.size
    error = np.sqrt(np.sum(residuals**2) * parts / (parts - 1))
    return student_factor(parts - 1, level) * float(error)
