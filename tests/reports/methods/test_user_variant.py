"""`--variant`: a user's own utility or limit, from its name to every command, behind the one boundary."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from msopt import ParameterError, TokenBudget, solve
from reports.methods.user_variant import load_variants
from tests.cases import s2, scenario_of
from tests.reports.command import Command, Outcome, assert_one_line

MINE = "tests.reports.own_variants"


def test_arguments_are_literals() -> None:
    found = load_variants([f"{MINE}:Budget(4)", f"{MINE}:Saturating"])
    assert (found.utility.name, [limit.name for limit in found.limits]) == ("saturating", ["my budget"])
    assert (
        load_variants([f"{MINE}:Budget(most=4.5)"]).limits[0].right(SimpleNamespace(scenario=scenario_of(s2()))) == 4.5
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Budget(__import__('os'))", "is not MODULE:CLASS or MODULE:CLASS"),
        ("Budget(*[4])", "is not MODULE:CLASS or MODULE:CLASS"),
        ("Budget(4", "is not MODULE:CLASS or MODULE:CLASS"),
        ("Budget", "cannot be made: TypeError"),
        ("FloatArray", "neither an msopt.Utility nor an msopt.ControlLimit|not a function|cannot be made"),
        ("NoForm", "has neither numbers"),
        ("ExpressionAlone", "has an expression and no numbers"),
        ("Missing", '"Missing" is not a function'),
    ],
)
def test_what_is_none_is_one_line(name: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        load_variants([f"{MINE}:{name}"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Fails", "fails in value: ZeroDivisionError: no devices"),
        ("Nothing", "fails in value: utility numbers: of_device answers NaN"),
        ("Endless", "of_device answers infinity"),
        ("Complex", "of_device = .* is not a list of numbers; it holds complex128"),
        ("Unbounded", "fails in on_table: limit table alone puts a number that is not finite"),
        ("Halved", "what it asks of bandwidths is below what the bits need"),
    ],
)
def test_what_fails_in_a_search_is_one_line(name: str, words: str) -> None:
    own = load_variants([f"{MINE}:{name}"])
    with pytest.raises(ParameterError, match=words) as caught:
        solve(scenario_of(s2()), **own.asked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NoExpression", "its expression is None"),
        ("Several", r"its expression is an array of shape \(2,\)"),
        ("FreeVariable", "its expression depends on more than the goodputs"),
    ],
)
def test_what_a_program_cannot_maximise_is_one_line(name: str, words: str) -> None:
    own = load_variants([f"{MINE}:{name}"])
    with pytest.raises(ParameterError, match=words):
        solve(scenario_of(s2()), method="convex", **own.asked)


def test_what_calls_itself_the_sum_is_not_taken_for_it() -> None:
    found = solve(scenario_of(s2()), **load_variants([f"{MINE}:NotTheSum"]).asked)
    assert found.bound is None
    assert found.utility_bound < found.goodput


def test_a_limit_without_end_has_no_slack_in_json(msopt: Command) -> None:
    path, written = msopt.scenario(s2()), msopt.folder / "control.json"
    own = ("--variant", f"{MINE}:NoBudget", "--format", "json")
    assert msopt.done("solve", path, *own, "--output", written).record["limits"][0]["slack"] is None
    scored = msopt.done("evaluate", path, "--control", written, *own).record
    assert {one["constraint"]: one["least_slack"] for one in scored["slacks"]}["my budget"] is None


def test_solve_and_evaluate_take_it(msopt: Command) -> None:
    path, written = msopt.scenario(s2()), msopt.folder / "control.json"
    own = ("--variant", f"{MINE}:Budget(4)")
    found = msopt.solved(path, "heterogeneous", *own, "--output", written)
    assert found["goodput_tokens_per_s"] == solve(scenario_of(s2()), limits=[TokenBudget(4)]).goodput
    assert found["limits"] == [{"name": "my budget", "slack": 0.0, "unit": "token", "price": None}]
    assert "my budget" in msopt.done("evaluate", path, "--control", written, *own).out
    stricter = ("--variant", f"{MINE}:Budget(3)", "--variant", f"{MINE}:Saturating")
    outcome = msopt("evaluate", path, "--control", written, *stricter)
    assert_one_line(outcome, 3, ["control.json: my budget is broken by 1 token"])
    priced = msopt.solved(path, "heterogeneous", *own, "--method", "convex")
    assert priced["limits"][0]["price"] > 0.0


def test_one_form_alone_goes_as_far_as_it_goes(msopt: Command) -> None:
    path = msopt.scenario(s2())
    outcome = msopt("solve", path, "--variant", f"{MINE}:TableAlone", "--format", "json")
    assert outcome.code == 0
    assert outcome.record["warnings"][0].startswith("limit table alone has no two sides")
    assert sum(device["draft_length"] for device in outcome.record["devices"]) <= 5
    refused = msopt("solve", path, "--variant", f"{MINE}:TableAlone", "--method", "convex")
    assert_one_line(refused, 2, ["limit table alone"])
    spoken = msopt("solve", path, "--variant", f"{MINE}:Numbers", "--format", "json")
    assert spoken.record["utility"] == "numbers"  # what it prints is not in the JSON
    assert_one_line(msopt("solve", path, "--variant", f"{MINE}:Numbers", "--method", "convex"), 2, ["utility numbers"])


def crosschecked(msopt: Command, name: str, *of_cells: object) -> Outcome:
    """A variant of `MINE` in the cross-check of some cells by CLARABEL."""
    how = ("--solver", "CLARABEL", "--output", msopt.folder / "worst", "--format", "json")
    return msopt("crosscheck", *of_cells, "--variant", f"{MINE}:{name}", *how)


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("Budget(4)", "pass", ""),
        ("Saturating", "pass", ""),
        ("NotAlphaFair", "pass", ""),
        ("NotMaxMin", "pass", ""),
        ("Stricter(5)", "FAIL", "enumeration missed by"),
        ("Laxer(5)", "FAIL", "wrongly infeasible"),
        ("TableAlone", "not asked", "has no two sides"),
    ],
)
def test_the_crosscheck_tells_a_wrong_table_form(msopt: Command, name: str, verdict: str, words: str) -> None:
    outcome = crosschecked(msopt, name, "--trials", 2, "--seed", 1)
    assert outcome.code == (1 if verdict == "FAIL" else 0)
    table = outcome.record["verdicts"][0]
    assert (table["formulation"], table["solver"], table["verdict"]) == (f"variant {MINE}:{name}", "table", verdict)
    assert words in " ".join(note["text"] for note in outcome.record["notes"])
    if verdict == "pass":
        replayed = crosschecked(msopt, name, table["worst_scenario"])
        again = replayed.record["verdicts"][0]
        assert again["objective_difference_worst"] == pytest.approx(table["objective_difference_worst"], abs=1e-12)


def test_a_value_of_another_shape_is_one_line(msopt: Command) -> None:
    words = "OneValue: value answers an array of shape (), not ("
    assert_one_line(crosschecked(msopt, "OneValue", "--trials", 1), 2, [words])


def test_whose_fault_it_is_is_said_once() -> None:
    with pytest.raises(ParameterError, match=r"^--variant [^ ]*:NoForm fails: utility no form: has neither"):
        load_variants([f"{MINE}:NoForm"])


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        ("NotForPrograms(5)", "CLARABEL", "NotForPrograms(5) fails in left: "),
        ("NoExpression", "CLARABEL", "its expression is None"),
        ("TableFails(5)", "table", "TableFails(5) fails in on_table: ZeroDivisionError: no table"),
    ],
)
def test_the_crosscheck_fails_what_has_a_form_that_fails(msopt: Command, name: str, row: str, words: str) -> None:
    outcome = crosschecked(msopt, name, "--trials", 2, "--seed", 1)
    assert outcome.code == 1
    (fault,) = [note for note in outcome.record["notes"] if note["kind"] == "fault"]
    assert fault["solver"] == row
    assert words in fault["text"]
    assert fault["text"].endswith("(2 of 2 trials)")


def test_a_sweep_has_its_utility_as_a_column(msopt: Command, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    study = msopt.folder / "study.toml"
    study.write_text(
        'presets = ["multispin-llama2"]\nmethods = ["optimum", "fixed"]\n[fixed]\ndevices = 3\n'
        "[axes]\ntoken_budget = [4, 9]\n"
    )
    outcome = msopt("sweep", study, "--output", tmp_path / "out", "--jobs", 1, "--variant", f"{MINE}:Saturating")
    assert outcome.code == 3
    rows = pq.read_table(tmp_path / "out" / "results.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["solved", "refused"] * 2
    assert all("takes no variant" in row["cause"] for row in rows if row["scheme"] == "fixed")
    best = [row for row in rows if row["scheme"] == "optimum"]
    assert [row["utility"] for row in best] == ["saturating"] * 2
    assert best[0]["mean_draft_length_tokens"] * 3 <= 4.0
    assert best[0]["utility_value"] <= best[1]["utility_value"] <= best[1]["utility_bound"]
