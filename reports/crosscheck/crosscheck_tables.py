"""The cross-check's tables as plain rows: verdicts, trials, notes. The terminal, the report and JSON show these."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.crosscheck.formulation_checks import Check
from reports.crosscheck.trial import Trial
from reports.crosscheck.verdict import minimiser_apart, minimisers, prices, prices_apart
from reports.shared.rows import Row

_LARGEST = 1e300
"""What JSON says of an infinite difference of prices."""
_OFF: dict[str, Callable[[list[float]], float]] = {
    "worst": lambda known: max(known, key=abs),
    "median": lambda known: statistics.median(map(abs, known)),
}
_ABOVE: dict[str, Callable[[list[float]], float]] = {"least": min, "median": statistics.median, "trials": len}
_MEDIAN_S = {"s": statistics.median}


class CrosscheckTables(NamedTuple):
    """A row of `verdicts` for each formulation and solver, of `trials` for each scenario that these were asked.

    `notes` has a row for each fault and each trial without an answer, and says what was not asked. Each row begins
    with `formulation` and `solver`; a table's rows all have the same keys.
    """

    verdicts: list[Row]
    trials: list[Row]
    notes: list[Row]

    @property
    def passed(self) -> bool:
        """Whether no verdict is FAIL."""
        return all(row["verdict"] != "FAIL" for row in self.verdicts)

    @classmethod
    def joined(cls, parts: "Iterable[CrosscheckTables]") -> "CrosscheckTables":
        """The rows of several, below each other."""
        found = cls([], [], [])
        for part in parts:
            for rows, more in zip(found, part, strict=True):
                rows.extend(more)
        return found


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What was checked, by what, against what, and how far it may be off: the first columns of its verdict."""

    formulation: str
    solver: str | None
    statement: str
    closed_form: str
    bound: bool
    objective_tolerance: float
    minimiser: str | None = None
    minimiser_tolerance: float | None = None
    algorithm: str | None = None

    @classmethod
    def of(cls, check: Check, solver: str) -> "Subject":
        """A formulation and a solver of it."""
        return cls(
            formulation=check.name,
            solver=solver,
            statement=check.entry.statement,
            closed_form=check.entry.closed_form,
            bound=check.entry.bound,
            objective_tolerance=check.entry.objective_rtol,
            minimiser=check.minimiser or None,
            minimiser_tolerance=check.entry.argmin_rtol if check.minimiser else None,
            algorithm=check.algorithm or None,
        )

    @property
    def head(self) -> Row:
        """The columns that every table begins with."""
        return {"formulation": self.formulation, "solver": self.solver}

    @property
    def minimiser_limit(self) -> float:
        """How far the minimisers may be apart."""
        return self.minimiser_tolerance or math.inf


def tables_of(
    subject: Subject, trials: Sequence[Trial], faults: Sequence[str], not_asked: str = "", worst: str | None = None
) -> CrosscheckTables:
    """The tables of one subject.

    Parameters
    ----------
    subject : Subject
    trials : sequence of Trial
    faults : sequence of str
        What breaks a tolerance.
    not_asked : str
        Why it was not asked in some trials; "" where it was.
    worst : str or None
        The file of the worst scenario.
    """
    notes = [("fault", text) for text in faults]
    notes += [("not solved", f"{t.scenario.name}: {t.status}. {t.cause}") for t in trials if not t.solved]
    notes += [("not asked", not_asked)] if not_asked else []
    verdict = "not asked" if not (trials or faults) else "FAIL" if faults else "pass"
    return CrosscheckTables(
        [_verdict_row(subject, trials) | {"verdict": verdict, "worst_scenario": worst}],
        [trial_row(subject, trial) for trial in trials],
        [subject.head | {"kind": kind, "text": text} for kind, text in notes],
    )


def _verdict_row(subject: Subject, trials: Sequence[Trial]) -> Row:
    solved = [trial for trial in trials if trial.solved]
    return (
        subject.head
        | {"statement": subject.statement, "closed_form": subject.closed_form, "bound": subject.bound}
        | {"trials": len(trials), "solved": len(solved), "repeated": sum(trial.repeated for trial in solved)}
        | _numbers("objective_difference", (trial.difference for trial in solved), _OFF)
        | {"objective_tolerance": subject.objective_tolerance, "minimiser": subject.minimiser}
        | _numbers("minimiser_difference", (trial.minimiser_difference for trial in solved), _OFF)
        | {"minimiser_tolerance": subject.minimiser_tolerance}
        | minimisers(solved, subject.minimiser_limit).columns("minimisers", "flat")
        | prices(solved).columns("prices", "explained")
        | _numbers("price_difference", (trial.price_difference for trial in solved), {"median": statistics.median})
        | _numbers("certificate", (trial.certificate for trial in solved), {"worst": lambda known: max(known, key=abs)})
        | {"algorithm": subject.algorithm}
        | _numbers("above_algorithm", (trial.above_algorithm for trial in solved), _ABOVE)
        | _numbers("above_brute_force", (trial.above_brute_force for trial in solved), _ABOVE)
        | _numbers("build", (trial.build_s for trial in solved), _MEDIAN_S)
        | _numbers("first_solve", (trial.first_s for trial in solved), _MEDIAN_S)
        | _numbers("re_solve", (trial.again_s for trial in solved), _MEDIAN_S)
    )


def _numbers(name: str, values: Iterable[float | None], of: Mapping[str, Callable[[list[float]], float]]) -> Row:
    """The named statistics of the values that are known; None where there is none."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return {f"{name}_{word}": function(known) if known else None for word, function in of.items()}


def trial_row(subject: Subject, trial: Trial) -> Row:
    """What a trial found, whatever was made of it."""
    price = trial.price_difference
    return subject.head | {
        "trial": trial.number,
        "scenario": trial.scenario.name,
        "devices": trial.scenario.device_count,
        "sharing": trial.scenario.uplink_sharing,
        "status": trial.status,
        "cause": trial.cause or None,
        "objective_difference": trial.difference,
        "minimiser_difference": trial.minimiser_difference,
        "minimiser_apart": minimiser_apart(trial, subject.minimiser_limit),
        "certificate": trial.certificate,
        "price_difference": None if price is None else min(price, _LARGEST),
        "price_apart": prices_apart(trial),
        "above_algorithm": trial.above_algorithm,
        "above_brute_force": trial.above_brute_force,
    }


def with_fractions(verdict: Row) -> Row:
    """A verdict with what tables show of several of its columns: what it tests, and how many of how many."""
    minimisers_compared, prices_compared = verdict["minimisers_compared"], verdict["prices_compared"]
    return verdict | {
        "tests": str(verdict["statement"]).partition(":")[0],
        "solved_of": _fraction(verdict["trials"], verdict["solved"]),
        "minimisers_of": _fraction(minimisers_compared, verdict["minimisers_agree"], verdict["minimisers_flat"]),
        "prices_agree_of": _fraction(prices_compared, verdict["prices_agree"]),
        "prices_of": _fraction(prices_compared, verdict["prices_agree"], verdict["prices_explained"]),
    }


def _fraction(whole: float | None, *parts: float) -> str:
    return "–" if whole is None else f"{int(sum(parts))}/{int(whole)}"
