"""Names for the arrays that travel through the package, and how outside data becomes one."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, timedelta
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from msopt.errors import ParameterError, describe

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_T = TypeVar("_T")


_NOT_NUMBERS = (bool, np.bool_, complex, np.complexfloating, str, bytes, date, timedelta, np.datetime64, np.timedelta64)


def numbers(values: Any, name: str) -> FloatArray:
    """Copy numbers of any shape (a list, array or series) into a read-only array.

    Raises
    ------
    ParameterError
        Where they are no real numbers: what numpy would cut, count or skip (complex numbers, truth values, dates,
        texts, masked entries) is refused.
    """
    try:
        given = np.asanyarray(values)
        kind = given.dtype.kind
        if kind == "O" or not isinstance(values, np.ndarray):
            each = {type(value) for value in np.asarray(values, dtype=object).flat}
            bad = next((one.__name__ for one in each if issubclass(one, _NOT_NUMBERS)), None)
        else:
            bad = None if kind in "iuf" else given.dtype.name
        if bad is None and isinstance(given, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(given)):
            bad = "masked entries"
        array = np.array(values, dtype=float) if bad is None else given
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} = {describe(values)} is not a list of numbers") from None
    if bad is not None:
        raise ParameterError(f"{name} = {describe(values)} is not a list of numbers; it holds {bad}")
    return frozen(array)


def frozen(array: _T) -> _T:
    """The array itself, read-only from now on; so are arrays in a tuple. Anything else is as it was."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    elif isinstance(array, tuple):
        for part in array:
            frozen(part)
    return array


class Frozen:
    """Base of dataclasses whose arrays stay read-only when they are copied, sent to a process or read from a file."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone; what was derived of them is derived anew."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value))


def vector(values: Any, name: str) -> FloatArray:
    """Copy K numbers (list, row, column, array or series) into a read-only vector of shape (K,).

    ParameterError where the values are not K numbers in one row or column.
    """
    array = numbers(values, name)
    if array.size == 0 or max(array.shape, default=1) != array.size:
        raise ParameterError(f"{name} has shape {array.shape}; one number for each device is needed")
    return array.reshape(-1)


def total(values: FloatArray) -> FloatArray:
    """The sum over devices, shapes (..., K) and (..., 1)."""
    return np.add.reduce(values, axis=-1, keepdims=True)


def greatest(values: FloatArray) -> FloatArray:
    """The greatest over devices, shapes (..., K) and (..., 1)."""
    return np.asarray(np.maximum.reduce(values, axis=-1, keepdims=True))


def evenly_spread(first: int, last: int, most: int) -> IntArray:
    """Whole numbers from the first to the last, both there, evenly spread; all of them where they are few."""
    return np.unique(np.linspace(first, last, min(last - first + 1, most)).astype(np.int64))


LARGEST_TABLE = 100_000_000


def every_length(limits: tuple[int, int], count: int) -> FloatArray:
    """Every length between the limits for each of K devices, shape (high - low + 1, K).

    ParameterError where the table would hold more than a hundred million numbers.
    """
    require_table(limits, count)
    low, high = limits
    return np.repeat(np.arange(low, high + 1, dtype=float)[:, None], count, axis=1)


def require_table(limits: tuple[int, int], count: int) -> None:
    """Raise ParameterError where the table of `every_length` would hold more than a hundred million numbers."""
    low, high = limits
    if (high - low + 1) * count > LARGEST_TABLE:
        raise ParameterError(
            f"lengths from {low} to {high} for {count} devices need a table of more than {LARGEST_TABLE} numbers; "
            "lower max_draft_length"
        )
