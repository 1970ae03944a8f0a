"""Presets: the papers' numbers, the laws of what is drawn, the options, and what the comment says.

Statistical checks draw one seed. Were the law right, each would fail for about one seed in 10^6; there are
some 40 of them, so that at most about one seed in 25 000 gives a false alarm.
"""

import math
import re
import shlex
import string
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from msopt.drawn import presets
from msopt.drawn.channel import MULTISPIN_CELL, ULDL_CELL, Draws, PathLossCell
from msopt.drawn.draw_preset import draw
from msopt.drawn.presets import PRESETS, Preset
from msopt.errors import ParameterError
from msopt.model.scenario import Scenario

NAMES = tuple(PRESETS)
MULTISPIN = NAMES[:2]
ULDL = NAMES[2:]
FALSE_ALARM = 1e-6
Z = float(stats.norm.isf(FALSE_ALARM / 2))
MANY = 20_000
OURS = "Ours, because the paper does not state it or neglects it:"

# By hand from the papers: T_ver at K = 20 [s], server's draft time [s], bits, longest draft, draft times [s].
PAPER = {
    "multispin-llama2": (0.27708, 0.0196, 31744, 25, 0.02125, 0.02875),
    "multispin-qwen35": (0.47067, 0.0152, 34816, 25, 0.02975, 0.04025),
    "uldl-qwen25": (0.1948, 0.0152, 34816, 20, 0.0152, 0.01748),
    "uldl-deepseek-r1": (0.2513, 0.0196, 34816, 20, 0.0196, 0.02254),
}
TABLE = {
    "multispin-llama2": {"MBPP+": 0.8582, "GSM8K": 0.7390, "MT-Bench": 0.7393, "SQuAD": 0.7126},
    "multispin-qwen35": {"MBPP+": 0.8100, "GSM8K": 0.9340, "MT-Bench": 0.9318, "SQuAD": 0.9650},
    "uldl-qwen25": {"HumanEval": 0.9453, "GSM8K": 0.8580, "MT-Bench": 0.8509, "IFEval": 0.8816},
    "uldl-deepseek-r1": {"HumanEval": 0.8691, "GSM8K": 0.8618, "MT-Bench": 0.8221, "IFEval": 0.8323},
}


@pytest.fixture(scope="module", params=NAMES)
def many(request: pytest.FixtureRequest) -> tuple[str, Scenario]:
    return request.param, draw(request.param, devices=MANY, seed=2026)[0]


# The papers' numbers


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_the_papers(name: str) -> None:
    verify_s, server_draft_s, distribution_bits, longest, fastest, slowest = PAPER[name]
    scenario, _ = draw(name)
    assert scenario.device_count == 20
    assert scenario.verify_idle_s == pytest.approx(verify_s, rel=1e-12)
    assert scenario.verify_per_token_s == 0
    assert (scenario.token_bits, scenario.distribution_bits) == (0, distribution_bits)
    assert (scenario.min_draft_length, scenario.max_draft_length) == (None, longest)
    assert scenario.uplink_bandwidth_hz == scenario.downlink_bandwidth_hz == 10e6
    assert scenario.uplink_sharing == ("fixed-snr" if name in MULTISPIN else "power-limited")
    assert scenario.downlink_power_w == (2.08e-7 if name in MULTISPIN else 1.0)
    assert scenario.server_draft_s_per_token == server_draft_s
    assert np.all((scenario.draft_s_per_token >= fastest) & (scenario.draft_s_per_token <= slowest))
    assert set(scenario.acceptance.mean.tolist()) <= set(TABLE[name].values())
    assert not scenario.acceptance.std.any()


@pytest.mark.parametrize(("name", "dataset", "mean"), [(n, d, m) for n in NAMES for d, m in TABLE[n].items()])
def test_one_dataset_for_all(name: str, dataset: str, mean: float) -> None:
    for spelling in (dataset, dataset.lower(), dataset.upper()):
        scenario, comment = draw(name, dataset=spelling)
        assert scenario.acceptance.mean.tolist() == [mean] * 20
        assert f"--dataset {dataset}" in comment


