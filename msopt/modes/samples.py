"""Times of drawn outcomes, on common random numbers (design section 5).

Rows are outcomes, columns are places in the order of `CorrectionTimes`, best uplink first. Every control is
played on the same uniforms, so that two controls differ by what they change and not by luck.
"""

from collections.abc import Iterator
from copy import copy

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.control import ModeRule, frees_bands
from msopt.model.scenario import Scenario
from msopt.modes.correction import CorrectionTimes
from msopt.numerics.memory import require_memory

_SETS_AT_ONCE = 60_000  # entries (sets times devices): in all arrays about what a processor keeps close


class SampledOutcomes:
    """T(R) on outcomes drawn by comparing fixed uniforms with rho: one uniform for each sample and device."""

    exact = False

    def __init__(self, scenario: Scenario, rule: ModeRule, samples: int, seed: int | np.random.SeedSequence) -> None:
        if frees_bands(rule):
            raise ParameterError(f"correction {rule} is not computed on drawn outcomes; give no samples")
        self.rule = rule
        self.times = CorrectionTimes(scenario)
        shape = samples, scenario.device_count
        numbers = 2 if rule == "random" else 1
        require_memory(
            4 * numbers * samples * scenario.device_count,
            f"drawing {samples} outcomes of {scenario.device_count} devices",
            "draw fewer samples",
        )
        generator = np.random.default_rng(seed)
        self._uniform = generator.random(shape, dtype=np.float32)
        self._coin = generator.random(shape, dtype=np.float32) < 0.5 if rule == "random" else None

    def first(self, share: float) -> "SampledOutcomes":
        """The first of the same outcomes alone, two at least."""
        few, some = copy(self), slice(max(2, round(share * len(self._uniform))))
        few._uniform, few._coin = self._uniform[some], None if self._coin is None else self._coin[some]
        return few

    def expected_s(self, rejection: FloatArray) -> FloatArray:
        """C(rho) as a mean over the samples."""
        return np.array([float(np.mean(self._seconds(row))) for row in rejection])

    def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of T with a device rejected less T with it not, on the same samples and all else the same."""
        here, slopes = np.empty(len(rejection)), np.empty_like(rejection)
        for i, row in enumerate(rejection):
            total, change = 0.0, np.zeros(row.size)
            for members, coin in self._parts(row):
                seconds, _ = correction_of_sets(self.times, members, self.rule, coin)
                toggled = correction_of_toggled_sets(self.times, members, self.rule, coin)
                total += float(np.sum(seconds))
                change += np.sum(np.where(members, 1.0, -1.0) * (seconds[:, None] - toggled), axis=0)
            here[i] = total / len(self._uniform)
            slopes[i] = self.times.by_device(change / len(self._uniform))
        return here, slopes

    def standard_error_s(self, rejection: FloatArray) -> float:
        """Deviation of the mean over the samples."""
        seconds = self._seconds(rejection)
        return float(np.std(seconds, ddof=1) / np.sqrt(seconds.size)) if seconds.size > 1 else float("inf")

    def uplink_probability(self, rejection: FloatArray) -> FloatArray:
        """Share of the samples in which the device is on the uplink."""
        on_uplink = np.zeros(rejection.size)
        for members, coin in self._parts(rejection):
            on_uplink += np.count_nonzero(correction_of_sets(self.times, members, self.rule, coin)[1], axis=0)
        return self.times.by_device(on_uplink / len(self._uniform))

    def _seconds(self, rejection: FloatArray) -> FloatArray:
        parts = self._parts(rejection)
        return np.concatenate([correction_of_sets(self.times, sets, self.rule, coin)[0] for sets, coin in parts])

    def _parts(self, rejection: FloatArray) -> Iterator[tuple[BoolArray, BoolArray | None]]:
        """The rejected sets of the samples and their coins, few enough at once to stay small."""
        chunk = max(1, _SETS_AT_ONCE // rejection.size)
        placed = rejection[self.times.order]
        for first in range(0, len(self._uniform), chunk):
            part = slice(first, first + chunk)
            yield self._uniform[part] < placed, None if self._coin is None else self._coin[part]


class FreshOutcomes:
    """The mean of T(R) over outcomes drawn anew at every evaluation, as [UD] Algorithm 1 does it."""

    exact = False

    def __init__(self, scenario: Scenario, rule: ModeRule, samples: int, seed: np.random.SeedSequence) -> None:
        self._scenario, self.rule, self._samples = scenario, rule, samples
        self._seeds = seed

    def expected_s(self, rejection: FloatArray) -> FloatArray:
        """C(rho) [s], each row on draws of its own, shape (m,)."""
        return np.concatenate([self._draw().expected_s(row[None, :]) for row in rejection])

    def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """C and its partial derivatives on one new set of draws."""
        return self._draw().gradient_s(rejection)

    def standard_error_s(self, rejection: FloatArray) -> float:
        """Deviation of the mean of one new set of draws."""
        return self._draw().standard_error_s(rejection)

    def uplink_probability(self, rejection: FloatArray) -> FloatArray:
        """Share of one new set of draws in which each device is on the uplink."""
        return self._draw().uplink_probability(rejection)

    def _draw(self) -> SampledOutcomes:
        return SampledOutcomes(self._scenario, self.rule, self._samples, self._seeds.spawn(1)[0])


def correction_of_sets(
    times: CorrectionTimes, members: BoolArray, rule: ModeRule, coin: BoolArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """T(R) [s] of many sets and who is on the uplink, shapes (n,) and (n, K); columns are places, best first."""
    rejected = np.count_nonzero(members, axis=1)
    if rule == "best":
        best = _BestPrefix(times, members)
        seconds, prefix = best.of_sets()
        return seconds, members & (np.arange(members.shape[1]) < prefix[:, None])
    on_uplink = members & _sent_up(rule, members, coin)
    last, _ = _last_two(on_uplink)
    uplink_s = np.where(last >= 0, times.uplink_s(rejected, np.maximum(last, 0)), 0.0)
    downlink_s = times.downlink_s(rejected, (members & ~on_uplink) @ times.inverse_snr)
    return np.maximum(uplink_s, downlink_s), on_uplink


def correction_of_toggled_sets(
    times: CorrectionTimes, members: BoolArray, rule: ModeRule, coin: BoolArray | None = None
) -> FloatArray:
    """T [s] of each set with the device at each place put in or taken out, shape (n, K)."""
    if rule == "best":
        return _BestPrefix(times, members).of_toggled_sets()
    change = np.where(members, -1, 1)
    rejected = np.count_nonzero(members, axis=1)[:, None] + change
    shift = change * times.inverse_snr
    here = np.arange(members.shape[1])
    up = np.broadcast_to(_sent_up(rule, members, coin), members.shape)
    last, second = (value[:, None] for value in _last_two(members & up))
    last = np.where(up, np.where(members, np.where(here == last, second, last), np.maximum(last, here)), last)
    uplink_s = np.where(last >= 0, times.uplink_s(rejected, np.maximum(last, 0)), 0.0)
    down = ((members & ~up) @ times.inverse_snr)[:, None] + np.where(up, 0.0, shift)
    return np.where(rejected > 0, np.maximum(uplink_s, times.downlink_s(rejected, np.maximum(down, 0.0))), 0.0)


def _sent_up(rule: ModeRule, members: BoolArray, coin: BoolArray | None) -> BoolArray:
    return np.full(members.shape, rule == "all-uplink") if coin is None else coin


def _last_two(chosen: BoolArray) -> tuple[IntArray, IntArray]:
    """Last and last but one place chosen in each row; -1 where there is none."""
    count = chosen.shape[1]
    places = np.where(chosen, np.arange(count), -1)
    last = np.max(places, axis=1)
    return last, np.max(np.where(places == last[:, None], -1, places), axis=1)


class _BestPrefix:
    """[UD] Proposition 1 for many sets at once: bisection over places, then the two prefixes at the crossing.

    "Downlink at most uplink" is asked as "the sum of 1/SNRd behind a place is at most a threshold" that depends
    on the place and the size of the set alone, so that a step of the bisection is a look into two tables. At the first
    place where it holds the downlink of all from there on is the time; or the uplink of that place, if it is shorter,
    and that is so only where the device there is in the set.
    """

    def __init__(self, times: CorrectionTimes, members: BoolArray) -> None:
        sets, count = members.shape
        self.times, self.members, self.count = times, members, count
        self.rejected = np.count_nonzero(members, axis=1)
        self.behind = np.zeros((sets, count + 1))
        np.cumsum((members * times.inverse_snr)[:, ::-1], axis=1, out=self.behind[:, -2::-1])
        least, most = int(np.min(self.rejected, initial=count)), int(np.max(self.rejected, initial=0))
        self.least, (self.uplink_s, self.enough) = times.crossings(max(0, least - 1), min(count, most + 1))

    def of_sets(self) -> tuple[FloatArray, IntArray]:
        """T [s] of each set, and the place before which its devices are on the uplink."""
        seconds, first = self._shared_by(0)
        slow_up = self.uplink_s[self.rejected - self.least, first]
        return seconds, np.where(seconds < slow_up, first, first + 1)

    def of_toggled_sets(self) -> FloatArray:
        """T [s] of each set with the device at each place put in or taken out, shape (n, K).

        A device whose uplink is faster than the time of the others changes no more than the size of the set.
        """
        (with_more_s, after_more), (with_less_s, after_less) = self._shared_by(1), self._shared_by(-1)
        seconds = np.where(self.members, with_less_s[:, None], with_more_s[:, None])
        after = np.where(self.members, after_less[:, None], after_more[:, None])
        row, here = np.nonzero(np.arange(self.count) >= after)
        out, crossing = self.members[row, here], after[row, here]
        shift = np.where(out, -1.0, 1.0) * self.times.inverse_snr[here]
        rejected = self.rejected[row] + np.where(out, -1, 1)
        low, high = np.where(out, -1, crossing - 1), np.where(out, crossing, here)
        seconds[row, here], _ = self._crossing(row, rejected, shift, low, high)
        return seconds

    def _shared_by(self, more: int) -> tuple[FloatArray, IntArray]:
        """T [s] of each set, were so many more to share the bands, and the place of the crossing."""
        rejected = np.clip(self.rejected + more, 0, self.count)
        low, high = np.full(rejected.size, -1), np.full(rejected.size, self.count - 1)
        return self._crossing(np.arange(rejected.size), rejected, np.zeros(rejected.size), low, high)

    def _crossing(
        self, row: IntArray, rejected: IntArray, shift: FloatArray, low: IntArray, high: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """T [s] and the crossing of the sets of some rows, of other sizes and with sums of 1/SNRd shifted.

        It is the first place after `low` where the downlink of all behind takes no longer than the uplink there, and
        is known to be no later than `high`.
        """
        size = rejected - self.least
        while np.any(high - low > 1):
            middle = np.where(high - low > 1, (low + high) // 2, high)
            good = self.behind[row, middle + 1] + shift <= self.enough[size, middle]
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        slow_down = self.times.downlink_s(np.maximum(rejected, 1), np.maximum(self.behind[row, high] + shift, 0.0))
        return np.where(rejected > 0, np.minimum(slow_down, self.uplink_s[size, high]), 0.0), high
