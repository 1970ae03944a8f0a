"""Methods of a user, as the tests name them: tests.reports.own_methods:FUNCTION."""

from typing import Any

import numpy as np

import msopt
from msopt import Control, Scenario, Solution


def three(scenario: Scenario) -> Control:
    """Three tokens each over equal shares."""
    share = np.full(scenario.device_count, scenario.equal_share_hz)
    return Control(problem="heterogeneous", draft_length=np.full(scenario.device_count, 3), bandwidth_hz=share)


def ours(scenario: Scenario) -> Solution:
    return msopt.solve(scenario, "modes")


def too_wide(scenario: Scenario) -> Control:
    control = three(scenario)
    return Control(problem="heterogeneous", draft_length=control.draft_length, bandwidth_hz=control.bandwidth_hz * 1.01)


def nothing(scenario: Scenario) -> None:
    del scenario


def text(scenario: Scenario) -> str:
    return scenario.name


def without_control(scenario: Scenario) -> Solution:
    return msopt.solve(scenario, "heterogeneous", "server-only")


def fails(scenario: Scenario) -> Any:
    return scenario.no_such_thing  # type: ignore[attr-defined]


def at_5_mhz(scenario: Scenario) -> Control:
    """Three tokens each in a band of 5 MHz; in every wider one it fails, each time in a way of its own."""
    if scenario.uplink_bandwidth_hz == 10e6:
        raise SystemExit(f"no control at {scenario.uplink_bandwidth_hz:g} Hz")
    return three(scenario) if scenario.uplink_bandwidth_hz == 5e6 else too_wide(scenario)
