"""The corrections of the rejected sets that come up: modes and times of each, decided once for every set.

Over equal shares they are those of `react`, found for all sets together; where bandwidths are free `react` itself
is asked for each set.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.emulation.channels import ChannelBlock
from msopt.evaluation import evaluate_reaction
from msopt.model.control import BandRule, Control, ModeRule, frees_bands
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario
from msopt.modes.correction import CorrectionTimes, react
from msopt.modes.samples import correction_of_sets

_ENTRIES_AT_ONCE = 200_000


class Exchanges(NamedTuple):
    """How long each rejected device takes, and on which link; shapes (n, K), 0 and False for those not rejected.

    Attributes
    ----------
    seconds : array
        From the end of verification on [s].
    on_uplink : array of bool
        Rejected and corrected by uplink; a rejected device that is not is corrected by downlink.
    """

    seconds: FloatArray
    on_uplink: BoolArray


class Corrections:
    """Who corrects where, and how long it takes, in any rounds of a play.

    Parameters
    ----------
    blocks : list of ChannelBlock
    seed : SeedSequence
        Of the coins of the rule "random", tossed anew in every round.
    """

    def __init__(self, blocks: Sequence[ChannelBlock], seed: np.random.SeedSequence) -> None:
        self._blocks = blocks
        self._coins = [
            np.random.default_rng(own).random((block.end - block.first, block.scenario.device_count)) < 0.5
            if block.control.mode_rule == "random"
            else None
            for block, own in zip(blocks, seed.spawn(len(blocks)), strict=True)
        ]

    def of_rounds(self, first: int, rejected: BoolArray) -> Exchanges:
        """The exchanges of rejected devices, shape (n, K), from a round on; none where the problem corrects nothing."""
        seconds, on_uplink = np.zeros(rejected.shape), np.zeros(rejected.shape, dtype=bool)
        end = first + len(rejected)
        for block, coins in zip(self._blocks, self._coins, strict=True):
            low, high = max(first, block.first), min(end, block.end)
            if low < high and KINDS[block.control.problem].corrects:
                here = slice(low - first, high - first)
                coin = None if coins is None else coins[low - block.first : high - block.first]
                found = exchanges(block.scenario, block.control.mode_rule, rejected[here], coin)
                seconds[here], on_uplink[here] = found
        return Exchanges(seconds, on_uplink)

    def on_uplink(self, place: int, rejected: BoolArray) -> BoolArray:
        """The modes of one round's rejected devices, masks of shape (K,)."""
        return np.asarray(self.of_rounds(place, rejected[None]).on_uplink[0])


def undisturbed_corrections(scenario: Scenario, control: Control, rounds: int, seed: int) -> Corrections:
    """Those of a play in which one channel and one control hold, as `emulate` has them for a seed."""
    *_, coins = np.random.SeedSequence(seed).spawn(5)
    return Corrections([ChannelBlock(0, rounds, scenario, control)], coins)


def exchanges(scenario: Scenario, rule: ModeRule, rejected: BoolArray, coin: BoolArray | None = None) -> Exchanges:
    """The corrections of n rounds by a rule for the modes.

    Parameters
    ----------
    scenario : Scenario
    rule : str
        As `Control.mode_rule`.
    rejected : array of bool, shape (n, K)
    coin : array of bool, shape (n, K), optional
        Of the rule "random".
    """
    if coin is not None:
        return _over_equal_shares(scenario, rule, rejected, coin)
    sets, which = np.unique(np.packbits(rejected, axis=1), axis=0, return_inverse=True)
    members = np.unpackbits(sets, axis=1, count=rejected.shape[1]).astype(bool)
    found = _by_react(scenario, rule, members) if frees_bands(rule) else _over_equal_shares(scenario, rule, members)
    rounds = which.reshape(-1)
    return Exchanges(found.seconds[rounds], found.on_uplink[rounds])


def _by_react(scenario: Scenario, rule: BandRule, members: BoolArray) -> Exchanges:
    seconds, on_uplink = np.zeros(members.shape), np.zeros(members.shape, dtype=bool)
    for place, rejected in enumerate(members):
        reaction, _ = react(scenario, rejected, rule)
        seconds[place, rejected] = evaluate_reaction(scenario, reaction).device_s
        on_uplink[place, rejected] = reaction.on_uplink
    return Exchanges(seconds, on_uplink)


def _over_equal_shares(
    scenario: Scenario, rule: ModeRule, members: BoolArray, coin: BoolArray | None = None
) -> Exchanges:
    """Uplink devices end one after the other, those on the downlink together."""
    times = CorrectionTimes(scenario)
    devices = np.arange(members.shape[1])
    seconds, on_uplink = np.empty(members.shape), np.empty(members.shape, dtype=bool)
    step = max(1, _ENTRIES_AT_ONCE // devices.size)
    for first in range(0, len(members), step):
        part = slice(first, first + step)
        placed = members[part][:, times.order]
        tossed = None if coin is None else coin[part][:, times.order]
        _, up = correction_of_sets(times, placed, rule, tossed)
        count = np.count_nonzero(placed, axis=1)
        down = placed & ~up
        together_s = times.downlink_s(np.maximum(count, 1), down @ times.inverse_snr)
        each = np.where(up, times.uplink_s(count[:, None], devices), np.where(down, together_s[:, None], 0.0))
        seconds[part], on_uplink[part] = times.by_device(each), up[:, times.place]
    return Exchanges(seconds, on_uplink)
