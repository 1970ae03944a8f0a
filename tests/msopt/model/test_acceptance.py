"""The acceptance laws against exact sums, quadrature, differences, and each other."""

import math
from collections.abc import Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from tests import brute_force
from tests.strategies import laws
from tests.tolerances import DIFFERENCE, DIFFERENCE_STEP, EXACT, FEW_ROUNDINGS

NEARLY_ONE = 1.0 - 1e-12
ALPHAS = (0.0, 1e-300, 1e-12, 0.01, 0.5, 0.805, 0.999, NEARLY_ONE, 1.0 - 2.0**-53, 1.0)


def one(law: dict[str, Any]) -> Acceptance:
    return of([law])


def of(devices: Sequence[dict[str, Any]]) -> Acceptance:
    """The acceptance of devices given by the keys of a scenario file."""
    return Acceptance.of(
        [device.get("acceptance", 0.0) for device in devices],
        [device.get("acceptance_std", 0.0) for device in devices],
        [device.get("acceptance_curve") for device in devices],
    )


# Geometric


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("length", [0, 1, 4, 16, 300])
def test_geometric_against_exact_fractions(alpha: float, length: int) -> None:
    acceptance = one({"acceptance": alpha})
    power = Fraction(alpha)
    assert acceptance.survival([length])[0] == pytest.approx(float(power**length), rel=FEW_ROUNDINGS)
    total = float(sum((power**l for l in range(length + 1)), Fraction(0)))
    assert acceptance.expected_tokens([length])[0] == pytest.approx(total, rel=FEW_ROUNDINGS)


def test_ends_are_exact() -> None:
    acceptance = Acceptance.of([0.0, 1.0])
    for length in range(40):
        assert acceptance.expected_tokens([length, length]).tolist() == [1.0, length + 1.0]
        assert acceptance.survival([length, length]).tolist() == [float(length == 0), 1.0]


def test_almost_certain_acceptance_keeps_its_digits() -> None:
    """The sum for 1 - 1e-12 is 4.99999999999; a formula that cancels gives 4.99988939."""
    value = float(one({"acceptance": NEARLY_ONE}).expected_tokens([4])[0])
    assert value == pytest.approx(4.99999999999, rel=FEW_ROUNDINGS)


@pytest.mark.parametrize("alpha", [a for a in ALPHAS if 0.0 < a < 1.0])
@pytest.mark.parametrize("length", [0.0, 0.37, 5.0, 5000.0])
def test_log_marginal_never_underflows(alpha: float, length: float) -> None:
    getcontext().prec = 50
    exact = Decimal(alpha)
    log = exact.ln()
    expected = (-log / (1 - exact)).ln() + (Decimal(length) + 1) * log
    value = float(one({"acceptance": alpha}).log_marginal_tokens([length])[0])
    # The logarithm itself may be near 0: an error of E' relative to E' is an absolute one of its logarithm.
    assert abs(value - float(expected)) <= FEW_ROUNDINGS * max(1.0, abs(float(expected)))


def test_log_marginal_at_the_ends() -> None:
    assert Acceptance.of([0.0, 1.0]).log_marginal_tokens([3.0, 3.0]).tolist() == [-math.inf, 0.0]


@given(st.floats(0.01, 0.99), st.floats(0.5, 20.0))
def test_geometric_derivatives_by_differences(alpha: float, length: float) -> None:
    acceptance = one({"acceptance": alpha})
    step = DIFFERENCE_STEP * length
    low, high = np.array([length - step]), np.array([length + step])
    slope = (acceptance.expected_tokens(high) - acceptance.expected_tokens(low)) / (2.0 * step)
    # E is near 1/(1 - alpha) where its slope may be tiny: round-off is relative to E.
    noise = EXACT / step
    assert math.exp(acceptance.log_marginal_tokens([length])[0]) == pytest.approx(slope[0], rel=DIFFERENCE, abs=noise)
    bend = (acceptance.log_marginal_tokens(high) - acceptance.log_marginal_tokens(low)) / (2.0 * step)
    assert acceptance.log_slope[0] == pytest.approx(bend[0], rel=DIFFERENCE)


# Measured curves


def test_published_curve() -> None:
    """1 + 0.805 + 0.632 + 0.483; and the two geometric laws that misread it."""
    curve = one({"acceptance_curve": [0.805, 0.632, 0.483]})
    assert curve.expected_tokens([3])[0] == pytest.approx(2.920, rel=FEW_ROUNDINGS)
    assert curve.last_measured.tolist() == [3]
    geometric = Acceptance.of([0.805, 167 / 259])
    assert geometric.expected_tokens([3, 3]) == pytest.approx([2.9747, 2.3286], abs=5e-5)


def test_curve_continues_with_its_last_ratio() -> None:
    curve = [Fraction(4, 5), Fraction(3, 5), Fraction(2, 5)]
    ratio = curve[-1] / curve[-2]
    exact = [Fraction(1), *curve]
    while len(exact) < 40:
        exact.append(exact[-1] * ratio)
    acceptance = one({"acceptance_curve": [float(s) for s in curve]})
    for length in range(39):
        assert acceptance.survival([length])[0] == pytest.approx(float(exact[length]), rel=EXACT)
        assert acceptance.expected_tokens([length])[0] == pytest.approx(float(sum(exact[: length + 1])), rel=EXACT)


