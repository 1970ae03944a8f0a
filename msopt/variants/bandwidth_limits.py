"""Limits on shares of the band: floors, caps, whole blocks (design section 7)."""

from typing import Any

import numpy as np

from msopt.errors import ParameterError, describe
from msopt.model.control_limit import ControlLimit
from msopt.variants.limit_numbers import NumberLimit, positive
from msopt.variants.table_rules import TableRules

_FITS = 1e-12


class BandwidthFloor(ControlLimit):
    """B_k >= a floor [Hz] for every device that drafts, whatever it needs."""

    name, unit, sense, conic = "bandwidth floor", "Hz", ">=", "relaxed"
    number = "hz"

    def __init__(self, hz: Any) -> None:
        self.hz = positive(self.name, hz, zero=True)

    def left(self, at: Any) -> Any:
        """The shares [Hz]."""
        return at.bandwidth_hz

    def right(self, at: Any) -> Any:
        """The floor, 0 for a device that drafts nothing [Hz]."""
        return np.where(np.asarray(at.draft_length) > 0, self.hz, 0.0)

    def on_table(self, rules: TableRules) -> None:
        """max(w, floor)."""
        rules.bandwidth(lambda hz: np.maximum(hz, self.hz))


class BandwidthCap(NumberLimit):
    """B_k <= a cap [Hz]."""

    name, unit = "bandwidth cap", "Hz"
    number = "hz"

    def __init__(self, hz: Any) -> None:
        self.hz = positive(self.name, hz)

    def left(self, at: Any) -> Any:
        """The shares [Hz]."""
        return at.bandwidth_hz

    def on_table(self, rules: TableRules) -> None:
        """Whoever needs more cannot have the action."""
        rules.bandwidth(lambda hz: np.where(hz <= self.hz * (1.0 + _FITS), hz, np.inf))


class ResourceBlocks(ControlLimit):
    """B_k a whole multiple of a block [Hz], as a scheduler hands bandwidth out."""

    name, unit, conic = "resource blocks", "Hz", "relaxed"

    def __init__(self, block_hz: Any) -> None:
        self.block_hz = float(positive(self.name, block_hz).reshape(()) if np.ndim(block_hz) == 0 else np.nan)
        if not np.isfinite(self.block_hz):
            raise ParameterError(f"limit {self.name} = {describe(block_hz)} is not one number")

    def left(self, at: Any) -> Any:
        """How far each share is from a whole number of blocks [Hz]."""
        share = np.asarray(at.bandwidth_hz, dtype=float)
        return np.abs(share - np.rint(share / self.block_hz) * self.block_hz)

    def right(self, at: Any) -> Any:
        """0."""
        return 0.0

    def on_table(self, rules: TableRules) -> None:
        """ceil(w/block) block."""
        rules.bandwidth(lambda hz: np.ceil(hz / self.block_hz * (1.0 - _FITS)) * self.block_hz)
