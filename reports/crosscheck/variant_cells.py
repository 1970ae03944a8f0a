"""Random cells with the keys of a variant, small enough to try every choice: what the cross-check asks of variants."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msopt import Scenario, Solution, solve
from msopt.model.acceptance import Acceptance
from msopt.model.sharing import UplinkSharing
from reports.crosscheck.random_scenarios import random_scenario

LARGEST = 4
LONGEST = 5
_SHARINGS: tuple[UplinkSharing, ...] = ("fixed-snr", "power-limited")
UTILITIES = ("weighted-sum", "proportional-fair", "alpha-fair", "max-min", "admission")
LIMITS = (
    *("goodput_floor_tokens_per_s", "token_latency_ceiling_s", "token_budget", "slots", "bandwidth_floor_hz"),
    *("bandwidth_cap_hz", "resource_block_hz", "average_power_w", "round_trip_s", "padded_batches"),
)
"""What the cross-check varies: a utility or a key of a limit, each for itself, and several together."""


def small_cell(seed: int, number: int) -> Scenario:
    """Up to four devices with short drafts: both ways to share in turn, measured curves in every third cell."""
    cell = random_scenario(seed, devices=(1, LARGEST), uplink_sharing=_SHARINGS[number % 2])
    cell = cell.replace(max_draft_length=LONGEST, min_draft_length=(None, 0)[number % 4 > 1])
    if number % 3 == 2:
        mean = cell.acceptance.mean
        cell = cell.replace(acceptance=Acceptance.of(mean, 0.35 * np.sqrt(mean * (1.0 - mean))))
    return cell


def with_keys(cell: Scenario, keys: tuple[str, ...], rng: np.random.Generator) -> Scenario:
    """The cell with some keys of a variant, drawn so that they often bind and sometimes cannot be kept."""
    free = solve(cell)
    changes: dict[str, Any] = {}
    for key in keys:
        changes |= _drawn(cell, free, key, rng)
    return cell.replace(**changes)


def _drawn(cell: Scenario, free: Solution, key: str, rng: np.random.Generator) -> dict[str, Any]:
    K = cell.device_count
    assert free.control is not None
    assert free.evaluation is not None
    played, share = free.evaluation.round, free.control.bandwidth_hz
    drafted = free.control.draft_length
    least = float(np.min(played.device_goodput))
    band = cell.uplink_bandwidth_hz
    if key in UTILITIES:
        return _utility(key, K, least, rng)
    powers = rng.uniform(0.5, 3.0, K), rng.uniform(0.1, 1.0, K)
    used = (powers[0] * drafted * cell.draft_s_per_token + 0.1) / float(played.round_s)
    drawn: dict[str, Callable[[], dict[str, Any]]] = {
        "goodput_floor_tokens_per_s": lambda: {key: least * rng.uniform(0.5, 1.3)},
        "token_latency_ceiling_s": lambda: {key: rng.uniform(0.8, 2.0) / least},
        "token_budget": lambda: {key: int(rng.integers(K - 1, max(int(np.sum(drafted)), K) + 1))},
        "slots": lambda: {key: int(rng.integers(1, K + 1))},
        "bandwidth_floor_hz": lambda: {key: band / K * rng.uniform(0.1, 1.1)},
        "bandwidth_cap_hz": lambda: {key: float(np.max(share, initial=band / K)) * rng.uniform(0.3, 1.1)},
        "resource_block_hz": lambda: {key: band / float(rng.integers(K, 4 * K + 2))},
        "average_power_w": lambda: {
            "draft_power_w": powers[0],
            "transmit_power_w": powers[1],
            key: used * rng.uniform(0.6, 1.5, K),
        },
        "round_trip_s": lambda: {key: float(played.round_s) * rng.uniform(0.0, 0.3, K)},
        "padded_batches": lambda: {key: True},
    }
    return drawn[key]()


def _utility(name: str, count: int, least: float, rng: np.random.Generator) -> dict[str, Any]:
    weights = {"weight": rng.uniform(0.2, 3.0, count)}
    if name == "weighted-sum":
        return weights
    if name == "admission":
        return {"utility": name, "goodput_floor_tokens_per_s": least * rng.uniform(0.8, 2.0)}
    more = {"fairness_alpha": float(rng.choice([0.5, 2.0, 3.0]))} if name == "alpha-fair" else {}
    return {"utility": name, **more} | (weights if rng.integers(2) else {})


def several(rng: np.random.Generator) -> tuple[str, ...]:
    """A utility, or none, with two or three limits."""
    limits = rng.choice(LIMITS, size=int(rng.integers(2, 4)), replace=False)
    utility = rng.choice(["", *UTILITIES])
    return (*([str(utility)] if utility else []), *(str(limit) for limit in limits))
