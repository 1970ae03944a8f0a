"""The file of a run's finished points: a line for each, in the order in which they were done.

One run at a time has it open. What it holds is checked before it is believed: by whoever asked for the points.
"""

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

import msopt
from msopt import ParameterError
from msopt.files.json_text import load_json, to_json
from msopt.files.whole_files import read_text, write_text
from reports.shared.output import as_json
from reports.shared.rows import Row
from reports.studies.points import NUMBERS, SOLVED, head_of
from reports.studies.settings import scenario_at, scenario_hash
from reports.studies.study import Point, Study

Rows = TypeVar("Rows")
_OF_A_METHOD = {"scenario_hash", "scheme", "method", "status", "cause", *NUMBERS}


class FinishedPoints:
    """The file, open and locked."""

    def __init__(self, path: Path, stream: FileIO) -> None:
        self.path = path
        self._stream = stream

    def add(self, rows: Mapping[int, Any]) -> None:
        """Add points with their rows: all of them, or none and a ParameterError."""
        lines = [to_json({"point": point, "rows": rows[point]}) + "\n" for point in rows]
        before = os.fstat(self._stream.fileno()).st_size
        try:
            left = memoryview("".join(lines).encode())
            while left:
                left = left[self._stream.write(left) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._stream.fileno(), before)
            raise ParameterError(f"{self.path}: cannot be written: {error.strerror}") from None

    def read(self, checked: Callable[[int, Any], Rows]) -> dict[int, Rows]:
        """What was found at each point that is done; a last line that was torn by an interruption is cut off.

        Parameters
        ----------
        checked : function
            From the number of a point and what stands there to what was found; ParameterError says what is wrong.

        Raises
        ------
        ParameterError
            For a line that is not a point of this run, by file and number.
        """
        self._stream.seek(0)
        whole, end, torn = self._stream.read().rpartition(b"\n")
        if torn:
            self._stream.truncate(len(whole + end))
        done: dict[int, Rows] = {}
        for number, line in enumerate(whole.split(b"\n") if end else (), start=1):
            try:
                point, rows = _entry(line)
                done[point] = checked(point, rows)
            except ParameterError as error:
                raise ParameterError(f"{self.path}: line {number} {error}") from None
        return done


@contextlib.contextmanager
def finished_points(path: Path) -> Iterator[FinishedPoints]:
    """Open the file, made where it is missing; left empty, it is taken away again.

    Raises
    ------
    ParameterError
        Where it cannot be opened, is no regular file, or another run has it open (where the system knows locks).
    """
    try:
        stream = path.open("a+b", buffering=0)  # a buffer would write once more at the end what could not be written
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written: {error.strerror}") from None
    with stream:
        if not _locked(stream) or not os.path.samestat(os.fstat(stream.fileno()), _status(path)):
            raise ParameterError(f"{path.parent}: another sweep is at work there; choose another --output")
        try:
            yield FinishedPoints(path, stream)
        finally:
            if os.fstat(stream.fileno()).st_size == 0:
                path.unlink(missing_ok=True)


def _locked(stream: FileIO) -> bool:
    """Whether nobody else holds it; the system forgets a lock with the process that has it, however that ends."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _status(path: Path) -> os.stat_result:
    """Of the file at that name now: another run may have taken away the one that was opened."""
    try:
        return path.stat()
    except OSError:
        return os.stat_result([0] * 10)


UNREADABLE = "is not a finished point"


def _entry(line: bytes) -> tuple[int, Any]:
    try:
        entry = load_json(line.decode())
        point, rows = entry["point"], entry["rows"]
    except (ParameterError, ValueError, TypeError, KeyError):
        raise ParameterError(UNREADABLE) from None
    if type(point) is not int:
        raise ParameterError("is of no point of the study")
    return point, rows


def rows_of_study(study: Study, points: Sequence[Point]) -> Callable[[int, Any], list[Row]]:
    """The check of what a study finds at a point: a row for each method."""

    def checked(point: int, found: Any) -> list[Row]:
        try:
            rows = [dict(row) for row in found]
        except (ValueError, TypeError):
            raise ParameterError(UNREADABLE) from None
        if not 0 <= point < len(points):
            raise ParameterError("is of no point of the study")
        head = head_of(points[point])
        if not all(set(row) == head.keys() | _OF_A_METHOD and _whole(row) for row in rows):
            raise ParameterError(UNREADABLE)
        if not all(row[name] == value for row in rows for name, value in head.items()):
            raise ParameterError(f"is not of point {point} of the study, which it names")
        if [row["scheme"] for row in rows] != study.methods:
            raise ParameterError("has not a row for each method of the study")
        return rows

    return checked


def order_words(what: str, content: BaseModel, scenarios: Sequence[str]) -> str:
    """What a folder's file says is run, with the scenarios as they are now: others of the same name are not meant."""
    about = {"msopt": msopt.__version__, what: content.model_dump()}
    if scenarios:
        about["scenario_hashes"] = {name: scenario_hash(scenario_at(name, {}, 0)) for name in scenarios}
    return as_json(about)


def claim_folder(finished: FinishedPoints, order: Path, wanted: str, results: Path) -> None:
    """Make a folder this run's, or find that it is; one in which nothing was finished may be anyone's.

    Parameters
    ----------
    finished : FinishedPoints
    order : Path
        The file that says what is run.
    wanted : str
        What it has to say.
    results : Path
        What is there once all points are done.

    Raises
    ------
    ParameterError
    """
    folder = order.parent
    begun = results.exists() or finished.path.stat().st_size > 0
    if begun and order.exists():
        if read_text(order) != wanted:
            raise ParameterError(
                f"{folder}: holds the results of another study or version of msopt; choose another --output"
            )
    elif begun:
        raise ParameterError(f"{folder}: holds results, but not the study they are of; choose another --output")
    else:
        write_text(order, wanted)


def _whole(row: Row) -> bool:
    """Whether a row has the kinds of values that its columns hold, and a goodput where it says so."""
    numbers = [row[name] for name in NUMBERS]
    good = all(value is None or (type(value) in (int, float) and math.isfinite(value)) for value in numbers)
    texts = [row[name] for name in ("scheme", "method", "status")]
    known = all(isinstance(text, str) for text in texts) and all(
        row[name] is None or isinstance(row[name], str) for name in ("scenario_hash", "cause")
    )
    return good and known and (row["status"] == SOLVED) == (row["goodput_tokens_per_s"] is not None)
