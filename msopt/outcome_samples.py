"""Times of drawn outcomes, on common random numbers (design section 5).

Rows are outcomes, columns are places in the order of `CorrectionTimes`, best uplink first. Every control is
played on the same uniforms, so that two controls differ by what they change and not by luck.
"""

from collections.abc import Callable

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.control import ModeRule
from msopt.correction import CorrectionTimes
from msopt.scenario import Scenario

_SETS_AT_ONCE = 1_000_000


class SampledOutcomes:
    """T(R) on outcomes drawn by comparing fixed uniforms with rho: one uniform for each sample and device."""

    exact = False

    def __init__(self, scenario: Scenario, rule: ModeRule, samples: int, seed: int | np.random.SeedSequence) -> None:
        self.rule = rule
        self.times = CorrectionTimes(scenario)
        generator = np.random.default_rng(seed)
        shape = samples, scenario.device_count
        self._uniform = generator.random(shape, dtype=np.float32)
        self._coin = generator.random(shape, dtype=np.float32) < 0.5 if rule == "random" else None

    def expected_s(self, rejection: FloatArray) -> FloatArray:
        """C(rho) as a mean over the samples."""
        return np.array([float(np.mean(self._play(row)[0])) for row in rejection])

    def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of T with a device rejected less T with it not, on the same samples and all else the same."""
        here, slopes = np.empty(len(rejection)), np.empty_like(rejection)
        for i, row in enumerate(rejection):
            members = self._uniform < row[self.times.order]
            total, change = 0.0, np.zeros(row.size)
            chunk = max(1, _SETS_AT_ONCE // row.size)
            for first in range(0, len(members), chunk):
                part = slice(first, first + chunk)
                coin = None if self._coin is None else self._coin[part]
                seconds, _ = correction_of_sets(self.times, members[part], self.rule, coin)
                toggled = correction_of_toggled_sets(self.times, members[part], self.rule, coin)
                total += float(np.sum(seconds))
                change += np.sum(np.where(members[part], 1.0, -1.0) * (seconds[:, None] - toggled), axis=0)
            here[i] = total / len(members)
            slopes[i, self.times.order] = change / len(members)
        return here, slopes

    def standard_error_s(self, rejection: FloatArray) -> float:
        """Deviation of the mean over the samples."""
        seconds, _ = self._play(rejection)
        return float(np.std(seconds, ddof=1) / np.sqrt(seconds.size)) if seconds.size > 1 else float("inf")

    def uplink_probability(self, rejection: FloatArray) -> FloatArray:
        """Share of the samples in which the device is on the uplink."""
        _, on_uplink = self._play(rejection)
        answer = np.empty(rejection.size)
        answer[self.times.order] = np.mean(on_uplink, axis=0)
        return answer

    def _play(self, rejection: FloatArray) -> tuple[FloatArray, BoolArray]:
        members = self._uniform < rejection[self.times.order]
        return correction_of_sets(self.times, members, self.rule, self._coin)


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
    count = members.shape[1]
    rejected = np.count_nonzero(members, axis=1)
    if rule == "best":
        behind, rank = _running_sums(times, members)
        row = np.arange(len(members))
        seconds, prefix = _best_prefix(
            times, rejected, lambda place: behind[row, place], lambda place: rank[row, place], count
        )
        return seconds, members & (np.arange(count) < prefix[:, None])
    on_uplink = members & _sent_up(rule, members, coin)
    last, _ = _last_two(on_uplink)
    uplink_s = np.where(last >= 0, times.uplink_s(rejected, np.maximum(last, 0)), 0.0)
    downlink_s = times.downlink_s(rejected, (members & ~on_uplink) @ times.inverse_snr)
    return np.maximum(uplink_s, downlink_s), on_uplink


def correction_of_toggled_sets(
    times: CorrectionTimes, members: BoolArray, rule: ModeRule, coin: BoolArray | None = None
) -> FloatArray:
    """T [s] of each set with the device at each place put in or taken out, shape (n, K)."""
    count = members.shape[1]
    change = np.where(members, -1, 1)
    rejected = np.count_nonzero(members, axis=1)[:, None] + change
    shift = change * times.inverse_snr
    here = np.arange(count)
    row = np.arange(len(members))[:, None]
    if rule == "best":
        behind, rank = _running_sums(times, members)
        seconds, _ = _best_prefix(
            times,
            rejected,
            lambda place: np.maximum(behind[row, place] + shift * (here >= place), 0.0),
            lambda place: rank[row, place] + change * (here < place),
            count,
        )
        return seconds
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


def _running_sums(times: CorrectionTimes, members: BoolArray) -> tuple[FloatArray, IntArray]:
    """Of each set: 1/SNRd summed from each place on, and how many devices stand before it, shape (n, K + 1)."""
    sets, count = members.shape
    behind = np.zeros((sets, count + 1))
    behind[:, :count] = np.cumsum((members * times.inverse_snr)[:, ::-1], axis=1)[:, ::-1]
    rank = np.zeros((sets, count + 1), dtype=np.int64)
    np.cumsum(members, axis=1, out=rank[:, 1:])
    return behind, rank


def _best_prefix(
    times: CorrectionTimes,
    rejected: IntArray,
    behind: Callable[[IntArray], FloatArray],
    rank: Callable[[IntArray], IntArray],
    count: int,
) -> tuple[FloatArray, IntArray]:
    """[UD] Proposition 1 for many sets at once: bisection over places, then the two prefixes at the crossing.

    Returns T [s] and the place before which the rejected devices are on the uplink, both shaped as `rejected`.
    """

    def crossed(place: IntArray) -> BoolArray:
        return np.asarray(times.downlink_s(rejected, behind(place + 1)) <= times.uplink_s(rejected, place))

    first = _first_place(crossed, rejected.shape, count)
    before = rank(first)
    later = _first_place(lambda place: rank(place + 1) > before, rejected.shape, count)
    slow_down = times.downlink_s(rejected, behind(first))
    slow_up = times.uplink_s(rejected, later)
    prefix = np.where(slow_down <= slow_up, first, later + 1)
    return np.where(rejected > 0, np.minimum(slow_down, slow_up), 0.0), prefix


def _first_place(holds: Callable[[IntArray], BoolArray], shape: tuple[int, ...], count: int) -> IntArray:
    """The first place at which a predicate holds, by bisection; it is taken to hold at the last."""
    low, high = np.full(shape, -1, dtype=np.int64), np.full(shape, count - 1, dtype=np.int64)
    while np.any(high - low > 1):
        middle = np.where(high - low > 1, (low + high) // 2, high)
        good = holds(middle)
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return high
