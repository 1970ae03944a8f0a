"""Comparing every method: the ranking, its numbers, who has none and why, and whether drafting is said to pay."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest
from rich.console import Console

import msopt as package
from msopt import METHODS, PROBLEMS, Scenario
from msopt.model.problems import Problem
from reports.cli.compared_text import show_compared
from reports.methods.user_variant import NONE
from reports.page.comparison import answer_by
from reports.page.ranking import Comparison, compared
from reports.studies.points import Failure
from tests.cases import s2, scenario_of
from tests.reports import own_methods
from tests.reports.command import Command, assert_one_line
from tests.reports.shared.test_protocols import STEP_S, drafted_at_the_server, phones, without_drafts
from tests.tolerances import CLOSED_FORM, EXACT

OWN = "tests.reports.own_methods"
KEYS = "scenario devices best_problem draft_length problems methods changes elasticities warnings"
METHOD_KEYS = [
    *("problem", "method", "whose", "what", "goodput_tokens_per_s", "standard_error_tokens_per_s", "gain_of_best"),
    *("gap", "status", "reason", "gain_over_server_only", "utility_value", "least_draft_length"),
    *("greatest_draft_length", "seconds"),
]


def order_of(scenario: Scenario, *problems: Problem, own: tuple[str, ...] = ()) -> Comparison:
    return Comparison(scenario=scenario, problems=problems, own=own, asked=NONE, options={})


def test_every_method_is_ranked_by_the_goodput_that_solve_finds(msopt: Command) -> None:
    path = msopt.scenario(s2(server={"draft_s_per_token": STEP_S}))
    record = msopt.done("compare", path, "--format", "json").record
    assert list(record) == KEYS.split()
    assert [row["problem"] for row in record["problems"]] == list(PROBLEMS)
    for problem in PROBLEMS:
        rows = [row for row in record["methods"] if row["problem"] == problem]
        assert {row["method"] for row in rows} == set(METHODS[problem])
        goodputs = [row["goodput_tokens_per_s"] for row in rows]
        assert all(more >= less * (1.0 - EXACT) for more, less in pairwise(goodputs))
        for row in rows:
            assert list(row) == METHOD_KEYS
            solved = msopt.solved(path, problem, "--method", row["method"])
            assert row["goodput_tokens_per_s"] == pytest.approx(solved["goodput_tokens_per_s"], rel=EXACT)
            lengths = [device["draft_length"] for device in solved["devices"]] or [None]
            assert (row["least_draft_length"], row["greatest_draft_length"]) == (min(lengths), max(lengths))
            gain = row["goodput_tokens_per_s"] / without_drafts(2) - 1.0
            assert row["gain_over_server_only"] == pytest.approx(gain, abs=EXACT)
            assert row["seconds"] >= 0.0


def test_the_first_sentence_and_the_best_problem(msopt: Command) -> None:
    path = msopt.scenario(s2(server={"draft_s_per_token": STEP_S}))
    record = msopt.done("compare", path, "--output", msopt.folder / "compared.json", "--format", "json").record
    text = msopt.done("compare", path).out.splitlines()
    best = max(record["problems"], key=lambda row: row["goodput_tokens_per_s"])
    assert record["best_problem"] == best["problem"] == "modes"
    assert best["centralised_tokens_per_s"] == pytest.approx(drafted_at_the_server(), rel=CLOSED_FORM)
    assert text[1].startswith("Drafting pays: ")
    assert "less than with drafts at the server (centralised, " in text[1]
    solved = msopt.solved(path, "modes", "--method", "exact")
    assert record["draft_length"] == [device["draft_length"] for device in solved["devices"]]
    one_length = msopt.solved(path, "modes", "--method", "uniform-length")["goodput_tokens_per_s"]
    assert best["one_length_gain"] == pytest.approx(solved["goodput_tokens_per_s"] / one_length - 1.0, abs=EXACT)
    assert "one length for all (uniform-length)" in text[3]
    assert text[-1] == f"next: msopt solve {path} --problem modes    (who gets what)"
    assert (msopt.folder / "compared.json").exists()


def test_what_more_would_bring_is_the_optimum_of_the_changed_cell(msopt: Command) -> None:
    record = msopt.done("compare", msopt.scenario(s2()), "--problem", "heterogeneous", "--format", "json").record
    cell = scenario_of(s2())
    wider = package.solve(cell.with_bandwidth(uplink_hz=2.0 * cell.uplink_bandwidth_hz)).goodput
    (band,) = (row for row in record["changes"] if "uplink band" in row["change"])
    assert band["gain"] == pytest.approx(wider / package.solve(cell).goodput - 1.0, abs=EXACT)
    assert {row["problem"] for row in record["changes"]} == {"heterogeneous"}
    expected = package.solve(cell, method="exact").sensitivity(devices=False)
    assert [row["parameter"] for row in record["elasticities"]] == expected["parameter"].tolist()
    assert [row["elasticity"] for row in record["elasticities"]] == expected["elasticity"].tolist()


@pytest.mark.parametrize(
    ("changes", "words"),
    [({}, "Drafting does not pay: "), ({"min_draft_length": 0}, "Drafting gains nothing: ")],
)
def test_where_drafting_does_not_pay_it_says_so(msopt: Command, changes: dict[str, object], words: str) -> None:
    path = msopt.folder / "phones.toml"
    phones(**changes).write(path)
    assert msopt.done("compare", path, "--problem", "heterogeneous").out.splitlines()[1].startswith(words)


def test_samples_and_seed_are_those_of_every_method_and_of_a_users(msopt: Command) -> None:
    path, sampled = msopt.folder / "many.toml", ("--samples", 50, "--seed", 3)
    cell = package.draw("uldl-qwen25", devices=21, seed=1)[0]
    cell.write(path)
    record = msopt.done(
        "compare", path, "--problem", "modes", *sampled, "--method", f"{OWN}:ours", "--format", "json"
    ).record
    goodputs = {row["method"]: row["goodput_tokens_per_s"] for row in record["methods"]}
    for method in ("decomposition", "uniform-length", "all-uplink"):
        assert goodputs[method] == msopt.solved(path, "modes", "--method", method, *sampled)["goodput_tokens_per_s"]
    control = own_methods.ours(Scenario.read(path)).control
    assert control is not None
    assert goodputs[f"{OWN}:ours"] == package.evaluate(cell, control, samples=50, seed=3).goodput


def test_who_has_no_number_is_told_with_the_reason(msopt: Command) -> None:
    path, own = msopt.scenario(s2()), [f"{OWN}:{name}" for name in ("fails", "three", "ours", "too_wide")]
    more = [word for name in own for word in ("--method", name)]
    arguments = ("compare", path, "--problem", "heterogeneous", *more)
    rows = {row["method"]: row for row in msopt.done(*arguments, "--format", "json").record["methods"]}
    assert own[2] not in rows  # its control is of another problem
    assert rows[own[1]]["whose"] == "yours"
    score = package.evaluate(scenario_of(s2()), own_methods.three(scenario_of(s2())))
    assert rows[own[1]]["goodput_tokens_per_s"] == score.goodput
    text = msopt.done(*arguments).out
    for method, words in (
        ("centralised", "server.draft_s_per_token"),
        (own[0], "no_such_thing"),
        (own[3], "uplink bandwidth budget"),
    ):
        assert rows[method]["goodput_tokens_per_s"] is None
        assert rows[method]["status"] != "solved"
        assert words in rows[method]["reason"]
        (line,) = (line for line in text.splitlines() if line.startswith("no number: ") and words in line)
        assert method in line
    assert f"next: msopt report {path} --method {own[0]} " in text


def test_a_users_method_that_does_best_comes_first(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours is cut to one length for all, so that the user's optimum is above it."""
    cell = scenario_of(s2())
    monkeypatch.setattr(own_methods, "nothing", lambda scenario: package.solve(scenario).control)
    ours = package.solve(cell, "heterogeneous", "homogeneous")
    monkeypatch.setattr("reports.page.ranking.best_of", lambda *_: ours)
    monkeypatch.setattr("reports.page.ranking.beside", lambda *_: ["server-only", f"{OWN}:nothing"])
    record = compared(order_of(cell, "heterogeneous", own=(f"{OWN}:nothing",)))
    assert [row["method"] for row in record["methods"]] == [f"{OWN}:nothing", "homogeneous", "server-only"]
    (best,) = record["problems"]
    assert best["method"] == f"{OWN}:nothing"
    assert best["goodput_tokens_per_s"] == package.solve(cell).goodput > ours.goodput
    assert best["bound_tokens_per_s"] >= best["goodput_tokens_per_s"]
    assert record["methods"][1]["gain_of_best"] == pytest.approx(package.solve(cell).goodput / ours.goodput - 1.0)


