"""The report's files from recorded data alone: page as HTML and Markdown, figures, tables, data."""

import re
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from msopt.files.whole_files import make_folder, write_bytes, write_text
from msopt.methods import names_of
from msopt.model.problems import KINDS
from reports.calibration.shown_fit import fit_words
from reports.claims.judging import VERDICTS, tally
from reports.page.claim_tables import holding
from reports.page.html import TEMPLATES, Drawn, as_html, slug
from reports.page.lead import best_of_problems, lead
from reports.page.shown_tables import shown_tables, summary
from reports.plots.figures import CLAIMS_OF, HEADINGS_OF, OUR_FIGURES, STUDY_FIGURES, figures
from reports.plots.style import Panel, inline, label_of, rendered
from reports.shared.protocols import verdict
from reports.shared.record import Record
from reports.shared.rows import Row, rows_of
from reports.shared.table_markup import escaped, latex_table, markdown_table
from reports.shared.text_table import Table
from reports.shared.words import against, counted, gain, gap, literal, number, per_cent
from reports.studies.drawn_loop import DEADLINE
from reports.studies.unknown_acceptance import BY_MEAN, COMMON, GUARDED, KNOWN, LEARNT, NEVER

LONGEST = 180
"""Letters of what was found from which on a figure points to the table of the claims."""

_BESIDE = {"ms_fig6": "ms-centralised", "ud_fig7_8": "ud-greedy"}
"""Tables that stand below a figure."""

PAGE, MARKDOWN, FIGURES, LATEX = "report.html", "report.md", "figures", "latex"
TITLE = "Multi-access speculative inference: the best control"
HEADINGS = (
    "1 The answer",
    "2 Do the closed forms hold?",
    "3 The papers' figures, drawn again",
    "4 The papers' claims",
    "5 Gains over rules that ignore differences",
    "6 Acceptance that nobody knows beforehand",
    "7 The measured parameters",
    "8 The loop closed",
    "9 What was assumed",
)


def write_report(record: Record, folder: Path) -> Path:
    """Write a report into a folder; returns the page.

    Parameters
    ----------
    record : Record
        With every table of a report, `checks` among them.
    folder : Path
        Made where it is missing. Every file is written whole, the page last: `manifest.json`, `timings.json`,
        `tables/NAME.csv` and `.json`, `figures/NAME.svg` and `.pdf`, `latex/NAME.tex`, `report.md`, `report.html`.

    Raises
    ------
    ParameterError
        For a place that cannot be written.
    """
    drawn, shown = figures(record), shown_tables(record)
    text = markdown(record, drawn, shown)
    record.write(folder)
    for place in (FIGURES, LATEX):
        make_folder(folder / place)
    inside = {}
    for panels in drawn.values():
        for panel in panels:
            svg = rendered(panel.figure, "svg", panel.name)
            write_bytes(folder / FIGURES / f"{panel.name}.svg", svg)
            write_bytes(folder / FIGURES / f"{panel.name}.pdf", rendered(panel.figure, "pdf", panel.name))
            inside[_source(panel)] = Drawn(inline(svg.decode(), panel.alt), literal(panel.title))
    for name, table in shown.items():
        write_text(folder / LATEX / f"{name}.tex", latex_table(table))
    write_text(folder / MARKDOWN, text)
    write_text(folder / PAGE, as_html(text, inside, TITLE))
    return folder / PAGE


def _source(panel: Panel) -> str:
    return f"{FIGURES}/{panel.name}.svg"


