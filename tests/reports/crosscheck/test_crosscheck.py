"""The cross-check: every entry has its check, the same seed gives the same table, and what is wrong fails."""

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from formulations import REGISTRY, DraftControl, SolverFailedError
from formulations.registry import Entry
from msopt import Control, Scenario, react, solve
from reports.crosscheck import own_formula as crosscheck_formula
from reports.crosscheck.crosscheck_tables import CrosscheckTables
from reports.crosscheck.formulation_checks import CHECKS
from reports.crosscheck.random_scenarios import family, random_scenario
from reports.crosscheck.references_ms import relaxed
from reports.crosscheck.references_ud import modes
from reports.crosscheck.solver_promises import AT_LEAST, Promise
from reports.crosscheck.trial import Trial, attempt, certified, reference_of
from reports.crosscheck.trials_run import TrialPlan, crosscheck
from reports.crosscheck.verdict import faults, minimiser_apart, refuted
from reports.shared.rows import Row
from tests.cases import s1, s2, scenario_of
from tests.reports.cli.test_errors import assert_one_line
from tests.reports.command import Command

FEW = ("--trials", 2, "--format", "json")


def checked(msopt: Command, *arguments: object) -> dict[str, list[Row]]:
    record = msopt.done("crosscheck", *arguments, "--output", msopt.folder / "worst").record
    assert list(record) == ["verdicts", "trials", "notes"]
    for table in record.values():
        assert len({tuple(row) for row in table}) <= 1  # the same keys in every row, and nothing inside a cell
        assert not any(isinstance(cell, dict | list) for row in table for cell in row.values())
    return record


def without_times(found: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {
        name: [{key: value for key, value in row.items() if not key.endswith("_s")} for row in rows]
        for name, rows in found.items()
    }


def test_every_entry_of_the_registry_has_its_check() -> None:
    assert list(CHECKS) == list(REGISTRY)
    for check in CHECKS.values():
        assert set(check.entry.needs) <= set(check.given)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrosscheckTables, Path]:
    folder = tmp_path_factory.mktemp("worst")
    return crosscheck(TrialPlan(trials=2, seed=0, largest=12, formulations=tuple(CHECKS)), folder), folder


def test_all_formulations_pass(everything: tuple[CrosscheckTables, Path]) -> None:
    found, folder = everything
    assert {record["formulation"] for record in found.verdicts} == set(REGISTRY)
    assert {note["kind"] for note in found.notes} == {"not asked"}
    refused = [(note["formulation"], note["solver"]) for note in found.notes]
    for record in found.verdicts:
        name = (record["formulation"], record["solver"])
        assert sum((row["formulation"], row["solver"]) == name for row in found.trials) == record["trials"]
        assert record["solved"] == record["trials"]
        assert record["verdict"] == ("pass" if record["trials"] else "not asked")
        if not record["trials"]:
            assert name in refused
            continue
        assert record["certificate_worst"] < 1e-4
        assert Path(record["worst_scenario"]).parent == folder
        assert Scenario.read(record["worst_scenario"]).name.startswith(record["formulation"])
    by_name = {(record["formulation"], record["solver"]): record for record in found.verdicts}
    assert by_name["draft-control", "ECOS"]["prices_agree"] == 2
    assert by_name["draft-control", "ECOS"]["above_algorithm_least"] > 0
    assert by_name["joint-law-bound", "HIGHS"]["objective_difference_worst"] > 0
    assert ("draft-control-curves", "ECOS") in refused


def test_the_same_seed_gives_the_same_table_but_for_times(msopt: Command) -> None:
    few = ("--formulation", "draft-control", "--formulation", "mode-selection", *FEW)
    first, again = (checked(msopt, *few, "--seed", 3) for _ in range(2))
    other = checked(msopt, *few, "--seed", 4)
    assert without_times(first) == without_times(again)
    assert without_times(first) != without_times(other)


