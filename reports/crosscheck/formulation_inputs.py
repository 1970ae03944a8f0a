"""What a formulation is given beside the scenario: a function of the scenario alone, so that a saved one replays."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import msopt
from msopt import Scenario
from msopt.arrays import FloatArray
from msopt.lengths.heterogeneous import solve_heterogeneous
from msopt.lengths.homogeneous import per_token_optimum
from msopt.lengths.relaxed import length_split, solve_relaxed

_LENGTH_ROUND_OFF = 1.0 + 1e-11
T = TypeVar("T")


def once(function: Callable[[Scenario], T]) -> Callable[[Scenario], T]:
    """The function, remembering its answer for the last scenario: inputs and reference ask for the same optimum."""
    last: list[Any] = [None, None]

    def remembered(scenario: Scenario) -> T:
        if last[0] is not scenario:
            last[:] = scenario, function(scenario)
        answer: T = last[1]
        return answer

    return remembered


relaxed_optimum = once(solve_relaxed)
whole_optimum = once(solve_heterogeneous)
modes_solution = once(lambda scenario: msopt.solve(scenario, "modes"))


def best_per_token(scenario: Scenario) -> float:
    """The theta of Lemma 1 [s]."""
    return per_token_optimum(scenario)[0]


def some_lengths(scenario: Scenario) -> FloatArray:
    """Unlike lengths from the least to the greatest; the first device drafts."""
    low, high = scenario.length_limits("heterogeneous")
    spread = np.mod(7 * np.arange(scenario.device_count) + 3, high - low + 1)
    return np.asarray(np.maximum(low + spread, np.arange(scenario.device_count) == 0), dtype=float)


def some_deadline(scenario: Scenario) -> float:
    """Half as much again, beyond the shortest drafts, as the best deadline leaves [s]."""
    low, high = (np.full(scenario.device_count, float(x)) for x in scenario.length_limits("heterogeneous"))
    shortest, longest = (float(length_split(scenario, lengths)[0]) for lengths in (low, high))
    best = relaxed_optimum(scenario)
    spare = max(best.deadline_s - shortest, 1e-2 * (longest - shortest), 1e-3 * longest)
    return shortest + 1.5 * spare


def whole_deadline(scenario: Scenario) -> float:
    """When the decomposition's whole control is done [s]."""
    lengths = whole_optimum(scenario).draft_length.astype(float)
    deadline = float(length_split(scenario, lengths)[0]) * _LENGTH_ROUND_OFF
    return deadline if deadline > 0.0 else 1e-9 * scenario.verify_idle_s


def mode_deadline(scenario: Scenario) -> float:
    """When the drafts of the best lengths for problem `modes` are there [s]."""
    evaluation = modes_solution(scenario).evaluation
    deadline = 0.0 if evaluation is None else float(evaluation.round.draft_upload_s)
    return deadline if deadline > 0.0 else 1e-9 * scenario.verify_idle_s


def some_modes(scenario: Scenario, most: int) -> list[bool]:
    """Modes of the first devices: the stronger half by uplink is on the uplink."""
    snr = scenario.uplink_snr_db[:most]
    return [bool(up) for up in snr >= np.median(snr)]


def some_shares(scenario: Scenario) -> FloatArray:
    """Equal shares for an even number of devices, unlike ones for an odd number."""
    count = scenario.device_count
    weights = np.ones(count) if count % 2 == 0 else 1.0 + 3.0 * np.mod(0.618 * np.arange(count), 1.0)
    return np.asarray(weights / np.sum(weights) * (1.0 - 1e-12))
