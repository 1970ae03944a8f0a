"""The split of the uplink that lets every device finish at the same time ([MS] Lemmas 1, 2 and 3).

One equation serves one common length (per token) and given lengths (per round), under both ways to share
the band: each device is busy for a time of its own, then sends its bits in what remains of the latency.
"""

import numpy as np

from msopt.arrays import FloatArray, greatest, total
from msopt.model.budget import within_budget
from msopt.model.sharing import Sharing

_STEP_RTOL = 1e-15  # the last digit
_PROPORTIONAL_RTOL = 1e-8  # its square is below the last digit
_STEPS = 200  # quadratic convergence ends it long before
_NEAR = 1e-9  # relative, below a latency known to many digits: the climb has to start below the root


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
    the difference itself is what the bandwidths depend on, and so loses no digits. Where bandwidths are
    proportional to rates, Newton works on 1/sum_k B_k instead: it is concave and nearly linear, so the climb is
    as safe and shorter, and what a step leaves is at most the square of that step, relative to the unknown.

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
        0 for devices that send nothing; their sum is never above the band (`msopt.model.budget`).
    """
    latency, left = _latency(busy_s, bits, uplink, bandwidth_hz, near_s)
    return latency, within_budget(uplink.bandwidth(bits / left), bandwidth_hz)


def equal_latency(
    busy_s: FloatArray,
    bits: FloatArray,
    uplink: Sharing,
    bandwidth_hz: FloatArray | float,
    near_s: FloatArray | float = 0.0,
) -> FloatArray:
    """The latency of `equal_latency_split` alone, in half the time."""
    return _latency(busy_s, bits, uplink, bandwidth_hz, near_s)[0]


def _latency(
    busy_s: FloatArray, bits: FloatArray, uplink: Sharing, bandwidth_hz: FloatArray | float, near_s: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """The latency, shape (...), and what it leaves to each device for sending, shape (..., K)."""
    sending = bits > 0.0
    if sending.all():
        last = greatest(busy_s)
        time, lead = _climb(busy_s, last, bits, uplink, bandwidth_hz, near_s)
        return (time + last)[..., 0], time + lead
    # Who sends nothing is ready for ever.
    ready = np.where(sending, busy_s, -np.inf)
    last = greatest(ready)
    anyone = np.isfinite(last)
    time, lead = _climb(ready, np.where(anyone, last, 0.0), bits, uplink, bandwidth_hz, near_s)
    return np.where(anyone, time + last, 0.0)[..., 0], time + lead


def _climb(
    busy_s: FloatArray,
    last_s: FloatArray,
    bits: FloatArray,
    uplink: Sharing,
    bandwidth_hz: FloatArray | float,
    near_s: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """The latency less the longest busy time, above 0 also where nobody sends, and how far each device is ahead."""
    lead = last_s - busy_s
    slowest = greatest(bits / uplink.rate(np.asarray(bandwidth_hz)) - lead)
    time = np.maximum(slowest, near_s * (1.0 - _NEAR) - last_s)
    done = np.isneginf(slowest)
    if done.any():
        time = np.where(done, 1.0, time)
    for _ in range(_STEPS):
        left = time + lead
        rate = bits / left
        share, slope, _ = uplink.bandwidth_slope(rate)
        used, fall = total(share), total(slope * rate / left)
        step = (used - bandwidth_hz) / np.where(fall > 0.0, fall, 1.0)
        if uplink.proportional:
            step = step * used / bandwidth_hz
        # A row that is there stays there, whatever the others still need.
        time = np.where(done, time, time + np.maximum(step, 0.0))
        done = done | (step <= (_PROPORTIONAL_RTOL if uplink.proportional else _STEP_RTOL) * time)
        if done.all():
            break
    return time, lead
