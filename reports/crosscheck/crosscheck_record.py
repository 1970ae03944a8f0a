"""The cross-check in a report: which columns of its tables are kept, and the seconds apart."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from reports.crosscheck.crosscheck_tables import CrosscheckTables
from reports.crosscheck.trials_run import TrialPlan, crosscheck
from reports.shared.parallel import run
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row

if TYPE_CHECKING:
    from pandas import DataFrame

SOLVERS = ("ECOS", "CLARABEL", "SCS", "HIGHS")
_TITLES = {
    "crosscheck": "Formulations against closed forms",
    "crosscheck_trials": "Every trial of the cross-check",
    "crosscheck_notes": "Failures, and what was not asked",
}
_SECONDS = ["formulation", "solver", "build_s", "first_solve_s", "re_solve_s"]
_LEFT_OUT = {
    "crosscheck": {"repeated", "price_difference_median", "above_algorithm_trials", "above_brute_force_median"}
    | {"minimiser_difference_median", "minimiser_tolerance", "worst_scenario", *_SECONDS[2:]},
    "crosscheck_trials": {"scenario", "cause", "minimiser_apart", "price_difference", "price_apart"},
}
"""Columns that only `msopt crosscheck` tells."""


def crosscheck_record(
    trials: int,
    seed: int,
    *,
    largest: int,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Record:
    """Solve every formulation by every solver that takes it, on random scenarios.

    Parameters
    ----------
    trials, seed, largest : int
        Scenarios for each formulation (half as many for each variant), seed of the first, greatest number of devices.
    jobs : int, optional
        Processes; one for each core by default.
    progress : callable
        Told how many formulations of how many are done.
    """
    from reports.crosscheck.formulation_checks import CHECKS
    from reports.crosscheck.variant_checks import NAMES

    tasks = [
        (crosscheck, (TrialPlan(trials=count, seed=seed, largest=largest, solvers=SOLVERS, formulations=(name,)),))
        for names, count in ((tuple(CHECKS), trials), (NAMES, max(1, trials // 2)))
        for name in names
    ]
    found = {}
    for number, part, _ in run(tasks, jobs=jobs):
        found[number] = part
        progress(len(found), len(tasks))
    return as_record(CrosscheckTables.joined(found[number] for number in range(len(tasks))))


def as_record(found: CrosscheckTables) -> Record:
    """The tables of a cross-check as a report keeps them; seconds go to the timings."""
    import pandas as pd

    tables = {
        name: pd.DataFrame(rows).drop(columns=list(_LEFT_OUT[name]))
        for name, rows in (("crosscheck", found.verdicts), ("crosscheck_trials", found.trials))
    }
    tables["crosscheck_notes"] = pd.DataFrame(found.notes, columns=["formulation", "solver", "kind", "text"])
    seconds = [{key: row[key] for key in _SECONDS} for row in found.verdicts]
    return Record(
        {"tables": {name: _about(name, table) for name, table in tables.items()}}, tables, {"crosscheck": seconds}
    )


def _about(name: str, table: "DataFrame") -> Row:
    ratios = ("difference", "tolerance", "above", "certificate", "worst", "median", "least")
    columns = {str(column): "1" for column in table.columns if any(word in str(column) for word in ratios)}
    return undrawn(_TITLES[name], "random scenarios of reports/crosscheck/random_scenarios.py", columns)
