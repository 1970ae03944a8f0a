"""What is no regular file: pipes with and without anyone at their other end, and a device without an end."""

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from msopt.errors import ParameterError
from msopt.files import whole_files
from msopt.files.whole_files import read_log, read_text, write_text

TEXT = "é" * 100_000  # more than a pipe holds


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("wait_s", [0.0, 60.0])
@pytest.mark.parametrize("read", [read_text, read_log])
def test_a_pipe_is_read_to_its_end(
    pipe: Path, read: Callable[[Path], str], wait_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that is there is waited for, however long it says nothing."""
    number = os.open(pipe, os.O_RDWR)
    monkeypatch.setattr(whole_files, "NOBODY_S", wait_s)

    def write() -> None:
        with open(pipe, "wb", buffering=0) as stream:
            os.close(number)
            stream.write(TEXT.encode())

    writer = threading.Timer(0.02, write)
    writer.start()
    assert read(pipe) == TEXT
    writer.join()


def test_a_pipe_is_written_to_its_reader(pipe: Path) -> None:
    """By its own name, and by the name that a shell gives it."""
    with subprocess.Popen(["wc", "-c", pipe], stdout=subprocess.PIPE, encoding="utf-8") as reader:
        write_text(pipe, TEXT)
        assert reader.communicate()[0].startswith("200000 ")
    with subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as reader:
        assert reader.stdin is not None
        write_text(f"/dev/fd/{reader.stdin.fileno()}", TEXT)
        assert int(reader.communicate()[0]) == 200_000


def test_a_pipe_that_nobody_opens_is_not_waited_for(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "NOBODY_S", 0.02)
    for read in (read_text, read_log):
        with pytest.raises(ParameterError, match="pipe: cannot be read: nobody writes to this pipe"):
            read(pipe)
    with pytest.raises(ParameterError, match="pipe: cannot be written: nobody reads this pipe"):
        write_text(pipe, TEXT)


def test_a_file_without_an_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "LONGEST_READ", 10_000)
    for read in (read_text, read_log):
        with pytest.raises(ParameterError, match="/dev/zero: cannot be read: it has more than 10000 bytes"):
            read("/dev/zero")
