"""A generic nonlinear solver from a point of a variant: real lengths, shares and the deadline, as they are."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from msopt import MaxMin, Scenario
from msopt.arrays import FloatArray
from msopt.variants.variant import Variant

_LEAST_SHARE = 1e-7
_BROKEN = 1e-8
"""By how much a point may break a limit, as a part of it, and count: far less than the programs are trusted to."""


def best_nearby(
    scenario: Scenario, variant: Variant, draft_length: FloatArray, bandwidth_hz: FloatArray, deadline_s: float
) -> float | None:
    """The best utility that SLSQP reaches from real lengths, shares and a deadline, with the limits of a program.

    None where neither it nor the start keeps them.
    """
    problem = _Nonlinear(scenario, variant)
    start = problem.start(draft_length, bandwidth_hz, deadline_s)
    with np.errstate(all="ignore"):
        found = minimize(  # type: ignore[call-overload]
            problem.loss,
            start,
            method="SLSQP",
            bounds=problem.bounds,
            constraints={"type": "ineq", "fun": problem.room},
            options={"ftol": 1e-13, "maxiter": 300},
        )
        values = [problem.value(x) for x in (found.x, start) if float(np.min(problem.room(x))) > -_BROKEN]
    return max((value for value in values if np.isfinite(value)), default=None)


class _Nonlinear:
    """The problem in lengths, shares of the band and the logarithm of the deadline; and the least, for a least."""

    def __init__(self, scenario: Scenario, variant: Variant) -> None:
        self.scenario = scenario
        self.variant = variant
        laws = scenario.acceptance
        self.laws = laws if laws.geometric else laws.interpolated()
        self.count = scenario.device_count
        self.least = isinstance(variant.utility, MaxMin)
        self.limits = [limit for limit in variant.limits if limit.in_program == "exact"]
        low, high = scenario.length_limits("heterogeneous")
        self.bounds: list[tuple[float, float]] = (
            [(low, high)] * self.count + [(_LEAST_SHARE, 1.0)] * self.count + [(-20.0, 20.0)]
        )
        self.bounds += [(-1e9, 1e9)] if self.least else []

    def start(self, length: FloatArray, bandwidth_hz: FloatArray, deadline_s: float) -> FloatArray:
        """The point of some lengths and shares, with their deadline or, where that is too short, the shortest."""
        share = np.maximum(bandwidth_hz / self.scenario.uplink_bandwidth_hz, _LEAST_SHARE)
        share = share / max(1.0, float(np.sum(share)))
        ends = self._ends(length, share)
        x = np.concatenate([length, share, [np.log(max(float(np.max(ends)), deadline_s, 1e-8))]])
        return np.concatenate([x, [self.value(x)]]) if self.least else x

    def _ends(self, length: FloatArray, share: FloatArray) -> FloatArray:
        cell = self.scenario
        rate = cell.uplink.rate(cell.uplink_bandwidth_hz * share)
        return np.asarray(length * (cell.draft_s_per_token + cell.token_payload_bits("heterogeneous") / rate))

    def at(self, x: FloatArray) -> Any:
        """The names that limits are written with."""
        K, cell = self.count, self.scenario
        deadline = float(np.exp(x[2 * K]))
        round_s = deadline + float(cell.verify_s(x[:K]))
        return SimpleNamespace(
            scenario=cell,
            draft_length=x[:K],
            draft_s=x[:K] * cell.draft_s_per_token,
            bandwidth_hz=x[K : 2 * K] * cell.uplink_bandwidth_hz,
            deadline_s=deadline,
            round_s=round_s,
            device_goodput=self.laws.expected_tokens(x[:K]) / round_s,
        )

    def value(self, x: FloatArray) -> float:
        """The utility."""
        return float(self.variant.utility.value(self.at(x).device_goodput, np.asarray(1.0)))

    def loss(self, x: FloatArray) -> float:
        """What is minimised."""
        return -float(x[-1]) if self.least else -self.value(x)

    def room(self, x: FloatArray) -> FloatArray:
        """What must not be negative, each as a part of what it is of."""
        at, K = self.at(x), self.count
        parts = [1.0 - self._ends(x[:K], x[K : 2 * K]) / at.deadline_s, np.array([1.0 - np.sum(x[K : 2 * K])])]
        for limit in self.limits:
            left, right = (np.atleast_1d(np.asarray(side(at), dtype=float)) for side in (limit.left, limit.right))
            slack = left - right if limit.sense == ">=" else right - left
            parts.append(np.broadcast_to(slack / np.maximum(np.abs(right), 1e-9), slack.shape))
        if self.least:
            weighted = self.variant.utility.of_device(at.device_goodput)
            parts.append((weighted[np.isfinite(weighted)] - x[-1]) / max(abs(float(x[-1])), 1e-9))
        return np.concatenate(parts)
