"""Limits whose right side is the number that they are given: one, or one for each device."""

from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.control_limit import ControlLimit


def positive(name: str, value: Any, *, zero: bool = False) -> FloatArray:
    """A number, or one for each device, above 0."""
    try:
        array = np.asarray(value, dtype=float)
        good = np.all(np.isfinite(array) & ((array >= 0.0) if zero else (array > 0.0))) and array.ndim < 2
    except (TypeError, ValueError):
        good = False
    if not good:
        allowed = "of at least 0" if zero else "above 0"
        raise ParameterError(
            f"limit {name} = {describe(value)} is not a finite number {allowed}, or one for each device"
        )
    return array


class NumberLimit(ControlLimit):
    """A limit with nothing but its `number` on the right side."""

    def right(self, at: Any) -> Any:
        """The number [unit]; one for each device where it is not one for all together."""
        value = getattr(self, self.number)
        return value if isinstance(value, float) else np.broadcast_to(value, (at.scenario.device_count,))
