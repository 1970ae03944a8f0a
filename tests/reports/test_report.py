"""The report: from a scenario file to a page, its data and its figure, the same bytes each time."""

import hashlib
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from msopt import METHODS, PROBLEMS, Scenario, bundled
from reports.comparison import study
from reports.figures import goodput_figure, rendered
from reports.method_notes import note
from reports.page import escaped, render
from reports.words import literal
from tests.cases import Description, s2
from tests.reports.command import Command, strict_json
from tests.tolerances import EXACT

HOSTILE = ("[red]x", "$$", "a|b", "<b>*x*</b>", "`q` \\ _u_", "y" * 200, "Ünï 漢字", "two\nlines")
FILES = ["goodput-1.png", "goodput-1.svg", "report.json", "report.md"]


def hostile() -> Description:
    description = s2()
    device = description["devices"][0]
    return description | {"name": "$x_1$ | <i>*a*</i> 漢", "devices": [device | {"name": name} for name in HOSTILE]}


@pytest.fixture
def written(msopt: Command) -> Path:
    """The report on a scenario with hostile names, written twice."""
    path = msopt.scenario(hostile())
    path.write_text(
        "# Made up | by *us*.\n#   Indented ``` fence\n" + path.read_text(encoding="utf-8"), encoding="utf-8"
    )
    folder = msopt.folder / "new" / "out"
    assert msopt.done("report", path, "--output", folder).out == f"The report is in {folder / 'report.md'}\n"
    assert sorted(file.name for file in folder.iterdir()) == FILES
    first = digests(folder)
    msopt.done("report", path, "--output", folder)
    assert digests(folder) == first
    return folder


def digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def cells(line: str) -> list[str]:
    """The cells of a Markdown table's row: only a bar without a backslash parts them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_page_shows_names_literally(written: Path) -> None:
    page = (written / "report.md").read_text(encoding="utf-8")
    rows = [cells(line) for line in page.splitlines() if line.startswith("|")]
    for name in HOSTILE:
        shown = escaped(name)
        assert sum(row[0] == shown for row in rows) == 1 + len(PROBLEMS)
        assert re.sub(r"\\(.)", r"\1", shown) == literal(name)
    assert "## \\$x\\_1\\$ \\| \\<i\\>\\*a\\*\\</i\\> 漢" in page
    assert "\n    Made up | by *us*.\n      Indented ``` fence\n" in page
    assert not re.search(r"(?<![\\`])<", page)


def test_tables_are_whole(written: Path) -> None:
    """Every row of a table has as many cells as its head."""
    width = 0
    for line in (written / "report.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            width = width or len(cells(line))
            assert len(cells(line)) == width, line
        else:
            width = 0


def test_every_number_of_the_page_is_in_the_data(written: Path) -> None:
    record = strict_json((written / "report.json").read_text(encoding="utf-8"))
    assert render(record) == (written / "report.md").read_text(encoding="utf-8")
    page = (written / "report.md").read_text(encoding="utf-8")
    for row in record["scenarios"][0]["comparison"]:
        assert f"`{row['method']}`" in page
        assert (row["goodput_tokens_per_s"] is None) == (row["reason"] is not None)
        if row["reason"] is None:
            assert f"{row['goodput_tokens_per_s']:.6g}" in page


def test_figure_is_not_empty(written: Path) -> None:
    pixels: Any = imread(BytesIO((written / "goodput-1.png").read_bytes()), format="png")
    assert pixels.shape[0] > 600
    assert np.mean(pixels[..., :3].min(axis=-1) < 0.9) > 0.05
    svg = (written / "goodput-1.svg").read_text(encoding="utf-8")
    assert svg.count("<path") > 50
    assert "<dc:date>" not in svg


def test_records(msopt: Command) -> None:
    path = msopt.scenario(s2())
    one = study("S2", path)
    assert one["provenance"] == []
    goodput = {(row["problem"], row["method"]): row["goodput_tokens_per_s"] for row in one["comparison"]}
    assert list(goodput) == [(problem, method) for problem in PROBLEMS for method in METHODS[problem]]
    for row in one["comparison"]:
        best = goodput[row["problem"], "decomposition"]
        if row["method"] == "centralised":
            assert (row["goodput_tokens_per_s"], row["gap"]) == (None, None)
            assert "server.draft_s_per_token" in row["reason"]
            continue
        assert row["gain_of_decomposition"] == pytest.approx(best / row["goodput_tokens_per_s"] - 1.0, abs=EXACT)
        assert row["gain_of_decomposition"] >= -EXACT
        assert (row["gap"] is None) == (row["method"] in ("server-only", "point-to-point"))
        assert row["gap"] is None or row["gap"] >= row["gain_of_decomposition"]


def test_every_method_is_described() -> None:
    for problem in PROBLEMS:
        for method in METHODS[problem]:
            whose, what = note(problem, method)
            assert len(whose) > 2
            assert len(what) > 20


def test_figure_shows_each_method_and_the_bound(msopt: Command) -> None:
    rows = study("S2", msopt.scenario(s2()))["comparison"]
    figure = goodput_figure(rows, "$$ name")
    assert len(figure.axes) == len(PROBLEMS)
    assert figure.get_suptitle() == "$$ name"
    for panel, problem in zip(figure.axes, PROBLEMS, strict=True):
        mine = [row for row in rows if row["problem"] == problem]
        assert [label.get_text() for label in panel.get_yticklabels()] == [row["method"] for row in mine]
        widths = [bar.get_width() for bar in panel.patches]  # type: ignore[attr-defined]
        assert widths == [row["goodput_tokens_per_s"] for row in mine if row["reason"] is None]
        (line,) = (line for line in panel.lines if line.get_linestyle() == "--")
        bound = mine[0]["goodput_tokens_per_s"] * (1.0 + mine[0]["gap"])
        assert list(np.asarray(line.get_xdata())) == [bound, bound]
    assert rendered(figure, "png") == rendered(goodput_figure(rows, "$$ name"), "png")


def test_default_and_several_scenarios(msopt: Command) -> None:
    msopt.done("report", "--output", msopt.folder)
    record = strict_json((msopt.folder / "report.json").read_text(encoding="utf-8"))
    assert [one["source"] for one in record["scenarios"]] == [bundled.default]
    path = msopt.scenario(s2())
    msopt.done("report", bundled.default, path, "--output", msopt.folder)
    page = (msopt.folder / "report.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")][:2] == ["## first look", "## base"]
    assert Scenario.read(bundled.path(bundled.default)).name == "first look"
    assert "Acceptance: measured once" in page
    for place in (1, 2):
        assert f"(goodput-{place}.svg)" in page
        assert (msopt.folder / f"goodput-{place}.svg").stat().st_size > 10_000