def test_snr_at_a_known_place_and_fading() -> None:
    # Fading 1 (u = 1 - 1/e). [MS]: average gain 0.35, noise 1e-10 W, 1.3e-8 W, at the server 16 times that.
    def at(place: float) -> Draws:
        return Draws.of(np.array([place]), np.array([1 - math.exp(-1)]), seed=0)

    uplink, downlink = MULTISPIN_CELL.snrs_db(at(0.5))
    assert uplink[0] == pytest.approx(10 * math.log10(45.5), rel=1e-12)
    assert downlink[0] == pytest.approx(10 * math.log10(45.5 * 16), rel=1e-12)
    # [UD]: 100 m, so -30 - 70 dB; noise in 10 MHz -99 dBm at the server, -97 dBm at the device.
    uplink, downlink = ULDL_CELL.snrs_db(at(0.0))
    assert (uplink[0], downlink[0]) == (pytest.approx(9.0, rel=1e-12), pytest.approx(27.0, rel=1e-12))
    # 300 m: 35 log10(3) dB less.
    uplink, _ = ULDL_CELL.snrs_db(at(0.5))
    assert uplink[0] == pytest.approx(9.0 - 35 * math.log10(3), rel=1e-12)


# The laws


def test_law_of_the_gain(many: tuple[str, Scenario]) -> None:
    name, scenario = many
    snr = 10 ** (scenario.uplink_snr_db / 10)
    if name in MULTISPIN:
        gain = snr * 1e-10 / 1.3e-8
        # Average gain m: 0.35 on the mean; second moment 2 E[m²] = 0.26.
        assert abs(gain.mean() - 0.35) < Z * math.sqrt((0.26 - 0.35**2) / MANY)

        def law(gain: np.ndarray) -> np.ndarray:
            """1 - E[exp(-g/m)] over m, with (m E2(g/m))' = exp(-g/m)."""
            inside = [m * special.expn(2, gain / m) for m in (0.5, 0.2)]
            return 1 - (inside[0] - inside[1]) / 0.3

    else:
        # Noise in 10 MHz is 10^-12.9 W at the server, the device sends 10 mW.
        gain = snr * 10**-12.9 / 1e-2
        # ln X of an exponential X has mean -0.5772 and variance pi²/6; ln g = ln 1e-3 + ln X - 3.5 ln d.
        mean = integrate.quad(lambda d: math.log(d) / 400, 100, 500)[0]
        square = integrate.quad(lambda d: math.log(d) ** 2 / 400, 100, 500)[0]
        error = np.log(gain).mean() - (math.log(1e-3) - np.euler_gamma - 3.5 * mean)
        assert abs(error) < Z * math.sqrt((math.pi**2 / 6 + 3.5**2 * (square - mean**2)) / MANY)

        def law(gain: np.ndarray) -> np.ndarray:
            """1 - E[exp(-g d^3.5/1e-3)] over d, an incomplete gamma function in c d^3.5."""
            c, power = gain / 1e-3, 1 / 3.5
            span = [special.gammainc(power, c * d**3.5) for d in (500.0, 100.0)]
            return 1 - (span[0] - span[1]) * special.gamma(power) * power * c**-power / 400

    assert stats.kstest(gain, law).pvalue > FALSE_ALARM


def test_both_directions_share_the_gain(many: tuple[str, Scenario]) -> None:
    name, scenario = many
    # [MS]: 16 times the power. [UD]: 20 dB more power, 2 dB more noise.
    difference = 10 * math.log10(16) if name in MULTISPIN else 18.0
    np.testing.assert_allclose(scenario.downlink_snr_db - scenario.uplink_snr_db, difference, atol=2e-9)


def test_law_of_the_draft_times(many: tuple[str, Scenario]) -> None:
    name, scenario = many
    *_, fastest, slowest = PAPER[name]
    law = stats.uniform(fastest, slowest - fastest)
    assert stats.kstest(scenario.draft_s_per_token, law.cdf).pvalue > FALSE_ALARM


def test_law_of_the_datasets(many: tuple[str, Scenario]) -> None:
    name, scenario = many
    counts = [int(np.sum(scenario.acceptance.mean == mean)) for mean in TABLE[name].values()]
    assert sum(counts) == MANY
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_what_is_drawn_is_independent(many: tuple[str, Scenario]) -> None:
    _, scenario = many
    drawn = np.array([scenario.uplink_snr_db, scenario.draft_s_per_token, scenario.acceptance.mean])
    correlations = np.corrcoef(drawn)[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlations) < Z / math.sqrt(MANY))
    for values in drawn:
        assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < Z / math.sqrt(MANY - 1)


