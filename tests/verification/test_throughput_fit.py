"""Costs of a round from throughputs: rows made of known costs, textbook intervals, and what rows do not tell."""

import numpy as np
import pytest
from scipy.stats import t

from msopt.errors import ParameterError
from verification.throughput_fit import COSTS, ThroughputRow, fit_throughputs

COST = {
    "verify_base_s": 0.02,
    "server_draft_s_per_token": 0.004,
    "verify_per_token_s": 5e-4,
    "verify_per_device_s": 1e-3,
}
GRID = [(b, n) for b in (1, 2, 8, 32) for n in (0, 1, 3, 5)]


def rows(grid: list[tuple[int, int]], noise: float = 0.0, alpha: float = 0.7, **changed: float) -> list[ThroughputRow]:
    rng = np.random.default_rng(3)
    cost = COST | changed
    made = []
    for b, n in grid:
        tokens = sum(alpha**l for l in range(n + 1))
        seconds = cost["verify_base_s"] + b * cost["verify_per_device_s"] + b * (n + 1) * cost["verify_per_token_s"]
        seconds += n * cost["server_draft_s_per_token"]
        made.append(ThroughputRow(b, n, b * tokens / (seconds * (1 + noise * rng.standard_normal())), tokens))
    return made


def test_costs_come_back() -> None:
    fit = fit_throughputs(rows(GRID))
    assert {key: cost.seconds for key, cost in fit.costs.items()} == pytest.approx(COST, rel=1e-9)
    assert (fit.told_with, fit.negative, fit.holds) == ((), (), True)


def test_intervals_are_those_of_weighted_least_squares() -> None:
    """Each row divided by its round time; Student's t of the coefficients' covariance."""
    noisy = rows(GRID, 0.02)
    fit = fit_throughputs(noisy)
    b, n, seconds = (np.array([getattr(row, key) for row in noisy]) for key in ("batch", "draft_length", "round_s"))
    columns = np.stack([np.ones(len(b)), n, b * (n + 1), b], axis=1) / seconds[:, None]
    value, residual, _, _ = np.linalg.lstsq(columns, np.ones(len(b)), rcond=None)
    error = np.sqrt(np.diag(np.linalg.pinv(columns.T @ columns)) * residual[0] / (len(b) - 4))
    reach = t.ppf(0.975, len(b) - 4) * error
    for place, key in enumerate(COSTS):
        cost = fit.costs[key]
        assert cost.seconds == pytest.approx(value[place], rel=1e-8)
        assert (cost.low, cost.high) == pytest.approx(
            (max(0, value[place] - reach[place]), value[place] + reach[place])
        )
        assert (cost.low or 0.0) <= COST[key] <= (cost.high or 0.0)


@pytest.mark.parametrize(
    ("grid", "lost"),
    [
        ([(4, n) for n in range(5)], ("verify_per_token_s", "verify_per_device_s")),
        ([(b, 3) for b in range(1, 6)], ("server_draft_s_per_token", "verify_per_device_s")),
        ([(1, 0)] * 3, ("server_draft_s_per_token", "verify_per_token_s", "verify_per_device_s")),
    ],
)
def test_what_rows_do_not_tell_apart_is_said(grid: list[tuple[int, int]], lost: tuple[str, ...]) -> None:
    """What is lost is held by the others: the fitted rounds are the measured ones."""
    fit = fit_throughputs(rows(grid))
    assert fit.told_with == lost
    assert all(fit.costs[key].high is None and fit.costs[key].seconds == 0.0 for key in lost)
    assert np.abs(fit.relative_residuals).max() < 1e-9


def test_a_negative_cost_is_left_out() -> None:
    fit = fit_throughputs(rows(GRID, verify_per_token_s=-1e-4))
    assert fit.negative == ("verify_per_token_s",)
    assert min(cost.seconds for cost in fit.costs.values()) == 0.0


def test_rounds_of_another_kind_do_not_hold() -> None:
    """One row at half its speed, as where another kernel takes over."""
    made = rows(GRID)
    odd = made[5]
    made[5] = ThroughputRow(odd.batch, odd.draft_length, odd.tokens_per_s / 2, odd.tokens_per_round)
    fit = fit_throughputs(made)
    assert not fit.holds
    assert int(np.abs(fit.relative_residuals).argmax()) == 5


def test_too_few_rows() -> None:
    with pytest.raises(ParameterError, match="4 rows for 4 costs; at least 5 are needed"):
        fit_throughputs(rows([(1, 0), (1, 2), (4, 0), (4, 2)]))
    with pytest.raises(ParameterError, match="0 rows"):
        fit_throughputs([])
