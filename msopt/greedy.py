"""[UD] Algorithm 1 (`greedy`), as the paper prints it."""

import numpy as np

from msopt.arrays import IntArray
from msopt.mode_problem import ModeProblem


def greedy_lengths(problem: ModeProblem) -> IntArray:
    """A token more for all while that pays, then one more for the best device while that pays; shape (K,).

    It starts from the minimum length and stops at the maximum (the paper states no cap). Every control is
    scored anew by `problem`: exactly, or on fresh draws at each evaluation as in the paper.
    """
    low, high = problem.limits
    count = problem.scenario.device_count
    lengths = np.full(count, float(low))
    score = float(problem.goodput(lengths[None, :])[0])
    while lengths[0] < high:
        reached = float(problem.goodput(lengths[None, :] + 1.0)[0])
        if reached <= score:
            break
        lengths, score = lengths + 1.0, reached
    while np.any(lengths < high):
        candidates = (lengths + np.eye(count))[lengths < high]
        reached_by_each = problem.goodput(candidates)
        best = int(np.argmax(reached_by_each))
        if reached_by_each[best] <= score:
            break
        lengths, score = candidates[best], float(reached_by_each[best])
    return np.asarray(np.rint(lengths), dtype=np.int64)
