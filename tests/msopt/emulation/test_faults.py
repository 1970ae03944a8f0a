"""Faults against arithmetic of their own, and what no fault may touch: the texts, and everybody else's luck."""

from typing import Any

import numpy as np
import pytest

from msopt import PROBLEMS, Control, Fault, FaultPlan, LeftOut, ParameterError, PlayedRounds, attribution, emulate
from msopt.emulation.fault_plan_toml import parse_fault_plan, read_fault_plan
from msopt.emulation.sources import OnUplink, PlayedTokens, RoundSources, Watch
from msopt.model.scenario import Problem
from tests.cases import s2, s3, scenario_of
from tests.msopt.emulation.test_played_rounds import ToldClock, control_of, with_law
from tests.tolerances import EXACT, STANDARD_ERRORS

CELL = scenario_of(s3())
SURE = CELL.replace(acceptance=[1.0, 1.0, 1.0])
LENGTHS = [2, 3, 4]
RATE = 20e6 / 3 * np.log2(1.0 + 10.0 ** np.array([1.4, 0.0, -0.6]))
DRAFT_S = np.array(LENGTHS) * np.array([0.02, 0.03, 0.04])
AIR_S = np.array(LENGTHS) * 17 / RATE
VERIFY_S = {3: 0.2 + 12e-4, 2: 0.2 + 8e-4}
"""Of all three devices, and without the second."""


def plan(*faults: dict[str, Any], **options: Any) -> LeftOut:
    return LeftOut(faults=FaultPlan(faults=tuple(Fault(**fault) for fault in faults), **options))


def of_second(kind: str, **fault: Any) -> dict[str, Any]:
    return {"kind": kind, "devices": ("dev-2",), **fault}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_fault_is_the_same_play_to_the_last_digit(problem: Problem) -> None:
    control = control_of(CELL, problem, [3, 3, 3])
    plain = emulate(CELL, control, 60, seed=2)
    never = {"kind": "lost", "probability": 0.0}, {"kind": "dropout", "first_round": 60}
    for left_out in (plan(deadline_factor=1.0), plan(*never, deadline_factor=2.0)):
        assert emulate(CELL, control, 60, seed=2, left_out=left_out).to_frame().equals(plain.to_frame())


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_device_away_for_the_whole_run_is_a_run_without_it(problem: Problem) -> None:
    control = control_of(CELL, problem, [3, 3, 3])
    without = Control(
        problem=problem,
        draft_length=[3, 0, 3],
        bandwidth_hz=control.bandwidth_hz,
        served=np.array([True, False, True]),
    )
    away = emulate(CELL, control, 60, seed=2, left_out=plan(of_second("dropout"), deadline_factor=1.5))
    assert away.to_frame().equals(emulate(CELL, without, 60, seed=2).to_frame())


def test_who_is_away_comes_back_and_nobody_else_notices() -> None:
    control = control_of(CELL, "modes", LENGTHS)
    plain = emulate(CELL, control, 30, seed=2)
    played = emulate(CELL, control, 30, seed=2, left_out=plan(of_second("dropout", first_round=5, end_round=9)))
    away = np.zeros((30, 3), dtype=bool)
    away[5:9, 1] = True
    assert np.array_equal(played.drafts, ~away)
    assert np.array_equal(played.tokens, np.where(away, 0, plain.tokens))


def test_a_lost_draft_brings_nothing_and_is_waited_for_until_it_was_due() -> None:
    played = emulate(SURE, control_of(SURE, "modes", LENGTHS), 6, left_out=plan(of_second("lost", first_round=4)))
    assert played.tokens.tolist() == [[3, 4, 5]] * 4 + [[3, 0, 5]] * 2
    due_s = (DRAFT_S + AIR_S).max()
    assert played.round_s == pytest.approx([due_s + VERIFY_S[3]] * 4 + [due_s + VERIFY_S[2]] * 2, rel=EXACT)


