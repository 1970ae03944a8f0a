"""Every table that the page shows, from a record: which columns, called what, with how many digits."""

from math import isnan
from typing import TYPE_CHECKING, Any

from msopt.methods import names_of
from reports.page.shown import Column, Shown
from reports.plots.style import label_of
from reports.shared.record import Record
from reports.shared.rows import rows_of
from reports.shared.words import number, per_cent

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def _text(value: Any) -> str:
    return "–" if value is None else str(value)


def _words(key: str, head: str) -> Column:
    return Column(key, head, _text)


def _number(key: str, head: str, digits: int = 4, factor: float = 1.0) -> Column:
    return Column(key, head, lambda value: number(None if value is None else factor * float(value), digits), True)


def _count(key: str, head: str) -> Column:
    return Column(key, head, lambda value: "–" if value is None else f"{int(value)}", True)


def _ratio(key: str, head: str) -> Column:
    return Column(key, head, per_cent, True)


def _yes(key: str, head: str) -> Column:
    return Column(key, head, lambda value: "yes" if value else "no")


_GOODPUT = _number("goodput_tokens_per_s", "goodput [token/s]", 5)
_METHODS = (
    _words("method", "method"),
    _GOODPUT,
    _number("standard_error_tokens_per_s", "standard error [token/s]", 2),
    _ratio("gain_of_best", "gain of the best over it"),
    _ratio("gap", "gap to the bound"),
    _words("whose", "whose"),
)
_NOTES = (
    _words("problem", "problem"),
    _words("method", "method"),
    _words("shown", "called here"),
    _words("whose", "whose"),
    _words("what", "what it is"),
)
_DEVICES = (
    _words("device", "device"),
    _count("draft_length", "draft length [token]"),
    _number("bandwidth_hz", "bandwidth [MHz]", 4, 1e-6),
    _number("rejection_probability", "draft rejected [probability]", 3),
    _number("uplink_probability", "corrected by uplink [probability]", 3),
    _number("downlink_probability", "corrected by downlink [probability]", 3),
    _number("expected_tokens", "tokens [token/round]", 4),
    _GOODPUT,
)
_REACTION = (
    _words("device", "device"),
    _words("mode", "mode"),
    _number("bandwidth_hz", "bandwidth [MHz]", 4, 1e-6),
    _number("downlink_power_w", "downlink power [mW]", 4, 1e3),
)
_PARAMETERS = (_words("key", "parameter"), _words("value", "value"), _words("reading", "that is"))
_CELLS = (
    _words("device", "device"),
    _number("acceptance", "acceptance, or S(1) of a curve [1]", 4),
    _number("acceptance_std", "its deviation over prompts [1]", 3),
    _count("curve_points", "points of the curve"),
    _number("draft_s_per_token", "draft time [ms/token]", 4, 1e3),
    _number("uplink_snr_db", "uplink SNR [dB]", 4),
    _number("downlink_snr_db", "downlink SNR [dB]", 4),
)
_SUMMARY = (
    _words("scenario", "scenario"),
    _words("problem", "problem"),
    _words("method", "method"),
    _GOODPUT,
    _number("bound_tokens_per_s", "no control above [token/s]", 5),
    _ratio("gap", "gap"),
    _words("closest", "closest baseline"),
    _ratio("closest_gain", "gain over it"),
    _words("weakest", "weakest baseline"),
    _ratio("weakest_gain", "gain over it"),
)
_CROSSCHECK = (
    _words("formulation", "formulation"),
    _words("solver", "solver"),
    _words("tests", "tests"),
    _words("solved_of", "solved"),
    _number("objective_difference_worst", "objective, worst [1]", 2),
    _number("objective_difference_median", "median [1]", 2),
    _number("objective_tolerance", "tolerance [1]", 2),
    _number("certificate_worst", "certificate, worst [1]", 2),
    _words("verdict", "verdict"),
)
_COMPARED = (
    _words("formulation", "formulation"),
    _words("solver", "solver"),
    _words("algorithm", "the papers' algorithm"),
    _ratio("above_algorithm_least", "above it, least"),
    _ratio("above_algorithm_median", "above it, median"),
    _number("above_brute_force_least", "above enumeration, least [1]", 2),
    _count("above_brute_force_trials", "enumerated trials"),
    _number("minimiser_difference_worst", "minimiser, worst [1]", 2),
    _words("minimisers_of", "minimisers agree or flat"),
    _words("prices_of", "prices agree or explained"),
)
_CHECKS = (
    _words("check", "check"),
    _words("found", "found"),
    _words("verdict", "verdict"),
)
_SETTINGS = (_words("of", "setting"), _words("statement", "what stands there"))
_CLAIMS = (
    _words("paper", "paper"),
    _words("sentence", "what it says"),
    _words("test", "how it was tested"),
    _words("found", "found"),
    _words("verdict", "verdict"),
    _words("where", "where"),
)
_GAINS = (
    _words("family", "family"),
    _words("baseline", "over"),
    _count("scenarios", "scenarios"),
    _ratio("median", "median"),
    _ratio("p95", "95th percentile"),
    _ratio("max", "maximum"),
    _ratio("share_above_paper", "share above [MS]'s"),
)
_PROFILES = (
    _words("profile", "profile"),
    _words("draft", "draft"),
    _words("draft_quantisation", "quantised"),
    _words("target", "target"),
    _words("target_quantisation", "quantised"),
    _number("temperature", "temperature", 3),
    _count("draft_length", "drafted [token/round]"),
    _words("machine", "machine"),
    _words("date", "date"),
    _words("note", "note"),
)
_ACCEPTANCE = (
    _words("profile", "profile"),
    _words("task", "task"),
    _count("prompts", "prompts"),
    _count("visited", "visited [token]"),
    _number("acceptance", "α, accepted / visited [1]", 3),
    _words("acceptance_range", "its interval [1]"),
    _number("acceptance_by_overlap", "α, mean of Σ min(p, q) [1]", 3),
    _words("overlap_range", "its interval [1]"),
    _number("acceptance_of_target_text", "Σ min(p, q) on the target's text [1]", 3),
    _number("acceptance_all_drafted", "the papers' estimator [1]", 3),
    _number("over_prompts_std", "deviation over prompts [1]", 3),
)
_DRAFT_TIME = (
    _words("profile", "profile"),
    _number("median_s", "median [ms/token]", 4, 1e3),
    _number("q10_s", "10 % below [ms/token]", 4, 1e3),
    _number("q90_s", "90 % below [ms/token]", 4, 1e3),
    _count("n", "timed"),
)
_SERVER_DRAFT = (_DRAFT_TIME[0], _count("batch", "batch [devices]"), *_DRAFT_TIME[1:])
_FITS = (
    _words("profile", "profile"),
    _words("term", "term"),
    _number("fitted_s", "fitted [ms]", 4, 1e3),
    _number("standard_error_s", "standard error [ms]", 2, 1e3),
    _number("p_value", "p-value of 0 [1]", 2),
    _yes("needed", "needed"),
    _number("r_squared", "R² of the fit [1]", 4),
    _ratio("max_relative_residual", "largest residual"),
)
_PAYLOAD = (
    _words("profile", "profile"),
    _words("task", "task"),
    _count("kept_entries", "entries kept"),
    _count("probability_bits", "bits of a probability"),
    _number("distribution_bits", "one distribution [kbit]", 4, 1e-3),
    _number("acceptance", "acceptance [1]", 3),
    _words("acceptance_range", "its interval [1]"),
)


