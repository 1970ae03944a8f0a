"""What the cross-check compares [MS]'s formulations with: closed form, the paper's algorithm, enumeration.

None of this asks a convex solver. Each function takes a scenario and what the formulation was given beside it.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from msopt import Scenario
from msopt.arrays import FloatArray
from msopt.lengths.homogeneous import best_common_length, per_token_optimum, solve_homogeneous
from msopt.lengths.relaxed import exact_goodput, length_split, solve_relaxed
from msopt.lengths.response import Response
from msopt.model.goodput import round_at
from msopt.rivals.grid import grid_lengths
from reports.crosscheck.formulation_inputs import relaxed_optimum, whole_optimum

SMALL = 4
"""Enumeration up to this many devices."""
GRID_POINTS = 30
_ROWS = 4096
_GOODPUT_STEPS = 100
_PRICE_STEP = 1e-3
Inputs = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """What the closed form says, and what others reach.

    Attributes
    ----------
    objective : float
        In the formulation's unit.
    minimiser : array or None
        Value of the decision that the check compares; None where none is unique.
    price, price_difference : float or None
        dG*/dB in closed form, and by a central difference of the closed form's optimum [tokens/s per Hz].
    at_bounds : bool
        Whether every length is at a limit.
    algorithm, brute_force : float or None
        What the paper's algorithm reaches, and the best of all whole decisions, in the formulation's unit.
    """

    objective: float
    minimiser: FloatArray | None = None
    price: float | None = None
    price_difference: float | None = None
    at_bounds: bool = False
    algorithm: float | None = None
    brute_force: float | None = None


def chunks(choices: range, devices: int) -> Iterator[FloatArray]:
    """All vectors of choices, shape (n, K), a few thousand at a time."""
    every = itertools.product(choices, repeat=devices)
    while rows := list(itertools.islice(every, _ROWS)):
        yield np.array(rows, dtype=float)


def enumerated(scenario: Scenario) -> float | None:
    """Best goodput of all whole lengths with the split that suits them; None for too many devices."""
    if scenario.device_count > SMALL:
        return None
    low, high = scenario.length_limits("heterogeneous")
    return max(
        float(np.max(exact_goodput(scenario, rows))) for rows in chunks(range(low, high + 1), scenario.device_count)
    )


def wider(scenario: Scenario, factor: float) -> Scenario:
    """Another uplink band at the same transmit powers."""
    return scenario.with_bandwidth(uplink_hz=scenario.uplink_bandwidth_hz * factor)


def minmax(scenario: Scenario, given: Inputs) -> Reference:
    """[MS] Lemma 1."""
    del given
    theta, share = per_token_optimum(scenario)
    return Reference(objective=theta, minimiser=share)


def common_length(scenario: Scenario, given: Inputs) -> Reference:
    """[MS] Theorem 1."""
    theta = given["per_token_s"]
    _, real = best_common_length(scenario, theta, scenario.length_limits("homogeneous"))
    return Reference(objective=float(_common(scenario, theta, real)))


def _common(scenario: Scenario, theta: float, length: FloatArray | float) -> FloatArray:
    each = np.asarray(length)[..., None] * np.ones(scenario.device_count)
    return round_at(scenario, each, theta * np.asarray(length)).goodput


def homogeneous(scenario: Scenario, given: Inputs) -> Reference:
    """[MS] Theorem 1 with Lemma 1, and every whole common length."""
    del given
    best = solve_homogeneous(scenario)
    low, high = scenario.length_limits("homogeneous")
    whole = exact_goodput(scenario, np.arange(low, high + 1.0)[:, None] * np.ones(scenario.device_count))
    band = scenario.uplink_bandwidth_hz
    ends = [solve_homogeneous(wider(scenario, 1.0 + s)).relaxed_goodput for s in (-_PRICE_STEP, _PRICE_STEP)]
    return Reference(
        objective=best.relaxed_goodput,
        minimiser=np.full(scenario.device_count, best.relaxed_length),
        price=best.price_of_bandwidth,
        price_difference=(ends[1] - ends[0]) / (2.0 * _PRICE_STEP * band),
        at_bounds=best.relaxed_length in (low, high),
        brute_force=float(np.max(whole)),
    )


def split_for_lengths(scenario: Scenario, given: Inputs) -> Reference:
    """[MS] Lemmas 2 and 3."""
    deadline, share = length_split(scenario, np.asarray(given["draft_length"], dtype=float))
    return Reference(objective=float(deadline), minimiser=share)


def at_deadline(scenario: Scenario, given: Inputs) -> Reference:
    """[MS] Proposition 1, its multiplier by the root of the budget; with c1 > 0 at the fixed point of the goodput."""
    deadline, response = given["deadline_s"], Response(scenario)
    length, goodput, token_s = response.low, 0.0, scenario.verify_per_token_s
    for _ in range(_GOODPUT_STEPS):
        cost = float(np.log(goodput * token_s)) if goodput * token_s > 0.0 else -np.inf
        length = _within_band(response, scenario.uplink_bandwidth_hz, deadline, cost)
        before, goodput = goodput, float(round_at(scenario, length, deadline).goodput)
        if token_s == 0.0 or abs(goodput - before) <= 1e-13 * goodput:
            break
    return Reference(objective=goodput, minimiser=length)


def _within_band(response: Response, band: float, deadline: float, cost: float) -> FloatArray:
    def excess(price: float) -> float:
        share, _, _ = response.bandwidth(response.lengths(deadline, price, cost) / deadline)
        total = float(np.sum(share))
        return float(np.log(total / band)) if total > 0.0 else -np.inf

    if excess(-np.inf) <= 0.0:
        return response.lengths(deadline, -np.inf, cost)
    low, high = -20.0, 20.0
    while excess(low) <= 0.0 and low > -700.0:
        low -= 20.0
    while excess(high) > 0.0 and high < 700.0:
        high += 20.0
    if excess(low) <= 0.0:
        return response.lengths(deadline, low, cost)
    price = brentq(excess, low, high, xtol=1e-14, rtol=1e-15) if excess(high) <= 0.0 else high
    return response.lengths(deadline, float(price), cost)


def relaxed(scenario: Scenario, given: Inputs) -> Reference:
    """The decomposition's relaxed optimum, [MS] Algorithm 1, and every whole control of a few devices."""
    del given
    best, band = relaxed_optimum(scenario), scenario.uplink_bandwidth_hz
    ends = [solve_relaxed(wider(scenario, 1.0 + step)).goodput for step in (-_PRICE_STEP, _PRICE_STEP)]
    low, high = scenario.length_limits("heterogeneous")
    return Reference(
        objective=best.goodput,
        minimiser=best.draft_length,
        price=best.price_of_bandwidth,
        price_difference=(ends[1] - ends[0]) / (2.0 * _PRICE_STEP * band),
        at_bounds=bool(np.all((best.draft_length == low) | (best.draft_length == high))),
        algorithm=_grid(scenario),
        brute_force=enumerated(scenario),
    )


def _grid(scenario: Scenario) -> float:
    """[MS] Algorithm 1 on a coarse grid; its lengths are whole, so every bound is above."""
    lengths = grid_lengths(scenario, phi_points=GRID_POINTS, lambda_points=GRID_POINTS)
    return float(exact_goodput(scenario, lengths.astype(float)))


def interpolated(scenario: Scenario, given: Inputs) -> Reference:
    """The same with every E_k piecewise linear between whole lengths."""
    del given
    best = solve_relaxed(scenario.replace(acceptance=scenario.acceptance.interpolated()))
    return Reference(objective=best.goodput, brute_force=enumerated(scenario))


def whole(scenario: Scenario, given: Inputs) -> Reference:
    """The decomposition's whole control at its own deadline, and enumeration."""
    del given
    best = whole_optimum(scenario)
    return Reference(
        objective=float(exact_goodput(scenario, best.draft_length.astype(float))),
        algorithm=_grid(scenario),
        brute_force=enumerated(scenario),
    )
