"""Jacobians of affine expressions, compiled once by CVXPY and then a matter of putting parameters in.

`expression.grad` walks the whole tree each time and takes three quarters of a re-solve. Here the expressions are
the rows of a linear system that CVXPY compiles like any problem; for other parameter values only its sparse matrix
is filled anew. What comes out is checked against the expressions' own values, else it is not used.
"""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from msopt.arrays import FloatArray

VALUE_RTOL = 1e-9
"""How far A x - b may be from the expressions' own values, relative to the largest."""

_SOLVER = "CLARABEL"
"""Any conic solver: nothing is solved, its data format is read."""

_COMPILED: weakref.WeakKeyDictionary[cp.Problem, "Rows"] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Rows:
    """A problem's expressions as rows of one linear system."""

    expressions: Sequence[cp.Expression]
    system: cp.Problem

    def jacobian(self, ignore_dpp: bool) -> tuple[sp.csr_array, dict[cp.Variable, slice]] | None:
        """The matrix A of the rows, and the columns of each variable; None where its values do not come out."""
        data, _, _ = self.system.get_problem_data(_SOLVER, ignore_dpp=ignore_dpp)
        program = data[cp.settings.PARAM_PROB]
        matrix = sp.csr_array(data[cp.settings.A])
        columns, point = {}, np.zeros(matrix.shape[1])
        for variable in self.system.variables():
            start = program.var_id_to_col[variable.id]
            columns[variable] = slice(start, start + variable.size)
            point[columns[variable]] = _flat(variable.value)
        values = np.concatenate([_flat(one.value) for one in self.expressions])
        if values.shape != data[cp.settings.B].shape:
            return None
        off = np.abs(matrix @ point - data[cp.settings.B] - values)
        good = bool(np.all(off <= VALUE_RTOL * max(1.0, float(np.max(np.abs(values))))))
        return (matrix, columns) if good else None


def _flat(value: object) -> FloatArray:
    return np.asarray(value, dtype=float).reshape(-1, order="F")


def compiled_rows(problem: cp.Problem, expressions: Sequence[cp.Expression]) -> Rows:
    """The rows of a problem, made at the first call; the expressions must be affine and the same each time."""
    if problem not in _COMPILED:
        rows = [cp.vec(one, order="F") == 0.0 for one in expressions]
        _COMPILED[problem] = Rows(tuple(expressions), cp.Problem(cp.Minimize(0.0), rows))
    return _COMPILED[problem]
