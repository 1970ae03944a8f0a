"""Verdicts over the settings that are left: their words, what they turn on, and settings that reach every draw."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import msopt
from reports.calibration import plausible_verdicts
from reports.calibration.fit import Candidate, Fit
from reports.calibration.plausible_verdicts import cut_words, judged_settings, turning_cut, verdict_words, verdicts_at
from reports.calibration.settings_tried import Found, Tried
from reports.calibration.targets_file import read_calibration
from reports.calibration.unknowns import Dimension, Unknown
from reports.claims.judging import HELD, IN_PART, NOT_HERE, NOT_SETTLED
from reports.shared.estimators import Mean
from reports.studies.closed_forms import uplink_sets
from reports.studies.paper_figures import MS_PRESETS, UD_PRESETS
from reports.studies.settings import over, scenario_at
from tests.reports.studies.test_studies import TINY

DIMENSIONS = (
    Dimension("uplink_power_dbm", "", Unknown(low=-60.0, high=-40.0)),
    Dimension("fading", "", Unknown(values=[True, False])),
)


@pytest.mark.parametrize(
    ("verdicts", "plausible", "words"),
    [
        ([HELD] * 3, True, "held in all of 3 plausible settings"),
        ([NOT_HERE] * 4, True, "held in none of 4 plausible settings, did not appear in 100 %"),
        (
            [HELD, HELD, NOT_SETTLED, IN_PART],
            False,
            "held in 50 % of the 4 nearest settings, in part in 25 %, not settled in 25 %",
        ),
        ([], True, "not tested"),
    ],
)  # fmt: skip
def test_words(verdicts: list[str], plausible: bool, words: str) -> None:
    assert verdict_words(verdicts, plausible) == words


POWERS = np.array([-59.0, -58.0, -57.0, -55.0, -54.0, -52.0, -51.0, -48.0, -46.0, -45.0, -44.0, -43.0, -42.0, -41.0])
POINTS = np.column_stack([(POWERS + 60.0) / 20.0, np.array([0.1, 0.9] * 7)])


def test_the_value_at_which_a_verdict_turns() -> None:
    """Held from -47 dBm on, whatever fading is: the cut lies between the neighbours, and explains all."""
    cut = turning_cut(DIMENSIONS, POINTS, [HELD if power > -47.0 else NOT_HERE for power in POWERS])
    assert cut.explained == pytest.approx(1.0)
    assert cut_words(cut) == "uplink_power_dbm: rather held at -47 or more, less below (100 % of its variance)"


def test_a_verdict_that_turns_on_one_of_a_few_values() -> None:
    verdicts = [HELD, NOT_HERE] * 7
    words = "fading: rather held True, less False (100 % of its variance)"
    assert cut_words(turning_cut(DIMENSIONS, POINTS, verdicts)) == words
    verdicts[0] = NOT_HERE
    cut = turning_cut(DIMENSIONS, POINTS, verdicts)
    # 6 of 7 and 0 of 7 hold: of a variance of 6 - 36/14 there is left 6/7.
    assert cut.explained == pytest.approx(1.0 - (6.0 / 7.0) / (6.0 - 36.0 / 14.0))
    assert (cut.below, cut.above) == pytest.approx((6.0 / 7.0, 0.0))


def test_chance_turns_on_nothing() -> None:
    assert turning_cut(DIMENSIONS, POINTS, [HELD] * 14) is None
    assert turning_cut(DIMENSIONS, POINTS, [HELD, HELD, NOT_HERE, NOT_HERE] * 3 + [HELD, HELD]) is None
    # Of so few even the clearest could be chance.
    assert turning_cut(DIMENSIONS, POINTS[4:10], [NOT_HERE] * 3 + [HELD] * 3) is None


def made_up_fit(misfits: list[float]) -> Fit:
    calibration = read_calibration("uldl")
    mean = Mean(1.0, 1.0, 1.0, 1)
    every = [
        Candidate(number, "", Tried(list(point), []), {}, [Found(mean, 1.0, 1.0, 1.0, misfit)] * 2)
        for number, (misfit, point) in enumerate(zip(misfits, calibration.space.filling(len(misfits)), strict=True))
    ]
    return Fit(calibration, every, [one for one in every if one.plausible], [], (), 0, False)


def test_which_settings_are_judged() -> None:
    """The plausible ones, spread over their order where they are too many; without any, those of twice the least."""
    numbers = lambda fit, most: [one.number for one in judged_settings(fit, most)]  # noqa: E731
    assert numbers(made_up_fit([0.1, 0.5, 0.9, 1.5]), 8) == [0, 1, 2]
    assert numbers(made_up_fit([0.1 + 0.1 * n for n in range(9)]), 3) == [0, 4, 8]
    assert numbers(made_up_fit([1.1, 1.2, 2.1, 2.2, 2.3, 9.0]), 8) == [0, 1, 2, 3]
    assert numbers(made_up_fit([1.1, 5.0, 6.0, 7.0]), 8) == [0, 1, 2]


def test_settings_reach_every_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goodputs of every table are those of the scenarios with the setting; what a figure varies itself stays."""
    seen: dict[str, pd.DataFrame] = {}
    monkeypatch.setattr(
        plausible_verdicts,
        "judge",
        lambda claims, draws: (seen.update(draws), (pd.DataFrame({"id": [], "verdict": []}),) * 2)[1],
    )
    settings = {MS_PRESETS[0]: {"draft_mean_s": 0.05, "fading": False}, MS_PRESETS[1]: {"draft_mean_s": 0.02}}
    verdicts_at("MS", settings, replace(TINY, curve_draws=1), 3)
    assert {"ms_fig3", "ms_fig6", "ms_fig7", "ms_fig8", "ms_grid", "probes", "ms_fig4_latency"} <= set(seen)
    row = seen["ms_fig7"].query("scheme == 'optimum'").iloc[0]
    cell = msopt.draw(
        MS_PRESETS[0], devices=TINY.devices, seed=int(row["scenario_seed"]), bandwidth_hz=row["bandwidth_hz"],
        draft_mean_s=0.05, fading=False,
    )[0]  # fmt: skip
    assert row["goodput_tokens_per_s"] == pytest.approx(msopt.solve(cell, "heterogeneous").goodput, rel=1e-6)
    assert set(seen["ms_fig7"]["bandwidth_hz"]) == set(TINY.bandwidth_hz)


