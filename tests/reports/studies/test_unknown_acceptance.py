"""The studies of acceptance that nobody knows: what must hold of every draw, and regret between plans."""

import numpy as np
import pandas as pd
import pytest

from reports.plots.study_plots import study_panels
from reports.studies.paper_figures import MS_PRESETS, figure_table
from reports.studies.unknown_acceptance import (
    BY_LAW,
    BY_MEAN,
    GUARDED,
    KNOWN,
    LEARNT,
    LEARNT_RARELY,
    NEVER,
    UNKNOWN,
    regret_rows,
    value_rows,
)
from tests.tolerances import EXACT, OPTIMAL


def test_no_plan_beats_the_law_but_knowing() -> None:
    """Under the mixture no control has more than the best for it; on every prompt none has more than knowing."""
    table = pd.DataFrame(value_rows(MS_PRESETS[0], 0, 7, 3, parts=(0.2, 1.0), prompts=4)).pivot(
        index="table_i_part", columns="scheme", values="gain"
    )
    assert table.index.tolist() == [0.2, 1.0]
    assert np.all(table[BY_LAW] == 0.0)
    assert np.all(table[[BY_MEAN, GUARDED]] <= OPTIMAL)
    assert np.all(table[KNOWN] >= -OPTIMAL)
    assert table[GUARDED].iloc[-1] < table[GUARDED].iloc[0], "the wider the interval, the dearer the guard"


@pytest.fixture(scope="module")
def regret() -> pd.DataFrame:
    return pd.DataFrame([row for preset in MS_PRESETS for row in regret_rows(preset, 0, 7, 3, rounds=30)])


def test_regret_of_every_policy(regret: pd.DataFrame) -> None:
    for _, rows in regret.groupby(["pair", "scheme"], sort=False):
        assert rows["rounds"].tolist() == [1, 10, 30]
        assert np.all(np.diff([0.0, *rows["regret_tokens"]]) >= -1e-9)
    at = regret[regret["pair"] == regret["pair"].iloc[0]].pivot(
        index="rounds", columns="scheme", values="regret_tokens"
    )
    for scheme in (NEVER, LEARNT_RARELY):  # one plan for all thirty rounds
        assert at[scheme].tolist() == pytest.approx(
            [at[scheme][30] * share for share in (1 / 30, 1 / 3, 1.0)], rel=EXACT
        )
    assert at[LEARNT][30] < at[NEVER][30]


def test_regret_is_drawn_on_logarithmic_axes(regret: pd.DataFrame) -> None:
    figure = UNKNOWN["unknown_regret"]
    for panel in study_panels("unknown_regret", figure_table(figure, regret), figure.entry()):
        (axes,) = panel.figure.axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        shown = regret.loc[regret["pair"] == panel.title.partition(": ")[2], "regret_tokens"]
        low, high = axes.get_ylim()
        assert 0.0 < low < shown.min() <= shown.max() < high
