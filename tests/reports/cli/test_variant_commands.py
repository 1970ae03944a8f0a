"""A scenario file with `[variant]`, from `solve` to `crosscheck`."""

import json

import pytest

from msopt import ProportionalFair, Scenario, TokenBudget, evaluate, solve
from reports.methods.user_variant import load_variants
from reports.page.answer import answer
from tests.formulations.cells import S2
from tests.reports.command import Command, assert_one_line

VARIED = S2.replace(
    weight=[2.0, 1.0], utility="proportional-fair", token_budget=6, goodput_floor_tokens_per_s=4.0, max_draft_length=5
)


@pytest.fixture
def file(msopt: Command) -> str:
    path = msopt.folder / "varied.toml"
    VARIED.write(path)
    return str(path)


def test_the_file_says_the_same_again(file: str) -> None:
    again = Scenario.read(file)
    assert again.variant_fields == VARIED.variant_fields
    assert (again.token_budget, again.utility, again.weight.tolist()) == (6, "proportional-fair", [2.0, 1.0])


def test_solve_shows_utility_limits_and_prices(msopt: Command, file: str) -> None:
    found = msopt.done("solve", file, "--format", "json").record
    plain = S2.replace(max_draft_length=5)
    expected = solve(plain, utility=ProportionalFair([2.0, 1.0]), limits=[TokenBudget(6)])
    assert found["utility"] == "proportional-fair"
    assert found["utility_value"] == pytest.approx(expected.evaluation.utility_value, rel=1e-12)
    assert [limit["name"] for limit in found["limits"]] == ["goodput floor", "token budget"]
    assert all(list(limit) == ["name", "slack", "unit", "price"] for limit in found["limits"])
    priced = msopt.done("solve", file, "--format", "json", "--method", "convex").record
    assert priced["limits"][1]["price"] > 0.0
    assert len(priced["limits"][0]["price"]) == 2
    text = msopt.done("solve", file, "--method", "convex").out
    for words in ("utility proportional-fair:", "token budget", "variant.token_budget", "price"):
        assert words in text
    assert msopt.done("solve", file, "--problem", "homogeneous", "--format", "json").record["utility_value"] <= (
        found["utility_value"] + 1e-9
    )


def test_evaluate_tells_every_limit_and_by_how_much_it_is_broken(msopt: Command, file: str) -> None:
    control = msopt.folder / "control.json"
    msopt.done("solve", file, "--output", control)
    score = msopt.done("evaluate", file, "--control", control, "--format", "json").record
    assert {slack["constraint"]: slack["least_slack"] for slack in score["slacks"]}["token budget"] >= 0.0
    assert score["utility_bound"] >= score["utility_value"]
    record = json.loads(control.read_text())
    for device in record["devices"]:
        device["draft_length"] = 5
    control.write_text(json.dumps(record))
    outcome = msopt("evaluate", file, "--control", control)
    assert_one_line(outcome, 3, ["control.json: token budget is broken by 4 token"])
    slow = VARIED.replace(goodput_floor_tokens_per_s=9.0)
    found = solve(VARIED).control
    assert found is not None
    broken = [slack.constraint for slack in evaluate(slow, found).limits if slack.violation > 0.0]
    assert broken == ["goodput floor"]


def test_what_to_try_next_takes_the_variant(msopt: Command, file: str) -> None:
    plain = msopt.folder / "plain.toml"
    S2.write(plain)
    assert msopt.done("solve", plain).out.splitlines()[-1].startswith(f"next: msopt solve {plain} --problem all ")
    assert msopt.done("solve", file).out.splitlines()[-1].startswith(f"next: msopt report {file} --output out ")
    own = "msopt:TokenBudget(6)"
    last = msopt.done("solve", plain, "--variant", own).out.splitlines()[-1]
    assert last.startswith(f"next: msopt report {plain} --variant '{own}' --output out ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("solve FILE --problem modes", ["takes no variant", "token_budget", "decomposition"]),
        ("solve FILE --problem all", ["takes no variant"]),
        ("solve FILE --method fixed", ["method fixed", "takes no variant", "decomposition, exact, convex"]),
        ("react FILE --rejected 1", ["a reaction takes no variant"]),
    ],
)
def test_what_takes_no_variant_is_one_line(msopt: Command, file: str, line: str, words: list[str]) -> None:
    arguments = [{"FILE": file, "1": VARIED.device_names[0]}.get(word, word) for word in line.split()]
    assert_one_line(msopt(*arguments), 2, words)


