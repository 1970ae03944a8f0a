"""The bundled scenarios, those drawn from presets, and where a scenario is looked for."""

from pathlib import Path

import pytest

from msopt import PRESETS, Scenario, bundled, draw
from tests.cases import s2
from tests.reports.command import Command


def test_scenarios(msopt: Command) -> None:
    text = msopt.done("scenarios").out
    for name in bundled.names():
        line = next(line for line in text.splitlines() if line.split()[:1] == [name])
        assert int(line.split()[1]) == Scenario.read(bundled.path(name)).device_count
        assert len(line.split()) > 4


@pytest.mark.parametrize("preset", PRESETS)
def test_scenario(msopt: Command, preset: str) -> None:
    options = ["--devices", 3, "--seed", 4, "--bandwidth-hz", 5e6, "--uplink-power-dbm", 7, "--downlink-power-dbm", 20]
    drawn, comment = draw(preset, devices=3, seed=4, bandwidth_hz=5e6, uplink_power_dbm=7.0, downlink_power_dbm=20.0)
    printed, written = msopt.folder / "printed.toml", msopt.folder / "written.toml"
    printed.write_text(msopt.done("scenario", preset, *options).out, encoding="utf-8")
    assert msopt.done("scenario", preset, *options, "--output", written).out == ""
    assert printed.read_text(encoding="utf-8") == written.read_text(encoding="utf-8")
    assert Scenario.read(written) == drawn
    assert written.read_text(encoding="utf-8").startswith(f"# {comment.splitlines()[0]}\n")
    assert len(msopt("solve", written, "--problem", "all", "--format", "json").record) == 3


def test_bundled_presets_are_drawn_so(msopt: Command) -> None:
    for preset in PRESETS:
        assert msopt.done("scenario", preset).out == bundled.path(preset).read_text(encoding="utf-8")


def test_a_path_wins(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(msopt.folder)
    assert len(msopt.solved("qwen-coder", "heterogeneous")["devices"]) == 8
    Path(msopt.scenario(s2())).rename("qwen-coder")
    assert len(msopt.solved("qwen-coder", "heterogeneous")["devices"]) == 2
