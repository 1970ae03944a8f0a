"""The split of the uplink that lets every device finish at the same time ([MS] Lemmas 1, 2 and 3).

One equation serves one common length (per token) and given lengths (per round), under both ways to share
the band: each device is busy for a time of its own, then sends its bits in what remains of the latency.
"""

import numpy as np

from msopt.arrays import FloatArray
from msopt.radio import Sharing

_STEP_RTOL = 1e-15
_MAX_STEPS = 200
_NEAR = 1e-9


def equal_latency_split(
    busy_s: FloatArray,
    bits: FloatArray,
    uplink: Sharing,
    bandwidth_hz: FloatArray | float,
    near_s: FloatArray | float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Least common latency, and the bandwidths that attain it with the whole band in use.

    Solves sum_k B_k(bits_k/(latency - busy_k)) = B for the one root above the longest busy time, by
    Newton from the latency of the slowest device alone with the whole band. The left side is decreasing
    and convex, so the iterates climb to the root. The unknown is the latency less the longest busy time:
    the difference itself is what the bandwidths depend on, and so loses no digits.

    Parameters
    ----------
    busy_s : array, shape (..., K)
        Time before a device sends [s].
    bits : array, shape (..., K)
        What it sends [bit]; devices with 0 leave the problem.
    uplink : Sharing
        Of the K devices.
    bandwidth_hz : float or array, shape (..., 1)
        The whole band [Hz].
    near_s : float or array, shape (..., 1)
        A latency known to be the root to many digits [s]: the climb starts a hair below it.

    Returns
    -------
    latency_s : array, shape (...)
        0 where nobody sends.
    share_hz : array, shape (..., K)
        0 for devices that send nothing.
    """
    sending = bits > 0.0
    last = np.max(np.where(sending, busy_s, -np.inf), axis=-1, keepdims=True)
    anyone = np.isfinite(last)
    lead = np.where(sending, np.where(anyone, last, 0.0) - busy_s, 0.0)
    whole_band = np.broadcast_to(np.asarray(bandwidth_hz, dtype=float), bits.shape)
    alone = np.where(sending, bits / uplink.rate(whole_band) - lead, 0.0)
    slowest = np.max(alone, axis=-1, keepdims=True)
    below = near_s * (1.0 - _NEAR) - np.where(anyone, last, 0.0)
    time = np.where(anyone, np.maximum(slowest, below), 1.0)
    done = ~anyone
    for _ in range(_MAX_STEPS):
        left = time + lead
        rate = bits / left
        share, slope, _ = uplink.bandwidth_slope(rate)
        excess = np.sum(share, axis=-1, keepdims=True) - bandwidth_hz
        fall = np.sum(slope * rate / left, axis=-1, keepdims=True)
        step = excess / np.where(fall > 0.0, fall, 1.0)
        # A row that is there stays there, whatever the others still need.
        time = np.where(done, time, time + np.maximum(step, 0.0))
        done = done | (step <= _STEP_RTOL * time)
        if np.all(done):
            break
    latency = np.where(anyone, time + last, 0.0)[..., 0]
    return latency, np.where(sending, uplink.bandwidth(bits / (time + lead)), 0.0)
