"""Measured profiles as tables: acceptance, curves beside their laws, times with their fits, payload."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reports.shared.record import Record, undrawn
from reports.shared.rows import Row

if TYPE_CHECKING:
    from pandas import DataFrame

    from msopt.measured.profile import Profile
    from msopt.measured.task_acceptance import Estimate, TaskAcceptance

_TITLES = {
    "profiles": "What was measured, and on what",
    "profile_acceptance": "Acceptance of each task",
    "profile_curves": "Measured acceptance curves beside the geometric and the Beta law",
    "profile_draft_time": "Time to draft a token",
    "profile_server_draft": "Time of a drafting step at the server",
    "profile_verification": "Verification times beside their fit",
    "profile_fits": "Terms of the verification time",
    "profile_payload": "What is sent of a distribution, and what acceptance it leaves",
}
TABLES = tuple(_TITLES)
_UNITS = {"_s": "s", "_bits": "bit", "low": "1", "high": "1", "acceptance": "1", "survival": "1", "std": "1"}


def measured_times(profile: "Profile") -> list[tuple[int, float]]:
    """Batch and median verification time [s] at the draft length nearest to that of the sampling, or the shortest."""
    assert profile.verification is not None
    rows = profile.verification.rows
    aim = 0 if profile.sampling is None else profile.sampling.draft_length
    nearest = min((row.draft_length for row in rows), key=lambda length: (abs(length - aim), length))
    return sorted((row.batch, row.time.median_s) for row in rows if row.draft_length == nearest)


def profile_record(profiles: Sequence["Profile"]) -> Record:
    """The tables of any number of profiles; empty ones where there is none."""
    import pandas as pd

    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for profile in profiles:
        for name, found in _study(profile).items():
            rows[name] += [{"profile": profile.name} | row for row in found]
    tables = {name: pd.DataFrame(found, columns=None if found else ["profile"]) for name, found in rows.items()}
    return Record({"tables": {name: _about(name, table) for name, table in tables.items()}}, tables)


def _about(name: str, table: "DataFrame") -> Row:
    columns = {
        str(column): unit
        for column in table.columns
        for end, unit in _UNITS.items()
        if str(column).endswith(end) or str(column).startswith(end)
    }
    return undrawn(_TITLES[name], "profiles measured with real models", columns)


def _study(profile: "Profile") -> dict[str, list[Row]]:
    return {
        "profiles": [_provenance(profile)],
        "profile_acceptance": [_acceptance(task, found) for task, found in profile.tasks.items()],
        "profile_curves": [row for task, found in profile.tasks.items() for row in _curve(task, found)],
        "profile_draft_time": [] if profile.draft_time is None else [profile.draft_time.model_dump(exclude={"raw_s"})],
        "profile_server_draft": [
            {"batch": row.batch} | row.time.model_dump(exclude={"raw_s"}) for row in profile.server_draft
        ],
        "profile_verification": _verification(profile),
        "profile_fits": _fits(profile),
        "profile_payload": [
            {
                "task": row.task or "all",
                "kept_entries": row.kept_entries,
                "probability_bits": row.probability_bits,
                "distribution_bits": row.distribution_bits,
                **_estimate("acceptance", row.acceptance),
            }
            for row in profile.payload
        ],
    }


def _provenance(profile: "Profile") -> Row:
    sampling, kept = profile.sampling, profile.acceptance_from
    return {
        "draft": profile.draft.name,
        "draft_quantisation": profile.draft.quantisation,
        "target": profile.target.name,
        "target_quantisation": profile.target.quantisation,
        "compute_only": profile.compute_only,
        "temperature": None if sampling is None else sampling.temperature,
        "draft_length": None if sampling is None else sampling.draft_length,
        "machine": profile.machine.label,
        "date": profile.date,
        "interval_level": profile.interval_level,
        "note": "; ".join(filter(None, [profile.note.rstrip("."), f"acceptance: {kept.label}" if kept else ""])),
    }


def _estimate(name: str, estimate: "Estimate | None") -> Row:
    parts = ("value", "low", "high")
    found = {part: None if estimate is None else getattr(estimate, part) for part in parts}
    return {name: found["value"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


def _acceptance(task: str, found: "TaskAcceptance") -> Row:
    spread = found.over_prompts
    return {
        "task": task,
        "prompts": found.prompts,
        "drafted": found.drafted,
        "visited": found.visited,
        "accepted": found.accepted,
        **_estimate("acceptance", found.by_counts),
        **_estimate("acceptance_by_overlap", found.by_overlap),
        **_estimate("acceptance_of_target_text", found.target_text_overlap),
        **_estimate("acceptance_all_drafted", found.all_drafted_ratio),
        "over_prompts_mean": None if spread is None else spread.mean,
        "over_prompts_std": None if spread is None else spread.std,
    }


def _curve(task: str, found: "TaskAcceptance") -> list[Row]:
    """S(l) as measured and by the two laws with the task's acceptance and its deviation over prompts."""
    positions = np.arange(1, len(found.curve) + 1)
    share = found.by_counts.value
    beta = None if found.over_prompts is None else found.over_prompts.beta
    laws: list[Row] = [{"geometric": None, "beta": None} for _ in positions]
    for place, row in enumerate(laws):
        row["geometric"] = None if share is None else share ** (place + 1)
        if beta is not None:
            below = np.arange(place + 1)
            row["beta"] = float(np.prod((beta[0] + below) / (beta[0] + beta[1] + below)))
    return [
        {
            "task": task,
            "position": int(position),
            "visited": point.visited,
            "accepted": point.accepted,
            "survival": point.survival,
            "low": point.low,
            "high": point.high,
            **law,
        }
        for position, point, law in zip(positions, found.curve, laws, strict=True)
    ]


def _verification(profile: "Profile") -> list[Row]:
    if profile.verification is None:
        return []
    grid = profile.verification
    return [
        {
            "batch": row.batch,
            "draft_length": row.draft_length,
            "median_s": row.time.median_s,
            "q25_s": row.time.q25_s,
            "q75_s": row.time.q75_s,
            "n": row.time.n,
            "fit_s": row.time.median_s - residual,
        }
        for row, residual in zip(grid.rows, grid.fit.residuals_s, strict=True)
    ]


def _fits(profile: "Profile") -> list[Row]:
    if profile.verification is None:
        return []
    fit = profile.verification.fit
    named = {"verify_base_s": fit.base, "verify_per_device_s": fit.per_device, "verify_per_token_s": fit.per_token}
    return [
        {
            "term": name,
            "fitted_s": term.seconds,
            "standard_error_s": term.standard_error_s,
            "p_value": term.p_value,
            "needed": term.needed,
            "r_squared": fit.r_squared,
            "max_relative_residual": fit.max_relative_residual,
        }
        for name, term in named.items()
    ]
