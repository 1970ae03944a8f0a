"""An upper bound for problem `modes` that needs no search (ours).

The lower of two, the second asked for only where the first leaves a gap. First, for tens of devices, `stand_in_bound`
where all or nothing holds; else, where there is a table, `additive_bound`: if m is additive and never above the cost
of an outcome, sum_{k in R} m_k <= T(R) for every set R, then C(rho) >= sum_k m_k rho_k, and with that in place of C
the problem is separable and solved exactly. Second `adaptive_bound`, under any law and at any size
(`benchmarks/bench_mode_bounds.py`).
"""

import numpy as np

from msopt.arrays import FloatArray, every_length
from msopt.lengths.separable import best_separable
from msopt.modes.bounds.adaptive import adaptive_bound
from msopt.modes.bounds.stand_in import stand_in_bound
from msopt.modes.hull import all_or_nothing
from msopt.modes.mode_problem import ModeProblem, fitting
from msopt.modes.subsets import sum_of_members, with_member
from msopt.modes.table import TableOfOutcomes

_NEAR = 1.0005  # times the goodput reached: where the first bound is as near as that the second is not asked for
_STAND_INS_UP_TO = 60  # devices: with more of them the first bound is hardly ever the lower


def upper_bound(problem: ModeProblem, reached: float = 0.0) -> float:
    """No lengths, modes and powers have more goodput [token/s]; `problem` must be that of the best modes of a kind.

    `reached` is a goodput that some control has: a bound 0.01 % above it is not refined further.
    """
    if problem.correction.rule != "best":  # with free bands, of which the two other bounds know nothing
        assert isinstance(problem.correction, TableOfOutcomes)
        return additive_bound(problem, problem.correction)
    bound = np.inf
    if all_or_nothing(problem):
        if problem.scenario.device_count <= _STAND_INS_UP_TO:
            bound = stand_in_bound(problem, reached)
    elif isinstance(problem.correction, TableOfOutcomes):
        bound = additive_bound(problem, problem.correction)
    return bound if bound <= reached * _NEAR else min(bound, adaptive_bound(problem, reached))


def additive_bound(problem: ModeProblem, table: TableOfOutcomes) -> float:
    """The same [token/s], from an m that is additive and never above the cost of an outcome."""
    return best_separable(problem.scenario, problem.s_per_token, problem.limits, minorant_from_table(table))[0]


def minorant_from_table(table: TableOfOutcomes) -> FloatArray:
    """m_k = min over the sets with k of T(R)/|R|, then raised one by one, best uplink first, as far as sets allow."""
    fair = table.seconds / np.maximum(sum_of_members(np.ones(table.count)), 1.0)
    minorant = np.array([with_member(fair, place).min() for place in range(table.count)])
    slack = table.seconds - sum_of_members(minorant)
    for place in range(table.count):
        room = with_member(slack, place).min()
        minorant[place] += room
        with_member(slack, place)[...] -= room
    return table.times.by_device(np.maximum(minorant, 0.0))


def additive_values(problem: ModeProblem, minorant: FloatArray, deadline_s: FloatArray, goodput: float) -> FloatArray:
    """For each deadline at least the greatest sum_k (E_k(l_k) - G c1 l_k) - G C over the lengths that fit it."""
    scenario = problem.scenario
    every = every_length(problem.limits, scenario.device_count)
    own_s = scenario.verify_per_token_s * every + minorant * problem.rejection(every)
    best = np.maximum.accumulate(scenario.acceptance.expected_tokens(every) - goodput * own_s, axis=0)
    caps = fitting(problem, deadline_s).astype(np.int64) - problem.limits[0]
    return np.asarray(np.sum(np.take_along_axis(best, caps, axis=0), axis=1))
