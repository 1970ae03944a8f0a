"""Decisions with units, written as the mathematics writes them, and the constraints users put on them.

A conic program works with scaled, often per-second variables: a draft length L is l/s there. A `Quantity`
is such a ratio. Bounding it by a number, L >= 2, is the linear constraint l >= 2 s; its multiplier comes
back in units of the objective per unit of L. Ratios over the same divisor add up: with D and L over s, the
energy P (D - tau L) is one too, and its bound linear.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import cvxpy as cp
import numpy as np

from formulations.core.amount import Amount, product_unit, same_unit
from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe

Sense = Literal["<=", ">=", "=="]


def si_unit() -> float:
    """The scale of expressions that are in SI units themselves."""
    return 1.0


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
        return self._with(self.expression + self._alike(other).expression)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self._with(self.expression - self._alike(other).expression)

    def __neg__(self) -> "Quantity":
        return self._with(-self.expression)

    def __mul__(self, factor: Any) -> "Quantity":
        return self._times(factor, below=False)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Quantity":
        return self._times(divisor, below=True)

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
    __array_ufunc__ = None  # an array of numpy's leaves products and relations to us

    def _with(self, expression: cp.Expression, unit: str | None = None) -> "Quantity":
        return Quantity(expression=expression, per=self.per, scale=self.scale, unit=unit or self.unit)

    def _times(self, factor: Any, below: bool) -> "Quantity":
        if isinstance(factor, Quantity):
            raise ParameterError(f"a decision in {self.unit} by one in {factor.unit} is not linear")
        unit, number = self.unit, factor
        if isinstance(factor, Amount):
            unit, number = product_unit(self.unit, factor.unit, below), factor.value
        try:
            number = np.asarray(number, dtype=float)
        except (TypeError, ValueError):
            raise ParameterError(f"{describe(factor)} is no factor for a decision in {self.unit}") from None
        if not np.all(np.isfinite(number)) or (below and not np.all(number)):
            raise ParameterError(f"the factor {describe(factor)} of a decision in {self.unit} is not finite")
        return self._with(cp.multiply(1.0 / number if below else number, self.expression), unit)

    def _alike(self, other: object) -> "Quantity":
        """The other, if it can be added."""
        if not isinstance(other, Quantity):
            raise ParameterError(
                f"to a decision in {self.unit} only decisions can be added, not {describe(other)}; "
                "put numbers on the other side of the relation"
            )
        if not same_unit(self.unit, other.unit):
            raise ParameterError(
                f"a decision in {self.unit} is added to or compared with one in {other.unit}; "
                'Amount(number, "s/token") is a factor with a unit'
            )
        if other.per is not self.per or other.scale is not self.scale:
            raise ParameterError(
                f"two decisions in {self.unit} have different divisors in this program: their sum is not linear"
            )
        return other

    def _compare(self, sense: Sense, bound: Any, name: str | None = None) -> "Requirement":
        if isinstance(bound, Quantity):
            return (self - bound)._compare(sense, 0.0, name)
        if isinstance(bound, Amount):
            if not same_unit(self.unit, bound.unit):
                raise ParameterError(f"a decision in {self.unit} is compared with an amount in {bound.unit}")
            bound = bound.value
        try:
            limit = np.broadcast_to(np.asarray(bound, dtype=float), self.expression.shape).copy()
        except (TypeError, ValueError):
            raise ParameterError(
                f"{describe(bound)} is no bound for a decision of shape {self.expression.shape}"
            ) from None
        if not np.all(np.isfinite(limit)):
            raise ParameterError(f"the bound {describe(bound)} is not finite")
        return Requirement(quantity=self, sense=sense, bound=limit, name=name)


@dataclass(frozen=True, kw_only=True, eq=False)
class Requirement:
    """A quantity compared with a bound in SI units; `require` puts it into the problem.

    Attributes
    ----------
    quantity, sense, bound
        The two sides and the relation between them.
    name : str or None
        Of the parameter that is the scaled bound.
    """

    quantity: Quantity
    sense: Sense
    bound: FloatArray
    name: str | None = None
    scaled_bound: cp.Parameter = field(init=False)
    constraint: cp.Constraint = field(init=False)

    def __post_init__(self) -> None:
        left, per = self.quantity.expression, self.quantity.per
        bound = cp.Parameter(left.shape, name=self.name)
        right = bound * per
        relation = {"<=": left <= right, ">=": left >= right, "==": left == right}
        object.__setattr__(self, "scaled_bound", bound)
        object.__setattr__(self, "constraint", relation[self.sense])
        self.refresh()

    def rebound(self, bound: Any) -> None:
        """Take another bound [SI unit]."""
        object.__setattr__(self, "bound", np.broadcast_to(np.asarray(bound, dtype=float), self.bound.shape))
        self.refresh()

    def refresh(self, way: float = 0.0) -> None:
        """Translate the bound into the problem's units, after they changed or where it gives way [SI unit]."""
        self.scaled_bound.value = self.gives_way(way) / self.quantity.scale()

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


def compare(left: Any, sense: Sense, right: Any, unit: str, name: str) -> Requirement:
    """The relation of two sides, named, which must be in the unit told; raises ParameterError where they are not."""
    if not isinstance(left, Quantity):
        raise ParameterError(f"limit {name}: its left side, {describe(left)}, is no combination of decisions")
    if not same_unit(left.unit, unit):
        raise ParameterError(f"the left side of a limit in {unit} is in {left.unit}")
    try:
        return left._compare(sense, right, name)
    except ParameterError as error:
        raise ParameterError(f"limit {name}: {error}") from None
