"""A record with every table of a report, made up in a moment: what is drawn and shown, not what is computed."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from msopt.measured.profile import Profile
from msopt.measured.task_acceptance import Estimate, PayloadRow
from reports.calibration.both_papers import FILE_OF, record_of
from reports.calibration.fit import Candidate, Fit
from reports.calibration.settings_tried import Found, Tried
from reports.calibration.targets_file import read_calibration
from reports.claims.judging import ABOVE_0, HELD, IN_PART, NOT_HERE, NOT_SETTLED
from reports.crosscheck.crosscheck_record import as_record
from reports.crosscheck.crosscheck_tables import CrosscheckTables, Subject, tables_of
from reports.crosscheck.random_scenarios import random_scenario
from reports.crosscheck.trial import Trial
from reports.page.answer import answer
from reports.page.collect import joined, with_columns
from reports.page.profile_tables import measured_times, profile_record
from reports.page.self_checks import checks_record
from reports.page.settings_table import settings_record
from reports.plots.figures import CLAIMS_OF
from reports.shared.estimators import Mean
from reports.shared.record import Record, undrawn
from reports.shared.rows import Row
from reports.studies.closed_forms import CLOSED
from reports.studies.drawn_loop import drawn_loop
from reports.studies.effort import QUICK
from reports.studies.gains import BASELINES
from reports.studies.greedy_paths import AS_PRINTED, PATHS
from reports.studies.model_loop import model_loop
from reports.studies.paper_figures import LENGTH_SCHEMES, MODE_SCHEMES, MS_SCHEMES, STUDIED
from reports.studies.quoted import UP_TO
from reports.studies.unknown_acceptance import (
    BY_LAW,
    BY_MEAN,
    COMMON,
    GUARDED,
    KNOWN,
    LEARNT,
    LEARNT_RARELY,
    NEVER,
    OPTIMIST,
    UNKNOWN,
)
from tests.profiles import profile

PAIRS = ("TinyLlama-1.1B drafts for Llama-2-7B", "Qwen3.5-0.8B drafts for Qwen3.5-27B")
OWN = "mine:best"
FEW_ROUNDS = 64


def made_up_record(scenarios: Sequence[tuple[str, Path]], profiles: Sequence[Profile] = ()) -> Record:
    """The answer as it is; everything else made up."""
    measured = {profile.name: measured_times(profile) for profile in profiles}
    loops = few_played(), model_loop([stored_loop()])
    inverse, columns = _inverse_studies()
    studies = _studies(measured)
    studies.tables["claims"] = with_columns(studies.tables["claims"], columns)
    studies.manifest["inverse_studies"] = inverse.manifest["inverse_studies"]
    parts = (answer(scenarios), _crosscheck(), inverse, *loops, profile_record(profiles), settings_record())
    whole = joined(studies, *parts)
    return joined(whole, checks_record(whole))


@cache
def few_played() -> Record:
    """Rounds drawn from the laws as they are, but few."""
    return drawn_loop(0, FEW_ROUNDS)


def stored_loop() -> Row:
    """A result of real models, made up."""
    head = {"problem": "modes", "method": "decomposition", "prompts": "unseen"}
    tokens = {"tokens_per_round": 21.0, "tokens_low": 20.5, "tokens_high": 21.5}
    goodput = {"goodput": 40.0, "goodput_low": 39.0, "goodput_high": 41.0}
    predicted = {"predicted_tokens_curve": 21.2, "predicted_tokens_geometric": 20.0}
    predicted |= {"predicted_goodput_curve": 40.4, "predicted_goodput_geometric": 38.0}
    more = {"tokens_more": -0.01, "tokens_more_low": -0.03, "tokens_more_high": 0.01, "same_control": ["greedy"]}
    more |= {"goodput_more": -0.02, "goodput_more_low": -0.04, "goodput_more_high": 0.005}
    ends = {"low": 0.1, "high": 0.2}
    said = {"predicted_low": 0.11, "predicted_high": 0.17}
    said |= {"difference": 0.01, "difference_low": -0.05, "difference_high": 0.07}
    return {
        "schema_version": 1,
        "name": "small|pair",
        "date": "2026-01-02",
        "seed": 0,
        "machine": {"cpu": "made up", "threads": 1, "gpu": None},
        "target": "target",
        "drafts": ["draft", "other"],
        "temperature": 1.0,
        "text_tokens": 96,
        "clock": "profile",
        "interval_level": 0.95,
        "scenario": "cell",
        "plays": [head | tokens | goodput | predicted | more | {"rounds": 300, "device_rounds": 2400, "texts": 80}],
        "devices": [],
        "phases": [head | {"phase": "round", "predicted_s": 0.5, "realised_s": 0.51, "low_s": 0.5, "high_s": 0.52}],
        "assumptions": [head | {"assumption": "equal shares", "of": "time", "change": 0.15} | ends],
        "order": [head | {"against": "all-uplink", "predicted_gain": 0.14, "realised_gain": 0.15} | ends | said],
    }


def _inverse_studies() -> tuple[Record, dict[str, dict[str, str]]]:
    """Of [MS] no setting is plausible, of [UD] all are."""
    rng = np.random.default_rng(1)
    fits = {}
    for paper, worst in (("MS", 9.0), ("UD", 0.9)):
        calibration = read_calibration(FILE_OF[paper])
        numbers, reading = len(calibration.asked()), calibration.readings()[-1]
        candidates = [
            Candidate(
                number, "fills the ranges", Tried(list(point), []), reading,
                [Found(Mean(1.0, 0.9, 1.1, 9), 1.0, 0.9, 1.1, float(m)) for m in rng.uniform(-worst, worst, numbers)],
            )
            for number, point in enumerate(calibration.space.filling(8))
        ]  # fmt: skip
        plausible = candidates if worst < 1.0 else []
        fits[paper] = Fit(calibration, candidates, plausible, candidates[1].found, () if plausible else (0, 3), 1, True)
    columns = {
        "level-llama2": {"plausible": "held in all of 8 plausible settings", "turns": "fading: rather held True"}
    }
    return record_of(fits, [{"paper": "MS", "setting": 0, "id": "level-llama2", "verdict": HELD}]), columns


def _studies(measured: dict[str, list[tuple[int, float]]]) -> Record:
    rng = np.random.default_rng(0)
    tables = {
        "ms_fig3": _lines(rng, "draft_length_tokens", range(0, 25), ("one length",)),
        "ms_fig4_verification": _lengths("verify_s", np.linspace(0.1, 0.4, 7)),
        "ms_fig4_latency": _lengths("per_token_s", np.linspace(0.02, 0.08, 7)),
        "ms_fig4_acceptance": _lengths("acceptance", np.linspace(0.6, 0.9, 7)),
        "ms_fig5": _verification(measured),
        "ms_fig6": _lines(
            rng, "devices", (20,), ("optimum", "centralised", "centralised-serial", "point-to-point", "server-only")
        ),
        "ms_fig7": _lines(rng, "bandwidth_hz", (5e6, 10e6, 20e6), (*MS_SCHEMES, OWN)),
        "ms_fig8": _lines(rng, "devices", (10, 16, 24), (*MS_SCHEMES, OWN)),
        "ms_grid": _several("devices", (10, 24), rng, "bandwidth_hz", (5e6, 20e6), ("optimum", "grid")),
        "ud_fig6": _lines(rng, "uplink_devices", range(9), ("uplink", "downlink", "slower of the two"), 0.02),
        "ud_fig7_8_goodput": _lines(rng, "downlink_power_dbm", (0, 15, 30), ("optimum", "greedy")),
        "ud_fig7_8_length": _lines(rng, "downlink_power_dbm", (0, 15, 30), ("optimum", "greedy"), 8.0),
        "ud_fig7_8_shares": _several(
            "share",
            ("accepted", "uplink", "downlink"),
            rng,
            "downlink_power_dbm",
            (0, 15, 30),
            ("optimum", "greedy"),
            0.3,
        ),
        "ud_fig9_10": _several("power_ratio", (4.0, 16.0), rng, "devices", (8, 14, 20), MODE_SCHEMES),
        "ud_fig11": _lines(rng, "power_ratio", (1.0, 4.0, 16.0), LENGTH_SCHEMES),
        "unknown_value": _lines(rng, "table_i_part", (0.2, 0.6, 1.0), (KNOWN, BY_LAW, BY_MEAN, GUARDED), 0.1),
        "unknown_regret": _lines(rng, "rounds", (1, 10, 100), (NEVER, COMMON, OPTIMIST, LEARNT_RARELY, LEARNT), 1e4),
    }
    closed = tables["ms_fig3"].groupby("pair", as_index=False).first()
    closed = closed.assign(scheme="closed form", draft_length_tokens=7.4, mean=120.0, low=118.0, high=122.0)
    tables["ms_fig3"] = pd.concat([tables["ms_fig3"], closed], ignore_index=True)
    entries = {name: figure.entry() for name, figure in (CLOSED | STUDIED | UNKNOWN).items()}
    tables |= {"claims": _claims(), "claims_cases": _claims_cases()}
    tables |= {"ms_centralised": _centralised(), "ud_greedy": _paths()}
    tables |= _gains(rng) | {"faults": pd.DataFrame(columns=["study", "cause"])}
    tables |= {f"draws_{name}": pd.DataFrame({"pair": [PAIRS[0]]}) for name in ("ms_fig7", "ud_fig11")}
    entries |= {name: undrawn(name, "made up") for name in tables if name not in entries}
    entries["gains"]["paper_gain"] = UP_TO
    manifest = {
        "versions": {"python": "3.x", "msopt": "0.x"},
        "machine": {"platform": "made up", "cores": 2},
        "effort": vars(QUICK),
        "seed": 0,
        "seeds": {},
        "scenario_hashes": {},
        "solver": "made up",
        "solvers": ["ECOS"],
        "tolerances": {"objective_rtol": 1e-6, "crosscheck_share": 0.995, "crosscheck_false_alarm": 0.001},
        "tables": {name: entries[name] for name in tables},
    }
    return Record(manifest, tables, {"wall_s": 1.0})


def _lines(
    rng: np.random.Generator, x: str, values: Any, schemes: Sequence[str], scale: float = 150.0, **more: Any
) -> pd.DataFrame:
    rows = []
    for pair in PAIRS if x == "bandwidth_hz" else PAIRS[:1]:
        for place, scheme in enumerate(schemes):
            for number, at in enumerate(values):
                mean = scale * (1.0 - 0.1 * place) * (1.0 - 0.7 ** (number + 2)) * (1.0 + 0.01 * rng.random())
                row = {"pair": pair, x: float(at), "scheme": scheme, "draws": min(QUICK.draws.values())}
                row |= {"mean": mean, "low": 0.97 * mean, "high": 1.03 * mean}
                rows.append(row | {"method": "exact" if scheme == "optimum" else scheme} | more)
    return pd.DataFrame(rows)


def _several(column: str, kinds: Sequence[Any], rng: np.random.Generator, *lines: Any) -> pd.DataFrame:
    return pd.concat([_lines(rng, *lines, **{column: kind}) for kind in kinds], ignore_index=True)


def _lengths(x: str, values: Any) -> pd.DataFrame:
    rounded = {"closed form (real)": float, "closed form (whole)": round, "search": round}
    return pd.DataFrame(
        {"pair": PAIRS[0], x: float(at), "scheme": scheme, "draws": 1}
        | dict.fromkeys(("mean", "low", "high"), near(4.0 + 20.0 * float(at)))
        for at in values
        for scheme, near in rounded.items()
    )


def _verification(measured: dict[str, list[tuple[int, float]]]) -> pd.DataFrame:
    lines = {
        (pair, "fit of the paper"): [(batch, 0.02 + 0.013 * batch) for batch in range(1, 17)] for pair in PAIRS[:1]
    }
    lines |= {(name, f"measured: {name}"): points for name, points in measured.items()}
    return pd.DataFrame(
        [
            {"pair": pair, "batch_devices": batch, "scheme": scheme, "mean": s, "low": s, "high": s, "draws": 1}
            for (pair, scheme), points in lines.items()
            for batch, s in points
        ]
    )


_COUNTS = (("holds", "holds"), ("holds", "fails"), ("fails", "fails"), ("fails", "not settled"))
_CLAIMS = [*(claim for claims in CLAIMS_OF.values() for claim in claims), "one-mean", "token-upload"]


def _claims_cases() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"id": name, "case": case, "value": value, "low": 0.05, "high": 0.25, "unit": "1", "draws": 10, "of": ""}
            | {"counted_in": "cases", "outcome": outcome, "wanted_low": ABOVE_0[0], "wanted_high": None, "beside": ""}
            for place, name in enumerate(_CLAIMS)
            for case, value, outcome in zip(("Llama-2", "Qwen3.5"), (0.1, 0.2), _COUNTS[place % 4], strict=True)
        ]
    )


def _claims() -> pd.DataFrame:
    rows = []
    for place, name in enumerate(_CLAIMS):
        verdict = (HELD, IN_PART, NOT_HERE, NOT_SETTLED)[place % 4]
        rows.append(
            {
                "id": name,
                "paper": "[MS]",
                "kind": "tacit assumption" if name in ("one-mean", "token-upload") else "sentence",
                "sentence": f"What the paper says of {name}, which is a sentence of some length about goodput.",
                "test": "The least of the means over the draws is above nothing, with its whole interval",
                "found": "Llama-2: 12.3 % (11 to 14); Qwen3.5: 4.56 % (4 to 5)",
                "holding": _COUNTS[place % 4].count("holds"),
                "failing": _COUNTS[place % 4].count("fails"),
                "unsettled": _COUNTS[place % 4].count("not settled"),
                "counted_in": "cases",
                "cases": 2,
                "verdict": verdict,
                "where": "fails in 1 of 2 cases: Qwen3.5" if verdict == IN_PART else "",
            }
        )
    return pd.DataFrame(rows)


def _centralised() -> pd.DataFrame:
    row = {
        "pair": PAIRS[0],
        "scheme": "centralised-serial",
        "quoted_ratio": 2.5,
        "centralised_tokens_per_s": 57.0,
        "server_only_tokens_per_s": 72.0,
        "draft_s_per_token": 0.017,
        "measured_s_per_token": 0.0196,
        "plausible": True,
    }
    never = {"scheme": "centralised", "draft_s_per_token": None, "plausible": False}
    return pd.DataFrame([row, row | never])


def _paths() -> pd.DataFrame:
    head = {"pair": PAIRS[0], "downlink_power_dbm": 20.0, "mean": 0.1, "low": 0.05, "high": 0.15, "draws": 3}
    return pd.DataFrame([head | {"scheme": scheme} for scheme in (AS_PRINTED, *PATHS)])


def _gains(rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    rows: list[dict[str, Any]] = []
    quantiles: list[dict[str, Any]] = []
    for problem, baselines in BASELINES.items():
        for family in ("presets", "spread of acceptance", "number of devices", "all"):
            for place, baseline in enumerate(baselines):
                gain = np.sort(rng.gamma(2.0, 0.15 / (place + 1), 40))
                head = {"problem": problem, "family": family, "baseline": baseline}
                levels = np.linspace(0.0, 1.0, 21)
                found = np.quantile(gain, levels)
                quantiles += [head | {"level": q, "gain": v} for q, v in zip(levels, found, strict=True)]
                rows.append(
                    head
                    | {
                        "setting": "all",
                        "scenarios": gain.size,
                        "mean": float(gain.mean()),
                        "median": float(np.median(gain)),
                        "p95": float(np.quantile(gain, 0.95)),
                        "max": float(gain.max()),
                        "share_above_paper": float(np.mean(gain > UP_TO)),
                    }
                )
    return {"gains": pd.DataFrame(rows), "gains_quantiles": pd.DataFrame(quantiles)}


def _crosscheck() -> Record:
    rng = np.random.default_rng(1)
    rows = (
        ("draft-control", "ECOS", "Proposition 1: lengths", "grid", False),
        ("draft-control", "CLARABEL", "Proposition 1: lengths", "grid", False),
        ("whole-lengths", "HIGHS", "ours: whole lengths", "grid", False),
        ("joint-law-bound", "HIGHS", "ours: a bound", "greedy", True),
    )
    four, found = random_scenario(0, devices=(4, 4)), []
    for formulation, solver, statement, algorithm, bound in rows:
        off = 10.0 ** rng.uniform(-14, -7, 12)
        trials = [
            Trial(
                number=number,
                scenario=four,
                status="optimal",
                difference=0.0 if number == 0 else float(value),
                certificate=float(value),
                price_differences=(0.0, 0.0 if number else 0.1),
                price_reason="" if number else "every length at a limit",
                above_algorithm=10.0 * float(value),
                above_brute_force=float(value),
                build_s=1.0,
                first_s=1.0,
            )
            for number, value in enumerate(off)
        ]
        subject = Subject(
            formulation=formulation,
            solver=solver,
            statement=statement,
            closed_form="msopt.lengths.relaxed:solve_relaxed",
            bound=bound,
            objective_tolerance=1e-6,
            algorithm=algorithm,
        )
        refused = "it breaks down on exponential cones" if solver == "ECOS" else ""
        found.append(tables_of(subject, trials, (), refused))
    return as_record(CrosscheckTables.joined(found))


def made_up_profile() -> Profile:
    """A profile with every part, and payloads enough for a figure."""
    payloads = (
        PayloadRow(
            kept_entries=kept,
            probability_bits=bits,
            distribution_bits=kept * (bits + 7),
            acceptance=Estimate.of_counts(kept, 125),
        )
        for kept in (10, 50, 100)
        for bits in (8, 16)
    )
    return profile(name="small → large", payload=tuple(payloads))
