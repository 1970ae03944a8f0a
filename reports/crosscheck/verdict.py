"""What breaks a tolerance of the cross-check, for one formulation and solver: named tolerances, faults in words."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

from formulations.registry import PRICE_RTOL
from reports.crosscheck.formulation_checks import BOTH, Check
from reports.crosscheck.solver_promises import AT_LEAST, Promises, promise
from reports.crosscheck.trial import Trial
from reports.shared.rows import Row

UNKNOWN = "no reason known"
REFUTED = 0.001
"""Chance of so few good trials, or fewer, at the least share itself, below which that share is refuted: the false alarm
rate of each share. Below 1 - AT_LEAST, so that one bad trial never refutes it, however few or many there are."""

FLAT_CURVATURE = 1e-2
"""Flat between two decisions: the objectives differ by less than half this times the distance squared, relative.
ARGMIN_RTOL is the square root of OBJECTIVE_RTOL, for a curvature about one."""

NEVER_ABOVE = 1e-9
"""By how much enumeration may be above a bound that equals it: round-off of two orders of summation."""


def refuted(good: int, asked: int, least: float = AT_LEAST) -> bool:
    """Whether so few good trials are hardly chance, were the least share true."""
    return bool(bdtr(good, asked, least) < REFUTED)


def refuted_words(what: str, good: int, asked: int, least: float = AT_LEAST) -> list[str]:
    """The fault that a share is refuted, where it is."""
    if not asked or not refuted(good, asked, least):
        return []
    return [f"{what} in {good} of {asked} trials: {100.0 * least:g} % is refuted at {100.0 * REFUTED:g} %"]


def too_few_solved(solver: str, trials: Sequence[Trial], stalls: Promises = MappingProxyType({})) -> list[str]:
    """The fault that fewer trials are solved than the solver is held to, under each sharing."""
    found = []
    for sharing in BOTH:
        asked = [trial for trial in trials if trial.scenario.uplink_sharing == sharing]
        least, _ = promise(solver, sharing, stalls)
        found += refuted_words(f"solved under {sharing}", sum(trial.solved for trial in asked), len(asked), least)
    return found


def faults(check: Check, solver: str, trials: Sequence[Trial]) -> list[str]:
    """What breaks a tolerance, in words; nothing where the row passes."""
    found, entry = too_few_solved(solver, trials, check.stalls), check.entry
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
    limit = check.entry.argmin_rtol or np.inf
    for what, one in (("minimisers", minimisers(answers, limit)), ("prices of bandwidth", prices(answers))):
        found += refuted_words(f"{what} agree or are explained", one.agree + one.explained, one.compared)
    return found


class Agreed(NamedTuple):
    """In how many trials two answers were compared, agree, or are known not to have to."""

    compared: int
    agree: int
    explained: int

    @classmethod
    def of(cls, reasons: Sequence[str | None]) -> "Agreed":
        """From why each pair differs; None where it agrees."""
        explained = sum(reason not in (None, UNKNOWN) for reason in reasons)
        return cls(len(reasons), reasons.count(None), explained)

    def columns(self, of: str, explained: str) -> Row:
        """The counts as columns; None where nothing was compared."""
        counts = {f"{of}_agree": self.agree, f"{of}_{explained}": self.explained, f"{of}_compared": self.compared}
        return dict.fromkeys(counts) if not self.compared else counts


def minimisers(trials: Sequence[Trial], limit: float) -> Agreed:
    """How often the minimisers agree; a flat optimum explains where they do not."""
    return Agreed.of([minimiser_apart(trial, limit) for trial in trials if trial.minimiser_difference is not None])


def prices(trials: Sequence[Trial]) -> Agreed:
    """How often the three prices agree."""
    return Agreed.of([prices_apart(trial) for trial in trials if trial.price_difference is not None])


def minimiser_apart(trial: Trial, limit: float) -> str | None:
    """Why the minimisers differ by more than the limit; None where they do not, or none was compared."""
    if trial.minimiser_difference is None or trial.minimiser_difference <= limit:
        return None
    return "flat" if flat(trial) else UNKNOWN


def prices_apart(trial: Trial) -> str | None:
    """Why the prices differ by more than PRICE_RTOL; None where they do not, or none was compared."""
    if trial.price_difference is None or trial.price_difference <= PRICE_RTOL:
        return None
    return trial.price_reason or UNKNOWN


def flat(trial: Trial) -> bool:
    """Whether the two decisions are too alike in objective for their distance to mean anything."""
    distance = trial.minimiser_difference or 0.0
    return trial.difference is not None and abs(trial.difference) <= 0.5 * FLAT_CURVATURE * distance * distance


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
