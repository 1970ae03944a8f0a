"""Files are written whole or not at all, even by a process that is killed; what is no regular file: pipes, devices."""

import os
import resource
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from msopt.errors import ParameterError
from msopt.files import whole_files
from msopt.files.whole_files import read_log, read_text, write_text

TEXT = "é" * 100_000  # more than a pipe holds


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_is_replaced_whole_with_its_mode_or_made_new(
    nameless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the system has files without a name or not."""
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE")
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("old")
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        for path in (old, new):
            write_text(path, TEXT)
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "old.json": 0o640,
        "new.json": 0o640,
    }
    assert old.read_text() == new.read_text() == TEXT


def killed_while_it_writes(path: Path) -> int:
    """How a process ended that was killed in the middle of a file, after half of what it wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads do not live on in the child, which needs none
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        write_text(path, TEXT)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    for name in ("a.json", "b.json"):
        assert killed_while_it_writes(tmp_path / name) == -signal.SIGXFSZ
    left = [path.name for path in tmp_path.iterdir()]
    assert left == ["a.json"] if hasattr(os, "O_TMPFILE") else not {"b.json"} & set(left)
    assert (tmp_path / "a.json").read_text() == "old"


def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path: Path, full_disk: Callable[[int], None]) -> None:
    (tmp_path / "a.json").write_text("old")
    full_disk(1000)
    for name in ("a.json", "b.json"):
        with pytest.raises(ParameterError, match=rf"{name}: cannot be written: File too large"):
            write_text(tmp_path / name, TEXT)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "old"


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