@pytest.mark.parametrize(
    ("curve", "survival"),
    [
        ([0.0], [1.0, 0.0, 0.0, 0.0]),
        ([0.5, 0.0], [1.0, 0.5, 0.0, 0.0]),
        ([0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]),
        ([1.0], [1.0, 1.0, 1.0, 1.0]),
        ([1.0, 0.5], [1.0, 1.0, 0.5, 0.25]),
    ],
)
def test_curves_with_ends(curve: list[float], survival: list[float]) -> None:
    acceptance = one({"acceptance_curve": curve})
    assert [float(acceptance.survival([l])[0]) for l in range(4)] == survival
    assert [float(acceptance.expected_tokens([l])[0]) for l in range(4)] == np.cumsum(survival).tolist()
    slopes = [float(acceptance.log_marginal_tokens([l])[0]) for l in range(3)]
    assert slopes == [-math.inf if s == 0.0 else math.log(s) for s in survival[1:]]


def test_curve_of_one_value_is_geometric() -> None:
    lengths = np.arange(30)[:, None]
    measured, geometric = one({"acceptance_curve": [0.7]}), one({"acceptance": 0.7})
    assert measured.survival(lengths) == pytest.approx(geometric.survival(lengths), rel=EXACT)
    assert measured.expected_tokens(lengths) == pytest.approx(geometric.expected_tokens(lengths), rel=EXACT)


# Beta


@pytest.mark.parametrize(("mean", "std"), [(0.8, 0.1), (0.5, 0.25), (0.739, 0.3133), (0.3, 0.4), (0.95, 0.02)])
def test_beta_is_the_mean_of_a_power(mean: float, std: float) -> None:
    """S(l) = E[x^l] by quadrature of the density that scipy has for these two moments."""
    total = mean * (1.0 - mean) / std**2 - 1.0
    a, b = mean * total, (1.0 - mean) * total
    assert stats.beta.mean(a, b) == pytest.approx(mean, rel=EXACT)
    assert stats.beta.std(a, b) == pytest.approx(std, rel=EXACT)
    acceptance = one({"acceptance": mean, "acceptance_std": std})
    survival = [1.0]
    for length in range(1, 25):
        if min(a, b) > 1.0:
            integral, _ = integrate.quad(lambda x, l=length: x**l * stats.beta.pdf(x, a, b), 0.0, 1.0, points=[mean])
        else:  # the density has singular ends, which weighted quadrature integrates exactly
            moment, _ = integrate.quad(lambda x, l=length: x**l, 0.0, 1.0, weight="alg", wvar=(a - 1.0, b - 1.0))
            integral = moment / math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))
        survival.append(integral)
        assert acceptance.survival([length])[0] == pytest.approx(survival[-1], rel=1e-9)
        assert acceptance.expected_tokens([length])[0] == pytest.approx(math.fsum(survival), rel=1e-9)


def test_published_beta_law() -> None:
    """[MS] table I as a Beta law: E(8) is 6.9 in place of 5.3 (MBPP+), 5.5 in place of 3.6 (GSM8K), Llama-2."""
    beta = Acceptance.of([0.8582, 0.7390], [0.2472, 0.3133])
    assert beta.expected_tokens([8, 8]) == pytest.approx([6.9, 5.5], abs=0.05)
    assert Acceptance.of([0.8582, 0.7390]).expected_tokens([8, 8]) == pytest.approx([5.3, 3.6], abs=0.05)


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.9])
def test_beta_between_its_limits(mean: float) -> None:
    """No deviation is the geometric law; the greatest makes a prompt all or nothing: S(l) = mean."""
    lengths = np.arange(12)
    no_spread = one({"acceptance": mean, "acceptance_std": 1e-7})
    most = one({"acceptance": mean, "acceptance_std": math.sqrt(mean * (1.0 - mean)) * (1.0 - 1e-9)})
    middle = one({"acceptance": mean, "acceptance_std": 0.5 * math.sqrt(mean * (1.0 - mean))})
    # S(l) = mean^l (1 + O(l^2 std^2/mean^2)) and mean (1 - O(distance from the greatest deviation)).
    assert no_spread.survival(lengths[:, None])[:, 0] == pytest.approx(mean**lengths, rel=1e-9)
    assert most.survival(lengths[1:, None])[:, 0] == pytest.approx(np.full(11, mean), rel=1e-6)
    between = middle.survival(lengths[2:, None])[:, 0]
    assert np.all(between > mean ** lengths[2:])
    assert np.all(between < mean)


# All laws


@given(laws())
def test_survival_and_tokens_against_brute_force(law: dict[str, Any]) -> None:
    acceptance = one(law)
    for length in (0, 1, 2, 5, 9):
        assert acceptance.survival([length])[0] == pytest.approx(brute_force.survival(law, length), rel=1e-9)
        exact = brute_force.expected_tokens(law, length)
        assert acceptance.expected_tokens([length])[0] == pytest.approx(exact, rel=1e-9)


