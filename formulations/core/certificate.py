r"""KKT residuals of a solved CVXPY problem, from the problem and its multipliers alone.

With the problem as `minimise f(x) subject to A_i(x) in K_i` and multipliers y_i of K_i's dual cone, a
point is optimal where

.. math:: A_i(x) \in K_i, \quad y_i \in K_i^*, \quad \langle y_i, A_i(x) \rangle = 0, \quad
          \nabla f(x) - \sum_i A_i'^{T} y_i = 0.

Every residual is divided by the size of the terms it is the difference of, but not by less than one: the
programs are scaled to order one. [Boyd and Vandenberghe 2004, section 5.5; the scaling is ours.]
"""

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints.constraint import Constraint

from formulations.core.conic_solution import Certificate
from formulations.core.gradient import compiled_rows
from msopt.arrays import FloatArray

Parts = list[FloatArray]


def certify(
    problem: cp.Problem, evaluator_gap: float, stationarity: bool = True, ignore_dpp: bool = False
) -> Certificate:
    """Certificate of the solution a CVXPY problem holds; dual parts are None where there are no multipliers.

    The first gradient takes as long as compiling the problem, later ones a millisecond; with `stationarity` False it
    is left out, with `ignore_dpp` it is compiled for the present numbers only.
    """
    primal = max((_violation(one) for one in problem.constraints), default=0.0)
    if problem.is_mixed_integer() or any(one.dual_value is None for one in problem.constraints):
        return Certificate(
            primal_residual=primal,
            dual_residual=None,
            complementarity=None,
            stationarity=None,
            evaluator_gap=evaluator_gap,
        )
    return Certificate(
        primal_residual=primal,
        dual_residual=max((_dual_violation(one) for one in problem.constraints), default=0.0),
        complementarity=max((_complementarity(one) for one in problem.constraints), default=0.0),
        stationarity=_stationarity(problem, ignore_dpp) if stationarity else None,
        evaluator_gap=evaluator_gap,
    )


def is_affine(problem: cp.Problem) -> bool:
    """Whether objective and all arguments of the constraints are affine, whatever cones these are of."""
    every = [problem.objective.expr]
    for constraint in problem.constraints:
        every += [constraint.expr] if _is_pair(constraint) else constraint.args
    return all(expression.is_affine() for expression in every)


def _values(constraint: Constraint) -> Parts:
    return [np.asarray(part.value, dtype=float) for part in constraint.args]


def _duals(constraint: Constraint) -> Parts:
    value = constraint.dual_value
    parts = [np.asarray(part, dtype=float) for part in (value if isinstance(value, list) else [value])]
    if _is_pair(constraint):
        return parts
    return [part.reshape(argument.shape) for part, argument in zip(parts, constraint.args, strict=True)]


def _is_pair(constraint: Constraint) -> bool:
    return isinstance(constraint, cp.constraints.Inequality | cp.constraints.Equality)


def _scaled(excess: Any, *terms: FloatArray) -> float:
    size = np.maximum.reduce([np.ones(()), *(np.max(np.abs(term), initial=0.0) for term in terms)])
    return float(np.max(np.asarray(excess) / size, initial=0.0))


def _soc_excess(norm_of: FloatArray, bound: FloatArray, axis: int) -> FloatArray:
    return np.asarray(np.linalg.norm(norm_of, axis=axis) - bound)


