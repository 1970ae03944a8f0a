"""Every table that the page shows, from a record."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from reports.calibration.shown_fit import fit_tables
from reports.crosscheck.crosscheck_tables import with_fractions
from reports.page import shown_columns
from reports.page.claim_tables import claim_tables
from reports.page.loop_tables import loop_tables
from reports.plots.style import label_of
from reports.shared.record import Record
from reports.shared.rows import rows_of
from reports.shared.simpler_rules import closest_and_weakest
from reports.shared.text_table import Column, Table, count_column, words_column

if TYPE_CHECKING:
    from pandas import DataFrame


def _shown(title: str, table: "DataFrame", columns: Sequence[Column]) -> Table:
    return Table.of(title, rows_of(table), columns)


def shown_tables(record: Record) -> dict[str, Table]:
    """The tables of the page by name, each also a file in LaTeX."""
    return (
        _answers(record)
        | _crosschecks(record)
        | claim_tables(record)
        | fit_tables(record, "ms_")
        | fit_tables(record, "ud_")
        | _gains(record)
        | _paths(record)
        | _profiles(record)
        | loop_tables(record)
        | {
            "checks": _shown("Checks of this report", record.tables["checks"], shown_columns.CHECKS),
            "methods": _shown("The methods", _notes(record), shown_columns.NOTES),
            "settings": _shown("What the papers do not state", record.tables["settings"], shown_columns.SETTINGS),
        }
    )


def _notes(record: Record) -> "DataFrame":
    table = record.tables["answer_methods"].drop_duplicates(["problem", "method"])
    return table.assign(shown=table["method"].map(label_of))


def _answers(record: Record) -> dict[str, Table]:
    tables = record.tables
    found = {"summary": _shown("The answer", summary(record), shown_columns.SUMMARY)}
    for place, name in zip(tables["answer_scenarios"]["place"], tables["answer_scenarios"]["scenario"], strict=True):
        mine = {key: table[table["place"] == place] for key, table in tables.items() if key.startswith("answer_")}
        key = f"answer-{place}"
        singles: tuple[tuple[str, tuple[Column, ...], str], ...] = (
            ("parameters", shown_columns.PARAMETERS, "what was read"),
            ("cells", shown_columns.CELLS, "its devices"),
            ("limits", shown_columns.LIMITS, "what the limits of its variant leave, and are worth"),
            ("reaction", shown_columns.REACTION, "the reaction if every draft were rejected"),
        )
        for kind, columns, title in singles:
            rows = mine.get(f"answer_{kind}")
            if rows is not None and not rows.empty:
                found[f"{key}-{kind}"] = _shown(f"{name}: {title}", rows, columns)
        if not (gains := mine["answer_what_if"]).empty:
            wide = gains.pivot_table("gain", "change", "problem", sort=False).reset_index()
            found[f"{key}-what-if"] = _shown(f"{name}: what more of one thing would bring", wide, shown_columns.WHAT_IF)
        for kind, of_problem in (("methods", shown_columns.METHODS), ("devices", shown_columns.DEVICES)):
            for problem, rows in mine[f"answer_{kind}"].groupby("problem", sort=False):
                shown = rows.assign(method=rows["method"].map(label_of)) if kind == "methods" else rows
                found[f"{key}-{problem}-{kind}"] = _shown(f"{name}: {kind} of problem {problem}", shown, of_problem)
    return found


def summary(record: Record) -> "DataFrame":
    """One row for each scenario and problem: the best control beside the closest and the weakest of simpler rules."""
    import pandas as pd

    tables = record.tables
    names = dict(zip(tables["answer_scenarios"]["place"], tables["answer_scenarios"]["scenario"], strict=True))
    rows = []
    for solution in rows_of(tables["answer_solutions"]):
        methods = tables["answer_methods"]
        of_it = (methods["place"] == solution["place"]) & (methods["problem"] == solution["problem"])
        ends = closest_and_weakest(rows_of(methods[of_it]))
        ends |= {word: label_of(name) for word in ("closest", "weakest") if (name := ends[word]) is not None}
        rows.append(solution | {"scenario": names[solution["place"]]} | ends)
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
        "crosscheck": Table.of("Formulations against closed forms", verdicts, shown_columns.CROSSCHECK),
        "crosscheck-compared": Table.of(
            "Against the papers' algorithms and enumeration", compared, shown_columns.COMPARED
        ),
        "crosscheck-notes": _shown(
            "Failures, and what was not asked", counted, (*columns[:3], count_column("count", "times"), columns[3])
        ),
    }


def _paths(record: Record) -> dict[str, Table]:
    """What stands below the figures: Cen-SPIN's draft time, and where Algorithm 1 of [UD] loses."""
    about, found = record.manifest["tables"], {}
    for name, columns in (("ms_centralised", shown_columns.CENTRALISED), ("ud_greedy", shown_columns.PATHS)):
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
            shown_columns.GAINS if (rows["baseline"] == fixed).any() else shown_columns.GAINS[:-1],
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
        "profiles": ("What was measured", tables["profiles"], shown_columns.PROFILES),
        "profile-acceptance": ("Acceptance by task", accepted, shown_columns.ACCEPTANCE),
        "profile-draft-time": ("Time to draft a token", tables["profile_draft_time"], shown_columns.DRAFT_TIME),
        "profile-server-draft": (
            "Drafting step at the server",
            tables["profile_server_draft"],
            shown_columns.SERVER_DRAFT,
        ),
        "profile-fits": ("Verification time: base, per device, per token", tables["profile_fits"], shown_columns.FITS),
        "profile-payload": ("Payload against acceptance", payload, shown_columns.PAYLOAD),
    }
    return {name: _shown(*parts) for name, parts in every.items() if len(parts[1])}


def _ranges(table: "DataFrame", name: str) -> list[str]:
    ends = zip(table[f"{name}_low"].astype(float), table[f"{name}_high"].astype(float), strict=True)
    return ["–" if isnan(low) else f"{low:.3g} to {high:.3g}" for low, high in ends]
