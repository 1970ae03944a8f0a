"""`msopt emulate` as a user calls it, and its timeline."""

import json

import numpy as np
import pytest

from msopt import Control, Fault, FaultPlan, LeftOut, emulate
from reports.plots.style import rendered
from reports.plots.timeline import timeline_panel
from tests.cases import s1, s2, s3, scenario_of
from tests.reports.command import Command, assert_one_line
from tests.tolerances import EXACT

FILES = ["emulation.json", "rounds.csv", "timeline.pdf", "timeline.svg"]


def test_what_it_prints_and_writes(msopt: Command) -> None:
    path, folder = msopt.scenario(s3()), msopt.folder / "out"
    ask = ("emulate", path, "--problem", "modes", "--rounds", 64, "--seed", 2)
    record = msopt.done(*ask, "--output", folder, "--format", "json").record
    assert sorted(file.name for file in folder.iterdir()) == FILES
    assert json.loads((folder / "emulation.json").read_text()) == record
    solved = msopt.solved(path, "modes")
    assert record["predicted_tokens_per_s"] == solved["goodput_tokens_per_s"]
    assert [device["draft_length"] for device in record["devices"]] == [d["draft_length"] for d in solved["devices"]]
    each = sum(device["goodput_tokens_per_s"] for device in record["devices"])
    assert each == pytest.approx(record["goodput_tokens_per_s"], rel=EXACT)
    head, *rows = (folder / "rounds.csv").read_text().splitlines()
    assert len(rows) == 64 * 3
    tokens = head.split(",").index("tokens")
    total = sum(int(row.split(",")[tokens]) for row in rows)
    assert total / record["seconds"] == pytest.approx(record["goodput_tokens_per_s"], rel=EXACT)
    table = msopt.done(*ask).out
    assert all(cost["effect"] in table for cost in record["left_out"])
    assert "dev-3" in table


def test_anyone_s_control_is_played(msopt: Command) -> None:
    path, control = msopt.scenario(s2()), msopt.folder / "control.json"
    msopt.done("solve", path, "--method", "fixed", "--length", 3, "--output", control)
    record = msopt.done("emulate", path, "--control", control, "--rounds", 32, "--format", "json").record
    assert [device["draft_length"] for device in record["devices"]] == [3, 3]
    reaction = msopt.folder / "reaction.json"
    reaction.write_text(msopt.done("react", path, "--rejected", "dev-1", "--format", "json").out)
    assert_one_line(msopt("emulate", path, "--control", reaction), 2, ["reaction.json", "reaction to one outcome"])
    assert_one_line(msopt("emulate", path, "--control", control, "--method", "fixed"), 2, ["--control", "--method"])


def test_one_device_does_not_drop_out(msopt: Command) -> None:
    record = msopt.done("emulate", msopt.scenario(s1()), "--rounds", 32, "--format", "json").record
    assert "a device drops out" not in [cost["effect"] for cost in record["left_out"]]


def test_faults_stand_beside_the_undisturbed_run(msopt: Command) -> None:
    path, faults = msopt.scenario(s2()), msopt.folder / "faults.toml"
    away = '[[faults]]\nkind = "dropout"\ndevices = ["dev-1"]\nend_round = 16\n'
    faults.write_text(away + '[[faults]]\nkind = "lost"\nprobability = 0.5')
    ask = ("emulate", path, "--rounds", 64)
    plain = msopt.done(*ask, "--format", "json").record
    record = msopt.done(*ask, "--faults", faults, "--format", "json", "--output", msopt.folder / "out").record
    assert record["undisturbed_tokens_per_s"] == plain["goodput_tokens_per_s"] > record["goodput_tokens_per_s"]
    left, lost, both = record["left_out"]
    assert [left["effect"], lost["effect"]] == ["a device drops out", "lost drafts"]
    assert both["goodput"] == record["goodput_tokens_per_s"]
    shares = (plain["goodput_tokens_per_s"] - both["goodput"]) / record["predicted_tokens_per_s"]
    assert both["cost"] == pytest.approx(shares, rel=EXACT)
    table = msopt.done(*ask, "--faults", faults).out
    assert "dev-1, rounds 1 to 16" in table
    assert "50 % of rounds" in table
    faults.write_text('[[faults]]\nkind = "lost"\ndevices = ["dev-9"]')
    assert_one_line(msopt(*ask, "--faults", faults), 2, ["faults.toml", '"dev-9" is not a device'])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--rounds 31", ["--rounds = 31", "at least 32"]),
        ("--method server-only", ["server-only", "no one control"]),
        ("--problem all", ["'all'", "'heterogeneous'"]),
        ("--output=", ["--output is empty"]),
        ("--faults nowhere.toml", ["nowhere.toml"]),
    ],
)
def test_bad_commands_write_nothing(msopt: Command, line: str, words: list[str]) -> None:
    path = msopt.scenario(s2())
    assert_one_line(msopt("emulate", path, "--output", msopt.folder / "out", *line.split()), 2, words)
    assert [file.name for file in msopt.folder.iterdir()] == ["scenario.toml"]


def test_the_timeline_fills_every_round_of_every_device() -> None:
    scenario = scenario_of(s3())
    control = Control(problem="modes", draft_length=[4, 3, 2], bandwidth_hz=[scenario.equal_share_hz] * 3)
    faults = Fault(kind="lost", probability=0.3), Fault(kind="dropout", devices=("dev-3",), first_round=2)
    left_out = LeftOut(faults=FaultPlan(faults=faults))
    played = emulate(scenario, control, 3, left_out=left_out, seed=3)
    figure = timeline_panel(played, "three rounds")
    (axes,) = figure.axes
    filled = dict.fromkeys(range(4), 0.0)
    for bar in axes.patches:
        filled[round(bar.get_y() + bar.get_height() / 2)] += bar.get_width()
    whole = played.start_s[3]
    assert [filled[row] for row in (0, 1, 3)] == pytest.approx([whole] * 3, rel=EXACT)
    assert filled[2] == pytest.approx(played.start_s[2], rel=EXACT), "who has left is not drawn"
    words = {text.get_text() for text in axes.texts}
    assert {"round 1", "round 2", "round 3", "verifies", "takes no part"} <= words
    won = [(played.accepted[0, k], played.drafted[0, k]) for k in range(3) if played.arrives[0, k]]
    assert all(any(text.startswith(f"{a}/{d}") for text in words) for a, d in won)
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    missed_s = np.sum((played.start_s[1:4, None] - played.upload_end_s[:3]) * (played.drafts & ~played.arrives)[:3])
    assert missed_s > 0.0
    share = 100.0 * missed_s / (3 * whole - (whole - played.start_s[2]))
    assert f"its draft is lost or too late ({share:.2g} %)" in legend
    assert rendered(figure, "svg", "timeline") == rendered(timeline_panel(played, "three rounds"), "svg", "timeline")