def _exp_excess(x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
    """How much z falls short of y exp(x/y)."""
    inner = np.maximum(y, np.finfo(float).tiny)
    return np.asarray(np.maximum(inner * np.exp(np.minimum(x / inner, 500.0)) - z, -y))


def _exp_dual_excess(u: FloatArray, v: FloatArray, w: FloatArray) -> FloatArray:
    """How much w falls short of -u exp(v/u - 1), for u < 0; of 0 and -v for u = 0."""
    inner = np.minimum(u, -np.finfo(float).tiny)
    bound = -inner * np.exp(np.clip(v / inner - 1.0, -500.0, 500.0))
    tiny = np.abs(u) < 1e-12
    return np.where(tiny, np.maximum(-w, -v), np.maximum(bound - w, u))


def _power_excess(parts: Parts, alpha: FloatArray) -> FloatArray:
    """How much |z| is above x^a y^(1-a), for x, y >= 0."""
    x, y, z = parts
    bound = np.maximum(x, 0.0) ** alpha * np.maximum(y, 0.0) ** (1.0 - alpha)
    return np.asarray(np.maximum.reduce([np.abs(z) - bound, -x, -y]))


def _power_dual_excess(parts: Parts, alpha: FloatArray) -> FloatArray:
    """The dual cone is the same with u/a and v/(1-a)."""
    u, v, w = parts
    return _power_excess([u / alpha, v / (1.0 - alpha), w], alpha)


def _violation(constraint: Constraint) -> float:
    parts = _values(constraint)
    if isinstance(constraint, cp.constraints.Equality):
        return _scaled(np.abs(parts[0] - parts[1]), *parts)
    if isinstance(constraint, cp.constraints.Inequality):
        return _scaled(parts[0] - parts[1], *parts)
    if isinstance(constraint, cp.constraints.SOC):
        return _scaled(_soc_excess(parts[1], parts[0], constraint.axis), parts[0])
    if isinstance(constraint, cp.constraints.ExpCone):
        return _scaled(_exp_excess(*parts), *parts)
    if isinstance(constraint, cp.PowCone3D):
        return _scaled(_power_excess(parts, _alpha(constraint)), *parts)
    return _scaled(constraint.violation())


def _dual_violation(constraint: Constraint) -> float:
    parts = _duals(constraint)
    if isinstance(constraint, cp.constraints.Equality):
        return 0.0
    if isinstance(constraint, cp.constraints.Inequality):
        return _scaled(-parts[0], parts[0])
    if isinstance(constraint, cp.constraints.SOC):
        return _scaled(_soc_excess(parts[1], parts[0], constraint.axis), parts[0])
    if isinstance(constraint, cp.constraints.ExpCone):
        return _scaled(_exp_dual_excess(*parts), *parts)
    if isinstance(constraint, cp.PowCone3D):
        return _scaled(_power_dual_excess(parts, _alpha(constraint)), *parts)
    raise NotImplementedError(f"no certificate for a {type(constraint).__name__}")


def _alpha(constraint: cp.PowCone3D) -> FloatArray:
    return np.asarray(constraint.alpha.value, dtype=float)


def _complementarity(constraint: Constraint) -> float:
    duals, values = _duals(constraint), _values(constraint)
    if _is_pair(constraint):
        product = np.abs(duals[0] * (values[0] - values[1]))
        return _scaled(product)
    terms = [np.asarray(np.sum(dual * value)) for dual, value in zip(duals, values, strict=True)]
    return _scaled(abs(float(np.sum(terms))), *terms)


def _stationarity(problem: cp.Problem, ignore_dpp: bool) -> float:
    """Largest entry of the Lagrangian's gradient, each relative to the sum of its absolute terms."""
    pieces = _weighted(problem)
    if is_affine(problem):
        found = compiled_rows(problem, [expression for expression, _ in pieces]).jacobian(ignore_dpp)
        if found is not None:
            matrix, _ = found
            weights = np.concatenate([weight for _, weight in pieces])
            return _relative(matrix.T @ weights, abs(matrix).T @ np.abs(weights))
    return _stationarity_by_trees(pieces, problem.variables())


def _weighted(problem: cp.Problem) -> list[tuple[cp.Expression, FloatArray]]:
    """The expressions of the Lagrangian and the weight of each of their entries, column by column."""
    sign = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    pieces: list[tuple[cp.Expression, FloatArray]] = [(problem.objective.expr, np.asarray(sign))]
    for constraint in problem.constraints:
        duals = _duals(constraint)
        if _is_pair(constraint):
            pieces.append((constraint.expr, duals[0]))
        else:
            pieces += [(part, -dual) for part, dual in zip(constraint.args, duals, strict=True)]
    return [(one, np.broadcast_to(weight, one.shape).reshape(-1, order="F")) for one, weight in pieces]


def _relative(total: FloatArray, size: FloatArray) -> float:
    return float(np.max(np.abs(total) / (1.0 + size), initial=0.0))


def _stationarity_by_trees(pieces: list[tuple[cp.Expression, FloatArray]], variables: list[cp.Variable]) -> float:
    """The same by each expression's own gradient: slow, and for requirements that are convex, not affine."""
    total = {variable: np.zeros(variable.size) for variable in variables}
    size = {variable: np.zeros(variable.size) for variable in variables}
    for expression, weights in pieces:
        for variable, jacobian in expression.grad.items():
            if jacobian is None:
                return float("inf")
            rows = sp.csr_array(np.atleast_2d(jacobian) if np.isscalar(jacobian) else jacobian)
            total[variable] += rows @ weights
            size[variable] += abs(rows) @ np.abs(weights)
    return max(_relative(total[v], size[v]) for v in total)
