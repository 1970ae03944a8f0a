"""A user's own method: its control scored by the evaluator, whatever it says itself; errors in one line."""

from dataclasses import replace

import pytest

import msopt
from msopt import InfeasibleError, ParameterError, Scenario
from reports.user_method import user_solution
from tests.reports import own_methods

HERE = "tests.reports.own_methods"


@pytest.fixture(scope="module")
def cell() -> Scenario:
    return msopt.draw("multispin-llama2", devices=4)[0]


def test_a_control_is_scored_by_the_evaluator(cell: Scenario) -> None:
    found = user_solution(f"{HERE}:three", cell, "heterogeneous")
    assert found is not None
    assert found.goodput == msopt.evaluate(cell, own_methods.three(cell)).goodput
    assert found.method == f"{HERE}:three"


def test_what_a_solution_says_of_itself_is_not_believed(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = msopt.solve(cell, "modes")
    monkeypatch.setattr(own_methods, "ours", lambda scenario: replace(honest, goodput=1e9))
    found = user_solution(f"{HERE}:ours", cell, "modes")
    assert found is not None
    assert found.goodput == honest.goodput


def test_it_joins_its_problem_alone(cell: Scenario) -> None:
    assert user_solution(f"{HERE}:three", cell, "modes") is None
    assert user_solution(f"{HERE}:nothing", cell, "heterogeneous") is None


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        ("number", ParameterError, "returns a int, not a Control"),
        ("without_control", ParameterError, "returns a Solution without a control"),
        ("fails", ParameterError, "fails on multispin-llama2 K=4 seed=0: AttributeError"),
        ("too_wide", InfeasibleError, "the uplink bandwidth budget is broken by 100000 Hz"),
        ("missing", ParameterError, '"missing" is not a function of module tests.reports.own_methods'),
    ],
)
def test_errors(cell: Scenario, function: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        user_solution(f"{HERE}:{function}", cell, "heterogeneous")
    assert words in str(caught.value)
    assert "--method" in str(caught.value)
