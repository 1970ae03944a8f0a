"""The command line as a process: what it leaves unloaded, exit codes, streams, a pipe whose reader has gone."""

import os
import subprocess
import sys

import pytest

from msopt.files.profile_json import write_profile
from tests.profiles import profile
from tests.reports.command import Command

HEAVY = ("cvxpy", "torch", "pandas", "matplotlib", "jinja2", "joblib", "pyarrow", "distributed")


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, as the console script calls it."""
    code = "import sys; from reports.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=os.environ | more
    )


@pytest.mark.parametrize(
    "line",
    [
        "solve qwen-coder",
        "react qwen-coder --rejected",
        "evaluate qwen-coder --control",
        "scenario uldl-qwen25",
        "scenarios",
        "schedule",
    ],
)
def test_heavy_libraries_stay_unloaded(msopt: Command, line: str) -> None:
    arguments = line.split()
    if line.endswith("--rejected"):
        arguments.append("chat-1")
    if line.endswith("--control"):
        msopt.done("solve", "qwen-coder", "--output", msopt.folder / "control.json")
        arguments.append(str(msopt.folder / "control.json"))
    if line == "schedule":
        draft = profile().draft.model_copy(update={"layers_left_out": ()})
        write_profile(profile(draft=draft), msopt.folder / "p.json")
        arguments += [str(msopt.folder / "p.json"), "--batch-sizes", "1-8"]
    code = f"""
import sys
from reports.cli import main
code = main({arguments!r})
loaded = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(f"loaded: {{loaded}}" if loaded else code)
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_closed_pipe_is_quiet() -> None:
    code = "import sys; from reports.cli import main; sys.exit(main(sys.argv[1:]))"
    for arguments in (["scenario", "uldl-qwen25", "--devices", "3000"], ["scenarios"]):
        reader, writer = os.pipe()
        os.close(reader)
        finished = subprocess.run(
            [sys.executable, "-c", code, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert (finished.returncode, finished.stderr) == (0, "")


def test_processes() -> None:
    """Exit codes and streams as a shell sees them; an output that knows ASCII only."""
    bad = run("solve", "nope")
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)
    plain = run("solve", "qwen-coder", "--problem", "homogeneous", PYTHONIOENCODING="ascii")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "time per token, \\u03b8" in plain.stdout


def test_closed_streams() -> None:
    """`>&-`: Python then has no stream at all."""
    code = "import sys; from reports.cli import main; sys.exit(main(sys.argv[1:]))"
    for arguments in ("scenarios", "scenario uldl-qwen25", "solve qwen-coder --format json"):
        line = [sys.executable, "-c", code, *arguments.split()]
        for closed in (">&-", "2>&-", ">&- 2>&-"):
            finished = subprocess.run(
                ["sh", "-c", f'"$@" {closed}', "sh", *line], capture_output=True, text=True, check=False
            )
            assert (finished.returncode, finished.stderr) == (0, "")
            assert bool(finished.stdout) == (closed == "2>&-")
