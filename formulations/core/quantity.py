"""Decisions with units, written as the mathematics writes them, and the constraints users put on them.

A conic program works with scaled, often per-second variables: a draft length L is l/s there. A `Quantity`
is such a ratio. Bounding it by a number, L >= 2, is the linear constraint l >= 2 s; its multiplier comes
back in units of the objective per unit of L.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import cvxpy as cp
import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe

Sense = Literal["<=", ">=", "=="]


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantity:
    """scale * expression / per: a decision in SI units, scalar or of shape (K,).

    Attributes
    ----------
    expression, per : cvxpy expressions
        Affine in the variables; `per` is a positive scalar, or 1.
    scale : callable
        Gives the SI value of one unit of expression/per in the current scenario.
    unit : str
        The SI unit.
    """

    expression: cp.Expression
    per: cp.Expression
    scale: Callable[[], float]
    unit: str

    @property
    def value(self) -> FloatArray:
        """The current value in SI units."""
        return self.scale() * np.asarray(self.expression.value, dtype=float) / float(np.asarray(self.per.value))

    def __getitem__(self, key: Any) -> "Quantity":
        return self._with(self.expression[key])

    def __add__(self, other: "Quantity") -> "Quantity":
        return self._with(self.expression + self._same(other).expression)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self._with(self.expression - self._same(other).expression)

    def __mul__(self, factor: float) -> "Quantity":
        return self._with(cp.multiply(np.asarray(factor, dtype=float), self.expression))

    __rmul__ = __mul__

    def sum(self) -> "Quantity":
        """The sum over devices."""
        return self._with(cp.sum(self.expression))

    def __le__(self, bound: Any) -> "Requirement":
        return self._compare("<=", bound)

    def __ge__(self, bound: Any) -> "Requirement":
        return self._compare(">=", bound)

    def __eq__(self, bound: object) -> "Requirement":  # type: ignore[override]
        return self._compare("==", bound)

    __hash__ = None  # type: ignore[assignment]

    def _with(self, expression: cp.Expression) -> "Quantity":
        return Quantity(expression=expression, per=self.per, scale=self.scale, unit=self.unit)

    def _same(self, other: object) -> "Quantity":
        if not isinstance(other, Quantity) or other.unit != self.unit or other.per is not self.per:
            raise ParameterError(
                f"a decision in {self.unit} is added to or compared with {describe(other)}: both must be the "
                "same decision, else the constraint is not convex in this problem"
            )
        return other

    def _compare(self, sense: Sense, bound: Any) -> "Requirement":
        if isinstance(bound, Quantity):
            return (self - bound)._compare(sense, 0.0)
        try:
            limit = np.broadcast_to(np.asarray(bound, dtype=float), self.expression.shape).copy()
        except (TypeError, ValueError):
            raise ParameterError(
                f"{describe(bound)} is no bound for a decision of shape {self.expression.shape}"
            ) from None
        if not np.all(np.isfinite(limit)):
            raise ParameterError(f"the bound {describe(bound)} is not finite")
        return Requirement(quantity=self, sense=sense, bound=limit)


@dataclass(frozen=True, kw_only=True, eq=False)
class Requirement:
    """A quantity compared with a bound in SI units; `require` puts it into the problem.

    Attributes
    ----------
    quantity, sense, bound
        The two sides and the relation between them.
    """

    quantity: Quantity
    sense: Sense
    bound: FloatArray
    _scaled_bound: cp.Parameter = field(init=False)
    constraint: cp.Constraint = field(init=False)

    def __post_init__(self) -> None:
        left, per = self.quantity.expression, self.quantity.per
        bound = cp.Parameter(left.shape)
        right = bound * per
        relation = {"<=": left <= right, ">=": left >= right, "==": left == right}
        object.__setattr__(self, "_scaled_bound", bound)
        object.__setattr__(self, "constraint", relation[self.sense])
        self.refresh()

    def refresh(self, way: float = 0.0) -> None:
        """Translate the bound into the problem's units, after they changed or where it gives way [SI unit]."""
        self._scaled_bound.value = self.gives_way(way) / self.quantity.scale()

    def gives_way(self, way: float) -> FloatArray:
        """The bound, easier to meet by so much [SI unit]."""
        return np.asarray(self.bound - way if self.sense == ">=" else self.bound + way)

    def excess(self) -> float:
        """By how much the current value breaks the bound, at the device where that is most [SI unit]."""
        over = self.quantity.value - self.bound
        return max(0.0, float(np.max(-over if self.sense == ">=" else over)))

    def price(self) -> FloatArray:
        """Change of the scaled, maximised objective for each SI unit by which the bound rises."""
        sign = -1.0 if self.sense == ">=" else 1.0
        rate = float(np.asarray(self.quantity.per.value)) / self.quantity.scale()
        return np.asarray(sign * rate * np.asarray(self.constraint.dual_value, dtype=float))

    def __bool__(self) -> bool:
        raise ParameterError("a constraint is neither true nor false; give it to require()")
