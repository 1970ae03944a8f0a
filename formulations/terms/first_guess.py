"""Rough sizes of the answer, from which the programs take their units; a factor of ten off does no harm.

None of it decides anything: the solver finds the optimum in whatever units it is given, and the units are
estimated anew from its answer (design section 4).
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.model.scenario import Scenario
from msopt.model.sharing import Sharing

HALVINGS = 40
GRID_DEADLINES, GRID_LENGTHS, PRICE_HALVINGS = 32, 12, 12
CHARGES, GAIN = 4, 1.01
"""How often a token is charged its verification at most, each time at the goodput found before (Dinkelbach); and by
which factor that has to have grown for another time."""

SMALLEST_LENGTH = 0.05
"""A draft length below this [token] is sized as this."""


def common_latency(
    busy_s: FloatArray, bits: FloatArray, uplink: Sharing, bandwidth_hz: float
) -> tuple[FloatArray, FloatArray]:
    """About when all devices can be done, by bisection, when each is busy first and then sends its bits.

    Parameters
    ----------
    busy_s, bits : arrays, shape (..., K)
        Time before sending [s]; what is sent [bit], 0 for a device that takes no part.
    uplink : Sharing
        Of the K devices.
    bandwidth_hz : float
        The band they share [Hz].

    Returns
    -------
    latest_s, rest_s : arrays, shape (...)
        The longest busy time, and the time from then on [s]; their sum is the latency.
    """
    sending = bits > 0.0
    latest = np.max(np.where(sending, busy_s, 0.0), axis=-1, keepdims=True)
    lead = latest - busy_s
    equal = np.full(bits.shape, bandwidth_hz / bits.shape[-1])
    high = np.log(np.max(bits / uplink.rate(equal), axis=-1, keepdims=True, where=sending, initial=1e-300))
    low = high - 60.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        need = uplink.bandwidth(bits / (np.exp(middle) + lead))
        fits = np.sum(np.where(sending, need, 0.0), axis=-1, keepdims=True) <= bandwidth_hz
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return latest[..., 0], np.exp(high)[..., 0]


def draft_control_guess(
    scenario: Scenario, common: bool = False, deadline_s: float | None = None
) -> tuple[FloatArray, float, FloatArray]:
    """Lengths, round time and slack D - tau L of the best point of a coarse grid.

    For each of some deadlines, each device takes the length of a grid that gains most at a price of
    bandwidth and, where verification costs time for each token, at the goodput that this time is worth; the
    price is halved in until the band suffices. With `common`, all draft equally many
    tokens; with `deadline_s`, only that deadline [s] is tried.

    Returns
    -------
    length : array, shape (K,)
        [token]
    round_s : float
        T [s].
    slack_s : array, shape (K,)
        What the deadline leaves each device to send [s].
    """
    least, greatest = (max(limit, SMALLEST_LENGTH) for limit in scenario.length_limits("heterogeneous"))
    every = np.ones(scenario.device_count)
    length = np.geomspace(least, greatest, GRID_LENGTHS)[:, None] * every
    bits = scenario.token_payload_bits("heterogeneous")
    busy = scenario.draft_s_per_token
    if common:
        latest, rest = common_latency(length * busy, length * bits, scenario.uplink, scenario.uplink_bandwidth_hz)
        round_s = latest + rest + scenario.verify_s(length)
        best = int(np.argmax(np.sum(scenario.acceptance.expected_tokens(length), axis=-1) / round_s))
        return length[best], float(round_s[best]), latest[best] + rest[best] - length[best] * busy
    ends = length[[0, -1]]
    latest, rest = common_latency(ends * busy, ends * bits, scenario.uplink, scenario.uplink_bandwidth_hz)
    shortest, longest = latest + rest
    step = 1e-4 * shortest
    deadline = shortest + np.geomspace(step, max(longest - shortest, 2.0 * step), GRID_DEADLINES)
    if deadline_s is not None:
        deadline = np.array([deadline_s])
    slack = deadline[:, None, None] - length * busy
    rate = np.where(slack > 0.0, bits * length / np.where(slack > 0.0, slack, 1.0), 1.0)
    need = np.where(slack > 0.0, scenario.uplink.bandwidth(rate), np.inf) / scenario.uplink_bandwidth_hz
    tokens = scenario.acceptance.expected_tokens(length)
    goodput = 0.0
    for _ in range(CHARGES if scenario.verify_per_token_s > 0.0 else 1):
        chosen = _chosen_at_price(tokens - goodput * scenario.verify_per_token_s * length, need)
        lengths = np.take_along_axis(length, chosen, axis=0)
        gained = np.sum(np.take_along_axis(tokens, chosen, axis=0), axis=-1)
        round_s = deadline + scenario.verify_s(lengths)
        best = int(np.argmax(gained / round_s))
        before, goodput = goodput, float(gained[best] / round_s[best])
        if goodput <= GAIN * before:
            break
    return lengths[best], float(round_s[best]), deadline[best] - lengths[best] * busy


def _chosen_at_price(value: FloatArray, need: FloatArray) -> IntArray:
    """The row of the grid each device takes at each deadline, at the least price of the band that makes all fit.

    Parameters
    ----------
    value : array, shape (lengths, K)
        What a length is worth [token].
    need : array, shape (deadlines, lengths, K)
        The share of the band it takes.
    """
    low, high = np.full(len(need), -20.0), np.full(len(need), 20.0)
    for _ in range(PRICE_HALVINGS):
        middle = 0.5 * (low + high)
        chosen = np.argmax(value - np.exp(middle)[:, None, None] * need, axis=1)
        fits = np.sum(np.take_along_axis(need, chosen[:, None, :], axis=1)[:, 0], axis=-1) <= 1.0
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return np.asarray(np.argmax(value - np.exp(high)[:, None, None] * need, axis=1))
