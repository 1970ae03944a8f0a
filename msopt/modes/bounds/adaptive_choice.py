"""The best choice of who drafts, were it allowed to follow the rejections of weaker devices (ours).

A bound for all choices that follow nothing. Let r devices share the bands whatever R is; up_i is the uplink delay
of the device with the i-th worst uplink, X_i the sum of 1/SNRd over those of the first i that are in R, and down(X)
the downlink delay of a set with that sum. Then T_r(R), the time of R, is at least t exactly where the devices of R
with up >= t have a downlink delay of at least t. Summed over t that makes, for any rising function g with g(0) = 0,

    g(T_r(R)) = sum_i psi_i(X_i),    psi_i(X) = max(min(g(up_i), g(down(X))) - g(up_{i+1}), 0),    up_{K+1} = 0.

So if the length of device i may depend on X_{i-1}, the greatest mean of worth - price |R| - g(T_r(R)) follows
backwards over i as a function of X alone. X is rounded down to a grid, and devices whose uplink is far faster
than all that matters count as never rejected; both shorten T_r only.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.modes.correction import CorrectionTimes
from msopt.numerics.binomial import spread_binomial

_FINE, _COARSE = 300, 60  # points of the grid; the fine ones are 0.5 % of a typical X apart
_FINE_REACH, _COARSE_REACH = 1.5, 8.0  # in typical X, and in typical times: outcomes hardly go beyond
_TOO_FAST = 0.35  # of a typical time: an uplink that hardly ever decides
_LEAST_STAGES = 40  # a few devices vary too much for that
_DEVIATIONS = np.linspace(-4.5, 4.5, 7)  # numbers of sharers that stand for all


class AdaptiveChoice:
    """Stages, and a grid of X that is fine up to 1.5 times the X of a typical time.

    Parameters
    ----------
    times : CorrectionTimes
    sharers : float
        How many devices share the bands, typically [1].
    typical_s : float
        About how long T_r is [s].
    """

    def __init__(self, times: CorrectionTimes, sharers: float, typical_s: float) -> None:
        self.times = times
        self.count = times.order.size
        need = times.inverse_snr[::-1]
        slow = self._uplink_s(np.array([sharers]), self.count)[:, 0] >= _TOO_FAST * typical_s
        self.stages = max(min(_LEAST_STAGES, self.count), int(np.count_nonzero(slow)))
        typical, far = times.downlink_need(np.full(2, sharers), typical_s * np.array([1.0, _COARSE_REACH]))
        fine = max(_FINE_REACH * float(typical), float(np.min(need)))
        coarse = np.geomspace(fine, max(float(far), 2.0 * fine), _COARSE)
        self.grid: FloatArray = np.concatenate([np.linspace(0.0, fine, _FINE, endpoint=False), coarse])
        self.typical = int(np.searchsorted(self.grid, typical))
        reached = self.grid + need[: self.stages, None]
        self.after: IntArray = np.asarray(np.searchsorted(self.grid, reached, side="right") - 1, dtype=np.int64)

    def _uplink_s(self, sharers: FloatArray, stages: int) -> FloatArray:
        """Delays, worst first, for m numbers of sharers [s], shape (stages, m)."""
        return self.times.uplink_s(sharers, np.arange(self.count - 1, self.count - 1 - stages, -1)[:, None])

    def mean_delays_s(self, sharers: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """g of up_i, shape (stages, e, m), and of down(X), shape (grid, e, m) [s].

        g(t) is the least that t with r sharers becomes with a binomial number of them, on average; `mean` has shape
        (e, m), `sharers`, r, has shape (m,).
        """
        delay = np.vstack([self._uplink_s(sharers, self.stages), self.times.downlink_s(sharers, self.grid[:, None])])
        number, law = spread_binomial(self.count, mean, _DEVIATIONS)
        average = np.zeros((len(delay), *mean.shape))
        for n, p in zip(number, law, strict=True):
            average += p * self.times.with_sharers(n, sharers, delay[:, None, :])
        return average[: self.stages], average[self.stages :]

    def best(
        self, tokens: FloatArray, rejection: FloatArray, price: FloatArray, up: FloatArray, down: FloatArray
    ) -> FloatArray:
        """The greatest mean of tokens - price |R| - g(T_r(R)) for m prices and functions g, shape (m,).

        `tokens` and `rejection`, shape (n, K), are those of the n lengths to choose from, worst uplink first; `up` and
        `down`, shapes (stages, m) and (grid, m), are g of all delays.
        """
        last = self.stages - 1
        worth = tokens[:, :, None] - price * rejection[:, :, None]
        value = np.sum(np.max(worth[:, last + 1 :], axis=0), axis=0) - np.minimum(down, up[last])
        for stage in range(last, -1, -1):
            if stage < last:
                longer = np.minimum(np.maximum(down, up[stage + 1]), up[stage])
                longer -= up[stage + 1]  # before the value, which large delays would swallow
                value -= longer
            least = value[self.after[stage]]
            least -= value
            best = least * rejection[0, stage]
            best += worth[0, stage]
            for rho, own in zip(rejection[1:, stage], worth[1:, stage], strict=True):
                other = least * rho
                other += own
                np.maximum(best, other, out=best)
            value += best
        return np.asarray(value[0])
