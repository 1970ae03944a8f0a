"""`msopt calibrate`: the command."""

from pathlib import Path
from typing import Annotated

import typer

from reports.cli import arguments as opt
from reports.cli.sweep_command import Dask, Jobs
from reports.shared.output import print_tables, say

TargetsFile = Annotated[
    str,
    typer.Argument(
        metavar="TARGETS.toml",
        help="Quoted numbers, and ranges of what was not stated with them; or multispin or uldl, the papers'.",
    ),
]


def calibrate(file: TargetsFile, folder: opt.Folder, jobs: Jobs = None, dask: Dask = None) -> None:
    """Find which values of what was not stated give numbers that were quoted. Interrupted, the same command goes on."""
    from reports.calibration.calibrate import calibrate as run_calibration
    from reports.calibration.fit_tables import fit_record
    from reports.calibration.settings_tried import check_answers
    from reports.calibration.shown_fit import fit_words, show_fit
    from reports.calibration.targets_file import read_calibration
    from reports.methods.user_method import check_methods
    from reports.shared.progress import progress_bar

    calibration = read_calibration(file)
    check_methods([method for method in calibration.methods() if ":" in method])
    check_answers(calibration)
    with progress_bar(calibration.name) as progress:
        found = run_calibration(calibration, Path(folder), jobs=jobs, dask=dask, progress=progress)
    record = fit_record(found)
    print_tables(lambda console: show_fit(console, record))
    for line in fit_words(record.manifest["summary"]):
        say(line)
    say(f"The results are in {folder}")
