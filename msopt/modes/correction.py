"""What a rejection costs: the time to exchange the distributions of a rejected set (design section 5).

Devices are kept in the order of their uplink SNR, best first: it is the order of their uplink delay for
every size of the set, so one sort serves all sets and the best uplink set is always a prefix.
"""

from collections.abc import Sequence

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError, describe
from msopt.formulas.uldl import equal_share_delay, uplink_prefix
from msopt.model.budget import equal_share, within_budget
from msopt.model.control import CORRECTIONS, EQUAL_SHARES, BandRule, Correction, Mode, ModeRule, Reaction, frees_bands
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2
from msopt.modes.free_bands import FreeBands
from msopt.modes.free_modes import best_time

_MOST_CROSSINGS = 2_000_000  # places times sizes of sets: 32 MiB
_LEAST_NATS, _MOST_NATS = 1e-290, 650.0  # between which exp(x) - 1 is a float with all its digits


class CorrectionTimes:
    """Delays of one scenario's devices by their place in the order of uplink SNR."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.order: IntArray = np.argsort(-scenario.uplink_snr_db, kind="stable")
        self.place: IntArray = np.argsort(self.order)
        self.inverse_snr: FloatArray = 1.0 / scenario.downlink_snr[self.order]
        self._crossings = 0, np.zeros((2, 0, self.order.size))

    def by_device(self, of_places: FloatArray) -> FloatArray:
        """Values by place, shape (..., K), in the scenario's own order of devices."""
        return np.take(of_places, self.place, axis=-1)

    def uplink_s(self, rejected: FloatArray | IntArray, place: IntArray) -> FloatArray:
        """Uplink delay [s] of the devices at some places when r are rejected, shapes that broadcast."""
        share = self.scenario.uplink_bandwidth_hz / np.maximum(rejected, 1)
        rate = self.scenario.uplink.take(self.order[place]).rate(share)
        return np.asarray(self.scenario.distribution_bits / rate)

    def uplink_table(self) -> FloatArray:
        """The same for every place (row) and every r from 0 to K (column); column 0 is that of r = 1."""
        count = self.scenario.device_count
        return self.uplink_s(np.arange(count + 1), np.arange(count)[:, None])

    def downlink_s(self, rejected: FloatArray | IntArray, inverse_snr: FloatArray) -> FloatArray:
        """Equalised downlink delay [s] when r are rejected and 1/SNRd of the downlink set sums to a value."""
        return equal_share_delay(
            rejected, inverse_snr, self.scenario.downlink_bandwidth_hz, self.scenario.distribution_bits
        )

    def downlink_need(self, rejected: FloatArray | IntArray, seconds: FloatArray) -> FloatArray:
        """The greatest sum of 1/SNRd with which the downlink of r rejected devices takes no longer than a time."""
        r = np.maximum(rejected, 1)
        nats = self.scenario.distribution_bits * LN2 * r / (self.scenario.downlink_bandwidth_hz * seconds)
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(r / np.expm1(nats))

    def crossings(self, least: int, most: int) -> tuple[int, FloatArray]:
        """Uplink delay of every place [s], and its `downlink_need`, for sizes of the set from r to past `most`.

        Returns r, at most `least`, and both as one array of shape (2, sizes, K), kept for the sets that follow.
        """
        first, table = self._crossings
        end, count = first + table.shape[1], self.order.size
        if least < first or most >= end:
            spare = 1 + count // 8
            asked = max(0, least - spare), min(count, most + spare) + 1
            first, end = (min(first, asked[0]), max(end, asked[1])) if table.size else asked
            if (end - first) * count > _MOST_CROSSINGS:
                first, end = asked
            sizes = np.arange(first, end)[:, None]
            uplink_s = self.uplink_s(np.repeat(sizes, count, axis=1), np.arange(count))
            table = np.stack([uplink_s, self.downlink_need(sizes, uplink_s)])
            self._crossings = first, table
        return first, table

    def with_sharers(self, rejected: IntArray, sharers: FloatArray, seconds: FloatArray) -> FloatArray:
        """The least that a delay with r sharers [s] becomes with n, on the uplink or the downlink; 0 for n = 0.

        With the SNR 1/x over the whole band W, V bits take n V/(W log2(1 + n/x)); under fixed SNR always n/r as long.
        """
        scenario = self.scenario
        some = np.where(seconds > 0.0, seconds, 1.0)
        more = rejected / sharers
        becomes = [more * seconds] if scenario.uplink.proportional else []
        for band in {scenario.downlink_bandwidth_hz, *([] if becomes else [scenario.uplink_bandwidth_hz])}:
            nats = np.maximum(scenario.distribution_bits * LN2 * sharers / (band * some), _LEAST_NATS)
            # An SNR beyond floats is its logarithm.
            held = np.minimum(nats, _MOST_NATS)
            with_n = np.log1p(np.where(more > 0.0, more, 1.0) * np.expm1(held)) + (nats - held)
            becomes.append(more * seconds * (nats / with_n))
        return np.asarray(np.minimum.reduce(becomes))


LARGEST_FREE = 20
"""Rejected devices up to which modes, bandwidths and power are chosen together."""


