"""A run that is ended before its time: its workers go with it, and every file it leaves is whole."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from reports.ending import Terminated, terminable
from reports.sweep import FINISHED, STUDY

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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_workers_end_with_the_run(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "study.toml").write_text(LONG, encoding="utf-8")
    folder, told = tmp_path / "out", tmp_path / "told.txt"
    line = [sys.executable, "-c", CODE, "sweep", tmp_path / "study.toml", "--output", folder, "--jobs", "2"]
    children: list[psutil.Process] = []
    with told.open("w") as err, subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=err) as run:
        try:
            last = time.monotonic() + WAIT_S
            while not ((folder / FINISHED).exists() and (folder / FINISHED).stat().st_size):
                assert run.poll() is None, told.read_text()
                assert time.monotonic() < last
                time.sleep(0.05)
            children = psutil.Process(run.pid).children()
            assert sum("loky" in " ".join(child.cmdline()) for child in children) >= 2
            run.send_signal(number)
            assert run.wait(WAIT_S) == code
            assert psutil.wait_procs(children, timeout=WAIT_S)[1] == []
        finally:
            run.kill()
            for child in filter(psutil.Process.is_running, children):
                child.kill()
    assert sorted(path.name for path in folder.iterdir()) == sorted([FINISHED, STUDY])
    if number != signal.SIGKILL:
        assert told.read_text() == ""
        log = (folder / FINISHED).read_text(encoding="utf-8")
        assert log.endswith("\n")
        assert all(json.loads(finished)["rows"] for finished in log.splitlines())


def test_sigterm_is_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), terminable():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
    mine = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with terminable():
            signal.raise_signal(signal.SIGTERM)  # ignored, as whoever called had decided
    finally:
        signal.signal(signal.SIGTERM, mine)
