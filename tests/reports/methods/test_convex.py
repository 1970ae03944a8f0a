"""Method `convex`: the decomposition's control by the conic program; what goes wrong is one line with its exit code."""

import importlib.util

import pytest

from msopt import Scenario, solve
from msopt.model.acceptance import Acceptance
from reports.crosscheck.random_scenarios import random_scenario
from reports.methods import CONVEX
from tests.cases import s1, s2, scenario_of
from tests.reports.command import Command, assert_one_line

RELAXED_RTOL = 1e-6
PRICE_RTOL = 1e-3


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL", "SCS"])
@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
def test_the_base_cell(msopt: Command, problem: str, solver: str) -> None:
    path = msopt.scenario(s2())
    found = msopt.solved(path, problem, "--method", CONVEX, "--solver", solver.lower())
    expected = msopt.solved(path, problem)
    assert (found["method"], found["solver"]) == (CONVEX, solver)
    assert found["devices"] == expected["devices"]
    for key in ("goodput_tokens_per_s", "per_token_s", "round_s", "warnings"):
        assert found[key] == expected[key]
    for key, rtol in (("relaxed_goodput_tokens_per_s", RELAXED_RTOL), ("bound_tokens_per_s", 3 * RELAXED_RTOL)):
        assert found[key] == pytest.approx(expected[key], rel=rtol)
    price = "price_of_bandwidth_tokens_per_s_per_hz"
    assert found[price] == pytest.approx(expected[price], rel=PRICE_RTOL)


@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_random_family(problem: str, sharing: str) -> None:
    for seed in range(3):
        scenario = random_scenario(seed, devices=(1, 6), uplink_sharing=sharing)  # type: ignore[arg-type]
        found = solve(scenario, problem, CONVEX, solver="CLARABEL")  # type: ignore[arg-type]
        expected = solve(scenario, problem)  # type: ignore[arg-type]
        assert found.control.draft_length.tolist() == expected.control.draft_length.tolist()
        assert found.goodput == expected.goodput
        assert found.bound is not None
        assert found.bound >= (expected.relaxed_goodput or 0.0) if problem == "homogeneous" else found.goodput


CURVES = [[0.8, 0.5, 0.41, 0.1], [0.6, 0.5]]


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("problem", ["homogeneous", "heterogeneous"])
def test_curves(problem: str, sharing: str) -> None:
    cell = scenario_of(s2()).replace(acceptance=Acceptance.of([0.8, 0.6], None, CURVES), uplink_sharing=sharing)
    found, expected = solve(cell, problem, CONVEX), solve(cell, problem)  # type: ignore[arg-type]
    assert found.goodput == expected.goodput
    assert found.relaxed_goodput == pytest.approx(expected.relaxed_goodput, rel=RELAXED_RTOL)


def test_the_table_names_the_solver(msopt: Command) -> None:
    text = msopt.done("solve", msopt.scenario(s1()), "--method", CONVEX).out
    assert "method convex, solver ECOS" in text
    assert CONVEX in msopt.done("solve", "--help").out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--solver ECOS", ["solver", CONVEX, "decomposition"]),
        ("--method convex --solver HIGHS", ['"HIGHS"', "ECOS or CLARABEL or SCS"]),
        ("--method convex --solver ecos_bb", ["ECOS_BB is refused"]),
        ("--method convex --problem modes", [CONVEX, "modes", "decomposition, exact, greedy"]),
        ("--method convex --problem all", [CONVEX, "modes", "decomposition, exact, server-only"]),
        ("--method convex --length 4", ["length", "fixed", CONVEX]),
        ("--method greedy", ["heterogeneous", "centralised-serial, convex"]),
    ],
)
def test_what_does_not_go_together(msopt: Command, line: str, words: list[str]) -> None:
    assert_one_line(msopt("solve", msopt.scenario(s2()), *line.split()), 2, words)


def test_mixed_laws_are_refused(msopt: Command) -> None:
    path = msopt.folder / "mixed.toml"
    scenario_of(s2()).replace(acceptance=Acceptance.of([0.8, 0.6], [0.0, 0.2])).write(path)
    for problem in ("homogeneous", "heterogeneous"):
        assert_one_line(msopt("solve", path, "--method", CONVEX, "--problem", problem), 2, ["geometric", "curves"])


def test_a_failed_solve_is_exit_3(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from formulations.core import solvers

    monkeypatch.setitem(solvers.DEFAULT_ITERATIONS, "CLARABEL", 2)
    outcome = msopt("solve", msopt.scenario(s2()), "--method", CONVEX, "--solver", "CLARABEL")
    assert_one_line(outcome, 3, ["draft-control", "status user_limit", "without an optimum", "try ECOS or SCS"])


@pytest.mark.parametrize("arguments", [("solve", "qwen-coder", "--method", CONVEX), ("crosscheck",)])
def test_cvxpy_may_be_missing(msopt: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "cvxpy" else find(name, *rest))
    assert_one_line(msopt(*arguments), 2, ["needs CVXPY", "pip install"])


def test_the_scenario_may_be_one_point() -> None:
    cell: Scenario = scenario_of(s1()).replace(min_draft_length=4, max_draft_length=4)
    for problem in ("homogeneous", "heterogeneous"):
        assert solve(cell, problem, CONVEX).goodput == solve(cell, problem).goodput  # type: ignore[arg-type]