@pytest.mark.parametrize(
    ("fault", "deadline", "waits_s", "there"),
    [
        (of_second("straggler", factor=10.0), None, 10.0 * DRAFT_S[1] + AIR_S[1], True),
        (of_second("straggler", factor=10.0), 2.0, 2.0 * (DRAFT_S + AIR_S).max(), False),
        (of_second("straggler", factor=2.0), 2.0, 2.0 * DRAFT_S[1] + AIR_S[1], True),
        (of_second("late", delay_s=0.5), None, DRAFT_S[1] + AIR_S[1] + 0.5, True),
        (of_second("late", delay_s=0.5), 1.5, 1.5 * (DRAFT_S + AIR_S).max(), False),
        (of_second("late", delay_s=0.01), 1.0, (DRAFT_S + AIR_S).max(), True),
        (of_second("lost"), 3.0, (DRAFT_S + AIR_S).max(), False),
    ],
    ids=["awaited", "too slow", "slow", "late", "too late", "late in time", "lost"],
)
def test_the_deadline(fault: dict[str, Any], deadline: float | None, waits_s: float, there: bool) -> None:
    left_out = plan(fault, deadline_factor=deadline)
    played = emulate(SURE, control_of(SURE, "modes", LENGTHS), 3, left_out=left_out)
    assert played.round_s == pytest.approx([waits_s + VERIFY_S[3 if there else 2]] * 3, rel=EXACT)
    assert played.tokens.tolist() == [[3, 4 * there, 5]] * 3


def test_a_draft_of_no_bits_may_be_late_and_who_sends_none_is_not() -> None:
    """Where tokens cost no bits a message still has its delay; a device that drafts nothing sends none."""
    cell = SURE.replace(token_bits=0.0)
    left_out = plan({"kind": "late", "devices": ("dev-2", "dev-3"), "delay_s": 0.5})
    played = emulate(cell, control_of(cell, "modes", [2, 3, 0]), 2, left_out=left_out)
    assert played.upload_end_s[0] == pytest.approx([DRAFT_S[0], DRAFT_S[1] + 0.5, 0.0], rel=EXACT)


def test_a_late_result_holds_up_the_round() -> None:
    plain = emulate(SURE, control_of(SURE, "modes", LENGTHS), 4)
    left_out = plan(of_second("late-result", delay_s=0.3), {"kind": "late-result", "delay_s": 0.1})
    played = emulate(SURE, control_of(SURE, "modes", LENGTHS), 4, left_out=left_out)
    assert played.round_s == pytest.approx(plain.round_s + 0.4, rel=EXACT)
    assert np.array_equal(played.tokens, plain.tokens)


def test_a_round_without_anybody_lasts_as_planned() -> None:
    left_out = plan({"kind": "dropout", "first_round": 1, "end_round": 2})
    played = emulate(SURE, control_of(SURE, "modes", LENGTHS), 3, left_out=left_out)
    assert played.round_s == pytest.approx([(DRAFT_S + AIR_S).max() + VERIFY_S[3]] * 3, rel=EXACT)
    assert played.round_tokens.tolist() == [12, 0, 12]


def test_absences_last_and_their_share_is_right() -> None:
    """Away where an absence has begun in any of the last three rounds: 1 - 0.9^3 of them; three rounds share luck."""
    fault = Fault(kind="dropout", probability=0.1, absent_rounds=3)
    away = FaultPlan(faults=(fault,)).strikes(CELL.device_names, 30_000, 1).away[3:]
    error = np.sqrt(3 * 0.271 * 0.729 / away.size)
    assert abs(away.mean() - 0.271) < STANDARD_ERRORS * error
    edges = np.diff(away[:, 0].astype(int))
    lasted = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)[: np.count_nonzero(edges == -1)]
    assert np.median(lasted) == 3
    assert lasted.min() == 3


@pytest.mark.parametrize("law", ["geometric", "curve"])
def test_acceptance_that_has_drifted_is_another_acceptance(law: str) -> None:
    cell = scenario_of(with_law(law))
    control = control_of(cell, "heterogeneous", [5, 5, 5])
    drifted = emulate(cell, control, 400, left_out=plan({"kind": "drift", "factor": 0.5, "end_round": 1}))
    other = with_law(law)
    for device in other["devices"]:
        if law == "curve":
            curve = [0.5**l * survival for l, survival in enumerate(device["acceptance_curve"], start=1)]
            device["acceptance_curve"] = curve
        else:
            device["acceptance"] *= 0.5
    assert np.array_equal(drifted.accepted, emulate(scenario_of(other), control, 400).accepted)


def test_acceptance_drifts_in_a_straight_line() -> None:
    """Under the Beta law, too: none is left in the end, and nobody else's changes."""
    fault = Fault(**of_second("drift", first_round=2, end_round=6, factor=0.0))
    kept = FaultPlan(faults=(fault,)).strikes(CELL.device_names, 8, 0).kept
    assert kept[:, 1] == pytest.approx([1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0])
    assert np.all(kept[:, [0, 2]] == 1.0)
    cell = scenario_of(with_law("beta"))
    control = control_of(cell, "heterogeneous", [5, 5, 5])
    played = emulate(cell, control, 60, left_out=LeftOut(faults=FaultPlan(faults=(fault,)), text_tokens=20))
    assert not played.accepted[6:, 1].any()
    assert played.accepted[6:, 0].any()


