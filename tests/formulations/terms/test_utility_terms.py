"""Another utility, another limit: what a user writes is solved, priced in its own unit and checked."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from formulations import (
    Amount,
    DraftControl,
    FormulationError,
    LengthsAtDeadline,
)
from msopt import Admission, AlphaFair, MaxMin, ProportionalFair, TokenBudget, WeightedSum
from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.objective import GOODPUT, Utility
from tests.formulations.cells import ARGMIN_RTOL, OBJECTIVE_RTOL, PRICE_RTOL, RESIDUAL, S2, S3
from tests.formulations.reference import best_by_slsqp
from tests.reports.own_variants import Saturating


class Reciprocals(Utility):
    name, unit = "reciprocals", "s/token"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        return -1.0 / goodput

    def expression(self, goodput: Any, cp: Any) -> Any:
        return -cp.sum(cp.power(goodput, -1.0))


class TimesTwo(Saturating):
    def expression(self, goodput: Any, cp: Any) -> Any:
        return 2.0 * cp.sum(cp.log1p(goodput))


class Falling(Utility):
    name, unit = "falling", "token/s"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        return -goodput

    def expression(self, goodput: Any, cp: Any) -> Any:
        return -cp.sum(goodput)


class Greatest(Utility):
    name, unit = "greatest", "token/s"

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        return np.max(tokens, axis=-1) / round_s

    def expression(self, goodput: Any, cp: Any) -> Any:
        return cp.max(goodput)


def of(utility: Utility) -> Callable[[FloatArray], float]:
    """The same of goodputs, for the generic solver."""
    return lambda goodput: float(utility.value(goodput, np.asarray(1.0)))


WEIGHTS = np.array([1.0, 0.0, 1.5])


@pytest.fixture(scope="module")
def three() -> DraftControl:
    return DraftControl(S3)


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
@pytest.mark.parametrize(
    "utility",
    [
        GOODPUT,
        ProportionalFair(),
        Reciprocals(),
        Saturating(),
        WeightedSum(np.array([1.0, 2.0, 0.5])),
        ProportionalFair(WEIGHTS + 0.5),
        AlphaFair(fairness=0.5),
    ],
    ids=lambda one: one.unit,
)
def test_against_slsqp(three: DraftControl, utility: Utility, solver: str) -> None:
    three.maximise(utility)
    solution = three.solve(solver)
    best, lengths = best_by_slsqp(S3, of(utility))
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    assert solution.objective == pytest.approx(of(utility)(solution["device_goodput"]), rel=1e-12)
    assert solution.certificate.worst < RESIDUAL
    assert solution.objective_unit == utility.unit


def test_the_least_goodput() -> None:
    """Where the least is greatest all are equal: the first device's goodput, while the other has no less."""
    program = DraftControl(S2)
    program.maximise(MaxMin())
    solution = program.solve("CLARABEL")
    assert np.ptp(solution["device_goodput"]) < 1e-5 * solution.objective

    def other_above(lengths: FloatArray, deadline_s: float, round_s: float) -> FloatArray:
        return np.diff(S2.acceptance.expected_tokens(lengths))

    best, _ = best_by_slsqp(S2, lambda goodput: float(goodput[0]), other_above)
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)


def test_prices_are_in_the_unit_of_the_utility_and_the_sum_comes_back() -> None:
    program = DraftControl(S2)
    total = program.solve("CLARABEL").objective
    program.maximise(ProportionalFair())
    price = program.solve("CLARABEL").shadow_price("bandwidth")
    step = 2e4
    wider, narrower = (
        best_by_slsqp(S2.with_bandwidth(uplink_hz=20e6 + change), of(ProportionalFair()))[0] for change in (step, -step)
    )
    assert price.unit == "(ln(token/s))/(Hz)"
    assert price.value == pytest.approx((wider - narrower) / (2 * step), rel=10 * PRICE_RTOL)
    program.maximise(GOODPUT)
    again = program.solve("CLARABEL")
    assert again.objective == pytest.approx(total, rel=1e-8)
    assert again.objective_unit == "token/s"


