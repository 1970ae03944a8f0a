"""A user's own method: its control scored by the evaluator, whatever it says itself; errors in one line."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import lambertw

import msopt
from msopt import InfeasibleError, ParameterError, Scenario
from reports.crosscheck.own_formula import load_formula, score_formula
from reports.methods.user_method import user_solution
from reports.shared.ending import Interrupted
from tests.reports import own_methods

HERE = "tests.reports.own_methods"
HOSTILE = "tests.reports.hostile_methods"


@pytest.fixture(scope="module")
def cell() -> Scenario:
    return msopt.draw("multispin-llama2", devices=4)[0]


def test_a_control_is_scored_by_the_evaluator(cell: Scenario) -> None:
    found = user_solution(f"{HERE}:three", cell, "heterogeneous")
    assert found.goodput == msopt.evaluate(cell, own_methods.three(cell)).goodput
    assert found.method == f"{HERE}:three"


def test_what_a_solution_says_of_itself_is_not_believed(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = msopt.solve(cell, "modes")
    monkeypatch.setattr(own_methods, "ours", lambda scenario: replace(honest, goodput=1e9))
    found = user_solution(f"{HERE}:ours", cell, "modes")
    assert found.goodput == honest.goodput


def test_one_protocol_serves_both_options(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole lengths get the split of [MS] Lemmas 2 and 3: all drafts are there at one time, and the band is used up."""
    wanted = [4, 2, 3, 1]
    monkeypatch.setattr(own_methods, "nothing", lambda scenario: np.array(wanted))
    found = user_solution(f"{HERE}:nothing", cell, "heterogeneous")
    assert found.control.draft_length.tolist() == wanted
    bits = cell.token_payload_bits("heterogeneous") / np.log2(1.0 + 10.0 ** (cell.uplink_snr_db / 10.0))
    arrives_s = np.array(wanted) * (cell.draft_s_per_token + bits / found.control.bandwidth_hz)
    assert arrives_s == pytest.approx(np.full(4, arrives_s[0]), rel=1e-9)
    assert found.control.bandwidth_hz.sum() == pytest.approx(cell.uplink_bandwidth_hz, rel=1e-9)
    score = score_formula(load_formula(f"{HERE}:nothing"), 0, cell)
    assert score.difference == found.goodput / msopt.solve(cell).goodput - 1.0
    assert user_solution(f"{HERE}:nothing", cell, "modes") is None
    monkeypatch.setattr(own_methods, "nothing", lambda scenario: np.array(wanted) + 0.5)
    assert score_formula(load_formula(f"{HERE}:nothing"), 0, cell).difference is not None
    with pytest.raises(ParameterError, match="real lengths, which are no control"):
        user_solution(f"{HERE}:nothing", cell, "heterogeneous")