def test_a_saved_scenario_replays(msopt: Command) -> None:
    first = checked(msopt, "--formulation", "lengths-at-deadline", "--solver", "ecos", *FEW)["verdicts"][0]
    again = checked(
        msopt, first["worst_scenario"], "--formulation", "lengths-at-deadline", "--solver", "ECOS", "--format", "json"
    )["verdicts"][0]
    assert again["trials"] == 1
    assert again["objective_difference_worst"] == pytest.approx(first["objective_difference_worst"], abs=1e-12)


def test_a_cell_whose_devices_stop_drafting_at_a_high_price_is_no_warning(msopt: Command) -> None:
    """Measured curves fall in steps: at some price nobody drafts, and the band's logarithm is -inf."""
    one = ("--formulation", "lengths-at-deadline", "--solver", "CLARABEL", "--format", "json")
    assert checked(msopt, "edge-cell", *one)["verdicts"][0]["verdict"] == "pass"


def test_files_and_the_table(msopt: Command) -> None:
    one, two = msopt.folder / "one.toml", msopt.folder / "two.toml"
    scenario_of(s1()).write(one)
    scenario_of(s2()).write(two)
    text = msopt.done("crosscheck", one, two, "--output", msopt.folder / "worst").out
    assert "[MS] Lemmas 2 and 3" in text
    assert "not asked" in text  # the power-limited program has no scenario here
    assert "FAIL" not in text
    assert f"{msopt.folder}/worst/, to replay" in text


