"""Names for the arrays that travel through the package, and how outside data becomes one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msopt.errors import ParameterError, describe

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def vector(values: Any, name: str) -> FloatArray:
    """Copy K numbers (list, row, column, array or series) into a read-only vector of shape (K,).

    Raises
    ------
    ParameterError
        Where the values are not K numbers in one row or column.
    """
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {describe(values)} is not a list of numbers") from None
    if array.size == 0 or max(array.shape, default=1) != array.size:
        raise ParameterError(f"{name} has shape {array.shape}; one number for each device is needed")
    array = array.reshape(-1)
    array.flags.writeable = False
    return array


def total(values: FloatArray) -> FloatArray:
    """The sum over devices, shapes (..., K) and (..., 1)."""
    return np.asarray(np.add.reduce(values, axis=-1, keepdims=True))


def greatest(values: FloatArray) -> FloatArray:
    """The greatest over devices, shapes (..., K) and (..., 1)."""
    return np.asarray(np.maximum.reduce(values, axis=-1, keepdims=True))


LARGEST_TABLE = 100_000_000


def levels(limits: tuple[int, int], count: int) -> FloatArray:
    """Every length between the limits for each of K devices, shape (high - low + 1, K).

    Raises
    ------
    ParameterError
        Where the table would hold more than a hundred million numbers.
    """
    require_table(limits, count)
    low, high = limits
    return np.repeat(np.arange(low, high + 1, dtype=float)[:, None], count, axis=1)


def require_table(limits: tuple[int, int], count: int) -> None:
    """Raise ParameterError where the table of `levels` would hold more than a hundred million numbers."""
    low, high = limits
    if (high - low + 1) * count > LARGEST_TABLE:
        raise ParameterError(
            f"lengths from {low} to {high} for {count} devices need a table of more than {LARGEST_TABLE} numbers; "
            "lower max_draft_length"
        )
