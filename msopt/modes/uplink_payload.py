"""What drafts travel with, chosen for each device: tokens alone ([UD]) or their distributions, too ([MS]) (ours).

Who sends "distributions" pays for them with every token and is verified and corrected at the server; who sends "tokens"
pays when rejected, by a correction that only such devices take part in. An action of device k is one of the two with a
length; it has E_k(l) tokens, is drafted by l tau_k, sends l b or l (b + V) bits, and is rejected with need of a
correction with rho_k(l) or 0. Bandwidth is free before verification, as in [MS]. So with one table of outcomes

    G = sum E / (D + T_ver + C(rho)),    D the time at which all drafts are there.

*Search.* C is linear in each rho_k. As a linear model of C its derivatives leave, for each deadline, a knapsack of one
action for each device, solved at a price of bandwidth; the true goodput picks among the deadlines, then among all
changes of one device, again and again. This proves nothing.

*Bound.* With an additive m below every outcome (`bounds.upper`) C >= sum m_k rho_k. No control with a deadline between
D0 and D1 and more goodput than G exists where, with the bandwidths w that D1 needs and any price nu,

    sum_k max_a [E - G (c1 l + m_k rho) - nu w(D1)] + nu B <= G (D0 + T),    T the verification without drafts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from msopt.arrays import BoolArray, FloatArray, Frozen, IntArray, every_length
from msopt.errors import ParameterError, describe
from msopt.formulas.split import equal_latency, equal_latency_split
from msopt.model.control import EQUAL_SHARES, Correction, best_rule
from msopt.model.goodput import Round, round_at
from msopt.model.scenario import Scenario
from msopt.modes.bounds.upper import minorant_from_table
from msopt.modes.expected import EXACT_UP_TO
from msopt.modes.table import table_of_best_modes
from msopt.numerics.margins import IMPROVES

UplinkPayload = Literal["tokens", "distributions"]
UPLINK_PAYLOADS: tuple[UplinkPayload, ...] = get_args(UplinkPayload)
_DEADLINES = 64  # that are looked at, all over and around the best
_NEAR = 1.1  # times and divided by: around it
_PRICES = 30  # halvings of the logarithm of a price
_PRICE_RANGE = 1e6  # times and divided by: around what the dearest token brings by the hertz
_INTERVALS = 100  # of the deadline, in the bound, at first
_PARTS, _CUTS, _MOST_INTERVALS = 3, 4, 1000  # into which those that are left are cut, and how often
_LEVELS = 6  # goodputs at which it is asked
_BOUND_ROUND_OFF = 1e-9
_MOST_STEPS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class PayloadChoice(Frozen):
    """Payloads, lengths and bandwidths for each device, and what they are worth.

    Attributes
    ----------
    payload : tuple of K str
        "tokens" or "distributions".
    draft_length : array of int, shape (K,)
    bandwidth_hz : array, shape (K,)
        While drafts are sent [Hz].
    round : Round
        Tokens and times; `round.goodput` is the goodput [token/s].
    bound : float
        No choice of payloads (of those allowed), lengths and bandwidths has more [token/s].
    """

    payload: tuple[UplinkPayload, ...]
    draft_length: IntArray
    bandwidth_hz: FloatArray
    round: Round
    bound: float

    @property
    def goodput(self) -> float:
        """Goodput [token/s]."""
        return float(self.round.goodput)


def best_payloads(
    scenario: Scenario, allowed: Sequence[UplinkPayload] = UPLINK_PAYLOADS, correction: Correction = EQUAL_SHARES
) -> PayloadChoice:
    """The best payloads found, with lengths from the limits of problem `modes`, and a bound on all.

    Parameters
    ----------
    scenario : Scenario
        Of at most 20 devices.
    allowed : sequence of str
        What a device may send; ["distributions"] alone is [MS]'s protocol, ["tokens"] alone [UD]'s.
    correction : str
        How those that need one share bands and power.

    Raises
    ------
    ParameterError
        For more devices, or a payload that is unknown.
    """
    if scenario.device_count > EXACT_UP_TO:
        raise ParameterError(
            f"payloads are chosen for at most {EXACT_UP_TO} devices; the scenario has {scenario.device_count}"
        )
    if not allowed or any(one not in UPLINK_PAYLOADS for one in allowed):
        raise ParameterError(f"allowed = {describe(list(allowed))} are not some of {', '.join(UPLINK_PAYLOADS)}")
    actions = PayloadActions(scenario, allowed, correction)
    starts = [np.tile(row, (scenario.device_count, 1)).T for row in actions.corners()]
    best = max((_climb(actions, start[0]) for start in starts), key=lambda row: float(actions.goodput(row[None])[0]))
    return actions.choice(best, _bound(actions, float(actions.goodput(best[None])[0])))


class PayloadActions:
    """The table of actions, rows by payload and length, and how a choice of one for each device is scored.

    Attributes
    ----------
    tokens, rejection, length, draft_s, bits : arrays, shape (actions, K)
    """

    def __init__(self, scenario: Scenario, allowed: Sequence[UplinkPayload], correction: Correction) -> None:
        self.scenario = scenario
        self.table = table_of_best_modes(scenario, best_rule(correction))
        every = every_length(scenario.length_limits("modes"), scenario.device_count)
        survival = scenario.acceptance.survival(every)
        self.payloads = tuple(dict.fromkeys(allowed))
        self.per_payload = len(every)
        self.length = np.vstack([every] * len(self.payloads))
        self.tokens = np.vstack([scenario.acceptance.expected_tokens(every)] * len(self.payloads))
        self.rejection = np.vstack([(one == "tokens") * (1.0 - survival) for one in self.payloads])
        whole = scenario.token_bits + scenario.distribution_bits
        self.bits = np.vstack([every * (scenario.token_bits if one == "tokens" else whole) for one in self.payloads])
        self.draft_s = self.length * scenario.draft_s_per_token
        self._everyone = np.arange(scenario.device_count)

    def corners(self) -> list[IntArray]:
        """Where searches begin: everyone at the least, a middle and the greatest length of each payload."""
        count, some = self._everyone.size, sorted({0, self.per_payload // 4, self.per_payload - 1})
        starts = [place * self.per_payload + length for place in range(len(self.payloads)) for length in some]
        return [np.full((1, count), start, dtype=np.int64) for start in starts]

    def of(self, column: FloatArray, chosen: IntArray) -> FloatArray:
        """A column of the table for choices of shape (m, K)."""
        return np.asarray(column[chosen, self._everyone])

    def deadline_s(self, chosen: IntArray) -> FloatArray:
        """When all drafts are there [s], shape (m,), by the split that makes it soonest."""
        draft_s, bits = self.of(self.draft_s, chosen), self.of(self.bits, chosen)
        sent = equal_latency(draft_s, bits, self.scenario.uplink, self.scenario.uplink_bandwidth_hz)
        return np.asarray(np.maximum(sent, np.max(draft_s, axis=-1)))

    def play(self, chosen: IntArray) -> Round:
        """The rounds of choices."""
        rejection = self.of(self.rejection, chosen)
        correction_s = self.table.expected_s(rejection.reshape(-1, chosen.shape[-1])).reshape(chosen.shape[:-1])
        return round_at(self.scenario, self.of(self.length, chosen), self.deadline_s(chosen), correction_s)

    def goodput(self, chosen: IntArray) -> FloatArray:
        """Goodput [token/s], shape (m,)."""
        return self.play(chosen).goodput

    def need_hz(self, deadline_s: FloatArray) -> FloatArray:
        """Bandwidth of every action at deadlines, shape (m, actions, K); infinite where it is too late."""
        action, device = np.nonzero(self.bits)
        need = np.where(self.draft_s <= deadline_s[:, None, None], 0.0, np.inf)
        left = deadline_s[:, None] - self.draft_s[action, device]
        rate = self.bits[action, device] / np.where(left > 0.0, left, 1.0)
        need[:, action, device] = np.where(left > 0.0, self.scenario.uplink.take(device).bandwidth(rate), np.inf)
        return need

    def longest_s(self, goodput: float) -> float:
        """Beyond this deadline [s] even all tokens at once are no more than a goodput; below 0 where none can be."""
        return float(np.sum(np.max(self.tokens, axis=0))) / goodput - self.scenario.verify_idle_s

    @cached_property
    def need_all_over_hz(self) -> FloatArray:
        """The bandwidths at deadlines all over, up to the longest that can beat rounds without drafts."""
        nothing = self.scenario.device_count / self.scenario.verify_idle_s
        longest = max(self.longest_s(nothing), 1e-6 * self.scenario.verify_idle_s)
        first = np.clip(float(np.min(self.scenario.draft_s_per_token)), 1e-6 * longest, longest)
        return self.need_hz(np.geomspace(first, longest, _DEADLINES))

    def choice(self, chosen: IntArray, bound: float) -> PayloadChoice:
        """One choice in full."""
        _, share = equal_latency_split(
            self.of(self.draft_s, chosen),
            self.of(self.bits, chosen),
            self.scenario.uplink,
            self.scenario.uplink_bandwidth_hz,
        )
        return PayloadChoice(
            payload=tuple(self.payloads[int(place)] for place in chosen // self.per_payload),
            draft_length=self.of(self.length, chosen).astype(np.int64),
            bandwidth_hz=share,
            round=self.play(chosen),
            bound=bound,
        )


def _climb(actions: PayloadActions, chosen: IntArray) -> IntArray:
    """The best choice that the linear model of C leads to from one."""
    goodput = float(actions.goodput(chosen[None])[0])
    for _ in range(_MOST_STEPS):
        correction_s, slope = actions.table.gradient_s(actions.of(actions.rejection, chosen)[None])
        own_s = actions.scenario.verify_per_token_s * actions.length + slope[0] * actions.rejection
        value = actions.tokens - goodput * own_s
        now = float(actions.deadline_s(chosen[None])[0])
        around = actions.need_hz(now * np.geomspace(1.0 / _NEAR, _NEAR, _DEADLINES))
        proposed = [_knapsacks(actions, value, need) for need in (actions.need_all_over_hz, around)]
        rows = np.vstack([*proposed, _best_single(actions, chosen, float(correction_s[0]), slope[0])])
        reached = actions.goodput(rows)
        best = int(np.argmax(reached))
        if reached[best] <= goodput * IMPROVES:
            break
        chosen, goodput = rows[best], float(reached[best])
    return chosen


def _knapsacks(actions: PayloadActions, value: FloatArray, need: FloatArray) -> IntArray:
    """For needs (m, actions, K) the best actions within the band, as far as a price tells them apart; shape (m, K)."""
    band = actions.scenario.uplink_bandwidth_hz
    low, high = (np.full(len(need), np.log(end)) for end in _price_range(value, band))
    chosen = np.zeros((len(need), need.shape[2]), dtype=np.int64)
    for _ in range(_PRICES):
        price = 0.5 * (low + high)
        picked, used = _picked(value, need, np.exp(price))
        fits = used <= band
        chosen[fits] = picked[fits]
        low, high = np.where(fits, low, price), np.where(fits, price, high)
    return chosen


def _price_range(value: FloatArray, band: float) -> tuple[float, float]:
    unit = max(float(np.ptp(value)), 1e-300) / band
    return unit / _PRICE_RANGE, unit * _PRICE_RANGE


def _picked(value: FloatArray, need: FloatArray, price: FloatArray) -> tuple[IntArray, FloatArray]:
    """The best action of each device at prices of shape (m,), and the band that these use, shapes (m, K) and (m,)."""
    worth = value - price[:, None, None] * need
    picked = np.argmax(worth, axis=1)
    return picked, np.sum(np.take_along_axis(need, picked[:, None, :], axis=1)[:, 0], axis=1)


def _best_single(actions: PayloadActions, chosen: IntArray, correction_s: float, slope: FloatArray) -> IntArray:
    """The best change of one device's action, the linear C being exact for it, shape (1, K)."""
    count, rows = chosen.size, len(actions.length)
    changed = np.tile(chosen, (rows * count, 1))
    action, device = np.divmod(np.arange(rows * count), count)
    changed[np.arange(rows * count), device] = action
    now = actions.of(actions.rejection, chosen)
    seconds = correction_s + slope[device] * (actions.rejection[action, device] - now[device])
    played = round_at(actions.scenario, actions.of(actions.length, changed), actions.deadline_s(changed), seconds)
    return changed[[int(np.argmax(played.goodput))]]


