"""Times of drawn outcomes, on common random numbers (design section 5).

Rows are outcomes, columns are places in the order of `CorrectionTimes`, best uplink first. Every control is
played on the same uniforms, so that two controls differ by what they change and not by luck.
"""

from collections.abc import Callable, Iterator

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.control import ModeRule, frees_bands
from msopt.model.scenario import Scenario
from msopt.modes.correction import CorrectionTimes
from msopt.numerics.memory import require_memory

_SETS_AT_ONCE = 1_000_000  # entries (sets times devices): tens of megabytes in all arrays


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
    on the place and the size of the set alone, so that a step of the bisection is a look into two tables.
    """

    def __init__(self, times: CorrectionTimes, members: BoolArray) -> None:
        sets, count = members.shape
        self.times, self.members = times, members
        self.rejected = np.count_nonzero(members, axis=1)
        self.behind = np.zeros((sets, count + 1))
        np.cumsum((members * times.inverse_snr)[:, ::-1], axis=1, out=self.behind[:, -2::-1])
        self.next = np.full((sets, count + 2), count, dtype=np.int64)
        places = np.where(members, np.arange(count), count)
        self.next[:, :count] = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
        self.least = max(0, int(np.min(self.rejected, initial=count)) - 1)
        most = min(count, int(np.max(self.rejected, initial=0)) + 1)
        sizes = np.arange(self.least, most + 1)
        # A column more: where nobody is left to be the last on the uplink, that is no choice.
        self.uplink_s = np.full((sizes.size, count + 1), np.inf)
        self.uplink_s[:, :count] = times.uplink_s(np.repeat(sizes[:, None], count, axis=1), np.arange(count)[None, :])
        self.enough = times.downlink_need(sizes[:, None], self.uplink_s[:, :count])

    def of_sets(self) -> tuple[FloatArray, IntArray]:
        """T [s] of each set, and the place before which its devices are on the uplink."""
        row = np.arange(len(self.members))
        size = self.rejected - self.least
        first = _first_place(
            lambda place: self.behind[row, place + 1] <= self.enough[size, place], row.shape, self.members.shape[1]
        )
        later = self.next[row, first]
        slow_down = self.times.downlink_s(self.rejected, self.behind[row, first])
        slow_up = self.uplink_s[size, later]
        prefix = np.where(slow_down <= slow_up, first, later + 1)
        return np.where(self.rejected > 0, np.minimum(slow_down, slow_up), 0.0), prefix

    def of_toggled_sets(self) -> FloatArray:
        """T [s] of each set with the device at each place put in or taken out, shape (n, K)."""
        count = self.members.shape[1]
        here = np.arange(count)
        row = np.arange(len(self.members))[:, None]
        change = np.where(self.members, -1, 1)
        rejected = self.rejected[:, None] + change
        size = rejected - self.least
        shift = change * self.times.inverse_snr
        first = _first_place(
            lambda place: self.behind[row, place + 1] + shift * (here > place) <= self.enough[size, place],
            self.members.shape,
            count,
        )
        later = self.next[row, first]
        later = np.where(
            self.members,
            np.where(later == here, self.next[row, here + 1], later),
            np.where(here >= first, np.minimum(later, here), later),
        )
        left = np.maximum(self.behind[row, first] + shift * (here >= first), 0.0)
        seconds = np.minimum(self.times.downlink_s(rejected, left), self.uplink_s[size, later])
        return np.where(rejected > 0, seconds, 0.0)


def _first_place(holds: Callable[[IntArray], BoolArray], shape: tuple[int, ...], count: int) -> IntArray:
    """The first place at which a predicate holds, by bisection; it is taken to hold at the last."""
    low, high = np.full(shape, -1, dtype=np.int64), np.full(shape, count - 1, dtype=np.int64)
    while np.any(high - low > 1):
        middle = np.where(high - low > 1, (low + high) // 2, high)
        good = holds(middle)
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return high
