"""The command line as a fixture."""

from pathlib import Path

import pytest

from tests.reports.command import Command


@pytest.fixture
def msopt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)