def test_under_another_utility_its_value_ranks_and_limits_bind_a_users_method(msopt: Command) -> None:
    path = msopt.scenario(s2())
    variant = ("--variant", "msopt:ProportionalFair()", "--variant", "msopt:TokenBudget(5)")
    arguments = ("compare", path, *variant, "--method", f"{OWN}:three")
    record = msopt.done(*arguments, "--format", "json").record
    assert [row["problem"] for row in record["problems"]] == ["homogeneous", "heterogeneous"]
    values = [
        row["utility_value"] for row in record["methods"] if row["problem"] == "heterogeneous" and row["reason"] is None
    ]
    assert len(values) == 2
    assert values == sorted(values, reverse=True)
    (mine,) = (row for row in record["methods"] if row["method"] == f"{OWN}:three")
    assert (mine["status"], "token budget" in mine["reason"]) == ("infeasible", True)
    alone = msopt.done("compare", path, *variant).out.splitlines()[-1]
    assert alone.startswith(f"next: msopt solve {path} --variant 'msopt:ProportionalFair()' ")


def test_a_problem_without_a_control_leaves_the_others(msopt: Command) -> None:
    """One length for all is then one token, with which dev-1 does not reach 10 token/s however few dev-2 asks for."""
    path = msopt.scenario(s2())
    longest = ("--variant", "msopt:LongestDraft([16, 1])", "--variant")
    arguments = ("compare", path, *longest, "msopt:GoodputFloor([10.0, 5.0])")
    record = msopt.done(*arguments, "--format", "json").record
    found = {row["problem"]: row["reason"] for row in record["problems"]}
    assert found["heterogeneous"] is None
    assert len({tuple(row) for row in record["problems"]}) == 1
    assert "goodput floor" in found["homogeneous"]
    assert record["best_problem"] == "heterogeneous"
    assert "homogeneous: one length for all: no choice" in msopt.done(*arguments).out
    assert_one_line(msopt("compare", path, *longest, "msopt:GoodputFloor([20.0, 5.0])"), 3, ["goodput floor"])


