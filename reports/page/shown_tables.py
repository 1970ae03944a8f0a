"""Every table that the page shows, from a record: which columns, called what, with how many digits."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from msopt.methods import names_of
from msopt.model.problems import PROBLEMS
from reports.calibration.shown_fit import fit_tables
from reports.crosscheck.crosscheck_tables import with_fractions
from reports.page.loop_tables import loop_tables
from reports.plots.style import label_of
from reports.shared.record import Record
from reports.shared.rows import rows_of
from reports.shared.text_table import (
    Column,
    Table,
    count_column,
    gain_column,
    gap_column,
    number_column,
    quantity_column,
    ratio_column,
    words_column,
    yes_column,
)

if TYPE_CHECKING:
    from pandas import DataFrame


_GOODPUT = quantity_column("goodput_tokens_per_s")
_METHODS = (
    words_column("method", "method"),
    _GOODPUT,
    quantity_column("standard_error_tokens_per_s"),
    gain_column("gain_of_best", "gain of the best over it"),
    gap_column("gap", "gap to the bound"),
    words_column("whose", "whose"),
)
_NOTES = (
    words_column("problem", "problem"),
    words_column("method", "method"),
    words_column("shown", "called here"),
    words_column("whose", "whose"),
    words_column("what", "what it is"),
)
_DEVICES = (
    words_column("device", "device"),
    count_column("draft_length", "draft length", "token"),
    quantity_column("bandwidth_hz"),
    quantity_column("rejection_probability"),
    quantity_column("uplink_probability"),
    quantity_column("downlink_probability"),
    quantity_column("expected_tokens"),
    _GOODPUT,
)
_LIMITS = (
    words_column("problem", "problem"),
    words_column("name", "limit"),
    number_column("slack", "slack", digits=6),
    words_column("unit", "unit"),
    number_column("price", "price, utility per unit", digits=4),
)
_REACTION = (
    words_column("device", "device"),
    words_column("mode", "mode"),
    quantity_column("bandwidth_hz"),
    quantity_column("downlink_power_w"),
)
_PARAMETERS = (words_column("key", "parameter"), words_column("value", "value"), words_column("reading", "that is"))
_CELLS = (
    words_column("device", "device"),
    quantity_column("acceptance", "acceptance, or S(1) of a curve"),
    quantity_column("acceptance_std"),
    count_column("curve_points", "points of the curve"),
    quantity_column("draft_s_per_token"),
    quantity_column("uplink_snr_db"),
    quantity_column("downlink_snr_db"),
)
_WHAT_IF = (
    words_column("change", "change"),
    *(gain_column(problem, problem) for problem in PROBLEMS),
)
_SUMMARY = (
    words_column("scenario", "scenario"),
    words_column("problem", "problem"),
    _GOODPUT,
    gap_column("gap", "gap"),
    words_column("closest", "closest baseline"),
    gain_column("closest_gain", "gain over it"),
    words_column("weakest", "weakest baseline"),
    gain_column("weakest_gain", "gain over it"),
    quantity_column("bound_tokens_per_s"),
    words_column("method", "method"),
)
_CROSSCHECK = (
    words_column("formulation", "formulation"),
    words_column("solver", "solver"),
    words_column("tests", "tests"),
    words_column("solved_of", "solved"),
    number_column("objective_difference_worst", "objective, worst", "1", digits=2),
    number_column("objective_difference_median", "median", "1", digits=2),
    number_column("objective_tolerance", "tolerance", "1", digits=2),
    number_column("certificate_worst", "certificate, worst", "1", digits=2),
    words_column("verdict", "verdict"),
)
_COMPARED = (
    words_column("formulation", "formulation"),
    words_column("solver", "solver"),
    words_column("algorithm", "the papers' algorithm"),
    ratio_column("above_algorithm_least", "above it, least"),
    ratio_column("above_algorithm_median", "above it, median"),
    number_column("above_brute_force_least", "above enumeration, least", "1", digits=2),
    count_column("above_brute_force_trials", "enumerated trials"),
    number_column("minimiser_difference_worst", "minimiser, worst", "1", digits=2),
    words_column("minimisers_of", "minimisers agree or flat"),
    words_column("prices_of", "prices agree or explained"),
)
_CHECKS = (
    words_column("check", "check"),
    words_column("found", "found"),
    words_column("verdict", "verdict"),
)
_SETTINGS = (words_column("of", "setting"), words_column("statement", "what stands there"))
_CLAIMS = (
    words_column("paper", "paper"),
    words_column("sentence", "what it says"),
    words_column("test", "how it was tested"),
    words_column("found", "found"),
    words_column("verdict", "verdict"),
    words_column("where", "where"),
    words_column("plausible", "over what the paper leaves open"),
    words_column("turns", "depends most on"),
)
_CENTRALISED = (
    words_column("pair", "pair"),
    words_column("scheme", "how the server drafts"),
    number_column("quoted_ratio", "quoted ratio", "1", digits=3),
    quantity_column("centralised_tokens_per_s", "goodput of Cen-SPIN with it"),
    quantity_column("server_only_tokens_per_s"),
    quantity_column("draft_s_per_token", "draft time with it"),
    quantity_column("measured_s_per_token", "draft time that [UD] measured"),
    yes_column("plausible", "within a factor of two"),
)
_PATHS = (
    words_column("pair", "pair"),
    quantity_column("downlink_power_dbm"),
    words_column("scheme", "how Algorithm 1 runs"),
    ratio_column("mean", "below our optimum"),
    ratio_column("low", "interval from"),
    ratio_column("high", "to"),
    count_column("draws", "draws"),
)
_GAINS = (
    words_column("family", "family"),
    words_column("baseline", "over"),
    count_column("scenarios", "scenarios"),
    gain_column("median", "median"),
    gain_column("p95", "95th percentile"),
    gain_column("max", "maximum"),
    ratio_column("share_above_paper", "share above [MS]'s"),
)
_PROFILES = (
    words_column("profile", "profile"),
    words_column("draft", "draft"),
    words_column("draft_quantisation", "quantised"),
    words_column("target", "target"),
    words_column("target_quantisation", "quantised"),
    number_column("temperature", "temperature", digits=3),
    count_column("draft_length", "drafted", "token/round"),
    words_column("machine", "machine"),
    words_column("date", "date"),
    words_column("note", "note"),
)
_ACCEPTANCE = (
    words_column("profile", "profile"),
    words_column("task", "task"),
    count_column("prompts", "prompts"),
    count_column("visited", "visited", "token"),
    number_column("acceptance", "α, accepted / visited", "1", digits=3),
    words_column("acceptance_range", "its interval [1]"),
    number_column("acceptance_by_overlap", "α, mean of Σ min(p, q)", "1", digits=3),
    words_column("overlap_range", "its interval [1]"),
    number_column("acceptance_of_target_text", "Σ min(p, q) on the target's text", "1", digits=3),
    number_column("acceptance_all_drafted", "the papers' estimator", "1", digits=3),
    number_column("over_prompts_std", "deviation over prompts", "1", digits=3),
)
_DRAFT_TIME = (
    words_column("profile", "profile"),
    number_column("median_s", "median", "ms/token"),
    number_column("q10_s", "10 % below", "ms/token"),
    number_column("q90_s", "90 % below", "ms/token"),
    count_column("n", "timed"),
)
_SERVER_DRAFT = (_DRAFT_TIME[0], count_column("batch", "batch", "devices"), *_DRAFT_TIME[1:])
_FITS = (
    words_column("profile", "profile"),
    words_column("term", "term"),
    number_column("fitted_s", "fitted", "ms"),
    number_column("standard_error_s", "standard error", "ms", digits=2),
    number_column("p_value", "p-value of 0", "1", digits=2),
    yes_column("needed", "needed"),
    number_column("r_squared", "R² of the fit", "1"),
    ratio_column("max_relative_residual", "largest residual"),
)
_PAYLOAD = (
    words_column("profile", "profile"),
    words_column("task", "task"),
    count_column("kept_entries", "entries kept"),
    count_column("probability_bits", "bits of a probability"),
    quantity_column("distribution_bits"),
    quantity_column("acceptance", digits=3),
    words_column("acceptance_range", "its interval [1]"),
)


def _shown(title: str, table: "DataFrame", columns: Sequence[Column]) -> Table:
    return Table.of(title, rows_of(table), columns)


def shown_tables(record: Record) -> dict[str, Table]:
    """The tables of the page by name, each also a file in LaTeX."""
    return (
        _answers(record)
        | _crosschecks(record)
        | _claims(record)
        | fit_tables(record, "ms_")
        | fit_tables(record, "ud_")
        | _gains(record)
        | _paths(record)
        | _profiles(record)
        | loop_tables(record)
        | {
            "checks": _shown("Checks of this report", record.tables["checks"], _CHECKS),
            "methods": _shown("The methods", _notes(record), _NOTES),
            "settings": _shown("What the papers do not state", record.tables["settings"], _SETTINGS),
        }
    )


def _notes(record: Record) -> "DataFrame":
    table = record.tables["answer_methods"].drop_duplicates(["problem", "method"])
    return table.assign(shown=table["method"].map(label_of))


def _answers(record: Record) -> dict[str, Table]:
    tables = record.tables
    found = {"summary": _shown("The answer", summary(record), _SUMMARY)}
    for place, name in zip(tables["answer_scenarios"]["place"], tables["answer_scenarios"]["scenario"], strict=True):
        mine = {key: table[table["place"] == place] for key, table in tables.items() if key.startswith("answer_")}
        key = f"answer-{place}"
        singles: tuple[tuple[str, tuple[Column, ...], str], ...] = (
            ("parameters", _PARAMETERS, "what was read"),
            ("cells", _CELLS, "its devices"),
            ("limits", _LIMITS, "what the limits of its variant leave, and are worth"),
            ("reaction", _REACTION, "the reaction if every draft were rejected"),
        )
        for kind, columns, title in singles:
            rows = mine.get(f"answer_{kind}")
            if rows is not None and not rows.empty:
                found[f"{key}-{kind}"] = _shown(f"{name}: {title}", rows, columns)
        if not (gains := mine["answer_what_if"]).empty:
            wide = gains.pivot_table("gain", "change", "problem", sort=False).reset_index()
            found[f"{key}-what-if"] = _shown(f"{name}: what more of one thing would bring", wide, _WHAT_IF)
        for kind, of_problem in (("methods", _METHODS), ("devices", _DEVICES)):
            for problem, rows in mine[f"answer_{kind}"].groupby("problem", sort=False):
                shown = rows.assign(method=rows["method"].map(label_of)) if kind == "methods" else rows
                found[f"{key}-{problem}-{kind}"] = _shown(f"{name}: {kind} of problem {problem}", shown, of_problem)
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


def _crosschecks(record: Record) -> dict[str, Table]:
    verdicts = [with_fractions(row) for row in rows_of(record.tables["crosscheck"])]
    keys = ("above_algorithm_least", "above_brute_force_least", "minimiser_difference_worst", "prices_compared")
    compared = [row for row in verdicts if any(row[key] is not None for key in keys)]
    notes = record.tables["crosscheck_notes"]
    columns = (
        words_column("formulation", "formulation"),
        words_column("solver", "solver"),
        words_column("kind", "what"),
        words_column("text", "why"),
    )
    counted = notes.groupby(["formulation", "solver", "kind"], sort=False, as_index=False).agg(
        count=("text", "size"), text=("text", "first")
    )
    return {
        "crosscheck": Table.of("Formulations against closed forms", verdicts, _CROSSCHECK),
        "crosscheck-compared": Table.of("Against the papers' algorithms and enumeration", compared, _COMPARED),
        "crosscheck-notes": _shown(
            "Failures, and what was not asked", counted, (*columns[:3], count_column("count", "times"), columns[3])
        ),
    }


def _claims(record: Record) -> dict[str, Table]:
    table = record.tables["claims"]
    return {
        name: _shown(title, table[table["kind"] == kind], _CLAIMS)
        for name, kind, title in (
            ("claims", "sentence", "The papers' claims"),
            ("assumptions", "tacit assumption", "The papers' tacit assumptions"),
        )
    }


def _paths(record: Record) -> dict[str, Table]:
    """What stands below the figures: Cen-SPIN's draft time, and where Algorithm 1 of [UD] loses."""
    about, found = record.manifest["tables"], {}
    for name, columns in (("ms_centralised", _CENTRALISED), ("ud_greedy", _PATHS)):
        table = record.tables[name]
        shown = table.assign(scheme=table["scheme"].map(label_of))
        found[name.replace("_", "-")] = _shown(about[name]["title"], shown, columns)
    return found


def _gains(record: Record) -> dict[str, Table]:
    table = record.tables["gains"]
    pooled, fixed = table[table["setting"] == "all"], label_of("fixed")
    pooled = pooled.assign(baseline=pooled["baseline"].map(label_of))
    return {
        f"gains-{problem}": _shown(
            f"Gain of the optimum, problem {problem}",
            rows,
            _GAINS if (rows["baseline"] == fixed).any() else _GAINS[:-1],
        )
        for problem, rows in pooled.groupby("problem", sort=False)
    }


def _profiles(record: Record) -> dict[str, Table]:
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
    return {name: _shown(*parts) for name, parts in every.items() if len(parts[1])}


def _ranges(table: "DataFrame", name: str) -> list[str]:
    ends = zip(table[f"{name}_low"].astype(float), table[f"{name}_high"].astype(float), strict=True)
    return ["–" if isnan(low) else f"{low:.3g} to {high:.3g}" for low, high in ends]
