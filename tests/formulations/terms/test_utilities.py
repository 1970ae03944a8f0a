"""Another utility, another limit: what a user writes is solved, priced in its own unit and checked."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from formulations import (
    Amount,
    DraftControl,
    FormulationError,
    LengthsAtDeadline,
    ProgramLimit,
    ProgramUtility,
    SumOfGoodputs,
)
from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from tests.formulations.cells import ARGMIN_RTOL, OBJECTIVE_RTOL, PRICE_RTOL, RESIDUAL, S2, S3
from tests.formulations.reference import best_by_slsqp


class Logarithms(ProgramUtility):
    unit = "ln(tokens/s)"

    def value(self, goodput: FloatArray) -> float:
        return float(np.sum(np.log(goodput)))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return cp.sum(cp.log(goodput))


class Reciprocals(ProgramUtility):
    unit = "s/tokens"

    def value(self, goodput: FloatArray) -> float:
        return -float(np.sum(1.0 / goodput))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return -cp.sum(cp.power(goodput, -1.0))


class Least(ProgramUtility):
    def value(self, goodput: FloatArray) -> float:
        return float(np.min(goodput))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return cp.min(goodput)


class TimesTwo(Least):
    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return 2.0 * cp.min(goodput)


class Greatest(ProgramUtility):
    def value(self, goodput: FloatArray) -> float:
        return float(np.max(goodput))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return cp.max(goodput)


class Saturating(ProgramUtility):
    def value(self, goodput: FloatArray) -> float:
        return float(np.sum(np.log(1.0 + goodput)))

    def expression(self, goodput: cp.Expression) -> cp.Expression:
        return cp.sum(cp.log(1.0 + goodput))


class Tokens(ProgramLimit):
    name, unit = "token budget", "token"

    def left(self, at: Any) -> Any:
        return at.draft_length.sum()

    def right(self, at: Any) -> Any:
        return 2.5 * at.scenario.device_count


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
@pytest.mark.parametrize("utility", [SumOfGoodputs(), Logarithms(), Reciprocals()], ids=lambda one: one.unit)
def test_against_slsqp(utility: ProgramUtility, solver: str) -> None:
    program = DraftControl(S3)
    program.maximise(utility)
    solution = program.solve(solver)
    best, lengths = best_by_slsqp(S3, utility.value)
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    assert solution.objective == pytest.approx(utility.value(solution["device_goodput"]), rel=1e-12)
    assert solution.certificate.worst < RESIDUAL
    assert solution.objective_unit == utility.unit


def test_the_least_goodput() -> None:
    """Where the least is greatest all are equal: the first device's goodput, while the other has no less."""
    program = DraftControl(S2)
    program.maximise(Least())
    solution = program.solve("CLARABEL")
    assert np.ptp(solution["device_goodput"]) < 1e-5 * solution.objective

    def other_above(lengths: FloatArray, deadline_s: float, round_s: float) -> FloatArray:
        return np.diff(S2.acceptance.expected_tokens(lengths))

    best, _ = best_by_slsqp(S2, lambda goodput: float(goodput[0]), other_above)
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)


def test_prices_are_in_the_unit_of_the_utility_and_the_sum_comes_back() -> None:
    program = DraftControl(S2)
    total = program.solve("CLARABEL").objective
    program.maximise(Logarithms())
    price = program.solve("CLARABEL").shadow_price("bandwidth")
    step = 2e4
    wider, narrower = (
        best_by_slsqp(S2.with_bandwidth(uplink_hz=20e6 + change), Logarithms().value)[0] for change in (step, -step)
    )
    assert price.unit == "(ln(tokens/s))/(Hz)"
    assert price.value == pytest.approx((wider - narrower) / (2 * step), rel=10 * PRICE_RTOL)
    program.maximise(SumOfGoodputs())
    again = program.solve("CLARABEL")
    assert again.objective == pytest.approx(total, rel=1e-8)
    assert again.objective_unit == "tokens/s"


def test_a_utility_of_zero_is_no_disagreement() -> None:
    """One device at 1 token/s has the logarithm 0, of which nothing can be a small share."""
    slow = S2.replace(acceptance=[0.0, 0.0], min_draft_length=0, verify_base_s=1.0, verify_per_token_s=0.0)
    program = DraftControl(slow)
    program.maximise(Logarithms())
    assert program.solve("CLARABEL").objective == pytest.approx(0.0, abs=1e-6)


def test_a_limit_on_all_devices_with_another_utility() -> None:
    program = LengthsAtDeadline(S3, 0.25)
    program.maximise(Logarithms())
    program.require(Tokens())
    solution = program.solve("CLARABEL")

    def within(lengths: FloatArray, deadline_s: float, round_s: float) -> FloatArray:
        return np.array([7.5 - np.sum(lengths), 0.25 - deadline_s, deadline_s - 0.25 + 1e-9])

    best, lengths = best_by_slsqp(S3, Logarithms().value, within)
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    sides = solution.limits["token budget"]
    assert (sides.right, sides.unit) == (7.5, "token")
    assert sides.slack == pytest.approx(0.0, abs=1e-5)
    assert solution.shadow_price("token budget").unit == "(ln(tokens/s))/(token)"
    assert solution.shadow_price("token budget").value > 0.0
    assert set(solution.limits) == {"token budget", "bandwidth", "min_draft_length", "max_draft_length"}
    assert solution.limits["min_draft_length"].slack == pytest.approx(solution["draft_length"] - 1.0)
    program.withdraw("token budget")
    assert program.solve("CLARABEL").objective > solution.objective
    with pytest.raises(ParameterError, match='no requirement "token budget" to withdraw; there are none'):
        program.withdraw("token budget")


def test_a_limit_that_asks_for_a_longer_round() -> None:
    """0.3 W of average power are met by waiting: the round is scored as long as it then is."""
    power, free = Amount(2.0, "W"), DraftControl(S2).solve("CLARABEL")
    assert np.max(2.0 * free["draft_s"] / free["round_s"]) > 0.4
    program = DraftControl(S2)
    program.require(program.draft_length == free["draft_length"], name="lengths")
    program.require(power * program.draft_s <= Amount(0.3, "W") * program.round_s, name="power")
    solution = program.solve("CLARABEL")
    assert solution["round_s"] == pytest.approx(np.max(2.0 * free["draft_s"]) / 0.3, rel=1e-5)
    tokens = np.sum(S2.acceptance.expected_tokens(free["draft_length"]))
    assert solution.objective == pytest.approx(tokens / solution["round_s"], rel=1e-5)


@pytest.mark.parametrize(
    ("utility", "error", "told"),
    [
        (TimesTwo(), ParameterError, "its expression says"),
        (Greatest(), FormulationError, "Greatest is not concave"),
        ("proportional-fair", ParameterError, "is no utility"),
        (Saturating(), ParameterError, "another unit of goodput"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_utility_that_cannot_be_is_one_line(utility: ProgramUtility, error: type[Exception], told: str) -> None:
    program = DraftControl(S2)
    with pytest.raises(error, match=told) as caught:
        program.maximise(utility)
    assert "\n" not in str(caught.value)
    assert program.solve("CLARABEL").objective == pytest.approx(18.6189740585, rel=OBJECTIVE_RTOL)
