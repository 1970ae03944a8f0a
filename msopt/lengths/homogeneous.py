"""Problem `homogeneous`: one draft length for all devices (design section 3).

The split that is best for one token is best for any common length: theta, the time of a token, is found once, and what
remains is one number.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, floor

import numpy as np
from scipy.optimize import brentq

from msopt.arrays import FloatArray, IntArray, every_length, require_table, total
from msopt.formulas.multispin import common_length
from msopt.lengths.gap import BOUND_RTOL
from msopt.lengths.need import BandwidthNeed
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario
from msopt.numerics.clock import Clock

_STEPS = 100  # each from the longest useful length to a shorter one; it has ended where that saves no token
_AT_ONCE = 1_000_000  # numbers in a block of lengths: a few megabytes


@dataclass(frozen=True, eq=False)
class HomogeneousOptimum:
    """The best common length and the split that carries it.

    Attributes
    ----------
    per_token_s : float
        theta, drafting and sending one token under the best split [s].
    bandwidth_hz : array, shape (K,)
        That split [Hz]; it does not depend on the length.
    draft_length : array of int, shape (K,)
        The best whole length, for each device the same [token].
    relaxed_length : float
        The best real length within the limits [token].
    relaxed_goodput : float
        Goodput at that real length [token/s].
    bound : float
        No common length has more [token/s].
    price_of_bandwidth : float
        Derivative of `relaxed_goodput` in the uplink band [token/s per Hz].
    """

    per_token_s: float
    bandwidth_hz: FloatArray
    draft_length: IntArray
    relaxed_length: float
    relaxed_goodput: float
    bound: float
    price_of_bandwidth: float


def per_token_optimum(scenario: Scenario) -> tuple[float, FloatArray]:
    """theta [s] and the split [Hz], shape (K,): [MS] Lemma 1 for both ways to share the uplink."""
    theta, share = BandwidthNeed.of(scenario).split(np.ones(scenario.device_count), scenario.uplink_bandwidth_hz)
    return float(theta), share


def best_common_length(scenario: Scenario, per_token_s: float, limits: tuple[int, int]) -> tuple[int, float]:
    """Best whole and best real common length when one more token costs the drafting a given time.

    [MS] Theorem 1 where all acceptances are equal; else (ours) the one sign change of the derivative of
    the goodput, whose numerator falls with the length because every E_k is concave.
    """
    slope_s = per_token_s + scenario.verify_per_token_s * scenario.device_count
    low, high = limits
    if slope_s == 0.0:
        return high, float(high)
    acceptance = scenario.acceptance
    if acceptance.geometric and np.ptp(acceptance.mean) == 0.0:
        stationary = float(common_length(acceptance.mean[0], slope_s, scenario.verify_idle_s))
        real = float(np.clip(stationary, low, high))
    else:
        real = _stationary_length(scenario, slope_s, float(low), float(high))
    return better_neighbour(scenario, per_token_s, real, limits), real


def better_neighbour(scenario: Scenario, per_token_s: float, real: float, limits: tuple[int, int]) -> int:
    """The better of the two whole common lengths beside a real one, within limits."""
    low, high = limits
    candidates = np.array([min(max(low, whole), high) for whole in (floor(real), ceil(real))], dtype=float)
    return int(candidates[np.argmax(common_goodput(scenario, per_token_s, candidates))])


def common_goodput(scenario: Scenario, per_token_s: float, lengths: FloatArray) -> FloatArray:
    """Goodput [token/s] of common lengths of shape (n,) when one more token costs the drafting a given time."""
    every = np.repeat(lengths[:, None], scenario.device_count, axis=1)
    return round_at(scenario, every, per_token_s * lengths).goodput


def best_common_goodput(scenario: Scenario, per_token_s: float, limits: tuple[int, int]) -> float:
    """Goodput [token/s] of the best whole common length."""
    length, _ = best_common_length(scenario, per_token_s, limits)
    return float(common_goodput(scenario, per_token_s, np.array([length], dtype=float))[0])


def enumerated_length(
    scenario: Scenario, per_token_s: float, start: int, time_limit_s: float | None = None
) -> tuple[int, float, bool]:
    """The best common length of problem `homogeneous`, its goodput, and whether the list of them has ended.

    ParameterError where their table would hold more than a hundred million numbers.

    Parameters
    ----------
    scenario, per_token_s
    start : int
        A length to begin with [token].
    time_limit_s : float, optional
        After which the best that was met is returned.
    """
    low, high = scenario.length_limits("homogeneous")
    count = scenario.device_count
    slope_s = per_token_s + scenario.verify_per_token_s * count

    def scores(lengths: FloatArray) -> FloatArray:
        return round_at(scenario, lengths, per_token_s * lengths[:, 0]).goodput

    least = float(scores(np.full((1, count), float(low)))[0])
    longest = high
    for _ in range(_STEPS):
        # A longer draft yields no more tokens than it takes time at a goodput that is reached already.
        tokens = float(np.sum(scenario.acceptance.expected_tokens(np.full(count, float(longest)))))
        shorter = (tokens / least - scenario.verify_idle_s) / slope_s
        if shorter >= longest - 1.0 or longest == low:
            break
        longest = max(low, int(shorter) + 1)
    require_table((low, longest), count)
    best, length = float(scores(np.full((1, count), float(start)))[0]), start
    clock = Clock(time_limit_s)
    rows = max(1, _AT_ONCE // count)
    for first in range(low, longest + 1, rows):
        found = scores(every_length((first, min(first + rows - 1, longest)), count))
        place = int(np.argmax(found))
        if found[place] > best or (found[place] == best and first + place < length):
            best, length = float(found[place]), first + place
        if clock.over and first + rows <= longest:
            return length, best, False
    return length, best, True


def _stationary_length(scenario: Scenario, slope_s: float, low: float, high: float) -> float:
    law, idle_s, here = scenario.acceptance, scenario.verify_idle_s, np.empty(scenario.device_count)

    @cache  # the ends are asked for twice
    def gain(length: float) -> float:
        here.fill(length)
        more = np.add.reduce(np.exp(law.log_marginal_tokens(here)))
        return float(more * (slope_s * length + idle_s) - slope_s * np.add.reduce(law.expected_tokens(here)))

    if gain(low) <= 0.0:
        return low
    if gain(high) >= 0.0:
        return high
    return float(brentq(gain, low, high, xtol=1e-12, rtol=1e-15))


def _gap(scenario: Scenario, per_token_s: float, real: float) -> float:
    """No real common length has more than (1 + gap) times the goodput of a given one: its tangents, as a proof.

    The tokens of all are concave in the length and lie below their tangents; a tangent over the seconds, which are
    linear, is greatest at a limit.
    """
    law, count = scenario.acceptance, scenario.device_count
    limits = np.array(scenario.length_limits("homogeneous"), dtype=float)
    slope_s, idle_s = per_token_s + scenario.verify_per_token_s * count, scenario.verify_idle_s
    at = np.array([[real]] if law.smooth else [[real], [np.rint(real)]])  # a kink is met but for round-off
    every = np.repeat(at, count, axis=1)
    tokens, beside = total(law.expected_tokens(every)), [every] if law.smooth else [every, np.nextafter(every, 0.0)]
    after, *before = total(np.exp(law.log_marginal_tokens(np.stack(beside))))
    slope = np.minimum(np.maximum(tokens / (slope_s * at + idle_s) * slope_s, after), *before) if before else after
    bound = float(np.min(np.max((tokens + slope * (limits - at)) / (slope_s * limits + idle_s), axis=1)))
    return max(0.0, bound * (slope_s * real + idle_s) / float(tokens[0, 0]) - 1.0)


def solve_homogeneous(scenario: Scenario) -> HomogeneousOptimum:
    """The optimum of problem `homogeneous`, its split, its relaxation and the price of bandwidth."""
    theta, share = per_token_optimum(scenario)
    whole, real = best_common_length(scenario, theta, scenario.length_limits("homogeneous"))
    relaxed = round_at(scenario, np.full(scenario.device_count, real), theta * real)
    goodput = float(relaxed.goodput)
    rate = scenario.uplink.rate(share)
    _, slope, _ = scenario.uplink.bandwidth_slope(rate)
    gain_s_per_hz = real / np.sum(slope * rate * rate) * scenario.token_payload_bits("homogeneous")
    return HomogeneousOptimum(
        theta,
        share,
        np.full(scenario.device_count, whole, dtype=np.int64),
        real,
        goodput,
        goodput * (1.0 + max(_gap(scenario, theta, real), BOUND_RTOL)),
        float(goodput / relaxed.round_s * gain_s_per_hz),
    )
