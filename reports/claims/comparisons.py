"""Draws side by side: schemes in columns, one row for each pair, point and draw."""

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from reports.claims.judging import Case
from reports.studies.paper_figures import GOODPUT, MS_PRESETS, UD_PRESETS, pair
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

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


def steps(table: "pd.DataFrame", key: str, scheme: str) -> "pd.DataFrame":
    """One row for each draw that is whole, one column for each value of a key, ascending."""
    return table[scheme].unstack(key).sort_index(axis=1).dropna()


def end_slopes(curve: "pd.DataFrame") -> tuple[np.ndarray, np.ndarray]:
    """Slope of each draw's curve between its first two and its last two points."""
    x, y = curve.columns.to_numpy(dtype=float), curve.to_numpy()
    return (y[:, 1] - y[:, 0]) / (x[1] - x[0]), (y[:, -1] - y[:, -2]) / (x[-1] - x[-2])


def probed(draws: "Draws", probe: str) -> list[tuple[str, np.ndarray]]:
    """The short name of each pair that has a probe, and its values over the draws."""
    table = draws["probes"]
    table = table[table["probe"] == probe]
    values = {name: table[table["pair"] == of_pair]["value"].to_numpy() for of_pair, name in SHORT.items()}
    return [(name, of_pair) for name, of_pair in values.items() if of_pair.size]


def worst_draws(draws: "Draws", scheme: str, figures: Mapping[str, tuple[str, list[str]]], close: float) -> list[Case]:
    """For each figure (its name, its keys) and pair: how far a scheme is below the optimum in the worst draw.

    The degree is the share of draws in which it is no further below than `close`.
    """
    cases = []
    for figure, (words, keys) in figures.items():
        table = by_scheme(draws[figure], keys)
        for name, of_pair in by_pair((1.0 - table[scheme] / table[OPTIMUM]).to_frame("short")):
            short = of_pair["short"].to_numpy()
            cases.append(
                Case(
                    name=f"{name}, worst draw of {words}",
                    value=float(short.max()),
                    draws=short.size,
                    degree=float(np.mean(short <= close)),
                )
            )
    return cases