def markdown(record: Record, drawn: Mapping[str, Sequence[Panel]], shown: Mapping[str, Table]) -> str:
    """The page in Markdown; every number in it comes from the record."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"escaped": escaped, "literal": literal, "slug": slug, "counted": counted}
    environment.filters |= {"number": number, "per_cent": per_cent, "gain": gain, "against": against, "gap": gap}

    def panels(name: str) -> str:
        return "\n".join(f"![{escaped(panel.alt)}]({_source(panel)})" for panel in drawn[name])

    context = {
        "manifest": record.manifest,
        "headings": HEADINGS,
        "longest": LONGEST,
        "curve_draws": record.manifest["effort"]["curve_draws"],
        "draws": min(record.manifest["effort"]["draws"].values()),
        "panels": panels,
        "table": lambda name: markdown_table(shown[name]),
        "has": lambda name: name in shown and bool(shown[name].rows),
        "problem_words": {problem: kind.title.lower() for problem, kind in KINDS.items()},
        "scenarios": _scenarios(record),
        "crosscheck": _crosscheck(record),
        "paper_figures": [_paper_figure(record, name) for name in STUDY_FIGURES],
        "verdicts": _verdicts(record),
        "holding": holding,
        "checks": _checks(record),
        "meaning": VERDICTS,
        "inverse_studies": _inverse_studies(record),
        "gain_problems": _gain_problems(record),
        "our_figures": [{"name": name, **record.manifest["tables"][name]} for name in OUR_FIGURES],
        "unknown": _unknown(record),
        "profiles": _profiles(record),
        "loop": _loop(record),
        "measured_tables": [name for name in shown if name.startswith("profile-")],
    }
    text = environment.get_template("report.md.j2").render(context)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _scenarios(record: Record) -> list[Row]:
    tables, found = record.tables, []
    solutions = [row | {"drafting": verdict(row)} for row in rows_of(summary(record))]
    warnings = rows_of(tables["answer_warnings"])
    methods, devices = rows_of(tables["answer_methods"]), rows_of(tables["answer_devices"])
    variants = rows_of(tables["answer_variant"]) if "answer_variant" in tables else []
    for scenario in rows_of(tables["answer_scenarios"]):
        place = scenario["place"]
        found.append(
            scenario
            | {
                "provenance": [line for line in str(scenario["provenance"] or "").split("\n") if line],
                "solutions": (mine := [row for row in solutions if row["place"] == place]),
                "lead": _lead(mine, [row for row in devices if row["place"] == place]),
                "without": [row for row in methods if row["place"] == place and row["reason"]],
                "warnings": [row["text"] for row in warnings if row["place"] == place],
                "variants": [row for row in variants if row["place"] == place],
            }
        )
    return found


def _lead(solutions: Sequence[Row], devices: Sequence[Row]) -> list[str]:
    best = best_of_problems(solutions)
    return lead(best, [row for row in devices if row["problem"] == best["problem"]])


def _crosscheck(record: Record) -> Row:
    table, trials = record.tables["crosscheck"], record.tables["crosscheck_trials"]
    exact = table[~table["bound"].astype(bool)]
    equal = trials[trials["formulation"].isin(exact["formulation"])]["objective_difference"].astype(float).abs()
    return {
        "rows": len(table),
        "trials": int(table["trials"].sum()),
        "solved": int(table["solved"].sum()),
        "passed": int((table["verdict"] == "pass").sum()),
        "failed": int((table["verdict"] == "FAIL").sum()),
        "not_asked": int((table["verdict"] == "not asked").sum()),
        "worst": float(equal.max()),
        "median": float(equal.median()),
        "tolerance": float(record.manifest["tolerances"]["objective_rtol"]),
        "at_least": float(record.manifest["tolerances"]["crosscheck_share"]),
        "refuted": float(record.manifest["tolerances"]["crosscheck_false_alarm"]),
    }


def _paper_figure(record: Record, name: str) -> Row:
    about = [record.manifest["tables"][table] for table in STUDY_FIGURES[name]]
    claims = {row["id"]: row for row in rows_of(record.tables["claims"])}
    return {
        "name": name,
        "title": HEADINGS_OF.get(name, about[0]["title"]),
        "says": list(dict.fromkeys(entry["paper_says"] for entry in about if entry["paper_says"])),
        "sources": list(dict.fromkeys(entry["source"] for entry in about)),
        "tables": STUDY_FIGURES[name],
        "claims": [claims[claim] for claim in CLAIMS_OF[name] if claim in claims],
        "beside": _BESIDE.get(name),
        "behind": [row for table in STUDY_FIGURES[name] for row in _behind(record, table)],
    }


def _behind(record: Record, name: str) -> list[Row]:
    """How far the papers' algorithms lie below our best, over the points of a figure of goodput."""
    table = record.tables[name]
    if record.manifest["tables"][name]["y"] != "goodput":
        return []
    keys = [
        column for column in table.columns if column in ("pair", "power_ratio", record.manifest["tables"][name]["x"])
    ]
    best = table[table["scheme"] == "optimum"].set_index(keys)["mean"]
    found = []
    for scheme in names_of("algorithm"):
        other = table[table["scheme"] == scheme].set_index(keys)["mean"]
        if len(other):
            lost = 1.0 - other / best
            found.append({"label": label_of(scheme), "mean": float(lost.mean()), "worst": float(lost.max())})
    return found


def _verdicts(record: Record) -> dict[str, str]:
    """By kind of claim, how many of each verdict."""
    return {str(kind): tally(rows["verdict"]) for kind, rows in record.tables["claims"].groupby("kind")}


