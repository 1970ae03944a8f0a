"""Whole lengths for problem `heterogeneous`: rounding and local search around the relaxed optimum (design section 4).

A move adds a token to one device, takes one from another, or does both. Moves are first judged by an
estimate that is never too low, because the bandwidth that lengths need is convex and decreasing in the
deadline and so lies above its tangent; only moves whose estimate beats the incumbent are scored exactly.
"""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.goodput import round_at
from msopt.relaxed import length_split
from msopt.scenario import Scenario

_SCORED_AT_ONCE = 32
_PAIRED = 64
_CLIMBED = 8
_DEVICES_CLIMBED = 1000
_DEVICES_MOVED = 200_000
_ROUND_OFF = 1e-12
_IMPROVES = 1.0 + 1e-13


def exact_goodput(scenario: Scenario, lengths: FloatArray) -> FloatArray:
    """Goodput [token/s] of lengths of shape (..., K) under the split that suits them best."""
    deadline, _ = length_split(scenario, lengths)
    return round_at(scenario, lengths, deadline).goodput


def improve(scenario: Scenario, starts: FloatArray) -> IntArray:
    """The best whole lengths, shape (K,), that local search reaches from starts of shape (n, K)."""
    low, high = scenario.length_limits("heterogeneous")
    candidates = np.unique(np.clip(starts, low, high), axis=0)
    scores = exact_goodput(scenario, candidates)
    search = _LocalSearch(scenario)
    climbs = int(np.clip(_DEVICES_CLIMBED // scenario.device_count, 1, _CLIMBED))
    best_first = np.argsort(-scores, kind="stable")[:climbs]
    ends = [search.climb(candidates[i], float(scores[i])) for i in best_first]
    lengths, _ = max(ends, key=lambda end: end[1])
    return np.asarray(np.rint(lengths), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Halves:
    """One half of each move, "one token more" or "one token less", seen from a deadline; the first is "none".

    `gain` in tokens, `need` in hertz and `fall` (minus its derivative in the deadline) are changes; no move
    can end before `earliest`.
    """

    device: IntArray
    gain: FloatArray
    need: FloatArray
    fall: FloatArray
    earliest: FloatArray

    def worth(self, price: float) -> FloatArray:
        return self.gain - price * self.need


class _LocalSearch:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.low, self.high = scenario.length_limits("heterogeneous")
        self.bits = scenario.token_payload_bits("heterogeneous")
        whole_band = np.full(scenario.device_count, scenario.uplink_bandwidth_hz)
        self.alone_s_per_token = scenario.draft_s_per_token + self.bits / scenario.uplink.rate(whole_band)
        self._ends: dict[bytes, tuple[FloatArray, float]] = {}

    def climb(self, lengths: FloatArray, score: float) -> tuple[FloatArray, float]:
        """Move while a move gains; stops early on lengths that an earlier climb passed through."""
        path: list[bytes] = []
        most = max(1, _DEVICES_MOVED // lengths.size)
        while (key := lengths.tobytes()) not in self._ends:
            path.append(key)
            found = self._best_move(lengths, score) if len(path) <= most else None
            if found is None:
                self._ends[key] = lengths, score
            else:
                lengths, score = found
        end = self._ends[key]
        self._ends.update(dict.fromkeys(path, end))
        return end

    def _best_move(self, lengths: FloatArray, score: float) -> tuple[FloatArray, float] | None:
        up, down, estimate = self._moves(lengths)
        hopeful = np.flatnonzero(estimate > score * _IMPROVES)
        hopeful = hopeful[np.argsort(-estimate[hopeful], kind="stable")]
        for first in range(0, hopeful.size, _SCORED_AT_ONCE):
            chosen = hopeful[first : first + _SCORED_AT_ONCE]
            moved = np.repeat(lengths[None, :], chosen.size, axis=0)
            for devices, token in ((up[chosen], 1.0), (down[chosen], -1.0)):
                rows = np.flatnonzero(devices >= 0)
                moved[rows, devices[rows]] += token
            scores = exact_goodput(self.scenario, moved)
            best = int(np.argmax(scores))
            if scores[best] > score * _IMPROVES:
                return moved[best], float(scores[best])
        return None

    def _moves(self, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Every move as the device that gains a token, the one that loses one (-1: none), and its goodput at most."""
        deadline = float(length_split(self.scenario, lengths)[0])
        need, fall = self._need(lengths, deadline)
        tokens = self.scenario.acceptance.expected_tokens(lengths)
        here = need, fall, tokens
        ups = self._halves(lengths, deadline, here, 1.0)
        downs = self._halves(lengths, deadline, here, -1.0)
        seconds, total_fall = deadline + float(self.scenario.verify_s(lengths)), float(np.sum(fall))
        price = float(np.sum(tokens)) / (seconds * total_fall) if total_fall > 0.0 else 0.0
        i, j = _pairs(ups.worth(price), downs.worth(price))
        apart = ups.device[i] != downs.device[j]
        i, j = i[apart], j[apart]
        change = ups.need[i] + downs.need[j]
        steepness = float(np.sum(fall)) + ups.fall[i] + downs.fall[j]
        # Where nobody is left that sends, the deadline is what the one device that moved up needs alone.
        sends = steepness > _ROUND_OFF * float(np.sum(fall))
        step = np.divide(change, steepness, out=np.full_like(change, -deadline), where=sends)
        finished = np.maximum(deadline + step, np.maximum(ups.earliest[i], 0.0))
        more = (ups.device[i] >= 0).astype(float) - (downs.device[j] >= 0)
        verify = self.scenario.verify_s(lengths) + self.scenario.verify_per_token_s * more
        estimate = (float(np.sum(tokens)) + ups.gain[i] + downs.gain[j]) / (finished + verify)
        return ups.device[i], downs.device[j], estimate

    def _need(self, lengths: FloatArray, deadline: float) -> tuple[FloatArray, FloatArray]:
        """Bandwidth [Hz] each device needs to make a deadline, and how fast it falls with it; infinite: it cannot."""
        left = deadline - lengths * self.scenario.draft_s_per_token
        sends = lengths > 0.0
        makes = sends & (left > 0.0)
        rate = np.where(makes, lengths * self.bits / np.where(makes, left, 1.0), 0.0)
        band, slope, _ = self.scenario.uplink.bandwidth_slope(rate)
        fall = slope * rate / np.where(makes, left, 1.0)
        late = sends & ~makes
        return np.where(late, np.inf, band), np.where(late, np.inf, np.where(makes, fall, 0.0))

    def _halves(
        self,
        lengths: FloatArray,
        deadline: float,
        here: tuple[FloatArray, FloatArray, FloatArray],
        token: float,
    ) -> _Halves:
        need, fall, tokens = here
        devices = np.flatnonzero((lengths < self.high) if token > 0.0 else (lengths > self.low))
        moved = lengths + token
        new_need, new_fall = self._need(moved, deadline)
        known = np.isfinite(new_need)
        # Where the tangent is not defined the device alone, with the whole band, gives the estimate.
        change = np.where(known, np.where(known, new_need, 0.0) - need, 0.0)
        bend = np.where(known, np.where(known, new_fall, 0.0) - fall, 0.0)
        earliest = moved * self.alone_s_per_token if token > 0.0 else np.zeros_like(moved)
        gain = self.scenario.acceptance.expected_tokens(np.maximum(moved, 0.0)) - tokens
        return _Halves(
            np.concatenate([[-1], devices]),
            *(np.concatenate([[0.0], values[devices]]) for values in (gain, change, bend, earliest)),
        )


def _pairs(up_worth: FloatArray, down_worth: FloatArray) -> tuple[IntArray, IntArray]:
    """Which halves to combine: each with none, and each of the most promising with each of the other kind."""
    up = np.concatenate([[0], 1 + np.argsort(-up_worth[1:], kind="stable")[:_PAIRED]])
    down = np.concatenate([[0], 1 + np.argsort(-down_worth[1:], kind="stable")[:_PAIRED]])
    pairs = np.stack(np.meshgrid(up, down, indexing="ij")).reshape(2, -1)
    rest_up, rest_down = (
        np.setdiff1d(np.arange(up_worth.size), up),
        np.setdiff1d(np.arange(down_worth.size), down),
    )
    i = np.concatenate([pairs[0], rest_up, np.zeros(rest_down.size, dtype=np.int64)])
    j = np.concatenate([pairs[1], np.zeros(rest_up.size, dtype=np.int64), rest_down])
    return i, j
