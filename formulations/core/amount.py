"""Numbers with units, and the unit of a product: tokens times seconds per token are seconds."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe

_SAME = {"tokens": {"token": 1}, "J": {"W": 1, "s": 1}, "bits": {"bit": 1}, "1": {}}
"""Units that are others by another name."""


@dataclass(frozen=True, eq=False)
class Amount:
    """A number or one for each device, with its unit: `Amount(0.2, "W") * program.deadline_s` is in joules.

    Attributes
    ----------
    value : array
        Finite.
    unit : str
        `a*b/c/d`: names of units, those below after a stroke each; "1" for none.
    """

    value: FloatArray
    unit: str

    __array_ufunc__ = None  # an array of numpy's leaves the product to us

    def __post_init__(self) -> None:
        value = np.asarray(self.value, dtype=float)
        if not np.all(np.isfinite(value)):
            raise ParameterError(f"an amount in {self.unit} is {describe(self.value)}, which is not finite")
        object.__setattr__(self, "value", value)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Amount):
            return Amount(self.value * other.value, product_unit(self.unit, other.unit))
        if isinstance(other, int | float | np.ndarray | np.generic):
            return self.value * np.asarray(other, dtype=float)
        return NotImplemented

    __rmul__ = __mul__


def _powers(unit: str) -> Counter[str]:
    """How often each unit stands above the stroke, less how often below."""
    powers: Counter[str] = Counter()
    for place, part in enumerate(unit.split("/")):
        for name in part.split("*"):
            for one, count in _SAME.get(name, {name: 1}).items():
                powers[one] += -count if place else count
    return Counter({name: count for name, count in powers.items() if count})


def same_unit(one: str, other: str) -> bool:
    """Whether two units mean the same."""
    return _powers(one) == _powers(other)


def product_unit(one: str, other: str, below: bool = False) -> str:
    """The unit of a product, or of a quotient where the other stands `below`."""
    powers = _powers(one)
    for name, count in _powers(other).items():
        powers[name] += -count if below else count
    if powers == _powers("J"):
        return "J"
    above = [name for name, count in powers.items() for _ in range(count)]
    return "/".join(["*".join(above) or "1", *(name for name, count in powers.items() for _ in range(-count))])
