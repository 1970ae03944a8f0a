"""The command line, one file for each command; `main` is what the console script calls.

An interrupt is quiet before the libraries are loaded and after a command is done: `app` is loaded where it is called.
"""

from collections.abc import Sequence

from reports.shared.ending import leave_at_once


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    leave_at_once()
    from reports.cli.app import main as run

    return run(argv)
