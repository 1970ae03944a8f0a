import re
from collections.abc import Sequence

import numpy as np
import pytest

import msopt
from msopt import (
    ActionTable,
    AllowedLengths,
    BandwidthCap,
    BandwidthFloor,
    GoodputFloor,
    InfeasibleError,
    MaxMin,
    Slots,
    TokenBudget,
    solve_actions,
)
from msopt.model.control_limit import ControlLimit


@pytest.fixture(scope="module")
def cell() -> msopt.Scenario:
    return msopt.draw("multispin-llama2", devices=6, seed=1)[0]


def reason(cell: msopt.Scenario, limits: Sequence[ControlLimit], idle: bool = False) -> str:
    with pytest.raises(InfeasibleError) as caught:
        solve_actions(cell, ActionTable.of_lengths(cell, idle=idle), None, limits)
    return str(caught.value)


def test_the_nearest_floor_is_the_best_least_goodput(cell: msopt.Scenario) -> None:
    limits = [TokenBudget(20)]
    best = solve_actions(cell, ActionTable.of_lengths(cell), MaxMin(), limits).utility_value
    text = reason(cell, [GoodputFloor(1000.0), *limits, BandwidthCap(1e9)])
    assert "the limit goodput floor excludes every choice; goodput floor asks for at least 1000 token/s" in text
    (number,) = re.findall(r"about (\S+) is the most", text)
    assert float(number) == pytest.approx(best, rel=1e-3)


def test_limits_that_exclude_each_other_only_together_are_named_together(cell: msopt.Scenario) -> None:
    best = solve_actions(cell, ActionTable.of_lengths(cell), MaxMin()).utility_value
    text = reason(cell, [BandwidthFloor(1.0), GoodputFloor(0.99 * best), BandwidthCap(1e9), TokenBudget(8)])
    assert "the limit goodput floor and the limit token budget exclude every choice together" in text


def test_a_whole_number_gives_way_to_the_least_that_will_do(cell: msopt.Scenario) -> None:
    text = reason(cell, [AllowedLengths([7.0]), TokenBudget(10)])
    assert text.endswith("token budget asks for at most 10 token, and about 42 is the least beside the others")
    assert "slots asks for at most 2 device, and about 6 is the least" in reason(
        cell, [Slots(2), GoodputFloor(1e-3)], idle=True
    )


def test_numbers_of_devices_give_way_by_a_part(cell: msopt.Scenario) -> None:
    floors = np.linspace(50.0, 100.0, 6)
    best = solve_actions(cell, ActionTable.of_lengths(cell), MaxMin(1.0 / floors)).utility_value
    (part,) = re.findall(r"about (\S+) % of its numbers is the most", reason(cell, [GoodputFloor(floors)]))
    assert float(part) == pytest.approx(100.0 * best, rel=1e-3)


def test_seven_limits_are_thinned_one_by_one(cell: msopt.Scenario) -> None:
    loose = [BandwidthFloor(1.0), BandwidthCap(1e9), msopt.LongestDraft(16), msopt.ServerMemory(1.0)]
    table = ActionTable.of_lengths(cell)
    table = msopt.ActionTable(**{**table.__dict__, "extra": {"server_bytes": np.zeros(table.shape)}})
    with pytest.raises(InfeasibleError, match="the limit token budget excludes every choice"):
        solve_actions(cell, table, None, [*loose, TokenBudget(5), GoodputFloor(1e-6), AllowedLengths(range(17))])