@given(laws(), st.lists(st.floats(0.0, 30.0), min_size=3, max_size=3, unique=True))
def test_expected_tokens_is_concave_and_rises(law: dict[str, Any], places: list[float]) -> None:
    left, middle, right = sorted(places)
    acceptance = one(law)
    low, mid, high = acceptance.expected_tokens(np.array([[left], [middle], [right]]))[:, 0]
    assert low <= mid * (1.0 + EXACT) <= high * (1.0 + 2.0 * EXACT)
    chord = low + (high - low) * (middle - left) / (right - left)
    assert mid >= chord * (1.0 - EXACT)
    assert low >= 1.0
    assert high <= right + 1.0 + EXACT * right


@given(laws(), st.integers(0, 30))
def test_a_token_more_yields_its_survival(law: dict[str, Any], length: int) -> None:
    acceptance = one(law)
    tokens = acceptance.expected_tokens([[length], [length + 1]])[:, 0]
    assert tokens[1] == pytest.approx(tokens[0] + acceptance.survival([length + 1])[0], rel=EXACT)


@given(laws(), st.integers(0, 20), st.floats(0.0, 1.0, exclude_max=True))
def test_interpolation_is_linear_and_below(law: dict[str, Any], length: int, part: float) -> None:
    smooth = one(law)
    linear = smooth.interpolated()
    at = length + part
    length = math.floor(at)  # the sum may round up to the next whole length
    ends = linear.expected_tokens([[length], [length + 1]])[:, 0]
    assert ends == pytest.approx(smooth.expected_tokens([[length], [length + 1]])[:, 0], rel=EXACT)
    between = float(linear.expected_tokens([at])[0])
    assert between == pytest.approx(ends[0] + (at - length) * (ends[1] - ends[0]), rel=EXACT)
    assert between <= smooth.expected_tokens([at])[0] * (1.0 + EXACT)
    slope = math.exp(linear.log_marginal_tokens([at])[0])
    assert slope == pytest.approx(linear.survival([length + 1])[0], rel=EXACT)
    assert not linear.geometric
    assert linear.knots.all()


@given(st.lists(laws(), min_size=2, max_size=6))
def test_a_mixture_treats_each_device_by_its_own_law(devices: list[dict[str, Any]]) -> None:
    mixed = of(devices)
    lengths = np.arange(12.0).reshape(3, 4, 1) + np.linspace(0.0, 0.9, len(devices))
    for k, device in enumerate(devices):
        alone, column = one(device), lengths[..., [k]]
        assert np.array_equal(mixed.expected_tokens(lengths)[..., [k]], alone.expected_tokens(column))
        assert np.array_equal(mixed.log_marginal_tokens(lengths)[..., [k]], alone.log_marginal_tokens(column))
        whole = np.floor(column)
        assert np.array_equal(mixed.survival(np.floor(lengths))[..., [k]], alone.survival(whole))
        assert mixed.log_slope[k] == alone.log_slope[0]
        assert mixed.knots[k] == alone.knots[0]
        assert mixed.last_measured[k] == alone.last_measured[0]
    assert mixed.geometric == all(set(device) == {"acceptance"} for device in devices)


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    law = {"acceptance": 0.7, "acceptance_std": 0.2}
    used = one(law)
    used.survival([1000])
    lengths = np.arange(20)[:, None]
    assert np.array_equal(used.survival(lengths), one(law).survival(lengths))


# Construction


def test_means_come_as_any_row_or_column() -> None:
    for means in ([0.5, 0.6], (0.5, 0.6), np.array([[0.5], [0.6]]), np.array([[0.5, 0.6]])):
        assert Acceptance.of(means).mean.tolist() == [0.5, 0.6]
    assert not Acceptance.of([0.5]).mean.flags.writeable


def test_mean_of_a_curve_is_its_first_value() -> None:
    assert of([{"acceptance_curve": [0.8, 0.1]}, {"acceptance": 0.3}]).mean.tolist() == [0.8, 0.3]


def test_curves_need_no_means() -> None:
    curves = [[0.8, 0.5], [0.6, 0.3, 0.1]]
    acceptance = Acceptance.of(curves=curves)
    assert acceptance.mean.tolist() == [0.8, 0.6]
    assert acceptance.expected_tokens([2, 3]).tolist() == pytest.approx([2.3, 2.0], rel=FEW_ROUNDINGS)
    for missing in (None, [*curves, None]):
        with pytest.raises(ParameterError, match="acceptance has no mean"):
            Acceptance.of(curves=missing)


def test_deviations_of_another_count() -> None:
    with pytest.raises(ParameterError, match=r"acceptance_std has 1 values; 2 are needed"):
        Acceptance.of([0.5, 0.6], [0.1])


def test_a_table_that_no_memory_holds() -> None:
    with pytest.raises(ParameterError, match=r"lengths up to .* for 1 devices .* lower max_draft_length"):
        one({"acceptance": 0.5, "acceptance_std": 0.1}).survival([10**9])
