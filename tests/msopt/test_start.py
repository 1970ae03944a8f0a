"""A solution of a neighbouring scenario to begin with."""

import pytest

from msopt import ParameterError, ProportionalFair, TokenBudget, draw, evaluate, solve
from msopt.model.control import Control

CELL = draw("uldl-qwen25", devices=6, seed=2)[0]
NEAR = CELL.with_bandwidth(uplink_hz=CELL.uplink_bandwidth_hz * 1.05)


@pytest.mark.parametrize("method", ["decomposition", "exact"])
def test_it_is_never_worse_than_what_it_begins_with(method: str) -> None:
    before = solve(CELL, method=method)
    found, alone = solve(NEAR, method=method, start=before), solve(NEAR, method=method)
    kept = Control(
        problem="heterogeneous",
        draft_length=before.control.draft_length,
        bandwidth_hz=before.control.bandwidth_hz,
    )
    assert found.goodput >= evaluate(NEAR, kept).goodput
    assert found.goodput == pytest.approx(alone.goodput, rel=1e-9)


def test_variants_begin_with_it_too() -> None:
    asked = {"utility": ProportionalFair(), "limits": [TokenBudget(20)]}
    before = solve(CELL, **asked)  # type: ignore[arg-type]
    found = solve(NEAR, start=before, **asked)  # type: ignore[arg-type]
    alone = solve(NEAR, **asked).evaluation  # type: ignore[arg-type]
    assert found.evaluation.utility_value == pytest.approx(alone.utility_value, rel=1e-9)


def test_another_number_of_devices_is_one_line() -> None:
    with pytest.raises(ParameterError, match="start: a solution with a control for 6 devices"):
        solve(CELL, start=solve(draw("uldl-qwen25", devices=5, seed=2)[0]))
    with pytest.raises(ParameterError, match="start: a solution with a control"):
        solve(CELL, start=solve(CELL, method="server-only"))
