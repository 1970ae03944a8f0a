"""An independent optimum of problem `heterogeneous` for one to three devices: scalar searches over deadline and shares.

With a deadline D and a split of the band, a device drafts as many tokens as it can send, D/(tau + q/R(B)), but
not more than allowed. What remains is the best split, one share after the other, and the best deadline. No
price of bandwidth, no closed form and no solver. Valid while every token is worth its verification.
"""

import numpy as np
from scipy.optimize import minimize_scalar

from msopt.model.goodput import play
from msopt.model.scenario import Scenario

GOLDEN = {"xatol": 1e-13, "maxiter": 500}
HOPELESS = -1e9


def goodput_at(scenario: Scenario, deadline_s: float, shares: list[float]) -> float:
    """Goodput of the longest lengths that fit; the last device takes the rest of the band."""
    share = np.array([*shares, 1.0 - sum(shares)])
    least, greatest = scenario.length_limits("heterogeneous")
    rate = scenario.uplink.rate(scenario.uplink_bandwidth_hz * share)
    airtime = scenario.token_payload_bits("heterogeneous") / np.maximum(rate, 1e-300)
    fits = deadline_s / (scenario.draft_s_per_token + airtime)
    short = np.sum(np.maximum(least - fits, 0.0))
    if short > 0.0:
        return HOPELESS * (1.0 + short)
    return float(
        play(scenario, "heterogeneous", np.minimum(fits, greatest), scenario.uplink_bandwidth_hz * share).goodput
    )


def _best_split(scenario: Scenario, deadline_s: float, shares: list[float], left: int) -> float:
    if left == 0:
        return goodput_at(scenario, deadline_s, shares)
    room = 1.0 - sum(shares)
    found = minimize_scalar(
        lambda part: -_best_split(scenario, deadline_s, [*shares, part * room], left - 1),
        bounds=(0.0, 1.0),
        method="bounded",
        options=GOLDEN if left == 1 else GOLDEN | {"xatol": 1e-9},
    )
    return -float(found.fun)


def relaxed_optimum(scenario: Scenario, around_s: float) -> float:
    """Best goodput over deadlines within a factor of ten of a given one [tokens/s]: a grid, then its best interval."""
    others = scenario.device_count - 1

    def loss(t: float) -> float:
        return -_best_split(scenario, around_s * float(np.exp(t)), [], others)

    grid = np.linspace(-2.3, 2.3, 24 if others == 2 else 80)
    best = int(np.argmin([loss(t) for t in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9, "maxiter": 500})
    return max(-float(found.fun), -loss(grid[best]))
