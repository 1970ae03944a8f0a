"""A run that is ended before its time: its workers go with it, and every file it leaves is whole."""

import json
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import tomli_w

from msopt import ParameterError
from msopt.files import whole_files
from reports.page import page
from reports.shared import ending
from reports.shared.ending import Interrupted, Terminated, terminable
from reports.shared.record import Record
from reports.studies.sweep import FINISHED, STUDY
from tests.cases import s2
from tests.reports.command import Command

LONG = """
problem = "modes"
presets = ["uldl-qwen25"]
draws = 5000
[fixed]
devices = 12
"""
WAIT_S = 120.0
"""Far longer than anything here takes, and far shorter than the run would."""

# A shell starts what it puts in the background deaf to interrupts; the tests may be run so.
CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from reports.cli import main
sys.exit(main())
"""


def workers(run: psutil.Process) -> list[psutil.Process]:
    return [child for child in run.children() if "loky" in " ".join(child.cmdline())]


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [("sweep", signal.SIGTERM, 143), ("sweep", signal.SIGINT, 130), ("report", signal.SIGKILL, -9)],
)
def test_workers_end_with_the_run(tmp_path: Path, command: str, number: signal.Signals, code: int) -> None:
    (tmp_path / "study.toml").write_text(LONG, encoding="utf-8")
    (tmp_path / "cell.toml").write_text(tomli_w.dumps(s2()), encoding="utf-8")
    folder, told, given = tmp_path / "out", tmp_path / "told.txt", {"sweep": "study.toml", "report": "cell.toml"}
    line = [sys.executable, "-c", CODE, command, tmp_path / given[command], "--output", folder, "--jobs", "2"]
    children: list[psutil.Process] = []
    with told.open("w") as err, subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=err) as run:

        def at_work() -> bool:
            """Whether the workers are there and, for a sweep, a point is done."""
            some = command == "report" or ((folder / FINISHED).exists() and (folder / FINISHED).stat().st_size > 0)
            return some and len(workers(psutil.Process(run.pid))) >= 2

        try:
            last = time.monotonic() + WAIT_S
            while not at_work():
                assert run.poll() is None, told.read_text()
                assert time.monotonic() < last
                time.sleep(0.05)
            children = psutil.Process(run.pid).children()
            run.send_signal(number)
            assert run.wait(WAIT_S) == code
            assert psutil.wait_procs(children, timeout=WAIT_S)[1] == []
        finally:
            run.kill()
            for child in filter(psutil.Process.is_running, children):
                child.kill()
    if command == "report":
        assert not folder.exists()  # nothing is written before all of it is known
        return
    assert sorted(path.name for path in folder.iterdir()) == sorted([FINISHED, STUDY])
    assert told.read_text() == ""
    log = (folder / FINISHED).read_text(encoding="utf-8")
    assert log.endswith("\n")
    assert all(json.loads(finished)["rows"] for finished in log.splitlines())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def signalled(monkeypatch: pytest.MonkeyPatch) -> Callable[[signal.Signals, int], None]:
    """Send this process a signal when it puts its n-th file from now on in its place."""
    replace = whole_files.os.replace

    def at(number: signal.Signals, nth: int) -> None:
        left = iter(range(nth - 1, -1, -1))

        def then(source: Path, target: Path) -> None:
            if next(left, None) == 0:
                signal.raise_signal(number)
            replace(source, target)

        monkeypatch.setattr(whole_files.os, "replace", then)

    return at


@pytest.mark.usefixtures("interrupts")
def test_an_emulation_ended_among_its_files_is_whole_the_next_time(
    msopt: Command, signalled: Callable[[signal.Signals, int], None], tmp_path: Path
) -> None:
    ask = ("emulate", msopt.scenario(s2()), "--rounds", 32, "--output")
    msopt.done(*ask, tmp_path / "whole")
    whole, folder = contents(tmp_path / "whole"), tmp_path / "ended"
    for number, nth, code in ((signal.SIGINT, 2, 130), (signal.SIGTERM, 4, 143)):
        signalled(number, nth)
        outcome = msopt(*ask, folder)
        assert (outcome.code, outcome.out, outcome.err) == (code, "", "")
        left = contents(folder)
        assert len(left) == nth - 1
        assert left.items() <= whole.items()
    msopt.done(*ask, folder)
    assert contents(folder) == whole


@pytest.mark.usefixtures("interrupts")
def test_a_report_ended_among_its_files_is_whole_the_next_time(
    made_up: Record,
    signalled: Callable[[signal.Signals, int], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full_disk: Callable[[int], None],
) -> None:
    """By an interrupt, and by a disk that is full; figures and the page's form take time and are left out."""
    monkeypatch.setattr(page, "figures", lambda record: defaultdict(list))
    monkeypatch.setattr(page, "as_html", lambda text, inside, title: text)
    page.write_report(made_up, tmp_path / "whole")
    whole, folder = contents(tmp_path / "whole"), tmp_path / "ended"
    signalled(signal.SIGTERM, len(whole) // 2)
    with pytest.raises(Terminated), terminable():
        page.write_report(made_up, folder)
    assert len(contents(folder)) == len(whole) // 2 - 1
    full_disk(max(map(len, whole.values())) - 1)
    with pytest.raises(ParameterError, match="cannot be written: File too large"):
        page.write_report(made_up, folder)
    assert contents(folder).items() < whole.items()
    full_disk(10**9)
    page.write_report(made_up, folder)
    assert contents(folder) == whole


@pytest.mark.usefixtures("interrupts")
def test_signals_are_as_before_afterwards() -> None:
    for number, error in ((signal.SIGTERM, Terminated), (signal.SIGINT, Interrupted)):
        before = signal.getsignal(number)
        with pytest.raises(error), terminable():
            signal.raise_signal(number)
        assert signal.getsignal(number) is before
        mine = signal.signal(number, signal.SIG_IGN)
        try:
            with terminable():
                signal.raise_signal(number)  # ignored, as whoever called had decided
        finally:
            signal.signal(number, mine)


def interrupted_twice(then: signal.Signals, tidied: list[bool]) -> None:
    with terminable():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(then)
            tidied.append(True)


@pytest.mark.usefixtures("interrupts")
def test_a_second_interrupt_does_not_break_into_what_tidies_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[bool] = []
    for then in (signal.SIGINT, signal.SIGTERM):
        with pytest.raises(Interrupted):
            interrupted_twice(then, tidied)
    assert tidied == [True, True]
    monkeypatch.setattr(ending, "ONE_WISH_S", 0.0)  # long after, what hangs while it tidies up can be ended
    with pytest.raises(Terminated):
        interrupted_twice(signal.SIGTERM, tidied)
    assert len(tidied) == 2


def test_an_interrupt_while_libraries_are_loaded_is_quiet() -> None:
    code = """
import signal, sys
from reports.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
class Early:
    def find_spec(self, name, *_):
        if name == "numpy":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Early())
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
