"""One row for each key: the scenario, its file and the design hold the same keys."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from msopt.files.scenario_toml import load_toml
from msopt.model.fields import KEYS, ONE_FOR_ALL, PER_DEVICE, VERIFY_TIMES, Key
from msopt.model.scenario import Scenario
from tests.cases import s2, scenario_of

DESIGN = (Path(__file__).parents[3] / "DESIGN.md").read_text(encoding="utf-8")
SYMBOLS = DESIGN[DESIGN.index("## 1. ") : DESIGN.index("## 2. ")].splitlines()
FILE = load_toml(
    re.sub(r"(?m)^    |\.\.\.", "", DESIGN.split("## 2. ")[1].split("Measured numbers")[0].split("\n", 1)[1])
)
DECIDED = ("draft_length", "bandwidth_hz", "mode")


def test_every_field_of_a_scenario_has_its_row() -> None:
    rows = {row.field for row in (*ONE_FOR_ALL, *PER_DEVICE)} | {"name", "device_names", "acceptance"}
    assert rows == {field.name for field in fields(Scenario)}
    assert VERIFY_TIMES == ("verify_base_s", "verify_per_device_s", "verify_per_token_s")


def test_a_row_says_whether_a_scenario_may_be_without() -> None:
    scenario = scenario_of(s2())
    assert {row.field for row in KEYS if row.optional} == {
        row.field for row in (*ONE_FOR_ALL, *PER_DEVICE) if getattr(scenario, row.field) is None
    }


@pytest.mark.parametrize("row", [row for row in KEYS if row.unit], ids=lambda row: row.place)
def test_the_design_has_every_quantity(row: Key) -> None:
    assert f"| {row.symbol} | `{row.key}` | {row.unit} | {row.words} |" in SYMBOLS


def test_the_design_has_no_other_quantity() -> None:
    held = [re.match(r"\| [^|]+ \| `(\w+)`", line) for line in SYMBOLS]
    assert sorted(found[1] for found in held if found) == sorted([*(row.key for row in KEYS if row.unit), *DECIDED])


def test_the_example_file_of_the_design_has_every_key_that_a_file_needs() -> None:
    (device,) = FILE["devices"]
    tables = FILE | {"devices": device}
    written = {(table, key) for table, held in tables.items() if table != "name" for key in held}
    assert {(row.table, row.key) for row in KEYS if row.required} <= written <= {(row.table, row.key) for row in KEYS}


def test_units_are_in_the_names() -> None:
    ends = {"s": ("_s", "_s_per_token"), "W": ("_w",), "Hz": ("_hz",), "bit": ("_bits",), "dB": ("_db",)}
    for row in KEYS:
        assert row.key.endswith(ends.get(row.unit, "")), row.place
