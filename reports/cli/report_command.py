"""The command `msopt report`."""

from pathlib import Path
from typing import Annotated

import typer

import msopt
from msopt.model.validation import LARGEST_WHOLE
from reports.cli import arguments as opt
from reports.cli.sweep_command import Jobs
from reports.methods.conic_needs import need_cvxpy
from reports.shared.inputs import scenario_path
from reports.shared.output import check_folder, say, warn

FAILED = 1
"""Exit code where the report's own checks fail."""

Full = Annotated[
    bool, typer.Option("--full", help="More draws at more points, more scenarios behind the gains; takes longer.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_WHOLE, help="Seed of every draw.")]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help="A measured profile, or a bundled one's name; may be repeated (default: all bundled).",
    ),
]


def report(
    folder: opt.Folder,
    reported: opt.Reported = None,
    *,
    full: Full = False,
    seed: Seed = 0,
    method: opt.UserMethods = None,
    variant: opt.UserVariants = None,
    profile: Profiles = None,
    jobs: Jobs = None,
) -> None:
    """Write the comparison report: a page, its data, figures and tables. Exit code 1 where a check of it fails."""
    place = Path(folder)
    names = reported or [msopt.bundled.default]
    scenarios = [(name, scenario_path(name)) for name in names]
    need_cvxpy("the report's cross-check")

    from msopt.files.profile_json import find_profile
    from reports.methods.user_method import check_methods
    from reports.methods.user_variant import load_variants
    from reports.page.collect import Order, collect
    from reports.page.page import FIGURES, LATEX, MARKDOWN, PAGE, write_report
    from reports.shared.progress import progress_bar
    from reports.shared.record import MANIFEST, TABLES, TIMINGS
    from reports.shared.rows import rows_of

    check_folder(place, files=(PAGE, MARKDOWN, MANIFEST, TIMINGS), folders=(TABLES, FIGURES, LATEX))
    check_methods(method or ())
    load_variants(variant)
    order = Order(
        scenarios=scenarios,
        effort="full" if full else "quick",
        seed=seed,
        methods=tuple(dict.fromkeys(method or ())),
        variants=tuple(dict.fromkeys(variant or ())),
        profiles=[find_profile(name) for name in (msopt.bundled.profile_names() if profile is None else profile)],
        jobs=jobs,
    )
    with progress_bar("report") as progress:
        record = collect(order, progress)
    warn(dict.fromkeys(row["text"] for row in rows_of(record.tables["answer_warnings"])))
    page = write_report(record, place)
    say(f"The report is in {page}")
    failed = [row for row in rows_of(record.tables["checks"]) if row["verdict"] != "pass"]
    for row in failed:
        say(f"FAIL {row['check']}: {row['found']}")
    if failed:
        raise typer.Exit(FAILED)
