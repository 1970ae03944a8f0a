"""The command line as a process: what it leaves unloaded, exit codes, streams, a pipe whose reader has gone."""

import os
import subprocess
import sys

from msopt.files.profile_json import write_profile
from tests.profiles import profile
from tests.reports.command import Command

HEAVY = ("cvxpy", "torch", "scipy.stats", "pandas", "matplotlib", "jinja2", "joblib", "pyarrow", "distributed")


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, as the console script calls it."""
    code = "import sys; from reports.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=os.environ | more
    )


def test_heavy_libraries_stay_unloaded(msopt: Command) -> None:
    """Whatever was asked before: one process runs all that need none."""
    control, measured = msopt.folder / "control.json", msopt.folder / "p.json"
    msopt.done("solve", "qwen-coder", "--output", control)
    draft = profile().draft.model_copy(update={"layers_left_out": ()})
    write_profile(profile(draft=draft), measured)
    lines = [
        ["solve", "qwen-coder"],
        ["react", "qwen-coder", "--rejected", "chat-1"],
        ["evaluate", "qwen-coder", "--control", str(control)],
        ["scenario", "uldl-qwen25"],
        ["scenarios"],
        ["schedule", str(measured), "--batch-sizes", "1-8"],
    ]
    code = f"""
import sys
from reports.cli import main
for line in {lines!r}:
    code = main(line)
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    if code or loaded:
        sys.exit(f"{{line}} ended with {{code}} and loaded {{loaded}}")
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
    lines = {"scenarios": "what it is", "scenario uldl-qwen25": "[radio]", "solve qwen-coder --format json": '"gap"'}
    code = "import sys; from reports.cli import main; sys.exit(any([main(line.split()) for line in sys.argv[1:]]))"
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        finished = subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-c", code, *lines],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (finished.returncode, finished.stderr) == (0, "")
        found = [word in finished.stdout for word in lines.values()]
        assert found == [closed == "2>&-"] * len(lines)
        assert bool(finished.stdout) == (closed == "2>&-")
