"""Whether a utility or a limit is one at all: what it calls itself, which forms it has, what its sides answer."""

from collections.abc import Iterable
from typing import Any, get_args

import numpy as np

from msopt.arrays import FloatArray, numbers
from msopt.errors import ParameterError, describe
from msopt.model.control_limit import Conic, ControlLimit, Sense
from msopt.model.objective import Utility, utility_value

_ALLOWED: dict[str, tuple[Any, ...]] = {
    "sense": get_args(Sense),
    "conic": get_args(Conic),
    "idle": (True, False),
    "whole": (True, False),
}


def check_utility_class(utility: Any) -> None:
    """Raise ParameterError in one line for what is no utility, or has no form that a number comes from."""
    _check_kind(utility, Utility, "utility")
    who = _named(utility, "utility")
    _check_declared(utility, who, ("whole",))
    if not (utility.tabular or type(utility).value is not Utility.value):
        told = "an expression and no numbers" if utility.conic else "neither numbers nor an expression"
        raise ParameterError(f"{who}: has {told}; it needs of_device, or value where no table is to take it")


def check_growth(utility: Utility, count: int) -> None:
    """Raise ParameterError where twice the goodput of so many devices is worth less: no bound would be one."""
    tokens, second = 1.0 + np.arange(count) / count, np.asarray(1.0)
    less, more = (utility_value(utility, scale * tokens, second) for scale in (1.0, 2.0))
    if more < less:
        raise ParameterError(f"utility {utility.name}: falls where goodput grows, from {less:.9g} to {more:.9g}")


def check_limit_class(limit: Any) -> None:
    """The same of a limit: two sides or none, and these or a table form."""
    _check_kind(limit, ControlLimit, "limit")
    who = _named(limit, "limit")
    _check_declared(limit, who, ("sense", "conic", "idle"))
    sides = [side for side in ("left", "right") if getattr(type(limit), side) is not getattr(ControlLimit, side)]
    if len(sides) == 1:
        raise ParameterError(f"{who}: has a {sides[0]} side alone; it needs both, left and right, or none")
    if not (limit.sided or limit.tabular):
        raise ParameterError(f"{who}: has neither two sides (left, right) nor a table form (on_table)")


def listed(limits: Any) -> tuple[ControlLimit, ...]:
    """Limits as a tuple; ParameterError for what is no list of them."""
    if isinstance(limits, ControlLimit) or not isinstance(limits, Iterable):
        raise ParameterError(f"limits = {describe(limits)} is not a list of limits")
    every = tuple(limits)
    for limit in every:
        check_limit_class(limit)
    return every


def side_of(limit: ControlLimit, side: str, at: Any) -> FloatArray:
    """The left or right side of a limit in a decision [unit]; ParameterError where it is no number, or one a device."""
    answer = numbers(getattr(limit, side)(at), f"limit {limit.name}: {side}")
    if answer.shape not in ((), (at.scenario.device_count,)) or np.any(np.isnan(answer)):
        raise ParameterError(
            f"limit {limit.name}: {side} is {describe(answer.tolist())}, no number or one for each device"
        )
    return answer


def _check_kind(one: Any, kind: type, word: str) -> None:
    # Of its type and not of what it says of itself.
    if issubclass(type(one), kind):
        return
    made = " but a class; call it to make one" if isinstance(one, type) and issubclass(one, kind) else ""
    raise ParameterError(f"{describe(one)} is no {word}{made}")


def _named(one: Any, word: str) -> str:
    name = getattr(one, "name", None)
    return f"{word} {name}" if name and isinstance(name, str) else f"{word} {type(one).__name__}"


def _check_declared(one: Any, who: str, choices: tuple[str, ...]) -> None:
    for key in ("name", "unit"):
        said = getattr(one, key, None)
        if not isinstance(said, str) or not said:
            raise ParameterError(f"{who}: {key} = {describe(said)} is not a text")
    for key in choices:
        said = getattr(one, key, None)
        if not any(said is allowed or (isinstance(said, str) and said == allowed) for allowed in _ALLOWED[key]):
            raise ParameterError(f"{who}: {key} = {describe(said)} is not {' or '.join(map(str, _ALLOWED[key]))}")