def _bound(actions: PayloadActions, reached: float) -> float:
    """A goodput that no choice exceeds, from trial goodputs between one that is reached and the least bound so far.

    A deadline that cannot beat a goodput cannot beat a greater one, so that those are left out from the first on.
    """
    idle_s = actions.scenario.verify_idle_s
    minorant = minorant_from_table(actions.table)

    def excess(start: FloatArray, need: FloatArray, goodput: float) -> FloatArray:
        own_s = actions.scenario.verify_per_token_s * actions.length + minorant * actions.rejection
        value = _most_value(actions, actions.tokens - goodput * own_s, need)
        return np.asarray(value / (start + idle_s) - goodput)

    start, need = _open_intervals(actions, lambda start, need: excess(start, need, reached) > 0.0, reached)
    if not start.size:
        return reached * (1.0 + _BOUND_ROUND_OFF)
    low, bound = reached, reached + float(np.max(excess(start, need, reached)))
    high = bound
    for _ in range(_LEVELS):
        level = 0.5 * (low + high)
        more = float(np.max(excess(start, need, level)))
        bound = min(bound, level + max(more, 0.0))
        low, high = (low, level) if more <= 0.0 else (level, min(high, bound))
    return max(bound, reached) * (1.0 + _BOUND_ROUND_OFF)


