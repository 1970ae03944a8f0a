from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import msopt
from msopt import (
    ActionTable,
    Admission,
    AllowedLengths,
    AlphaFair,
    AveragePower,
    BandwidthCap,
    BandwidthFloor,
    GoodputFloor,
    InfeasibleError,
    MaxMin,
    ProportionalFair,
    ResourceBlocks,
    Scenario,
    Slots,
    TokenBudget,
    WeightedSum,
    solve_actions,
)
from msopt.numerics.best_first import SearchEffort
from msopt.variants.best_actions import usual_effort
from msopt.variants.energy_limits import EnergyPerToken
from tests.brute_force import Floats
from tests.table_brute_force import Cell, random_scenario

RTOL = 1e-9
ROUND_OFF = 1e-12
Pair = tuple[Any, Callable[[Floats], Floats]]


def utility(name: str, rng: np.random.Generator, share: float, count: int) -> Pair:
    """One of ours and what it is in numbers."""
    w = rng.uniform(0.3, 2.0, count)
    least = share * rng.uniform(0.5, 1.3)
    return {
        "sum": (None, lambda g: g.sum(axis=1)),
        "weighted-sum": (WeightedSum(w), lambda g: (w * g).sum(axis=1)),
        "proportional-fair": (ProportionalFair(w), lambda g: (w * np.log(g)).sum(axis=1)),
        "alpha 2": (AlphaFair(w, 2.0), lambda g: -(w / g).sum(axis=1)),
        "alpha 0.5": (AlphaFair(w, 0.5), lambda g: (2 * w * np.sqrt(g)).sum(axis=1)),
        "max-min": (MaxMin(w), lambda g: (w * g).min(axis=1)),
        "admission": (Admission(least), lambda g: (g >= least * (1 - ROUND_OFF)).sum(axis=1).astype(float)),
    }[name]


UTILITIES = ("sum", "weighted-sum", "proportional-fair", "alpha 2", "alpha 0.5", "max-min", "admission")
LIMITS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "floor": lambda rng, s, share: ((x := share * rng.uniform(0.3, 1.1)), GoodputFloor(x)),
    "tokens": lambda rng, s, share: ((x := int(rng.integers(1, 4 * s.device_count + 1))), TokenBudget(x)),
    "slots": lambda rng, s, share: ((x := int(rng.integers(1, s.device_count + 1))), Slots(x)),
    "lengths": lambda rng, s, share: (
        (x := sorted({int(s.length_limits("heterogeneous")[0]), *rng.integers(0, 5, 2).tolist()})),
        AllowedLengths(x),
    ),
    "least_hz": lambda rng, s, share: ((x := part(rng, s, 0.1, 1.0)), BandwidthFloor(x)),
    "most_hz": lambda rng, s, share: ((x := part(rng, s, 0.3, 2.0)), BandwidthCap(x)),
    "block_hz": lambda rng, s, share: ((x := part(rng, s, 0.05, 0.8)), ResourceBlocks(x)),
    "power": lambda rng, s, share: (
        (x := (float(rng.uniform(0.5, 3)), float(rng.uniform(0.1, 1)), float(rng.uniform(0.2, 2)))),
        AveragePower(*x),
    ),
    "energy": lambda rng, s, share: (
        (x := (float(rng.uniform(0.5, 3)), float(rng.uniform(0.1, 1)), float(rng.uniform(0.02, 0.3)))),
        EnergyPerToken(*x),
    ),
}


def part(rng: np.random.Generator, scenario: Scenario, low: float, high: float) -> float:
    return float(scenario.uplink_bandwidth_hz / scenario.device_count * rng.uniform(low, high))


