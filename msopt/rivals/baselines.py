"""The papers' baselines (design section 6); every control they give is scored by the one evaluator."""

import numpy as np

from msopt.arrays import IntArray, every_length
from msopt.errors import ParameterError
from msopt.lengths.homogeneous import best_common_goodput
from msopt.lengths.separable import equal_share_lengths
from msopt.model.goodput import finish_s, round_at
from msopt.model.problems import KINDS
from msopt.model.scenario import Problem, Scenario
from msopt.modes.correction import alone_s
from msopt.modes.mode_problem import ModeProblem

FIXED_LENGTH = 8


def fixed_lengths(scenario: Scenario, length: int | None = None) -> IntArray:
    """[MS] Fixed BW&L: the same length for all, 8 within the limits by default, over equal shares.

    ParameterError for a length outside the scenario's limits.
    """
    low, high = scenario.length_limits("heterogeneous")
    if length is None:
        length = min(max(FIXED_LENGTH, low), high)
    if not low <= length <= high:
        raise ParameterError(f"length = {length} is outside the scenario's limits, {low} to {high}")
    return np.full(scenario.device_count, length, dtype=np.int64)


def equal_bandwidth_lengths(scenario: Scenario) -> IntArray:
    """[MS] Uni-BW: equal shares, and the whole lengths that are best with them (exact)."""
    return equal_share_lengths(scenario, "heterogeneous")


def computation_only_lengths(scenario: Scenario) -> IntArray:
    """[UD]: the lengths that would be best if corrections took no time (exact)."""
    return equal_share_lengths(scenario, "modes")


def uniform_lengths(problem: ModeProblem) -> IntArray:
    """[UD]: the best common length, all of them tried."""
    every = every_length(problem.limits, problem.scenario.device_count)
    return np.asarray(every[np.argmax(problem.goodput(every))], dtype=np.int64)


def point_to_point_goodput(scenario: Scenario, problem: Problem) -> float:
    """[MS] P2P: each device alone with the whole band at its best length; the mean over devices [token/s]."""
    lengths = every_length(scenario.length_limits(problem), scenario.device_count)
    verify = scenario.verify_base_s + scenario.verify_per_device_s + scenario.verify_per_token_s * (lengths + 1.0)
    seconds = finish_s(scenario, problem, lengths, scenario.uplink_bandwidth_hz) + verify
    if KINDS[problem].corrects:
        seconds = seconds + (1.0 - scenario.acceptance.survival(lengths)) * alone_s(scenario)
    return float(np.mean(np.max(scenario.acceptance.expected_tokens(lengths) / seconds, axis=0)))


def centralised_goodput(scenario: Scenario, problem: Problem, *, serial: bool = False) -> float:
    """[MS] Cen-SPIN: drafting and verification at the server, one best length for the batch, no radio [token/s].

    The paper does not say how the server drafts: a token for all devices in one batched step, or (`serial`) for one
    device after another, K steps for a token of all. ParameterError where the scenario has no
    `server.draft_s_per_token`.
    """
    step = scenario.server_draft_s_per_token
    if step is None:
        name = "centralised-serial" if serial else "centralised"
        raise ParameterError(f"method {name} needs server.draft_s_per_token in the scenario")
    step *= scenario.device_count if serial else 1
    return best_common_goodput(scenario, step, scenario.length_limits(problem))


def server_only_goodput(scenario: Scenario) -> float:
    """No drafting: one token for each device from every verification step [token/s]."""
    return float(round_at(scenario, np.zeros(scenario.device_count), 0.0).goodput)
