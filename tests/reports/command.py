"""Running the command line inside the test, and what it left behind."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
import tomli_w

from reports.cli import app as cli
from tests.cases import Description


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def record(self) -> Any:
        """Standard output as JSON, by a reader that refuses what JSON does not have."""
        return strict_json(self.out)


class Command:
    """`msopt` with a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Outcome:
        self._capsys.readouterr()
        code = cli.main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def done(self, *arguments: object) -> Outcome:
        """Run a command that has to succeed without a word on standard error."""
        outcome = self(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return outcome

    def solved(self, file: object, problem: str, *more: object) -> dict[str, Any]:
        record = self.done("solve", file, "--problem", problem, "--format", "json", *more).record
        assert isinstance(record, dict)
        return record

    def scenario(self, description: Description) -> Path:
        path = self.folder / "scenario.toml"
        path.write_text(tomli_w.dumps(description), encoding="utf-8")
        return path


def assert_one_line(outcome: Outcome, code: int, words: Sequence[str]) -> None:
    """One line on standard error, which has every one of the words, and nothing else."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("msopt: ")
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


def strict_json(text: str) -> Any:
    def refuse(word: str) -> NoReturn:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)
