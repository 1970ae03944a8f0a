"""The best choice of lengths for a variant by trying all of them: no table, no relaxation, no search.

For each choice the shortest deadline is bisected, at which what the devices have to have fits the band; what a limit
asks of a share or of the time for sending is written here once more, and every limit's two sides have the last word.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from msopt import (
    Admission,
    AlphaFair,
    AveragePower,
    BandwidthCap,
    BandwidthFloor,
    EarliestDeadline,
    EnergyPerToken,
    MaxMin,
    ProportionalFair,
    ResourceBlocks,
    Scenario,
    Sum,
    Utility,
    WeightedSum,
)
from msopt.arrays import BoolArray, FloatArray, every_length
from msopt.model.control_limit import ControlLimit
from msopt.variants.decision import DecisionNumbers, limit_slack
from msopt.variants.variant import Variant

MOST_CHOICES = 20_000
_HALVINGS = 120
_LATEST = 1e12
_FITS = 1e-12

UTILITIES: Mapping[type, Callable[[Any, FloatArray], FloatArray]] = {
    Sum: lambda _, g: np.sum(g, axis=-1),
    WeightedSum: lambda u, g: g @ u.weights,
    ProportionalFair: lambda u, g: np.where(u.weights > 0.0, u.weights * np.log(g), 0.0).sum(axis=-1),
    AlphaFair: lambda u, g: (u.weights * g ** (1.0 - u.fairness)).sum(axis=-1) / (1.0 - u.fairness),
    MaxMin: lambda u, g: np.min(np.where(u.weights > 0.0, u.weights * g, np.inf), axis=-1),
    Admission: lambda u, g: np.sum(g >= u.guaranteed_tokens_per_s * (1.0 - _FITS), axis=-1),
}
"""Each utility of goodputs, shape (..., K), by its formula."""


@dataclass(frozen=True, eq=False)
class EveryChoice:
    """All choices of a length for each device, or of taking no part; arrays of shape (n, K)."""

    scenario: Scenario
    length: FloatArray
    served: BoolArray

    @classmethod
    def of(cls, scenario: Scenario, idle: bool) -> "EveryChoice | None":
        """None where there are too many to try."""
        low, high = scenario.length_limits("heterogeneous")
        K = scenario.device_count
        if (high - low + 1 + idle) ** K > MOST_CHOICES:
            return None
        one = np.concatenate([every_length((low, high), 1)[:, 0], [-1.0] if idle else []])
        every = np.array(np.meshgrid(*[one] * K)).reshape(K, -1).T
        return cls(scenario, np.maximum(every, 0.0), every >= 0.0)

    @property
    def tokens(self) -> FloatArray:
        """Expected tokens."""
        return np.where(self.served, self.scenario.acceptance.expected_tokens(self.length), 0.0)

    @property
    def verify_s(self) -> FloatArray:
        """Verification [s], shape (n, 1)."""
        cell, verified = self.scenario, np.where(self.served, self.length + 1.0, 0.0)
        count = np.sum(self.served, axis=1, keepdims=True)
        tokens = np.sum(verified, axis=1, keepdims=True)
        if cell.padded_batches:
            tokens = count * np.max(verified, axis=1, keepdims=True)
        return np.asarray(cell.verify_base_s + cell.verify_per_device_s * count + cell.verify_per_token_s * tokens)

    @property
    def draft_s(self) -> FloatArray:
        """Time for drafting [s]."""
        return self.length * self.scenario.draft_s_per_token

    @property
    def busy_s(self) -> FloatArray:
        """From the start to when bits would be there if sending took no time [s]."""
        trip = 0.0 if self.scenario.round_trip_s is None else self.scenario.round_trip_s
        return self.draft_s + np.where(self.length > 0.0, trip, 0.0)

    def share_hz(self, limits: Iterable[ControlLimit], deadline_s: FloatArray) -> FloatArray:
        """What every device has to have for deadlines of shape (n, 1) [Hz]."""
        cell = self.scenario
        bits = self.length * cell.token_payload_bits("heterogeneous")
        airtime = deadline_s - self.busy_s
        for limit in limits:
            if type(limit) in _AIRTIME:
                airtime = np.minimum(airtime, _AIRTIME[type(limit)](limit, self, deadline_s + self.verify_s))
        sends, some = bits > 0.0, airtime > 0.0
        share = cell.uplink.bandwidth(np.where(sends & some, bits, 0.0) / np.where(some, airtime, 1.0))
        for _ in range(2):  # whole blocks and a floor, in either order
            for limit in limits:
                if type(limit) in _SHARE:
                    share = _SHARE[type(limit)](limit, share)
        never = np.where(sends, ~some, self.busy_s > deadline_s)
        return np.where(never, np.inf, np.where(sends, share, 0.0))

    def shortest_s(self, limits: Iterable[ControlLimit]) -> FloatArray:
        """The shortest deadline of each choice [s], shape (n, 1); infinite where there is none."""
        band = self.scenario.uplink_bandwidth_hz * (1.0 + _FITS)

        def fits(deadline_s: FloatArray) -> BoolArray:
            return np.asarray(np.sum(self.share_hz(limits, deadline_s), axis=1, keepdims=True) <= band)

        earliest = max((limit.seconds for limit in limits if isinstance(limit, EarliestDeadline)), default=0.0)
        start = np.maximum(np.max(self.busy_s, axis=1, keepdims=True), earliest)
        low, high = np.full(start.shape, np.log(1e-15)), np.full(start.shape, np.log(_LATEST))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            early = fits(start + np.exp(middle))
            low, high = np.where(early, low, middle), np.where(early, middle, high)
        deadline = np.where(fits(start), start, start + np.exp(high))
        return np.where(fits(deadline), deadline, np.inf)


_AIRTIME: dict[type, Callable[[Any, EveryChoice, FloatArray], FloatArray]] = {
    AveragePower: lambda limit, at, round_s: (
        (limit.average_power_w * round_s - limit.draft_power_w * at.draft_s) / np.maximum(limit.transmit_power_w, _FITS)
    ),
    EnergyPerToken: lambda limit, at, _: (
        (limit.joule_per_token * at.tokens - limit.draft_power_w * at.draft_s)
        / np.maximum(limit.transmit_power_w, _FITS)
    ),
}
_SHARE: dict[type, Callable[[Any, FloatArray], FloatArray]] = {
    BandwidthFloor: lambda limit, share: np.maximum(share, limit.hz),
    BandwidthCap: lambda limit, share: np.where(share <= limit.hz * (1.0 + _FITS), share, np.inf),
    ResourceBlocks: lambda limit, share: np.ceil(share / limit.block_hz * (1.0 - _FITS)) * limit.block_hz,
}


def best_of_all(scenario: Scenario, variant: Variant) -> float | None:
    """The greatest utility of all choices; -inf where none keeps the limits, None where there are too many to try."""
    choices = EveryChoice.of(scenario, variant.idle)
    if choices is None:
        return None
    deadline = choices.shortest_s(variant.limits)
    round_s = deadline + choices.verify_s
    there = np.isfinite(round_s[:, 0])
    goodput = choices.tokens / np.where(there[:, None], round_s, 1.0)
    with np.errstate(divide="ignore"):
        worth = np.where(there, _worth(variant.utility, goodput), -np.inf)
    for row in np.argsort(-worth, kind="stable"):
        if not worth[row] > -np.inf:
            break
        if _kept(scenario, variant, choices, int(row), float(deadline[row, 0])):
            return float(worth[row])
    return -np.inf


def _worth(utility: Utility, goodput: FloatArray) -> FloatArray:
    """By the formula; of a utility of the user's by itself."""
    if type(utility) in UTILITIES:
        return np.asarray(UTILITIES[type(utility)](utility, goodput), dtype=float)
    return np.asarray(utility.value(goodput, np.ones(len(goodput))))


def _kept(scenario: Scenario, variant: Variant, choices: EveryChoice, row: int, deadline_s: float) -> bool:
    """Whether one choice keeps the two sides of every limit in the round that its deadline gives."""
    one = EveryChoice(scenario, choices.length[row : row + 1], choices.served[row : row + 1])
    share = one.share_hz(variant.limits, np.array([[deadline_s]]))[0]
    bits = one.length[0] * scenario.token_payload_bits("heterogeneous")
    rate = scenario.uplink.rate(share)
    airtime = np.where(bits > 0.0, bits / np.where(rate > 0.0, rate, 1.0), 0.0)
    round_s = deadline_s + float(one.verify_s[0, 0])
    numbers = DecisionNumbers(
        scenario=scenario,
        draft_length=one.length[0],
        draft_s=one.draft_s[0],
        airtime_s=airtime,
        bandwidth_hz=share,
        deadline_s=deadline_s,
        round_s=round_s,
        device_goodput=one.tokens[0] / round_s,
        served=one.served[0],
    )
    return all(limit_slack(limit, numbers).violation == 0.0 for limit in variant.limits if limit.sided)
