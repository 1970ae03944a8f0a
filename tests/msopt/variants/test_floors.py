"""Floors up to the greatest that all devices can have, which max-min finds: kept below it, refused above it."""

import numpy as np
import pytest

from msopt import (
    ActionTable,
    Admission,
    AlphaFair,
    GoodputFloor,
    InfeasibleError,
    MaxMin,
    ProportionalFair,
    draw,
    solve,
    solve_actions,
)
from msopt.lengths.region_search import SearchEffort

CELL = draw("multispin-llama2", devices=12, seed=0)[0]
BEST = solve(CELL, utility=MaxMin())


def floor(part: float) -> GoodputFloor:
    assert BEST.evaluation is not None
    return GoodputFloor(part * BEST.evaluation.utility_value)


def test_a_floor_just_below_the_greatest_is_kept() -> None:
    # So few choices keep it that a short search meets none by chance.
    solution = solve(CELL, "heterogeneous", "exact", limits=[floor(0.9999)], node_limit=40)
    assert solution.evaluation is not None
    assert BEST.evaluation is not None
    least = float(np.min(solution.evaluation.round.device_goodput))
    assert least >= 0.9999 * BEST.evaluation.utility_value
    assert solution.goodput >= BEST.goodput * (1.0 - 1e-9)


def test_a_floor_just_above_it_is_refused_with_the_part_that_can_be_had() -> None:
    with pytest.raises(InfeasibleError, match=r"keeps the goodput floors: 0\.9999 of them at most"):
        solve(CELL, limits=[floor(1.0001)])


@pytest.mark.parametrize(
    ("utility", "value", "bound", "gap"),
    [
        (AlphaFair(fairness=2.0), -4.0, -2.0, 1.0),  # g^-1 in all halves where goodputs double
        (AlphaFair(fairness=0.5), 2.0, 4.0, 3.0),  # and g^(1/2) doubles where they are four times as many
        (AlphaFair(fairness=3.0), -4.0, 0.0, np.inf),
        (AlphaFair(fairness=2.5), -4.0, 1.0, np.inf),
        (AlphaFair(fairness=2.5), -np.inf, -1.0, np.inf),
        (AlphaFair(fairness=0.5), 0.0, 1.0, np.inf),
        (AlphaFair(fairness=2.0), -1.0, -1.0, 0.0),
        (ProportionalFair(), 0.0, np.log(2.0), 1.0),
    ],
)
def test_a_gap_is_the_growth_of_all_goodputs_that_reaches_the_bound(
    utility: AlphaFair | ProportionalFair, value: float, bound: float, gap: float
) -> None:
    assert utility.gap(value, bound) == pytest.approx(gap)


def test_admission_counts_those_whom_its_choice_admits_when_the_search_is_cut_short() -> None:
    cell = draw("multispin-llama2", devices=8, seed=0)[0].replace(max_draft_length=8)
    table, rate = ActionTable.of_lengths(cell, idle=True), 13.03
    found = solve_actions(cell, table, Admission(rate), effort=SearchEffort(regions=60))
    assert found.utility_value == np.sum(found.round.device_goodput >= rate)
    assert found.utility_value <= found.utility_bound