def test_spectral_efficiency_that_the_comment_states() -> None:
    """Of [MS]'s power: the mean of log2(1 + SNR) over the average gains, without and with fading."""

    def faded(snr: float) -> float:
        return math.exp(1 / snr) * float(special.exp1(1 / snr)) / math.log(2)

    plain = integrate.quad(lambda m: math.log2(1 + 130 * m) / 0.3, 0.2, 0.5)[0]
    fading = integrate.quad(lambda m: faded(130 * m) / 0.3, 0.2, 0.5)[0]
    assert f"is {plain:.1f} bit/s/Hz at the average gains, {fading:.1f} with fading" in flat(draw(MULTISPIN[0])[1])


# Seeds and options


def numbers(scenario: Scenario, *, without: tuple[str, ...] = ()) -> dict[str, object]:
    """All fields but the names, acceptance as its means."""
    left_out = {"name", "device_names", *without}
    of_fields = {f.name: getattr(scenario, f.name) for f in fields(scenario)} | {"acceptance": scenario.acceptance.mean}
    kept = {key: value for key, value in of_fields.items() if key not in left_out}
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in kept.items()}


@pytest.mark.parametrize("name", NAMES)
@given(few=st.integers(1, 40), more=st.integers(1, 200), seed=st.integers(0, 2**63 - 1))
def test_device_k_does_not_depend_on_how_many_there_are(name: str, few: int, more: int, seed: int) -> None:
    small = numbers(draw(name, devices=few, seed=seed)[0])
    large = numbers(draw(name, devices=few + more, seed=seed)[0])
    for key, value in small.items():
        wanted = large[key]
        assert value == (wanted[:few] if isinstance(wanted, list) else wanted), key


@pytest.mark.parametrize("name", NAMES)
def test_seeds_differ_and_repeat(name: str) -> None:
    assert draw(name, seed=3) == draw(name, seed=3)
    one, other = draw(name, seed=3)[0], draw(name, seed=4)[0]
    assert not np.any(one.uplink_snr_db == other.uplink_snr_db)
    assert not np.any(one.draft_s_per_token == other.draft_s_per_token)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("option", "value", "changed"),
    [
        ("bandwidth_hz", 2.5e6, ("uplink_bandwidth_hz", "downlink_bandwidth_hz", "uplink_snr_db", "downlink_snr_db")),
        ("uplink_power_dbm", 0.0, ("uplink_snr_db",)),
        ("downlink_power_dbm", 12.0, ("downlink_snr_db", "downlink_power_w")),
        ("dataset", "gsm8k", ("acceptance",)),
    ],
)
def test_an_option_changes_nothing_else(name: str, option: str, value: Any, changed: tuple[str, ...]) -> None:
    usual, other = draw(name)[0], draw(name, **{option: value})[0]
    assert numbers(usual, without=changed) == numbers(other, without=changed)


@pytest.mark.parametrize("name", NAMES)
def test_snr_in_another_band(name: str) -> None:
    usual, narrow = draw(name)[0], draw(name, bandwidth_hz=2.5e6)[0]
    assert narrow.uplink_bandwidth_hz == narrow.downlink_bandwidth_hz == 2.5e6
    # [MS]: the noise is a power. [UD]: a quarter of the band holds a quarter of the noise.
    rise = 0.0 if name in MULTISPIN else 10 * math.log10(4)
    for field in ("uplink_snr_db", "downlink_snr_db"):
        np.testing.assert_allclose(getattr(narrow, field) - getattr(usual, field), rise, atol=2e-9)


@pytest.mark.parametrize("name", NAMES)
def test_powers_are_as_loud_as_asked(name: str) -> None:
    usual = draw(name, uplink_power_dbm=7.0, downlink_power_dbm=20.0)[0]
    loud = draw(name, uplink_power_dbm=10.5, downlink_power_dbm=30.0)[0]
    assert (usual.downlink_power_w, loud.downlink_power_w) == pytest.approx((0.1, 1.0), rel=1e-11)
    np.testing.assert_allclose(loud.uplink_snr_db - usual.uplink_snr_db, 3.5, atol=2e-9)
    np.testing.assert_allclose(loud.downlink_snr_db - usual.downlink_snr_db, 10.0, atol=2e-9)


