"""[MS]'s closed forms against root finding, direct maximisation and the formulas as the paper prints them."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw

from msopt.formulas.multispin import (
    common_length,
    length_split,
    lengths_at_deadline,
    per_token_split,
)
from tests.strategies import decades
from tests.tolerances import CLOSED_FORM, EXACT, FIVE_DIGITS, FLAT_ARGUMENT

ROOT_XTOL, ROOT_RTOL = 1e-13, 1e-14


def goodput(alpha: float, ratio: float, length: float) -> float:
    """Tokens of a round over its time, in units of the time of one token; T_ver is `ratio` of them."""
    return -math.expm1((length + 1.0) * math.log(alpha)) / (1.0 - alpha) / (length + ratio)


# Lemmas 1, 2 and 3


def test_equal_draft_times_share_by_cost() -> None:
    theta, share = per_token_split([0.02, 0.02], [1e4, 3e4], 20e6)
    assert theta == pytest.approx(0.02 + 4e4 / 20e6, rel=EXACT)
    assert share == pytest.approx([5e6, 15e6], rel=EXACT)


@given(
    st.lists(st.tuples(decades(1e-4, 0.2), decades(1e2, 1e6), st.integers(0, 20)), min_size=1, max_size=6),
    decades(1e6, 1e8),
)
def test_splits_equalise_latencies(devices: list[tuple[float, float, int]], band: float) -> None:
    draft, cost, lengths = (np.array(column) for column in zip(*devices, strict=True))
    theta, share = per_token_split(draft, cost, band)
    assert draft + cost / share == pytest.approx(np.full(draft.size, theta), rel=EXACT)
    assert share.sum() == pytest.approx(band, rel=EXACT)
    phi, share = length_split(lengths, draft, cost, band)
    drafting = lengths > 0
    if not drafting.any():
        assert phi == 0.0
        return
    assert share.sum() == pytest.approx(band, rel=EXACT)
    finish = lengths[drafting] * (draft[drafting] + cost[drafting] / share[drafting])
    assert finish == pytest.approx(np.full(finish.size, phi), rel=EXACT)
    assert not share[~drafting].any()


# Theorem 1


@pytest.mark.parametrize(
    ("alpha", "ratio", "length"),
    [(0.8, 10.0, 5.75620464), (0.5, 2000.0, 9.44485032), (0.999999, 50.0, 9882.19), (0.8, 1.0, -1.0)],
)
def test_published_lengths(alpha: float, ratio: float, length: float) -> None:
    """Values where a direct `lambertw` gives NaN or infinity among them."""
    found = float(common_length(alpha, 0.02, 0.02 * ratio))
    assert found == pytest.approx(length, rel=5e-7 if length > 1e3 else 1e-8)


@pytest.mark.parametrize("ratio", [0.999, 0.5, 1e-12, 0.0])
@pytest.mark.parametrize("alpha", [1e-300, 0.2, 0.8, 1.0 - 1e-12])
def test_no_stationary_point_means_the_minimum(alpha: float, ratio: float) -> None:
    assert common_length(alpha, 1.0, ratio) <= 0.0
    assert np.isfinite(common_length(alpha, 1.0, ratio))


def test_ends_of_acceptance() -> None:
    assert common_length([0.0, 0.0], 1.0, [0.5, 1e6]).tolist() == [-math.inf, -math.inf]
    assert common_length([1.0, 1.0, 1.0], 1.0, [0.5, 1.0, 1.5]).tolist() == [-math.inf, -math.inf, math.inf]


@given(st.floats(0.01, 0.9999), decades(1.0, 1e5))
def test_theorem_1_against_a_bracketed_root(alpha: float, ratio: float) -> None:
    log = math.log(alpha)
    assume(ratio > 1.001 * (1.0 - alpha) / (alpha * -log))  # the paper's condition for L > 0

    def gain(length: float) -> float:
        """Sign of the derivative: ln E' + ln(L + r) - ln E."""
        tokens = math.log(-math.expm1((length + 1.0) * log))
        return math.log(-log) + (length + 1.0) * log + math.log(length + ratio) - tokens

    root = brentq(gain, 0.0, 1e7, xtol=ROOT_XTOL, rtol=ROOT_RTOL)
    # Just above the condition L is small against the 1 in L + 1 and the r in L + r.
    assert float(common_length(alpha, 1.0, ratio)) == pytest.approx(root, rel=CLOSED_FORM, abs=EXACT * ratio)


