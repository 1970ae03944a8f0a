"""What counts as numbers, and that nobody writes to the arrays of a scenario, a control or a reaction."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from msopt import Acceptance, Control, ParameterError, Reaction, Scenario, react
from msopt.arrays import numbers
from tests.cases import s3, scenario_of

NO_NUMBERS = {
    "complex": np.array([0.5 + 1j, 0.5, 0.5]),
    "complex without an imaginary part": [0.5 + 0j, 0.5, 0.5],
    "truth values": np.array([True, False, True]),
    "a truth value among numbers": [0.5, True, 0.5],
    "numpy's truth value among numbers": [0.5, np.True_, 0.5],
    "a series of truth values": pd.Series([True, False, True]),
    "dates": np.array(["2026-01-01"] * 3, dtype="datetime64[D]"),
    "one date": [date(2026, 1, 1), 0.5, 0.5],
    "durations": pd.Series(pd.to_timedelta([1, 2, 3], unit="s")),
    "masked": np.ma.array([0.5, 0.6, 0.7], mask=[False, True, False]),
    "texts": ["0.5", "0.5", "0.5"],
    "bytes": np.array([b"0.5"] * 3),
    "ragged": [[0.5], [0.5, 0.5]],
    "objects": [object()] * 3,
}
NUMBERS = {
    "whole": [1, 2, 3],
    "bytes of a file": np.array([1, 2, 3], dtype=np.uint8),
    "half": np.array([1, 2, 3], dtype=np.float16),
    "fractions": [Fraction(1), Fraction(2), Fraction(3)],
    "decimals": [Decimal(1), Decimal(2), Decimal(3)],
    "a series": pd.Series([1, 2, 3], dtype="Int64"),
    "nothing masked": np.ma.array([1.0, 2.0, 3.0]),
}


def field_changes(values: Any) -> list[Callable[[], object]]:
    scenario = scenario_of(s3())
    reaction: dict[str, Any] = {
        "rejected": [0, 1, 2],
        "modes": ("uplink",) * 3,
        "bandwidth_hz": [1.0] * 3,
        "downlink_power_w": [1.0] * 3,
    }
    control: dict[str, Any] = {"problem": "heterogeneous", "draft_length": [1, 1, 1], "bandwidth_hz": [1.0] * 3}
    law: dict[str, Any] = {"mean": [0.5] * 3, "std": [0.0] * 3, "curves": (None,) * 3}
    return [
        *(lambda f=f: scenario.replace(**{f: values}) for f in ("acceptance", "draft_s_per_token", "uplink_snr_db")),
        *(lambda f=f: Control(**(control | {f: values})) for f in ("draft_length", "bandwidth_hz")),
        *(lambda f=f: Reaction(**(reaction | {f: values})) for f in ("rejected", "bandwidth_hz", "downlink_power_w")),
        *(lambda f=f: Acceptance(**(law | {f: values})) for f in ("mean", "std")),
        lambda: Acceptance(**(law | {"curves": (None, values, None)})),
        lambda: Acceptance.of(values),
        lambda: Acceptance.of([0.5] * 3, values),
        lambda: Acceptance.of([0.5] * 3, None, [None, values, None]),
    ]


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_refused_everywhere(kind: str) -> None:
    for make in field_changes(NO_NUMBERS[kind]):
        with pytest.raises(ParameterError, match="is not a list of numbers"):
            make()


@pytest.mark.parametrize("kind", NUMBERS)
def test_what_is_numbers(kind: str) -> None:
    assert numbers(NUMBERS[kind], "these").tolist() == [1.0, 2.0, 3.0]


def everything() -> dict[str, Any]:
    scenario = scenario_of(s3())
    law = Acceptance.of([0.5, 0.5, 0.5], [0.0, 0.1, 0.0], [None, None, [0.5, 0.25]])
    held = scenario.replace(acceptance=law)
    held.uplink.rate(np.ones(3))  # what is derived is kept beside the fields
    return {
        "scenario": held,
        "acceptance": law,
        "control": Control(problem="modes", draft_length=[1, 2, 3], bandwidth_hz=[1.0, 2.0, 3.0]),  # type: ignore[arg-type]
        "reaction": react(scenario, [0, 1, 2])[0],
    }


def arrays_of(thing: Any) -> list[np.ndarray]:
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, tuple):
        return [array for part in thing for array in arrays_of(part)]
    if isinstance(thing, Scenario | Acceptance | Control | Reaction):
        return [array for field in fields(thing) for array in arrays_of(getattr(thing, field.name))]
    return []


COPIES: dict[str, Callable[[Any], Any]] = {
    "made": lambda thing: thing,
    "pickled": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", ["scenario", "acceptance", "control", "reaction"])
def test_arrays_are_read_only(name: str, way: str) -> None:
    found = COPIES[way](everything()[name])
    arrays = arrays_of(found)
    assert len(arrays) >= 2
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    for array, before in zip(arrays, arrays_of(everything()[name]), strict=True):
        assert np.array_equal(array, before, equal_nan=True)


def test_derived_arrays_are_read_only() -> None:
    for scenario in (scenario_of(s3()), COPIES["pickled"](scenario_of(s3()))):
        for array in (scenario.uplink_snr, scenario.downlink_snr):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0


def test_the_callers_arrays_stay_theirs() -> None:
    lengths, share = np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0])
    control = Control(problem="heterogeneous", draft_length=lengths, bandwidth_hz=share)
    lengths[0], share[0] = 9, 9.0
    assert control.draft_length.tolist() == [1, 2, 3]
    assert control.bandwidth_hz.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rejected": [0.5]}, "rejected holds a number that is not whole"),
        ({"modes": ("sideways",)}, 'mode "sideways" is not uplink or downlink'),
        ({"bandwidth_hz": [1.0, 2.0]}, r"bandwidth_hz has shape \(2,\); \(1,\) is needed"),
        ({"bandwidth_hz": [float("inf")]}, "bandwidth_hz holds a number that is not finite"),
        ({"downlink_power_w": [float("inf")]}, "downlink_power_w holds a number that is not finite"),
    ],
)
def test_what_is_no_reaction(changes: dict[str, Any], message: str) -> None:
    good = {"rejected": [0], "modes": ("uplink",), "bandwidth_hz": [1.0], "downlink_power_w": [float("nan")]}
    Reaction(**good)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=message):
        Reaction(**(good | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("std", "curves"), [([0.1], (None,) * 3), ([0.0] * 3, (None,))])
def test_laws_of_other_devices(std: list[float], curves: tuple[None, ...]) -> None:
    with pytest.raises(ParameterError, match="has 1 values; 3 are needed"):
        Acceptance(mean=np.full(3, 0.5), std=np.array(std), curves=curves)
