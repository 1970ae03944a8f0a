"""The acceptance of one device that follows several laws in turn."""

from collections.abc import Sequence

import numpy as np

from msopt.model.acceptance import Acceptance


def mixed(laws: Sequence[Acceptance], longest: int) -> Acceptance:
    """The law of a device that follows each of several equally often: their mean curve, which E is linear in.

    Exact up to the longest length [token]; beyond, the curve goes on with its last ratio. A single law is that law.

    Parameters
    ----------
    laws : sequence of Acceptance
        Each device of each counts once.
    longest : int
        From 1 on.
    """
    if len(laws) == 1 and laws[0].mean.size == 1:
        return laws[0]
    whole = np.arange(1.0, longest + 1.0)[:, None]
    curve = np.mean(np.concatenate([law.survival(whole).T for law in laws]), axis=0)
    return Acceptance.of(curves=[np.minimum.accumulate(curve)])
