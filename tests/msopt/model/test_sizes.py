"""Whole numbers, sizes and texts without end are refused before anything is computed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msopt import ParameterError, draw, solve
from msopt.errors import LONGEST, MsoptError, describe
from msopt.files.control_json import parse_control
from msopt.files.json_text import load_json
from msopt.files.scenario_toml import load_toml
from msopt.files.whole_files import write_text
from msopt.model.validation import LARGEST_WHOLE, MOST_SAMPLES, check_whole
from msopt.numerics import memory
from msopt.numerics.memory import available_bytes, require_memory
from msopt.options import checked_options
from tests.cases import s3, scenario_of

ENDLESS = (2**63, 2**64, 10**300, 10**5000)


# Whole numbers


@pytest.mark.parametrize("value", ENDLESS, ids=lambda value: f"{value.bit_length()} bits")
def test_whole_numbers_without_end(value: int) -> None:
    scenario = scenario_of(s3())
    tries: list[tuple[Callable[[], object], str]] = [
        (lambda: scenario.replace(max_draft_length=value), "limits.max_draft_length"),
        (lambda: scenario.replace(min_draft_length=value, max_draft_length=value), "limits.min_draft_length"),
        (lambda: draw("uldl-qwen25", devices=value), "devices"),
        (lambda: draw("uldl-qwen25", devices=3, seed=value), "seed"),
        (lambda: solve(scenario, "modes", seed=value), "option seed"),
        (lambda: solve(scenario, "modes", samples=value), "option samples"),
        (lambda: solve(scenario, "heterogeneous", "fixed", length=value), "option length"),
        (lambda: solve(scenario, "heterogeneous", "grid", grid_phi=value), "option grid_phi"),
        (lambda: solve(scenario, "heterogeneous", "grid", grid_lambda=value), "option grid_lambda"),
        (lambda: solve(scenario, "modes", "exact", node_limit=value), "option node_limit"),
    ]
    for attempt, name in tries:
        with pytest.raises(ParameterError, match=f"{name} = .* is above .*, the most that is allowed"):
            attempt()
    if value < 10**4000:  # JSON's own limit of digits comes first
        named = [{"name": f"dev-{k + 1}", "draft_length": value, "bandwidth_hz": 1.0} for k in range(3)]
        with pytest.raises(ParameterError, match=r"devices\[0\].draft_length"):
            parse_control(json.dumps({"devices": named}), scenario)


def test_what_is_just_allowed() -> None:
    check_whole("seed", LARGEST_WHOLE, 0)
    assert draw("uldl-qwen25", devices=2, seed=LARGEST_WHOLE)[0].device_count == 2
    assert checked_options("decomposition", {"samples": MOST_SAMPLES, "seed": LARGEST_WHOLE}).samples == MOST_SAMPLES
    assert checked_options("decomposition", {"samples": np.int32(100)}).samples == 100


@pytest.mark.parametrize("longest", [10**9 + 1, 10**17])
def test_lengths_of_many_digits(longest: int) -> None:
    with pytest.raises(ParameterError, match=r"max_draft_length = .* is above 1000000000, the most that is allowed"):
        scenario_of(s3()).replace(max_draft_length=longest)


# Sizes


def test_a_grid_that_no_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenario_of(s3())
    with pytest.raises(ParameterError, match="option grid_phi = 1000000000 is above 10000"):
        solve(scenario, "heterogeneous", "grid", grid_phi=10**9)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    with pytest.raises(ParameterError, match=r"a grid of 10000 x 10000 points for 3 devices needs .* fewer points"):
        solve(scenario, "heterogeneous", "grid", grid_phi=10_000, grid_lambda=10_000)


def test_a_table_of_lengths_beyond_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    long = scenario_of(s3(limits={"max_draft_length": 2_000_000}))
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    with pytest.raises(ParameterError, match=r"needs about 1144 MiB of memory; 1024 MiB .*; lower max_draft_length"):
        solve(long, "modes")


def test_samples_that_no_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = draw("uldl-qwen25", devices=50)[0]
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    with pytest.raises(ParameterError, match="drawing 10000 outcomes of 50 devices needs about 1 MiB of memory; 1 MiB"):
        solve(scenario, "modes", "computation-only", samples=10_000)


MEMINFO = """MemTotal:       24690000 kB
MemFree:          203776 kB
MemAvailable:   24117248 kB
"""


def test_memory_that_files_fill_is_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """199 MiB are free, 23 GiB available."""
    told = tmp_path / "meminfo"
    told.write_text(MEMINFO)
    monkeypatch.setattr(memory, "_MEMINFO", str(told))
    assert available_bytes() == 23 << 30
    require_memory(22 << 30, "a table")
    with pytest.raises(ParameterError, match="a table needs about 24576 MiB of memory; 23552 MiB are available; wait"):
        require_memory(24 << 30, "a table", "wait")
    for text in ("", "MemTotal: 1 kB\n", "MemAvailable:\n"):
        told.write_text(text)
        assert available_bytes() is None
    told.unlink()
    assert available_bytes() is None
    require_memory(1 << 60, "what no machine tells")


# Texts


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 50_000) + " = 1",
        "name = 1\n[" + ".".join(["a"] * 50_000) + "]",
        "x = {" + " . ".join(['"a b"'] * 50_000) + " = 1}",
        "[[" + ".".join(["'a'"] * 65) + "]]",
        "x = 1\n" + "a . " * 50_000,
    ],
)
def test_keys_without_end(text: str) -> None:
    with pytest.raises(ParameterError, match=r"line [12]: a key of more than 64 parts"):
        load_toml(text)


def test_keys_with_an_end() -> None:
    parts = ["a"] * 64
    inside = load_toml(".".join(parts) + " = 1")
    for _ in parts:
        inside = inside["a"]
    assert inside == 1
    assert load_toml(f'name = "{"word " * 100_000}"  # {"." * 1000}\nx = {[0.5] * 1000}')["x"] == [0.5] * 1000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_json_in_json_without_end(text: str) -> None:
    with pytest.raises(ParameterError, match="JSON"):
        load_json(text)


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "{a=" * 100_000])
def test_tables_in_tables_without_end(text: str) -> None:
    with pytest.raises(ParameterError, match="cannot be read as TOML"):
        load_toml(text)


def test_keys_that_stand_twice_among_many() -> None:
    pairs = ",".join(f'"{n}":0' for n in range(100_000))
    with pytest.raises(ParameterError, match='the key "99999" stands twice'):
        load_json("{" + pairs + ',"99999":1}')


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb"])
def test_half_a_character_is_no_text(name: str, tmp_path: Path) -> None:
    scenario = scenario_of(s3())
    for changes in ({"name": name}, {"device_names": ("a", "b", name)}):
        with pytest.raises(ParameterError, match="is not text: it holds half a character") as raised:
            scenario.replace(**changes)
        assert str(raised.value).isprintable()
    with pytest.raises(ParameterError, match=r"cannot be written: .* is half a character"):
        write_text(tmp_path / "x", name)
    assert not list(tmp_path.iterdir())


def test_names_without_end_are_cut_in_messages() -> None:
    name = "x" * 5000
    scenario = scenario_of(s3()).replace(device_names=("a", "b", name))
    complaints: list[Callable[[], Any]] = [
        lambda: scenario.replace(draft_s_per_token=[1.0, 1.0, -1.0]),
        lambda: parse_control(json.dumps({"devices": [{"name": name + "y", "draft_length": 1}]}), scenario),
        lambda: load_toml(f"{name} = ="),
    ]
    for complain in complaints:
        with pytest.raises(ParameterError) as raised:
            complain()
        assert len(str(raised.value)) < 300
    with pytest.raises(ParameterError, match="draft_s_per_token = -1 is not"):
        complaints[0]()
    told = str(MsoptError(f"{name}: cannot be read: it is too long"))
    assert len(told) == LONGEST
    assert told.endswith(": cannot be read: it is too long")
    assert str(MsoptError("a\nb\x1b[31m")) == r"a\nb\x1b[31m"
    assert describe(10**5000) == "a number of thousands of digits"


@pytest.mark.parametrize("value", [1e300, 1e-300, 1.1e30, 9e-31, 1e-31])
def test_draft_times_have_the_range_of_other_numbers(value: float) -> None:
    with pytest.raises(ParameterError, match=r'"dev-2"\): draft_s_per_token = .* is not between 1e-30 and 1e\+30'):
        scenario_of(s3()).replace(draft_s_per_token=[0.1, value, 0.1])
