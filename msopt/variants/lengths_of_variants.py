"""Draft lengths for a variant: the table of lengths, and its best choice as a control (design section 7)."""

from dataclasses import replace

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError
from msopt.model.control import Control
from msopt.model.goodput import finish_s
from msopt.model.scenario import Problem, Scenario
from msopt.numerics.best_first import SearchEffort
from msopt.variants.action_table import ActionTable
from msopt.variants.best_actions import ActionsSolution, best_of_variant
from msopt.variants.variant import Variant

_WAITS = 1e-9  # relative: a deadline this much beyond the last draft is waited for; less is round-off


def solve_lengths(
    scenario: Scenario, variant: Variant, effort: SearchEffort | None = None, starts: IntArray | None = None
) -> tuple[Control, ActionsSolution]:
    """The best draft length for each device, as a control of problem `heterogeneous`.

    InfeasibleError where no lengths keep all limits.

    Parameters
    ----------
    scenario : Scenario
    variant : Variant
        Of that scenario.
    effort : SearchEffort, optional
    starts : array of int, shape (n, K), optional
        Draft lengths to begin with.
    """
    table = ActionTable.of_lengths(scenario, idle=variant.idle)
    low, _ = scenario.length_limits("heterogeneous")
    found = best_of_variant(scenario, [table], variant, effort, None if starts is None else starts - low)
    return _control("heterogeneous", found), found


def round_lengths(scenario: Scenario, variant: Variant, real_length: FloatArray) -> Control:
    """The best control of problem `heterogeneous` whose lengths are real ones rounded up or down; else the best of all.

    InfeasibleError where no lengths keep all limits.

    Parameters
    ----------
    scenario, variant
    real_length : array, shape (K,)
        Within the limits.
    """
    low, high = (int(end) for end in (np.floor(np.min(real_length)), np.ceil(np.max(real_length))))
    near = scenario.replace(min_draft_length=low, max_draft_length=max(high, 1))
    table = ActionTable.of_lengths(near, idle=variant.idle)
    beside = (np.abs(table.drafted - real_length) < 1.0) | (table.verified == 0.0)
    try:
        found = best_of_variant(near, [replace(table, allowed=table.allowed & beside)], variant)
    except InfeasibleError:
        return solve_lengths(scenario, variant)[0]
    return _control("heterogeneous", found)


def solve_common_length(
    scenario: Scenario, variant: Variant, effort: SearchEffort | None = None, lengths: tuple[int, int] | None = None
) -> tuple[Control, ActionsSolution]:
    """The best one length for all who take part, as a control of problem `homogeneous`: every length is tried.

    InfeasibleError where no length keeps all limits.

    Parameters
    ----------
    scenario, variant
    effort : SearchEffort, optional
        For each length.
    lengths : pair of int, optional
        The first and the last that are tried; the scenario's limits by default.
    """
    table = ActionTable.of_lengths(scenario, "homogeneous", idle=variant.idle)
    low, high = scenario.length_limits("homogeneous") if lengths is None else lengths
    alike = [
        replace(table, allowed=table.allowed & ((table.drafted == length) | (table.verified == 0.0)))
        for length in range(low, high + 1)
    ]
    found = best_of_variant(scenario, alike, variant, effort)
    return _control("homogeneous", found), found


def _control(problem: Problem, found: ActionsSolution) -> Control:
    at = found.choice, np.arange(found.choice.size)
    served = found.table.verified[at] > 0.0
    length = np.rint(found.table.drafted[at]).astype(np.int64)
    last_s = float(np.max(finish_s(found.scenario, problem, length, found.bandwidth_hz)))
    return Control(
        problem=problem,
        draft_length=length,
        bandwidth_hz=found.bandwidth_hz,
        served=None if np.all(served) else served,
        not_before_s=found.deadline_s if found.deadline_s > last_s * (1.0 + _WAITS) else None,
    )
