"""Values, gaps and counts of utilities: floors up to what max-min gives, growth to a bound, devices admitted."""

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
from msopt.numerics.best_first import SearchEffort

CELL = draw("multispin-llama2", devices=12, seed=0)[0]
BEST = solve(CELL, utility=MaxMin())


def floor(part: float) -> GoodputFloor:
    assert BEST.evaluation is not None
    return GoodputFloor(part * BEST.evaluation.utility_value)


def test_a_floor_just_below_the_greatest_is_kept() -> None:
    solution = solve(CELL, limits=[floor(0.9999)])
    assert solution.evaluation is not None
    assert BEST.evaluation is not None
    least = float(np.min(solution.evaluation.round.device_goodput))
    assert least >= 0.9999 * BEST.evaluation.utility_value
    assert solution.gap is not None
    assert solution.gap < 1e-9
    assert solution.goodput >= BEST.goodput * (1.0 - 1e-9)


def test_a_floor_just_above_it_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="the limit goodput floor excludes every choice"):
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


@pytest.mark.parametrize("regions", [5, 30])
def test_admission_counts_those_whom_its_choice_admits_when_the_search_is_cut_short(regions: int) -> None:
    cell = draw("multispin-llama2", devices=8, seed=0)[0].replace(max_draft_length=8)
    table, rate = ActionTable.of_lengths(cell, idle=True), 14.0
    found = solve_actions(cell, table, Admission(rate), effort=SearchEffort(regions=regions))
    assert found.utility_value == np.sum(found.round.device_goodput >= rate)
    assert found.utility_value <= found.utility_bound
