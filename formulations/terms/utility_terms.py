"""What a program maximises: a utility of the devices' goodputs, as a number and as an expression."""

import cvxpy as cp
import numpy as np
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

from formulations.core.solver_errors import FormulationError
from msopt.arrays import FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.objective import Utility

UNIT_RTOL = 1e-9
"""How exactly a utility's two forms, and its values in two units, must agree."""


def value_of(utility: Utility, goodput: FloatArray) -> float:
    """The utility of goodputs [token/s], shape (K,): that of as many tokens in a round of a second."""
    return float(utility.value(goodput, np.asarray(1.0)))


def in_units(utility: Utility, count: int, unit: float) -> tuple[float, float]:
    """Slope and offset by which the utility of goodputs in units of so many token/s becomes that in token/s."""
    one = 1.0 + np.arange(count) / count
    slope = (value_of(utility, 2.0 * unit * one) - value_of(utility, unit * one)) / (
        value_of(utility, 2.0 * one) - value_of(utility, one)
    )
    return slope, value_of(utility, unit * one) - slope * value_of(utility, one)


def bears_units(utility: Utility, count: int) -> bool:
    """Whether another unit of goodput only scales and shifts it, as it does sums, powers, logarithms and the least.

    Such a utility is maximised in the program's own units.
    """
    slope, offset = in_units(utility, count, 7.0)
    goodput = _apart(count)
    expected = offset + slope * value_of(utility, goodput)
    return bool(slope > 0.0 and np.isclose(value_of(utility, 7.0 * goodput), expected, rtol=UNIT_RTOL))


def check_utility(utility: Utility, count: int) -> None:
    """Raise ParameterError for what is no utility, where its two forms differ, or where it falls with goodput."""
    if not isinstance(utility, Utility):
        raise ParameterError(f"{describe(utility)} is no utility")
    name, goodput = utility.name, _apart(count)
    value = value_of(utility, goodput)
    found = expression_of(utility, cp.Constant(goodput)).value
    if found is None:
        raise ParameterError(f"{name}: its expression depends on more than the goodputs")
    expressed = float(np.asarray(found))
    if not np.isclose(value, expressed, rtol=UNIT_RTOL, atol=UNIT_RTOL):
        raise ParameterError(f"{name}: its value at {goodput} is {value:.9g}, and its expression says {expressed:.9g}")
    if not value_of(utility, 2.0 * goodput) > value:
        raise ParameterError(f"{name}: it does not grow with goodput")


def _apart(count: int) -> FloatArray:
    """Goodputs that are not alike [token/s]."""
    return np.asarray(0.3 + np.arange(count) / count)


def expression_of(utility: Utility, goodput: cp.Expression) -> cp.Expression:
    """The utility's expression; ParameterError where it is none, or not one number."""
    answer = utility.expression(goodput, cp)
    if not isinstance(answer, cp.Expression):
        raise ParameterError(f"{utility.name}: its expression is {describe(answer)}, none of CVXPY's")
    if not answer.is_scalar():
        raise ParameterError(f"{utility.name}: its expression is an array of shape {answer.shape}, not one number")
    return answer


def conic(utility: Utility, goodput: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """The utility as an affine expression, with the cones that make it so; raises FormulationError if not concave."""
    expression = expression_of(utility, goodput)
    if expression.is_affine():
        return expression, []
    if not expression.is_concave():
        raise FormulationError(f"{type(utility).__name__} is not concave by CVXPY's rules (DCP)")
    problem, _ = Dcp2Cone().apply(cp.Problem(cp.Minimize(-expression)))
    return -problem.objective.expr, problem.constraints
