"""The study of rounds drawn from the laws: what its tables say of the plays behind them."""

import numpy as np
import pytest

from msopt import draw, emulate, solve
from reports.studies.drawn_loop import DEVICES, PLAYED
from tests.reports.made_up import FEW_ROUNDS, few_played
from tests.tolerances import EXACT


def test_goodput_and_gains_are_those_of_the_plays() -> None:
    table = few_played().tables["loop_drawn"]
    preset, (problem, methods) = next(iter(PLAYED.items()))
    rows = table[table["problem"] == problem].set_index("method")
    scenario, _ = draw(preset, devices=DEVICES, seed=0)
    best, fixed = (
        emulate(scenario, solve(scenario, problem, name).control, FEW_ROUNDS) for name in (methods[0], "fixed")
    )
    assert list(rows.index) == list(methods)
    assert rows.loc["fixed", "goodput_tokens_per_s"] == fixed.goodput
    assert rows.loc["fixed", "predicted_gain"] == pytest.approx(best.predicted / fixed.predicted - 1.0, rel=EXACT)
    assert rows.loc["fixed", "realised_gain"] == pytest.approx(best.goodput / fixed.goodput - 1.0, rel=EXACT)
    gains = rows.loc["fixed", ["gain_low", "predicted_gain", "gain_high"]].astype(float)
    assert gains.is_monotonic_increasing
    assert (rows["low"] < rows["goodput_tokens_per_s"]).all()
    assert np.isnan(float(rows.loc[methods[0], "realised_gain"]))


def test_every_effect_is_priced_for_both_problems() -> None:
    costs = few_played().tables["loop_costs"]
    by_problem = [rows[["effect", "size", "late"]].to_numpy().tolist() for _, rows in costs.groupby("problem")]
    assert by_problem[0] == by_problem[1]
    assert {"random compute times", "random delays", "stragglers", "lost drafts"} <= set(costs["effect"])
    waits = costs[costs["effect"] == "stragglers"].set_index(["problem", "late"])["cost"]
    for problem in ("heterogeneous", "modes"):
        assert waits[problem, "left out"] < waits[problem, "awaited"], "one straggler costs its tokens or a long wait"
