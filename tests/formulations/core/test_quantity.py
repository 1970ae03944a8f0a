"""Decisions add, scale and compare as the mathematics writes them, with units that must match."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from formulations import Amount, DraftControl
from formulations.core.amount import product_unit, same_unit
from msopt.errors import ParameterError
from tests.formulations.cells import ARGMIN_RTOL, OBJECTIVE_RTOL, S2
from tests.formulations.reference import best_by_slsqp

TAU, WATT = Amount(S2.draft_s_per_token, "s/token"), Amount(0.2, "W")


@pytest.fixture(scope="module")
def solved() -> DraftControl:
    program = DraftControl(S2)
    program.solve("CLARABEL")
    return program


def test_an_energy_budget_over_two_decisions() -> None:
    """What a device spends from its last drafted token to the deadline, at most 1.5 mJ; SLSQP has the same optimum."""
    program = DraftControl(S2)
    energy = WATT * (program.deadline_s - TAU * program.draft_length)
    assert energy.unit == "J"
    program.require(energy <= Amount(1.5e-3, "J"), name="energy")
    solution = program.solve("CLARABEL")

    def room(budget_j: float) -> Callable[..., Any]:
        return lambda lengths, deadline_s, round_s: budget_j - 0.2 * (deadline_s - lengths * S2.draft_s_per_token)

    goodput, lengths = best_by_slsqp(S2, within=room(1.5e-3))
    assert solution.objective == pytest.approx(goodput, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    price = solution.shadow_price("energy")
    slope = (best_by_slsqp(S2, within=room(1.51e-3))[0] - best_by_slsqp(S2, within=room(1.49e-3))[0]) / 2e-5
    assert price.unit == "(token/s)/(J)"
    assert np.sum(price.value) == pytest.approx(slope, rel=1e-2)


ARITHMETIC: dict[str, tuple[Callable[[DraftControl], Any], Callable[[dict[str, Any]], Any], str]] = {
    "minus": (lambda p: -p.draft_length, lambda v: -v["L"], "token"),
    "divided": (lambda p: p.draft_length / 4, lambda v: v["L"] / 4, "token"),
    "divided by an amount": (lambda p: p.draft_length / Amount(2.0, "token/s"), lambda v: v["L"] / 2, "s"),
    "sums subtracted": (
        lambda p: p.draft_length.sum() - 3 * p.draft_length[0],
        lambda v: v["L"][1] - 2 * v["L"][0],
        "token",
    ),
    "array from the left": (lambda p: np.array([1.0, 3.0]) * p.draft_length, lambda v: v["L"] * [1, 3], "token"),
    "numpy number": (lambda p: np.float64(2.0) * p.bandwidth_hz, lambda v: 2 * v["B"], "Hz"),
    "average power": (
        lambda p: WATT * p.draft_s + Amount(0.5, "W") * (p.deadline_s - p.draft_s) - WATT * p.round_s,
        lambda v: 0.2 * v["t"] + 0.5 * (v["D"] - v["t"]) - 0.2 * v["T"],
        "J",
    ),
}


@pytest.mark.parametrize("kind", ARITHMETIC)
def test_arithmetic_of_values(solved: DraftControl, kind: str) -> None:
    written, meant, unit = ARITHMETIC[kind]
    decision = solved.decision()
    names = {"L": "draft_length", "B": "bandwidth_hz", "D": "deadline_s", "T": "round_s", "t": "draft_s"}
    found = written(solved)
    assert found.unit == unit
    assert found.value == pytest.approx(meant({short: decision[name] for short, name in names.items()}), rel=1e-6)


WRONG = {
    "tokens from seconds": (lambda p: p.deadline_s - p.draft_length, r"in s is added to or compared with one in token"),
    "joules against watts": (lambda p: WATT * p.deadline_s <= WATT, "in J is compared with an amount in W"),
    "a number added": (lambda p: p.deadline_s - 0.1, "other side of the relation"),
    "a product": (lambda p: p.deadline_s * p.draft_length, "is not linear"),
    "a quotient": (lambda p: p.deadline_s / p.round_s, "is not linear"),
    "by zero": (lambda p: p.deadline_s / 0.0, "not finite"),
    "by nothing": (lambda p: p.deadline_s * np.nan, "not finite"),
    "by a word": (lambda p: p.deadline_s * "two", "is no factor"),
    "unlike divisors": (lambda p: p.device_goodput <= p.draft_length / Amount(1.0, "s"), "different divisors"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_does_not_add_up_is_one_line(solved: DraftControl, kind: str) -> None:
    written, told = WRONG[kind]
    with pytest.raises(ParameterError, match=told) as caught:
        written(solved)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other", "below", "unit"),
    [
        ("s/token", "token", False, "s"),
        ("token/s", "s", False, "token"),
        ("W", "s", False, "J"),
        ("J", "s", True, "W"),
        ("Hz", "bit/s/Hz", False, "bit/s"),
        ("s", "s", True, "1"),
        ("1", "s", True, "1/s"),
    ],
)
def test_units_of_products(one: str, other: str, below: bool, unit: str) -> None:
    assert product_unit(one, other, below) == unit
    assert same_unit(product_unit(one, other, below), unit)
    assert not same_unit(one, unit)


def test_amounts_are_finite_and_multiply_arrays() -> None:
    with pytest.raises(ParameterError, match="not finite"):
        Amount(np.inf, "s")
    assert (Amount(2.0, "s") * np.array([1.0, 3.0])).tolist() == [2.0, 6.0]
    assert (np.array([1.0, 3.0]) * Amount(2.0, "s")).tolist() == [2.0, 6.0]
    product = Amount(2.0, "W") * Amount(3.0, "s")
    assert (product.value, product.unit) == (6.0, "J")
