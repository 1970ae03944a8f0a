"""What is said of a figure to who does not see it, read off the figure."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from reports.plots.alt_text import alt_text


def bars(names: Sequence[str], widths: Sequence[float]) -> Figure:
    figure = Figure()
    axes = figure.add_subplot()
    axes.barh(range(len(names)), widths)
    axes.set_yticks(range(len(names)), names)
    return figure


def test_bars() -> None:
    assert "3 bars, from b with 1 to c with 4" in alt_text(bars("abc", (2.0, 1.0, 4.0)), "t")
    assert "3 bars, each with 2" in alt_text(bars("abc", (2.0, 2.0, 2.0)), "t")
    assert "1 bar, a with 2" in alt_text(bars("a", (2.0,)), "t")


def test_an_upright_line_is_told_by_its_place() -> None:
    """Its heights are shares of the axes, no values."""
    figure = bars("ab", (2.0, 1.0))
    figure.axes[0].axvline(2.5, label="_bound")
    figure.axes[0].text(2.5, 0.0, "no control above")
    told = alt_text(figure, "t")
    assert "an upright line at 2.5" in told
    assert "between 0 and 1" not in told


def test_lines() -> None:
    figure = Figure()
    figure.add_subplot().plot([0.0, 1.0], [3.0, 7.0], label="_")
    assert "1 line between 3 and 7" in alt_text(figure, "t")


def test_values_of_named_rows_lie_along_x() -> None:
    """The place of a row is no value, neither of a marker nor of a line through the rows."""
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([0.5, 0.25, 0.75], [-0.1, 0.9, 1.9], "o", label="measured")
    axes.plot([0.1, 0.4, 0.2], [0, 1, 2])
    axes.set_yticks(range(3), ["a", "b", "c"])
    told = alt_text(figure, "t")
    assert "measured, from b with 0.25 to c with 0.75" in told
    assert "1 line between 0.1 and 0.4" in told


def test_stacked_bars_end_where_the_last_ends() -> None:
    figure = bars("ab", (2.0, 1.0))
    figure.axes[0].barh((0, 1), (1.0, 4.0), left=(2.0, 1.0))
    figure.axes[0].plot([2.0, 2.5], [0.0, 0.0])  # an interval
    assert alt_text(figure, "t") == "t. 2 bars, from a with 3 to b with 5."


def test_a_histogram_is_told_by_its_ends() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    axes.hist([1.5, 1.6, 3.5], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    axes.annotate("solver (3)", (0.0, 1.0))
    assert alt_text(figure, "t") == "t. solver (3) between 1 and 4."


def test_the_names_of_a_legend_are_those_of_its_lines() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([0.0, 1.0], [3.0, 7.0], label="_")
    axes.annotate("the paper's", (0.5, 5.0))
    figure.legend(handles=axes.lines, labels=["ours"])
    assert "1 line (ours) between 3 and 7" in alt_text(figure, "t")
