"""What a study may vary: arguments of a draw, fields of a scenario, and changes of it (ours).

A band changes at the same transmit powers, and the server's power at the same channels, whether drawn anew or not.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit, logit

from msopt import PRESETS, Acceptance, ParameterError, Scenario, draw
from msopt.arrays import FloatArray
from msopt.errors import describe
from msopt.files.scenario_toml import to_toml
from msopt.model.fields import ONE_FOR_ALL, VERIFY_TIMES
from msopt.model.validation import Whole
from reports.shared.inputs import read_scenario

DRAW_ARGUMENTS = (
    *("devices", "bandwidth_hz", "uplink_power_dbm", "downlink_power_dbm", "power_ratio", "dataset", "cell"),
    *("draft_mean_s", "first_dataset_share", "fading", "over_area"),
)
FIELDS = tuple(row.field for row in ONE_FOR_ALL)
_OF_A_FILE = {
    "bandwidth_hz": "uplink_bandwidth_hz or downlink_bandwidth_hz",
    "downlink_power_dbm": "downlink_power_w",
}


def _spread(values: FloatArray, factor: float) -> FloatArray:
    middle = np.mean(values)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is checked where the scenario is made
        return np.asarray(middle + factor * (values - middle))


def _acceptance_spread(scenario: Scenario, factor: float) -> dict[str, Any]:
    law = scenario.acceptance
    if not (law.geometric and np.all((law.mean > 0.0) & (law.mean < 1.0))):
        raise ParameterError("acceptance_spread needs a geometric acceptance law between 0 and 1 for every device")
    return {"acceptance": Acceptance.of(expit(_spread(logit(law.mean), factor)))}


def _draft_time_spread(scenario: Scenario, factor: float) -> dict[str, Any]:
    if not np.all(scenario.draft_s_per_token > 0.0):
        raise ParameterError("draft_time_spread needs a draft time above 0 for every device")
    with np.errstate(over="ignore"):
        return {"draft_s_per_token": np.exp(_spread(np.log(scenario.draft_s_per_token), factor))}


def _snr_spread(scenario: Scenario, factor: float) -> dict[str, Any]:
    return {name: _spread(getattr(scenario, name), factor) for name in ("uplink_snr_db", "downlink_snr_db")}


def _server_speed(scenario: Scenario, factor: float) -> dict[str, Any]:
    if not factor > 0.0:
        raise ParameterError(f"server_speed = {factor:g} is not a number above 0")
    return {name: getattr(scenario, name) / factor for name in VERIFY_TIMES}


CHANGES: dict[str, Callable[[Scenario, float], dict[str, Any]]] = {
    "acceptance_spread": _acceptance_spread,
    "draft_time_spread": _draft_time_spread,
    "snr_spread": _snr_spread,
    "server_speed": _server_speed,
}
"""Factors, 1 for no change. A spread multiplies the devices' deviations from their mean, of the acceptance in log-odds,
of the draft time in logarithms, of both SNRs in dB: 0 makes all devices alike. A server twice as fast verifies in half
the time."""

WHOLE_SETTINGS = {"devices"} | {row.field for row in ONE_FOR_ALL if isinstance(row.domain, Whole)}
"""Settings that are whole numbers."""
SETTINGS = (*DRAW_ARGUMENTS, *FIELDS, *CHANGES)


_INSTEAD = {
    "dataset": ("first_dataset_share",),
    "power_ratio": ("uplink_power_dbm", "downlink_power_dbm"),
}
"""What a setting makes meaningless beside it."""


def over(settings: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with those of a figure's own in place of them, and without what these make meaningless."""
    gone = {other for name in own for other in _INSTEAD.get(name, ())}
    return {name: value for name, value in settings.items() if name not in gone} | dict(own)


def scenario_at(base: str, settings: Mapping[str, Any], seed: int) -> Scenario:
    """The scenario of a preset (drawn with a seed) or of a file, at some settings.

    Raises
    ------
    ParameterError
        For a setting that is unknown, out of its domain, or of a draw where nothing is drawn.
    """
    arguments = {name: value for name, value in settings.items() if name in DRAW_ARGUMENTS}
    if base in PRESETS:
        scenario = draw(base, seed=seed, **arguments)[0]
    else:
        for name in arguments:
            near = f"; its own is {_OF_A_FILE[name]}" if name in _OF_A_FILE else ""
            raise ParameterError(f"{name} is for presets; {base} is a scenario with its own devices{near}")
        scenario = _read(base)
    scenario = _with_fields(scenario, {name: value for name, value in settings.items() if name in FIELDS})
    for name, value in settings.items():
        if name in CHANGES:
            if isinstance(value, bool | str):
                raise ParameterError(f"{name} = {describe(value)} is not a number")
            scenario = scenario.replace(**CHANGES[name](scenario, float(value)))
    return scenario


def _with_fields(scenario: Scenario, fields: Mapping[str, Any]) -> Scenario:
    """The bands and the server's power last, with the transmit powers and the channels held."""
    held = dict(fields)
    uplink_hz, downlink_hz = (held.pop(f"{link}_bandwidth_hz", None) for link in ("uplink", "downlink"))
    power_w = held.pop("downlink_power_w", None)
    scenario = scenario.replace(**held).with_bandwidth(uplink_hz, downlink_hz)
    return scenario if power_w is None else scenario.with_downlink_power(power_w)


@lru_cache(maxsize=64)
def _read(file: str) -> Scenario:
    return read_scenario(file)


def scenario_hash(scenario: Scenario) -> str:
    """The first 16 digits of the SHA-256 of its file, the name left out."""
    text = to_toml(vars(scenario.replace(name="")))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