@pytest.mark.parametrize("name", ULDL)
@pytest.mark.parametrize("devices", [1, 12, 20])
@pytest.mark.parametrize("ratio", [0.25, 4, 16.0])
def test_power_ratio_keeps_the_budget(name: str, devices: int, ratio: float) -> None:
    scenario, comment = draw(name, devices=devices, power_ratio=ratio)
    budget_w = 1.0 + devices * 10**-1.5
    downlink_w = scenario.downlink_power_w
    assert downlink_w * (1 + devices / ratio) == pytest.approx(budget_w, rel=1e-11)
    usual = draw(name, devices=devices)[0]
    uplink_w = 0.01 * 10 ** ((scenario.uplink_snr_db - usual.uplink_snr_db) / 10)
    np.testing.assert_allclose(downlink_w + devices * uplink_w, budget_w, rtol=1e-9)
    gain_w = 10 ** ((scenario.downlink_snr_db - usual.downlink_snr_db) / 10)
    np.testing.assert_allclose(gain_w, downlink_w, rtol=1e-9)
    changed = ("uplink_snr_db", "downlink_snr_db", "downlink_power_w")
    assert numbers(usual, without=changed) == numbers(scenario, without=changed)
    assert "add up to 30 dBm + K times 15 dBm as in the paper" in flat(comment)
    assert "power of a device: " not in comment


@pytest.mark.parametrize(("devices", "first"), [(1, "device-01"), (99, "device-01"), (100, "device-001")])
def test_names(devices: int, first: str) -> None:
    scenario, _ = draw("uldl-qwen25", devices=devices, seed=5)
    assert scenario.name == f"uldl-qwen25 K={devices} seed=5"
    assert scenario.device_names[0] == first
    assert len({len(name) for name in scenario.device_names}) == 1
    assert list(scenario.device_names) == sorted(scenario.device_names)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bandwidth_hz", [1e-9, 1e18])
@pytest.mark.parametrize("power_dbm", [-200.0, 200.0])
def test_extreme_options_stay_finite(name: str, bandwidth_hz: float, power_dbm: float) -> None:
    options = {"bandwidth_hz": bandwidth_hz, "downlink_power_dbm": power_dbm}
    assert np.all(np.isfinite(draw(name, uplink_power_dbm=-power_dbm, **options)[0].uplink_snr_db))


# The comment and the file


def flat(comment: str) -> str:
    """The comment with its lines unwrapped."""
    return " ".join(comment.split())


OURS_OF = {
    "multispin": (
        "power of a device: -48.86 dBm (1.3e-08 W)",
        "power of the server: -36.82 dBm (2.08e-07 W), 16 times",
        "downlink: the same band, gain and noise power",
        "law of the draft times: uniform",
        "law of the datasets: each device draws one of the four with equal probability",
        "token_bits: 0; the paper neglects",
    ),
    "multispin-llama2": ("mean draft time: 0.025 s", "server.draft_s_per_token: 0.0196 s"),
    "multispin-qwen35": ("mean draft time: 0.035 s", "server.draft_s_per_token: 0.0152 s"),
    "uldl": (
        "power of the server: 30 dBm",
        "law of the distances: uniform",
        "fading: the same in both directions",
        "longest draft: 20",
        "law of the datasets: each device draws one of the four with equal probability",
        "token_bits: 0; the paper neglects",
    ),
    "uldl-qwen25": ("server.draft_s_per_token: 0.0152 s",),
    "uldl-deepseek-r1": ("server.draft_s_per_token: 0.0196 s",),
}


@pytest.mark.parametrize("name", NAMES)
def test_comment_names_what_is_ours(name: str) -> None:
    _, comment = draw(name)
    ours = comment[comment.index(OURS) : comment.index("The dataset of each device:")]
    wanted = (*OURS_OF[name.partition("-")[0]], *OURS_OF[name])
    assert all(f"- {text}" in flat(ours) for text in wanted)
    assert ours.count("\n- ") == len(wanted)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=NAMES)
def test_every_number_of_a_preset_is_somebodys(preset: Preset) -> None:
    """Stated or ours, and shown: but for the budget, shown with a ratio, and what the devices' list shows."""
    statements = (*preset.cell.stated, *preset.cell.ours, *preset.stated, *preset.ours)
    shown = {field for text in statements for _, field, _, _ in string.Formatter().parse(text) if field}
    shown = {field.partition("[")[0] for field in shown}
    elsewhere = {"name", "paper", "pair", "cell", "stated", "ours", "acceptance"}
    wanted = {f"p.{f.name}" for f in fields(preset) if f.name not in elsewhere}
    elsewhere = {"stated", "ours", "power_budget_dbm", "uplink_sharing", "over_area", "fading", "loss"}
    wanted |= {f"c.{f.name}" for f in fields(preset.cell) if f.name not in elsewhere}
    if isinstance(preset.cell, PathLossCell):
        wanted |= {f"c.loss.{name}" for name in vars(preset.cell.loss)}
    in_words = {"c.gain_words", "c.fade_words", "c.area_words"}
    assert wanted == shown - {"p.distribution_bits"} - in_words


