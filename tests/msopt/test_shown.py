"""How objects show themselves: lines, notebooks' tables and pictures hold the object's own numbers."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

import msopt
from msopt.errors import literal
from msopt.shown import palette
from msopt.shown.object_summary import MOST_ROWS, Shown, Summary, gap_in_words, spread_of
from msopt.shown.pictures import MOST_NAMED, steps_of_rows

CELL = msopt.draw("multispin-llama2", devices=4, seed=4)[0].replace(name="a <b> cell & more", verify_per_token_s=1e-3)
SOLUTION = msopt.solve(CELL)
MANY = msopt.solve_many([msopt.draw("multispin-llama2", devices=3, seed=seed)[0] for seed in range(4)])
PROFILE = msopt.read_profile("msopt/profiles/smollm2-skip-4.json")
assert SOLUTION.control is not None
PLAYED = msopt.emulate(CELL, SOLUTION.control, rounds=40)
OBJECTS = (CELL, SOLUTION, MANY, PROFILE, PLAYED)


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    mpl.use("agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


class Tags(HTMLParser):
    """What is open, and the text of every cell; fails where a tag closes another."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


@pytest.mark.parametrize("shown", OBJECTS, ids=lambda shown: type(shown).__name__)
def test_one_line_few_lines_and_a_table(shown: Shown) -> None:
    assert "\n" not in repr(shown)
    assert len(repr(shown)) < 300
    assert len(str(shown).splitlines()) < 12 + MOST_ROWS
    cells = Tags(shown._repr_html_()).cells
    assert shown.summary().title in cells
    assert set(shown.summary().facts.values()) <= set(cells)


@pytest.mark.parametrize("shown", OBJECTS, ids=lambda shown: type(shown).__name__)
def test_drawn_where_it_is_told(shown: msopt.Scenario) -> None:
    from matplotlib import pyplot as plt

    axes = plt.figure().add_subplot()
    assert shown.plot(ax=axes) is axes
    assert axes.get_xlabel()
    assert shown.plot() is not axes


def test_a_round_as_long_as_it_is() -> None:
    """Every device's bars end with the round; its drafting is length times time, and the longest waits for nobody."""
    axes = SOLUTION.plot()
    bars = {box.get_label(): box.patches for box in axes.containers}
    ends = [bar.get_x() + bar.get_width() for bar in bars["is verified"]]
    assert ends == pytest.approx([float(SOLUTION.evaluation.round.round_s)] * 4)
    drafting = [bar.get_width() for bar in bars["drafts"]]
    assert drafting == pytest.approx(SOLUTION.control.draft_length * CELL.draft_s_per_token)
    waits = [bar.get_width() for bar in bars.get("waits", ())]
    assert min(waits, default=0.0) == pytest.approx(0.0, abs=1e-9)


def test_what_has_no_control_is_not_drawn() -> None:
    with pytest.raises(msopt.MsoptError, match="no one control"):
        msopt.solve(CELL, method="server-only").plot()


def test_a_legend_covers_no_bar() -> None:
    """Neither on axes that fill a figure nor on a quarter of it."""
    from matplotlib import pyplot as plt

    for places in ((1, 1, 1), (2, 2, 1)):
        axes = SOLUTION.plot(plt.figure().add_subplot(*places))
        axes.figure.canvas.draw()
        legend = axes.get_legend()
        bars = [bar.get_window_extent() for bar in axes.patches]
        assert not legend.get_window_extent().count_overlaps(bars)


def test_steps_of_a_round_in_grey() -> None:
    """Two steps without a difference in hatch have one in lightness."""
    steps = palette.DRAFTS, palette.SENDS, palette.WAITS, palette.VERIFIES, palette.CORRECTS
    for (one, one_hatch), (other, other_hatch) in combinations(steps, 2):
        lightness = [mpl.colors.to_rgb(colour) @ np.array([0.299, 0.587, 0.114]) for colour in (one, other)]
        assert one_hatch != other_hatch or abs(lightness[0] - lightness[1]) > 0.15


def test_notes_and_names_stay_where_they_can_be_read() -> None:
    """Notes end within their axes, names of devices cover neither each other nor a point; on a quarter of a figure."""
    from matplotlib import pyplot as plt

    near = CELL.replace(device_names=("first", "second", "third", "fourth"), uplink_snr_db=[3.0, 5.0, 5.0, 7.0])
    near = near.replace(draft_s_per_token=[0.02, 0.02, 0.018, 0.02])
    figure = plt.figure()
    rows, plane = SOLUTION.plot(figure.add_subplot(2, 2, 1)), near.plot(figure.add_subplot(2, 2, 2))
    figure.canvas.draw()
    assert all(note.get_window_extent().x1 <= rows.get_window_extent().x1 for note in rows.texts)
    names = [name.get_window_extent() for name in plane.texts]
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))
    places = plane.transData.transform(plane.collections[0].get_offsets())
    assert not any(name.contains(*place) for name in names for place in places)
    assert plane.get_ylim()[1] > 20.5  # ms: room above the highest point


