"""`msopt study`: measure, optimise, play and set side by side, in one command with tiny models."""

import json

import pytest

from msopt import Scenario, solve
from tests.reports.command import Command, assert_one_line
from tests.tolerances import EXACT
from tests.verification.tiny import write_model


def test_the_loop_is_closed_in_one_command(msopt: Command) -> None:
    draft = write_model(msopt.folder / "draft", seed=1, layers=2)
    target = write_model(msopt.folder / "target", seed=2, layers=2)
    folder = msopt.folder / "out"
    ask = ("study", "--draft", draft, "--target", target, "--task", "chat", "--prompts", 2, "--tokens", 6)
    answer = msopt.done(*ask, "--rounds", 32, "--devices", 2, "--seed", 1, "--output", folder)
    assert sorted(file.name for file in folder.iterdir()) == [
        "loop.json",
        "profile-1.json",
        "scenario.toml",
        "timeline.svg",
    ]
    record = json.loads((folder / "loop.json").read_text())
    assert [row["prompts"] for row in record["plays"]] == ["seen"] * 8 + ["unseen"] * 8
    cell = Scenario.read(folder / "scenario.toml")
    for row in record["plays"]:
        assert row["device_rounds"] == 64
        promised = solve(cell, row["problem"], row["method"]).goodput
        assert row["predicted_goodput_curve"] == pytest.approx(promised, rel=EXACT)
        assert row["tokens_low"] <= row["tokens_per_round"] <= row["tokens_high"]
    phases = [row for row in record["phases"] if row["method"] == "decomposition" and row["problem"] == "modes"]
    assert sum(row["realised_s"] for row in phases[:3]) == pytest.approx(phases[3]["realised_s"], rel=EXACT)
    first = record["order"][0]
    ours, other = record["plays"][0], record["plays"][1]
    assert (first["method"], first["against"]) == (ours["method"], other["method"])
    assert first["realised_gain"] == pytest.approx(ours["goodput"] / other["goodput"] - 1.0, rel=EXACT)
    assert {row["of"] for row in record["assumptions"]} == {"tokens", "time"}
    assert "equal-bandwidth" in answer.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--rounds 31 --draft skip-1", ["--rounds = 31", "at least 32"]),
        ("smollm2-skip-4 --tokens 0", ["--tokens = 0", "at least 1"]),
        ("", ["neither a profile nor --draft"]),
        ("qwen2.5-coder-0.5b-1.5b", ["qwen2.5-coder-0.5b-1.5b", "--draft and --target"]),
    ],
)
def test_what_a_study_needs(msopt: Command, line: str, words: list[str]) -> None:
    assert_one_line(msopt("study", *line.split(), "--output", msopt.folder / "out"), 2, words)


def test_where_no_folder_can_be_is_told_before_the_study(msopt: Command) -> None:
    (msopt.folder / "file").write_text("", encoding="utf-8")
    assert_one_line(msopt("study", "smollm2-skip-4", "--output", msopt.folder / "file"), 2, ["is not a folder"])
