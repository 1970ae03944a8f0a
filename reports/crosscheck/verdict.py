"""From trials to one row of the cross-check: differences, failures, times, and pass or fail by named tolerances."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import bdtr

from formulations.registry import PRICE_RTOL
from reports.crosscheck.checks import Check
from reports.crosscheck.trial import Trial

Record = dict[str, Any]
SOLVED_AT_LEAST = {
    ("CLARABEL", "fixed-snr"): 1.0,
    ("ECOS", "fixed-snr"): 0.99,
    ("CLARABEL", "power-limited"): 0.98,
    ("ECOS", "power-limited"): 0.90,
    ("HIGHS", "fixed-snr"): 1.0,
    ("HIGHS", "power-limited"): 1.0,
}
"""Least share of trials that a solver has to solve. SCS, a first-order method, promises none."""

REFUTED = 0.01
"""Chance of so few solved trials, or fewer, at the least share itself, below which that share is refuted: the false
alarm rate of a row, however few its trials."""

PRICES_AGREE_AT_LEAST = 0.98
"""Least share of trials in which dual, closed form and finite difference are within PRICE_RTOL of each other."""

MINIMISERS_AGREE_AT_LEAST = 0.98
"""Least share of trials in which the minimisers agree, or the optimum is flat and has no one minimiser."""

FLAT_CURVATURE = 1e-2
"""Flat between two decisions: the objectives differ by less than half this times the distance squared, relative.
ARGMIN_RTOL is the square root of OBJECTIVE_RTOL, for a curvature about one."""

NEVER_ABOVE = 1e-9
"""By how much enumeration may be above a bound that equals it: round-off of two orders of summation."""


def row(check: Check, solver: str, trials: Sequence[Trial]) -> Record:
    """One formulation by one solver."""
    entry, solved = check.entry, [trial for trial in trials if trial.solved]
    record: Record = {
        "formulation": check.name,
        "solver": solver,
        "statement": entry.statement,
        "closed_form": entry.closed_form,
        "bound": entry.bound,
        "trials": len(trials),
        "solved": len(solved),
        "repeated": sum(trial.solves > check.entry.formulation.passes for trial in solved),
        "failures": [
            {"trial": t.number, "scenario": t.scenario.name, "sharing": t.scenario.uplink_sharing}
            | {"status": t.status, "cause": t.cause}
            for t in trials
            if not t.solved
        ],
        "objective_difference": _spread(trial.difference for trial in solved),
        "objective_tolerance": entry.objective_rtol,
        "minimiser": check.minimiser or None,
        "minimiser_difference": _spread(trial.minimiser_difference for trial in solved),
        "minimisers": _minimisers(check, solved),
        "minimiser_tolerance": entry.argmin_rtol if check.minimiser else None,
        "certificate": _worst(trial.certificate for trial in solved),
        "price": _prices(solved),
        "algorithm": check.algorithm or None,
        "above_algorithm": _least_and_median(trial.above_algorithm for trial in solved),
        "above_brute_force": _least_and_median(trial.above_brute_force for trial in solved),
        "seconds": {
            "build": _median(trial.build_s for trial in solved),
            "first_solve": _median(trial.first_s for trial in solved),
            "re_solve": _median(trial.again_s for trial in solved),
        },
        "each": [_one(trial) for trial in trials],
    }
    record["faults"] = faults(check, solver, trials)
    record["passed"] = not record["faults"]
    return record


def _one(trial: Trial) -> Record:
    """What a trial found, whatever was made of it."""
    return {
        "trial": trial.number,
        "devices": trial.scenario.device_count,
        "sharing": trial.scenario.uplink_sharing,
        "status": trial.status,
        "objective_difference": trial.difference,
        "minimiser_difference": trial.minimiser_difference,
        "certificate": trial.certificate,
        "above_algorithm": trial.above_algorithm,
        "above_brute_force": trial.above_brute_force,
    }


def refuted(solved: int, asked: int, least: float) -> bool:
    """Whether so few solved trials are hardly chance, were the least share true."""
    return bool(bdtr(solved, asked, least) < REFUTED)


def faults(check: Check, solver: str, trials: Sequence[Trial]) -> list[str]:
    """What breaks a tolerance, in words; nothing where the row passes."""
    found, entry = [], check.entry
    for sharing in check.sharings:
        asked = [trial for trial in trials if trial.scenario.uplink_sharing == sharing]
        least = SOLVED_AT_LEAST.get((solver, sharing), 0.0)
        solved = sum(trial.solved for trial in asked)
        if asked and refuted(solved, len(asked), least):
            found.append(f"{solved} of {len(asked)} {sharing} trials solved: {least:.0%} is refuted at {REFUTED:.0%}")
    answers = [trial for trial in trials if trial.solved]
    limits: tuple[tuple[str, Callable[[Trial], float | None], float], ...] = (
        ("objective off by", lambda t: _off(t.difference, entry.bound), entry.objective_rtol),
        ("below the paper's algorithm by", lambda t: _below(t.above_algorithm), entry.objective_rtol),
        (
            "enumeration missed by" if check.equals_brute_force else "below enumeration by",
            lambda t: _off(t.above_brute_force, not check.equals_brute_force),
            max(entry.objective_rtol, NEVER_ABOVE),
        ),
    )
    for words, of, limit in limits:
        values = [(value, trial.number) for trial in answers if (value := of(trial)) is not None]
        if values and max(values)[0] > limit:
            worst, number = max(values)
            found.append(f"{words} {worst:.1e} in trial {number}, {limit:.0e} allowed")
    minimisers = _minimisers(check, answers)
    if minimisers is not None and _backed(minimisers) < MINIMISERS_AGREE_AT_LEAST * minimisers["trials"]:
        found.append(f"minimisers agree in {minimisers['agree']} of {minimisers['trials']} trials")
    prices = _prices(answers)
    if prices is not None and _backed(prices) < PRICES_AGREE_AT_LEAST * prices["trials"]:
        found.append(f"prices of bandwidth agree in {prices['agree']} of {prices['trials']} trials")
    return found


def flat(trial: Trial) -> bool:
    """Whether the two decisions are too alike in objective for their distance to mean anything."""
    distance = trial.minimiser_difference or 0.0
    return trial.difference is not None and abs(trial.difference) <= 0.5 * FLAT_CURVATURE * distance * distance


def _backed(record: Record) -> int:
    """Trials that agree, and those that are known not to have to."""
    return int(record["agree"] + record["explained"])


def _minimisers(check: Check, solved: Sequence[Trial]) -> Record | None:
    """How often the minimisers agree, and the trials in which they do not."""
    known = [trial for trial in solved if trial.minimiser_difference is not None]
    if not known:
        return None
    limit = check.entry.argmin_rtol or np.inf
    apart = [trial for trial in known if not (trial.minimiser_difference or 0.0) <= limit]
    return {
        "trials": len(known),
        "agree": len(known) - len(apart),
        "explained": sum(flat(trial) for trial in apart),
        "apart": [
            {
                "trial": trial.number,
                "difference": trial.minimiser_difference,
                "objective_difference": trial.difference,
                "reason": "flat" if flat(trial) else None,
            }
            for trial in apart
        ],
    }


def badness(check: Check, trial: Trial) -> float:
    """How bad a trial is: its worst difference over the tolerance; infinite for a failure."""
    if not trial.solved:
        return np.inf
    off = abs(trial.difference or 0.0) / check.entry.objective_rtol
    return max(off, (trial.minimiser_difference or 0.0) / (check.entry.argmin_rtol or np.inf))


def _off(difference: float | None, one_sided: bool) -> float | None:
    return None if difference is None else (-difference if one_sided else abs(difference))


def _below(above: float | None) -> float | None:
    return None if above is None else -above


def _values(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and np.isfinite(value)]


def _median(values: Iterable[float | None]) -> float | None:
    known = _values(values)
    return statistics.median(known) if known else None


def _worst(values: Iterable[float | None]) -> float | None:
    known = _values(values)
    return max(known, key=abs) if known else None


def _spread(values: Iterable[float | None]) -> Record | None:
    """Worst with its sign, and the median of the magnitudes."""
    known = _values(values)
    return {"worst": _worst(known), "median": _median(abs(value) for value in known)} if known else None


def _least_and_median(values: Iterable[float | None]) -> Record | None:
    known = _values(values)
    return {"trials": len(known), "least": min(known), "median": statistics.median(known)} if known else None


def _prices(solved: Sequence[Trial]) -> Record | None:
    """How often the three prices agree, and in how many of the other trials the reason is known."""
    known = [(trial, max(trial.price_differences)) for trial in solved if trial.price_differences is not None]
    if not known:
        return None
    apart = [(trial, worst) for trial, worst in known if not worst <= PRICE_RTOL]
    return {
        "trials": len(known),
        "agree": len(known) - len(apart),
        "explained": sum(bool(trial.price_reason) for trial, _ in apart),
        "median_difference": statistics.median(worst for _, worst in known),
        "apart": [
            {"trial": trial.number, "difference": min(worst, 1e300), "reason": trial.price_reason or None}
            for trial, worst in apart
        ],
    }