def test_a_large_cell_leaves_out_what_takes_long() -> None:
    cell = package.draw("multispin-llama2", devices=5001, seed=1)[0]
    record = compared(order_of(cell, "homogeneous", "modes"))
    assert [(row["problem"], row["reason"] is None) for row in record["problems"]] == [
        ("homogeneous", True),
        ("modes", False),
    ]
    assert "at most 5000 devices" in record["problems"][1]["reason"]
    assert record["changes"] == []
    assert record["elasticities"]
    slow: list[tuple[Problem, str]] = [("heterogeneous", "grid"), ("heterogeneous", "exact"), ("modes", "greedy")]
    for problem, method in slow:
        ours = package.Solution(scenario=cell, problem=problem, method="decomposition", goodput=1.0)
        found = answer_by(ours, method)
        assert isinstance(found, Failure)
        assert "is tried with at most" in str(found.cause)


def test_it_fits_80_columns_with_every_name_whole() -> None:
    cell = Scenario.read(package.bundled.path("edge-cell"))
    record = compared(order_of(cell, *PROBLEMS))
    console = Console(width=80, markup=False, emoji=False, highlight=False)
    with console.capture() as capture:
        show_compared(console, record, cell.device_names, "msopt")
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()[:1]}
    assert {method for problem in PROBLEMS for method in METHODS[problem]} <= words


def test_it_loads_no_solver_and_nothing_that_draws() -> None:
    heavy = "pandas", "matplotlib", "cvxpy", "torch", "jinja2"
    loaded = f"register(lambda: print(*set({heavy}) & set(sys.modules), file=sys.stderr))"
    text = f"from atexit import register; import sys; {loaded}; from reports.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", text, "compare", "qwen-coder", "--problem", "homogeneous"],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[1][:15], done.stderr) == (0, "Drafting pays: ", "\n")
