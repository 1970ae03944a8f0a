"""T_ver = c0 + c2 batch + c1 batch (L + 1) by least squares, and which of the terms are needed (design section 9)."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.measured.step_times import Term, VerificationFit

SIGNIFICANCE = 0.05
"""A term is needed where the chance of so large a coefficient without it is below this."""

TERMS = ("base", "per_device", "per_token")


def fit_verification(batch: Sequence[int], draft_length: Sequence[int], seconds: Sequence[float]) -> VerificationFit:
    """Fit the verification time of a grid.

    All three terms are fitted first; Student's t tells for each whether it is needed beside the others (for one
    coefficient the same as the F test of the fit without it). What is not needed, or negative, is left out, the worst
    first, and the rest fitted again. Rows of length 0, often another kernel, are left out where the others tell the
    terms apart; residuals are those of all rows. ParameterError where the grid does not tell the three terms apart.

    Parameters
    ----------
    batch, draft_length : n whole numbers
        Rows of the grid; at least four that tell the terms apart.
    seconds : n numbers
        Median time of each [s].
    """
    devices, every = np.asarray(batch, dtype=float), np.asarray(seconds, dtype=float)
    grid: FloatArray = np.stack([np.ones(len(every)), devices, devices * (np.asarray(draft_length) + 1.0)], axis=1)
    fitted = np.asarray(draft_length) > 0
    if not _told_apart(grid[fitted]):
        fitted[:] = True
    if not _told_apart(grid[fitted]):
        raise ParameterError("the grid does not tell the terms apart: two batch sizes and two draft lengths are needed")
    columns, times = grid[fitted], every[fitted]
    p_values = least_squares(columns, times)[2]
    kept = [0, 1, 2]
    while True:
        coefficient, error, p_value = least_squares(columns[:, kept], times)
        # A negative coefficient goes before one that is only not needed.
        badness = np.where(coefficient <= 0.0, 2.0, np.where(p_value > SIGNIFICANCE, p_value, 0.0))
        if len(kept) == 1 or not badness.any():
            break
        del kept[int(badness.argmax())]
    seconds_of, error_of = dict(zip(kept, coefficient, strict=True)), dict(zip(kept, error, strict=True))
    residual = every - grid[:, kept] @ coefficient
    spread = float(((times - times.mean()) ** 2).sum())
    terms = {
        name: Term(
            seconds=float(seconds_of.get(n, 0.0)),
            standard_error_s=float(error_of[n]) if n in error_of else None,
            p_value=float(p_values[n]),
            needed=n in kept,
        )
        for n, name in enumerate(TERMS)
    }
    return VerificationFit(
        **terms,
        r_squared=1.0 - float((residual[fitted] ** 2).sum()) / spread if spread > 0.0 else 1.0,
        residuals_s=tuple(float(value) for value in residual),
        max_relative_residual=float((np.abs(residual) / every).max()),
    )


def _told_apart(columns: FloatArray) -> bool:
    return len(columns) > columns.shape[1] and bool(np.linalg.matrix_rank(columns) == columns.shape[1])


def least_squares(columns: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients, their standard errors and the p-value of each being 0."""
    inverse = np.linalg.inv(columns.T @ columns)
    coefficient = inverse @ (columns.T @ times)
    freedom = len(times) - columns.shape[1]
    residual = times - columns @ coefficient
    # Round-off of the times themselves is the least error there is; without it an exact fit divides 0 by 0.
    variance = max(float(residual @ residual) / freedom, float((np.finfo(float).eps * times.max()) ** 2))
    error = np.sqrt(variance * np.diag(inverse))
    return coefficient, error, np.asarray(2.0 * stats.t.sf(np.abs(coefficient) / error, freedom))