@given(st.floats(0.05, 0.99), decades(1.0, 100.0))
def test_theorem_1_against_direct_maximisation(alpha: float, ratio: float) -> None:
    found = float(common_length(alpha, 1.0, ratio))
    assume(0.1 < found < 900.0)
    best = minimize_scalar(
        lambda x: -goodput(alpha, ratio, x), bounds=(0.0, 1000.0), method="bounded", options={"xatol": 1e-9}
    )
    assert found == pytest.approx(best.x, abs=FLAT_ARGUMENT * (best.x + ratio))
    assert goodput(alpha, ratio, found) >= -best.fun * (1.0 - EXACT)


@given(st.floats(0.05, 0.99), decades(1.1, 300.0))
def test_theorem_1_as_printed(alpha: float, ratio: float) -> None:
    """L = -ln(-W_-1(-alpha^(r-1)/e))/ln(alpha) - 1, where neither the branch point nor underflow is near."""
    argument = alpha ** (ratio - 1.0) / math.e
    assume(1e-200 < argument < 0.99 / math.e)
    branch = float(lambertw(-argument, -1).real)
    printed = -math.log(-branch) / math.log(alpha) - 1.0
    assert float(common_length(alpha, 0.03, 0.03 * ratio)) == pytest.approx(printed, rel=CLOSED_FORM, abs=CLOSED_FORM)


@given(st.floats(0.01, 0.999), decades(0.1, 1e3))
def test_drafting_pays_by_the_papers_condition(alpha: float, ratio: float) -> None:
    threshold = (1.0 - alpha) / (alpha * -math.log(alpha))
    assume(abs(ratio / threshold - 1.0) > 1e-9)
    assert (common_length(alpha, 1.0, ratio) > 0.0) == (ratio > threshold)


@given(st.floats(0.05, 0.99), decades(1.5, 1e3), st.floats(1.01, 3.0))
def test_best_length_rises_with_verification_and_acceptance_and_falls_with_theta(
    alpha: float, ratio: float, factor: float
) -> None:
    here = float(common_length(alpha, 0.02, 0.02 * ratio))
    assert common_length(alpha, 0.02, factor * 0.02 * ratio) > here
    assert common_length(alpha, factor * 0.02, 0.02 * ratio) < here or here == -1.0
    assert common_length(alpha ** (1.0 / factor), 0.02, 0.02 * ratio) > here


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_length_as_acceptance_nears_one(gap: float) -> None:
    """[MS]: L + 1 ~ sqrt(2 (r - 1)/(-ln alpha)); the next term of the series is (r - 1)/3."""
    ratio, alpha = 50.0, 1.0 - gap
    leading = math.sqrt(2.0 * (ratio - 1.0) / -math.log1p(-gap))
    found = float(common_length(alpha, 1.0, ratio))
    # alpha itself is rounded: 1 - alpha is off by up to 1.1e-16/gap.
    assert (
        abs(found + ratio - leading - (ratio - 1.0) * 2.0 / 3.0)
        <= (2.0 * ratio) ** 1.5 * math.sqrt(gap) + leading * 1e-16 / gap
    )


@given(st.floats(0.05, 0.999), decades(0.1, 500.0))
def test_best_whole_length_is_a_neighbour(alpha: float, ratio: float) -> None:
    real = float(common_length(alpha, 1.0, ratio))
    scores = [goodput(alpha, ratio, length) for length in range(1, 200)]
    best = 1 + int(np.argmax(scores))
    near = {min(max(1, math.floor(real)), 199), min(max(1, math.ceil(real)), 199)}
    assert max(scores) <= max(scores[length - 1] for length in near) * (1.0 + EXACT), (best, real)


# Proposition 1


def stationary(phi: float, price: float, alpha: float, draft: float, cost: float) -> float:
    """The length at which another token is worth the bandwidth it needs, by bracketing the logarithms."""
    log = math.log(alpha)

    def worth(length: float) -> float:
        left = 1.0 - draft * length / phi
        return (
            math.log(-log / (1.0 - alpha)) + (length + 1.0) * log - math.log(price * cost / phi) + 2.0 * math.log(left)
        )

    high = phi / draft * (1.0 - 1e-15)
    low = -1.0
    while worth(low) < 0.0:
        low *= 2.0
    return high if worth(high) > 0.0 else float(brentq(worth, low, high, xtol=ROOT_XTOL, rtol=ROOT_RTOL))


INNER = st.floats(0.02, 0.98)


@given(decades(1e-2, 10.0), decades(1e-12, 1e-3), INNER, decades(1e-4, 0.2), decades(1e2, 1e6))
def test_proposition_1_against_a_bracketed_root(
    phi: float, price: float, alpha: float, draft: float, cost: float
) -> None:
    found = float(lengths_at_deadline(phi, price, [alpha], [draft], [cost])[0])
    root = stationary(phi, price, alpha, draft, cost)
    assert found == pytest.approx(root, rel=CLOSED_FORM, abs=CLOSED_FORM)
    assert found <= phi / draft


