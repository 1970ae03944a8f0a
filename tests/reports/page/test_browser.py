"""The page in a browser, on a phone and, in the dark, on a desk. Collected only where there is a Chromium."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.browser import measured

PHONE, DESK = 390, 1280
SMALLEST_TEXT = {PHONE: 8.0, DESK: 9.0}
"""Letters of figures on the screen [pixel]."""


@pytest.fixture(scope="module", params=[PHONE, DESK])
def seen(request: pytest.FixtureRequest, report: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    dark = request.param == DESK
    found = measured(report / "report.html", request.param, tmp_path_factory.mktemp("browser"), dark=dark)
    assert (found["ground"] == "rgb(255, 255, 255)") != dark
    assert found["width"] == request.param
    return found


def test_a_reader_sees_at_most_a_third_before_unfolding(seen: dict[str, Any]) -> None:
    assert seen["folded"] < seen["unfolded"] / 3


def test_every_text_stands_out_from_its_ground(seen: dict[str, Any]) -> None:
    """By at least 4.5 to 1, in the light and in the dark."""
    assert seen["pale"] == []


def test_nothing_is_wider_than_the_page(seen: dict[str, Any]) -> None:
    assert seen["scrolls"] <= seen["width"]
    assert seen["wide"] == []


def test_figures_are_drawn_and_their_texts_can_be_read(seen: dict[str, Any]) -> None:
    assert len(seen["figures"]) > 20
    for figure in seen["figures"]:
        assert figure["label"]
        assert figure["width"] > 0.4 * min(seen["width"], 900), figure
        assert figure["height"] > 80, figure
        assert figure["marks"] > 5, figure
        assert figure["texts"] > 5, figure
        assert figure["outside"] == [], figure
        assert figure["over"] == [], figure
        assert figure["smallest"] >= SMALLEST_TEXT[seen["width"]], figure


def test_tables_sort(seen: dict[str, Any]) -> None:
    assert len(seen["tables"]) > 10
    turned = 0
    for column in (column for table in seen["tables"] for column in table):
        assert column["said"] == "ascending"
        assert sorted(column["up"]) == sorted(column["before"])
        known = [value for text in column["up"] if (value := number(text)) is not None]
        assert known == sorted(known), column
        down = [value for text in column["down"] if (value := number(text)) is not None]
        assert down == known[::-1], column
        turned += column["up"] != column["before"] or column["down"] != column["before"]
    assert turned > 30


def number(text: str) -> float | None:
    """The number that a cell begins with; a multiple in per cent, as gains are, and none above what is equal."""
    if text in ("equal", "proven"):
        return 0.0
    found = re.match(r"-?\d[\d.]*(e[-+]?\d+)?", text)
    if found and text.endswith(" times"):
        return 100.0 * (float(found[0]) - 1.0)
    return float(found[0]) if found else None
