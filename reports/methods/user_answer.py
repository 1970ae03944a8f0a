"""What a user's function takes and returns: the one protocol of `--method` and `--formula`.

It takes a Scenario and returns one of

- a Control of any problem, or a Solution that holds one;
- K whole draft lengths (an integer dtype) for problem `heterogeneous`: they get the split that suits them;
- K real draft lengths: those of a relaxed optimum, which are no control;
- one draft length, whole or real: the same for all devices, of problem `homogeneous`;
- None: it does not apply to the scenario.
"""

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np

from msopt import Control, ParameterError, Scenario, Solution
from msopt.arrays import FloatArray
from msopt.lengths.homogeneous import per_token_optimum
from msopt.lengths.relaxed import length_split
from reports.shared.user_function import users_code


def answer_of(who: str, function: Callable[[Scenario], Any], scenario: Scenario) -> Any:
    """What a user's function answers, as it is; ParameterError where it fails."""
    with users_code(who, f"fails on {scenario.name}"):
        answer = function(deepcopy(scenario))  # what it does to its own is nobody else's
        if inspect.iscoroutine(answer):
            answer.close()  # else Python warns, whenever it comes to it, that nothing waited for it
    return answer


def control_or_lengths(answer: Any, scenario: Scenario) -> Control | FloatArray:
    """An answer other than None as a control that is whole and checked, or as real lengths, shape (K,) or () for all.

    Raises
    ------
    ParameterError
        Where it is neither, or what looks like one is none.
    """
    # Of its type and not of what it says of itself: an object may name any class as its own.
    if issubclass(type(answer), Control | Solution):
        return _control(answer)
    lengths = _lengths(answer, scenario)
    if not np.issubdtype(lengths.dtype, np.integer):
        return lengths.astype(float)
    if lengths.ndim == 0:
        _, share = per_token_optimum(scenario)
        common = np.full(scenario.device_count, lengths)
        return Control(problem="homogeneous", draft_length=common, bandwidth_hz=share)
    _, share = length_split(scenario, lengths.astype(float))
    return Control(problem="heterogeneous", draft_length=lengths, bandwidth_hz=share)


def _control(answer: Control | Solution) -> Control:
    """The control made anew."""
    control: Any = answer
    if issubclass(type(answer), Solution):
        with users_code("what it returns", "is no whole Solution"):
            control = answer.control  # type: ignore[union-attr]
    if not issubclass(type(control), Control):
        raise ParameterError("it returns a Solution without a control")
    with users_code("what it returns", "is no whole Control"):
        return Control(**{field.name: getattr(control, field.name) for field in fields(Control)})


def _lengths(answer: Any, scenario: Scenario) -> np.ndarray[Any, np.dtype[Any]]:
    """Whole or real numbers within the limits, one for each device or for all."""
    with users_code("what it returns", "is no array"):
        lengths = np.array(answer)
    real = lengths.dtype.kind in "iuf" and not np.ma.is_masked(answer)
    if lengths.shape not in ((), (scenario.device_count,)) or not real:
        shape = f" of shape {lengths.shape}" if real else ""
        raise ParameterError(
            f"it returns a {type(answer).__name__}{shape}, not a Control, a Solution with one, "
            f"{scenario.device_count} draft lengths or one for all, or None"
        )
    low, high = scenario.length_limits("heterogeneous" if lengths.ndim else "homogeneous")
    outside = lengths[~((lengths >= low) & (lengths <= high))]
    if outside.size:
        raise ParameterError(f"it returns a length outside {low} to {high}: {outside[0]:g}")
    return lengths
