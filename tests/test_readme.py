"""The README's example runs as it stands."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith("below the optimum")
    assert len(printed) == 2 + 8 + 3


def test_every_file_it_names_exists() -> None:
    root = Path(__file__).parent.parent
    for name in re.findall(r"`((?:msopt|reports)/[\w/.-]+)`", README) + re.findall(r"\]\((\w+\.\w+)\)", README):
        assert (root / name).exists(), name


def test_the_main_idea_is_six_files_and_under_900_lines() -> None:
    section = README.split("## Reading order", 1)[1].split("Then the rooms", 1)[0]
    root = Path(__file__).parent.parent
    files = re.findall(r"^\d\. `(msopt/[\w/.]+)`", section, flags=re.MULTILINE)
    assert len(files) == 6
    assert sum(len((root / name).read_text().splitlines()) for name in files) < 900