def _checks(record: Record) -> Row:
    verdicts = record.tables["checks"]["verdict"]
    failed = int((verdicts == "FAIL").sum())
    return {"all": len(verdicts), "passed": len(verdicts) - failed, "failed": failed}


def _inverse_studies(record: Record) -> list[Row]:
    """For each paper what its inverse study found, in sentences, with its tables and its figure."""
    return [
        {
            "name": summary["name"],
            "sentences": list(fit_words(summary)),
            "numbers": f"{study}-calibration-numbers",
            "unknowns": f"{study}-calibration-unknowns",
            "figure": f"{study}_calibration",
        }
        for study, summary in record.manifest.get("inverse_studies", {}).items()
    ]


def _gain_problems(record: Record) -> list[Row]:
    table, found = record.tables["gains"], []
    paper = float(record.manifest["tables"]["gains"]["paper_gain"])
    pooled = table[(table["family"] == "all") & (table["setting"] == "all")]
    for problem, rows in pooled.groupby("problem", sort=False):
        fixed = rows[rows["baseline"] == "fixed"]
        found.append(
            {
                "problem": problem,
                "scenarios": int(rows["scenarios"].max()),
                "rows": [row | {"label": label_of(row["baseline"])} for row in rows_of(rows)],
                "paper": paper if len(fixed) else None,
                "above": float(fixed["share_above_paper"].iloc[0]) if len(fixed) else None,
            }
        )
    return found


def _unknown(record: Record) -> list[Row]:
    """For each pair what the ways to plan come to where prompts differ most, and the policies in the end."""
    value, regret = record.tables["unknown_value"], record.tables["unknown_regret"]
    found = []
    for of_pair, rows in value.groupby("pair", sort=False):
        played = regret[regret["pair"] == of_pair]
        gain = rows[rows["table_i_part"] == rows["table_i_part"].max()].set_index("scheme")["mean"]
        last = played[played["rounds"] == played["rounds"].max()].set_index("scheme")["mean"]
        found.append(
            {
                "pair": of_pair,
                "known": gain[KNOWN],
                "by_mean": -gain[BY_MEAN],
                "guarded": -gain[GUARDED],
                "rounds": played["rounds"].max(),
                # Three digits, written out however large.
                **{
                    name: float(f"{last[scheme]:.3g}")
                    for name, scheme in (("learnt", LEARNT), ("common", COMMON), ("never", NEVER))
                },
            }
        )
    return found


def _loop(record: Record) -> Row:
    """How far plays lie from the formula, what ours gains in them, and what is asynchronous or broken costs."""
    drawn, costs = record.tables["loop_drawn"], record.tables["loop_costs"]
    order = record.tables["loop_order"]
    off = drawn["goodput_tokens_per_s"] / drawn["predicted_tokens_per_s"] - 1.0
    weakest = []
    for problem, rows in drawn.dropna(subset=["realised_gain"]).groupby("problem", sort=False):
        most = rows_of(rows.sort_values("realised_gain", kind="stable"))[-1]
        weakest.append(most | {"problem": problem, "label": label_of(most["method"])})
    slow = costs[costs["effect"] == "stragglers"].groupby("late", sort=False)["cost"]
    return {
        "plays": len(drawn),
        "holds": int(drawn["holds"].sum()),
        "device_rounds": int(drawn["device_rounds"].sum()),
        "worst": float(off.abs().max()),
        "weakest": weakest,
        "stragglers": {late: (float(each.min()), float(each.max())) for late, each in slow},
        "deadline": DEADLINE,
        "compared": len(order),
        "same_order": int(((order["predicted_gain"] > 0.0) == (order["realised_gain"] > 0.0)).sum()),
        "other_order": int((order["high"].where(order["predicted_gain"] > 0.0, -order["low"]) < 0.0).sum()),
        "gain_within": int(((order["difference_low"] <= 0.0) & (order["difference_high"] >= 0.0)).sum()),
    }


def _profiles(record: Record) -> list[Row]:
    """Each profile, with the greatest difference of its measured curves from either law."""
    curves, found = record.tables["profile_curves"], []
    for profile in rows_of(record.tables["profiles"]):
        mine = curves[curves["profile"] == profile["profile"]]
        worst = []
        for task, rows in mine.groupby("task", sort=False) if len(mine) else ():
            off = {
                law: (rows["survival"].astype(float) - rows[law].astype(float)).abs().max()
                for law in ("geometric", "beta")
            }
            worst.append({"task": task} | {law: None if isnan(value) else float(value) for law, value in off.items()})
        found.append(profile | {"worst": worst})
    return found
