"""Many scenarios of one size at once: fading traces, sweeps, Monte Carlo."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.goodput import play
from msopt.many_lengths import best_whole_lengths
from msopt.relaxed import solve_jointly
from msopt.response import Response
from msopt.scenario import Problem, Scenario
from msopt.scenario_stack import ScenarioStack, stackable
from msopt.solve import solve


@dataclass(frozen=True, eq=False)
class ManySolutions:
    """The controls of S scenarios with K devices each.

    Attributes
    ----------
    goodput : array, shape (S,)
        Of the whole control of each, scored by the evaluator [token/s].
    bound : array, shape (S,)
        No control of the scenario has more goodput [token/s]; where the rows were solved together, the relaxed
        optimum, which is less tight than that of `solve`.
    draft_length : array of int, shape (S, K)
    bandwidth_hz : array, shape (S, K)
    """

    goodput: FloatArray
    bound: FloatArray
    draft_length: IntArray
    bandwidth_hz: FloatArray


def solve_many(scenarios: Iterable[Scenario], problem: Problem = "heterogeneous") -> ManySolutions:
    """Solve one problem of many scenarios by method `decomposition`.

    Scenarios of problem `heterogeneous` with the geometric law and one way to share the uplink are solved
    together, in arrays; the few that sit at a kink, and all others, one by one.

    Raises
    ------
    ParameterError
        Where there are no scenarios or they differ in the number of devices.
    """
    scenarios = list(scenarios)
    counts = {scenario.device_count for scenario in scenarios}
    if len(counts) != 1:
        raise ParameterError(f"solve_many needs scenarios with one number of devices; given are {sorted(counts)}")
    if problem != "heterogeneous" or not stackable(scenarios):
        return _one_by_one(scenarios, problem)
    return _together(scenarios)


def _one_by_one(scenarios: Sequence[Scenario], problem: Problem) -> ManySolutions:
    found = [solve(scenario, problem) for scenario in scenarios]
    controls = [solution.control for solution in found if solution.control is not None]
    return ManySolutions(
        np.array([solution.goodput for solution in found]),
        np.array([solution.bound for solution in found], dtype=float),
        np.array([control.draft_length for control in controls]),
        np.array([control.bandwidth_hz for control in controls]),
    )


def _together(scenarios: Sequence[Scenario]) -> ManySolutions:
    stack = ScenarioStack.of(scenarios)
    response = Response(stack)
    relaxed = solve_jointly(response)
    lengths = best_whole_lengths(response, relaxed.draft_length)
    _, share = response.split(lengths)
    goodput = np.array(play(stack, "heterogeneous", lengths, share).goodput)
    bound = np.maximum((relaxed.goodput * (1.0 + relaxed.gap))[:, 0], goodput)
    whole = np.rint(lengths).astype(np.int64)
    astray = np.flatnonzero(~relaxed.proven)
    if astray.size:
        alone = _one_by_one([scenarios[int(row)] for row in astray], "heterogeneous")
        goodput[astray], bound[astray] = alone.goodput, alone.bound
        whole[astray], share[astray] = alone.draft_length, alone.bandwidth_hz
    return ManySolutions(goodput, bound, whole, share)
