"""Lines against a number: where their names lead to, and what stands on their axes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from reports.plots.curves import curve_panel
from reports.plots.study_plots import study_panels


def panel(means: dict[str, list[float]], **more: float) -> Figure:
    rows = [
        {"at": float(at), "scheme": scheme, "mean": value, "low": value, "high": value}
        for scheme, values in means.items()
        for at, value in enumerate(values)
    ]
    return curve_panel(pd.DataFrame(rows), "at", x_label="x [1]", y_label="y [1]", **more)


def ends(figure: Figure) -> dict[str, tuple[float, float]]:
    """Where the name of each line leads to [data]."""
    figure.canvas.draw()
    (axes,) = figure.axes
    to_data = axes.transAxes + axes.transData.inverted()
    return {text.get_text(): tuple(to_data.transform(text.xy)) for text in axes.texts}


def test_a_name_leads_to_where_its_line_leaves_the_axes() -> None:
    led = ends(panel({"rises": [0.0, 2.0, 6.0, 10.0], "stays": [1.0, 1.0, 1.0, 1.0]}, y_top=4.0))
    assert led["rises"] == pytest.approx((1.5, 4.0))  # halfway from (1, 2) to (2, 6)
    assert led["stays"][1] == pytest.approx(1.0)
    assert led["stays"][0] >= 3.0


def test_tokens_have_whole_ticks() -> None:
    (axes,) = panel({"a": [0.9, 2.0, 4.1], "b": [1.0, 2.1, 4.0]}).axes
    ticks = axes.get_yticks()
    assert np.array_equal(ticks, np.round(ticks))
    (axes,) = panel({"a": [0.1, 0.2, 0.9], "b": [0.1, 0.3, 0.8]}).axes
    assert not np.array_equal(axes.get_yticks(), np.round(axes.get_yticks()))


def test_panels_beside_each_other_begin_at_zero_together() -> None:
    """One of the pairs alone comes near it."""
    means = {"near": (10.0, 50.0), "far": (40.0, 60.0)}
    rows = [
        {"pair": pair, "bandwidth_hz": 1e6 * at, "scheme": scheme, "mean": mean, "low": mean, "high": mean}
        for pair, ends_ in means.items()
        for scheme in ("fixed", "grid")
        for at, mean in enumerate(ends_, start=1)
    ]
    about = {"title": "Goodput", "x": "bandwidth_hz", "y": "goodput", "y_unit": "token/s"}
    bottoms = [one.figure.axes[0].get_ylim()[0] for one in study_panels("t", pd.DataFrame(rows), about)]
    assert bottoms == [0.0, 0.0]
    (alone,) = study_panels("t", pd.DataFrame(rows[len(rows) // 2 :]), about)
    assert alone.figure.axes[0].get_ylim()[0] > 0.0


def test_one_line_is_named_once() -> None:
    rows = pd.DataFrame({"at": [1.0, 2.0], "scheme": "measured: pair", "mean": 1.0, "low": 1.0, "high": 1.0})
    figure = curve_panel(rows, "at", x_label="x [1]", y_label="y [1]", title="pair")
    assert figure.axes[0].get_title(loc="left") == "measured: pair"


def test_intervals_of_few_points_are_bars_beside_each_other() -> None:
    """Bands of few draws over each other would fill the panel."""
    for points, kind in ((4, LineCollection), (5, PolyCollection)):
        drawn = panel({"a": [float(at) for at in range(1, points + 1)], "b": [2.0] * points}).axes[0].collections
        assert [isinstance(one, kind) for one in drawn] == [True, True]
    first, second = panel({"a": [1.0, 2.0], "b": [2.0, 2.0]}).axes[0].collections
    places = [one.get_transform().transform((0.0, 0.0))[0] for one in (first, second)]
    assert places[1] - places[0] > 2.0
