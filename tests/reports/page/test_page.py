"""The report as a pure function of its record: files, page, figures and tables, without a browser."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from msopt import METHODS, PROBLEMS, Scenario
from reports.page.answer import answer
from reports.page.collect import joined
from reports.page.html import TEMPLATES, Drawn, as_html
from reports.page.page import HEADINGS, TITLE, markdown
from reports.page.self_checks import checks_record
from reports.page.shown_tables import shown_tables
from reports.plots.figures import CLAIMS_OF, OUR_FIGURES, STUDY_FIGURES, figures
from reports.plots.style import RC, Panel, inline, rendered
from reports.shared.protocols import verdict
from reports.shared.record import Record
from reports.shared.rows import rows_of
from reports.shared.table_markup import escaped, latex_table
from reports.shared.words import literal, per_cent
from reports.studies.model_loop import model_loop
from reports.studies.unknown_acceptance import KNOWN, LEARNT
from tests.cases import Description, s2, scenario_of
from tests.reports.command import Command, strict_json
from tests.reports.made_up import OWN, made_up_record
from tests.tolerances import EXACT

HOSTILE = ("[red]x", "$$", "a|b", "<b>*x*</b>", "`q` \\ _u_", "y" * 200, "Ünï 漢字", "two\nlines", "</svg><script>")

FONT_TYPE = RC["pdf.fonttype"]
"""Of a report outside the tests."""


@pytest.fixture(scope="session")
def drawn(made_up: Record) -> dict[str, list[Panel]]:
    return figures(made_up)


def panels(drawn: dict[str, list[Panel]]) -> list[Panel]:
    return [panel for group in drawn.values() for panel in group]


def cells(line: str) -> list[str]:
    """The cells of a Markdown table's row: only a bar without a backslash parts them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_files(report: Path, made_up: Record, drawn: dict[str, list[Panel]]) -> None:
    def stems(place: str, end: str) -> set[str]:
        return {file.name.removesuffix(end) for file in (report / place).iterdir() if file.name.endswith(end)}

    assert stems("tables", ".csv") == stems("tables", ".json") == set(made_up.manifest["tables"])
    assert stems("figures", ".svg") == stems("figures", ".pdf") == {panel.name for panel in panels(drawn)}
    assert stems("latex", ".tex") == set(shown_tables(made_up))
    assert sorted(file.name for file in report.iterdir() if file.is_file()) == [
        "manifest.json",
        "report.html",
        "report.md",
        "timings.json",
    ]
    strict_json((report / "manifest.json").read_text(encoding="utf-8"))
    for file in (report / "figures").glob("*.pdf"):
        assert file.read_bytes().startswith(b"%PDF")


def test_the_same_record_gives_the_same_bytes(report: Path) -> None:
    record = Record.read(report)
    again, shown = figures(record), shown_tables(record)
    text = markdown(record, again, shown)
    assert text == (report / "report.md").read_text(encoding="utf-8")
    inside = {}
    for place, panel in enumerate(panels(again)):
        kept = (report / "figures" / f"{panel.name}.svg").read_bytes()
        if place % 6 == 0:
            assert rendered(panel.figure, "svg", panel.name) == kept
        inside[f"figures/{panel.name}.svg"] = Drawn(inline(kept.decode(), panel.alt), literal(panel.title))
    assert as_html(text, inside, TITLE) == (report / "report.html").read_text(encoding="utf-8")
    first = panels(again)[0]
    assert rendered(first.figure, "pdf", first.name) == (report / "figures" / f"{first.name}.pdf").read_bytes()
    for name, table in shown.items():
        assert latex_table(table) == (report / "latex" / f"{name}.tex").read_text(encoding="utf-8")


def lettered(text: str) -> Figure:
    figure = Figure()
    figure.text(0.1, 0.5, text)
    return figure


