"""Method `convex` on variants: bound, prices and control, what it leaves out, what it refuses."""

from typing import Any

import numpy as np
import pytest

from msopt import (
    Admission,
    AllowedLengths,
    AlphaFair,
    AveragePower,
    BandwidthCap,
    ControlLimit,
    GoodputFloor,
    LongestDraft,
    MaxMin,
    ParameterError,
    ProportionalFair,
    ResourceBlocks,
    Scenario,
    Slots,
    TokenBudget,
    WeightedSum,
    solve,
)
from reports.methods import CONVEX
from tests.formulations.cells import S3

CELLS = {"fixed": S3, "limited": S3.replace(uplink_sharing="power-limited")}
VARIANTS: dict[str, tuple[Any, list[ControlLimit]]] = {
    "fair": (ProportionalFair(), [GoodputFloor(4.0), TokenBudget(8)]),
    "weighted": (WeightedSum(np.array([1.0, 3.0, 0.5])), [LongestDraft([3, 4, 2])]),
    "alpha": (AlphaFair(fairness=3.0), [BandwidthCap(8e6)]),
    "least": (MaxMin(), [TokenBudget(7)]),
    "blocks": (None, [ResourceBlocks(180e3), GoodputFloor(5.0)]),
}


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_the_bound_is_above_the_tables_optimum_and_the_control_near_it(cell: Scenario, kind: str, problem: Any) -> None:
    utility, limits = VARIANTS[kind]
    best = solve(cell, problem, "exact", utility=utility, limits=limits)
    found = solve(cell, problem, CONVEX, solver="CLARABEL", utility=utility, limits=limits)
    assert best.evaluation.utility_value <= found.utility_bound
    assert found.evaluation.utility_value <= best.evaluation.utility_value + 1e-9 * abs(best.evaluation.utility_value)
    assert found.gap < 0.1
    found.evaluation.require_feasible()
    left_out = ["limit resource blocks is left out"] if kind == "blocks" else []
    assert [text[:32].rstrip() for text in found.warnings] == [text[:32] for text in left_out]


def test_the_price_is_what_a_token_more_brings() -> None:
    """Of the real-valued optimum: a difference quotient of two other budgets."""

    def bound(tokens: float) -> float:
        return solve(S3, "heterogeneous", CONVEX, solver="CLARABEL", limits=[TokenBudget(tokens)]).relaxed_goodput

    found = solve(S3, "heterogeneous", CONVEX, solver="CLARABEL", limits=[TokenBudget(8.0)])
    slope = (bound(8.05) - bound(7.95)) / 0.1
    assert float(found.limit_prices["token budget"]) == pytest.approx(slope, rel=1e-3)
    record = found.to_dict()["limits"][0]
    assert list(record) == ["name", "slack", "unit", "price"]
    assert (record["name"], record["unit"]) == ("token budget", "token")
    assert record["price"] == pytest.approx(slope, rel=1e-3)


POWER = AveragePower([2.0] * 3, [0.5] * 3, [1.0] * 3)


@pytest.mark.parametrize(
    ("changes", "asked", "words"),
    [
        ({"round_trip_s": [0.01] * 3}, {}, "round_trip_s"),
        ({"padded_batches": True}, {}, "padded_batches"),
        ({"slots": 2}, {}, "limit slots"),
        ({}, {"limits": [Slots(2)]}, "limit slots"),
        ({}, {"limits": [POWER]}, "limit average power"),
        ({}, {"utility": Admission(2.0)}, "utility admission"),
    ],
)
def test_what_is_no_convex_program_is_one_line(changes: dict[str, Any], asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=f"no convex program for {words}; use decomposition or exact"):
        solve(S3.replace(**changes), "heterogeneous", CONVEX, **asked)


def test_a_set_of_lengths_that_no_rounding_hits_takes_the_whole_table() -> None:
    found = solve(S3, "heterogeneous", CONVEX, limits=[AllowedLengths([1, 8])])
    assert set(found.control.draft_length.tolist()) <= {1, 8}
    assert solve(S3, "homogeneous", CONVEX, limits=[AllowedLengths([1, 8])]).control is not None


class SidesAlone(ControlLimit):
    """A budget of tokens that no table knows."""

    name, unit = "sides alone", "token"

    def left(self, at: Any) -> Any:
        return at.draft_length.sum()

    def right(self, at: Any) -> Any:
        return 8.0


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
def test_a_limit_without_a_table_form_has_the_best_rounding(problem: Any) -> None:
    same = solve(S3, problem, CONVEX, limits=[TokenBudget(8)])
    alone = solve(S3, problem, CONVEX, limits=[SidesAlone()])
    assert alone.utility_bound == pytest.approx(same.utility_bound, rel=1e-9)
    assert alone.goodput == pytest.approx(same.goodput, rel=1e-9)
    with pytest.raises(ParameterError, match="limit sides alone has no table form"):
        solve(S3, problem, limits=[SidesAlone()])