@pytest.mark.parametrize("name", NAMES)
def test_comment_lists_each_device_under_its_dataset(name: str) -> None:
    scenario, comment = draw(name, devices=50, seed=1)
    listed = {}
    for line in flat(comment.partition("The dataset of each device:")[2]).split("- ")[1:]:
        head, _, devices = line.partition(": ")
        dataset, _, mean = head.partition(", acceptance ")
        assert TABLE[name][dataset] == float(mean)
        listed |= {device.strip(): float(mean) for device in devices.split(",")}
    assert listed == dict(zip(scenario.device_names, scenario.acceptance.mean.tolist(), strict=True))


COMMANDS = [
    *[(name, {}) for name in NAMES],
    *[(name, {"bandwidth_hz": 5e6, "dataset": "mt-bench"}) for name in NAMES],
    *[(name, {"uplink_power_dbm": -3.125, "downlink_power_dbm": 1 / 3, "devices": 7}) for name in NAMES],
    *[(name, {"power_ratio": 16, "devices": 12, "seed": 8, "bandwidth_hz": 20_000_000}) for name in ULDL],
]


@pytest.mark.parametrize(("name", "options"), COMMANDS)
def test_command_in_the_comment_draws_it_again(name: str, options: dict[str, object]) -> None:
    scenario, comment = draw(name, **options)
    words = shlex.split(next(line for line in comment.splitlines() if line.startswith("  msopt scenario ")))
    assert words[:3] == ["msopt", "scenario", name]
    read = {key[2:].replace("-", "_"): value for key, value in zip(words[3::2], words[4::2], strict=True)}
    assert read.keys() == options.keys() | {"devices", "seed"}
    kinds = {"devices": int, "seed": int, "dataset": str}
    assert draw(name, **{key: kinds.get(key, float)(value) for key, value in read.items()})[0] == scenario
    for option in options.keys() - {"devices", "seed"}:
        assert f"- {option} = " in comment


@pytest.mark.parametrize("name", NAMES)
def test_comment_drops_what_an_option_replaces(name: str) -> None:
    usual = flat(draw(name)[1])
    replaced = {
        "bandwidth_hz": "and: 1e+07 Hz",
        "uplink_power_dbm": "power of a device: ",
        "downlink_power_dbm": "power of the server: ",
        "dataset": "law of the datasets",
    }
    for option, text in replaced.items():
        value = "GSM8K" if option == "dataset" else 1.0
        comment = flat(draw(name, **{option: value})[1])
        assert text in usual
        assert text not in comment
        assert all(other in comment for other in replaced.values() if other != text)


@pytest.mark.parametrize("name", NAMES)
def test_written_and_read_again(name: str, tmp_path) -> None:
    scenario, comment = draw(name, devices=30, seed=9)
    file = tmp_path / "drawn.toml"
    scenario.write(file, comment)
    assert Scenario.read(file) == scenario
    head = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert [line.removeprefix("#").removeprefix(" ") for line in head] == comment.splitlines()
    assert all(len(line) <= 110 for line in head)


# Errors


RATIO_DOMAIN = "is not a number from 1e-9 to 1e9"
POWER_DOMAIN = "is not a number of dBm from -200 to 200"
BAND_DOMAIN = "is not a finite number above 0"
ERRORS = [
    ("multispin-lama2", {}, 'preset = "multispin-lama2" is not one of', "; did you mean multispin-llama2?"),
    ("zzz", {}, 'preset = "zzz" is not one of', ", ".join(NAMES)),
    (
        "uldl-qwen25",
        {"dataset": "MBPP+"},
        'dataset = "MBPP+" is not one of',
        "HumanEval, GSM8K, MT-Bench, IFEval",
    ),
    ("multispin-qwen35", {"dataset": "mbpp"}, 'dataset = "mbpp" is not one of', "did you mean MBPP+?"),
    *[
        ("uldl-qwen25", {"devices": bad}, f"devices = {bad} is not", "a whole number of at least 1")
        for bad in (0, -3, 2.5, 20.0, True, math.nan)
    ],
    *[
        ("uldl-qwen25", {"seed": bad}, f"seed = {bad} is not", "a whole number of at least 0")
        for bad in (-1, 0.5, False)
    ],
    *[
        (name, {"bandwidth_hz": bad}, f"bandwidth_hz = {bad} {BAND_DOMAIN}", "")
        for name in NAMES
        for bad in (0, -5e6, math.nan, math.inf, True)
    ],
    *[
        (name, {key: bad}, f"{key} = {bad} {POWER_DOMAIN}", "")
        for name in NAMES
        for key in ("uplink_power_dbm", "downlink_power_dbm")
        for bad in (math.nan, math.inf, -math.inf, 1e6, -300.0, False)
    ],
    ("uldl-qwen25", {"bandwidth_hz": "10 MHz"}, 'bandwidth_hz = "10 MHz" is not a finite number above 0', ""),
    ("uldl-qwen25", {"bandwidth_hz": 10**400}, "bandwidth_hz = 1000", BAND_DOMAIN),
    *[
        ("uldl-deepseek-r1", {"power_ratio": bad}, f"power_ratio = {bad} {RATIO_DOMAIN}", "")
        for bad in (0.0, -4.0, math.nan, math.inf, True)
    ],
    *[(name, {"power_ratio": 4}, "power_ratio = 4 is not for this preset", "uldl-") for name in MULTISPIN],
    *[
        (name, {"power_ratio": 4, key: 3.0}, "power_ratio = 4 sets both powers", f"{key} = 3 is not allowed")
        for name in ULDL
        for key in ("uplink_power_dbm", "downlink_power_dbm")
    ],
]


