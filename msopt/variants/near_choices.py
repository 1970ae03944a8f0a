"""All choices of a region that may beat the target, device by device (design section 7).

Such a choice loses less than the excess at one end of the interval: its devices' losses, none of them negative, add up
to less. That leaves few actions to most devices and few combinations of them.
"""

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray


def near_choices(loss: FloatArray, excess: FloatArray, left: BoolArray, most: int) -> tuple[IntArray | None, int]:
    """The choices that lose less than the excess, shape (n, K).

    Parameters
    ----------
    loss : array, shape (2, A, K)
    excess : array, shape (2,)
    left : array of bool, shape (A, K)
    most : int
        How many combinations are held at once.

    Returns
    -------
    choices : array of int, shape (n, K), or None
        None where there are more combinations than that.
    looked_at : int
        Partial combinations that were looked at.
    """
    counts = np.count_nonzero(left, axis=0)
    first = np.argmax(left, axis=0)
    everyone = np.arange(left.shape[1])
    free = np.flatnonzero(counts > 1)
    fixed = loss[:, first, everyone]
    fixed[:, free] = 0.0
    sums = np.sum(fixed, axis=1)[:, None]
    dearest = np.max(np.where(left, np.min(loss, axis=0), 0.0), axis=0)[free]
    picked, seen = np.zeros((1, 0), dtype=np.int64), 0
    ordered = free[np.argsort(-dearest, kind="stable")]
    for device in ordered:
        options = np.flatnonzero(left[:, device])
        lost = sums[:, :, None] + loss[:, options, device][:, None, :]
        state, option = np.nonzero(np.any(lost < excess[:, None, None], axis=0))
        seen += state.size
        if state.size > most:
            return None, seen
        sums = sums[:, state] + loss[:, options[option], device]
        picked = np.concatenate([picked[state], options[option, None]], axis=1)
    choices = np.repeat(first[None, :], len(picked), axis=0)
    choices[:, ordered] = picked
    return choices, seen
