"""What a report must be true of, whatever its numbers are: the table `checks`, from the other tables alone."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from msopt.methods import EXACT, names_of
from reports.claims.judging import counted, tally, verdict_of
from reports.shared.record import Record, undrawn
from reports.shared.words import per_cent
from reports.studies.points import REFUSED

if TYPE_CHECKING:
    import pandas as pd

ROUND_OFF = 1e-9
SEARCH_RTOL = 1e-3
"""How far `decomposition`, a search, may stay below another control; `exact` may not at all."""
STANDARD_ERRORS = 4.0
"""Where goodput is sampled, what is below by less than so many standard errors is not below."""
_FEWEST = {"full": {"draws": 10, "heterogeneous": 2000, "modes": 200}}
"""What a full report promises: draws at every point, scenarios behind the gains."""


class SelfCheck(NamedTuple):
    """One line of the table."""

    check: str
    found: str
    verdict: str


def checks_record(record: Record) -> Record:
    """The table of the checks of a record with all other tables."""
    import pandas as pd

    solved = _solved(record)
    checks = (
        _crosscheck(record),
        _bounds(solved),
        _best(solved),
        _draws(record),
        _gains(record),
        _claims(record),
        _answers(record),
        _played(record),
    )
    table = pd.DataFrame([check._asdict() for check in checks])
    about = undrawn("Checks of this report", "the other tables of this record")
    return Record({"tables": {"checks": about}}, {"checks": table})


def _verdict(good: bool) -> str:
    return "pass" if good else "FAIL"


def _crosscheck(record: Record) -> SelfCheck:
    verdicts = record.tables["crosscheck"]["verdict"]
    passed, failed = int((verdicts == "pass").sum()), int((verdicts == "FAIL").sum())
    return SelfCheck(
        "Every formulation agrees with its closed form within its tolerance",
        f"{passed} rows pass, {failed} fail",
        _verdict(failed == 0 and passed > 0),
    )


def _solved(record: Record) -> "pd.DataFrame":
    """Every control of a problem beside the best one and its bound, of the answer and of every draw."""
    import pandas as pd

    parts = []
    for name, draws in record.tables.items():
        if not name.startswith("draws_") or not {"bound_tokens_per_s", "scenario_hash"} <= set(draws.columns):
            continue
        keys = [column for column in ("pair", "scenario_hash", "draw") if column in draws]
        best = draws[draws["scheme"] == "optimum"].drop_duplicates(keys)
        kept = [*keys, "method", "goodput_tokens_per_s", "bound_tokens_per_s", "standard_error_tokens_per_s"]
        joined = draws[~draws["scheme"].isin(names_of("system"))].merge(best[kept], on=keys, suffixes=("", "_best"))
        parts.append(
            pd.DataFrame(
                {
                    "goodput": joined["goodput_tokens_per_s"].astype(float),
                    "best": joined["goodput_tokens_per_s_best"].astype(float),
                    "bound": joined["bound_tokens_per_s_best"].astype(float),
                    "proven": joined["method_best"] == EXACT,
                    "error": joined["standard_error_tokens_per_s"].astype(float).fillna(0.0)
                    + joined["standard_error_tokens_per_s_best"].astype(float).fillna(0.0),
                }
            )
        )
    solutions = record.tables["answer_solutions"][["place", "problem", "method"]]
    methods = record.tables["answer_methods"].merge(solutions, on=["place", "problem"], suffixes=("", "_best"))
    methods = methods[methods["gap"].notna()]
    goodput = methods["goodput_tokens_per_s"].astype(float)
    parts.append(
        pd.DataFrame(
            {
                "goodput": goodput,
                "best": goodput * (1.0 + methods["gain_of_best"].astype(float)),
                "bound": goodput * (1.0 + methods["gap"].astype(float)),
                "proven": methods["method_best"] == EXACT,
                "error": 2.0 * methods["standard_error_tokens_per_s"].astype(float).fillna(0.0),
            }
        )
    )
    return pd.concat(parts, ignore_index=True)


def _bounds(solved: "pd.DataFrame") -> SelfCheck:
    solved = solved.dropna(subset=["bound"])
    distance = solved["bound"] / solved["goodput"] - 1.0
    good = bool((distance >= -ROUND_OFF - STANDARD_ERRORS * solved["error"] / solved["goodput"]).all())
    least = float(distance.min())
    return SelfCheck(
        "No control lies above the proven bound of its problem",
        f"{len(solved)} controls; the closest {per_cent(max(least, 0.0) if good else least)} below it",
        _verdict(good),
    )


def _best(solved: "pd.DataFrame") -> SelfCheck:
    gain = solved["best"] / solved["goodput"] - 1.0
    allowed = np.where(solved["proven"], ROUND_OFF, SEARCH_RTOL) + STANDARD_ERRORS * solved["error"] / solved["goodput"]
    below = int((gain < -ROUND_OFF).sum())
    how_far = f", by at most {per_cent(-float(gain.min()))}" if below else ""
    return SelfCheck(
        "No control is above method exact of its problem, none by more than "
        f"{per_cent(SEARCH_RTOL)} above decomposition",
        f"{below} of {len(solved)} controls above ours{how_far}",
        _verdict(bool((gain >= -allowed).all())),
    )


def _answers(record: Record) -> SelfCheck:
    """A method that needs what a scenario lacks is refused; any other one without an answer has failed."""
    methods, faults = record.tables["answer_methods"], record.tables["faults"]
    own = methods["method"].str.contains(":", regex=False)
    failed = methods[methods["reason"].notna() & (own | (methods["status"] != REFUSED))]
    causes = [*failed["reason"], *faults["cause"]]
    draws = sum(len(table) for name, table in record.tables.items() if name.startswith("draws_"))
    return SelfCheck(
        "Every method has an answer wherever it was asked",
        f"{len(causes)} of {len(methods) + draws + len(faults)} without one"
        + (f"; the first: {causes[0]}" if causes else ""),
        _verdict(not causes),
    )


def _played(record: Record) -> SelfCheck:
    """Tokens drawn from a law have its goodput; at the level of these intervals, one report in thousands fails."""
    holds = record.tables["loop_drawn"]["holds"].astype(bool)
    return SelfCheck(
        "Goodput as played, tokens drawn from the laws, is the formula's within its interval",
        f"{int(holds.sum())} of {len(holds)} plays",
        _verdict(bool(holds.all()) and len(holds) > 0),
    )


def _draws(record: Record) -> SelfCheck:
    effort = record.manifest["effort"]
    counts = [
        int(table["draws"].min())
        for name, table in record.tables.items()
        if f"draws_{name}" in record.tables and "draws" in table and name != "gains"
    ]
    needed = _FEWEST.get(effort["name"], {}).get("draws", min(effort["draws"].values()))
    return SelfCheck(
        "Every point of a drawn figure has its draws",
        f"at least {min(counts)} at every point of {len(counts)} figures, {needed} needed",
        _verdict(min(counts) >= needed),
    )


def _gains(record: Record) -> SelfCheck:
    table = record.tables["gains"]
    pooled = table[(table["family"] == "all") & (table["setting"] == "all")]
    most = pooled.groupby("problem", sort=False)["scenarios"].max()
    counts = {str(problem): int(count) for problem, count in most.items()}
    needed = _FEWEST.get(record.manifest["effort"]["name"], {})
    told = ", ".join(f"{problem} {count}" for problem, count in counts.items())
    asked = ", ".join(f"{problem} {needed[problem]}" for problem in counts if problem in needed)
    return SelfCheck(
        "The gains rest on enough scenarios",
        f"{told}{f'; needed {asked}' if asked else ''}",
        _verdict(all(count >= needed.get(problem, 1) for problem, count in counts.items())),
    )


def _claims(record: Record) -> SelfCheck:
    claims, cases = record.tables["claims"], record.tables["claims_cases"]
    wrong = 0
    for claim in claims.itertuples():
        counts = counted(cases[cases["id"] == claim.id].itertuples())
        same = counts == (claim.holding, claim.failing, claim.unsettled) and claim.verdict == verdict_of(*counts)
        wrong += bool(claim.cases) and not same
    tested = int((claims["cases"] > 0).sum())
    told = "; ".join(f"{kind}s: {tally(rows['verdict'])}" for kind, rows in claims.groupby("kind"))
    return SelfCheck(
        "Every claim was tested, and its verdict follows from its cases",
        f"{tested} of {len(claims)} tested, {wrong} with another verdict; {told}",
        _verdict(tested == len(claims) and not wrong),
    )
