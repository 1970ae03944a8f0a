"""The bandwidth that drafts need to be there in time, and how it changes: the one place for beta_k.

With x = l/D, tokens drafted per second, device k needs beta_k(x) = B_k(q x/(1 - tau_k x)), convex in x. In the length
and the deadline it is B_k(q l/(D - tau_k l)): for a given l convex and decreasing in D, so that it lies above its
tangents in D, which every optimistic estimate of the package rests on.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.formulas.split import equal_latency, equal_latency_split
from msopt.model.scenario import Scenario
from msopt.model.sharing import Sharing
from msopt.model.stack import ScenarioStack

_ROUND_OFF = 0.5 * np.finfo(float).eps  # of 1: the least time left beside drafting that 1 - tau x can tell from 0


@dataclass(frozen=True, eq=False)
class BandwidthNeed:
    """The needs of a scenario's devices, shape (K,), or of S scenarios with K devices each, shape (S, K).

    Attributes
    ----------
    draft_s, bits : arrays
        tau_k [s] and q [bit], for each token in problem `heterogeneous`.
    uplink : Sharing
    """

    draft_s: FloatArray
    bits: FloatArray
    uplink: Sharing

    @classmethod
    def of(cls, scenario: Scenario | ScenarioStack) -> Self:
        """The needs in a scenario or a stack of them."""
        draft_s = scenario.draft_s_per_token
        bits = np.broadcast_to(scenario.token_payload_bits("heterogeneous"), draft_s.shape).astype(float)
        return cls(draft_s, bits, scenario.uplink)

    def take(self, chosen: IntArray) -> Self:
        """Those of some devices of a scenario, or of some scenarios of a stack, repeated or not."""
        return type(self)(self.draft_s[chosen], self.bits[chosen], self.uplink.take(chosen))

    def shortest_deadline(
        self, length: FloatArray, band_hz: FloatArray | float, near_s: FloatArray | float = 0.0
    ) -> FloatArray:
        """The deadline of `split` alone [s], shape (...)."""
        return equal_latency(length * self.draft_s, length * self.bits, self.uplink, band_hz, near_s)

    def split(
        self, length: FloatArray, band_hz: FloatArray | float, near_s: FloatArray | float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """The shortest deadline [s] for lengths, shape (...), and the bandwidths [Hz] that attain it, (..., K).

        [MS] Lemmas 2 and 3, for lengths of 1 Lemma 1; `near_s` as in `equal_latency_split`.
        """
        return equal_latency_split(length * self.draft_s, length * self.bits, self.uplink, band_hz, near_s)

    def at_pace(self, pace: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """beta(x) [Hz] with its first and second derivative, for a pace below 1/tau."""
        idle = np.maximum(1.0 - self.draft_s * pace, _ROUND_OFF)
        per_idle = self.bits / idle
        band, slope, curvature = self.uplink.bandwidth_slope(per_idle * pace)
        by_pace = per_idle / idle
        slope = slope * by_pace
        bend = 2.0 * slope * (self.draft_s / idle)
        return band, slope, bend if self.uplink.proportional else curvature * (by_pace * by_pace) + bend

    def by_deadline(self, length: FloatArray, deadline_s: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """beta(l/D) [Hz] and minus its derivative in D [Hz/s], D above 0; both infinite where it is too late."""
        return need_by_deadline(length * self.draft_s, length * self.bits, self.uplink, deadline_s)


def need_by_deadline(
    busy_s: FloatArray, bits: FloatArray, uplink: Sharing, deadline_s: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """What bits need that are ready after a time [Hz], shape (..., K), and how much a later deadline eases it [Hz/s].

    Convex and decreasing in the deadline; both infinite where it is too late.
    """
    left = np.maximum(deadline_s - busy_s, 0.0)
    with np.errstate(divide="ignore", over="ignore"):  # no time left, or next to none, asks for an infinite rate
        rate = bits / left
        band, slope, _ = uplink.bandwidth_slope(rate)
        return band, slope * rate / left
