"""The examples of README and DESIGN run as they stand, and print what is said."""

import re
from pathlib import Path

import numpy as np
import pytest

import msopt
from reports.cli import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DESIGN = (ROOT / "DESIGN.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def printed_by(example: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    exec(compile(example, "README.md", "exec"), {})
    return capsys.readouterr().out.splitlines()


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(blocks(README, "python")[0], capsys)
    assert printed[0].endswith("below the optimum")
    assert len(printed) == 2 + 8 + 3


def test_the_variant_prints_what_is_said_and_its_file_asks_for_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = blocks(README, "python")[1]
    (said,) = blocks(README, "text")
    printed = printed_by(example, capsys)
    assert printed == said.splitlines()
    (table,) = (one for one in blocks(README, "toml") if one.startswith("[variant]"))
    file = tmp_path / "cell.toml"
    msopt.draw("multispin-llama2", devices=8, seed=1)[0].write(file)
    file.write_text(file.read_text() + "\n" + table)
    found = msopt.solve(msopt.Scenario.read(file))
    assert found.control is not None
    assert printed[0] == f"{found.goodput:.2f} tokens/s with lengths {found.control.draft_length}"


def test_the_limit_of_ones_own_is_kept_from_python_and_from_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (limit,) = blocks(DESIGN, "python")
    monkeypatch.chdir(tmp_path)
    Path("drafting_time.py").write_text(limit)
    own: dict[str, type[msopt.ControlLimit]] = {}
    exec(compile(limit, "DESIGN.md", "exec"), own)
    cell = msopt.Scenario.read(msopt.bundled.path("qwen-coder"))
    found = msopt.solve(cell, limits=[own["DraftingTime"](0.06)])  # type: ignore[call-arg]
    assert found.control is not None
    # The same limit as a greatest length for each device.
    longest = np.floor(0.06 / cell.draft_s_per_token * (1.0 + 1e-12))
    assert found.goodput == pytest.approx(msopt.solve(cell, limits=[msopt.LongestDraft(longest)]).goodput, rel=1e-9)
    assert np.all(found.control.draft_length <= longest)
    assert found.goodput < msopt.solve(cell).goodput
    for method in ("decomposition", "convex"):
        line = ["solve", "qwen-coder", "--method", method, "--variant", "drafting_time:DraftingTime(0.06)"]
        assert app.main(line) == 0
        assert f"{found.goodput:.4f}" in capsys.readouterr().out


def test_what_the_docstrings_of_the_rooms_name_is_there() -> None:
    for room in (msopt.choices, msopt.uncertain):
        shown = {name for name, value in vars(room).items() if not name.startswith("_") and callable(value)}
        words = set(re.findall(r"\w+", room.__doc__ or ""))
        assert shown <= words, shown - words
        assert {name for name in words if "_" in name and name not in ("token_s",)} <= shown | {"solve_actions"}


def test_every_file_it_names_exists() -> None:
    paths = re.findall(r"`((?:msopt|formulations|verification|reports|tests)/[\w/.-]+)`", README + DESIGN)
    for name in paths + re.findall(r"\]\((\w+\.\w+)\)", README + DESIGN):
        assert (ROOT / name).exists(), name


def test_the_main_idea_is_six_files_and_under_900_lines() -> None:
    section = README.split("## Reading order", 1)[1].split("Then the rooms", 1)[0]
    files = re.findall(r"^\d\. `(msopt/[\w/.]+)`", section, flags=re.MULTILINE)
    assert len(files) == 6
    assert sum(len((ROOT / name).read_text().splitlines()) for name in files) < 900
