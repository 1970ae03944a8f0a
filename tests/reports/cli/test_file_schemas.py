"""The schemas take what the reader takes, and refuse what it refuses as far as one key tells."""

import json
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import tomli_w
from jsonschema import Draft202012Validator

import msopt
from msopt.emulation.fault_plan_toml import parse_fault_plan
from msopt.files.json_text import to_json
from msopt.files.schemas import control_schema, scenario_schema
from msopt.model.fields import KEYS
from reports.calibration.targets_file import BUNDLED, parse_calibration
from reports.cli import app
from reports.cli.file_schemas import SCHEMAS, calibration_schema, faults_schema, study_schema
from reports.cli.schema_command import FileKind

ROOT = Path(__file__).parents[3]
CELL = tomllib.loads(Path(msopt.bundled.path("qwen-coder")).read_text(encoding="utf-8"))


def faults(schema: dict[str, Any], content: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schema).iter_errors(content)]


def changed(place: str, key: str, value: Any) -> dict[str, Any]:
    content = {table: dict(keys) if isinstance(keys, dict) else keys for table, keys in CELL.items()}
    content["devices"] = [dict(device) for device in CELL["devices"]]
    (content["devices"][0] if place == "devices" else content.setdefault(place, {}))[key] = value
    return content


@pytest.mark.parametrize("kind", get_args(FileKind))
def test_every_schema_is_one_and_the_command_prints_it(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert set(get_args(FileKind)) == set(SCHEMAS)
    Draft202012Validator.check_schema(SCHEMAS[kind]())
    assert app.main(["schema", kind, "--output", str(tmp_path / "schema.json")]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMAS[kind]()
    assert json.loads((tmp_path / "schema.json").read_text()) == SCHEMAS[kind]()


def test_bundled_and_drawn_scenarios_keep_it(tmp_path: Path) -> None:
    schema = scenario_schema()
    for name in msopt.bundled.names():
        assert faults(schema, tomllib.loads(Path(msopt.bundled.path(name)).read_text(encoding="utf-8"))) == []
    cell = msopt.draw("uldl-qwen25", devices=3)[0].replace(token_budget=9, weight=[1.0, 2.0, 3.0])
    cell.write(tmp_path / "cell.toml")
    assert faults(schema, tomllib.loads((tmp_path / "cell.toml").read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("server", "downlink_power_w", 0.0),
        ("server", "verify_base_s", -1.0),
        ("server", "verify_base", 0.1),
        ("radio", "uplink_bandwidth_hz", "10 MHz"),
        ("radio", "uplink_sharing", "fixed"),
        ("payload", "distribution_bits", 0.0),
        ("limits", "max_draft_length", 0),
        ("limits", "max_draft_length", 2.5),
        ("variant", "padded_batches", "yes"),
        ("devices", "acceptance", 82.0),
        ("devices", "acceptance_curve", [0.8, "0.7"]),
        ("devices", "uplink_snr_db", 1e4),
        ("devices", "name", 1),
    ],
)
def test_what_the_reader_refuses_for_one_key_the_schema_refuses(
    table: str, key: str, value: Any, tmp_path: Path
) -> None:
    assert faults(scenario_schema(), changed("server", "verify_base_s", 0.1)) == []
    content = changed(table, key, value)
    assert len(faults(scenario_schema(), content)) == 1
    (tmp_path / "cell.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
    with pytest.raises(msopt.ParameterError, match=key):
        msopt.Scenario.read(tmp_path / "cell.toml")


def test_every_key_has_its_unit_and_its_words() -> None:
    tables = scenario_schema()["$defs"]
    assert {(table, key) for table, found in tables.items() for key in found["properties"]} == {
        (row.table, row.key) for row in KEYS
    }
    for row in KEYS:
        said = tables[row.table]["properties"][row.key].get("description", "")
        assert row.unit in ("", "1") or said.endswith(f"[{row.unit}]")
    missing = faults(scenario_schema(), {"server": CELL["server"], "radio": CELL["radio"], "payload": CELL["payload"]})
    assert missing == ["'devices' is a required property"]


def test_controls_and_reactions_that_we_write_keep_it() -> None:
    cell = msopt.Scenario.read(msopt.bundled.path("qwen-coder"))
    schema = control_schema()
    for problem in msopt.PROBLEMS:
        record = msopt.solve(cell, problem).to_dict()
        assert faults(schema, json.loads(to_json(record))) == []
    assert faults(schema, {"devices": [{"name": "a", "draft_length": -1}]})
    assert faults(schema, {"devices": [{"name": "a", "mode": "uplink", "bandwidth_hz": 1e6}]}) == []
    assert faults(schema, {"devices": [{"name": "a", "mode": "sideways", "bandwidth_hz": 1e6}]})


def test_the_study_of_the_readme_keeps_it() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (study,) = (part.split("```")[0] for part in text.split("```toml\n")[1:] if part.startswith("problem ="))
    content = tomllib.loads(study)
    assert faults(study_schema(), content) == []
    assert faults(study_schema(), content | {"axes": {"bandwith_hz": [1e6]}})
    assert faults(study_schema(), content | {"draws": 0})
    for key in ("problem", "methods", "draw"):
        assert faults(study_schema(), content | {key: 1}), key


@pytest.mark.parametrize("name", BUNDLED)
def test_the_papers_calibrations_keep_it(name: str) -> None:
    text = (ROOT / f"reports/calibration/targets/{name}.toml").read_text(encoding="utf-8")
    assert faults(calibration_schema(), tomllib.loads(text)) == []


@pytest.mark.parametrize(
    "key", ["settings = 1", 'quoted = ["nothing"]', "unknowns.power = { low = 0.0, high = 1.0 }", "base.fixed.band = 1"]
)
def test_a_calibration_that_the_reader_refuses_for_one_key(key: str) -> None:
    text = (
        'quoted = ["level-llama2"]\n[base]\npresets = ["multispin-llama2"]\n[unknowns.fading]\nvalues = [true, false]\n'
    )
    content = tomllib.loads(text)
    assert faults(calibration_schema(), content) == []
    parse_calibration(text)
    table, (name, value) = content, next(iter(tomllib.loads(key).items()))
    while isinstance(value, dict) and isinstance(table.get(name), dict):
        table, (name, value) = table[name], next(iter(value.items()))
    table[name] = value
    assert len(faults(calibration_schema(), content)) == 1
    with pytest.raises(msopt.ParameterError):
        parse_calibration(tomli_w.dumps(content))


@pytest.mark.parametrize(
    "key",
    ['kind = "gone"', 'kind = "lost"\nprobability = 1.5', 'kind = "lost"\nprobabilty = 0.1', "first_round = 0", ""],
)
def test_a_fault_that_the_reader_refuses_for_one_key(key: str) -> None:
    good = 'deadline_factor = 2.0\n[[faults]]\nkind = "straggler"\nfactor = 5.0\ndevices = ["a"]'
    assert faults(faults_schema(), tomllib.loads(good)) == []
    parse_fault_plan(good)
    bad = f"[[faults]]\n{key}" if key else "seed = 1"
    assert len(faults(faults_schema(), tomllib.loads(bad))) == 1
    with pytest.raises(msopt.ParameterError):
        parse_fault_plan(bad)
