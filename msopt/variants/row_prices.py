"""Prices of rows and shares of actions: the linear relaxation of a multiple-choice knapsack with a few rows."""

import itertools

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from msopt.arrays import FloatArray, IntArray

_PENALTY = 1e4  # times the range of all values: what a row costs beyond its bound, so that there always is a solution
_CUTS = 200  # of the price of one row: each is a line that its bound lies above, and few are needed
_SAME = 1e-12  # relative: two lines that meet where the bound is
_SOME = 1e-9  # of an action: less is round-off
_ROUNDINGS = 64
_SIMPLEX = 5000  # actions of all devices: with more, planes are quicker
_PLANES = 40
_CLOSE = 1e-8  # relative: the bound to the least of the planes


def price_rows(value: FloatArray, rows: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Maximise sum value x over shares x of each device's actions, with sum rows x <= bounds.

    Parameters
    ----------
    value : array, shape (A, K)
        -inf for actions that are out.
    rows : array, shape (R, A, K)
    bounds : array, shape (R,)

    Returns
    -------
    prices : array, shape (R,)
        At least 0. Whatever they are, sum_k max_a (value - prices rows) + prices bounds bounds the maximum.
    share : array, shape (A, K)
        A solution, or one that breaks rows where none keeps them.
    """
    if len(rows) == 1:
        price, share = _one_row(value, rows[0], float(bounds[0]))
        return np.array([price]), share
    size = np.maximum(np.maximum(np.abs(bounds), np.max(np.abs(rows), axis=(1, 2))), np.finfo(float).tiny)
    solved = _by_simplex if value.size <= _SIMPLEX else _by_lines
    prices, share = solved(value, rows / size[:, None, None], bounds / size)
    return prices / size, share


def _one_row(value: FloatArray, row: FloatArray, bound: float) -> tuple[float, FloatArray]:
    """The bound is convex and piecewise linear in the one price: the next price is where the lines at two meet."""
    everyone = np.arange(value.shape[1])

    def line(price: float) -> tuple[float, float, IntArray]:
        reduced = value - price * row
        best = np.argmax(reduced, axis=0)
        return float(np.sum(reduced[best, everyone])) + price * bound, bound - float(np.sum(row[best, everyone])), best

    low, at_low = 0.0, line(0.0)
    if at_low[1] >= 0.0:
        return 0.0, _shares(value.shape, [(1.0, at_low[2])])
    most = _penalty(value) / max(abs(bound), float(np.max(np.abs(row))))
    high, at_high = most, line(most)
    if at_high[1] < 0.0:
        return most, _shares(value.shape, [(1.0, at_high[2])])
    for _ in range(_CUTS):
        # Both lines lie below the bound; where they meet it is lowest, if it is there at all.
        middle = (at_low[0] - at_low[1] * low - at_high[0] + at_high[1] * high) / (at_high[1] - at_low[1])
        if not low < middle < high:
            break
        here = line(middle)
        floor = at_low[0] + at_low[1] * (middle - low)
        if here[0] <= floor + _SAME * max(1.0, abs(floor)):
            low = high = middle
            break
        if here[1] < 0.0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    part = at_high[1] / (at_high[1] - at_low[1])
    return high, _shares(value.shape, [(part, at_low[2]), (1.0 - part, at_high[2])])


def _shares(shape: tuple[int, int], parts: list[tuple[float, IntArray]]) -> FloatArray:
    share = np.zeros(shape)
    for part, choice in parts:
        share[choice, np.arange(shape[1])] += part
    return share


def _penalty(value: FloatArray) -> float:
    """What breaking a row by all of its size costs."""
    return float(_PENALTY * (np.ptp(value[np.isfinite(value)]) + 1.0) * value.shape[1])


def _by_simplex(value: FloatArray, rows: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """HiGHS, with rows that may be broken at a price, so that an answer never hangs on what it calls infeasible."""
    action, device = np.nonzero(np.isfinite(value))
    worth = value[action, device]
    count, rest = value.shape[1], len(rows)
    taken = sp.csr_array(rows[:, action, device])
    found = linprog(  # type: ignore[call-overload]
        np.concatenate([-worth, np.full(rest, _penalty(value))]),
        A_ub=sp.hstack([taken, -sp.eye_array(rest)], format="csr"),
        b_ub=bounds,
        A_eq=sp.csr_array((np.ones(worth.size), (device, np.arange(worth.size))), shape=(count, worth.size + rest)),
        b_eq=np.ones(count),
        bounds=(0.0, None),
        method="highs",
    )
    if found.x is None:  # no prices: the bound is the best of every device by itself
        return np.zeros(rest), _shares(value.shape, [(1.0, np.argmax(value, axis=0))])
    share = np.zeros(value.shape)
    share[action, device] = found.x[: worth.size]
    return np.maximum(-found.ineqlin.marginals, 0.0), share


def _by_lines(value: FloatArray, rows: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kelley's cutting planes for many devices: every choice is a plane below the bound as a function of the prices.

    The least of their maximum is a linear program with a variable for each price; its own prices are the shares of the
    choices. Any prices give a bound, so that it may end early.
    """
    rest, everyone = len(rows), np.arange(value.shape[1])
    most = _penalty(value)
    prices, best = np.zeros(rest), (np.inf, np.zeros(rest))
    choices: list[IntArray] = []
    planes: list[FloatArray] = []
    weights = np.ones(1)
    for _ in range(_PLANES):
        reduced = value - np.einsum("r,rak->ak", prices, rows)
        choice = np.argmax(reduced, axis=0)
        slope = bounds - np.sum(rows[:, choice, everyone], axis=1)
        worth = float(np.sum(value[choice, everyone]))
        best = min(best, (worth + float(prices @ slope), prices), key=lambda one: one[0])
        choices.append(choice)
        planes.append(np.concatenate([slope, [-1.0, -worth]]))
        table = np.array(planes)
        found = linprog(
            np.append(np.zeros(rest), 1.0),
            A_ub=table[:, :-1],
            b_ub=table[:, -1],
            bounds=[(0.0, most)] * rest + [(None, None)],
            method="highs",
        )
        if found.x is None:
            break
        weights, prices = -found.ineqlin.marginals, found.x[:rest]
        if best[0] - float(found.fun or 0.0) <= _CLOSE * max(1.0, abs(best[0])):
            break
    parts = [(float(part), choice) for part, choice in zip(weights, choices, strict=False) if part > _SOME]
    return best[1], _shares(value.shape, parts)


def roundings(share: FloatArray) -> IntArray:
    """Choices of one action for each device among those it has a share of, the likeliest first, shape (n, K)."""
    best = np.argmax(share, axis=0)
    split = np.flatnonzero(np.max(share, axis=0) < 1.0 - _SOME)
    choices: list[IntArray] = [best]
    options = [np.flatnonzero(share[:, k] > _SOME) for k in split]
    for picked in itertools.islice(itertools.product(*options), _ROUNDINGS) if options else ():
        other = best.copy()
        other[split] = picked
        choices.append(other)
    return np.array(choices)
