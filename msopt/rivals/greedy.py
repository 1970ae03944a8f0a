"""[UD] Algorithm 1 (`greedy`), as the paper prints it, from more starts (ours), and with corrections ignored."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from msopt.arrays import FloatArray, IntArray, every_length
from msopt.errors import ParameterError
from msopt.model.goodput import finish_s, round_at
from msopt.model.scenario import Scenario
from msopt.modes.correction import alone_s
from msopt.modes.mode_problem import ModeProblem

MOST_STEPS = 20_000
GreedyStart = Literal["minimum", "common", "nested"]
STARTS = 4
"""Common lengths, or nested sets of devices, that are started from."""

Goodput = Callable[[FloatArray], FloatArray]
"""Of lengths of shape (m, K) [token/s]."""


def greedy_lengths(problem: ModeProblem, start: GreedyStart = "minimum") -> IntArray:
    """A token more for all while that pays, then one more for the best device while that pays; shape (K,).

    It starts from the minimum length and stops at the maximum (the paper states no cap). Every control is scored anew
    by `problem`: exactly, or on fresh draws at each evaluation as in the paper. ParameterError where another token
    still pays after `MOST_STEPS` steps.

    Parameters
    ----------
    problem : ModeProblem
    start : "minimum", "common" or "nested"
        The paper's; or (ours) its second step from the best common lengths, and from these given only to the devices
        whose corrections cost least, the others at the minimum. The best of all ends counts.
    """
    count = problem.scenario.device_count
    ends = [_as_printed(problem.goodput, problem.limits, count)]
    if start != "minimum":
        ends += [_one_by_one(problem.goodput, row, problem.limits[1]) for row in _starts(problem, start)]
    scores = problem.goodput(np.stack(ends)) if len(ends) > 1 else [0.0]
    return np.asarray(np.rint(ends[int(np.argmax(scores))]), dtype=np.int64)


def computation_only_by_greedy(scenario: Scenario) -> IntArray:
    """[UD]: the lengths of Algorithm 1 as if corrections took no time, shape (K,)."""
    per_token = finish_s(scenario, "modes", 1.0, scenario.equal_share_hz)

    def goodput(lengths: FloatArray) -> FloatArray:
        return np.asarray(round_at(scenario, lengths, np.max(lengths * per_token, axis=-1)).goodput)

    found = _as_printed(goodput, scenario.length_limits("modes"), scenario.device_count)
    return np.asarray(np.rint(found), dtype=np.int64)


def _starts(problem: ModeProblem, start: GreedyStart) -> FloatArray:
    """The best common lengths of all devices; or of those alone, in turn, that cost least to correct."""
    count = problem.scenario.device_count
    lengths = every_length(problem.limits, count)
    if start == "common":
        return _best_of(problem, lengths, STARTS)
    cheapest = np.argsort(np.argsort(alone_s(problem.scenario), kind="stable"))
    nested = [np.where(cheapest < members, lengths, problem.limits[0]) for members in range(1, count + 1)]
    return _best_of(problem, np.concatenate([_best_of(problem, rows, 1) for rows in nested]), STARTS)


def _best_of(problem: ModeProblem, rows: FloatArray, most: int) -> FloatArray:
    return np.asarray(rows[np.argsort(-problem.goodput(rows), kind="stable")[:most]])


def _as_printed(goodput: Goodput, limits: tuple[int, int], count: int) -> FloatArray:
    """From the minimum: one more for all, then one by one."""
    low, high = limits
    lengths = np.full(count, float(low))
    together = _climbed(goodput, lengths, partial(_longer_by_one, high=high), high)
    return _one_by_one(goodput, together, high)


def _one_by_one(goodput: Goodput, lengths: FloatArray, high: int) -> FloatArray:
    return _climbed(goodput, lengths, lambda row: (row + np.eye(row.size))[row < high], high)


def _longer_by_one(lengths: FloatArray, high: int) -> FloatArray:
    return lengths[None, :][lengths[:1] < high] + 1.0


def _climbed(goodput: Goodput, lengths: FloatArray, steps: Callable[[FloatArray], FloatArray], high: int) -> FloatArray:
    """The best of the steps while it gains."""
    score = float(goodput(lengths[None, :])[0])
    for _ in range(MOST_STEPS):
        candidates = steps(lengths)
        if not len(candidates):
            return lengths
        reached = goodput(candidates)
        best = int(np.argmax(reached))
        if reached[best] <= score:
            return lengths
        lengths, score = candidates[best], float(reached[best])
    raise ParameterError(
        f"method greedy adds a token at a time and has not ended after {MOST_STEPS}; "
        f"lower max_draft_length = {high}, or use method decomposition"
    )
