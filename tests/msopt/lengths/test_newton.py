"""The joint Newton iteration against the nested searches, and the proof its residuals give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import draw
from msopt.lengths.gap import optimality_gap
from msopt.lengths.nested import NestedSearch
from msopt.lengths.relaxed import (
    common_deadlines,
    exact_goodput,
    shortest_deadline,
    solve_jointly,
    solve_relaxed,
)
from msopt.lengths.response import Response
from msopt.model.scenario import Scenario
from msopt.model.sharing import UplinkSharing
from msopt.model.stack import ScenarioStack
from reports.crosscheck.random_scenarios import family, random_scenario
from tests.strategies import scenarios
from tests.tolerances import CLOSED_FORM, EXACT, RELAXED_OPTIMUM

MOST_PASSES = 60
PROVEN = 1e-10
KINKED = 1e-4
"""Where a device leaves no time to the others a price is known to few digits, and proves no more."""


def nested_goodput(scenario: Scenario) -> float:
    response = Response(scenario)
    shortest, longest, _ = common_deadlines(response)
    point = NestedSearch(scenario, response).run(float(shortest[0]), float(longest[0]))
    return float(response.goodput(point.length, point.deadline_s)[0])


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("seed", range(6))
def test_against_the_nested_searches(sharing: UplinkSharing, seed: int) -> None:
    scenario = family(seed, 20, sharing)
    assert solve_jointly(Response(scenario)).proven
    assert solve_relaxed(scenario).goodput == pytest.approx(nested_goodput(scenario), rel=RELAXED_OPTIMUM)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("count", [200, 3000])
@pytest.mark.parametrize("seed", range(20))
def test_every_larger_cell_is_proven(seed: int, count: int, sharing: UplinkSharing) -> None:
    """With many devices no kink stands alone, and the iteration ends everywhere."""
    assert solve_jointly(Response(family(seed, count, sharing))).gap <= PROVEN


@pytest.mark.parametrize("seed", range(40))
def test_small_cells_with_kinks_fall_back(seed: int) -> None:
    scenario = random_scenario(seed, devices=(1, 4), min_draft_length=seed % 2)
    found = solve_relaxed(scenario)
    assert found.goodput >= nested_goodput(scenario) * (1.0 - RELAXED_OPTIMUM)
    assert found.gap <= KINKED


@pytest.mark.parametrize(("sharing", "seed"), [("fixed-snr", 0), ("fixed-snr", 1), ("power-limited", 7)])
def test_few_passes_over_a_hundred_thousand_devices(
    sharing: UplinkSharing, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = 0
    once = Response.bandwidth

    def counted(self: Response, pace: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nonlocal passes
        passes += 1
        return once(self, pace)

    scenario = family(seed, 100_000, sharing)
    uplink, slopes = type(scenario.uplink), type(scenario.uplink).bandwidth_slope

    def priced(self: object, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nonlocal passes
        passes += 1
        return slopes(self, rate)  # type: ignore[arg-type]

    monkeypatch.setattr(Response, "bandwidth", counted)
    monkeypatch.setattr(uplink, "bandwidth_slope", priced)
    assert solve_relaxed(scenario).gap <= PROVEN
    assert 0 < passes <= 2 * MOST_PASSES  # each pass of a response is counted by the uplink too


@pytest.mark.parametrize(("count", "seed"), [(8, 20), (1000, 10), (10_000, 4)])
def test_slow_devices_that_take_nearly_the_whole_round(count: int, seed: int) -> None:
    """The best deadline is within millionths of the shortest one, and what the slow ones leave suffices the others."""
    scenario, _ = draw("uldl-qwen25", devices=count, seed=seed)
    found = solve_jointly(Response(scenario)).one(())
    assert found.gap <= PROVEN
    assert float(np.sum(found.bandwidth_hz)) <= scenario.uplink_bandwidth_hz
    assert exact_goodput(scenario, found.draft_length) == pytest.approx(found.goodput, rel=EXACT)


@settings(max_examples=40)
@given(scenarios(kinds=("geometric",), devices=(2, 5), inner=True), st.data())
def test_the_gap_bounds_every_whole_control(scenario: Scenario, data: st.DataObject) -> None:
    """Linearised at any lengths, deadline and price, for the goodput of any control: it is never too small."""
    response = Response(scenario)
    low, high = scenario.length_limits("heterogeneous")
    near = np.array([data.draw(st.floats(max(low, 0.01), high)) for _ in range(scenario.device_count)])
    deadline = float(shortest_deadline(scenario, near)) * data.draw(st.floats(1.0, 1.5))
    price = data.draw(st.floats(1e-9, 1e-3))
    tokens = float(np.sum(scenario.acceptance.expected_tokens(near)))
    goodput = tokens / (deadline + float(scenario.verify_s(near))) * data.draw(st.floats(0.5, 1.0))
    ends = common_deadlines(response)[:2]
    feasible = np.minimum(near, response.cap(deadline))
    gap = optimality_gap(response, feasible, np.array([deadline]), np.array([price]), np.array([goodput]), ends)
    best = solve_relaxed(scenario).goodput
    assert best <= goodput * (1.0 + float(gap[0])) * (1.0 + CLOSED_FORM)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_a_stack_gives_what_its_scenarios_give(sharing: UplinkSharing) -> None:
    """Rows share every array operation but no number; those that fail leave the others alone."""
    many = [random_scenario(seed, devices=(6, 6), uplink_sharing=sharing) for seed in range(30)]
    rows = solve_jointly(Response(ScenarioStack.of(many)))
    assert np.count_nonzero(rows.proven) >= 20
    for row, scenario in enumerate(many):
        if rows.proven[row]:
            alone = solve_relaxed(scenario)
            together = rows.one((row,))
            assert together.goodput == pytest.approx(alone.goodput, rel=EXACT)
            assert together.price_of_bandwidth == pytest.approx(alone.price_of_bandwidth, rel=CLOSED_FORM)
