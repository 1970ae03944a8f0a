"""A progress bar on standard error; nothing where that is no terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


def _bar(*, time_left: bool) -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    shown = (*columns, TimeRemainingColumn()) if time_left else (SpinnerColumn(), *columns)
    return Progress(*shown, console=Console(stderr=True), transient=not time_left, disable=not sys.stderr.isatty())


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """What is told how many of how many are done, and shows it with the time that is left."""
    with _bar(time_left=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def step_bar(what: str, steps: int, done: int = 0) -> Iterator[Callable[[str], None]]:
    """What is told the name of each step, and shows it until all are done; `done` is -1 where steps are told first."""
    with _bar(time_left=False) as bar:
        task = bar.add_task(what, total=steps, completed=done)
        yield lambda label: bar.update(task, advance=1, description=label)
