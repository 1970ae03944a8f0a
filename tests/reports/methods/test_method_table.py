"""The table of methods: every record is whole, and one record is all that a method needs to be known everywhere."""

import re
from dataclasses import replace
from typing import get_args

import pytest

import msopt
from msopt import METHODS, PROBLEMS, ParameterError, methods
from msopt.method import Colour, Method, Role
from msopt.methods import DECOMPOSITION, EXACT, method_of, methods_of, names_of, optimum_at
from msopt.options import OPTIONS, TYPES
from reports.methods import CONVEX
from reports.page.comparison import compare
from reports.plots.style import label_of, looks
from reports.studies.points import SOLVED, solve_points
from reports.studies.study import parse_study
from tests.cases import s2, scenario_of
from tests.reports.command import Command

EVERY = [method for problem in PROBLEMS for method in methods_of(problem)]


@pytest.mark.parametrize("method", EVERY, ids=lambda method: f"{method.problem}-{method.name}")
def test_every_record_is_whole(method: Method) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", method.name)
    assert method_of(method.problem, method.name) is method
    assert method.role in get_args(Role)
    assert len(method.whose) > 2
    assert 20 < len(method.what) < 120
    assert method.label
    assert method.marker
    assert method.line
    assert method.colour in get_args(Colour)
    assert {"samples", "seed"} <= set(method.options) <= set(OPTIONS)
    assert (method.tried_up_to is not None) == (method.name in (EXACT, "grid", "greedy"))


def test_a_name_looks_alike_wherever_it_stands_and_unlike_its_neighbours() -> None:
    """No figure has the systems, which are no controls of the problem, among the baselines."""
    by_name: dict[str, set[object]] = {}
    for method in EVERY:
        look = (method.label, method.colour, method.marker, method.line)
        by_name.setdefault(method.name, set()).add((method.role, *look))
    assert all(len(found) == 1 for found in by_name.values())
    for problem in PROBLEMS:
        every, systems = methods_of(problem), methods_of(problem, "system")
        assert len({method.label for method in every}) == len(every)
        for together in (systems, methods_of(problem, "algorithm", "baseline", "conic")):
            for seen in ("colour", "marker", "line"):
                assert len({getattr(method, seen) for method in together}) == len(together), (problem, seen)


def test_the_default_comes_first_and_each_problem_has_a_proof() -> None:
    for problem in PROBLEMS:
        assert list(METHODS[problem])[:2] == [DECOMPOSITION, EXACT]
        assert [method.name for method in methods_of(problem, "optimum")] == [DECOMPOSITION, EXACT]
    limits = {"homogeneous": 1000, "heterogeneous": 64, "modes": 20}
    for problem, most in limits.items():
        assert optimum_at(problem, most) == EXACT  # type: ignore[arg-type]
        assert optimum_at(problem, most + 1) == DECOMPOSITION  # type: ignore[arg-type]
    assert optimum_at("modes", 5, 4) == DECOMPOSITION
    assert optimum_at("modes", 5, 5) == EXACT


def test_every_option_has_an_owner_a_type_and_words(msopt: Command) -> None:
    text = " ".join(msopt.done("solve", "--help").out.split())
    for name, option in OPTIONS.items():
        assert set(option.methods) <= {method.name for method in EVERY if option.problem in (None, method.problem)}
        assert option.least <= option.most
        assert TYPES[name] is not None
        assert f"--{name.replace('_', '-')} " in text
        assert option.help.split()[0] in text


def test_one_record_makes_a_method_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {problem: dict(methods._KNOWN[problem]) for problem in PROBLEMS}
    monkeypatch.setattr(methods, "_KNOWN", known)
    toy = replace(method_of("heterogeneous", "fixed"), name="toy", label="A toy", marker="x")
    methods.add(toy)
    with pytest.raises(ParameterError, match="method toy of problem heterogeneous is known already"):
        methods.add(toy)
    cell = scenario_of(s2())
    assert msopt.solve(cell, "heterogeneous", "toy").goodput == msopt.solve(cell, "heterogeneous", "fixed").goodput
    with pytest.raises(ParameterError, match="centralised-serial, convex, toy"):
        msopt.solve(cell, "heterogeneous", "toi")
    assert "toy" in names_of("baseline")
    assert label_of("toy") == looks(["toy"])["toy"].label == "A toy"
    study = parse_study('presets = ["multispin-llama2"]\nmethods = ["toy"]\nfixed = {devices = 3}')
    assert solve_points(study, study.points())[0][0]["status"] == SOLVED


def test_convex_is_a_method_like_the_others() -> None:
    """In a study too, its solver among its options; the report's answer keeps to the methods without a solver."""
    text = 'presets = ["multispin-llama2"]\nmethods = ["optimum", "convex"]\nfixed = {devices = 2}\n'
    study = parse_study(text + '[options.convex]\nsolver = "CLARABEL"')
    best, convex = solve_points(study, study.points())[0]
    assert (convex["method"], convex["status"]) == (CONVEX, SOLVED)
    assert convex["goodput_tokens_per_s"] == best["goodput_tokens_per_s"]
    for wrong, words in (
        ("solver = 3", "option solver = 3 is not a text"),
        ("length = 3", "option length goes with method fixed, not with convex"),
    ):
        with pytest.raises(ParameterError, match=words):
            parse_study(text + f"[options.convex]\n{wrong}")
    assert CONVEX not in METHODS["heterogeneous"]
    rows = compare(msopt.solve(scenario_of(s2()), "heterogeneous"))
    assert [row["method"] for row in rows] == list(METHODS["heterogeneous"])
    assert rows[3]["whose"] == "[MS] Fixed BW&L"


def test_a_users_method_is_told_in_its_authors_words() -> None:
    own = [f"tests.reports.own_methods:{name}" for name in ("three", "nothing", "ours")]
    rows = compare(msopt.solve(scenario_of(s2()), "heterogeneous"), own=own[:2])
    assert [(row["whose"], row["what"]) for row in rows if row["method"] in own] == [
        ("yours", "Three tokens each over equal shares.")
    ]
    (silent,) = [row for row in compare(msopt.solve(scenario_of(s2()), "modes"), own=own[2:]) if row["method"] in own]
    assert (silent["whose"], silent["what"]) == ("yours", "a function that says nothing of itself")