class GreedyTexts:
    """A source that checks positions: a device drafts behind its own copy of its text, the server behind its own.

    The text is 0, 1, 2, ...; a device guesses right where the token is no multiple of its own number.
    """

    def __init__(self) -> None:
        self.texts: list[list[int]] = [[], [], []]
        self.copies: list[list[int]] = [[], [], []]

    def play(
        self, draft_length: np.ndarray, drafts: np.ndarray, arrives: np.ndarray, on_uplink: OnUplink
    ) -> PlayedTokens:
        del on_uplink
        assert not np.any(arrives & ~drafts)
        drafted = np.where(drafts, draft_length, 0)
        accepted, tokens = np.zeros_like(drafted), np.zeros_like(drafted)
        for place, device in zip(*np.nonzero(arrives), strict=True):
            text, copy = self.texts[device], self.copies[device]
            begin = len(copy)
            guesses = [n if n % (device + 3) else -1 for n in range(begin, begin + drafted[place, device])]
            assert begin == len(text), "a draft must stand where the text ends"
            right = [n for n in guesses if n >= 0]
            run = guesses.index(-1) if -1 in guesses else len(right)
            text += [*guesses[:run], begin + run]
            copy[:] = text
            accepted[place, device], tokens[place, device] = run, run + 1
        return PlayedTokens(drafted, accepted, tokens)


class OneSecond:
    """Steps of one second."""

    def draft_s(self, drafted: np.ndarray) -> np.ndarray:
        return np.ones(drafted.shape)

    def verify_s(self, drafted: np.ndarray, arrives: np.ndarray) -> np.ndarray:
        del drafted
        return np.ones(len(arrives))


def texts_of(left_out: LeftOut, watch: Watch | None = None) -> tuple[PlayedRounds, list[list[int]]]:
    source = GreedyTexts()
    sources = RoundSources(source, OneSecond())
    control = control_of(CELL, "modes", LENGTHS)
    return emulate(CELL, control, 80, left_out=left_out, sources=sources, watch=watch, seed=3), source.texts


def test_no_text_is_corrupted_whatever_strikes() -> None:
    faults = (
        {"kind": "dropout", "probability": 0.05, "absent_rounds": 4},
        {"kind": "lost", "probability": 0.2},
        {"kind": "late", "probability": 0.2, "delay_s": 0.5},
        {"kind": "straggler", "probability": 0.2, "factor": 9.0},
        {"kind": "late-result", "probability": 0.2, "delay_s": 0.5},
    )
    _, whole = texts_of(LeftOut())
    pieces: list[PlayedRounds] = []
    struck, texts = texts_of(plan(*faults, deadline_factor=1.5))
    for text, full, written in zip(texts, whole, struck.tokens.sum(axis=0), strict=True):
        assert text == list(range(written)) == full[:written]
        assert 0 < written < len(full)
    by_one, _ = texts_of(plan(*faults, deadline_factor=1.5), Watch(1, pieces.append))
    assert len(pieces) == 80
    assert by_one.to_frame().equals(struck.to_frame())
    assert sum(piece.tokens.sum() for piece in pieces) == struck.tokens.sum()


@pytest.mark.parametrize("left_out", [LeftOut(), LeftOut(text_tokens=9, compute_variation=0.2, coherence_rounds=4)])
@pytest.mark.parametrize("rule", ["best", "random"])
def test_who_watches_changes_nothing(left_out: LeftOut, rule: Any) -> None:
    control = control_of(CELL, "modes", [3, 3, 3], rule)
    seen: list[PlayedRounds] = []
    watched = emulate(CELL, control, 50, left_out=left_out, seed=1, watch=Watch(7, seen.append))
    assert watched.to_frame().equals(emulate(CELL, control, 50, left_out=left_out, seed=1).to_frame())
    assert [piece.rounds for piece in seen] == [7] * 7 + [1]
    assert watched.goodput == pytest.approx(sum(p.tokens.sum() for p in seen) / sum(p.round_s.sum() for p in seen))


