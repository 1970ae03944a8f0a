"""The inverse studies of both papers for the report: the fits, and every claim over the settings that they leave."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from msopt import MsoptError
from reports.calibration.calibrate import fit_in_memory
from reports.calibration.fit import Candidate, Fit
from reports.calibration.fit_tables import fit_record
from reports.calibration.plausible_verdicts import (
    SCORES,
    cut_words,
    judged_settings,
    turning_cut,
    verdict_words,
    verdicts_at,
)
from reports.calibration.targets_file import read_calibration
from reports.shared.parallel import run
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row
from reports.studies.effort import QUICK, Effort
from reports.studies.points import Failure, attempt

FILE_OF = {"MS": "multispin", "UD": "uldl"}
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Share:
    """How much of a report goes into the inverse studies.

    Attributes
    ----------
    settings, starts, draws : int
        Of a study, in place of its file's.
    judged : int
        Settings at which claims are judged.
    efforts : dict of Effort
        Of the draws behind these judgements, by paper.
    """

    settings: int
    starts: int
    draws: int
    judged: int
    efforts: dict[str, Effort]


# 200 draws: of fewer no interval of a mean over rare deep fades is to be trusted (DESIGN.md, section 10).
_MS = replace(
    QUICK,
    name="plausible settings",
    draws={"heterogeneous": 4, "modes": 1},
    curve_draws=200,
    bandwidth_hz=(5e6, 10e6, 20e6),
    ms_devices=(10, 17, 24, 40),
)
_UD = replace(
    QUICK,
    name="plausible settings",
    devices=10,
    draws={"heterogeneous": 1, "modes": 6},
    curve_draws=24,
    downlink_power_dbm=(0.0, 15.0, 25.0, 35.0, 50.0),
    ud_devices=(6, 10),
    power_ratio=(1.0, 4.0, 16.0),
)
_COARSE_MS = replace(_MS, draws={"heterogeneous": 2, "modes": 1}, curve_draws=6, ms_devices=(10, 17, 24))
_COARSE_UD = replace(_UD, draws={"heterogeneous": 1, "modes": 2}, ud_devices=(4, 6), devices=8, curve_draws=6)
SHARES = {
    "quick": Share(settings=8, starts=0, draws=6, judged=2, efforts={"MS": _COARSE_MS, "UD": _COARSE_UD}),
    "full": Share(settings=64, starts=4, draws=32, judged=64, efforts={"MS": _MS, "UD": _UD}),
}
"""A quick report has a coarse study of a few seconds, which says little; the page says so."""


def studied_inversely(
    share: Share, seed: int, jobs: int | None = None, progress: Progress | None = None
) -> tuple[Record, dict[str, Row]]:
    """The tables of both studies, and by claim the columns that they add to the table of the claims.

    Raises
    ------
    MsoptError
        Where nothing can be tried.
    """
    fits = {paper: _fit(paper, share, seed, jobs, progress) for paper in FILE_OF}
    kept = {paper: judged_settings(found, share.judged) for paper, found in fits.items()}
    asked = [(paper, one) for paper, every in kept.items() for one in every]
    tasks = [
        (attempt, (verdicts_at, paper, *_settings(fits[paper], one, share.efforts[paper], seed)))
        for paper, one in asked
    ]
    found: dict[int, list[Row]] = {}
    for place, rows, _ in run(tasks, jobs=jobs):
        if isinstance(rows, Failure):
            raise MsoptError(f"the claims of [{asked[place][0]}] cannot be judged at a setting: {rows.cause}")
        found[place] = rows
        if progress is not None:
            progress(len(found), len(tasks))
    judged = [
        {"paper": asked[place][0], "setting": asked[place][1].number, **row}
        for place in range(len(asked))
        for row in found[place]
    ]
    columns: dict[str, Row] = {}
    for paper in FILE_OF:
        columns |= _columns(fits[paper], kept[paper], [row for row in judged if row["paper"] == paper])
    return record_of(fits, judged), columns


def _fit(paper: str, share: Share, seed: int, jobs: int | None, progress: Progress | None) -> Fit:
    calibration = read_calibration(FILE_OF[paper])
    base = calibration.base.model_copy(update={"draws": share.draws, "seed": seed})
    chosen = {"settings": share.settings, "starts": share.starts, "base": base}
    return fit_in_memory(calibration.model_copy(update=chosen), jobs=jobs, progress=progress)


def _settings(found: Fit, one: Candidate, effort: Effort, seed: int) -> tuple[Any, ...]:
    """What `verdicts_at` is given at a setting."""
    space, point = found.calibration.space, one.tried.point
    settings = {preset: space.settings(point, preset) for preset in found.calibration.base.presets}
    return settings, effort, seed, space.swept_to(point)


def _columns(found: Fit, kept: Sequence[Candidate], judged: Sequence[Row]) -> dict[str, Row]:
    """By claim: how many of the settings it holds in, and where it turns."""
    points = {one.number: one.tried.point for one in kept}
    by_claim: dict[str, list[Row]] = {}
    for row in judged:
        by_claim.setdefault(row["id"], []).append(row)
    columns = {}
    for claim, rows in by_claim.items():
        tested = [row for row in rows if row["verdict"] in SCORES]
        verdicts = [row["verdict"] for row in tested]
        cut = turning_cut(
            found.calibration.space.dimensions, np.array([points[row["setting"]] for row in tested]), verdicts
        )
        columns[claim] = {"plausible": verdict_words(verdicts, bool(found.plausible)), "turns": cut_words(cut)}
    return columns


def record_of(fits: Mapping[str, Fit], judged: Sequence[Row]) -> Record:
    """The tables of the studies, of both papers beside each other."""
    import pandas as pd

    tables: dict[str, pd.DataFrame] = {}
    about: dict[str, Any] = {}
    summaries = {}
    for paper, found in fits.items():
        record = fit_record(found)
        tables |= {f"{paper.lower()}_{name}": table for name, table in record.tables.items()}
        about |= {f"{paper.lower()}_{name}": entry for name, entry in record.manifest["tables"].items()}
        summaries[paper.lower()] = record.manifest["summary"]
    tables["claims_at_settings"] = pd.DataFrame(judged)
    about["claims_at_settings"] = undrawn(
        "The verdict of every claim at every setting that is left", "the inverse studies; fewer draws at each setting"
    )
    return Record({"tables": about, "inverse_studies": summaries}, tables, {})