def test_a_wrong_closed_form_fails(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    check = CHECKS["draft-control"]

    def too_good(scenario: Scenario, given: dict[str, Any]) -> Any:
        found = copy.copy(relaxed(scenario, given))
        object.__setattr__(found, "objective", found.objective * (1.0 + 3e-6))
        return found

    monkeypatch.setitem(CHECKS, "draft-control", copy.copy(check))
    object.__setattr__(CHECKS["draft-control"], "reference", too_good)
    outcome = msopt("crosscheck", "--formulation", "draft-control", "--trials", 2, "--output", msopt.folder / "worst")
    assert outcome.code == 1
    assert "FAIL draft-control by ECOS: objective off by 3.0e-06" in outcome.out


def test_failures_are_told_and_saved(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: DraftControl, *_: object) -> None:
        raise SolverFailedError(formulation="draft-control", solver="ECOS", status="user_limit", cause="c", remedy="r")

    monkeypatch.setattr(DraftControl, "solve", fail)
    one = ("--formulation", "draft-control", "--solver", "ECOS")
    outcome = msopt("crosscheck", *one, *FEW, "--output", msopt.folder / "worst")
    assert outcome.code == 1
    found = outcome.record
    assert found["verdicts"][0]["solved"] == 0
    assert [(trial["status"], trial["cause"]) for trial in found["trials"]] == [("user_limit", "c")] * 2
    assert found["notes"][0]["text"] == "solved under fixed-snr in 0 of 2 trials: 99.5 % is refuted at 0.1 %"
    assert [note["kind"] for note in found["notes"]] == ["fault", "not solved", "not solved"]
    assert (msopt.folder / "worst" / "draft-control-ecos-failed-1.toml").exists()


@pytest.mark.parametrize("least", [0.9, AT_LEAST])
@pytest.mark.parametrize("asked", [1, 4, 30, 300])
def test_a_share_of_solved_trials_is_refuted_by_what_chance_hardly_gives(asked: int, least: float) -> None:
    """Against the binomial law summed term by term: a false alarm in at most one of a thousand shares."""
    chance = 0.0
    for solved in range(asked + 1):
        chance += math.comb(asked, solved) * least**solved * (1.0 - least) ** (asked - solved)
        assert refuted(solved, asked, least) == (chance < 0.001)


def test_one_failure_never_fails_a_row_and_many_do() -> None:
    """At 99.5 % two failures of 20 are 1 chance in 220, three 1 in 7500; one in 20 is found out."""
    assert not any(refuted(asked - 1, asked) for asked in (1, 2, 3, 10, 100, 10_000))
    assert [refuted(20 - failures, 20) for failures in (2, 3)] == [False, True]
    assert refuted(2850, 3000)
    check, cell = CHECKS["draft-control"], random_scenario(0)
    good = [Trial(number=k, scenario=cell, status="optimal", difference=0.0) for k in range(19)]
    failed = Trial(number=19, scenario=cell, status="user_limit")
    assert not faults(check, "CLARABEL", [*good, failed])
    assert faults(check, "CLARABEL", [*good[:17], *[failed] * 3])
    assert not faults(check, "SCS", [failed] * 20)


def test_a_stalled_point_is_refused_and_told_how_far_off_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    check, scenario = CHECKS["draft-control"], scenario_of(s2())
    given, reference = reference_of(check, scenario)
    scored = DraftControl.score
    monkeypatch.setattr(DraftControl, "score", lambda self, decision: 1.0001 * scored(self, decision))
    stalling = replace(check, stalls={("ECOS", "fixed-snr"): Promise(0.9, "as it is known to")})
    trial = attempt(stalling, 0, scenario, given, reference, "ECOS", False)
    assert (trial.status, trial.solved) == ("refused", False)
    assert trial.cause.endswith("; its point is 1e-04 off (as it is known to)")


def test_the_certificate_names_its_closed_form() -> None:
    check, scenario = CHECKS["draft-control"], scenario_of(s2())
    given, reference = reference_of(check, scenario)
    entry: Entry = check.entry
    solution = certified(check, entry.build(scenario).solve("CLARABEL"), reference)
    assert solution.certificate.closed_form == "msopt.lengths.relaxed:solve_relaxed"
    assert solution.certificate.closed_form_gap is not None
    assert solution.certificate.closed_form_gap < 1e-6
    trial = attempt(check, 0, scenario, given, reference, "CLARABEL", False)
    assert trial.above_brute_force is not None
    assert trial.above_brute_force > 1e-3
    assert not faults(check, "CLARABEL", [trial])


def test_references_enumerate() -> None:
    cell = random_scenario(5, devices=(3, 3))
    found = modes(cell, {"rejected": [0, 1, 2]})
    assert found.brute_force == pytest.approx(1.0 / react(cell, [0, 1, 2])[1], rel=1e-9)


def test_the_family_has_c1_zero_and_not_in_turn() -> None:
    cells = [family(seed, 32) for seed in range(6)]
    assert [cell.verify_per_token_s > 0 for cell in cells] == [False, True] * 3
    assert {cell.device_count for cell in cells} == {32}


# A user's own formula.


def right(scenario: Scenario) -> Control | None:
    return solve(scenario, "heterogeneous").control


def short(scenario: Scenario) -> Any:
    return np.full(scenario.device_count, scenario.length_limits("heterogeneous")[0])


def broken(scenario: Scenario) -> Any:
    raise ZeroDivisionError("no devices")


def silent(scenario: Scenario) -> None:
    return None


def text(scenario: Scenario) -> str:
    return "five"


def real(scenario: Scenario) -> Any:
    return np.full(scenario.device_count, 1.5)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("right", ""),
        ("short", "below the optimum by"),
        ("real", "below the optimum by"),
        ("broken", "2 of 2 scenarios without a score"),
        ("silent", "scored on no scenario"),
        ("text", "2 of 2 scenarios without a score"),
    ],
)
def test_formulas(name: str, words: str) -> None:
    formula = crosscheck_formula.Formula(name, globals()[name])
    plan = TrialPlan(trials=2, largest=6, formulations=("bandwidth-minmax",), solvers=("ECOS",), formula=formula)
    found = crosscheck(plan)
    assert found.passed == (not words)
    assert found.verdicts[0]["verdict"] == ("FAIL" if words else "pass")
    assert words in " ".join(note["text"] for note in found.notes if note["kind"] == "fault")
    if name == "broken":
        assert found.trials[0]["cause"].endswith("ZeroDivisionError: no devices")


