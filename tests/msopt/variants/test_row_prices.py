import numpy as np
import pytest
from scipy.optimize import Bounds, milp

from msopt.variants import row_prices
from msopt.variants.row_prices import price_rows, roundings


def bound(value: np.ndarray, rows: np.ndarray, bounds: np.ndarray, prices: np.ndarray) -> float:
    return float(np.sum(np.max(value - np.einsum("r,rak->ak", prices, rows), axis=0)) + prices @ bounds)


def least_bound(value: np.ndarray, rows: np.ndarray, bounds: np.ndarray) -> float:
    """The linear program itself, by SciPy's general solver."""
    actions, count = value.shape
    each = np.kron(np.ones((1, actions)), np.eye(count))
    solved = milp(
        -value.ravel(),
        constraints=[(rows.reshape(len(rows), -1), -np.inf, bounds), (each, 1.0, 1.0)],
        bounds=Bounds(0.0, np.inf),
    )
    return -float(solved.fun)


@pytest.mark.parametrize("rest", [1, 2, 3])
@pytest.mark.parametrize("simplex", [0, 10**9])
def test_prices_give_the_least_bound(rest: int, simplex: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_prices, "_SIMPLEX", simplex)
    rng = np.random.default_rng(rest)
    for _ in range(3):
        value = np.cumsum(rng.uniform(0.0, 1.0, (5, 12)), axis=0)
        rows = np.cumsum(rng.uniform(0.0, 1.0, (rest, 5, 12)), axis=1) * 1e6
        bounds = np.sum(rows[:, 2], axis=1)
        prices, share = price_rows(value, rows, bounds)
        assert np.all(prices >= 0.0)
        assert bound(value, rows, bounds, prices) == pytest.approx(least_bound(value, rows, bounds), rel=1e-7)
        np.testing.assert_allclose(np.sum(share, axis=0), 1.0, atol=1e-6)


def test_rows_that_none_keeps_cost_more_than_all_is_worth() -> None:
    value, rows = np.array([[0.0, 0.0], [1.0, 2.0]]), np.ones((2, 2, 2))
    for count in (1, 2):
        prices, _ = price_rows(value, rows[:count], np.array([1.0, 1.0])[:count])
        assert bound(value, rows[:count], np.array([1.0, 1.0])[:count], prices) < 0.0


def test_roundings_begin_with_the_likeliest() -> None:
    choices = roundings(np.array([[0.7, 1.0, 0.0], [0.3, 0.0, 1.0]]))
    assert choices[0].tolist() == [0, 0, 1]
    assert [1, 0, 1] in choices.tolist()
