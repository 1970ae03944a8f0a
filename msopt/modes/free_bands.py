"""How fast corrections in given modes are when the bands and the downlink power may be split at will (ours).

Bandwidths are fractions of their band, powers fractions of the server's, and x = 1/T the exchanges in a second. By
uplink device k needs the fraction g_k(x) of B that carries V_k x, convex in x for either way to share. By downlink it
needs f and p with f ln(1 + p S_k/f) >= v_k x, v_k = V_k ln 2/Bd, S_k = SNRd_k; at the best split f = v_k x/y and
p = (f/S_k)(e^y - 1), where at one price mu of the band over the power

    psi(y_k) = 1 + (y_k - 1) e^(y_k) = mu S_k.

All power is used, so T = sum_k v_k (e^y - 1)/(S_k y), and one root is left: the price at which the fractions of the
band add up to 1. An error of y_k costs time of second order only, because f and p meet the rate whatever y is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2, Sharing

_STEPS = 200  # Newton's, or halvings of a bracket; six are usual
_CLOSE = 1e-8  # the last step of a logarithm: its square is round-off
_FITS = 1e-4  # the last step of ln y: its square is what is left, and the square of that the loss of time
_LONGEST_STEP = 4.0  # of a logarithm, where Newton's is longer or leads out of the bracket
_SERIES_BELOW = 1e-4  # psi(y) cancels there
_LARGEST_EXPONENT = 600.0
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class FastestExchange:
    """What the exchanges of n sets take: their time [s], 0 of an empty set, and ln mu, NaN without a downlink."""

    seconds: FloatArray
    log_price: FloatArray


@dataclass(frozen=True, eq=False)
class FreeBands:
    """What each device sends or is sent in a correction, and over what; arrays have shape (K,).

    Attributes
    ----------
    uplink : Sharing
    uplink_hz : float
        B [Hz].
    uplink_bits : array
        V_k by uplink [bit].
    downlink_snr : array
        S_k.
    unit_s : array
        v_k [s].
    """

    uplink: Sharing
    uplink_hz: float
    uplink_bits: FloatArray
    downlink_snr: FloatArray
    unit_s: FloatArray

    @classmethod
    def of(cls, scenario: Scenario, uplink_bits: Any = None, downlink_bits: Any = None) -> Self:
        """Those of a scenario.

        Parameters
        ----------
        scenario : Scenario
        uplink_bits, downlink_bits : array of shape (K,), or float, optional
            What is sent by either direction [bit], above 0; the whole distribution where left out.

        Raises
        ------
        ParameterError
            For bits that are not above 0, or not one number or K.
        """
        for name, bits in (("uplink_bits", uplink_bits), ("downlink_bits", downlink_bits)):
            given = np.asarray(scenario.distribution_bits if bits is None else bits, dtype=float)
            if given.shape not in {(), (scenario.device_count,)} or not np.all((given > 0.0) & np.isfinite(given)):
                raise ParameterError(f"{name} = {describe(bits)} is not a number above 0, or one for each device")
        up, down = (
            np.broadcast_to(
                np.asarray(scenario.distribution_bits if bits is None else bits, float), scenario.device_count
            )
            for bits in (uplink_bits, downlink_bits)
        )
        return cls(
            scenario.uplink, scenario.uplink_bandwidth_hz, up, scenario.downlink_snr,
            down * LN2 / scenario.downlink_bandwidth_hz,
        )  # fmt: skip

    def take(self, devices: Any) -> Self:
        """Those of some devices, in the order of their indices."""
        return type(self)(
            self.uplink.take(devices), self.uplink_hz, self.uplink_bits[devices], self.downlink_snr[devices],
            self.unit_s[devices],
        )  # fmt: skip

    def uplink_need(self, per_s: FloatArray) -> FloatArray:
        """g_k(x) for x of shape (n,), shape (n, K); infinite where no band carries it."""
        return np.asarray(self.uplink.bandwidth(per_s[:, None] * self.uplink_bits) / self.uplink_hz)

    def _uplink_sums(self, per_s: FloatArray, up: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The sums of g_k(x) and x g_k'(x) over sets, shapes (n,)."""
        row, device = np.nonzero(up)
        rate = per_s[row] * self.uplink_bits[device]
        band, slope, _ = self.uplink.take(device).bandwidth_slope(rate)
        need, growth = (np.bincount(row, values, len(up)) / self.uplink_hz for values in (band, slope * rate))
        return need, growth

    def uplink_s(self, up: BoolArray) -> FloatArray:
        """Least time of sets, a mask of shape (n, K), that share the uplink band alone [s], shape (n,)."""
        alone = np.full(len(up), np.nan)
        return _in_parts(lambda rows: FastestExchange(self._uplink_s(rows), alone[: len(rows)]), up).seconds

    def downlink(self, down: BoolArray) -> FastestExchange:
        """Least time of sets that share the downlink band and the power."""
        return _in_parts(lambda rows: self._priced(np.zeros_like(rows), rows), down)

    def shared(self, up: BoolArray, down: BoolArray) -> FastestExchange:
        """Least time of sets that share one band: the fractions of both directions together are at most 1."""

        def solve(rows: BoolArray) -> FastestExchange:
            found = self._priced(*np.split(rows, 2, axis=1))
            alone = np.isnan(found.log_price)
            found.seconds[alone] = self._uplink_s(rows[alone, : up.shape[1]])
            return found

        return _in_parts(solve, np.concatenate([up, down], axis=1))

    def split(self, up: BoolArray, down: BoolArray, at: FastestExchange) -> tuple[FloatArray, FloatArray]:
        """Fractions of the band and the power that the devices of one set take in its time, shapes (K,)."""
        per_s = 1.0 / at.seconds
        band, power = np.zeros((2, up.size))
        if up.any():
            band[up] = self.uplink_need(per_s)[0, up]
        if down.any():
            bands, powers = self.downlink_at(per_s, at.log_price)
            band[down], power[down] = bands[0, down], powers[0, down]
        return band, power

    def downlink_at(self, per_s: FloatArray, log_price: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Fraction of the band and of the power that each device takes by downlink at a price, shapes (n, K)."""
        y = _pace(log_price[:, None] + np.log(self.downlink_snr))
        band = per_s[:, None] * self.unit_s / y
        return band, band * np.expm1(y) / self.downlink_snr

    def _uplink_s(self, up: BoolArray) -> FloatArray:
        """Newton's iteration on ln W(ln x), W the sum of g, falls from the x of the device that needs most alone."""
        some: BoolArray = np.any(up, axis=1)
        full_rate = self.uplink.rate(np.full(self.uplink_bits.size, self.uplink_hz))
        start = np.log(np.min(np.where(up, full_rate / self.uplink_bits, np.inf), axis=1, where=up, initial=1e300))

        def step(rows: Any, at: FloatArray) -> tuple[FloatArray, FloatArray]:
            total, growth = self._uplink_sums(np.exp(at), up[rows])
            return np.log(total), growth / total

        log_x = _root(step, np.where(some, start, 0.0), some, rising=True)
        return np.where(some, np.exp(-log_x), 0.0)

    def _priced(self, up: BoolArray, down: BoolArray) -> FastestExchange:
        """The price at which sets use up one band and the power; NaN where nobody is on the downlink."""
        some: BoolArray = np.any(down, axis=1)
        log_snr = np.log(self.downlink_snr)
        members = np.maximum(np.count_nonzero(up | down, axis=1), 1)
        reverse = np.sum(np.where(down, 1.0 / self.downlink_snr, 0.0), axis=1)
        first = np.log1p(members / np.where(some, reverse, 1.0))
        centre = np.sum(np.where(down, log_snr, 0.0), axis=1) / np.maximum(np.count_nonzero(down, axis=1), 1)
        start = np.log(_psi(first)) - centre
        y = _pace(start[:, None] + log_snr)
        seconds, log_growth = np.zeros(len(up)), np.zeros(len(up))

        def step(rows: Any, at: FloatArray) -> tuple[FloatArray, FloatArray]:
            y[rows] = _pace(at[:, None] + log_snr, y[rows])
            time, growth, band, fall = self._downlink(y[rows], down[rows])
            seconds[rows], log_growth[rows] = time, growth / time
            need, rise = self._uplink_sums(1.0 / time, up[rows])
            total, by_time = need + band / time, rise + band / time
            with np.errstate(invalid="ignore"):
                return np.log(total), (fall / time - by_time * growth / time) / total

        log_price = _root(step, start, some, rising=False, last=lambda rows, by: _grow(seconds, log_growth, rows, by))
        return FastestExchange(np.where(some, seconds, 0.0), np.where(some, log_price, np.nan))

    def _downlink(self, y: FloatArray, down: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """H = sum v (e^y - 1)/(S y), its derivative in ln mu, F = sum v/y and its own; shapes (n,)."""
        more = np.expm1(y)
        psi = _psi(y)
        by_price = psi / (y * (1.0 + more))
        time = np.sum(self.unit_s * more / (self.downlink_snr * y), axis=1, where=down)
        growth = np.sum(self.unit_s * psi / (self.downlink_snr * y * y) * by_price, axis=1, where=down)
        band = np.sum(self.unit_s / y, axis=1, where=down)
        fall = -np.sum(self.unit_s / (y * y) * by_price, axis=1, where=down)
        return time, growth, band, fall


def _in_parts(solve: Callable[[BoolArray], FastestExchange], rows: BoolArray) -> FastestExchange:
    """The exchanges of rows, asked for few enough at once to stay in the cache."""
    parts = [solve(rows[first : first + _ROWS_AT_ONCE]) for first in range(0, max(len(rows), 1), _ROWS_AT_ONCE)]
    return FastestExchange(
        np.concatenate([part.seconds for part in parts]), np.concatenate([part.log_price for part in parts])
    )


def _grow(seconds: FloatArray, log_growth: FloatArray, rows: Any, by: FloatArray) -> None:
    """Take the last, small step of the price into the time."""
    seconds[rows] *= np.exp(log_growth[rows] * by)


def _root(
    step: Callable[[Any, FloatArray], tuple[FloatArray, FloatArray]],
    start: FloatArray,
    some: BoolArray,
    *,
    rising: bool,
    last: Callable[[Any, FloatArray], None] = lambda rows, by: None,
) -> FloatArray:
    """Roots of many monotone functions by Newton's iteration, kept in a bracket.

    Parameters
    ----------
    step : callable
        (rows, places of those rows) to the functions and their derivatives there; +inf is above the root.
    start, some : arrays, shape (n,)
        Where to begin, and which rows have a function.
    rising : bool
        Whether the functions rise.
    last : callable
        Told the rows that end and by how much.
    """
    at = start.copy()
    low, high = np.full(at.size, -np.inf), np.full(at.size, np.inf)
    rows = np.flatnonzero(some)
    for _ in range(_STEPS):
        if not rows.size:
            break
        here = at[rows]
        value, slope = step(rows, here)
        above = (value > 0.0) == rising
        high[rows] = np.where(above, here, high[rows])
        low[rows] = np.where(above, low[rows], here)
        with np.errstate(invalid="ignore", divide="ignore"):
            move = -value / slope
        wild = ~np.isfinite(move)
        move = np.clip(np.where(wild, np.where(above, -1.0, 1.0) * _LONGEST_STEP, move), -_LONGEST_STEP, _LONGEST_STEP)
        ends = ~wild & (np.abs(move) < _CLOSE)
        outside = ~ends & ((here + move <= low[rows]) | (here + move >= high[rows]))
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (low[rows] + high[rows]) - here
        move = np.where(outside, middle, move)
        at[rows] = here + move
        if ends.any():
            last(rows[ends], move[ends])
            rows = rows[~ends]
    return at


def _psi(y: FloatArray) -> FloatArray:
    """1 + (y - 1) e^y for y > 0."""
    more = np.expm1(y)
    series = y * y * (0.5 + y * (1.0 / 3.0 + y * 0.125))
    return np.where(y < _SERIES_BELOW, series, y * (1.0 + more) - more)


def _pace(log_psi: FloatArray, near: FloatArray | None = None) -> FloatArray:
    """The y > 0 with psi(y) given, to the root of round-off, by Newton's iteration on logarithms."""
    log_psi = np.minimum(log_psi, _LARGEST_EXPONENT)
    if near is None:
        psi = np.exp(log_psi)
        near = np.log1p(np.sqrt(2.0 * psi) + psi / (1.0 + np.log1p(psi)))
    y = near
    for _ in range(_STEPS):
        psi = _psi(y)
        move = (log_psi - np.log(psi)) * psi / (y * y * np.exp(y))
        y = y * np.exp(np.clip(move, -1.0, 1.0))
        if np.max(np.abs(move), initial=0.0) < _FITS:
            break
    return y
