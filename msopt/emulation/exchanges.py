"""The corrections of the rejected sets that come up: modes and times of each, decided once for every set.

Over equal shares they are those of `react`, found for all sets together; where bandwidths are free `react` itself
is asked for each set.
"""

from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.evaluation import evaluate_reaction
from msopt.model.control import BandRule, ModeRule, frees_bands
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


def exchanges(scenario: Scenario, rule: ModeRule, rejected: BoolArray, seed: np.random.SeedSequence) -> Exchanges:
    """The corrections of n rounds by a rule for the modes.

    Parameters
    ----------
    scenario : Scenario
    rule : str
        As `Control.mode_rule`; the coins of "random" are tossed anew in every round.
    rejected : array of bool, shape (n, K)
    seed : SeedSequence
        Of the coins.
    """
    if rule == "random":
        coin = np.random.default_rng(seed).random(rejected.shape) < 0.5
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