@given(decades(0.1, 3.0), decades(1e-10, 1e-6), INNER, decades(5e-3, 0.1), decades(1e3, 1e5))
def test_proposition_1_against_direct_maximisation(
    phi: float, price: float, alpha: float, draft: float, cost: float
) -> None:
    """The length with the most tokens less the price of its bandwidth c L/(phi - T L)."""
    found = float(lengths_at_deadline(phi, price, [alpha], [draft], [cost])[0])

    def loss(length: float) -> float:
        tokens = -math.expm1((length + 1.0) * math.log(alpha)) / (1.0 - alpha)
        return price * cost * length / (phi - draft * length) - tokens

    ceiling = phi / draft * (1.0 - 1e-12)
    best = minimize_scalar(loss, bounds=(0.0, ceiling), method="bounded", options={"xatol": 1e-10})
    assert loss(min(max(found, 0.0), ceiling)) <= best.fun + EXACT * max(1.0, abs(best.fun))


@given(decades(0.1, 3.0), decades(1e-10, 1e-6), INNER, decades(5e-3, 0.1), decades(1e3, 1e5))
def test_proposition_1_as_printed(phi: float, price: float, alpha: float, draft: float, cost: float) -> None:
    """L = phi/T + 2/ln(a) W_0(a^(-phi/2T)/(2T) sqrt(lambda c phi |ln a| (1 - a)/a)), where the power is finite."""
    log = math.log(alpha)
    power = -phi / (2.0 * draft) * log
    assume(power < 300.0)
    root = math.sqrt(price * cost * phi * -log * (1.0 - alpha) / alpha)
    branch = float(lambertw(math.exp(power) / (2.0 * draft) * root, 0).real)
    printed = phi / draft + 2.0 / log * branch
    found = float(lengths_at_deadline(phi, price, [alpha], [draft], [cost])[0])
    # The printed form subtracts two numbers of the size phi/T.
    assert found == pytest.approx(printed, rel=CLOSED_FORM, abs=EXACT * phi / draft)


def test_limits_of_proposition_1() -> None:
    phi, price, draft, cost = 0.5, 2e-8, 0.02, 1e4
    alpha = np.array([1.0, 0.0, 0.7, 1.0, 1.0])
    drafting = np.array([draft, draft, 0.0, 0.0, 0.0])
    costs = np.array([cost, cost, cost, cost, phi / price * 2.0])
    sure, never, instant, cheap, dear = lengths_at_deadline(phi, price, alpha, drafting, costs).tolist()
    assert sure == pytest.approx((phi - math.sqrt(price * cost * phi)) / draft, rel=EXACT)
    assert never == -1.0
    log = -math.log(0.7)
    assert instant == pytest.approx(-math.log(price * cost * 0.3 / (log * phi)) / log - 1.0, rel=EXACT)
    assert (cheap, dear) == (math.inf, 0.0)


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_continuous_at_its_limits(alpha: float) -> None:
    arguments = 0.5, 2e-8
    nearly, exactly = (float(lengths_at_deadline(*arguments, [alpha], [tau], [1e4])[0]) for tau in (1e-12, 0.0))
    assert nearly == pytest.approx(exactly, rel=FIVE_DIGITS)
    nearly, exactly = (float(lengths_at_deadline(*arguments, [a], [0.02], [1e4])[0]) for a in (1.0 - 1e-9, 1.0))
    assert nearly == pytest.approx(exactly, rel=FIVE_DIGITS)


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 0.5, 0.999999, 1.0 - 1e-15, 1.0])
@pytest.mark.parametrize("draft", [0.0, 1e-12, 1e-3, 1.0])
@pytest.mark.parametrize("price", [1e-300, 1e-8, 1e5])
@pytest.mark.parametrize("phi", [1e-9, 1.0, 1e6])
def test_proposition_1_never_overflows(alpha: float, draft: float, price: float, phi: float) -> None:
    value = float(lengths_at_deadline(phi, price, [alpha], [draft], [1e5])[0])
    assert not math.isnan(value)
    if draft > 0.0:
        assert value <= phi / draft + EXACT * (1.0 + phi / draft)


@given(decades(0.1, 3.0), decades(1e-10, 1e-6), INNER, decades(5e-3, 0.1), decades(1e3, 1e5), st.floats(1.1, 10.0))
def test_a_higher_price_shortens_and_a_later_deadline_lengthens(
    phi: float, price: float, alpha: float, draft: float, cost: float, factor: float
) -> None:
    def length(deadline: float, charge: float) -> float:
        return float(lengths_at_deadline(deadline, charge, [alpha], [draft], [cost])[0])

    here = length(phi, price)
    assert length(phi, factor * price) <= here + EXACT * abs(here)
    assert length(factor * phi, price) >= here - EXACT * abs(here) or here < 0.0