def agree(seed: int, name: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([seed, UTILITIES.index(name)])
    scenario = random_scenario(rng)
    share = solve_actions(scenario, ActionTable.of_lengths(scenario)).goodput / scenario.device_count
    numbers, ours = {}, []
    for limit in limits:
        numbers[limit], one = LIMITS[limit](rng, scenario, share)
        ours.append(one)
    chosen, value = utility(name, rng, share, scenario.device_count)
    table = ActionTable.of_lengths(scenario, idle=name == "admission" or "slots" in limits)
    best, choice = Cell(scenario, table, value, numbers).best()
    if choice is None:
        with pytest.raises(InfeasibleError):
            solve_actions(scenario, table, chosen, ours)
        return
    found = solve_actions(scenario, table, chosen, ours)
    np.testing.assert_allclose(found.utility_value, best, rtol=RTOL, atol=RTOL, err_msg=f"{seed} {name} {limits}")
    assert found.utility_bound >= best - RTOL * max(1.0, abs(best))
    assert found.gap <= RTOL
    assert not [slack for slack in found.slacks if slack.violation > 0.0]
    assert np.sum(found.bandwidth_hz) <= scenario.uplink_bandwidth_hz


@pytest.mark.parametrize("name", UTILITIES)
def test_every_limit_alone_agrees_with_every_choice_enumerated(name: str) -> None:
    for seed, limit in enumerate(LIMITS):
        agree(100 + seed, name, (limit,))


@pytest.mark.parametrize("name", UTILITIES)
def test_limits_together_agree_with_every_choice_enumerated(name: str) -> None:
    rng = np.random.default_rng(UTILITIES.index(name))
    for seed in range(12):
        some = rng.choice(list(LIMITS), int(rng.choice([0, 2, 3, 4])), replace=False)
        agree(seed, name, tuple(some.tolist()))


@pytest.fixture(scope="module")
def cell() -> Scenario:
    return msopt.draw("multispin-llama2", devices=12, seed=3)[0]


@pytest.fixture(scope="module")
def table(cell: Scenario) -> ActionTable:
    return ActionTable.of_lengths(cell)


def test_a_limit_never_raises_the_value(cell: Scenario, table: ActionTable) -> None:
    limits = [TokenBudget(40), GoodputFloor(4.0), ResourceBlocks(3e5), BandwidthCap(1.5e6)]
    for chosen in (None, ProportionalFair(), MaxMin()):
        values = [solve_actions(cell, table, chosen, limits[:n]).utility_value for n in range(len(limits) + 1)]
        assert all(np.diff(values) <= 1e-9)
        assert values[-1] < values[0]


def test_a_limit_that_never_binds_changes_nothing(cell: Scenario, table: ActionTable) -> None:
    exact = msopt.solve(cell, "heterogeneous", "exact").goodput
    loose = [TokenBudget(1e6), GoodputFloor(0.0), BandwidthFloor(0.0), BandwidthCap(1e9), AveragePower(1.0, 1.0, 1e6)]
    for limits in ([], loose[:2], loose):
        assert solve_actions(cell, table, None, limits).goodput == pytest.approx(exact, rel=1e-10)
    alike = WeightedSum(np.full(12, 2.0))
    assert solve_actions(cell, table, alike).utility_value == pytest.approx(2 * exact, rel=1e-10)


def test_a_greater_weight_gives_its_device_no_less(cell: Scenario, table: ActionTable) -> None:
    for kind in (WeightedSum, ProportionalFair):
        got = []
        for weight in (0.5, 1.0, 2.0, 4.0):
            w = np.ones(12)
            w[5] = weight
            got.append(solve_actions(cell, table, kind(w), [TokenBudget(40)]).round.device_goodput[5])
        assert all(np.diff(got) >= -1e-9)
        assert got[-1] > got[0]


def test_devices_in_another_order_change_nothing(cell: Scenario) -> None:
    rng = np.random.default_rng(1)
    order = rng.permutation(12)
    acceptance = rng.uniform(0.4, 0.95, 12)
    cell = cell.replace(acceptance=acceptance)
    names = ("draft_s_per_token", "uplink_snr_db", "downlink_snr_db")
    other = cell.replace(acceptance=acceptance[order], **{name: getattr(cell, name)[order] for name in names})
    w = rng.uniform(0.5, 2.0, 12)
    for one, same in ((ProportionalFair(w), ProportionalFair(w[order])), (MaxMin(w), MaxMin(w[order]))):
        values = [
            solve_actions(s, ActionTable.of_lengths(s), u, [TokenBudget(40)]).utility_value
            for s, u in ((cell, one), (other, same))
        ]
        assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_other_units_of_time_change_only_the_unit(cell: Scenario) -> None:
    slow = cell.replace(
        draft_s_per_token=cell.draft_s_per_token * 1e3,
        verify_base_s=cell.verify_base_s * 1e3,
        verify_per_device_s=cell.verify_per_device_s * 1e3,
        uplink_bandwidth_hz=cell.uplink_bandwidth_hz / 1e3,
        downlink_bandwidth_hz=cell.downlink_bandwidth_hz / 1e3,
        downlink_snr_db=cell.downlink_snr_db,
    )
    for chosen, factor in ((None, 1e-3), (MaxMin(), 1e-3), (AlphaFair(fairness=3.0), 1e6)):
        value, other = (
            solve_actions(s, ActionTable.of_lengths(s), chosen, [TokenBudget(40), GoodputFloor(floor)]).utility_value
            for s, floor in ((cell, 4.0), (slow, 4e-3))
        )
        assert other == pytest.approx(value * factor, rel=1e-9)


def test_no_choice_exceeds_the_bound_when_the_search_ends_early(cell: Scenario, table: ActionTable) -> None:
    rng = np.random.default_rng(5)
    effort = SearchEffort(regions=26)
    limits = [TokenBudget(45)]
    for chosen in (None, ProportionalFair(), MaxMin(), AlphaFair(fairness=0.5)):
        bound = solve_actions(cell, table, chosen, limits, effort=effort).utility_bound
        starts = rng.integers(0, 6, (200, 12))
        best = solve_actions(cell, table, chosen, limits, starts=starts)
        assert best.utility_value <= bound * (1.0 + 1e-12) if bound > 0 else best.utility_value <= bound


def test_every_utility_with_a_floor_and_a_budget_is_proven_for_twenty_devices() -> None:
    scenario = msopt.draw("multispin-llama2", devices=20, seed=1)[0]
    for chosen in (None, ProportionalFair(), AlphaFair(fairness=2.0), MaxMin(), Admission(8.0)):
        table = ActionTable.of_lengths(scenario, idle=isinstance(chosen, Admission))
        floor = [] if isinstance(chosen, Admission) else [GoodputFloor(4.0)]
        assert solve_actions(scenario, table, chosen, [*floor, TokenBudget(55)]).gap <= 1e-9


def extreme(**changes: Any) -> Scenario:
    base = {
        "verify_base_s": 0.05, "verify_per_device_s": 0.01, "downlink_power_w": 1.0, "uplink_bandwidth_hz": 1e7,
        "downlink_bandwidth_hz": 1e7, "token_bits": 17, "distribution_bits": 3e4, "acceptance": [0.7, 0.9],
        "draft_s_per_token": [0.01, 0.02], "uplink_snr_db": [10.0, 20.0], "downlink_snr_db": [20.0, 20.0],
        "max_draft_length": 4, "min_draft_length": 0,
    }  # fmt: skip
    return msopt.Scenario(**{**base, **changes})


@pytest.mark.parametrize(
    "scenario",
    [
        extreme(acceptance=[0.0, 1.0]),
        extreme(acceptance=[0.0, 0.0], draft_s_per_token=[0.0, 0.0]),
        extreme(acceptance=[1.0, 1.0], draft_s_per_token=[0.0, 0.0], token_bits=0),
        extreme(uplink_bandwidth_hz=1e-3),
        extreme(uplink_bandwidth_hz=1e-3, uplink_sharing="power-limited"),
        extreme(uplink_bandwidth_hz=1e15, verify_per_token_s=0.01),
        extreme(verify_base_s=1e-12, verify_per_device_s=0.0),
    ],
)
def test_extreme_scenarios_agree_with_every_choice_enumerated(scenario: Scenario) -> None:
    one, fairest = np.array([0.0, 1.0]), 100.0 if 1.0 < scenario.uplink_bandwidth_hz < 1e9 else 4.0
    power = 1.0 - fairest
    cases: list[tuple[Any, Callable[[Floats], Floats], bool]] = [
        (None, lambda g: g.sum(axis=1), True),
        (WeightedSum(one), lambda g: g[:, 1], False),
        (ProportionalFair(one), lambda g: np.log(g[:, 1]), True),
        (MaxMin(one), lambda g: g[:, 1], True),
        (AlphaFair(fairness=0.01), lambda g: (g**0.99 / 0.99).sum(axis=1), True),
        (AlphaFair(fairness=fairest), lambda g: -(g**power / -power).sum(axis=1), False),
    ]
    for chosen, value, idle in cases:
        table = ActionTable.of_lengths(scenario, idle=idle)
        best, _ = Cell(scenario, table, value, {"tokens": 3, "slots": 2}).best()
        found = solve_actions(scenario, table, chosen, [TokenBudget(3), Slots(2)])
        assert found.utility_value == pytest.approx(best, rel=1e-9)
        assert np.isfinite(found.utility_bound)


def test_limits_on_the_edge_are_kept_or_refused() -> None:
    scenario = extreme()
    table = ActionTable.of_lengths(scenario)
    best = solve_actions(scenario, table, MaxMin()).utility_value
    at_most = solve_actions(scenario, table, None, [GoodputFloor(best)])
    assert float(np.min(at_most.round.device_goodput)) == pytest.approx(best, rel=1e-11)
    with pytest.raises(InfeasibleError, match="goodput floor"):
        solve_actions(scenario, table, None, [GoodputFloor(best * (1 + 1e-9))])
    nothing = solve_actions(scenario, table, None, [TokenBudget(0)])
    assert nothing.labels == ("draft 0", "draft 0")
    with pytest.raises(InfeasibleError, match="leaves a device without tokens"):
        solve_actions(scenario, ActionTable.of_lengths(scenario, idle=True), ProportionalFair(), [Slots(1)])


def test_a_table_too_large_is_refused_in_one_line(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msopt.variants.best_actions.LARGEST_CHOICE", 100)
    with pytest.raises(msopt.ParameterError, match="actions for each of 12 devices are more than 100 numbers"):
        solve_actions(cell, ActionTable.of_lengths(cell))


def test_the_effort_shrinks_with_the_table(cell: Scenario, table: ActionTable) -> None:
    large = ActionTable.of_lengths(msopt.draw("multispin-llama2", devices=10_000, seed=3)[0])
    few, many = (usual_effort(one).regions for one in (large, table))
    assert few is not None
    assert many is not None
    assert few < many
