"""The cross-check as tables: one row for each formulation and solver, one for each trial, and the seconds apart."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reports.crosscheck.trials_run import TrialPlan, crosscheck
from reports.shared.parallel import run
from reports.shared.record import Record

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
SOLVERS = ("ECOS", "CLARABEL", "SCS", "HIGHS")
_TITLES = {
    "crosscheck": "Formulations against closed forms",
    "crosscheck_trials": "Every trial of the cross-check",
    "crosscheck_notes": "Failures, and what was not asked",
}
TABLES = tuple(_TITLES)


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
        Scenarios for each formulation, seed of the first, greatest number of devices.
    jobs : int, optional
        Processes; one for each core by default.
    progress : callable
        Told how many formulations of how many are done.
    """
    from reports.crosscheck.checks import CHECKS

    tasks = [
        (crosscheck, (TrialPlan(trials=trials, seed=seed, largest=largest, solvers=SOLVERS, formulations=(name,)),))
        for name in CHECKS
    ]
    found = {}
    for number, records, _ in run(tasks, jobs=jobs):
        found[number] = records
        progress(len(found), len(tasks))
    return tables_of([record for number in range(len(tasks)) for record in found[number]])


def tables_of(records: list[Row]) -> Record:
    """The records of `crosscheck.crosscheck` as tables; seconds go to the timings."""
    import pandas as pd

    tables = {
        "crosscheck": pd.DataFrame([_summary(record) for record in records]),
        "crosscheck_trials": pd.DataFrame(
            [_head(record) | trial for record in records for trial in record.get("each", ())]
        ),
        "crosscheck_notes": pd.DataFrame(
            [note for record in records for note in _notes(record)], columns=["formulation", "solver", "kind", "text"]
        ),
    }
    seconds = [_head(record) | record["seconds"] for record in records]
    return Record(
        {"tables": {name: _about(name, table) for name, table in tables.items()}}, tables, {"crosscheck": seconds}
    )


def _about(name: str, table: "DataFrame") -> Row:
    ratios = ("difference", "tolerance", "above", "certificate", "worst", "median", "least")
    columns = {str(column): "1" for column in table.columns if any(word in str(column) for word in ratios)}
    whole = {
        "title": _TITLES[name],
        "paper_says": None,
        "source": "random scenarios of reports/crosscheck/random_scenarios.py",
    }
    return whole | {"x": None, "y": None, "y_unit": None, "columns": columns}


def _head(record: Row) -> Row:
    return {"formulation": record["formulation"], "solver": record["solver"]}


def _summary(record: Row) -> Row:
    """One row; the nested parts of the record side by side."""
    minimisers, price = record["minimisers"], record["price"]
    return _head(record) | {
        "statement": record["statement"],
        "closed_form": record["closed_form"],
        "bound": record["bound"],
        "trials": record["trials"],
        "solved": record["solved"],
        "objective_difference_worst": _of(record["objective_difference"], "worst"),
        "objective_difference_median": _of(record["objective_difference"], "median"),
        "objective_tolerance": record["objective_tolerance"],
        "minimiser": record["minimiser"],
        "minimiser_difference_worst": _of(record["minimiser_difference"], "worst"),
        "minimisers_agree": _of(minimisers, "agree"),
        "minimisers_flat": _of(minimisers, "explained"),
        "minimisers_compared": _of(minimisers, "trials"),
        "prices_agree": _of(price, "agree"),
        "prices_explained": _of(price, "explained"),
        "prices_compared": _of(price, "trials"),
        "certificate_worst": record["certificate"],
        "algorithm": record["algorithm"],
        "above_algorithm_least": _of(record["above_algorithm"], "least"),
        "above_algorithm_median": _of(record["above_algorithm"], "median"),
        "above_brute_force_least": _of(record["above_brute_force"], "least"),
        "above_brute_force_trials": _of(record["above_brute_force"], "trials"),
        "verdict": "not asked" if not record["trials"] else "pass" if record["passed"] else "FAIL",
    }


def _of(part: Row | None, key: str) -> Any:
    return None if part is None else part[key]


def _notes(record: Row) -> list[Row]:
    found = [("fault", text) for text in record["faults"]]
    found += [
        ("not solved", f"{failure['scenario']}: {failure['status']}. {failure['cause']}")
        for failure in record["failures"]
    ]
    if record.get("not_asked"):
        found.append(("not asked", record["not_asked"]))
    return [_head(record) | {"kind": kind, "text": text} for kind, text in found]
