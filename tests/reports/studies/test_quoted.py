"""The quoted numbers as records: what they stand for, and what they compute from goodputs, by hand."""

import math

import numpy as np
import pytest

from msopt import PRESETS
from msopt.methods import by_name
from reports.shared.estimators import mean_of
from reports.studies.quoted import QUOTED, REALISATIONS, UP_TO, UPLINK_SET, Quoted
from reports.studies.settings import SETTINGS
from reports.studies.study import OPTIMUM

OF = {record.id: record for record in QUOTED}


@pytest.mark.parametrize("record", QUOTED, ids=lambda record: record.id)
def test_every_record_can_be_asked_anywhere(record: Quoted) -> None:
    assert record.preset in PRESETS
    assert set(record.methods) <= {OPTIMUM, UPLINK_SET, *by_name()}
    assert set(record.at) | ({record.along} - {""}) <= set(SETTINGS)
    assert record.low <= record.quoted <= record.high
    assert (record.statistic == "mean") == (not record.over)


def test_what_is_printed_so() -> None:
    """88 % is all that rounds to it, "about 3" all within a twentieth, "up to 88 %" and "above 80 %" have one end."""
    ends = {name: (OF[name].low, OF[name].high) for name in OF}
    assert ends["gain-at-5-mhz-llama2"] == pytest.approx((0.875, 0.885))
    assert ends["gain-at-10-devices-llama2"] == pytest.approx((0.205, 0.215))
    assert ends["over-centralised-llama2"] == pytest.approx((2.45, 2.55))
    assert ends["over-centralised-serial-qwen35"] == pytest.approx((2.85, 3.15))
    assert ends["over-point-to-point-llama2"] == pytest.approx((4.55, 4.65))
    assert ends["gain-at-most-qwen35"] == (-math.inf, pytest.approx(0.885))
    assert ends["gain-at-24-devices-qwen35"] == (0.8, math.inf)
    assert ends["best-uplink-set-qwen25"] == (2.5, 3.5)
    assert OF["gain-at-5-mhz-qwen35"].quoted == UP_TO


def test_a_gain_from_goodputs() -> None:
    """Means 150 and 100: 50 %; the draws' own gains are 100, 0 and 80 %."""
    goodputs = {OPTIMUM: [100.0, 170.0, 180.0], "fixed": [50.0, 170.0, 100.0]}
    record = OF["gain-at-5-mhz-llama2"]
    found = record.estimate(goodputs)
    assert found.mean == pytest.approx(450.0 / 320.0 - 1.0)
    ratios = record.mean_of_ratios(goodputs)
    assert ratios.mean == pytest.approx(0.6)
    influence = (np.array(goodputs[OPTIMUM]) - 450.0 / 320.0 * np.array(goodputs["fixed"])) / 150.0
    log = mean_of(math.log(450.0 / 320.0) + influence)
    assert (found.low, found.high) == pytest.approx((math.exp(log.low) - 1.0, math.exp(log.high) - 1.0))


def test_a_level_and_a_ratio_from_goodputs() -> None:
    goodputs = {OPTIMUM: [140.0, 150.0], "centralised": [50.0, 50.0]}
    assert OF["level-llama2"].estimate(goodputs).mean == 145.0
    assert OF["level-llama2"].mean_of_ratios(goodputs) is None
    assert OF["over-centralised-llama2"].estimate(goodputs).mean == pytest.approx(2.9)


def test_where_another_paper_of_ten_draws_would_print_its_number() -> None:
    """Of 2000 papers with ten draws each, about 95 % print a level within what 40 draws foresee, on average."""
    rng, record, inside = np.random.default_rng(1), OF["level-llama2"], 0
    for _ in range(2000):
        low, high = record.of_so_many({OPTIMUM: rng.normal(145.0, 8.0, 40)})
        inside += low <= rng.normal(145.0, 8.0, REALISATIONS).mean() <= high
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)
    same = {OPTIMUM: [3.0, 6.0], "fixed": [2.0, 4.0]}
    assert OF["gain-at-5-mhz-llama2"].of_so_many(same) == pytest.approx((0.5, 0.5))