def test_a_formula_by_name(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (msopt.folder / "mine.py").write_text("import msopt\ndef best(s):\n    return msopt.solve(s).control\nnumber = 3\n")
    (msopt.folder / "wrong.py").write_text("1/0")
    monkeypatch.chdir(msopt.folder)
    one = ("crosscheck", "--formulation", "bandwidth-minmax", "--trials", 2)
    assert "formula mine:best" in msopt.done(*one, "--formula", "mine:best").out
    for name, words in (
        ("mine", ["MODULE:FUNCTION"]),
        ("mine:worst", ['"worst"', "not a function"]),
        ("mine:number", ['"number"', "not a function"]),
        ("nowhere:best", ['"nowhere"', "ModuleNotFoundError"]),
        ("wrong:best", ['"wrong"', "ZeroDivisionError"]),
    ):
        assert_one_line(msopt(*one, "--formula", name, "--output", "other"), 2, words)
    assert not (msopt.folder / "other").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nope", ["neither a file nor a bundled scenario"]),
        ("S1 --trials 3", ["--trials", "files"]),
        ("--trials 0", ["--trials = 0"]),
        ("--seed -1", ["--seed = -1"]),
        ("--solver GUROBI", ['"GUROBI"', "ECOS or CLARABEL"]),
        ("--solver ECOS_BB", ["ECOS_BB is refused"]),
        ("--formulation draft-controll", ["draft-controll", "bandwidth-minmax, "]),
        ("--formula mine:one --formula mine:other", ["--formula", "one formula"]),
        ("--trials 1 --output S1", ["is not a folder"]),
    ],
)
def test_bad_commands(msopt: Command, line: str, words: list[str]) -> None:
    path = msopt.scenario(s1())
    arguments = [str(path) if word == "S1" else word for word in line.split()]
    assert_one_line(msopt("crosscheck", *arguments), 2, words)


@pytest.mark.parametrize(("objective", "fault"), [(-5e-8, False), (-5e-7, True)])
def test_minimisers_may_differ_only_where_the_optimum_is_flat(objective: float, fault: bool) -> None:
    cell = random_scenario(0)
    trial = Trial(number=0, scenario=cell, status="optimal", difference=objective, minimiser_difference=5e-3)
    check = CHECKS["draft-control"]
    told = "minimisers agree or are explained in 0 of 2 trials: 99.5 % is refuted at 0.1 %"
    assert faults(check, "ECOS", [trial, trial]) == ([told] if fault else [])
    assert minimiser_apart(trial, 1e-3) == ("no reason known" if fault else "flat")
    assert minimiser_apart(trial, 1e-2) is None


@pytest.mark.parametrize(("reason", "fault"), [("", True), ("bound", False)])
def test_prices_may_differ_only_for_a_reason(reason: str, fault: bool) -> None:
    cell, check = random_scenario(0), CHECKS["draft-control"]
    trial = Trial(number=0, scenario=cell, status="optimal", difference=0.0, price_differences=(0.0, 0.1))
    told = "prices of bandwidth agree or are explained in 0 of 2 trials: 99.5 % is refuted at 0.1 %"
    assert faults(check, "ECOS", [replace(trial, price_reason=reason)] * 2) == ([told] if fault else [])


def test_below_the_paper_or_enumeration_is_a_fault() -> None:
    cell = random_scenario(0)
    trial = Trial(number=7, scenario=cell, status="optimal", difference=0.0, above_algorithm=-1e-3)
    (fault,) = faults(CHECKS["draft-control"], "ECOS", [trial])
    assert fault.startswith("below the paper's algorithm by 1.0e-03 in trial 7")
    missed = replace(trial, above_algorithm=None, above_brute_force=1e-3)
    (fault,) = faults(CHECKS["mode-selection"], "HIGHS", [missed])
    assert fault.startswith("enumeration missed by 1.0e-03")
    assert not faults(CHECKS["joint-law-bound"], "HIGHS", [missed])
