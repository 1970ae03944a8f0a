"""The last step of a proof: all whole controls of a region that a bound leaves, listed (design section 4).

By `multiple_choice` a control that beats the trial goodput loses less than the excess at one end of the interval: its
devices' losses, none of them negative, add up to less. That leaves few lengths to most devices and few combinations.
"""

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.lengths.multiple_choice import Choices
from msopt.numerics.margins import FITS

_TRIED = 100  # times as many as are held: where a device has that many lengths left, halving the region is quicker


def near_controls(
    choices: Choices, band_hz: float, goodput: float, idle_s: float, most: int
) -> tuple[FloatArray | None, int]:
    """Lengths that hold every control of a region that beats the trial goodput.

    Parameters
    ----------
    choices : Choices
        At that trial goodput.
    band_hz, goodput, idle_s : float
        The band [Hz], the trial goodput [token/s] and verification in a round without drafts [s].
    most : int
        How many combinations are held at once.

    Returns
    -------
    lengths : array, shape (n, K), or None
        None where there are more combinations than that.
    looked_at : int
        Partial combinations that were looked at.
    """
    excess, loss = choices.region.excess, choices.loss
    kept = np.any(loss < excess[:, None, None], axis=0)  # (n, K)
    rows, sums, seen = combinations(loss, excess, kept, most, (choices.value, choices.weight, choices.fall))
    if rows is None:
        return None, seen
    hopeful = rows[_may_beat(choices, sums, band_hz, goodput, idle_s)]
    return choices.length[hopeful, np.arange(kept.shape[1])], seen


def combinations(
    loss: FloatArray, excess: FloatArray, kept: BoolArray, most: int, summed: tuple[FloatArray, ...] = ()
) -> tuple[IntArray | None, FloatArray, int]:
    """Every way to give each device one of its rows so that the losses add up to less than the excess at either end.

    Parameters
    ----------
    loss : array, shape (2, n, K)
        None negative.
    excess : array, shape (2,)
    kept : array of bool, shape (n, K)
        The rows that are left to each device, one at least.
    most : int
        How many combinations are held at once.
    summed : tuple of arrays, shape (n, K)
        What is added up for every combination.

    Returns
    -------
    rows : array of int, shape (m, K), or None
        None where there are more combinations than that.
    sums : array, shape (len(summed), m)
    looked_at : int
        Partial combinations that were looked at.
    """
    none = np.zeros((len(summed), 0))
    if _at_least(loss, excess) > most:
        return None, none, 0
    row, everyone = np.argmax(kept, axis=0), np.arange(kept.shape[1])
    free = np.flatnonzero(np.count_nonzero(kept, axis=0) > 1)
    parts = np.stack([loss[0], loss[1], *summed])
    fixed = parts[:, row, everyone]
    fixed[:, free] = 0.0
    sums = np.sum(fixed, axis=1)[:, None]  # (5, partial controls)
    dearest = np.max(np.where(kept, np.min(loss, axis=0), 0.0), axis=0)[free]
    free = free[np.argsort(-dearest, kind="stable")]
    picked, seen = np.zeros((1, 0), dtype=np.int32), 0
    for device in free:
        options = np.flatnonzero(kept[:, device])
        if sums.shape[1] * options.size > _TRIED * most:
            return None, none, seen
        lost = sums[:2, :, None] + parts[:2, options, device][:, None, :]  # (2, partial controls, options)
        state, option = np.nonzero(np.any(lost < excess[:, None, None], axis=0))
        seen += state.size
        if state.size > most:
            return None, none, seen
        sums = sums[:, state] + parts[:, options[option], device]
        picked = np.concatenate([picked[state], options[option, None].astype(np.int32)], axis=1)
    rows = np.repeat(row[None, :], len(picked), axis=0)
    rows[:, free] = picked
    return rows, sums[2:], seen


def _at_least(loss: FloatArray, excess: FloatArray) -> float:
    """A number of combinations that is surely reached: devices that may leave their best length, all at once."""
    if loss.shape[1] == 1:
        return 1.0
    second = np.sort(np.partition(loss, 1, axis=1)[:, 1, :], axis=1)
    together = np.count_nonzero(np.cumsum(second, axis=1) < excess[:, None], axis=1)
    return float(2.0 ** min(int(np.max(together)), 1000))


def _may_beat(choices: Choices, sums: FloatArray, band_hz: float, goodput: float, idle_s: float) -> BoolArray:
    """Whether tokens, weight and fall of whole controls allow a deadline in the interval that beats the goodput."""
    value, weight, fall = sums
    start, end = choices.region.start_s, choices.region.end_s
    middle = 0.5 * (start + end)
    step = np.divide(weight - band_hz, fall, out=np.full_like(weight, -middle), where=fall > 0.0)
    earliest = np.maximum(middle + step, start)
    fits = earliest <= end * FITS
    return np.asarray(fits & (value > goodput * (np.minimum(earliest, end) + idle_s)))