def test_a_plan_with_a_seed_strikes_every_play_alike() -> None:
    control = control_of(CELL, "modes", LENGTHS)
    loss = {"kind": "lost", "probability": 0.3}
    arrives = [
        [emulate(CELL, control, 40, left_out=plan(loss, seed=seed), seed=own).arrives for own in (1, 2)]
        for seed in (5, None)
    ]
    assert np.array_equal(*arrives[0])
    assert not np.array_equal(*arrives[1])


def test_each_fault_has_its_cost() -> None:
    control = control_of(SURE, "modes", LENGTHS)
    faults = of_second("lost", end_round=20), of_second("lost", first_round=20), {"kind": "late-result", "delay_s": 0.1}
    costs = attribution(SURE, control, 40, plan(*faults, seed=1))
    assert [cost.effect for cost in costs] == [
        "lost drafts (1)", "lost drafts (2)", "late results", "all of these at once"
    ]  # fmt: skip
    round_s = (DRAFT_S + AIR_S).max() + VERIFY_S[3]
    assert costs[2].cost == pytest.approx(1.0 - round_s / (round_s + 0.1), rel=EXACT)


def test_models_do_not_drift_by_order() -> None:
    sources = RoundSources(GreedyTexts(), ToldClock())
    control = control_of(CELL, "modes", LENGTHS)
    with pytest.raises(ParameterError, match='"drift" needs acceptance laws'):
        emulate(CELL, control, 2, sources=sources, left_out=plan({"kind": "drift", "factor": 0.5}))


def test_a_plan_from_its_file(tmp_path: Any) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(
        'deadline_factor = 2\nseed = 3\n[[faults]]\nkind = "late"\ndevices = ["dev-1"]\nfirst_round = 4\n'
        'delay_s = 0.1\n[[faults]]\nkind = "drift"\nfactor = 0.5\n'
    )
    late = Fault(kind="late", devices=("dev-1",), first_round=4, delay_s=0.1)
    faults = (late, Fault(kind="drift", factor=0.5))
    assert read_fault_plan(path) == FaultPlan(faults=faults, deadline_factor=2, seed=3)
    path.write_text("[[faults]]")
    with pytest.raises(ParameterError, match=r"faults.toml: faults\[0\]: kind is missing"):
        read_fault_plan(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no faults"),
        ("faults = 3", "no faults"),
        ("deadline = 2", 'unknown key "deadline"; did you mean deadline_factor'),
        ("deadline_factor = 0.5\n[[faults]]\nkind = 'lost'", "deadline_factor = 0.5"),
        ("seed = -1\n[[faults]]\nkind = 'lost'", "seed = -1"),
        ("faults = [3]", r"faults\[0\]: 3 is not a table"),
        ("[[faults]]\nkind = 'gone'", r'faults\[0\]: kind = "gone" is not "dropout" or "lost"'),
        ("[[faults]]\nkind = ['lost']", r"kind = \['lost'\]"),
        ("[[faults]]\nkind = 'lost'\nprobabilty = 1", "did you mean probability"),
        ("[[faults]]\nkind = 'lost'\nprobability = 'often'", 'probability = "often"'),
        ("[[faults]]\nkind = 'lost'\nprobability = 2", "probability = 2 is not between 0 and 1"),
        ("[[faults]]\nkind = 'lost'\ndelay_s = 2", 'delay_s does not go with kind = "lost"'),
        ("[[faults]]\nkind = 'late'", 'kind = "late" needs delay_s'),
        ("[[faults]]\nkind = 'straggler'\nfactor = 0.5", "factor = 0.5"),
        ("[[faults]]\nkind = 'drift'\nfactor = 1.5", "factor = 1.5"),
        ("[[faults]]\nkind = 'drift'\nfactor = 0.5\nprobability = 0.5", "probability = 0.5"),
        ("[[faults]]\nkind = 'lost'\ndevices = []", "devices is empty"),
        ("[[faults]]\nkind = 'lost'\ndevices = 'dev-1'", "not a list of names"),
        ("[[faults]]\nkind = 'lost'\nfirst_round = 4\nend_round = 4", "end_round = 4"),
        ("[[faults]]\nkind = 'dropout'\nabsent_rounds = 0", "absent_rounds = 0"),
        ("[[faults]]\nkind = 'late'\ndelay_s = nan", "delay_s = nan"),
    ],
)
def test_bad_plans(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        parse_fault_plan(text)


def test_only_devices_of_the_scenario() -> None:
    cell = scenario_of(s2())
    with pytest.raises(ParameterError, match='devices: "dev-3" is not a device'):
        emulate(cell, control_of(cell, "modes", [1, 1]), 2, left_out=plan({"kind": "lost", "devices": ("dev-3",)}))
