"""The command `msopt report`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

import msopt
from msopt import ParameterError
from reports import cli_options as opt
from reports.convex import need_cvxpy
from reports.inputs import scenario_path
from reports.output import warn

FAILED = 1
"""Exit code where the report's own checks fail."""


def report(
    folder: opt.Folder,
    reported: opt.Reported = None,
    *,
    full: opt.Full = False,
    seed: opt.ReportSeed = 0,
    method: opt.OwnMethods = None,
    profile: opt.Profiles = None,
    jobs: opt.Jobs = None,
) -> None:
    """Write the comparison report: a page, its data, figures and tables. Exit code 1 where a check of it fails."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ParameterError(f'"{folder}" is not a folder')
    if seed < 0:
        raise ParameterError(f"--seed = {seed} is not a whole number of at least 0")
    need_cvxpy("the report's cross-check")

    from msopt.profile_file import find_profile
    from reports.collect import Order, collect
    from reports.page import write_report
    from reports.rows import rows_of
    from reports.user_function import load_function
    from reports.user_method import OPTION

    for name in method or ():
        load_function(OPTION, name)
    names = reported or [msopt.bundled.default]
    profiles = [find_profile(name) for name in (msopt.bundled.profile_names() if profile is None else profile)]
    order = Order(
        scenarios=[(name, scenario_path(name)) for name in names],
        effort="full" if full else "quick",
        seed=seed,
        methods=tuple(method or ()),
        profiles=profiles,
        jobs=jobs,
    )
    with _progress() as tick:
        record = collect(order, tick)
    warn(dict.fromkeys(record.tables["answer_warnings"].get("text", ())))
    page = write_report(record, place)
    print(f"The report is in {page}")
    failed = [row for row in rows_of(record.tables["checks"]) if row["verdict"] != "pass"]
    for row in failed:
        print(f"FAIL {row['check']}: {row['found']}")
    if failed:
        raise typer.Exit(FAILED)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Bars on standard error, where that is a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks = {}

        def tick(label: str, done: int, of: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=of)
            bar.update(tasks[label], completed=done)

        yield tick
