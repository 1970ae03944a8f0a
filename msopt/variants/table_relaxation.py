"""How good choices can be with a deadline in an interval: the linear relaxation of a table (ours, design section 7).

For a target U, `Utility.terms` gives a worth of every action, a slope m and a constant such that a choice with a round
of T = D + c0 + sum_k y_k seconds beats U only if sum_k (worth - m y) - m (D + c0) + constant > 0. With prices nu >= 0
of the rows (the band, and whatever limits add in sums), and every bandwidth replaced by a line in D below it,

    phi(D) = sum_k max_a [worth - m y - nu w(D)] + nu b - m (D + c0) + constant

bounds that difference. For a given choice it is linear in D, so that the two ends of an interval decide. Any prices
give a bound; those of the linear program in the middle of the interval give nearly the least.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.lengths.need import need_by_deadline
from msopt.numerics.margins import FITS
from msopt.variants.action_problem import ActionProblem
from msopt.variants.row_prices import price_rows, roundings

_STEEPEST_FALL = 0.5  # of a bandwidth over half an interval: with more its tangent nears 0 and says nothing
_WHOLE = 1.0 - 1e-6  # of a device that chooses one action


@dataclass(frozen=True, eq=False)
class TableRegion:
    """An interval of deadlines, one of the devices' own verification time in all, and the actions that are left.

    Attributes
    ----------
    deadline_s, own_s : pairs of float
        The intervals [s].
    left : array of bool, shape (A, K)
    prices : array, shape (R,)
        Of a region near by.
    """

    deadline_s: tuple[float, float]
    own_s: tuple[float, float]
    left: BoolArray
    prices: FloatArray | None = None

    def own_within(self, own_s: FloatArray) -> tuple[float, float]:
        """The least and the most own time in all of the actions that are left, within the interval [s]."""
        least = float(np.sum(np.min(np.where(self.left, own_s, np.inf), axis=0)))
        most = float(np.sum(np.max(np.where(self.left, own_s, -np.inf), axis=0)))
        return max(least, self.own_s[0]), min(most, self.own_s[1])


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What may beat the target in a region.

    Attributes
    ----------
    region : TableRegion
        With the actions that are left.
    excess : array, shape (2,)
        phi at both ends.
    bound : float
        No choice of the region has a greater utility.
    loss : array, shape (2, A, K)
        How far each action is below the device's best at both ends.
    share : array, shape (A, K)
        The solution of the linear program in the middle.
    heavy : array, shape (A, K)
        Of the middle's bandwidths [Hz], what actions are told apart by.
    """

    region: TableRegion
    excess: FloatArray
    bound: float
    loss: FloatArray
    share: FloatArray
    heavy: FloatArray

    @property
    def candidates(self) -> IntArray:
        """Choices that attain phi at either end, and the roundings of the linear program, shape (n, K)."""
        best = np.argmin(np.where(np.isfinite(self.loss), self.loss, np.inf), axis=1)
        return np.vstack([best, roundings(self.share)])

    @property
    def broken(self) -> int | None:
        """The device that the linear program splits most; None: none."""
        most = np.max(self.share, axis=0)
        device = int(np.argmin(most))
        return device if most[device] < _WHOLE else None