def test_one_length_for_all_is_of_problem_homogeneous(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """[MS] Theorem 1 with one acceptance for all, as a user writes it: no more and no less than the real optimum."""
    alike = cell.replace(acceptance=np.full(4, 0.8))

    def scored(length: float) -> float | None:
        monkeypatch.setattr(own_methods, "nothing", lambda scenario: length)
        return score_formula(load_formula(f"{HERE}:nothing"), 0, alike).difference

    best = msopt.solve(alike, "homogeneous")
    whole = int(best.control.draft_length[0])
    assert scored(whole) == pytest.approx(0.0, abs=1e-12)
    assert user_solution(f"{HERE}:nothing", alike, "heterogeneous") is None
    found = user_solution(f"{HERE}:nothing", alike, "homogeneous")
    assert found.goodput == pytest.approx(best.goodput, rel=1e-12)
    theta_s = np.asarray(best.per_token_s, dtype=float)
    idle_s = alike.verify_base_s + 4 * alike.verify_per_device_s
    slope = -np.log(0.8)
    branch = lambertw(-np.exp(-1.0 - (idle_s / theta_s - 1.0) * slope), -1).real
    real = float(np.log(-branch) / slope - 1.0)
    assert scored(real) == pytest.approx(0.0, abs=1e-9)
    below = scored(float(whole + 2))
    assert below < -1e-3
    assert score_formula(load_formula(f"{HERE}:nothing"), 0, alike.replace(max_draft_length=1)).cause.endswith(
        f"outside 1 to 1: {whole + 2}"
    )


def test_it_joins_its_problem_alone(cell: Scenario) -> None:
    assert user_solution(f"{HERE}:three", cell, "modes") is None
    assert user_solution(f"{HERE}:nothing", cell, "heterogeneous") is None


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        ("text", ParameterError, "returns a str, not a Control"),
        ("without_control", ParameterError, "returns a Solution without a control"),
        ("fails", ParameterError, "fails on multispin-llama2 K=4 seed=0: AttributeError"),
        ("too_wide", InfeasibleError, "the uplink bandwidth budget is broken by 100000 Hz"),
        ("missing", ParameterError, '"missing" is not a function or class of module tests.reports.own_methods'),
        ("too_wid", ParameterError, "own_methods; did you mean too_wide?"),
    ],
)
def test_errors(cell: Scenario, function: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        user_solution(f"{HERE}:{function}", cell, "heterogeneous")
    assert words in str(caught.value)
    assert "--method" in str(caught.value)


def test_a_file_in_place_of_a_module_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def formula(cell):\n    return 4\n")
    with pytest.raises(ParameterError) as caught:
        load_formula("mine.py:formula")
    assert str(caught.value) == '--formula "mine.py:formula" names a file; its module is mine'


@pytest.mark.parametrize(
    ("function", "as_method", "as_formula"),
    [
        ("leaves", "SystemExit: 0", "SystemExit: 0"),
        ("interrupts", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("closes_itself", "GeneratorExit", "GeneratorExit"),
        ("says_nothing", "SilentError", "SilentError"),
        ("says_much", "ValueError: line line", "ValueError: line line"),
        ("recurses", "RecursionError", "RecursionError"),
        ("named_control", "returns a Fake", "returns a Fake, not a Control"),
        ("empty_control", "is no whole Control: AttributeError", "is no whole Control: AttributeError"),
        ("unchecked_control", "bandwidth_hz holds a number that is not finite", "not finite"),
        ("complex_control", "omplex", "omplex"),
        ("many_rounds", "shape (2, 4)", "shape (2, 4)"),
        ("waits", "returns a coroutine", "returns a coroutine"),
        (
            "complex_lengths",
            "returns a ndarray",
            "not a Control, a Solution with one, 4 draft lengths or one for all, or None",
        ),
        ("too_many_lengths", "returns a ndarray of shape (5,), not a Control", "4 draft lengths or one for all"),
        ("masked_lengths", "returns a MaskedArray", "returns a MaskedArray"),
        ("nan_lengths", "a length outside 1 to 25: nan", "a length outside 1 to 25: nan"),
        ("ragged_lengths", "is no array: ValueError", "is no array: ValueError"),
        ("no_array", "is no array: SystemExit: no array", "is no array: SystemExit: no array"),
    ],
)
def test_whatever_a_function_does_is_one_line(cell: Scenario, function: str, as_method: str, as_formula: str) -> None:
    with pytest.raises(ParameterError) as caught:
        user_solution(f"{HOSTILE}:{function}", cell, "heterogeneous")
    score = score_formula(load_formula(f"{HOSTILE}:{function}"), 0, cell)
    assert score.difference is None
    for text, words in ((str(caught.value), as_method), (score.cause, as_formula)):
        assert words in text
        assert "\n" not in text
        assert len(text) < 500


def test_what_a_function_prints_warns_and_closes_stays_apart(cell: Scenario, capfd: pytest.CaptureFixture[str]) -> None:
    folder, settings = os.getcwd(), np.geterr()
    found = user_solution(f"{HOSTILE}:loud", cell, "heterogeneous")
    assert found.goodput == msopt.evaluate(cell, own_methods.three(cell)).goodput
    assert (os.getcwd(), np.geterr()) == (folder, settings)
    print("ours")
    os.write(1, b"ours\n")
    told = capfd.readouterr()
    assert sorted(told.out.split()) == ["ours", "ours"]
    assert sorted(told.err.splitlines()) == [
        "ECHOED",
        "PRINTED",
        "WRITTEN",
        f"warning: --method {HOSTILE}:loud: UserWarning: WARNED",
    ]


def test_what_a_function_does_to_the_scenario_is_its_own(cell: Scenario) -> None:
    found = user_solution(f"{HOSTILE}:rewrites", cell, "heterogeneous")
    assert found.goodput == msopt.evaluate(cell, own_methods.three(cell)).goodput


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_is_not_taken_for_a_fault_of_the_function(cell: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(scenario: Scenario) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(60.0)

    monkeypatch.setattr(own_methods, "nothing", interrupted)
    with pytest.raises(Interrupted):
        user_solution(f"{HERE}:nothing", cell, "heterogeneous")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
