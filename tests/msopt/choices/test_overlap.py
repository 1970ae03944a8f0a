"""Overlapping groups: against enumeration, against the synchronous round, and by what the server can do at most."""

import itertools

import numpy as np
import pytest

from msopt import ParameterError, Scenario, draw, solve
from msopt.choices.overlap import partitions, solve_overlap

RTOL = 1e-9


def cell(seed: int, *, per_token_s: float = 0.0, devices: int = 3) -> Scenario:
    rng = np.random.default_rng(seed)
    return Scenario(
        verify_base_s=float(rng.uniform(0.02, 0.2)),
        verify_per_device_s=float(rng.uniform(0.0, 0.03)),
        verify_per_token_s=per_token_s,
        downlink_power_w=1.0,
        uplink_bandwidth_hz=float(rng.uniform(1e6, 5e6)),
        downlink_bandwidth_hz=1e7,
        token_bits=17,
        distribution_bits=3e4,
        acceptance=rng.uniform(0.3, 0.95, devices),
        draft_s_per_token=rng.uniform(0.005, 0.03, devices),
        uplink_snr_db=rng.uniform(0.0, 20.0, devices),
        downlink_snr_db=rng.uniform(0.0, 20.0, devices),
        max_draft_length=4,
    )


def enumerated(scenario: Scenario, groups: int, *, equal: bool = False) -> float:
    """All lengths and partitions, or those of equal size; the cycle by bisection on what fixed-SNR devices need."""
    count, best = scenario.device_count, 0.0
    efficiency = np.log2(1.0 + 10.0 ** (scenario.uplink_snr_db / 10.0))
    bits = scenario.token_bits + scenario.distribution_bits
    for group in itertools.product(range(groups), repeat=count):
        member = np.array(group)
        if equal and np.ptp(np.bincount(member, minlength=groups)) > 0:
            continue
        for chosen in itertools.product(range(1, 5), repeat=count):
            length = np.array(chosen, dtype=float)
            own = scenario.verify_per_device_s + scenario.verify_per_token_s * (length + 1.0)
            busy = np.array(
                [
                    (scenario.verify_base_s + own[member == g].sum()) if np.any(member == g) else 0.0
                    for g in range(groups)
                ]
            )
            tokens = sum(
                (1.0 - a ** (n + 1.0)) / (1.0 - a) for a, n in zip(scenario.acceptance.mean, length, strict=True)
            )
            low, high = float(busy.sum()), 100.0
            if tokens / max(low, 1e-9) <= best:
                continue
            for _ in range(60):
                middle = 0.5 * (low + high)
                left = middle - busy[member] - length * scenario.draft_s_per_token
                good = np.all(left > 0.0) and np.sum(length * bits / efficiency / left) <= scenario.uplink_bandwidth_hz
                low, high = (low, middle) if good else (middle, high)
            best = max(best, tokens / high)
    return best


@pytest.mark.parametrize("seed", range(3))
def test_equal_groups_are_the_best_of_all_lengths_and_partitions(seed: int) -> None:
    scenario = cell(seed, devices=2)
    found = solve_overlap(scenario, 2)
    assert found.goodput == pytest.approx(enumerated(scenario, 2, equal=True), rel=1e-7)
    assert found.bound == pytest.approx(found.goodput, rel=RTOL)


@pytest.mark.parametrize("seed", range(3))
def test_unlike_groups_are_between_the_best_and_their_bound(seed: int) -> None:
    scenario = cell(seed, per_token_s=0.01)
    best = enumerated(scenario, 2)
    found = solve_overlap(scenario, 2)
    assert found.goodput <= best * (1.0 + 1e-7)
    assert found.goodput >= best * (1.0 - 1e-3)
    assert found.bound >= best * (1.0 - 1e-9)


def test_one_group_is_the_synchronous_round() -> None:
    scenario = draw("multispin-llama2", devices=8, seed=2)[0]
    assert solve_overlap(scenario, 1).goodput == pytest.approx(solve(scenario, method="exact").goodput, rel=RTOL)


def test_the_server_is_never_busy_for_longer_than_the_cycle_and_a_fast_band_fills_it() -> None:
    scenario = draw("multispin-llama2", devices=8, seed=2)[0]
    found = solve_overlap(scenario, 4)
    assert found.server_busy <= 1.0 + RTOL
    assert found.cycle_s >= 4 * scenario.verify_base_s + 8 * scenario.verify_per_device_s - RTOL
    assert found.goodput > solve(scenario).goodput
    assert np.sum(found.bandwidth_hz) <= scenario.uplink_bandwidth_hz


def test_partitions_are_there_once_each() -> None:
    every = [tuple(one) for one in partitions(4, 4)]
    assert len(every) == len(set(every)) == 15  # Bell's number of four
    assert len(list(partitions(4, 2))) == 8


def test_what_cannot_be_overlapped_is_one_line() -> None:
    scenario = cell(0)
    with pytest.raises(ParameterError, match="groups = 4 is above 3"):
        solve_overlap(scenario, 4)
    with pytest.raises(ParameterError, match=r"overlap takes no variant \(token_budget\)"):
        solve_overlap(scenario.replace(token_budget=5), 2)