class TableRelaxation:
    """The relaxation of one problem."""

    def __init__(self, problem: ActionProblem) -> None:
        self.problem = problem
        self._amounts = np.array([row.amount for row in problem.rules.rows]).reshape(-1, *problem.table.shape)
        self._bounds = np.array([row.bound for row in problem.rules.rows])

    def examine(self, region: TableRegion, target: float) -> Relaxed | None:
        """What may beat a target in a region; None: nothing."""
        problem, utility = self.problem, self.problem.utility
        own = problem.own_s
        least, most = region.own_within(own)
        start, end = region.deadline_s
        first = max(start + problem.base_s + least, problem.shortest_round_s)
        round_s = (first, max(first, end + problem.base_s + max(most, least)))
        left = region.left & problem.rules.kept(round_s[0])
        terms = utility.terms(problem.table.tokens, round_s, target)
        left &= terms.worth > -np.inf
        heavy_end = np.where(left, problem.need_hz(end, round_s[1]), np.inf)
        left &= heavy_end <= problem.band_hz * FITS
        if least > most * FITS + _SMALLEST or not np.all(np.any(left, axis=0)):
            return None
        band, heavy = self._lines(region.deadline_s, left, heavy_end)
        value = np.where(left, terms.worth - terms.per_second * own, -np.inf)
        base = terms.constant - terms.per_second * (np.array([start, end]) + problem.base_s)
        rows, bounds = self._rows(band, region.own_s, left)
        least_used = np.sum(np.min(np.where(left, np.min(rows, axis=1), np.inf), axis=1), axis=-1)
        if np.any(least_used > bounds + _OVER * np.maximum(1.0, np.abs(bounds))):
            return None
        found = self._prices(value, rows, bounds, base, region.prices)
        if found is None:
            return None
        prices, share, excess = found
        reduced = value - np.einsum("r,reak->eak", prices, rows)
        loss = np.where(left, np.max(reduced, axis=1)[:, None, :] - reduced, np.inf)
        left = left & np.any(loss < excess[:, None, None], axis=0)
        share = np.where(left, share, 0.0)
        total = np.sum(share, axis=0)
        best = np.argmin(np.where(left, np.min(loss, axis=0), np.inf), axis=0)
        share[best, np.arange(best.size)] += np.maximum(1.0 - total, 0.0)
        tokens = np.max(np.where(left, problem.table.tokens, 0.0), axis=0)
        ceiling = float(utility.value(tokens, np.asarray(round_s[0])))
        bound = min(utility.raised(target, float(np.max(excess)), round_s), ceiling)
        kept = TableRegion(region.deadline_s, region.own_s, left, prices)
        return Relaxed(kept, excess, bound, loss, share, np.where(left, heavy, np.inf))

    def _lines(
        self, interval_s: tuple[float, float], left: BoolArray, heavy_end: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bandwidths at both ends, shape (2, A, K), on lines below them, and those in the middle.

        A line is the tangent of what the bits need, or what a device has to have at the end, where it has most.
        """
        problem, table = self.problem, self.problem.table
        start, end = interval_s
        half = 0.5 * (end - start)
        sends = left & problem.sends
        bits, busy = np.where(sends, table.bits, 0.0), np.where(sends, problem.ready_s, 0.0)
        weight, fall = need_by_deadline(busy, bits, problem.scenario.uplink, start + half)
        steep = sends & (np.isinf(weight) | (fall * half > _STEEPEST_FALL * weight))
        if np.any(steep):
            # What is left can be sent by the end, so that everything is finite there.
            at_end, fall_at_end = need_by_deadline(busy, bits, problem.scenario.uplink, end)
            fall = np.where(steep, fall_at_end, fall)
            weight = np.where(steep, at_end + fall * half, weight)
        if problem.rules.plain:
            heavy = np.where(sends, np.maximum(weight, 0.0), 0.0)
        else:
            longest = start + half + problem.base_s + float(np.sum(np.max(np.where(left, problem.own_s, 0.0), axis=0)))
            heavy = problem.need_hz(start + half, longest)
            heavy = np.where(sends, np.where(np.isfinite(heavy), heavy, problem.band_hz * 2.0), 0.0)
            flat = sends & (heavy_end >= weight)
            weight, fall = np.where(flat, heavy_end, weight), np.where(flat, 0.0, fall)
        weight, fall = np.where(sends, weight, 0.0), np.where(sends, fall, 0.0)
        return np.stack([weight + fall * half, weight - fall * half]), heavy

    def _rows(self, band: FloatArray, own_s: tuple[float, float], left: BoolArray) -> tuple[FloatArray, FloatArray]:
        """All rows at both ends, shape (R, 2, A, K), and their bounds: the band first, the devices' own time last."""
        own = self.problem.own_s
        rows, bounds = [band], [self.problem.band_hz]
        for amount, bound in zip(self._amounts, self._bounds, strict=True):
            rows.append(np.stack([amount, amount]))
            bounds.append(float(bound))
        if np.isfinite(own_s[1]):
            rows += [np.stack([own, own]), np.stack([-own, -own])]
            bounds += [own_s[1], -own_s[0]]
        return np.where(left, np.array(rows), 0.0), np.array(bounds)

    def _prices(
        self, value: FloatArray, rows: FloatArray, bounds: FloatArray, base: FloatArray, near: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Prices with a low phi, the linear program's solution, and phi at both ends; None where it is at most 0."""
        known = near is not None and near.size == bounds.size
        if near is not None and known and np.max(_excess(value, rows, bounds, base, near)) <= 0.0:
            return None
        prices, share = price_rows(value, np.mean(rows, axis=1), bounds)
        excess = _excess(value, rows, bounds, base, prices)
        if np.max(excess) > 0.0 and np.any(rows[0, 0] > 1.5 * rows[0, 1]):
            # Where a bandwidth all but leaps, the price in the middle is far too low for the interval's end.
            other, other_share = price_rows(value, rows[:, 1], bounds)
            at_end = _excess(value, rows, bounds, base, other)
            if np.max(at_end) < np.max(excess):
                prices, share, excess = other, other_share, at_end
        return None if np.max(excess) <= 0.0 else (prices, share, excess)


_OVER = 1e-9  # relative: what rows of sums are broken by surely
_SMALLEST = float(np.finfo(float).tiny)


def _excess(
    value: FloatArray, rows: FloatArray, bounds: FloatArray, base: FloatArray, prices: FloatArray
) -> FloatArray:
    """phi at both ends, shape (2,)."""
    reduced = value - np.einsum("r,reak->eak", prices, rows)
    return np.asarray(np.sum(np.max(reduced, axis=1), axis=-1) + float(prices @ bounds) + base)
