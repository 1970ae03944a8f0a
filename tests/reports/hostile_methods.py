"""Functions of a user that do what none should: each fails, or answers what looks like an answer and is none."""

import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np

from msopt import Control, Scenario
from tests.reports.own_methods import three


def leaves(scenario: Scenario) -> Any:
    raise SystemExit(0)


def interrupts(scenario: Scenario) -> Any:
    raise KeyboardInterrupt


def closes_itself(scenario: Scenario) -> Any:
    raise GeneratorExit


def says_nothing(scenario: Scenario) -> Any:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not even this")

    raise SilentError


def says_much(scenario: Scenario) -> Any:
    raise ValueError("line\n" * 10_000)


def recurses(scenario: Scenario) -> Any:
    return recurses(scenario)


def named_control(scenario: Scenario) -> Any:
    class Fake:
        __class__ = Control  # type: ignore[assignment]

    return Fake()


def empty_control(scenario: Scenario) -> Any:
    return object.__new__(Control)


def unchecked_control(scenario: Scenario) -> Any:
    """A whole object of a class of its own that skips the checks."""

    class Own(Control):
        def __post_init__(self) -> None:
            pass

    nan = np.full(scenario.device_count, np.nan)
    return Own(problem="heterogeneous", draft_length=three(scenario).draft_length, bandwidth_hz=nan)


def complex_control(scenario: Scenario) -> Any:
    share = three(scenario).bandwidth_hz + 1j
    return Control(problem="heterogeneous", draft_length=three(scenario).draft_length, bandwidth_hz=share)


def many_rounds(scenario: Scenario) -> Any:
    twice = np.stack([three(scenario).draft_length] * 2)
    return Control(problem="heterogeneous", draft_length=twice, bandwidth_hz=np.full(twice.shape, 1.0))


async def waits(scenario: Scenario) -> Any:
    return three(scenario)


def loud(scenario: Scenario) -> Control:
    """Prints by every way there is, warns, closes what it can, changes what is the process's; the answer is right."""
    print("PRINTED")
    os.write(1, b"WRITTEN\n")
    subprocess.run(["echo", "ECHOED"], check=True)
    warnings.warn("WARNED", stacklevel=1)
    np.seterr(all="raise")
    os.chdir("/")
    sys.stdout.close()
    sys.__stdout__.close()  # type: ignore[union-attr]
    sys.stdout = None  # type: ignore[assignment]
    os.close(1)
    os.close(2)
    return three(scenario)


def rewrites(scenario: Scenario) -> Control:
    """An answer that is right, and a scenario that it was given and that is none any more."""
    answer = three(scenario)
    object.__setattr__(scenario, "uplink_bandwidth_hz", "wide")
    object.__setattr__(scenario.acceptance, "mean", None)
    return answer


def complex_lengths(scenario: Scenario) -> Any:
    return np.full(scenario.device_count, 3.0 + 1j)


def too_many_lengths(scenario: Scenario) -> Any:
    return np.full(scenario.device_count + 1, 3)


def masked_lengths(scenario: Scenario) -> Any:
    return np.ma.masked_equal(np.arange(3, 3 + scenario.device_count), 3)


def nan_lengths(scenario: Scenario) -> Any:
    return np.full(scenario.device_count, np.nan)


def ragged_lengths(scenario: Scenario) -> Any:
    return [[3], [3, 3]]


def no_array(scenario: Scenario) -> Any:
    class Lengths:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise SystemExit("no array")

    return Lengths()
