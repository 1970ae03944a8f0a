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
from msopt.model.control import Mode, ModeRule, Reaction
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2


class CorrectionTimes:
    """Delays of one scenario's devices by their place in the order of uplink SNR."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.order: IntArray = np.argsort(-scenario.uplink_snr_db, kind="stable")
        self.place: IntArray = np.argsort(self.order)
        self.inverse_snr: FloatArray = 1.0 / scenario.downlink_snr[self.order]

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


def react(scenario: Scenario, rejected: Sequence[int] | Sequence[str] | IntArray | BoolArray) -> tuple[Reaction, float]:
    """The best modes and power for one outcome, and the time they take [s].

    Parameters
    ----------
    scenario : Scenario
    rejected : names, indices, or a mask of shape (K,)
        The devices whose draft was rejected; may be empty.

    Returns
    -------
    reaction : Reaction
        Devices in ascending order.
    correction_s : float
        T(R) = min over modes of the slowest [s].

    Raises
    ------
    ParameterError
        For a device that the scenario does not have, or a scenario with a variant, which says nothing of reactions.
    """
    if scenario.variant_fields:
        raise ParameterError(f"a reaction takes no variant ({', '.join(scenario.variant_fields)})")
    members = _members(scenario, rejected)
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
    by_rule = {"best": np.minimum(up, down), "all-uplink": up, "all-downlink": down, "random": 0.5 * (up + down)}
    return times.by_device(by_rule[rule])
