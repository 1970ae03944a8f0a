"""Draft lengths for a variant: the table of lengths, and its best choice as a control (design section 7)."""

from dataclasses import replace

import numpy as np

from msopt.arrays import IntArray
from msopt.lengths.region_search import SearchEffort
from msopt.model.control import Control
from msopt.model.scenario import Problem, Scenario
from msopt.variants.action_table import ActionTable
from msopt.variants.best_actions import ActionsSolution, best_of_variant
from msopt.variants.variant import Variant


def solve_lengths(
    scenario: Scenario,
    variant: Variant,
    effort: SearchEffort | None = None,
    starts: IntArray | None = None,
) -> tuple[Control, ActionsSolution]:
    """The best draft length for each device, as a control of problem `heterogeneous`.

    Parameters
    ----------
    scenario : Scenario
    variant : Variant
        Of that scenario.
    effort : SearchEffort, optional
    starts : array of int, shape (n, K), optional
        Draft lengths to begin with.

    Raises
    ------
    InfeasibleError
        Where no lengths keep all limits.
    """
    table = ActionTable.of_lengths(scenario, idle=variant.idle)
    low, _ = scenario.length_limits("heterogeneous")
    found = best_of_variant(scenario, [table], variant, effort, None if starts is None else starts - low)
    return _control("heterogeneous", found), found


def solve_common_length(
    scenario: Scenario, variant: Variant, effort: SearchEffort | None = None
) -> tuple[Control, ActionsSolution]:
    """The best one length for all who take part, as a control of problem `homogeneous`: every length is tried.

    Raises
    ------
    InfeasibleError
        Where no length keeps all limits.
    """
    table = ActionTable.of_lengths(scenario, "homogeneous", idle=variant.idle)
    low, high = scenario.length_limits("homogeneous")
    alike = [
        replace(table, allowed=table.allowed & ((table.drafted == length) | (table.verified == 0.0)))
        for length in range(low, high + 1)
    ]
    found = best_of_variant(scenario, alike, variant, effort)
    return _control("homogeneous", found), found


def _control(problem: Problem, found: ActionsSolution) -> Control:
    at = found.choice, np.arange(found.choice.size)
    served = found.table.verified[at] > 0.0
    return Control(
        problem=problem,
        draft_length=np.rint(found.table.drafted[at]).astype(np.int64),
        bandwidth_hz=found.bandwidth_hz,
        served=None if np.all(served) else served,
    )
