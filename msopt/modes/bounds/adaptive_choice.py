"""The best choice of who drafts, were it allowed to follow the rejections of weaker devices (ours).

A bound for all choices that follow nothing. Let r devices share the bands whatever R is; up_i is the uplink delay
of the device with the i-th worst uplink, X_i the sum of 1/SNRd over those of the first i that are in R, and down(X)
the downlink delay of a set with that sum. Then T_r(R), the time of R, is at least t exactly where the devices of R
with up >= t have a downlink delay of at least t. Summed over t that makes

    T_r(R) = sum_i psi_i(X_i),    psi_i(X) = max(min(up_i, down(X)) - up_{i+1}, 0),    up_{K+1} = 0.

So if the length of device i may depend on X_{i-1}, the greatest mean of tokens - price |R| - cost T_r(R) follows
backwards over i as a function of X alone. It is linear in each rho_i, and where tokens are convex in rho no length
between the least and the greatest is better. X is rounded down to a grid, and devices whose uplink is far faster
than all that matters count as never rejected; both shorten T_r only.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.modes.correction import CorrectionTimes

_FINE, _COARSE = 1000, 200  # points of the grid; the fine ones are 0.15 % of a typical X apart
_FINE_REACH, _COARSE_REACH = 1.5, 8.0  # in typical X, and in typical times: outcomes hardly go beyond
_TOO_FAST = 0.125  # of a typical time: an uplink that never decides


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
        slow = self._uplink_s(np.array([sharers]))[:, 0] >= _TOO_FAST * typical_s
        self.stages = max(1, int(np.count_nonzero(slow)))
        typical, far = times.downlink_need(np.full(2, sharers), typical_s * np.array([1.0, _COARSE_REACH]))
        fine = max(_FINE_REACH * float(typical), float(np.min(need)))
        coarse = np.geomspace(fine, max(float(far), 2.0 * fine), _COARSE)
        self.grid: FloatArray = np.concatenate([np.linspace(0.0, fine, _FINE, endpoint=False), coarse])
        reached = self.grid + need[: self.stages, None]
        self.after: IntArray = np.asarray(np.searchsorted(self.grid, reached, side="right") - 1, dtype=np.int64)

    def _uplink_s(self, sharers: FloatArray) -> FloatArray:
        """Delays, worst first, for m numbers of sharers [s], shape (K, m)."""
        return self.times.uplink_s(sharers, np.arange(self.count)[::-1, None])

    def best(
        self, tokens: FloatArray, rejection: FloatArray, sharers: FloatArray, price: FloatArray, cost: FloatArray
    ) -> FloatArray:
        """The greatest mean of tokens - price |R| - cost T_r(R) for m triples of r, price and cost, shape (m,).

        `tokens` and `rejection`, shape (2, K), are those of the least and of the greatest length, worst uplink first.
        """
        last = self.stages - 1
        up = cost * self._uplink_s(sharers)
        down = cost * self.times.downlink_s(sharers, self.grid[:, None])
        worth = tokens[:, :, None] - price * rejection[:, :, None]
        value = np.sum(np.max(worth[:, last + 1 :], axis=0), axis=0) - np.minimum(down, up[last])
        for stage in range(last, -1, -1):
            if stage < last:
                longer = np.clip(down, up[stage + 1], up[stage])
                longer -= up[stage + 1]  # before the value, which large delays would swallow
                value -= longer
            least = value[self.after[stage]]
            least -= value
            greatest = least * rejection[1, stage]
            greatest += worth[1, stage]
            least *= rejection[0, stage]
            least += worth[0, stage]
            value += np.maximum(least, greatest, out=least)
        return np.asarray(value[0])
