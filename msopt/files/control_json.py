"""Someone's control as JSON: what `msopt solve` and `msopt react` write, or any script with the same keys."""

from typing import Any, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from msopt.errors import ParameterError, describe
from msopt.files.json_text import first_fault, load_json
from msopt.model.control import Control, Correction, Mode, ModeRule, Reaction, frees_bands
from msopt.model.problems import KINDS, Problem
from msopt.model.scenario import Scenario
from msopt.model.validation import MOST_TOKENS

_RULE_OF_METHOD: dict[str, ModeRule] = {
    "all-uplink": "all-uplink",
    "all-downlink": "all-downlink",
    "random-modes": "random",
}


class _Entry(BaseModel):
    # What is not a decision (expected tokens, probabilities) may stand beside it and is not read.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)


class _ControlLengths(_Entry):
    name: str
    draft_length: int = Field(ge=0, le=MOST_TOKENS)
    bandwidth_hz: float | None = None
    served: bool = True


class _Exchange(_Entry):
    name: str
    mode: Mode
    bandwidth_hz: float
    downlink_power_w: float | None = None


class _ControlFile(_Entry):
    problem: Problem = "heterogeneous"
    method: str | None = None
    correction: Correction | None = None
    not_before_s: float | None = Field(default=None, ge=0.0)
    devices: list[_ControlLengths]


class _ReactionFile(_Entry):
    devices: list[_Exchange]


ControlFile: TypeAlias = _ControlFile | _ReactionFile
"""What a file may hold: a control, or the reaction to one outcome."""


def parse_control(text: str, scenario: Scenario) -> Control | Reaction:
    """Read a control (devices with `draft_length`) or the reaction to one outcome (devices with `mode`).

    ParameterError for a text that is neither, or whose devices are not the scenario's; one line, without the file's
    name.
    """
    raw = _load(text)
    reaction = any(isinstance(device, dict) and "mode" in device for device in raw["devices"])
    try:
        if reaction:
            return _reaction(_ReactionFile.model_validate(raw), scenario)
        return _control(_ControlFile.model_validate(raw), scenario)
    except ValidationError as error:
        raise ParameterError(first_fault(error)) from None


def _load(text: str) -> dict[str, Any]:
    raw = load_json(text)
    if isinstance(raw, list):
        raise ParameterError(f"holds a list of {len(raw)} solutions; one object is needed")
    if not isinstance(raw, dict) or not isinstance(raw.get("devices"), list):
        raise ParameterError('has no "devices" list')
    if not raw["devices"]:
        raise ParameterError('has an empty "devices" list: its method has no one control to score')
    return raw


def _control(file: _ControlFile, scenario: Scenario) -> Control:
    by_name = {device.name: device for device in file.devices}
    _places([device.name for device in file.devices], scenario)
    missing = next((name for name in scenario.device_names if name not in by_name), None)
    if missing is not None:
        raise ParameterError(f"device {describe(missing)} of the scenario is missing")
    devices = [by_name[name] for name in scenario.device_names]
    share = [device.bandwidth_hz for device in devices]
    if KINDS[file.problem].equal_shares:
        share = [scenario.equal_share_hz if given is None else given for given in share]
    for name, given in zip(scenario.device_names, share, strict=True):
        if given is None:
            raise ParameterError(f"device {describe(name)}: bandwidth_hz is missing")
    served = [device.served for device in devices]
    return Control(
        problem=file.problem,
        draft_length=np.array([device.draft_length for device in devices], dtype=np.int64),
        bandwidth_hz=np.array(share, dtype=float),
        mode_rule=file.correction
        if file.correction and frees_bands(file.correction)
        else _RULE_OF_METHOD.get(file.method or "", "best"),
        served=None if all(served) else np.array(served),
        not_before_s=file.not_before_s,
    )


def _reaction(file: _ReactionFile, scenario: Scenario) -> Reaction:
    places = _places([device.name for device in file.devices], scenario)
    for device in file.devices:
        if device.mode == "downlink" and device.downlink_power_w is None:
            raise ParameterError(f"device {describe(device.name)}: downlink_power_w is missing")
    power = [np.nan if device.mode == "uplink" else device.downlink_power_w for device in file.devices]
    return Reaction(
        rejected=np.array(places, dtype=np.int64),
        modes=tuple(device.mode for device in file.devices),
        bandwidth_hz=np.array([device.bandwidth_hz for device in file.devices], dtype=float),
        downlink_power_w=np.array(power, dtype=float),
    )


def _places(names: list[str], scenario: Scenario) -> list[int]:
    """Which device of the scenario each name is."""
    known = {name: k for k, name in enumerate(scenario.device_names)}
    seen = set()
    for place, name in enumerate(names):
        if name not in known:
            raise ParameterError(f"devices[{place}]: {describe(name)} is not a device of the scenario")
        if name in seen:
            raise ParameterError(f"devices[{place}]: {describe(name)} is there twice")
        seen.add(name)
    return [known[name] for name in names]
