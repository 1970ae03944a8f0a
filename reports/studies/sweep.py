"""`msopt sweep`: a study run by itself, point by point, safe to interrupt; its results as Parquet.

The folder holds `study.json` (what is run), `finished.jsonl` (a line for each point that is done, in the order in
which they were done) and, once all are, `results.parquet` (a row for each point and method, in the study's order).
A run in a folder that has some of the points does the rest, and again those at which a method failed; the results are
the same bytes as those of a run that was never interrupted.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msopt import InfeasibleError, ParameterError
from msopt.files.whole_files import make_folder, write_bytes
from reports.shared.output import check_folder
from reports.shared.parallel import check_scheduler, run
from reports.shared.rows import Row
from reports.studies.finished_points import claim_folder, finished_points, order_words, rows_of_study
from reports.studies.points import SOLVED, chunks, is_fault, solve_points
from reports.studies.study import Point, Study
from reports.studies.swept import Swept

if TYPE_CHECKING:
    import pyarrow as pa

STUDY, FINISHED, RESULTS = "study.json", "finished.jsonl", "results.parquet"
_TEXTS = ("scenario_hash", "cause", "utility")
"""Columns that hold text, even where they hold nothing."""


def sweep(
    study: Study,
    folder: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Swept:
    """Run what is left of a study in a folder, and what failed when it was last run there.

    Parameters
    ----------
    study : Study
    folder : Path
        Made where it is missing.
    jobs, dask
        As in `reports.shared.parallel.run`.
    progress : function, optional
        Told how many points of how many are done.

    Raises
    ------
    ParameterError
        Where the folder holds another study, another run is at work in it, a method of the user never answers, or
        pyarrow is missing.
    MsoptError
        Where the workers are lost; the points that are done stay recorded.
    """
    _require_pyarrow()
    points = study.points()
    _check_user_methods(study, points)
    check_folder(folder, files=(STUDY, FINISHED, RESULTS))
    if dask is not None:
        check_scheduler(dask)
    make_folder(folder)
    with finished_points(folder / FINISHED) as finished:
        order = order_words("study", study, study.scenarios)
        claim_folder(finished, folder / STUDY, order, folder / RESULTS)
        done = finished.read(rows_of_study(study, points))
        left = [number for number in range(len(points)) if any(map(is_fault, done.get(number, [_UNKNOWN])))]
        count = len(points) - len(left)
        if progress is not None:
            progress(count, len(points))
        # Tasks are chunks of points; their numbers go along.
        numbers = iter(left)
        tasks = chunks(study, [points[number] for number in left])
        members = [list(itertools.islice(numbers, len(task))) for task in tasks]
        for place, found, _ in run([(solve_points, (study, task)) for task in tasks], jobs=jobs, dask=dask):
            rows = dict(zip(members[place], found, strict=True))
            finished.add(rows)
            done |= rows
            count += len(rows)
            if progress is not None:
                progress(count, len(points))
        all_rows = [row for number in range(len(points)) for row in done[number]]
        write_bytes(folder / RESULTS, parquet(all_rows))
    return Swept(study, folder / RESULTS, len(all_rows), [row for row in all_rows if is_fault(row)])


_UNKNOWN: Row = {"status": ""}
"""Stands for the rows of a point that is not done."""


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError("sweep needs pyarrow, not installed here; pip install 'msopt[sweep]'") from None


def _check_user_methods(study: Study, points: Sequence[Point]) -> None:
    """Ask a user's methods at a few points before anything is written: one that answers at none of them is refused."""
    few = [points[number] for number in sorted({0, len(points) // 2, len(points) - 1})]
    for method in study.methods:
        if ":" in method:
            rows = (solve_points(study.model_copy(update={"methods": [method]}), [point])[0][0] for point in few)
            asked = list(itertools.takewhile(lambda row: row["status"] != SOLVED, rows))
            if len(asked) == len(few):
                _refuse(study, method, asked)


def _refuse(study: Study, method: str, asked: Sequence[Row]) -> None:
    fault = next(filter(is_fault, asked), None)
    if fault is None:
        raise ParameterError(f"--method {method}: has no control of problem {study.problem} for {asked[0]['base']}")
    kind = InfeasibleError if fault["status"] == "infeasible" else ParameterError
    raise kind(fault["cause"])


def parquet(rows: Sequence[Row]) -> bytes:
    """The rows as a Parquet file; whole numbers beside others in a setting become floats."""
    import pyarrow as pa
    import pyarrow.parquet

    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: _column(name, [row.get(name) for row in rows]) for name in columns})
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def _column(name: str, values: list[Any]) -> "pa.Array":
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values, type=None if kinds else pa.string() if name in _TEXTS else pa.float64())
