"""The bandwidth that whole drafts need to be there by a deadline, and how it falls with the deadline.

beta_k(l, D) = B_k(q l/(D - tau_k l)) is convex in l and, for a given l, convex and decreasing in D: it lies above
its tangents in D, which every optimistic estimate of the package rests on.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.radio import Sharing
from msopt.scenario import Scenario


class BandwidthNeed:
    """The needs of a scenario's devices in problem `heterogeneous`."""

    def __init__(self, scenario: Scenario) -> None:
        self._draft_s = scenario.draft_s_per_token
        self._uplink = scenario.uplink
        self._bits = scenario.token_payload_bits("heterogeneous")

    def at(self, lengths: FloatArray, deadline_s: float) -> tuple[FloatArray, FloatArray]:
        """Bandwidth [Hz] for lengths of shape (..., K), and minus its derivative in D [Hz/s]; infinite: too late."""
        return self._of(lengths, deadline_s, self._draft_s, self._uplink)

    def of(self, devices: IntArray, lengths: FloatArray, deadline_s: float) -> tuple[FloatArray, FloatArray]:
        """The same for some devices, n of them, repeated or not, with lengths of shape (n,)."""
        return self._of(lengths, deadline_s, self._draft_s[devices], self._uplink.take(devices))

    def _of(
        self, lengths: FloatArray, deadline_s: float, draft_s: FloatArray, uplink: Sharing
    ) -> tuple[FloatArray, FloatArray]:
        left = deadline_s - lengths * draft_s
        sends = lengths > 0.0
        late = sends & (left <= 0.0)
        spare = np.where(sends & ~late, left, 1.0)
        rate = np.where(sends & ~late, lengths * self._bits / spare, 0.0)
        band, slope, _ = uplink.bandwidth_slope(rate)
        late |= ~np.isfinite(band)
        fall = np.where(sends & ~late, slope, 0.0) * rate / spare
        return np.where(late, np.inf, band), np.where(late, np.inf, fall)
