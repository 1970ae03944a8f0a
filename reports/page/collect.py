"""Everything a report needs, computed once: the answer, the cross-check, the studies, the profiles, and the checks."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from formulations.registry import ARGMIN_RTOL, OBJECTIVE_RTOL, PRICE_RTOL, WHOLE_RTOL
from msopt import Scenario
from reports.calibration.both_papers import SHARES, studied_inversely
from reports.claims.studied import collect as collect_studies
from reports.crosscheck.crosscheck_record import SOLVERS, crosscheck_record
from reports.crosscheck.solver_promises import AT_LEAST
from reports.crosscheck.verdict import REFUTED
from reports.methods.user_variant import load_variants
from reports.page.answer import answer
from reports.page.profile_tables import measured_times, profile_record
from reports.page.self_checks import checks_record
from reports.page.settings_table import settings_record
from reports.shared.parallel import cores
from reports.shared.record import Record
from reports.shared.rows import Row
from reports.studies.closed_loop import stored_loops
from reports.studies.drawn_loop import drawn_loop
from reports.studies.effort import EFFORTS
from reports.studies.model_loop import model_loop
from reports.studies.quoted import UP_TO
from reports.studies.settings import scenario_hash

if TYPE_CHECKING:
    import pandas as pd

    from msopt.measured.profile import Profile

Progress = Callable[[int, int], None]
"""Told how many parts of how many are done, first of the cross-check, then of the studies."""

CROSSCHECK_TRIALS = {"quick": 4, "full": 60}
CROSSCHECK_DEVICES = {"quick": 12, "full": 30}
"""Random scenarios of each formulation, and the greatest number of their devices."""
CROSSCHECK_TOLERANCES = {
    "objective_rtol": OBJECTIVE_RTOL,
    "argmin_rtol": ARGMIN_RTOL,
    "whole_rtol": WHOLE_RTOL,
    "price_rtol": PRICE_RTOL,
    "crosscheck_share": AT_LEAST,
    "crosscheck_false_alarm": REFUTED,
}
LOOP_ROUNDS = {"quick": 5120, "full": 20480}
"""Rounds of every play without models."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to report on.

    Attributes
    ----------
    scenarios : sequence of (what the user called it, file)
    effort : str
        "quick" or "full".
    seed : int
        Of every draw.
    methods : sequence of str
        A user's own, MODULE:FUNCTION.
    variants : sequence of str
        A user's own utility and limits, MODULE:CLASS, of the answer.
    profiles : sequence of Profile
        Measured parameters.
    jobs : int or None
        Processes; one for each core where None. The tables do not depend on it.
    """

    scenarios: Sequence[tuple[str, Path]]
    effort: str = "quick"
    seed: int = 0
    methods: Sequence[str] = ()
    variants: Sequence[str] = ()
    profiles: "Sequence[Profile]" = ()
    jobs: int | None = None


def collect(order: Order, progress: Progress = lambda *_: None) -> Record:
    """Compute every table of a report.

    Raises
    ------
    MsoptError
        For a bad scenario, before anything else is computed; where a method fails.
    """
    hashes = {source: scenario_hash(Scenario.read(path)) for source, path in order.scenarios}
    started, wall_s = datetime.now(UTC), dict[str, float]()
    with _timed(wall_s, "answer"):
        answered = answer(order.scenarios, order.methods, load_variants(order.variants))
    with _timed(wall_s, "crosscheck"):
        checked = crosscheck_record(
            CROSSCHECK_TRIALS[order.effort],
            order.seed,
            largest=CROSSCHECK_DEVICES[order.effort],
            jobs=order.jobs,
            progress=progress,
        )
    with _timed(wall_s, "studies"):
        studied = collect_studies(
            EFFORTS[order.effort],
            seed=order.seed,
            jobs=order.jobs,
            methods=order.methods,
            measured={profile.name: measured_times(profile) for profile in order.profiles if profile.verification},
            progress=progress,
        )
    studied.manifest["tables"]["gains"]["paper_gain"] = UP_TO
    with _timed(wall_s, "inverse studies"):
        inverse, columns = studied_inversely(SHARES[order.effort], order.seed, order.jobs, progress)
    studied.tables["claims"] = with_columns(studied.tables["claims"], columns)
    studied.manifest["inverse_studies"] = inverse.manifest["inverse_studies"]
    with _timed(wall_s, "rounds as played"):
        loops = drawn_loop(order.seed, LOOP_ROUNDS[order.effort]), model_loop(stored_loops())
    whole = joined(studied, answered, checked, inverse, *loops, profile_record(order.profiles), settings_record())
    whole.manifest["scenario_hashes"] = hashes | whole.manifest["scenario_hashes"]
    whole.manifest["solvers"] = list(SOLVERS)
    whole.manifest["tolerances"] |= CROSSCHECK_TOLERANCES
    times = {
        "started": started.isoformat(timespec="seconds"),
        "jobs": order.jobs or cores(),
        "wall_s": sum(wall_s.values()),
        "wall_s_by_part": wall_s,
    }
    return joined(whole, checks_record(whole), Record({"tables": {}}, {}, times))


@contextmanager
def _timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Notes how long a part of the report takes."""
    clock = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - clock


def with_columns(claims: "pd.DataFrame", columns: Mapping[str, Row]) -> "pd.DataFrame":
    """The claims with what the inverse studies say of each."""
    names = dict.fromkeys(name for row in columns.values() for name in row)
    table = claims.copy()
    for name in names:
        table[name] = [columns.get(claim, {}).get(name) for claim in claims["id"]]
    return table


def joined(first: Record, *others: Record) -> Record:
    """One record of several: their tables below each other, the first one's manifest with all their entries."""
    tables, about = dict(first.tables), dict(first.manifest["tables"])
    timings = dict(first.timings)
    for other in others:
        tables |= other.tables
        about |= other.manifest["tables"]
        timings |= other.timings
    return Record(first.manifest | {"tables": about}, tables, timings)