def _open_intervals(
    actions: PayloadActions, may_beat: Callable[[FloatArray, FloatArray], BoolArray], goodput: float
) -> tuple[FloatArray, FloatArray]:
    """The intervals of deadlines that may beat a goodput: where they start [s], and what bandwidths their ends need.

    Those that may are cut in parts a few times. Longer deadlines than the last do not yield so much with all tokens.
    """
    longest = actions.longest_s(goodput)
    ends = np.concatenate([[0.0], np.geomspace(1e-3 * longest, longest, _INTERVALS)]) if longest > 0.0 else np.zeros(1)
    start, end = ends[:-1], ends[1:]
    for cut in range(_CUTS + 1):
        need = actions.need_hz(end)
        left = may_beat(start, need) if start.size else np.zeros(0, dtype=bool)
        start, end, need = start[left], end[left], need[left]
        if cut < _CUTS and 0 < start.size * _PARTS <= _MOST_INTERVALS:
            parts = np.linspace(start, end, _PARTS + 1)
            start, end = parts[:-1].ravel(), parts[1:].ravel()
        else:
            break
    return start, need


def _most_value(actions: PayloadActions, value: FloatArray, need: FloatArray) -> FloatArray:
    """At least the greatest value of all choices within the band, for needs of shape (m, actions, K)."""
    band = actions.scenario.uplink_bandwidth_hz
    most = np.sum(np.max(np.where(np.isfinite(need), value, -np.inf), axis=1), axis=1)
    low, high = (np.full(len(need), np.log(end)) for end in _price_range(value, band))
    for _ in range(_PRICES):
        price = np.exp(0.5 * (low + high))
        picked, used = _picked(value, need, price)
        worth = np.take_along_axis(value - price[:, None, None] * need, picked[:, None, :], axis=1)
        most = np.minimum(most, np.sum(worth[:, 0], axis=1) + price * band)
        low, high = np.where(used > band, np.log(price), low), np.where(used > band, high, np.log(price))
    return np.asarray(most)
