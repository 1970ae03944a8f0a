"""`msopt sweep`: the command."""

from pathlib import Path
from typing import Annotated

import typer

from msopt import MsoptError
from msopt.model.validation import MOST_JOBS
from reports.cli import arguments as opt
from reports.shared.output import say

StudyFile = Annotated[
    str, typer.Argument(metavar="STUDY.toml", help="What is varied, how often it is drawn, how it is solved.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, max=MOST_JOBS, help="Processes on this machine (default: one for each core)."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster that does the work instead."),
]


def sweep(
    file: StudyFile,
    folder: opt.Folder,
    jobs: Jobs = None,
    dask: Dask = None,
    method: opt.UserMethods = None,
    variant: opt.UserVariants = None,
) -> None:
    """Run a study of many scenarios. Interrupted, the same command goes on where it stopped.

    Exit code 3 where a method has no answer at a point: its row says why, and the other rows are whole.
    """
    from reports.methods.user_method import check_methods
    from reports.methods.user_variant import load_variants
    from reports.shared.progress import progress_bar
    from reports.studies.points import fault_words
    from reports.studies.study import read_study
    from reports.studies.sweep import sweep as run_study

    check_methods(method or ())
    load_variants(variant)
    study = read_study(file)
    if method:
        study = study.model_copy(update={"methods": list(dict.fromkeys([*study.methods, *method]))})
    if variant:
        study = study.model_copy(update={"variants": list(dict.fromkeys([*study.variants, *variant]))})
    with progress_bar(study.name) as progress:
        swept = run_study(study, Path(folder), jobs=jobs, dask=dask, progress=progress)
    say(f"The results are in {swept.results}")
    if swept.faults:
        raise MsoptError(
            f"{len(swept.faults)} of {swept.rows} rows are without an answer, which the same command tries again; "
            f"the first: {fault_words(study, swept.faults[0])}"
        )
