"""What a user should be told about a solution although nothing is wrong with it."""

import numpy as np

from msopt.errors import and_more
from msopt.model.control import Control
from msopt.model.goodput import finish_s
from msopt.model.scenario import Scenario
from msopt.solution import Solution

_HELD_UP_SHARE = 0.9


def cautions(solution: Solution) -> tuple[str, ...]:
    """The scenario's warnings, lengths beyond what was measured, and devices that hold the others up."""
    texts = list(solution.scenario.warnings)
    if solution.control is not None and solution.evaluation is not None:
        texts += _beyond_measured(solution.scenario, solution.control)
        texts += _waited(solution.scenario, solution.control)
        texts += _held_up(solution.scenario, solution.control, float(solution.evaluation.round.round_s))
    return tuple(texts)


def _beyond_measured(scenario: Scenario, control: Control) -> list[str]:
    """The first device whose length was not measured, and how many there are."""
    last = scenario.acceptance.last_measured
    beyond = np.flatnonzero(control.draft_length > last)
    if not beyond.size:
        return []
    k = int(beyond[0])
    return [
        f"{scenario.device_label(k)}: draft length {control.draft_length[k]} lies beyond its acceptance_curve of "
        f"{last[k]} values; the curve was continued with its last ratio" + and_more(beyond.size)
    ]


def _waited(scenario: Scenario, control: Control) -> list[str]:
    """How long the server waits with every draft there, so that a longer round keeps a limit."""
    if not control.not_before_s:
        return []
    last_s = float(np.max(finish_s(scenario, control.problem, control.draft_length, control.bandwidth_hz)))
    return [
        f"verification waits until {control.not_before_s:.4g} s, the last draft is there at {last_s:.4g} s: a shorter "
        "round would break a limit"
    ]


def _held_up(scenario: Scenario, control: Control, round_s: float) -> list[str]:
    """Devices that even alone on the band would need nearly the whole round for their minimum length; the worst."""
    low, _ = scenario.length_limits(control.problem)
    alone_s = finish_s(scenario, control.problem, low, scenario.uplink_bandwidth_hz)
    slow = int(np.sum(alone_s > _HELD_UP_SHARE * round_s)) if scenario.device_count > 1 else 0
    if not slow:
        return []
    k = int(np.argmax(alone_s))
    return [
        f"{scenario.device_label(k)}: its minimum of {low} takes {100.0 * alone_s[k] / round_s:.4g} % of the "
        "round even with the whole band; set min_draft_length = 0 to let it draft nothing" + and_more(slow)
    ]
