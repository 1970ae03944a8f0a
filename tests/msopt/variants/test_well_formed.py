"""What is no utility or limit, or answers no numbers, is one clear line from Python, too."""

from typing import Any

import numpy as np
import pytest

from msopt import Control, ControlLimit, ParameterError, ProportionalFair, Scenario, Slots, Utility, evaluate, solve
from msopt.arrays import FloatArray
from tests.cases import s3, scenario_of


class Fine(ControlLimit):
    name, unit = "fine", "s"

    def left(self, at: Any) -> Any:
        return at.draft_s

    def right(self, at: Any) -> Any:
        return 1.0

    def on_table(self, rules: Any) -> None:
        del rules


class FineUtility(Utility):
    name, unit = "fine", "1"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        return np.sqrt(goodput)


def limit(**changed: Any) -> Any:
    return type("Changed", (Fine,), changed)()


def utility(**changed: Any) -> Any:
    return type("Changed", (FineUtility,), changed)()


def told(method: str, *given: Any) -> Any:
    """A limit that tells the table so."""
    return limit(on_table=lambda self, rules: getattr(rules, method)(*given))


@pytest.fixture(scope="module")
def cell() -> Scenario:
    return scenario_of(s3())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([limit(name=None)], "limit Changed: name = None is not a text"),
        ([type("Nameless", (ControlLimit,), {"unit": "s"})()], "limit Nameless: name = None is not a text"),
        ([limit(unit=5)], "limit fine: unit = 5 is not a text"),
        ([limit(sense="<")], 'limit fine: sense = "<" is not <= or >='),
        ([limit(conic="maybe")], 'conic = "maybe" is not exact or relaxed or none'),
        ([limit(right=ControlLimit.right)], "has a left side alone"),
        ([limit(left=ControlLimit.left, right=ControlLimit.right, on_table=ControlLimit.on_table)], "has neither two"),
        ([Slots], "is no limit but a class"),
        (["slots"], '"slots" is no limit'),
        (Slots(2), "is not a list of limits"),
        (3, "limits = 3 is not a list of limits"),
        ([limit(left=lambda self, at: np.ones(7))], r"left is \[1.0, .* no number or one for each device"),
        ([limit(right=lambda self, at: np.nan)], "right is nan, no number"),
        ([limit(left=lambda self, at: "many")], 'left = "many" is not a list of numbers'),
        ([told("forbid", np.ones((2, 9)))], r"tells the table has shape \(2, 9\)"),
        ([told("forbid", "all")], 'tells the table = "all" is not a list of numbers'),
        ([told("at_most", "x", 1.0, None)], "not finite into the table"),
        ([told("not_before", np.inf)], "not finite into the table"),
        ([told("bandwidth", lambda hz: 0.5 * hz)], "below what the bits need"),
        ([told("bandwidth", lambda hz: np.nan * hz)], "below what the bits need, no number"),
        ([told("bandwidth", lambda hz: 9e9)], "or of another shape"),
    ],
)
def test_limits(cell: Scenario, given: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        solve(cell, limits=given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (utility(name=None), "utility Changed: name = None is not a text"),
        (utility(whole=2), "whole = 2 is not True or False"),
        (utility(of_device=Utility.of_device), "has neither numbers nor an expression"),
        (ProportionalFair, "is no utility but a class"),
        (lambda goodput: goodput, "is no utility$"),
        (utility(of_device=lambda self, goodput: np.sum(goodput)), r"an array of shape \(\), not \(3,\)"),
        (utility(of_device=lambda self, goodput: goodput * np.nan), "of_device answers NaN"),
        (utility(of_device=lambda self, goodput: goodput + np.inf), "of_device answers infinity"),
        (utility(of_device=lambda self, goodput: "much"), 'of_device = "much" is not a list of numbers'),
        (utility(of_device=lambda self, goodput: -goodput), "falls where goodput grows, from -4 to -8"),
        (utility(value=lambda self, tokens, round_s: tokens), r"value answers an array of shape \(3,\), not \(\)"),
    ],
)
def test_utilities(cell: Scenario, given: Any, words: str) -> None:
    control = Control(problem="heterogeneous", draft_length=[1, 1, 1], bandwidth_hz=[1e6, 1e6, 1e6])
    with pytest.raises(ParameterError, match=words):
        evaluate(cell, control, utility=given)


def test_what_is_right_is_taken(cell: Scenario) -> None:
    found = solve(cell, utility=FineUtility(), limits=[Fine()])
    assert found.evaluation.utility_value == pytest.approx(np.sum(np.sqrt(found.evaluation.round.device_goodput)))
