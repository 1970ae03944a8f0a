"""Path loss against numbers worked out by hand, what is drawn against its law, and the cells that use them.

Statistical checks draw one seed. Were the law right, each would fail for about one seed in 10^6; there are ten.
"""

import math

import numpy as np
import pytest
from scipy import stats

from msopt import Scenario, draw
from msopt.drawn.channel import CELLS, Draws, PowerLaw, Urban, urban_macro, urban_micro
from msopt.drawn.channel.randomness import exponential, normal, uniform_in_area
from msopt.errors import ParameterError
from tests.tolerances import EXACT

FALSE_ALARM = 1e-6
MANY = 20_000
MODELS = {"UMa": urban_macro(3.5), "UMi": urban_micro(3.5)}
log = math.log10


def loss(model: Urban, distance_m: float, in_sight: bool) -> float:
    return float(model.loss_db(np.array([distance_m]), np.array([in_sight]))[0])


def uniforms(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(MANY)


# Path loss by hand, TR 38.901 Table 7.4.1-1. 3.5 GHz, UMa: 25 - 1.5 = 23.5 m of height, breakpoint at
# 4 · 24 · 0.5 · 3.5e9/3e8 = 560 m. UMi: 8.5 m, 4 · 9 · 0.5 · 3.5e9/3e8 = 210 m.


def test_breakpoint_distances() -> None:
    assert MODELS["UMa"].breakpoint_m == pytest.approx(560.0, rel=EXACT)
    assert MODELS["UMi"].breakpoint_m == pytest.approx(210.0, rel=EXACT)
    assert urban_micro(2.0, device_height_m=10.0).breakpoint_m == pytest.approx(4 * 9 * 9 * 20 / 3, rel=EXACT)


def test_path_loss_to_the_decimal_by_hand() -> None:
    # 100 m: d3D = sqrt(10000 + 552.25) = 102.724 m, its logarithm 2.011672; log10(3.5) = 0.544068.
    assert loss(MODELS["UMa"], 100.0, True) == pytest.approx(28.0 + 44.25679 + 10.88136, abs=1e-4)
    assert loss(MODELS["UMa"], 100.0, False) == pytest.approx(13.54 + 78.61615 + 10.88136, abs=1e-4)
    # UMi at 100 m: d3D = sqrt(10072.25) = 100.3606 m, its logarithm 2.001563.
    assert loss(MODELS["UMi"], 100.0, True) == pytest.approx(32.4 + 42.03282 + 10.88136, abs=1e-4)
    assert loss(MODELS["UMi"], 100.0, False) == pytest.approx(22.4 + 70.65518 + 11.58865, abs=1e-4)


def test_path_loss_beyond_the_breakpoint() -> None:
    far = 28.0 + 40 * log(math.hypot(1000.0, 23.5)) + 20 * log(3.5) - 9 * log(560.0**2 + 23.5**2)
    assert loss(MODELS["UMa"], 1000.0, True) == pytest.approx(far, rel=EXACT)
    far = 32.4 + 40 * log(math.hypot(400.0, 8.5)) + 20 * log(3.5) - 9.5 * log(210.0**2 + 8.5**2)
    assert loss(MODELS["UMi"], 400.0, True) == pytest.approx(far, rel=EXACT)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_two_slopes_meet(model: Urban) -> None:
    """PL2 takes over where PL1 ends: 40 log10 d - 18 log10 d_BP = 22 log10 d there (19 and 21 with UMi)."""
    before, after = (loss(model, model.breakpoint_m * step, True) for step in (1.0, 1.0 + 1e-9))
    assert after == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_loss_rises_with_distance_and_without_sight(model: Urban) -> None:
    distance = np.geomspace(10.0, 5000.0, 400)
    sight = model.loss_db(distance, np.ones(400, dtype=bool))
    blocked = model.loss_db(distance, np.zeros(400, dtype=bool))
    assert np.all(np.diff(sight) > 0.0)
    assert np.all(np.diff(blocked) > 0.0)
    assert np.all(blocked >= sight)


def test_a_higher_device_loses_less_without_sight() -> None:
    low, high = loss(urban_macro(3.5), 200.0, False), loss(urban_macro(3.5, device_height_m=11.5), 200.0, False)
    # 10 m more: 0.6 dB a metre, and 39.08 log10 of the shorter way.
    shorter = 39.08 * log(math.hypot(200.0, 13.5) / math.hypot(200.0, 23.5))
    assert high - low == pytest.approx(-6.0 + shorter, rel=EXACT)


def test_probability_of_line_of_sight() -> None:
    distance = np.array([5.0, 18.0, 36.0, 63.0])
    half, seventh = 0.5, 18.0 / 63.0
    assert MODELS["UMi"].sight_probability(distance)[:3] == pytest.approx([1, 1, half + math.exp(-1) * half], rel=EXACT)
    assert MODELS["UMa"].sight_probability(distance)[3] == pytest.approx(
        seventh + math.exp(-1) * (1 - seventh), rel=EXACT
    )


@pytest.mark.parametrize(("key", "value"), [("device_height_m", 1.0), ("device_height_m", 14.0), ("carrier_ghz", 0.1)])
def test_models_refuse_what_they_are_not_made_for(key: str, value: float) -> None:
    with pytest.raises(ParameterError, match=f"{key} = {value:g} is not from"):
        urban_macro(**{"carrier_ghz": 3.5, key: value})


def test_power_law() -> None:
    gain = PowerLaw(gain_at_1m_db=-30.0, exponent=3.5).gain(np.array([1.0, 100.0]), np.zeros(2), np.zeros(2))
    assert gain == pytest.approx([1e-3, 1e-10], rel=EXACT)


# What is drawn


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("sight", [0.0, 1.0])
def test_shadowing_is_log_normal(model: Urban, sight: float) -> None:
    """Around the median, with TR 38.901's deviations: 4 dB in line of sight, 6 (UMa) and 7.82 dB (UMi) without."""
    distance = np.full(MANY, 150.0)
    gain_db = 10 * np.log10(model.gain(distance, np.full(MANY, sight), uniforms(1)))
    deviation = 4.0 if sight == 0.0 else {"UMa": 6.0, "UMi": 7.82}[model.name]
    law = stats.norm(-loss(model, 150.0, sight == 0.0), deviation)
    assert stats.kstest(gain_db, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_line_of_sight_is_as_frequent_as_its_probability(model: Urban) -> None:
    """At the median shadowing a gain is one of two."""
    distance = np.full(MANY, 60.0)
    gain = model.gain(distance, uniforms(2), np.full(MANY, 0.5))
    seen = int(np.sum(gain > 10 ** (-(loss(model, 60.0, True) + loss(model, 60.0, False)) / 20)))
    assert stats.binomtest(seen, MANY, float(model.sight_probability(distance)[0])).pvalue > FALSE_ALARM


def test_laws() -> None:
    assert stats.kstest(exponential(uniforms(3)), stats.expon.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(normal(uniforms(4)), stats.norm.cdf).pvalue > FALSE_ALARM
    assert np.all(np.isfinite(normal(np.array([0.0, 1.0 - 2.0**-53]))))
    # Uniform in the area: the square of the distance is uniform.
    squared = uniform_in_area(uniforms(5), 35.0, 250.0) ** 2
    assert stats.kstest(squared, stats.uniform(35**2, 250**2 - 35**2).cdf).pvalue > FALSE_ALARM


# Cells


@pytest.mark.parametrize("name", CELLS)
def test_snr_of_a_cell_by_hand(name: str) -> None:
    """Halfway in area, in sight, median shadowing, fading 1: 23 dBm less the loss over -169 dBm/Hz in 10 MHz."""
    cell = CELLS[name]
    near, far, power = {"3gpp-uma": (35, 250, 46), "3gpp-umi": (10, 100, 44)}[name]
    drawn = Draws(*(np.array([u]) for u in (0.5, 1 - math.exp(-1), 0.0, 0.5)))
    uplink, downlink = cell.snrs_db(drawn)
    assert isinstance(cell.loss, Urban)
    lost = loss(cell.loss, math.sqrt((near**2 + far**2) / 2), True)
    assert uplink[0] == pytest.approx(23 - lost + 169 - 70, rel=EXACT)
    assert downlink[0] == pytest.approx(power - lost + 165 - 70, rel=EXACT)


@pytest.mark.parametrize("name", CELLS)
def test_a_preset_in_another_cell(name: str) -> None:
    here, comment = draw("multispin-llama2", devices=5, seed=7, cell=name.upper())
    more, _ = draw("multispin-llama2", devices=9, seed=7, cell=name)
    own, _ = draw("multispin-llama2", devices=5, seed=7)
    # Who a device is does not depend on how many there are, nor on the radio.
    assert more.uplink_snr_db[:5].tolist() == here.uplink_snr_db.tolist()
    assert here.draft_s_per_token.tolist() == own.draft_s_per_token.tolist()
    assert here.acceptance.mean.tolist() == own.acceptance.mean.tolist()
    assert here.uplink_sharing == "power-limited"
    assert f"--cell {name}" in comment
    assert "TR 38.901" in comment
    assert "|CN(0, m)|^2" not in comment
    # 18 dB of noise figures, band and powers: the same gain both ways.
    difference = {"3gpp-uma": 46 - 23 - 4, "3gpp-umi": 44 - 23 - 4}[name]
    np.testing.assert_allclose(here.downlink_snr_db - here.uplink_snr_db, difference, atol=2e-9)
    assert isinstance(here, Scenario)


def test_a_cell_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match=r"3gpp-uma, 3gpp-umi; did you mean 3gpp-um[ai]\?"):
        draw("uldl-qwen25", cell="3gpp-um")
    with pytest.raises(ParameterError, match="power_ratio"):
        draw("uldl-qwen25", cell="3gpp-uma", power_ratio=4.0)
