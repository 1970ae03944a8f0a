"""The scenario file: an exact round trip, and one clear line for every bad file (design section 2)."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from msopt.errors import ParameterError
from msopt.files.scenario_toml import parse, to_toml
from msopt.model.acceptance import Acceptance
from msopt.model.scenario import Scenario
from tests.cases import REFERENCE, REFERENCE_NAMES, Description, s2, scenario_of
from tests.strategies import ODD_NAMES, descriptions, names

GOOD = """\
name = "campus cell"
[server]
verify_base_s = 0.0428
verify_per_device_s = 0.0076
downlink_power_w = 1.0
[radio]
uplink_bandwidth_hz = 10e6
downlink_bandwidth_hz = 10_000_000
uplink_sharing = "power-limited"
[payload]
token_bits = 34
distribution_bits = 34816
[limits]
max_draft_length = 12
[[devices]]
name = "phone-1"
acceptance = 0.82
draft_s_per_token = 0.021
uplink_snr_db = 14.0
downlink_snr_db = 25
[[devices]]
name = "phone-2"
acceptance_curve = [0.85, 0.70]
draft_s_per_token = 0
uplink_snr_db = -3.5
downlink_snr_db = 5.0
"""


def read(text: str) -> Scenario:
    return Scenario(**parse(text, "file-name"))


# What is read


def test_the_design_file() -> None:
    scenario = read(GOOD)
    assert scenario.name == "campus cell"
    assert scenario.device_names == ("phone-1", "phone-2")
    assert scenario.verify_base_s == 0.0428
    assert scenario.verify_per_device_s == 0.0076
    assert scenario.verify_per_token_s == 0.0
    assert scenario.server_draft_s_per_token is None
    assert scenario.downlink_bandwidth_hz == 1e7
    assert scenario.uplink_sharing == "power-limited"
    assert (scenario.min_draft_length, scenario.max_draft_length) == (None, 12)
    assert scenario.acceptance.mean.tolist() == [0.82, 0.85]
    assert scenario.acceptance.curves[1].tolist() == [0.85, 0.70]
    assert scenario.uplink_snr_db.tolist() == [14.0, -3.5]
    assert scenario.draft_s_per_token.tolist() == [0.021, 0.0]


def test_defaults() -> None:
    text = re.sub(
        r'(?m)^(name = "campus cell"|\[limits\]|max_draft_length.*|uplink_sharing.*|verify_per_device.*)\n', "", GOOD
    )
    scenario = read(text)
    assert scenario.name == "file-name"
    assert scenario.uplink_sharing == "fixed-snr"
    assert scenario.verify_per_device_s == 0.0
    assert (scenario.min_draft_length, scenario.max_draft_length) == (None, 16)


def test_server_draft_time_and_deviation() -> None:
    text = GOOD.replace("[radio]", "draft_s_per_token = 0.004\n[radio]").replace("0.82", "0.82\nacceptance_std = 0.1")
    scenario = read(text)
    assert scenario.server_draft_s_per_token == 0.004
    assert scenario.acceptance.std.tolist() == [0.1, 0.0]


@pytest.mark.parametrize(
    ("spelling", "value"), [("1_000.5", 1000.5), ("20e6", 2e7), ("2E+1", 20.0), ("5", 5.0), ("0.5e-3", 5e-4)]
)
def test_number_spellings_that_toml_knows(spelling: str, value: float) -> None:
    assert read(GOOD.replace("verify_base_s = 0.0428", f"verify_base_s = {spelling}")).verify_base_s == value


@pytest.mark.parametrize("case", REFERENCE, ids=REFERENCE_NAMES)
def test_reference_files_are_read(case: Description) -> None:
    scenario = scenario_of(case["scenario"])
    assert scenario.device_count == len(case["scenario"]["devices"])
    assert scenario.name == case["scenario"]["name"]


# Round trip


@given(descriptions(), st.lists(names(), min_size=4, max_size=4, unique=True), names())
def test_round_trip_is_exact(description: Description, device_names: list[str], title: str) -> None:
    for device, name in zip(description["devices"], device_names, strict=False):
        device["name"] = name
    scenario = scenario_of(description | {"name": title})
    again = read(to_toml(vars(scenario)))
    assert again == scenario
    assert again.name == title
    assert again.device_names == tuple(device_names[: scenario.device_count])
    assert to_toml(vars(again)) == to_toml(vars(scenario))


@given(st.floats(0.0, 1.0), st.floats(1e-30, 1e30), st.floats(-300.0, 300.0), st.integers(1, 10**9))
def test_any_float_survives(alpha: float, number: float, snr_db: float, longest: int) -> None:
    scenario = scenario_of(s2()).replace(
        acceptance=[alpha, 0.5],
        verify_base_s=number,
        uplink_bandwidth_hz=number,
        distribution_bits=number,
        uplink_snr_db=[snr_db, -snr_db],
        max_draft_length=longest,
        server_draft_s_per_token=number,
    )
    assert read(to_toml(vars(scenario))) == scenario


def test_laws_survive() -> None:
    law = Acceptance.of([0.3, 0.5], [0.0, 0.25], [[0.9, 0.9, 0.0], None])
    scenario = scenario_of(s2()).replace(acceptance=law, min_draft_length=0)
    assert read(to_toml(vars(scenario))) == scenario


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_on_disk(name: str, tmp_path: Path) -> None:
    """Names that break tables, spreadsheets and plots are texts like any other."""
    scenario = scenario_of(s2()).replace(device_names=(name, "other"), name=name)
    path = tmp_path / "cell.toml"
    scenario.write(path, comment=f"first line\n\nabout {name}")
    assert Scenario.read(path) == scenario
    assert Scenario.read(path).device_names[0] == name
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["# first line", "#", f"# about {name}".rstrip()]


# Bad files


def edited(old: str, new: str, count: int = 1) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, count)


PHONE_1, PHONE_2 = 'devices[0] ("phone-1")', 'devices[1] ("phone-2")'
NUMBER = "finite number"
BAD_FILES: dict[str, tuple[str, list[str]]] = {
    # Tables and keys
    "empty file": ("", ["no [server] table"]),
    "no radio": (re.sub(r"\[radio\](\n[^\[].*)+", "", GOOD), ["no [radio] table"]),
    "no payload": (re.sub(r"\[payload\](\n[^\[].*)+", "", GOOD), ["no [payload] table"]),
    "no devices": (GOOD[: GOOD.index("[[devices]]")], ["no devices", "[[devices]]"]),
    "empty devices": ("devices = []\n" + GOOD[: GOOD.index("[[devices]]")], ["no devices"]),
    "misspelt table": (edited("[limits]", "[limit]"), ["unknown table", '"limit"', "did you mean limits?"]),
    "misspelt devices": (
        GOOD.replace("[[devices]]", "[[device]]"),
        ["unknown table", '"device"', "did you mean devices?"],
    ),
    "misspelt key": (
        edited("acceptance = ", "acceptence = "),
        [PHONE_1, "unknown key acceptence", "did you mean acceptance?"],
    ),
    "key under the wrong table": (
        GOOD + "max_draft_length = 8\n",
        [PHONE_2, "unknown key max_draft_length", "it belongs in [limits]"],
    ),
    "device key in server": (
        edited("[radio]", "uplink_snr_db = 3.0\n[radio]"),
        ["server: unknown key uplink_snr_db", "it belongs in [[devices]]"],
    ),
    "another program's key": (
        edited("[payload]", "n0 = -30\n[payload]"),
        ["radio: unknown key n0", "uplink_bandwidth_hz"],
    ),
    "noise on a device": (GOOD + "noise_dbm = -100\n", [PHONE_2, "unknown key noise_dbm", "uplink_snr_db"]),
    "stray key on top": ("K = 2\n" + GOOD, ["unknown table or key", '"K"', "known are", "server"]),
    "duplicate key": (edited("token_bits = 34", "token_bits = 34\ntoken_bits = 35"), ["line 12"]),
    "table is a number": (re.sub(r"\[payload\](\n[^\[].*)+", "", "payload = 3\n" + GOOD), ["payload = 3", "a table"]),
    "devices are numbers": ("devices = [1]\n" + GOOD[: GOOD.index("[[devices]]")], ["devices[0]", "1", "a table"]),
    "devices are a table": (GOOD[: GOOD.index("[[devices]]")] + "[devices]\nname = 'a'\n", ["devices", "a list"]),
    # Missing
    **{
        f"missing {key}": (re.sub(rf"(?m)^{key} = .*\n", "", GOOD, count=1), [f"{table}: {key} is missing"])
        for table, key in [
            ("server", "verify_base_s"),
            ("server", "downlink_power_w"),
            ("radio", "uplink_bandwidth_hz"),
            ("radio", "downlink_bandwidth_hz"),
            ("payload", "token_bits"),
            ("payload", "distribution_bits"),
            (PHONE_1, "draft_s_per_token"),
            (PHONE_1, "uplink_snr_db"),
            (PHONE_1, "downlink_snr_db"),
        ]
    },
    "missing name": (edited('name = "phone-1"\n', ""), ["devices[0]: name is missing"]),
    "no acceptance": (
        edited("acceptance = 0.82\n", ""),
        [PHONE_1, "exactly one of acceptance and acceptance_curve", "neither"],
    ),
    "two acceptances": (
        GOOD + "acceptance = 0.5\n",
        [PHONE_2, "exactly one of acceptance and acceptance_curve", "both"],
    ),
    "deviation of a curve": (GOOD + "acceptance_std = 0.1\n", [PHONE_2, "acceptance_std goes with acceptance"]),
    # Types
    "number as text": (edited("= 0.021", '= "0.021"'), [PHONE_1, "draft_s_per_token", '"0.021"', "a text", "a number"]),
    "truth as number": (
        edited("verify_base_s = 0.0428", "verify_base_s = true"),
        ["server: verify_base_s", "True", "a number"],
    ),
    "date as number": (edited("= 14.0", "= 2026-06-01"), [PHONE_1, "uplink_snr_db", "2026-06-01", "a number"]),
    "list as number": (edited("= 14.0", "= [14.0]"), [PHONE_1, "uplink_snr_db", "[14.0]", "a number"]),
    "fraction as whole": (
        edited("max_draft_length = 12", "max_draft_length = 12.5"),
        ["limits: max_draft_length", "12.5", "a whole number"],
    ),
    "number as name": (edited('"phone-1"', "17"), ["devices[0]", "name", "17", "a text"]),
    "curve is a number": (edited("[0.85, 0.70]", "0.85"), [PHONE_2, "acceptance_curve", "0.85", "a list"]),
    "text in a curve": (edited("[0.85, 0.70]", '[0.85, "x"]'), [PHONE_2, "acceptance_curve[1]", '"x"', "a number"]),
    "sharing is a number": (edited('"power-limited"', "1"), ["radio: uplink_sharing", "1", "a text"]),
    # Domains
    "empty curve": (edited("[0.85, 0.70]", "[]"), [PHONE_2, "acceptance_curve is empty"]),
    "rising curve": (edited("[0.85, 0.70]", "[0.70, 0.85]"), [PHONE_2, "acceptance_curve rises from 0.7 to 0.85"]),
    "curve above 1": (edited("[0.85, 0.70]", "[1.01]"), [PHONE_2, "acceptance_curve holds 1.01", "[0, 1]"]),
    "per cent": (edited("= 0.82", "= 82"), [PHONE_1, "acceptance = 82", "is outside [0, 1]; did you mean 0.82?"]),
    "a hair above 1": (edited("= 0.82", "= 1.0000001"), [PHONE_1, "acceptance = 1.0000001", "outside [0, 1]"]),
    "below 0": (edited("= 0.82", "= -0.1"), [PHONE_1, "acceptance = -0.1", "outside [0, 1]"]),
    "acceptance nan": (edited("= 0.82", "= nan"), [PHONE_1, "acceptance = nan", "outside [0, 1]"]),
    "too wide a Beta law": (
        edited("= 0.82", "= 0.82\nacceptance_std = 0.5"),
        [PHONE_1, "acceptance_std = 0.5", "below 0.384187"],
    ),
    "snr nan": (edited("= 14.0", "= nan"), [PHONE_1, "uplink_snr_db = nan", NUMBER]),
    "snr minus infinity": (edited("= -3.5", "= -inf"), [PHONE_2, "uplink_snr_db = -inf", NUMBER]),
    "snr infinity": (
        edited("downlink_snr_db = 25", "downlink_snr_db = +inf"),
        [PHONE_1, "downlink_snr_db = inf", NUMBER],
    ),
    "negative draft time": (edited("= 0.021", "= -0.021"), [PHONE_1, "draft_s_per_token = -0.021", "at least 0"]),
    "negative verification": (edited("= 0.0428", "= -0.0428"), ["server.verify_base_s = -0.0428", "at least 0"]),
    "infinite band": (
        edited("uplink_bandwidth_hz = 10e6", "uplink_bandwidth_hz = inf"),
        ["radio.uplink_bandwidth_hz = inf", "above 0"],
    ),
    "no band": (
        edited("uplink_bandwidth_hz = 10e6", "uplink_bandwidth_hz = 0"),
        ["radio.uplink_bandwidth_hz = 0", "above 0"],
    ),
    "no power": (edited("downlink_power_w = 1.0", "downlink_power_w = 0"), ["server.downlink_power_w = 0", "above 0"]),
    "no distribution": (edited("= 34816", "= 0"), ["payload.distribution_bits = 0", "above 0"]),
    "negative token": (edited("token_bits = 34", "token_bits = -1"), ["payload.token_bits = -1", "at least 0"]),
    "instant verification": (
        edited("= 0.0428", "= 0").replace("= 0.0076", "= 0"),
        ["server.verify_base_s", "server.verify_per_device_s", "server.verify_per_token_s", "all 0"],
    ),
    "crossed limits": (
        edited("max_draft_length = 12", "max_draft_length = 3\nmin_draft_length = 4"),
        ["min_draft_length = 4 is above max_draft_length = 3"],
    ),
    "maximum of 0": (
        edited("max_draft_length = 12", "max_draft_length = 0"),
        ["limits.max_draft_length = 0 is not a whole number of at least 1"],
    ),
    "negative minimum": (
        edited("max_draft_length = 12", "min_draft_length = -2"),
        ["limits.min_draft_length = -2 is not a whole number of at least 0"],
    ),
    "sharing with underscore": (
        edited("power-limited", "power_limited"),
        ["radio.uplink_sharing", '"power_limited"', '"fixed-snr" or "power-limited"'],
    ),
    "duplicate names": (edited("phone-2", "phone-1"), ["devices[1]", '"phone-1"', "already the name of devices[0]"]),
    "empty name": (edited("phone-2", ""), ["devices[1]", 'name = ""', "at least one character"]),
    # Spellings that TOML refuses
    "comma": (edited("= 34816", "= 34,816"), ["line 12", "without commas"]),
    "unit": (edited("uplink_bandwidth_hz = 10e6", "uplink_bandwidth_hz = 20 MHz"), ["line 7", "the number alone"]),
    "no digit before the point": (edited("= 0.82", "= .82"), ["line 17", "both sides of the point"]),
    "no digit after the point": (edited("= 14.0", "= 14."), ["line 19", "both sides of the point"]),
    "leading zero": (edited("= 34816", "= 034816"), ["line 12", "leading zeros"]),
    "Python's truth": (edited("= 34816", "= True"), ["line 12", "write true"]),
    "typographic minus": (edited("= -3.5", "= \u22123.5"), ["line 25", "U+2212"]),
    "not TOML at all": ("{'server': 1}", ["line 1"]),
    # Numbers that no float holds
    "number too large": (edited("verify_base_s = 0.0428", f"verify_base_s = {10**400}"), ["verify_base_s"]),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_files(fault: str, tmp_path: Path) -> None:
    """One line that names the file, the key (a device by place and name), the value and what is allowed."""
    text, parts = BAD_FILES[fault]
    path = tmp_path / "bad cell.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        Scenario.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for part in parts:
        assert part in message
    assert caught.value.exit_code == 2
    assert caught.value.__cause__ is None
    assert "pydantic" not in message


@pytest.mark.parametrize("name", ["two\\nlines", "return\\r", "tab\\there"])
def test_messages_stay_on_one_line_whatever_the_name(name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read(edited("phone-1", name).replace("= 0.82", "= 2"))
    assert not re.search(r"[\r\n]", str(caught.value))
    with pytest.raises(ParameterError) as caught:
        read(edited("phone-1", name).replace("acceptance = 0.82", 'acceptence = 1\n"a\\nb" = 2'))
    assert not re.search(r"[\r\n]", str(caught.value))


def test_long_values_are_cut_short() -> None:
    with pytest.raises(ParameterError) as caught:
        read(edited("= 14.0", "= [" + "1, " * 1000 + "1]"))
    assert len(str(caught.value)) < 200


def test_no_such_file(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    with pytest.raises(ParameterError, match="cannot be read") as caught:
        Scenario.read(path)
    assert str(path) in str(caught.value)


def test_not_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    path.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(ParameterError, match="not a UTF-8 text file"):
        Scenario.read(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=re.escape(str(tmp_path))):
        Scenario.read(tmp_path)


@given(
    st.dictionaries(
        st.text(max_size=5), st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.booleans()), max_size=4
    ),
    st.sampled_from(["server", "radio", "payload", "limits", "devices", ""]),
)
def test_anything_else_is_one_error_of_ours(values: dict[str, Any], table: str) -> None:
    """Arbitrary keys and values in any table give a scenario or one line, never another exception."""
    tables = {"server": {"verify_base_s": 0.1, "downlink_power_w": 1.0}, "radio": {}, "payload": {}}
    raw: dict[str, Any] = {key: dict(value) for key, value in tables.items()}
    raw["devices"] = [{"name": "a"}]
    if table == "devices":
        raw["devices"][0] |= values
    elif table:
        raw[table] = raw.get(table, {}) | values
    else:
        raw |= values
    try:
        text = tomli_w.dumps(raw)
    except (ValueError, TypeError):
        return
    with pytest.raises(ParameterError) as caught:
        read(text)
    assert not re.search(r"[\r\n]", str(caught.value))


def test_numbers_mean_what_they_say() -> None:
    scenario = read(GOOD)
    assert math.isclose(scenario.uplink_snr[0], 10.0**1.4)
    assert np.array_equal(scenario.downlink_snr_db, [25.0, 5.0])


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    path.write_text("\ufeff" + to_toml(vars(scenario_of(s2()))), encoding="utf-8")
    assert Scenario.read(path) == scenario_of(s2())


def test_numbers_of_any_library_are_written(tmp_path: Path) -> None:
    scenario = scenario_of(s2()).replace(token_bits=np.int64(17), max_draft_length=np.int64(9))
    scenario.write(tmp_path / "cell.toml")
    assert Scenario.read(tmp_path / "cell.toml") == scenario