def test_a_utility_of_zero_is_no_disagreement() -> None:
    """One device at 1 token/s has the logarithm 0, of which nothing can be a small share."""
    slow = S2.replace(acceptance=[0.0, 0.0], min_draft_length=0, verify_base_s=1.0, verify_per_token_s=0.0)
    program = DraftControl(slow)
    program.maximise(ProportionalFair())
    assert program.solve("CLARABEL").objective == pytest.approx(0.0, abs=1e-6)


def test_a_limit_on_all_devices_with_another_utility() -> None:
    program = LengthsAtDeadline(S3, 0.25)
    program.maximise(ProportionalFair())
    program.require(TokenBudget(7.5))
    solution = program.solve("CLARABEL")

    def within(lengths: FloatArray, deadline_s: float, round_s: float) -> FloatArray:
        return np.array([7.5 - np.sum(lengths), 0.25 - deadline_s, deadline_s - 0.25 + 1e-9])

    best, lengths = best_by_slsqp(S3, of(ProportionalFair()), within)
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    sides = solution.limits["token budget"]
    assert (sides.right, sides.unit) == (7.5, "token")
    assert sides.slack == pytest.approx(0.0, abs=1e-5)
    assert solution.shadow_price("token budget").unit == "(ln(token/s))/(token)"
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


def test_a_weight_of_nothing_leaves_a_device_out_and_the_least_is_that_of_the_others(three: DraftControl) -> None:
    """The second device drafts as little as it may: its goodput counts for nothing."""
    three.maximise(MaxMin(WEIGHTS))
    solution = three.solve("CLARABEL")
    least = WEIGHTS[[0, 2]] * solution["device_goodput"][[0, 2]]
    assert np.ptp(least) < 1e-5 * solution.objective
    assert solution["draft_length"][1] == pytest.approx(1.0, abs=1e-4)


def test_an_exponent_that_is_no_fraction_takes_the_power_cone_which_ecos_has_not(three: DraftControl) -> None:
    """Both ways of saying it are near each other, and every cone has its certificate."""
    three.maximise(AlphaFair(fairness=1.0 + 1.0 / np.pi))
    assert three.solvers == ("CLARABEL", "SCS")
    with pytest.raises(ParameterError, match='"ECOS" cannot solve draft-control; use CLARABEL or SCS'):
        three.solve("ECOS")
    solution = three.solve()
    best, lengths = best_by_slsqp(S3, of(AlphaFair(fairness=1.0 + 1.0 / np.pi)))
    assert solution.objective == pytest.approx(best, rel=OBJECTIVE_RTOL)
    assert solution["draft_length"] == pytest.approx(lengths, rel=ARGMIN_RTOL)
    assert solution.certificate.worst < RESIDUAL
    three.maximise(GOODPUT)
    assert three.solvers[0] == "ECOS"


@pytest.mark.parametrize("fairness", [8.0, 20.0])
def test_great_fairness_keeps_its_digits(three: DraftControl, fairness: float) -> None:
    """Towards the least goodput: sum g^(1-a) lies between least^(1-a) and K of them."""
    three.maximise(MaxMin())
    least = three.solve("CLARABEL").objective
    three.maximise(AlphaFair(fairness=fairness))
    solution = three.solve("CLARABEL")
    mean = (-(fairness - 1.0) * solution.objective / 3.0) ** (1.0 / (1.0 - fairness))
    assert least <= mean * (1.0 + 1e-6)
    assert np.min(solution["device_goodput"]) >= least * 3.0 ** (1.0 / (1.0 - fairness)) * (1.0 - 1e-6)


@pytest.mark.parametrize(
    ("utility", "error", "told"),
    [
        (TimesTwo(), ParameterError, "its expression says"),
        (Greatest(), FormulationError, "Greatest is not concave"),
        ("proportional-fair", ParameterError, "is no utility"),
        (Falling(), ParameterError, "does not grow with goodput"),
        (Admission(2.0), ParameterError, "utility admission has no concave expression"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_utility_that_cannot_be_is_one_line(utility: Utility, error: type[Exception], told: str) -> None:
    program = DraftControl(S2)
    with pytest.raises(error, match=told) as caught:
        program.maximise(utility)
    assert "\n" not in str(caught.value)
    assert program.solve("CLARABEL").objective == pytest.approx(18.6189740585, rel=OBJECTIVE_RTOL)
