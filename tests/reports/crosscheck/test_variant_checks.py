"""Variants in the cross-check: enumeration that knows no table, cells that bind, rows that pass and rows that fail."""

from pathlib import Path

import numpy as np
import pytest

from formulations.core.solver_errors import SolverFailedError
from msopt import GoodputFloor, Scenario, TokenBudget, evaluate
from msopt.lengths.relaxed import length_split
from msopt.model.control import Control
from msopt.variants.variant import Variant
from reports.crosscheck import variant_checks
from reports.crosscheck.trials_run import TrialPlan, crosscheck
from reports.crosscheck.variant_checks import NAMES, own_of
from reports.crosscheck.variant_enumeration import best_of_all
from tests.formulations.cells import S2


def test_enumeration_against_the_evaluator_over_all_lengths() -> None:
    """Two devices, two limits: every pair of lengths scored with its quickest shares."""
    variant = Variant.of(S2, limits=[GoodputFloor(5.5), TokenBudget(7)])
    best = -np.inf
    for first in range(1, 17):
        for second in range(1, 17):
            lengths = np.array([first, second])
            _, share = length_split(S2, lengths.astype(float))
            control = Control(problem="heterogeneous", draft_length=lengths, bandwidth_hz=share)
            score = evaluate(S2, control, limits=variant.limits)
            if all(slack.violation == 0.0 for slack in score.slacks):
                best = max(best, score.goodput)
    assert best_of_all(S2, variant) == pytest.approx(best, rel=1e-12)
    assert best_of_all(S2, Variant.of(S2, limits=[GoodputFloor(50.0)])) == -np.inf
    assert best_of_all(S2.replace(max_draft_length=200), variant) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_of_every_variant(name: str, tmp_path: Path) -> None:
    found = crosscheck(TrialPlan(trials=2, seed=3, formulations=(name,), solvers=("CLARABEL",)), tmp_path)
    table, program = found.verdicts
    assert (table["verdict"], table["solved"]) == ("pass", 2)
    assert program["verdict"] in ("pass", "not asked")
    assert (program["verdict"] == "not asked") <= any(note["kind"] == "not asked" for note in found.notes)
    saved = Scenario.read(table["worst_scenario"])
    own = own_of(name)
    assert saved.variant_fields or own.names
    again = crosscheck(TrialPlan(scenarios=(saved,), solvers=("CLARABEL",), own=own)).verdicts
    replayed = name if own.names else "variant"
    assert next(row for row in again if row["formulation"] == replayed and row["solver"] == "table")["trials"] == 1


def test_a_solver_that_refuses_too_many_cells_fails_its_row_and_one_known_for_stalls_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None of 4 solved: chance (1 - 0.995)^2 under each sharing, and (1 - 0.9)^2 where ECOS is held to 90 %."""

    def gives_up(*_: object) -> None:
        raise SolverFailedError(formulation="f", solver="s", status="user_limit", cause="c", remedy="r")

    monkeypatch.setattr(variant_checks, "conic_optimum", gives_up)
    found = crosscheck(TrialPlan(trials=4, formulations=("variant weighted-sum",), solvers=("ECOS", "CLARABEL")))
    assert [(row["solver"], row["verdict"]) for row in found.verdicts] == [
        ("table", "pass"),
        ("ECOS", "FAIL"),
        ("CLARABEL", "FAIL"),
    ]
    refuted = "solved under {} in 0 of {} trials: 99.5 % is refuted at 0.1 %"
    faults = {(note["solver"], note["text"]) for note in found.notes if note["kind"] == "fault"}
    asked = sum(trial["solver"] == "ECOS" and trial["sharing"] == "power-limited" for trial in found.trials)
    assert asked in (1, 2)  # the second is none where chords stand in the program
    assert faults == {
        ("ECOS", refuted.format("fixed-snr", 2)),
        ("CLARABEL", refuted.format("fixed-snr", 2)),
        ("CLARABEL", refuted.format("power-limited", 2)),
    }
    told = [note["text"] for note in found.notes if note["kind"] == "not solved" and note["solver"] == "ECOS"]
    assert sum("c (ECOS is known to stall on exponential cones)" in text for text in told) == asked


def test_chords_beside_exponential_cones_are_not_asked_of_ecos_in_a_variant_either() -> None:
    found = crosscheck(TrialPlan(trials=6, formulations=("variant weighted-sum",), solvers=("ECOS",)))
    ecos = next(row for row in found.verdicts if row["solver"] == "ECOS")
    chords = [k for k in range(6) if k % 3 == 2]
    limited = [k for k in range(6) if k % 2 == 1]
    assert ecos["trials"] == 6 - len(set(chords) & set(limited))
    assert [note["text"] for note in found.notes if note["kind"] == "not asked"] == [
        "it breaks down on exponential cones beside many chords"
    ]


def test_a_wrong_optimum_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variant_checks, "best_of_all", lambda *_: 1e3)
    found = crosscheck(TrialPlan(trials=1, formulations=("variant token_budget",), solvers=("CLARABEL",)))
    assert [row["verdict"] for row in found.verdicts] == ["FAIL", "FAIL"]
    assert any("below enumeration by" in note["text"] for note in found.notes)
