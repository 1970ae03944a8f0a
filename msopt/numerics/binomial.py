"""The binomial law, which spreads most of all sums of independent events with a given mean (Hoeffding 1956)."""

import numpy as np
from scipy.special import gammaln as log_gamma
from scipy.special import xlog1py, xlogy

from msopt.arrays import FloatArray


def binomial(count: int, mean: FloatArray) -> FloatArray:
    """Probability of 0, ..., n of n alike events with a given mean in all, shape (m, n + 1)."""
    n = np.arange(count + 1)
    share = np.clip(mean / max(count, 1), 0.0, 1.0)[:, None]
    ways = log_gamma(count + 1) - log_gamma(n + 1) - log_gamma(count - n + 1)
    return np.asarray(np.exp(ways + xlogy(n, share) + xlog1py(count - n, -share)))
