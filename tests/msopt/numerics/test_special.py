"""The scalar functions against 60-digit decimal arithmetic."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import wrightomega

from msopt.numerics.special import excess_root, log1p_minus, omega
from tests.strategies import decades
from tests.tolerances import EXACT, FEW_ROUNDINGS

DIGITS = 60


def log1p_minus_exactly(x: float) -> Decimal:
    """ln(1 + x) - x with digits to spare for the cancellation."""
    with localcontext() as context:
        cancelled = -2 * Decimal(x).adjusted() if x else 0
        context.prec = DIGITS + max(0, cancelled)
        return (1 + Decimal(x)).ln() - Decimal(x)


def relative_error(value: float, exact: Decimal) -> float:
    return float(abs(Decimal(value) - exact) / abs(exact))


@pytest.mark.parametrize(
    "x",
    [
        *(0.2, 0.19999999999999998, 0.20000000000000004, -0.2, -0.19999999999999998, -0.20000000000000004),
        *(1e-100, -1e-100, 1e-30, 1e-8, -1e-8, 1e-3, -1e-3, 1.0, -0.5, -0.999, -1.0 + 2.0**-53, 1e3, 1e15, 1e300),
    ],
)
def test_log1p_minus_at_its_borders(x: float) -> None:
    assert relative_error(float(log1p_minus(np.array(x))), log1p_minus_exactly(x)) <= FEW_ROUNDINGS


@given(st.one_of(decades(1e-20, 1e6), decades(1e-20, 0.999).map(lambda x: -x)))
def test_log1p_minus(x: float) -> None:
    assert relative_error(float(log1p_minus(np.array(x))), log1p_minus_exactly(x)) <= FEW_ROUNDINGS


def test_log1p_minus_of_nothing() -> None:
    assert float(log1p_minus(np.array(0.0))) == 0.0


@given(decades(1e-30, 1e300))
def test_excess_root(t: float) -> None:
    """d - ln(1 + d) = t; its elasticity d^2/((1 + d) t) is between 1 and 2, so an error of d shows in t."""
    root = float(excess_root(np.array(t)))
    assert root > 0.0
    assert relative_error(t, -log1p_minus_exactly(root)) <= 2.0 * FEW_ROUNDINGS


def test_excess_root_of_nothing() -> None:
    assert float(excess_root(np.array(0.0))) == 0.0


def test_excess_root_near_nothing_is_the_square_root() -> None:
    """d - ln(1 + d) = d^2/2 - d^3/3 + ..., so d = sqrt(2 t) + 2 t/3 + O(t^1.5)."""
    t = 1e-24
    assert float(excess_root(np.array(t))) == pytest.approx(np.sqrt(2.0 * t) + 2.0 * t / 3.0, rel=FEW_ROUNDINGS)


def test_excess_root_keeps_the_shape_and_treats_elements_alone() -> None:
    t = np.array([[0.0, 1e-20, 1.0], [1e3, 1e200, 0.3]])
    together = excess_root(t)
    assert together.shape == t.shape
    for place in np.ndindex(t.shape):
        assert together[place] == excess_root(t[place])


@given(st.lists(decades(1e-20, 1e20), min_size=2, max_size=5))
def test_excess_root_rises(values: list[float]) -> None:
    roots = excess_root(np.sort(np.array(values)))
    assert np.all(np.diff(roots) >= 0.0)


@given(st.floats(-600.0, 600.0))
def test_omega(z: float) -> None:
    """w + ln w = z; ln w loses digits where it is large, so an error shows relative to z there."""
    root = float(omega(np.array(z)))
    assert root > 0.0
    with localcontext() as context:
        context.prec = DIGITS
        left = Decimal(root) + Decimal(root).ln() - Decimal(z)
    # dz/d ln(w) = 1 + w
    assert float(abs(left)) <= FEW_ROUNDINGS * max(1.0, abs(z)) * (1.0 + root / max(1.0, abs(z)))


@given(st.lists(st.floats(-600.0, 1e100), min_size=1, max_size=9))
def test_omega_is_scipys(values: list[float]) -> None:
    z = np.array(values)
    assert omega(z) == pytest.approx(wrightomega(z), rel=EXACT)


def test_omega_far_below_is_nothing() -> None:
    assert 0.0 <= float(omega(np.array(-1e300))) <= np.exp(-700.0) * (1.0 + EXACT)