def test_as_many_rows_as_there_are() -> None:
    """Of more rows than can be named an area for each step, as wide as its row is long."""
    many = MOST_NAMED + 60
    lengths = np.linspace(1.0, 2.0, many)
    axes = steps_of_rows(
        None, [""] * many, {"one": (("red", ""), lengths), "other": (("blue", "//"), lengths)}, ["note"] * many
    )
    assert not axes.patches
    assert not axes.texts
    first, second = (area.get_paths()[0].get_extents() for area in axes.collections)
    assert (first.x0, first.x1, second.x1) == (0.0, 2.0, 4.0)
    assert (first.y0, first.y1) == (0.0, many - 1.0)


@pytest.mark.parametrize("name", ["two\nlines", "$x_$", "_h", "\x1b[31mred"])
def test_names_of_any_letters(name: str) -> None:
    """One line of text that obeys nothing, and pictures that show it as it is."""
    cell = CELL.replace(name=name, device_names=tuple(f"{name}{place}" for place in range(4)))
    tasks = {name: next(iter(PROFILE.tasks.values()))}
    shown = replace(SOLUTION, scenario=cell), cell, PROFILE.model_copy(update={"name": name, "tasks": tasks})
    for each in shown:
        assert repr(each).isprintable()
        assert "\x1b" not in str(each)
        assert literal(name) in str(each)
        axes = each.plot()
        axes.figure.canvas.draw()
        assert literal(name) in axes.get_title(loc="left")
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [literal(name)]


def test_a_profile_without_acceptance() -> None:
    with pytest.raises(msopt.MsoptError, match="no acceptance"):
        PROFILE.model_copy(update={"tasks": {}}).plot()


def test_what_is_not_finite_is_no_distance() -> None:
    assert "optim" not in repr(replace(SOLUTION, bound=float("nan")))
    assert "proven optimal" in repr(SOLUTION)


def test_long_tables_are_cut_and_say_so() -> None:
    rows = [str(row) for row in range(MOST_ROWS + 7)]
    assert str(Summary("title", {}, {"row": rows}).text()).endswith("(7 more)")


def test_words() -> None:
    assert gap_in_words(3e-8) == "proven optimal"
    assert gap_in_words(0.0312) == "within 3.1 % of the optimum"
    assert spread_of([2.0, 2.0], "ms") == "2 ms"
    assert spread_of([0.5, 2.0], "ms") == "0.5 to 2 ms"


def test_objects_as_tables() -> None:
    curves = PROFILE.to_frame().set_index(["task", "position"])
    for task, measured in PROFILE.tasks.items():
        assert curves.loc[task, "survival"].tolist() == [point.survival for point in measured.curve]
    frame, arrays = MANY.to_frame(), MANY.to_xarray()
    assert frame.loc[(2, 1), "draft_length"] == MANY.draft_length[2, 1]
    assert frame["bandwidth_hz"].unstack().to_numpy() == pytest.approx(MANY.bandwidth_hz)
    assert arrays["bandwidth"].sel(scenario=2, device=1) == MANY.bandwidth_hz[2, 1]
    assert arrays["goodput"].attrs == {"units": "token/s"}
    assert np.all(MANY.gap >= 0.0)


def test_quiet_unless_asked(caplog: pytest.LogCaptureFixture) -> None:
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("msopt").handlers)
    with caplog.at_level(logging.INFO, logger="msopt"):
        solution = msopt.solve(CELL, method="fixed")
    assert caplog.messages == [repr(solution)]


def test_letters_that_a_figure_s_font_lacks() -> None:
    """Another installed font draws them; where none has them their code does, on an axis, too, told once."""
    from matplotlib import pyplot as plt

    names = ("\U00016a0e phone", "\U0001d49e phone", "plain", "\U00016a0f phone")  # Bamum: no font here; STIX has a 𝒞
    cell = CELL.replace(device_names=names)
    with pytest.warns(UserWarning, match="^no installed font has \U00016a0e\U00016a0f: shown by code") as told:
        axes = msopt.solve(cell).plot()
    assert len(told) == 1
    axes.figure.canvas.draw()  # matplotlib's own warnings are errors here
    labels = axes.get_yticklabels()
    assert [label.get_text() for label in labels] == [
        "\\U00016a0e phone",
        "\U0001d49e phone",
        "plain",
        "\\U00016a0f phone",
    ]
    assert len(labels[1].get_fontfamily()) == len(labels[2].get_fontfamily()) + 1
    cell.plot()  # told already
    plt.gcf().canvas.draw()
