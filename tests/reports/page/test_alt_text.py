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
