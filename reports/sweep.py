"""`msopt sweep`: a study run by itself, point by point, safe to interrupt; its results as Parquet.

The folder holds `study.json` (what is run), `finished.jsonl` (a line for each point that is done, in the order in
which they were done) and, once all are, `results.parquet` (a row for each point and method, in the study's order).
A run in a folder that has some of the points does the rest; the results are the same bytes as those of a run that was
never interrupted.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msopt
from msopt import ParameterError
from msopt.files import read_text, write_bytes, write_text
from msopt.json_text import to_json
from reports.output import as_json
from reports.studies.parallel import run
from reports.studies.points import chunks, solve_points
from reports.studies.settings import scenario_at
from reports.studies.study import Point, Study
from reports.user_method import user_solution

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
STUDY, FINISHED, RESULTS = "study.json", "finished.jsonl", "results.parquet"


def sweep(
    study: Study,
    folder: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Run what is left of a study in a folder, and return the path of the results.

    Parameters
    ----------
    study : Study
    folder : Path
        Made where it is missing.
    jobs, dask
        As in `reports.studies.parallel.run`.
    progress : function, optional
        Told how many points of how many are done.

    Raises
    ------
    ParameterError
        Where the folder holds another study, a method of the user does not apply, or pyarrow is missing.
    MsoptError
        Where a method fails on a point; the points that are done stay recorded.
    """
    _require_pyarrow()
    _check_user_methods(study)
    points = study.points()
    _claim(folder, study)
    done = _finished(folder / FINISHED, len(points))
    left = [number for number in range(len(points)) if number not in done]
    if progress is not None:
        progress(len(done), len(points))
    if left:
        # Tasks are chunks of points; their numbers go along.
        numbers = iter(left)
        tasks = chunks(study, [points[number] for number in left])
        members = [list(itertools.islice(numbers, len(task))) for task in tasks]
        with (folder / FINISHED).open("a", encoding="utf-8") as log:
            for place, found, _ in run([(solve_points, (study, task)) for task in tasks], jobs=jobs, dask=dask):
                for number, rows in zip(members[place], found, strict=True):
                    done[number] = rows
                    log.write(to_json({"point": number, "rows": rows}) + "\n")
                log.flush()
                if progress is not None:
                    progress(len(done), len(points))
    write_bytes(folder / RESULTS, parquet([row for number in range(len(points)) for row in done[number]]))
    return folder / RESULTS


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError("sweep needs the packages of msopt[sweep]: pyarrow") from None


def _check_user_methods(study: Study) -> None:
    """Ask a user's methods once before anything is run or written."""
    first: Point = study.points()[0]
    scenario = scenario_at(first.base, first.settings, first.seed)
    for method in study.methods:
        if ":" in method and user_solution(method, scenario, study.problem) is None:
            raise ParameterError(f"--method {method}: has no control of problem {study.problem} for {scenario.name}")


def _claim(folder: Path, study: Study) -> None:
    """Make the folder this study's, or find that it is; one in which nothing was finished may be anyone's."""
    wanted = as_json({"msopt": msopt.__version__, "study": study.model_dump()})
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    log, results = folder / FINISHED, folder / RESULTS
    begun = results.exists() or (log.exists() and log.stat().st_size > 0)
    if begun and (folder / STUDY).exists():
        if read_text(folder / STUDY) != wanted:
            raise ParameterError(
                f"{folder}: holds the results of another study or version of msopt; choose another --output"
            )
    elif begun:
        raise ParameterError(f"{folder}: holds results, but not the study they are of; choose another --output")
    else:
        write_text(folder / STUDY, wanted)


def _finished(log: Path, count: int) -> dict[int, list[Row]]:
    """The rows of the points that are done; a last line that was torn by an interruption is cut off."""
    if not log.exists():
        return {}
    done: dict[int, list[Row]] = {}
    text = read_text(log)
    whole, _, torn = text.rpartition("\n")
    if torn:
        write_text(log, whole + "\n" if whole else "")
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            entry = json.loads(line)
            point, rows = entry["point"], [dict(row) for row in entry["rows"]]
        except (ValueError, TypeError, KeyError):
            raise ParameterError(f"{log}: line {number} is not a finished point") from None
        if not (isinstance(point, int) and 0 <= point < count):
            raise ParameterError(f"{log}: line {number} is of no point of the study")
        done[point] = rows
    return done


def parquet(rows: Sequence[Row]) -> bytes:
    """The rows as a Parquet file; whole numbers beside others in a setting become floats."""
    import pyarrow as pa
    import pyarrow.parquet

    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: _column([row.get(name) for row in rows]) for name in columns})
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def _column(values: list[Any]) -> "pa.Array":
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values, type=pa.float64() if not kinds else None)
