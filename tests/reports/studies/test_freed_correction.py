"""The study of freed corrections: its tables are what its draws say, and its figure shows them."""

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

import msopt
from msopt import draw
from reports.studies import freed_correction as study
from reports.studies.freed_correction import UD_PRESETS, compute, panels
from tests.tolerances import EXACT


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return compute(draws=1, cells=2, seed=3, devices=3, powers_dbm=(20.0,))


def test_gains_are_those_of_the_solutions(tables: dict[str, pd.DataFrame]) -> None:
    draws = tables["draws_freed"].set_index(["pair", "downlink_power_dbm", "scheme"])
    assert len(draws) == len(UD_PRESETS) * 3
    for (of_pair, power), group in draws.groupby(["pair", "downlink_power_dbm"]):
        equal, shared, separate = (group.loc[(of_pair, power, kind)] for kind in study.CORRECTIONS)
        assert equal["gain"] == equal["shorter"] == 0.0
        assert 0.0 <= shared["gain"] <= separate["gain"] + EXACT
        assert 0.0 <= shared["shorter"] <= separate["shorter"] + EXACT
        scenario, _ = draw(
            UD_PRESETS[0] if "14B" in of_pair else UD_PRESETS[1],
            devices=3,
            seed=int(equal["scenario_seed"]),
            downlink_power_dbm=power,
        )
        goodput = msopt.solve(scenario, "modes", "exact").goodput
        assert equal["goodput_tokens_per_s"] == pytest.approx(goodput, rel=EXACT)
    freed = tables["freed"].set_index(["pair", "downlink_power_dbm", "scheme"])
    assert freed["mean"].to_dict() == draws["gain"].drop(study.EQUAL_SHARES, level="scheme").to_dict()


def test_prefixes_lose_nothing_or_something(tables: dict[str, pd.DataFrame]) -> None:
    draws, summary = tables["draws_prefixes"], tables["prefixes"]
    assert len(draws) == 2 * 4 * 4
    assert (draws["loss"] >= 0.0).all()
    assert set(summary["cells"]) == {2}
    assert summary["max"].max() == draws["loss"].max()


def test_a_payload_for_each_is_never_worse(tables: dict[str, pd.DataFrame]) -> None:
    draws, summary = tables["draws_payloads"], tables["payloads"]
    assert len(summary) == 4
    assert (summary["gain"] >= -EXACT).all()
    assert (draws["bound_tokens_per_s"] >= draws["goodput_tokens_per_s"]).all()
    assert np.isnan(summary["downlink_power_dbm"].to_numpy(dtype=float)).sum() == 2


def test_the_figure_is_drawn(tables: dict[str, pd.DataFrame]) -> None:
    drawn = panels(tables)
    assert [panel.name for panel in drawn] == [
        *("freed_correction-1", "freed_correction-2"),
        *("freed_correction_times-1", "freed_correction_times-2"),
    ]
    for panel in drawn:
        buffer = io.BytesIO()
        panel.figure.savefig(buffer, format="png")
        assert buffer.getvalue().startswith(b"\x89PNG")
        words = {text.get_text() for text in panel.figure.findobj(Text)}
        assert {"shared-band", "separate-bands"} <= words
