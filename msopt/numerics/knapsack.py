"""The most tokens of lengths between two for each device when rejections are rationed: a fractional knapsack."""

import numpy as np

from msopt.arrays import FloatArray


def fractional_knapsack(tokens: FloatArray, rejection: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The knapsack's concave function Phi of sum rho, by its corners.

    Parameters
    ----------
    tokens, rejection : arrays, shape (2, n)
        E_k [token] and rho_k of the least and of the greatest length of each device.

    Returns
    -------
    rejected, most_tokens : arrays, shape (m + 1,)
        Sum rho and Phi there, from all least lengths on; what gains without more rejections is gained at once.
    slope : array, shape (m,)
        Tokens for each rejection between the corners, never rising.
    """
    gain, cost = tokens[1] - tokens[0], rejection[1] - rejection[0]
    free = cost <= 0.0
    start = float(np.sum(tokens[0]) + np.sum(gain[free]))
    gain, cost = gain[~free], cost[~free]
    slope = gain / cost
    order = np.argsort(-slope, kind="stable")
    rejected = float(np.sum(rejection[0])) + np.concatenate([[0.0], np.cumsum(cost[order])])
    return rejected, start + np.concatenate([[0.0], np.cumsum(gain[order])]), slope[order]