@pytest.mark.parametrize(("name", "options", "start", "part"), ERRORS)
def test_errors(name: str, options: dict[str, object], start: str, part: str) -> None:
    with pytest.raises(ParameterError) as caught:
        draw(name, **options)
    text = str(caught.value)
    assert text.startswith(start)
    assert part in text
    assert "\n" not in text


def test_presets_are_frozen() -> None:
    with pytest.raises(AttributeError):
        PRESETS["uldl-qwen25"].cell.bandwidth_hz = 1.0
    changed = replace(PRESETS["uldl-qwen25"], token_bits=34)
    assert (changed.token_bits, presets.PRESETS["uldl-qwen25"].token_bits) == (34, 0)


def test_unstated_laws_are_options() -> None:
    """Without fading gains are averages; datasets, places and times follow their options on the same random numbers."""
    uniform = np.random.default_rng(3).random((40, 4)).T

    def drawn(preset: str = "multispin-llama2", **options: Any) -> Scenario:
        return draw(preset, devices=40, seed=3, **options)[0]

    plain, faded = drawn(fading=False), drawn()
    assert plain.uplink_snr == pytest.approx(1.3e-8 * (0.2 + 0.3 * uniform[0]) / 1e-10)
    assert faded.uplink_snr == pytest.approx(plain.uplink_snr * -np.log1p(-uniform[1]))
    assert drawn(draft_mean_s=0.05).draft_s_per_token == pytest.approx(2.0 * faded.draft_s_per_token)
    assert list(drawn(first_dataset_share=0.7).acceptance.mean == 0.8582) == list(uniform[3] < 0.7)
    assert list(drawn(first_dataset_share=0.25).acceptance.mean) == list(faded.acceptance.mean)
    area, near = (drawn("uldl-qwen25", over_area=over, fading=False) for over in (True, None))
    distance = [np.sqrt(1e4 + 24e4 * uniform[0]), 100.0 + 400.0 * uniform[0]]
    assert area.uplink_snr / near.uplink_snr == pytest.approx((distance[1] / distance[0]) ** 3.5)


def test_an_option_of_a_law_is_told() -> None:
    _, comment = draw(
        "uldl-qwen25", devices=2, fading=False, over_area=True, draft_mean_s=0.02, first_dataset_share=0.5
    )
    assert "--no-fading --over-area --draft-mean-s 0.02 --first-dataset-share 0.5" in flat(comment)
    assert "without fading" in flat(comment)
    assert "law of the datasets" not in flat(comment)


@pytest.mark.parametrize(
    ("preset", "given", "told"),
    [
        ("multispin-llama2", {"over_area": True}, "over_area is for cells with distances"),
        ("uldl-qwen25", {"over_area": 1}, "over_area = 1 is not true or false"),
        ("uldl-qwen25", {"draft_mean_s": 0.0}, "draft_mean_s = 0.0 is not a finite number above 0"),
        ("uldl-qwen25", {"first_dataset_share": 1.5}, "first_dataset_share = 1.5 is not a number from 0 to 1"),
        ("uldl-qwen25", {"first_dataset_share": 0.5, "dataset": "GSM8K"}, "two sources of one acceptance"),
    ],
)
def test_options_of_laws_outside_their_domain(preset: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(told)):
        draw(preset, **given)
