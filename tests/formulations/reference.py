"""An independent optimum of problem `heterogeneous` for one to three devices: scalar searches over deadline and shares.

With a deadline D and a split of the band, a device drafts as many tokens as it can send, D/(tau + q/R(B)), but
not more than allowed. What remains is the best split, one share after the other, and the best deadline. No
price of bandwidth, no closed form and no solver. Valid while every token is worth its verification.

`best_by_slsqp` takes any utility and further limits, on lengths, shares and deadline as they are.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from msopt.arrays import FloatArray
from msopt.model.goodput import play
from msopt.model.scenario import Scenario

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


def _best_split(scenario: Scenario, deadline_s: float, shares: list[float], left: int, within: float) -> float:
    if left == 0:
        return goodput_at(scenario, deadline_s, shares)
    room = 1.0 - sum(shares)
    found = minimize_scalar(
        lambda part: -_best_split(scenario, deadline_s, [*shares, part * room], left - 1, within),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": within if left == 1 else max(within, 1e-9), "maxiter": 500},
    )
    return -float(found.fun)


def relaxed_optimum(scenario: Scenario, around_s: float) -> float:
    """Best goodput over deadlines within a factor of ten of a given one [token/s]: a grid, then its best interval.

    The best goodput rises with the deadline and then falls, so that a coarse grid finds the interval.
    """

    def loss(t: float, within: float = 1e-13) -> float:
        return -_best_split(scenario, around_s * float(np.exp(t)), [], scenario.device_count - 1, within)

    grid = np.linspace(-2.3, 2.3, 24)
    best = int(np.argmin([loss(t, 1e-4) for t in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9, "maxiter": 500})
    return max(-float(found.fun), -loss(grid[best]))


def best_by_slsqp(
    scenario: Scenario,
    utility: Callable[[FloatArray], float] = np.sum,
    within: Callable[[FloatArray, float, float], FloatArray] = lambda lengths, deadline_s, round_s: np.zeros(0),
) -> tuple[float, FloatArray]:
    """Best utility of the goodputs and its lengths, with shares of the band and deadline free, by SLSQP.

    `within` gives what must not be negative, of lengths [token], deadline and round time [s].
    """
    K, (least, greatest) = scenario.device_count, scenario.length_limits("heterogeneous")
    bits, tau = scenario.token_payload_bits("heterogeneous"), scenario.draft_s_per_token

    def parts(x: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
        deadline = float(np.exp(x[-1]))
        return x[:K], x[K:-1], deadline, deadline + float(scenario.verify_s(x[:K]))

    def loss(x: FloatArray) -> float:
        lengths, _, _, round_s = parts(x)
        return -float(utility(scenario.acceptance.expected_tokens(lengths) / round_s))

    def room(x: FloatArray) -> FloatArray:
        lengths, share, deadline, round_s = parts(x)
        ends = lengths * (tau + bits / scenario.uplink.rate(scenario.uplink_bandwidth_hz * share))
        return np.concatenate([1.0 - ends / deadline, [1.0 - np.sum(share)], within(lengths, deadline, round_s)])

    start = np.full(2 * K + 1, 1.0 / K)
    start[:K] = least
    start[-1] = np.log(2.0 * np.max(least * (tau + bits / scenario.uplink.rate(np.full(K, scenario.equal_share_hz)))))
    found = minimize(
        loss,
        start,
        method="SLSQP",
        bounds=[(least, greatest)] * K + [(1e-6, 1.0)] * K + [(-12.0, 6.0)],
        constraints={"type": "ineq", "fun": room},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert np.min(room(found.x)) > -1e-9, found.message
    return -float(found.fun), found.x[:K]