def shown_tables(record: Record) -> dict[str, Shown]:
    """The tables of the page by name, each also a file in LaTeX."""
    return (
        _answers(record)
        | _crosschecks(record)
        | _claims(record)
        | _gains(record)
        | _profiles(record)
        | {
            "checks": Shown.of("Checks of this report", record.tables["checks"], _CHECKS),
            "methods": Shown.of("The methods", _notes(record), _NOTES),
            "settings": Shown.of("What the papers do not state", record.tables["settings"], _SETTINGS),
        }
    )


def _notes(record: Record) -> "DataFrame":
    table = record.tables["answer_methods"].drop_duplicates(["problem", "method"])
    return table.assign(shown=table["method"].map(label_of))


def _answers(record: Record) -> dict[str, Shown]:
    tables = record.tables
    found = {"summary": Shown.of("The answer", summary(record), _SUMMARY)}
    for place, name in zip(tables["answer_scenarios"]["place"], tables["answer_scenarios"]["scenario"], strict=True):
        mine = {key: table[table["place"] == place] for key, table in tables.items() if key.startswith("answer_")}
        key = f"answer-{place}"
        singles: tuple[tuple[str, tuple[Column, ...], str], ...] = (
            ("parameters", _PARAMETERS, "what was read"),
            ("cells", _CELLS, "its devices"),
            ("reaction", _REACTION, "the reaction if every draft were rejected"),
        )
        for kind, columns, title in singles:
            found[f"{key}-{kind}"] = Shown.of(f"{name}: {title}", mine[f"answer_{kind}"], columns)
        for kind, of_problem in (("methods", _METHODS), ("devices", _DEVICES)):
            for problem, rows in mine[f"answer_{kind}"].groupby("problem", sort=False):
                shown = rows.assign(method=rows["method"].map(label_of)) if kind == "methods" else rows
                found[f"{key}-{problem}-{kind}"] = Shown.of(f"{name}: {kind} of problem {problem}", shown, of_problem)
    return found