def test_letters_in_a_pdf_file_can_be_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fonts are embedded as TrueType, with the same bytes each time."""
    monkeypatch.setitem(RC, "pdf.fonttype", FONT_TYPE)
    whole, again = (rendered(lettered("α ≤ 0.9, in token/s"), "pdf", "letters") for _ in range(2))
    assert whole == again
    assert b"/FontFile2" in whole
    assert b"/Type3" not in whole


def test_the_page_needs_nothing_else(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert not re.search(r"https?:|<link|<img|@import|\bsrc=|<iframe|srcset", page)
    assert set(re.findall(r"url\((.)", page)) == {"#"}
    assert page.count("<script>") == page.count("</script>") == 1
    for link in re.findall(r' href="([^"]*)"', page):
        if link.startswith("#"):
            assert f'id="{link[1:]}"' in page
        else:
            assert (report / link).exists(), link
    assert len(page.encode()) < 3e6


def test_every_name_in_a_figure_is_its_own(report: Path) -> None:
    """What one figure refers to is not another one's, and nothing is referred to that is not there."""
    page = (report / "report.html").read_text(encoding="utf-8")
    names = re.findall(r' id="([^"]*)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r"#([pmhCD][0-9a-f_]{8,})", page)) <= set(names)


def test_headings_that_are_alike_have_names_of_their_own() -> None:
    page = as_html("# cell\n\n## cell-1\n\n### cell\n\n### \\\\\n\n### cell\n\n### $", {}, "title")
    names = re.findall(r'<h\d id="([^"]*)"', page)
    assert names[:2] == ["cell", "cell-1"]
    assert len(set(names)) == len(names) == 6
    assert all(names)


@pytest.mark.parametrize(
    ("rows", "folded"), [(9, ""), (10, "<details>"), (100, "<details>"), (101, '<details class="data">')]
)
def test_long_tables_are_folded_and_data_left_out_on_paper(rows: int, folded: str) -> None:
    page = as_html("\n".join(["Table: many", "", "| a |", "| --- |", *["| 1 |"] * rows]), {}, "title")
    assert re.findall("<details.*?>", page) == ([folded] if folded else [])
    assert page.count("<tr>") == rows + 1


def test_the_head_of_a_row_is_its_first_cell_that_is_no_verdict() -> None:
    table = ["| verdict | says |", "| --- | --- |", "| held | yes, it is so |", "| x | held |"]
    page = as_html("\n".join(["Table: two", "", *table]), {}, "title")
    assert re.findall(r'<th scope="row"[^>]*>(.*?)</th>|<th [^>]*scope="row">(.*?)</th>', page)
    heads = [text for head in re.findall(r"<th ([^>]*)>(.*?)</th>", page) if "row" in head[0] for text in head[1:]]
    assert heads == ["yes, it is so", "x"]


def test_the_page_says_what_it_shows_to_who_does_not_see_it(report: Path) -> None:
    """Every head of a table has a scope and every table a caption; each figure has words of its own."""
    page = (report / "report.html").read_text(encoding="utf-8")
    assert page.count("<th ") == len(re.findall(r'<th [^>]*scope="(?:col|row)"', page)) > 200
    assert page.count("<caption>") == page.count("<table")
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', page)
    assert len(set(labels)) == len(labels) == page.count("<figure>")
    assert min(map(len, labels)) > 30
    captions = re.findall(r"</svg>\s*<figcaption>(.*?) \(<a href=", page)
    assert len(set(captions)) == len(captions) == page.count("<figure>")
    assert page.count("<nav ") == page.count('aria-label="Contents"') == 1


def test_the_answer_comes_first(report: Path, made_up: Record) -> None:
    """Three sentences and a picture before all else, with the numbers of the best problem."""
    text = (report / "report.md").read_text(encoding="utf-8")
    first, picture = text.split("\n\n")[1:3]
    solutions = rows_of(made_up.tables["answer_solutions"])
    best = max(solutions, key=lambda row: row["goodput_tokens_per_s"])
    assert f"Problem {best['problem']} does best, with {best['goodput_tokens_per_s']:.4g} token/s" in first
    assert (
        f"{100 * (best['goodput_tokens_per_s'] / best['server_only_tokens_per_s'] - 1):.3g} % more than no drafts"
        in first
    )
    assert picture.startswith("![")
    assert "optimum and simpler rules" in picture


def test_headings_and_tables_are_whole(report: Path) -> None:
    text = (report / "report.md").read_text(encoding="utf-8")
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(HEADINGS)
    width = rows = 0
    for line in text.splitlines():
        if line.startswith("|"):
            width, rows = width or len(cells(line)), rows + 1
            assert len(cells(line)) == width, line
        else:
            width = 0
    assert rows > 150
    page = (report / "report.html").read_text(encoding="utf-8")
    assert page.count("<table") == len(re.findall(r"^\|[ :|-]+\|$", text, re.MULTILINE))
    assert page.count("<figure>") == text.count("![") == page.count("<svg")


# A number in a template is a citation, the number of a list, or one of these phrases; all others come from the data.
_PHRASES = (
    "arXiv 2606.04581",
    "arXiv 2608.29618",
    "the 95 % interval of the mean",
    "95th percentile",
    "1 + ",
    "(1 − α_k^(L_k+1))/(1 − α_k)",
)


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.j2")), ids=lambda path: path.stem)
def test_numbers_of_sentences_come_from_the_data(template: Path) -> None:
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", template.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"^\d+\. ", "", text, flags=re.MULTILINE)
    for phrase in _PHRASES:
        text = text.replace(phrase, "")
    assert not re.findall(r"[^\n]*\d[^\n]*", text)


def test_other_data_give_another_page(made_up: Record, drawn: dict[str, list[Panel]]) -> None:
    """The numbers of the first sentences follow their table."""
    tables = dict(made_up.tables)
    changed = tables["answer_solutions"].copy()
    changed["goodput_tokens_per_s"] *= 2.0
    other = Record(made_up.manifest, tables | {"answer_solutions": changed})
    text = markdown(other, drawn, shown_tables(other))
    for value in changed["goodput_tokens_per_s"]:
        assert f"**{value:.5g} token/s**" in text


def test_what_knowing_is_worth_is_said_in_numbers(made_up: Record, report: Path) -> None:
    text = (report / "report.md").read_text(encoding="utf-8").replace("\u00a0", " ")
    value = made_up.tables["unknown_value"]
    most = value[value["table_i_part"] == 1.0].set_index("scheme")["mean"]
    assert f"knowing each prompt adds {per_cent(most[KNOWN])} to planning by the law" in text
    regret = made_up.tables["unknown_regret"]
    last = regret[regret["rounds"] == 100.0].set_index("scheme")["mean"]
    assert f"loses {float(f'{last[LEARNT]:.3g}'):.0f} tokens in all against knowing" in text.replace("\n", " ")


def test_figures_show_data_with_units(drawn: dict[str, list[Panel]]) -> None:
    assert {"answer-1-overview", "answer-1-modes", "crosscheck", "profile-1", "gains-modes", *STUDY_FIGURES} <= set(
        drawn
    )
    names = [panel.name for panel in panels(drawn)]
    assert len(names) == len(set(names))
    for panel in panels(drawn):
        axes = panel.figure.axes
        assert axes
        for place in axes:
            shown: list[Any] = [*place.patches, *place.collections]
            lines = [line for line in place.lines if np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any()]
            assert lines or shown, panel.name
        words = [label for place in axes for label in (place.get_xlabel(), place.get_ylabel()) if label]
        assert words, panel.name
        assert all(re.search(r"\[.+\]$", label) or label == "trials" for label in words), (panel.name, words)


def test_every_scheme_is_named_and_told_apart(drawn: dict[str, list[Panel]], made_up: Record) -> None:
    for panel in drawn["ms_fig7"]:
        (axes,) = panel.figure.axes
        schemes = made_up.tables["ms_fig7"]["scheme"].nunique()
        assert len(axes.lines) == schemes
        looks = {(line.get_color(), line.get_marker(), str(line.get_linestyle())) for line in axes.lines}
        assert len(looks) == len({look[0] for look in looks}) == len({look[1] for look in looks}) == schemes
        texts = [text.get_text() for text in axes.texts]
        assert {"exact (ours)", "Homo", "Fixed BW&L", OWN} <= set(texts)


def test_figures_of_a_quick_report_say_so(made_up: Record, drawn: dict[str, list[Panel]]) -> None:
    """Those that a full one draws from more; neither the answer nor closed forms, and none of a full report."""
    full = figures(Record(made_up.manifest | {"effort": made_up.manifest["effort"] | {"name": "full"}}, made_up.tables))
    closed = {"ms_fig4", "ms_fig5"}
    coarse = {
        *STUDY_FIGURES,
        *OUR_FIGURES,
        "gains-heterogeneous",
        "gains-modes",
        "ms_calibration",
        "ud_calibration",
    } - closed
    for name, group in drawn.items():
        for panel, other in zip(group, full[name], strict=True):
            titles = [axes.get_title(loc="left") for axes in panel.figure.axes]
            told = ["(quick)" in text for text in (titles[0], panel.title, panel.alt)]
            assert told == [name in coarse] * 3, panel.name
            assert "(quick)" not in other.alt


def test_every_claim_stands_beside_one_figure(made_up: Record, report: Path) -> None:
    assert set(CLAIMS_OF) == set(STUDY_FIGURES)
    text = (report / "report.md").read_text(encoding="utf-8")
    for row in made_up.tables["claims"].to_dict("records"):
        named = [figure for figure, claims in CLAIMS_OF.items() if row["id"] in claims]
        assert len(named) == (0 if row["kind"] == "tacit assumption" and row["id"] != "greedy-close" else 1)
        assert text.count(row["sentence"]) == 1 + len(named)


# The answer.


def hostile() -> Description:
    description = s2()
    device = description["devices"][0]
    return description | {"name": "$x_1$ | <i>*a*</i> 漢", "devices": [device | {"name": name} for name in HOSTILE]}


def test_hostile_names_are_shown_as_they_are(msopt: Command) -> None:
    path = msopt.scenario(hostile())
    path.write_text(
        "# Made up | by *us*.\n#   Indented ``` fence\n" + path.read_text(encoding="utf-8"), encoding="utf-8"
    )
    record = made_up_record([(str(path), path)])
    drawn, shown = figures(record), shown_tables(record)
    text = markdown(record, drawn, shown)
    inside = {}
    for panel in (panel for name in drawn if name.startswith("answer-1-") for panel in drawn[name]):
        svg = rendered(panel.figure, "svg", panel.name).decode()
        inside[f"figures/{panel.name}.svg"] = Drawn(inline(svg, panel.title), panel.title)
    page = as_html(text, inside, TITLE)
    assert page.count("<script>") == 1
    assert not re.search(r"<(b|i)>", page)
    rows = [cells(line) for line in text.splitlines() if line.startswith("|")]
    for name in HOSTILE:
        named = [row for row in rows if row[0] == escaped(name)]
        assert re.sub(r"\\(.)", r"\1", escaped(name)) == literal(name)
        assert 1 + len(PROBLEMS) <= len(named) <= 2 + len(PROBLEMS), name
    assert "\n    Made up | by *us*.\n      Indented ``` fence\n" in text
    for table in shown.values():
        lines = [line for line in latex_table(table).splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(table.columns) - 1}
        # What follows the end of a row must not be taken for the argument of it, as a bracket or a star would be.
        assert all(line.startswith("{") for line in lines)


def test_the_answer_compares_every_method(msopt: Command) -> None:
    path = msopt.scenario(s2())
    tables = answer([("S2", path)]).tables
    rows = tables["answer_methods"]
    assert set(zip(rows["problem"], rows["method"], strict=True)) == {
        (problem, method) for problem in PROBLEMS for method in METHODS[problem]
    }
    best = rows.groupby("problem", sort=False)["goodput_tokens_per_s"].first()
    for row in rows.astype(object).where(rows.notna(), None).to_dict("records"):
        if str(row["method"]).startswith("centralised"):
            assert row["goodput_tokens_per_s"] is None
            assert "server.draft_s_per_token" in row["reason"]
            continue
        gain = best[row["problem"]] / row["goodput_tokens_per_s"] - 1.0
        assert row["gain_of_best"] == pytest.approx(gain, abs=EXACT)
        assert row["gain_of_best"] >= -EXACT
        assert (row["gap"] is None) == (row["method"] in ("server-only", "point-to-point"))
        assert row["gap"] is None or row["gap"] >= row["gain_of_best"] - EXACT
    scenario = Scenario.read(path)
    assert tables["answer_devices"].groupby("problem")["bandwidth_hz"].sum().to_numpy() == pytest.approx(
        np.full(3, scenario.uplink_bandwidth_hz), rel=1e-6
    )
    reaction = tables["answer_reaction"]
    drafting = tables["answer_devices"].query("problem == 'modes' and draft_length > 0")
    assert list(reaction["device"]) == list(drafting["device"])
    power = reaction["downlink_power_w"].dropna()
    assert len(power) == (reaction["mode"] == "downlink").sum()
    assert not len(power) or power.sum() == pytest.approx(scenario.downlink_power_w, rel=1e-9)


def test_the_answer_says_whether_drafting_pays(made_up: Record, report: Path) -> None:
    """Beside the methods of the same table, for every problem."""
    page, methods = (report / "report.md").read_text(encoding="utf-8"), made_up.tables["answer_methods"]
    solutions = rows_of(made_up.tables["answer_solutions"])
    assert len(solutions) == len(PROBLEMS)
    for row in solutions:
        of_it = methods[methods["problem"] == row["problem"]].set_index("method")["goodput_tokens_per_s"]
        for key, method in (("server_only_tokens_per_s", "server-only"), ("centralised_tokens_per_s", "centralised")):
            assert row[key] == of_it[method]
        assert verdict(row) in page


# The checks of a report.


def test_the_checks_find_what_is_wrong(made_up: Record) -> None:
    def verdicts(**changed: Any) -> list[str]:
        return list(checks_record(Record(made_up.manifest, made_up.tables | changed)).tables["checks"]["verdict"])

    assert verdicts() == ["pass"] * 8
    off = made_up.tables["loop_drawn"].assign(holds=False)
    assert verdicts(loop_drawn=off)[7] == "FAIL"
    methods = made_up.tables["answer_methods"].copy()
    methods.loc[1, "gap"] = -1e-6
    assert verdicts(answer_methods=methods)[1] == "FAIL"
    methods = made_up.tables["answer_methods"].copy()
    methods.loc[methods["gap"].notna() & (methods["method"] != "decomposition"), "gain_of_best"] = -2e-3
    assert verdicts(answer_methods=methods)[2] == "FAIL"
    failed = made_up.tables["crosscheck"].assign(verdict="FAIL")
    assert verdicts(crosscheck=failed)[0] == "FAIL"
    few = made_up.tables["ms_fig7"].assign(draws=1)
    assert verdicts(ms_fig7=few)[3] == "FAIL"
    claims = made_up.tables["claims"].assign(cases=0)
    assert verdicts(claims=claims)[5] == "FAIL"
    assert verdicts(faults=pd.DataFrame({"study": ["ms_fig7"], "cause": ["no"]}))[6] == "FAIL"
    methods = made_up.tables["answer_methods"].assign(reason="needs more", status="refused")
    assert verdicts(answer_methods=methods)[6] == "pass"
    assert verdicts(answer_methods=methods.assign(method="mine:control"))[6] == "FAIL"
    full = made_up.manifest | {"effort": made_up.manifest["effort"] | {"name": "full"}}
    checked = checks_record(Record(full, made_up.tables)).tables["checks"]
    assert list(checked["verdict"])[3:5] == ["FAIL", "FAIL"]


def test_what_models_delivered_is_shown_where_it_is_stored(made_up: Record, drawn: dict[str, list[Panel]]) -> None:
    def section(record: Record) -> str:
        text = markdown(record, drawn, shown_tables(record))
        return text[text.index(f"## {HEADINGS[7]}") : text.index(f"## {HEADINGS[8]}")]

    stored = section(made_up)
    assert "Of 1 comparison of a method with another, the better one was the one predicted in 1, and" in stored
    assert "the other one beyond the\ninterval in 0." in stored
    assert "has an interval that holds zero in 1:" in stored
    row = "| all uplink | 14 % | 11 % to 17 % | 15 % | 10 % to 20 % | 1 % | -5 % to 7 % |"
    assert row in stored
    assert "| 21.2 | 20 | -1 % | -3 % to 1 % | 40 | 39 to 41 | 40.4 | 38 | -2 % | -4 % to 0.5 % | greedy |" in stored
    assert "| round | 500 | 510 | 500 to 520 |" in stored
    without = section(joined(made_up, model_loop([])))
    assert "No result of real models is stored" in without
    assert "small" in stored
    assert "small" not in without


def test_no_profile_is_said(msopt: Command) -> None:
    path = msopt.folder / "one.toml"
    scenario_of(s2()).write(path)
    record = made_up_record([("one", path)])
    text = markdown(record, figures(record), shown_tables(record))
    assert "No measured profile took part" in text