def react(
    scenario: Scenario,
    rejected: Sequence[int] | Sequence[str] | IntArray | BoolArray,
    correction: Correction = EQUAL_SHARES,
) -> tuple[Reaction, float]:
    """The best modes and power for one outcome, and the time they take [s].

    Parameters
    ----------
    scenario : Scenario
    rejected : names, indices, or a mask of shape (K,)
        The devices whose draft was rejected; may be empty.
    correction : str
        "equal-shares" ([UD]), or with bandwidths free "shared-band" or "separate-bands".

    Returns
    -------
    reaction : Reaction
        Devices in ascending order.
    correction_s : float
        T(R) = min over modes of the slowest [s].

    Raises
    ------
    ParameterError
        For a device that the scenario does not have, an unknown correction, one with bandwidths free and more rejected
        devices than `LARGEST_FREE`, or a scenario with a variant, which says nothing of reactions.
    """
    if scenario.variant_fields:
        raise ParameterError(f"a reaction takes no variant ({', '.join(scenario.variant_fields)})")
    members = _members(scenario, rejected)
    if frees_bands(correction):
        return _free_reaction(scenario, members, correction)
    if correction != EQUAL_SHARES:
        raise ParameterError(f"correction = {describe(correction)} is not {' or '.join(CORRECTIONS)}")
    count = members.size
    times = CorrectionTimes(scenario)
    places = np.flatnonzero(np.isin(times.order, members))
    uplink_s = times.uplink_s(np.full(count, count), places)
    behind = np.concatenate([np.cumsum(times.inverse_snr[places][::-1])[::-1], [0.0]])
    downlink_s = times.downlink_s(np.full(count + 1, count), behind)
    prefix = uplink_prefix(uplink_s, downlink_s)
    on_uplink = np.isin(members, times.order[places[:prefix]])
    modes: tuple[Mode, ...] = tuple("uplink" if up else "downlink" for up in on_uplink)
    power = _equal_delay_power_w(scenario, members, ~on_uplink)
    up, down = (
        equal_share(band, max(count, 1)) for band in (scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz)
    )
    share = np.where(on_uplink, up, down)
    reaction = Reaction(rejected=members, modes=modes, bandwidth_hz=share, downlink_power_w=power)
    slowest = max(float(uplink_s[prefix - 1]) if prefix else 0.0, float(downlink_s[prefix]))
    return reaction, slowest


def _free_reaction(scenario: Scenario, members: IntArray, rule: BandRule) -> tuple[Reaction, float]:
    """The best modes with bandwidths free; what a faster direction leaves over is not spent."""
    if members.size > LARGEST_FREE:
        raise ParameterError(
            f"correction {rule} is known for at most {LARGEST_FREE} rejected devices; {members.size} are rejected"
        )
    bands = FreeBands.of(scenario).take(members)
    _, up = best_time(bands, rule) if members.size else (0.0, np.zeros(0, dtype=bool))
    return free_reaction(scenario, members, up, rule)


def free_reaction(scenario: Scenario, members: IntArray, up: BoolArray, rule: BandRule) -> tuple[Reaction, float]:
    """The best bandwidths and power for rejected devices in given modes, and the time they take [s]."""
    bands = FreeBands.of(scenario).take(members)
    share, power = np.zeros((2, members.size))
    seconds = 0.0
    for side in (up, ~up) if rule == "separate-bands" else (np.ones_like(up),):
        on_uplink, on_downlink = (up & side)[None, :], (~up & side)[None, :]
        if side.any():
            found = bands.shared(on_uplink, on_downlink)
            used = bands.split(on_uplink[0], on_downlink[0], found)
            share, power = share + within_budget(used[0], 1.0), power + within_budget(used[1], 1.0)
            seconds = max(seconds, float(found.seconds[0]))
    band_hz = np.where(up, scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz)
    reaction = Reaction(
        rejected=members,
        modes=tuple("uplink" if one else "downlink" for one in up),
        bandwidth_hz=share * band_hz,
        downlink_power_w=np.where(up, np.nan, power * scenario.downlink_power_w),
    )
    return reaction, seconds


def _members(scenario: Scenario, rejected: Sequence[int] | Sequence[str] | IntArray | BoolArray) -> IntArray:
    """The rejected devices as ascending indices."""
    if isinstance(rejected, str):
        rejected = [rejected]
    known = {name: k for k, name in enumerate(scenario.device_names)}
    indices = []
    chosen = np.asarray(rejected)
    for device in np.flatnonzero(chosen) if chosen.dtype == bool else rejected:
        place = known.get(device) if isinstance(device, str) else int(device)
        if (
            place is None
            or not 0 <= place < scenario.device_count
            or (chosen.dtype == bool and chosen.size != len(known))
        ):
            raise ParameterError(f"rejected: {describe(device)} is not a device of the scenario")
        indices.append(place)
    return np.unique(np.array(indices, dtype=np.int64))


def _equal_delay_power_w(scenario: Scenario, members: IntArray, on_downlink: BoolArray) -> FloatArray:
    """Power [W] in proportion to 1/SNRd on the downlink, NaN on the uplink; its sum never exceeds the total."""
    need = 1.0 / scenario.downlink_snr[members[on_downlink]]
    power = within_budget(scenario.downlink_power_w * need / np.sum(need), scenario.downlink_power_w)
    all_power = np.full(members.size, np.nan)
    all_power[on_downlink] = power
    return all_power


def alone_s(scenario: Scenario, rule: ModeRule = "best") -> FloatArray:
    """T({k}) of each device [s]: one device with the whole band and all power, by the mode that the rule gives it."""
    times = CorrectionTimes(scenario)
    one = np.ones(scenario.device_count, dtype=np.int64)
    up, down = times.uplink_s(one, np.arange(one.size)), times.downlink_s(one, times.inverse_snr)
    by_rule = {"all-uplink": up, "all-downlink": down, "random": 0.5 * (up + down)}
    return times.by_device(by_rule.get(rule, np.minimum(up, down)))
