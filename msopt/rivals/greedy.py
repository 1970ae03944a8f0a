"""[UD] Algorithm 1 (`greedy`), as the paper prints it."""

import numpy as np

from msopt.arrays import IntArray
from msopt.errors import ParameterError
from msopt.modes.mode_problem import ModeProblem

MOST_STEPS = 20_000


def greedy_lengths(problem: ModeProblem) -> IntArray:
    """A token more for all while that pays, then one more for the best device while that pays; shape (K,).

    It starts from the minimum length and stops at the maximum (the paper states no cap). Every control is
    scored anew by `problem`: exactly, or on fresh draws at each evaluation as in the paper.

    Raises
    ------
    ParameterError
        Where another token still pays after `MOST_STEPS` steps.
    """
    low, high = problem.limits
    count = problem.scenario.device_count
    lengths = np.full(count, float(low))
    score = float(problem.goodput(lengths[None, :])[0])
    for _ in range(MOST_STEPS):
        if lengths[0] >= high:
            break
        reached = float(problem.goodput(lengths[None, :] + 1.0)[0])
        if reached <= score:
            break
        lengths, score = lengths + 1.0, reached
    else:
        raise _unfinished(high)
    for _ in range(MOST_STEPS):
        if np.all(lengths >= high):
            break
        candidates = (lengths + np.eye(count))[lengths < high]
        reached_by_each = problem.goodput(candidates)
        best = int(np.argmax(reached_by_each))
        if reached_by_each[best] <= score:
            break
        lengths, score = candidates[best], float(reached_by_each[best])
    else:
        raise _unfinished(high)
    return np.asarray(np.rint(lengths), dtype=np.int64)


def _unfinished(high: int) -> ParameterError:
    return ParameterError(
        f"method greedy adds a token at a time and has not ended after {MOST_STEPS}; "
        f"lower max_draft_length = {high}, or use method decomposition"
    )
