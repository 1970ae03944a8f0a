"""The binomial law, which spreads most of all sums of independent events with a given mean (Hoeffding 1956)."""

import numpy as np
from scipy.special import gammaln as log_gamma
from scipy.special import xlog1py, xlogy

from msopt.arrays import FloatArray, IntArray


def binomial(count: int, mean: FloatArray) -> FloatArray:
    """Probability of 0, ..., n of n alike events with a given mean in all, shape (m, n + 1)."""
    n = np.arange(count + 1)
    share = np.clip(mean / max(count, 1), 0.0, 1.0)[:, None]
    ways = log_gamma(count + 1) - log_gamma(n + 1) - log_gamma(count - n + 1)
    return np.asarray(np.exp(ways + xlogy(n, share) + xlog1py(count - n, -share)))


def spread_binomial(count: int, mean: FloatArray, deviations: FloatArray) -> tuple[IntArray, FloatArray]:
    """A few numbers and probabilities with which no mean of a concave f >= 0, f(0) = 0, is above the binomial's.

    The law between two neighbouring numbers is moved to both of them, its mean kept; below the first it is left out,
    above the last it is moved down to it.

    Parameters
    ----------
    count : int
        n of the binomial law.
    mean : array, shape (...)
    deviations : array, shape (p,)
        Where the numbers are about, in standard deviations from the mean.

    Returns
    -------
    number, probability : arrays, shape (p, ...)
    """
    flat = mean.reshape(-1)
    deviation = np.sqrt(flat * np.clip(1.0 - flat / max(count, 1), 0.0, 1.0))
    number = np.clip(np.rint(flat[:, None] + deviation[:, None] * deviations), 0, count).astype(np.int64)
    law = binomial(count, flat)
    below = np.take_along_axis(np.cumsum(law, axis=1), number, axis=1)
    moment = np.take_along_axis(np.cumsum(law * np.arange(count + 1), axis=1), number, axis=1)
    between = np.diff(below, axis=1)
    upper = (np.diff(moment, axis=1) - number[:, :-1] * between) / np.maximum(np.diff(number, axis=1), 1)
    upper = np.clip(upper, 0.0, between)
    probability = np.zeros(number.shape)
    probability[:, 1:] += upper
    probability[:, :-1] += between - upper
    probability[:, -1] += np.maximum(1.0 - below[:, -1], 0.0)
    shape = (deviations.size, *mean.shape)
    return number.T.reshape(shape), probability.T.reshape(shape)
