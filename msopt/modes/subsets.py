"""The expected correction of every combination of some lengths of each device, by one transform (ours).

The table T of all 2^K outcomes is an array with one axis of two entries for each device: not rejected,
rejected. Replacing each axis by C at n_k rejection probabilities, (1 - rho) T[without] + rho T[with], gives C
for all combinations at once. Axes are taken in groups, each of which is one matrix product.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from msopt.arrays import FloatArray, IntArray

_Number = TypeVar("_Number", np.float64, np.int64)
_GROUP = 5  # axes of a matrix product, 32 by 32 or more: as many passes over the table are saved


def expected_of_all(seconds: FloatArray, rejections: Sequence[FloatArray]) -> FloatArray:
    """C [s] of every combination, flat; `rejections[i]` holds the probabilities to combine for place i.

    Place 0 is the lowest bit of a set's index in `seconds`, and varies fastest in the answer.
    """
    values = seconds
    for first in range(0, len(rejections), _GROUP):
        weights = _group_weights(rejections[first : first + _GROUP])
        # The lowest bits left become the slowest axis; once all had their turn, place 0 varies fastest again.
        values = (weights @ values.reshape(-1, weights.shape[1]).T).reshape(-1)
    return values


def _group_weights(rejections: Sequence[FloatArray]) -> FloatArray:
    """Probability of each subset of a group (column) for each combination (row)."""
    weights = np.ones((1, 1))
    for rejection in rejections:
        happens = rejection[:, None, None] * weights
        both = np.concatenate([weights - happens, happens], axis=2)
        weights = both.reshape(-1, both.shape[2])
    return weights


def sum_of_all(parts: Sequence[FloatArray]) -> FloatArray:
    """The sum of one entry of each part, for every combination, in the order of `expected_of_all`."""
    total = np.zeros(1)
    for part in parts:
        total = (part[:, None] + total).reshape(-1)
    return total


def sum_of_members(values: FloatArray) -> FloatArray:
    """The sum over the members of each of the 2^n sets of n devices, in the order of the table."""
    return sum_of_all([np.array([0.0, value]) for value in values])


def with_member(of_sets: NDArray[_Number], place: int) -> NDArray[_Number]:
    """View of the values of those sets that hold the member at a place, shape (2^(n - 1 - place), 2^place)."""
    return of_sets.reshape(-1, 2, 2**place)[:, 1]


def sizes_and_sums(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Of each of those sets how many members it has, and their sum."""
    return sum_of_members(np.ones(values.size)).astype(np.int64), sum_of_members(values)


def combination(index: int, sizes: Sequence[int]) -> IntArray:
    """Which entry of each part the combination at an index takes."""
    chosen = np.unravel_index(index, tuple(reversed(sizes)))
    return np.array(chosen[::-1], dtype=np.int64)


def combinations(sizes: Sequence[int]) -> int:
    """How many combinations there are."""
    return math.prod(sizes)
