"""What a program maximises: a utility of the devices' goodputs, as a number and as an expression."""

from abc import ABC, abstractmethod

import cvxpy as cp
import numpy as np
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

from formulations.core.solver_errors import FormulationError
from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe

UNIT_RTOL = 1e-9
"""How exactly a utility's two forms, and its values in two units, must agree."""


class ProgramUtility(ABC):
    """A concave utility of goodputs, which `program.maximise` puts in place of their sum.

    Another unit of goodput must only scale and shift it, as it does sums, powers, logarithms and the least:
    the program counts in units of its own.

    Attributes
    ----------
    unit : str
        Of the utility of goodputs in tokens per second; prices are in this per unit of a constraint.
    """

    unit: str = "tokens/s"

    @abstractmethod
    def value(self, goodput: FloatArray) -> float:
        """The utility of goodputs, shape (K,)."""

    @abstractmethod
    def expression(self, goodput: cp.Expression) -> cp.Expression:
        """The same as a concave CVXPY expression."""


class SumOfGoodputs(ProgramUtility):
    """The goodput of all devices together."""

    def value(self, goodput: FloatArray) -> float:
        """Their sum [tokens/s]."""
        return float(np.sum(goodput))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        """Their sum."""
        total: cp.Expression = cp.sum(goodput)
        return total


def in_units(utility: ProgramUtility, count: int, unit: float) -> tuple[float, float]:
    """Slope and offset by which the utility of goodputs in units of so many tokens/s becomes that in tokens/s."""
    one = 1.0 + np.arange(count) / count
    slope = (utility.value(2.0 * unit * one) - utility.value(unit * one)) / (
        utility.value(2.0 * one) - utility.value(one)
    )
    return slope, utility.value(unit * one) - slope * utility.value(one)


def check_utility(utility: ProgramUtility, count: int) -> None:
    """Raise ParameterError where the two forms of a utility differ, or where it does not bear another unit."""
    if not (hasattr(utility, "value") and hasattr(utility, "expression")):
        raise ParameterError(f"{describe(utility)} is no utility: it has no methods `value` and `expression`")
    name, goodput = type(utility).__name__, 0.3 + np.arange(count) / count
    value = utility.value(goodput)
    expressed = float(np.asarray(utility.expression(cp.Constant(goodput)).value))
    if not np.isclose(value, expressed, rtol=UNIT_RTOL, atol=UNIT_RTOL):
        raise ParameterError(f"{name}: its value at {goodput} is {value:.9g}, and its expression says {expressed:.9g}")
    slope, offset = in_units(utility, count, 7.0)
    if not (slope > 0.0 and np.isclose(utility.value(7.0 * goodput), offset + slope * value, rtol=UNIT_RTOL)):
        raise ParameterError(f"{name}: another unit of goodput must scale and shift it, and does more or turns it")


def conic(utility: ProgramUtility, goodput: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """The utility as an affine expression, with the cones that make it so; raises FormulationError if not concave."""
    expression = utility.expression(goodput)
    if expression.is_affine():
        return expression, []
    if not expression.is_concave():
        raise FormulationError(f"{type(utility).__name__} is not concave by CVXPY's rules (DCP)")
    problem, _ = Dcp2Cone().apply(cp.Problem(cp.Minimize(-expression)))
    return -problem.objective.expr, problem.constraints
