"""`msopt calibrate`: an inverse study in a folder, safe to interrupt; or in memory, for the report.

The folder holds `calibration.json` (what is asked), `finished.jsonl` (a line for each setting that is done), and, once
all are, `manifest.json`, `timings.json`, `tables/` and `figures/`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msopt import MsoptError, ParameterError
from msopt.files.whole_files import make_folder, write_bytes
from reports.calibration.fit import Fit, fit
from reports.calibration.fit_tables import fit_record
from reports.calibration.settings_tried import Tried, as_content, of_content
from reports.calibration.targets_file import Calibration
from reports.shared.output import check_folder
from reports.shared.parallel import Task, check_scheduler, run
from reports.shared.record import MANIFEST, TABLES, TIMINGS
from reports.studies.finished_points import UNREADABLE, claim_folder, finished_points, order_words
from reports.studies.points import Failure, attempt

ORDER, FINISHED, FIGURES = "calibration.json", "finished.jsonl", "figures"
Progress = Callable[[int, int], None]


def calibrate(
    calibration: Calibration,
    folder: Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Run what is left of a calibration in a folder, and write what was found.

    Parameters
    ----------
    calibration : Calibration
    folder : Path
        Made where it is missing.
    jobs, dask
        As in `reports.shared.parallel.run`.
    progress : function, optional
        Told how many settings of how many are done; there are more once the next stage is known.

    Raises
    ------
    ParameterError
        Where the folder holds another calibration, or another run is at work in it.
    MsoptError
        Where a setting cannot be tried at all, or the workers are lost; what is done stays recorded.
    """
    from reports.plots.calibration_plots import calibration_panels
    from reports.plots.style import rendered

    check_folder(folder, files=(ORDER, FINISHED, MANIFEST, TIMINGS), folders=(TABLES, FIGURES))
    if dask is not None:
        check_scheduler(dask)
    make_folder(folder)
    with finished_points(folder / FINISHED) as finished:
        order = order_words("calibration", calibration, calibration.base.scenarios)
        claim_folder(finished, folder / ORDER, order, folder / MANIFEST)
        done = finished.read(lambda _, rows: _checked(calibration, rows))
        keep = lambda number, one: finished.add({number: as_content(one)})  # noqa: E731
        found = fit(calibration, _runner(done, keep, jobs, dask, progress))
        record = fit_record(found)
        record.write(folder)
        make_folder(folder / FIGURES)
        for panel in calibration_panels("calibration", record.tables):
            for form in ("svg", "pdf"):
                write_bytes(folder / FIGURES / f"{panel.name}.{form}", rendered(panel.figure, form, panel.name))
    return found


def fit_in_memory(calibration: Calibration, jobs: int | None = None, progress: Progress | None = None) -> Fit:
    """The same without a folder."""
    return fit(calibration, _runner({}, lambda *_: None, jobs, None, progress))


def _runner(
    done: dict[int, Tried],
    keep: Callable[[int, Tried], None],
    jobs: int | None,
    dask: str | None,
    progress: Progress | None,
) -> Callable[[Mapping[int, Task]], Mapping[int, Tried]]:
    """What computes the tasks that are not done, and keeps what they give."""
    known = 0

    def told() -> None:
        if progress is not None:
            progress(min(len(done), known), known)

    def compute(tasks: Mapping[int, Task]) -> Mapping[int, Tried]:
        nonlocal known
        known += len(tasks)
        told()
        left = [number for number in tasks if number not in done]
        flat = [(attempt, (tasks[number][0], *tasks[number][1])) for number in left]
        for place, found, _ in run(flat, jobs=jobs, dask=dask):
            if isinstance(found, Failure):
                raise (ParameterError if found.status == "refused" else MsoptError)(str(found.cause))
            keep(left[place], found)
            done[left[place]] = found
            told()
        return {number: done[number] for number in tasks}

    return compute


def _checked(calibration: Calibration, rows: Any) -> Tried:
    try:
        return of_content(calibration, rows)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError(UNREADABLE) from None
