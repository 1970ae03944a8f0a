"""The closed forms of [UD], Uplink or Downlink? (arXiv 2608.29618), on plain arrays.

After verification each of r rejected devices exchanges one distribution of V bits over its own share of
the band, up (corrected at the server) or down (corrected at the device).
"""

from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.model.budget import within_budget
from msopt.model.sharing import LN2

_STEPS = 200  # quadratic convergence ends it long before
_STEP_RTOL = 1e-15  # the last digit


def equal_delay_power(
    downlink_snr: Any, share_hz: Any, bandwidth_hz: float, distribution_bits: float
) -> tuple[float, FloatArray]:
    """[UD] Lemma 1: the best downlink power equalises the delays, and one root gives them all.

    Device j with the share B_j receives B_j log2(1 + (p_j/P) SNRd_j Bd/B_j). With every delay equal to t
    the power shares are p_j/P = B_j/(Bd SNRd_j) (2^(V/(B_j t)) - 1), and they sum to 1 at one t. The sum
    is convex and increasing in 1/t, so Newton's iteration from the 1/t of the device that could be served
    fastest alone falls to the root.

    Parameters
    ----------
    downlink_snr : array, shape (n,)
        Linear SNR were all of P given to the device over all of Bd.
    share_hz : array, shape (n,)
        Shares of the downlink band [Hz]; they need not be equal.
    bandwidth_hz : float
        Bd [Hz].
    distribution_bits : float
        V [bit].

    Returns
    -------
    delay_s : float
        t [s].
    power_share : array, shape (n,)
        p_j/P; they sum to 1, and never to more (`msopt.model.budget`).

    Examples
    --------
    >>> delay, power = equal_delay_power([100.0, 10.0, 1.0], [20e6 / 3] * 3, 20e6, 33792)
    >>> round(delay, 10), [round(10 * share, 7) for share in power.tolist()]
    (0.0026839231, [0.0900901, 0.9009009, 9.009009])
    """
    snr, share = np.asarray(downlink_snr, dtype=float), np.asarray(share_hz, dtype=float)
    part = share / bandwidth_hz
    snr_alone = snr / part
    pace = float(np.min(part * np.log1p(snr_alone)))
    for _ in range(_STEPS):
        power = np.expm1(pace / part) / snr_alone
        slope = np.exp(pace / part) / (snr_alone * part)
        step = (float(np.sum(power)) - 1.0) / float(np.sum(slope))
        pace -= step
        if step <= _STEP_RTOL * pace:
            break
    power = np.expm1(pace / part) / snr_alone
    return distribution_bits * LN2 / (bandwidth_hz * pace), within_budget(power / np.sum(power), 1.0)


def equal_share_delay(rejected: Any, inverse_snr: Any, bandwidth_hz: float, distribution_bits: float) -> FloatArray:
    """[UD] Lemma 1 for equal shares Bd/r, where the root is a formula: t = V r/(Bd log2(1 + r/sum 1/SNRd)).

    Parameters
    ----------
    rejected : array
        r, the number of devices that share the band, those on the uplink included.
    inverse_snr : array
        Sum of 1/SNRd_j over the downlink set; 0 for an empty one.
    bandwidth_hz, distribution_bits : float
        Bd [Hz] and V [bit].

    Returns
    -------
    array
        t [s]; 0 for an empty set. Power shares are (1/SNRd_j)/sum 1/SNRd_j.
    """
    r, total = np.broadcast_arrays(np.asarray(rejected, dtype=float), np.asarray(inverse_snr, dtype=float))
    some = total > 0.0
    efficiency = np.log1p(r / np.where(some, total, 1.0)) / LN2
    return np.where(some, distribution_bits * r / (bandwidth_hz * np.where(some, efficiency, 1.0)), 0.0)


def uplink_prefix(uplink_s: Any, downlink_s: Any) -> int:
    """[UD] Lemma 2 and Proposition 1: how many of the rejected devices to correct by uplink.

    Sorted by their uplink delay the best uplink set is a prefix, because replacing a device in it by a
    faster one lengthens neither side. As it grows its own delay rises and the downlink's falls; bisection
    finds the first size at which downlink <= uplink, and the best size is that one or the one before.

    Parameters
    ----------
    uplink_s : array, shape (r,)
        Uplink delays, ascending [s].
    downlink_s : array, shape (r + 1,)
        Downlink delay when the first n devices are on the uplink, n = 0 to r; not increasing [s].

    Returns
    -------
    int
        n; the smaller one where both are equally good.

    Examples
    --------
    >>> uplink_prefix([1.0, 2.0, 9.0], [5.0, 4.0, 3.0, 0.0])
    2
    """
    up, down = np.concatenate([[0.0], np.asarray(uplink_s, dtype=float)]), np.asarray(downlink_s, dtype=float)
    low, high = -1, up.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if down[middle] <= up[middle]:
            high = middle
        else:
            low = middle
    return low if low >= 0 and down[low] <= up[high] else high
