"""The table of the joint-law bound: never below the optimum, tighter where the server has power to spare."""

import statistics

import pytest

from benchmarks import joint_law


def test_gaps() -> None:
    records = list(joint_law.gaps(devices=3, draws=2))
    assert len(records) == len(joint_law.PRESETS) * len(joint_law.POWERS_DBM)
    gap = {(record["preset"], record["downlink_power_dbm"]): record["gaps"] for record in records}
    assert min(min(values) for values in gap.values()) > -joint_law.BELOW_RTOL
    for preset in joint_law.PRESETS:
        assert statistics.median(gap[preset, 30.0]) < statistics.median(gap[preset, 0.0])


def test_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["joint_law", "--devices", "2", "--draws", "2"])
    joint_law.main()
    assert "uldl-deepseek-r1" in capsys.readouterr().out