def test_a_sweep_that_ends_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the draws of its figure, and only up to there."""
    table = pd.DataFrame({"downlink_power_dbm": [0.0, 25.0, 50.0]})
    monkeypatch.setattr(plausible_verdicts, "_draws", lambda *_: {"ud_fig7_8": table, "ud_fig11": table})
    monkeypatch.setattr(
        plausible_verdicts,
        "judge",
        lambda _, draws: (pd.DataFrame({"id": ["n"], "verdict": [len(draws["ud_fig7_8"])]}), draws),
    )
    space = read_calibration("uldl").space
    end = space.swept_to([0.5] * 5 + [0.2])
    assert end == {"swept_to_dbm": 25.0}
    assert verdicts_at("UD", {}, TINY, 0, end) == [{"id": "n", "verdict": 2}]


def test_a_figures_own_settings_come_first() -> None:
    setting = {"downlink_power_dbm": 20.0, "first_dataset_share": 0.5, "max_draft_length": 9}
    assert over(setting, {"power_ratio": 4.0}) == {
        "first_dataset_share": 0.5,
        "max_draft_length": 9,
        "power_ratio": 4.0,
    }
    assert "first_dataset_share" not in over(setting, {"dataset": "GSM8K"})
    rows = uplink_sets(UD_PRESETS[0], 0, 5, 8, {"over_area": True, "downlink_power_dbm": 3.0})
    scenario = scenario_at(UD_PRESETS[0], {"over_area": True, "downlink_power_dbm": 3.0, "devices": 8}, 5)
    reaction, shortest = msopt.react(scenario, np.arange(8))
    assert rows[0]["shortest_s"] == shortest
    assert rows[0]["best_uplink_devices"] == int(np.sum(reaction.on_uplink))
