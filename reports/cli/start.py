"""What the console script calls: an interrupt is quiet before the libraries are loaded and after a command is done."""

from collections.abc import Sequence

from reports.shared.ending import leave_at_once


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    leave_at_once()
    from reports.cli.app import main as run

    return run(argv)