def summary(record: Record) -> "DataFrame":
    """One row for each scenario and problem: the best control beside the closest and the weakest of the others.

    Others are the controls of the same problem but for ours and the papers' own algorithms.
    """
    import pandas as pd

    tables = record.tables
    names = dict(zip(tables["answer_scenarios"]["place"], tables["answer_scenarios"]["scenario"], strict=True))
    rows = []
    for solution in rows_of(tables["answer_solutions"]):
        methods = tables["answer_methods"]
        of_it = (methods["place"] == solution["place"]) & (methods["problem"] == solution["problem"])
        others = methods[
            of_it & methods["gap"].notna() & ~methods["method"].isin(names_of("optimum", "algorithm", "conic"))
        ]
        row = solution | {"scenario": names[solution["place"]]}
        for word, ascending in (("closest", True), ("weakest", False)):
            ends = others.sort_values("gain_of_best", ascending=ascending, kind="stable")
            known = len(ends) > 0
            row[word] = label_of(ends["method"].iloc[0]) if known else None
            row[f"{word}_gain"] = float(ends["gain_of_best"].iloc[0]) if known else None
        rows.append(row)
    return pd.DataFrame(rows)


def _crosschecks(record: Record) -> dict[str, Shown]:
    table = record.tables["crosscheck"]
    table = table.assign(
        tests=[str(statement).partition(":")[0] for statement in table["statement"]],
        solved_of=_fractions(table["solved"], table["trials"]),
        minimisers_of=_fractions(table["minimisers_agree"] + table["minimisers_flat"], table["minimisers_compared"]),
        prices_of=_fractions(table["prices_agree"] + table["prices_explained"], table["prices_compared"]),
    )
    keys = ["above_algorithm_least", "above_brute_force_least", "minimiser_difference_worst", "prices_compared"]
    compared = table[table[keys].notna().any(axis=1)]
    notes = record.tables["crosscheck_notes"]
    columns = (
        _words("formulation", "formulation"),
        _words("solver", "solver"),
        _words("kind", "what"),
        _words("text", "why"),
    )
    counted = notes.groupby(["formulation", "solver", "kind"], sort=False, as_index=False).agg(
        count=("text", "size"), text=("text", "first")
    )
    return {
        "crosscheck": Shown.of("Formulations against closed forms", table, _CROSSCHECK),
        "crosscheck-compared": Shown.of("Against the papers' algorithms and enumeration", compared, _COMPARED),
        "crosscheck-notes": Shown.of(
            "Failures, and what was not asked", counted, (*columns[:3], _count("count", "times"), columns[3])
        ),
    }


def _fractions(parts: "Series[float]", wholes: "Series[float]") -> list[str]:
    return [
        "–" if isnan(b) else f"{int(a)}/{int(b)}"
        for a, b in zip(parts.astype(float), wholes.astype(float), strict=True)
    ]


def _claims(record: Record) -> dict[str, Shown]:
    table = record.tables["claims"]
    return {
        name: Shown.of(title, table[table["kind"] == kind], _CLAIMS)
        for name, kind, title in (
            ("claims", "sentence", "The papers' claims"),
            ("assumptions", "tacit assumption", "The papers' tacit assumptions"),
        )
    }


def _gains(record: Record) -> dict[str, Shown]:
    table = record.tables["gains"]
    pooled, fixed = table[table["setting"] == "all"], label_of("fixed")
    pooled = pooled.assign(baseline=pooled["baseline"].map(label_of))
    return {
        f"gains-{problem}": Shown.of(
            f"Gain of the optimum, problem {problem}",
            rows,
            _GAINS if (rows["baseline"] == fixed).any() else _GAINS[:-1],
        )
        for problem, rows in pooled.groupby("problem", sort=False)
    }


def _profiles(record: Record) -> dict[str, Shown]:
    tables = record.tables
    if not len(tables["profiles"]):
        return {}
    accepted, payload = tables["profile_acceptance"], tables["profile_payload"]
    if len(accepted):
        accepted = accepted.assign(
            acceptance_range=_ranges(accepted, "acceptance"), overlap_range=_ranges(accepted, "acceptance_by_overlap")
        )
    if len(payload):
        payload = payload.assign(acceptance_range=_ranges(payload, "acceptance"))
    every = {
        "profiles": ("What was measured", tables["profiles"], _PROFILES),
        "profile-acceptance": ("Acceptance by task", accepted, _ACCEPTANCE),
        "profile-draft-time": ("Time to draft a token", tables["profile_draft_time"], _DRAFT_TIME),
        "profile-server-draft": ("Drafting step at the server", tables["profile_server_draft"], _SERVER_DRAFT),
        "profile-fits": ("Verification time: base, per device, per token", tables["profile_fits"], _FITS),
        "profile-payload": ("Payload against acceptance", payload, _PAYLOAD),
    }
    return {name: Shown.of(*parts) for name, parts in every.items() if len(parts[1])}


def _ranges(table: "DataFrame", name: str) -> list[str]:
    ends = zip(table[f"{name}_low"].astype(float), table[f"{name}_high"].astype(float), strict=True)
    return ["–" if isnan(low) else f"{low:.3g} to {high:.3g}" for low, high in ends]
