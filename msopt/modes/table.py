"""The time of every outcome in one table, and its multilinear extension (design section 5, ours).

T(R) does not depend on the lengths, so it is tabulated once for all 2^K sets of rejected devices. Bit i of
a set's index stands for the device at place i of `CorrectionTimes`.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.model.control import ModeRule, frees_bands
from msopt.model.scenario import Scenario
from msopt.modes.correction import CorrectionTimes
from msopt.modes.free_bands import FreeBands
from msopt.modes.free_modes import table_of_best_times
from msopt.modes.subsets import sizes_and_sums, with_member

_ROWS_AT_ONCE = 1024  # controls: their weights are 8 MiB for K = 20


class TableOfOutcomes:
    """C(rho), exact, from the table of one scenario under one rule for the modes."""

    exact = True

    def __init__(self, scenario: Scenario, rule: ModeRule) -> None:
        self.rule = rule
        self.times = CorrectionTimes(scenario)
        self.count = scenario.device_count
        self._uplink_set: IntArray | None = None
        if rule == "random":
            self.seconds = _random_table(self.times, self.count)
        elif frees_bands(rule):
            bands = FreeBands.of(scenario).take(self.times.order)
            self.seconds, self._uplink_set = table_of_best_times(bands, rule)
        else:
            self.seconds, last_up = _best_table(self.times, self.count, rule)
            self._uplink_set = np.arange(last_up.size) & ((1 << (last_up + 1)) - 1)
        self._low_bits = self.count // 2
        self._matrix = self.seconds.reshape(-1, 2**self._low_bits)

    def expected_s(self, rejection: FloatArray) -> FloatArray:
        """C(rho) by two contractions: all high places as a matrix product, then the low ones."""
        placed = rejection[:, self.times.order]
        answer = np.empty(len(placed))
        for first in range(0, len(placed), _ROWS_AT_ONCE):
            rows = placed[first : first + _ROWS_AT_ONCE]
            high = _outcome_weights(rows[:, self._low_bits :]) @ self._matrix
            answer[first : first + _ROWS_AT_ONCE] = np.sum(high * _outcome_weights(rows[:, : self._low_bits]), axis=1)
        return answer

    def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """C and all its partial derivatives from one forward and one backward contraction."""
        placed = rejection[:, self.times.order]
        low, high = placed[:, : self._low_bits], placed[:, self._low_bits :]
        by_low = _outcome_weights(high) @ self._matrix
        by_high = _outcome_weights(low) @ self._matrix.T
        slopes = np.empty_like(placed)
        for i in range(self.count):
            part, rest, place = (by_low, low, i) if i < self._low_bits else (by_high, high, i - self._low_bits)
            slopes[:, i] = np.sum(part * _outcome_weights(rest, differentiate=place), axis=1)
        return np.sum(by_low * _outcome_weights(low), axis=1), self.times.by_device(slopes)

    def standard_error_s(self, rejection: FloatArray) -> float:
        """The table is exact."""
        del rejection
        return 0.0

    def uplink_probability(self, rejection: FloatArray) -> FloatArray:
        """Total probability of the sets in which the device is on the uplink."""
        if self._uplink_set is None:
            return 0.5 * rejection
        weights = _outcome_weights(rejection[None, self.times.order])[0]
        answer = np.empty(self.count)
        for place in range(self.count):
            up = (with_member(self._uplink_set, place) >> place) % 2 == 1
            answer[self.times.order[place]] = float(np.sum(with_member(weights, place)[up]))
        return answer


_kept: list[TableOfOutcomes] = []


def table_of_best_modes(scenario: Scenario, rule: ModeRule = "best") -> TableOfOutcomes:
    """The table that most methods of problem `modes` rest on; one, the last, is kept for the next method."""
    table = _kept[0] if _kept else None
    if table is None or table.rule != rule or table.times.scenario != scenario:
        table = TableOfOutcomes(scenario, rule)
        _kept[:] = [table]
    return table


def _outcome_weights(probability: FloatArray, differentiate: int | None = None) -> FloatArray:
    """Probability of each subset of n events, shape (m, 2^n), or its derivative in one event's probability."""
    weights = np.ones((len(probability), 1))
    for i in range(probability.shape[1]):
        if i == differentiate:
            weights = np.concatenate([-weights, weights], axis=1)
        else:
            happens = weights * probability[:, i : i + 1]
            weights = np.concatenate([weights - happens, happens], axis=1)
    return weights


def _best_table(times: CorrectionTimes, count: int, rule: ModeRule) -> tuple[FloatArray, IntArray]:
    """T(R) of every set, and the place of the last device on the uplink (-1: none).

    For the best modes every prefix is tried: "up to place j" for each j in the set, and "none".
    """
    sizes, sums = sizes_and_sums(times.inverse_snr)
    uplink_s = times.uplink_table()
    last_up = np.full(sizes.size, -1, dtype=np.int64)
    seconds = np.zeros(sizes.size) if rule == "all-uplink" else times.downlink_s(sizes, sums)
    for place in range(count) if rule != "all-downlink" else ():
        # The bits above `place` alone decide who is left for the downlink; of those below only their number counts.
        above = slice(None, None, 2 ** (place + 1))
        rejected = sizes[above][:, None] + np.arange(1, place + 2)  # (sets above, numbers below)
        up = uplink_s[place][rejected]
        if rule == "best":
            up = np.maximum(up, times.downlink_s(rejected, sums[above][:, None]))
        up = np.take(up, sizes[: 2**place], axis=1)  # (sets above, sets below)
        better = up < with_member(seconds, place) if rule == "best" else np.ones_like(up, dtype=bool)
        np.copyto(with_member(seconds, place), up, where=better)
        np.copyto(with_member(last_up, place), place, where=better)
    return seconds, last_up


def _random_table(times: CorrectionTimes, count: int) -> FloatArray:
    """T(R) of every set when each of its devices tosses a fair coin for its mode."""
    sizes, sums = sizes_and_sums(times.inverse_snr)
    uplink_s = times.uplink_table()
    every = np.arange(sizes.size)
    seconds = np.zeros(sizes.size)
    for on_uplink in range(sizes.size):
        sets = every[(every & on_uplink) == on_uplink]
        slowest = times.downlink_s(sizes[sets], sums[sets ^ on_uplink])
        if on_uplink:
            slowest = np.maximum(slowest, uplink_s[on_uplink.bit_length() - 1][sizes[sets]])
        seconds[sets] += slowest * 0.5 ** sizes[sets]
    return seconds