def test_crosscheck_takes_the_file(msopt: Command, file: str) -> None:
    outcome = msopt("crosscheck", file, "--output", msopt.folder / "worst", "--solver", "CLARABEL", "--format", "json")
    assert outcome.code == 0
    rows = {(row["formulation"], row["solver"]): row["verdict"] for row in outcome.record["verdicts"]}
    assert (rows["variant", "table"], rows["variant", "CLARABEL"]) == ("pass", "pass")
    assert {verdict for (name, _), verdict in rows.items() if name != "variant"} == {"not asked"}


def test_the_report_answers_the_problems_that_take_it(file: str) -> None:
    from pathlib import Path

    tables = answer([("varied", Path(file))]).tables
    assert tables["answer_solutions"]["problem"].tolist() == ["homogeneous", "heterogeneous"]
    assert tables["answer_limits"]["name"].tolist() == ["goodput floor", "token budget"] * 2
    assert tables["answer_limits"]["price"].notna().all()
    costs = tables["answer_variant"].set_index("problem")
    plain = solve(VARIED.replace(**dict.fromkeys(VARIED.variant_fields)))
    assert costs.loc["heterogeneous", "plain_goodput_tokens_per_s"] == pytest.approx(plain.goodput, rel=1e-9)
    assert "variant.token_budget = " in costs.loc["heterogeneous", "asked"]
    assert 0.0 < costs.loc["heterogeneous", "cost"] < 1.0
    methods = tables["answer_methods"].set_index(["problem", "method"])
    assert methods.loc[("heterogeneous", "fixed"), "status"] == "refused"
    assert methods.loc[("heterogeneous", "decomposition"), "status"] == "solved"


def test_the_report_solves_changes_under_a_variant_of_the_users(msopt: Command) -> None:
    """With fewer tokens to draft in a round, twice the band brings what two such optima differ by."""
    path, limits = msopt.folder / "plain.toml", [TokenBudget(5)]
    S2.write(path)
    changes = answer([("plain", path)], asked=load_variants(["msopt:TokenBudget(5)"])).tables["answer_what_if"]
    wider = S2.with_bandwidth(uplink_hz=2.0 * S2.uplink_bandwidth_hz)
    gain = solve(wider, limits=limits).goodput / solve(S2, limits=limits).goodput - 1.0
    found = changes[changes["change"].str.contains("uplink band") & (changes["problem"] == "heterogeneous")]
    assert found["gain"].tolist() == pytest.approx([gain], abs=1e-9)


def test_a_control_that_serves_nobody_is_scored_without_a_gap(msopt: Command) -> None:
    path, written = msopt.folder / "slots.toml", msopt.folder / "control.json"
    S2.replace(slots=1).write(path)
    record = msopt.done("solve", path, "--format", "json", "--output", written).record
    assert sorted(device["served"] for device in record["devices"]) == [False, True]
    again = msopt.done("evaluate", path, "--control", written, "--format", "json").record
    assert again["utility_value"] == record["utility_value"]
    for device in record["devices"]:
        device |= {"served": False, "draft_length": 0}
    written.write_text(json.dumps(record))
    scored = msopt.done("evaluate", path, "--control", written, "--format", "json").record
    assert (scored["goodput_tokens_per_s"], scored["gap"]) == (0.0, None)
