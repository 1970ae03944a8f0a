"""The scenario through the Python interface: what it derives, what it accepts, what it refuses."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.model.goodput import play
from msopt.model.scenario import Scenario
from msopt.model.sharing import FixedSnr, PowerLimited
from tests.cases import s1, s2, scenario_of
from tests.strategies import scenarios
from tests.tolerances import EXACT, FEW_ROUNDINGS

FIELDS: dict[str, Any] = {
    "verify_base_s": 0.2,
    "verify_per_device_s": 0.01,
    "verify_per_token_s": 1e-4,
    "downlink_power_w": 10.0,
    "uplink_bandwidth_hz": 20e6,
    "downlink_bandwidth_hz": 10e6,
    "token_bits": 17,
    "distribution_bits": 33792,
    "acceptance": [0.8, 0.6, 0.9],
    "draft_s_per_token": [0.02, 0.04, 0.03],
    "uplink_snr_db": [10.0, -5.0, 0.0],
    "downlink_snr_db": [25.0, 10.0, 3.0],
}


def cell(**changes: Any) -> Scenario:
    return Scenario(**(FIELDS | changes))


# Derived


def test_derived_numbers() -> None:
    scenario = cell()
    assert scenario.device_count == 3
    assert scenario.device_names == ("device-1", "device-2", "device-3")
    assert scenario.uplink_snr == pytest.approx([10.0, 10.0**-0.5, 1.0], rel=FEW_ROUNDINGS)
    assert scenario.downlink_snr == pytest.approx([10.0**2.5, 10.0, 10.0**0.3], rel=FEW_ROUNDINGS)
    assert scenario.equal_share_hz == pytest.approx(20e6 / 3.0, rel=FEW_ROUNDINGS)
    assert scenario.verify_idle_s == pytest.approx(0.2 + 3 * 0.01 + 3 * 1e-4, rel=FEW_ROUNDINGS)
    lengths = np.array([[0, 0, 0], [1, 2, 3]])
    assert scenario.verify_s(lengths) == pytest.approx([0.2303, 0.2303 + 6e-4], rel=FEW_ROUNDINGS)


def test_payload_of_a_drafted_token() -> None:
    """[MS] sends each token with its distribution, [UD] without."""
    scenario = cell()
    bits = [scenario.token_payload_bits(problem) for problem in ("homogeneous", "heterogeneous", "modes")]
    assert bits == [33809.0, 33809.0, 17.0]


def test_length_limits() -> None:
    assert [cell().length_limits(p) for p in ("homogeneous", "heterogeneous", "modes")] == [(1, 16), (1, 16), (0, 16)]
    given_both = cell(min_draft_length=2, max_draft_length=5)
    assert [given_both.length_limits(p) for p in ("homogeneous", "modes")] == [(2, 5), (2, 5)]
    assert cell(min_draft_length=0).length_limits("heterogeneous") == (0, 16)
    assert cell(max_draft_length=10_000).length_limits("modes") == (0, 10_000)


def test_sharing() -> None:
    assert isinstance(cell().uplink, FixedSnr)
    limited = cell(uplink_sharing="power-limited").uplink
    assert isinstance(limited, PowerLimited)
    whole = np.full(3, 20e6)
    assert limited.rate(whole) == pytest.approx(cell().uplink.rate(whole), rel=EXACT)


# Immutability


def test_nothing_can_be_changed() -> None:
    given_times = np.array([0.02, 0.04, 0.03])
    scenario = cell(draft_s_per_token=given_times)
    given_times[0] = 9.0
    assert scenario.draft_s_per_token[0] == 0.02
    with pytest.raises(FrozenInstanceError):
        scenario.verify_base_s = 1.0  # type: ignore[misc]


def test_replace_checks_anew() -> None:
    scenario = cell()
    assert scenario.replace(verify_base_s=0.5).verify_base_s == 0.5
    assert scenario.verify_base_s == 0.2
    with pytest.raises(ParameterError, match=r"server\.verify_base_s = -1\.0 is not a finite number of at least 0"):
        scenario.replace(verify_base_s=-1.0)


def test_replaced_channels_are_not_stale() -> None:
    scenario = cell()
    before = scenario.uplink.rate(np.full(3, 1e6))
    louder = scenario.replace(uplink_snr_db=scenario.uplink_snr_db + 10.0)
    assert np.all(louder.uplink.rate(np.full(3, 1e6)) > before)


@given(scenarios())
def test_equality(scenario: Scenario) -> None:
    assert scenario == scenario.replace()
    assert scenario != scenario.replace(verify_base_s=2.0 * scenario.verify_base_s)
    assert scenario != scenario.replace(acceptance=np.full(scenario.device_count, 0.123456))
    assert scenario != scenario.replace(name="another")
    assert scenario != "a text"


# Rows, columns, series


@pytest.mark.parametrize(
    "shaped",
    [
        lambda values: np.array(values)[:, None],
        lambda values: np.array(values)[None, :],
        tuple,
        lambda values: pd.Series(values, index=[7, 7, "x"]),
        lambda values: np.array(values)[::-1][::-1],
    ],
    ids=["column", "row", "tuple", "series", "strided"],
)
def test_k_numbers_in_any_shape(shaped: Any) -> None:
    arrays = ("acceptance", "draft_s_per_token", "uplink_snr_db", "downlink_snr_db")
    shapes = {field: shaped(FIELDS[field]) for field in arrays}
    assert cell(**shapes) == cell()
    lengths, share = [3, 2, 4], [6e6, 6e6, 8e6]
    expected = play(cell(), "heterogeneous", lengths, share).goodput
    found = play(cell(**shapes), "heterogeneous", lengths, share).goodput
    assert found.shape == ()
    assert found == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((2, 2)), r"draft_s_per_token has shape \(2, 2\); one number for each device is needed"),
        ([], r"draft_s_per_token has shape \(0,\)"),
        ([0.1, 0.2], "draft_s_per_token has 2 values; 3 are needed, one for each device"),
        (["a", "b", "c"], r"draft_s_per_token = .* is not a list of numbers"),
        ([[0.1], [0.2, 0.3]], "draft_s_per_token = .* is not a list of numbers"),
        (None, r"draft_s_per_token"),
    ],
)
def test_what_is_not_k_numbers(values: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        cell(draft_s_per_token=values)


def test_one_device_as_a_number() -> None:
    single = {"acceptance": 0.8, "draft_s_per_token": 0.02, "uplink_snr_db": 10.0, "downlink_snr_db": 25.0}
    assert cell(**single).device_count == 1


# Refused values


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("field", ["uplink_snr_db", "downlink_snr_db", "draft_s_per_token", "acceptance"])
def test_no_number_of_a_device_is_infinite(field: str, value: float) -> None:
    with pytest.raises(ParameterError) as caught:
        cell(**{field: [FIELDS[field][0], value, FIELDS[field][2]]})
    text = str(caught.value)
    assert text.startswith('devices[1] ("device-2"): ' + field)
    assert f"{value:g}" in text
    assert caught.value.exit_code == 2


NO_NUMBERS = (-1e-18, -5.0, np.nan, np.inf, "3", True)
ABOVE_ZERO = ("downlink_power_w", "uplink_bandwidth_hz", "downlink_bandwidth_hz", "distribution_bits")
AT_LEAST_ZERO = ("verify_base_s", "verify_per_device_s", "verify_per_token_s", "token_bits")
OUTSIDE = [
    *[(field, value, "above 0") for field in ABOVE_ZERO for value in (*NO_NUMBERS, None, 0)],
    *[(field, value, "of at least 0") for field in AT_LEAST_ZERO for value in (*NO_NUMBERS, None)],
    *[("server_draft_s_per_token", value, "of at least 0") for value in NO_NUMBERS],
]


@pytest.mark.parametrize(("field", "value", "allowed"), OUTSIDE)
def test_numbers_out_of_their_domain(field: str, value: Any, allowed: str) -> None:
    with pytest.raises(ParameterError, match=rf"\.{field.removeprefix('server_')} = .* a finite number {allowed}"):
        cell(**{field: value})


def test_zero_where_it_is_allowed() -> None:
    free = {"verify_base_s": 0, "verify_per_token_s": 0, "token_bits": 0, "draft_s_per_token": [0, 0, 0]}
    assert cell(**free).verify_idle_s == pytest.approx(0.03, rel=FEW_ROUNDINGS)
    assert cell(server_draft_s_per_token=0).server_draft_s_per_token == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_draft_length": 2.0}, r"limits\.max_draft_length = 2\.0 is not a whole number"),
        ({"max_draft_length": True}, r"limits\.max_draft_length = True is not a whole number"),
        ({"max_draft_length": None}, r"limits\.max_draft_length = None is not a whole number"),
        ({"device_names": ("a", "b")}, "2 device names and 3 acceptances"),
        ({"device_names": ("a", " \t", "c")}, r"devices\[1\]: name = .* is not a text of at least one character"),
        ({"device_names": ("a", 3, "c")}, r"devices\[1\]: name = 3 is not a text"),
        (
            {"acceptance": [0.8, 1.0000001, 0.9]},
            r'devices\[1\] \("device-2"\): acceptance = 1\.0000001 is outside \[0, 1\]$',
        ),
        ({"acceptance": [0.8, 82, 0.9]}, r"acceptance = 82\.0 is outside \[0, 1\]; did you mean 0\.82\?"),
        ({"acceptance": [-1e-9, 0.8, 0.9]}, r"devices\[0\] .*acceptance = -1e-09 is outside \[0, 1\]"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        cell(**changes)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Acceptance.of([0.8, 0.5, 0.9], [0.0, 0.5, 0.0]), r"acceptance_std = 0\.5 belongs to no Beta law of mean 0\.5"),
        (Acceptance.of([0.8, 0.0, 0.9], [0.0, 0.1, 0.0]), "belongs to no Beta law of mean 0"),
        (
            Acceptance.of([0.8, 0.5, 0.9], [0.0, -0.1, 0.0]),
            r"acceptance_std = -0\.1 is not a finite number of at least 0",
        ),
        (Acceptance.of([0.8, 0.5, 0.9], [0.0, np.nan, 0.0]), "acceptance_std = nan"),
        (Acceptance.of([0, 0, 0], curves=[[0.9], [0.5, np.nan], None]), "acceptance_curve holds nan"),
    ],
)
def test_refused_laws(law: Acceptance, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        cell(acceptance=law)
    assert str(caught.value).startswith('devices[1] ("device-2"): ')


# Warnings


@pytest.mark.parametrize(
    ("value", "side"), [(87.0, "above 60"), (43.99, None), (60.0, None), (-60.0, None), (-174.0, "below -60")]
)
def test_snr_that_looks_like_a_slip(value: float, side: str | None) -> None:
    """Of three ways to get 13.99 dB wrong, one gives 87 dB."""
    for field in ("uplink_snr_db", "downlink_snr_db"):
        texts = cell(**{field: [10.0, value, 0.0]}).warnings
        if side is None:
            assert texts == ()
        else:
            assert len(texts) == 1
            assert f'devices[1] ("device-2"): {field} = {value:g} is {side} dB; is it in dB?' in texts[0]


def test_many_slips_are_told_once() -> None:
    (text,) = cell(uplink_snr_db=[70.0, 80.0, 90.0]).warnings
    assert "(and 2 more devices)" in text
    assert cell().warnings == scenario_of(s1()).warnings == scenario_of(s2()).warnings == ()


# A channel beyond what a float holds


@pytest.mark.parametrize("value", [-300.0, -174.0, -4000.0, 4000.0])
@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("field", ["uplink_snr_db", "downlink_snr_db"])
def test_any_snr_is_refused_by_name_or_gives_finite_rates(field: str, sharing: str, value: float) -> None:
    try:
        scenario = cell(**{field: [10.0, value, 0.0], "uplink_sharing": sharing})
    except ParameterError as error:
        assert field in str(error)  # noqa: PT017
        return
    for snr in (scenario.uplink_snr, scenario.downlink_snr):
        assert np.all(np.isfinite(snr) & (snr > 0.0))
    goodput = play(scenario, "heterogeneous", [1, 1, 1], [5e6, 5e6, 10e6]).goodput
    assert 0.0 < goodput < np.inf
