"""Draws side by side: schemes in columns, one row for each pair, point and draw; and what is read off their curves."""

from collections.abc import Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from msopt.arrays import FloatArray
from reports.claims.judging import CLOSE, Case, above_0, each, number_words
from reports.shared.estimators import Mean, OfMeans, gain_of_means, halves, mean_of, ratio_of_means
from reports.studies.paper_figures import GOODPUT, MS_PRESETS, UD_PRESETS, pair
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

FLAT = 0.5
"""How much of its greatest slope a curve may keep to be called saturated (ours)."""
FLAT_WORDS = "The last step is at most half as steep as the steepest before (ours)"
_SHORT = dict(zip([*MS_PRESETS, *UD_PRESETS], ("Llama-2", "Qwen3.5", "Qwen2.5", "DeepSeek-R1"), strict=True))
SHORT = {pair(preset): name for preset, name in _SHORT.items()}
"""The pairs as cases name them, by target model."""


def by_scheme(draws: "pd.DataFrame", keys: list[str], value: str = GOODPUT) -> "pd.DataFrame":
    """A column for each scheme, indexed by pair, keys and draw; without the draws in which a scheme of ours failed."""
    table = draws.pivot(index=["pair", *keys, "draw"], columns="scheme", values=value)
    return table.dropna(subset=[scheme for scheme in table if ":" not in str(scheme)])


def by_pair(table: "pd.DataFrame") -> Iterator[tuple[str, "pd.DataFrame"]]:
    """The short name of each pair in the papers' order, and its rows."""
    for of_pair, name in SHORT.items():
        if of_pair in table.index.get_level_values("pair"):
            yield name, table[table.index.get_level_values("pair") == of_pair].droplevel("pair")


def points(table: "pd.DataFrame", key: str) -> list[float]:
    """The values of a key in ascending order."""
    return sorted(set(table.index.get_level_values(key)))


def at(table: "pd.DataFrame", **where: Hashable) -> "pd.DataFrame":
    """The rows at some values of keys, which leave the index."""
    for key, value in where.items():
        table = table[table.index.get_level_values(key) == value].droplevel(key)
    return table


def at_points(table: "pd.DataFrame", *keys: str) -> "Iterator[tuple[str, tuple[float, ...], pd.DataFrame]]":
    """The short name of each pair, the values of some keys at each of its points, and the rows there."""
    for name, of_pair in by_pair(table):
        for values in product(*(points(of_pair, key) for key in keys)):
            yield name, values, at(of_pair, **dict(zip(keys, values, strict=True)))


def steps(table: "pd.DataFrame", key: str, scheme: str) -> "pd.DataFrame":
    """One row for each draw that is whole, one column for each value of a key, ascending."""
    return table[scheme].unstack(key).sort_index(axis=1).dropna()


def probed(draws: "Draws", probe: str) -> list[tuple[str, np.ndarray]]:
    """The short name of each pair that has a probe, and its values over the draws."""
    table = draws["probes"]
    table = table[table["probe"] == probe]
    values = {name: table[table["pair"] == of_pair]["value"].to_numpy() for of_pair, name in SHORT.items()}
    return [(name, of_pair) for name, of_pair in values.items() if of_pair.size]


def steepest_step(x: FloatArray, curves: FloatArray) -> int:
    """The step before the last in which the mean of curves, one each row, rises most for its width."""
    return int(np.argmax(np.diff(curves.mean(axis=0))[:-1] / np.diff(x)[:-1]))


def highest_point(curves: FloatArray) -> int:
    """The point before the last at which the mean of curves, one each row, is greatest."""
    return int(np.argmax(curves.mean(axis=0)[:-1]))


def flattens(name: str, curve: "pd.DataFrame", *, unit: str, scale: float = 1.0) -> Case:
    """A case that the last step of a mean curve is at most FLAT as steep as the steepest one before it.

    Which step is steepest is chosen on one half of the draws, and the two are compared on the other.
    """
    x, (chosen, judged) = scale * curve.columns.to_numpy(dtype=float), halves(curve)
    steepest, slopes = steepest_step(x, chosen), np.diff(judged, axis=1) / np.diff(x)
    left = OfMeans.of(slopes[:, -1]).value / (OfMeans.of(slopes[:, steepest]).value or np.nan)
    return above_0(
        f"{name}, half the slope at {x[steepest]:g} to {x[steepest + 1]:g} less that at {x[-2]:g} to {x[-1]:g}",
        mean_of(FLAT * slopes[:, steepest] - slopes[:, -1]),
        unit=unit,
        beside=f"{number_words(left, '1')} of it is left",
    )


def falls_from_its_peak(name: str, curve: "pd.DataFrame") -> Case:
    """A case that a mean curve lies higher somewhere before its end; where is chosen on one half of the draws."""
    chosen, judged = halves(curve)
    peak = highest_point(chosen)
    ends = f"{name}, K = {curve.columns[peak]:g} above K = {curve.columns[-1]:g} by"
    return above_0(ends, gain_of_means(judged[:, peak], judged[:, -1]))


def change_of_ratio(above: "pd.DataFrame", below: "pd.DataFrame") -> Mean:
    """How much the ratio of two mean curves rises from their first point to their last, the draws being the same."""
    first, last = (OfMeans.of(above.iloc[:, end]) / OfMeans.of(below.iloc[:, end]) for end in (0, -1))
    return (last - first).interval()


def short_of_optimum(name: str, table: "pd.DataFrame", scheme: str, close: float = CLOSE) -> Case:
    """A case that a scheme is at most so far below the optimum in every draw; its mean loss stands beside."""
    lost = 1.0 - ratio_of_means(table[scheme], table[OPTIMUM]).mean
    short = (1.0 - table[scheme] / table[OPTIMUM]).to_numpy()
    return each(name, short <= close, beside=f"mean loss {number_words(max(lost, 0.0), '1')}")
