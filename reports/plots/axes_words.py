"""Axis labels: what a column is called, its unit for a reader, and the factor from SI to that unit."""

from typing import NamedTuple


class Axis(NamedTuple):
    """How a quantity is shown."""

    words: str
    unit: str
    factor: float = 1.0

    @property
    def label(self) -> str:
        """The label of an axis."""
        return f"{self.words} [{self.unit}]"


_COLUMNS: dict[str, Axis] = {
    "bandwidth_hz": Axis("bandwidth B", "MHz", 1e-6),
    "devices": Axis("devices K", "1"),
    "draft_length_tokens": Axis("draft length L", "token"),
    "verify_s": Axis("verification time", "ms", 1e3),
    "per_token_s": Axis("time to draft and send a token θ", "ms", 1e3),
    "acceptance": Axis("acceptance α", "1"),
    "batch_devices": Axis("batch", "devices"),
    "uplink_devices": Axis("size of the uplink set", "devices"),
    "downlink_power_dbm": Axis("downlink power", "dBm"),
    "power_ratio": Axis("downlink power / device power", "1"),
}
_PREFIXED = {"s": ("ms", 1e3), "Hz": ("MHz", 1e-6)}


def axis_of(column: str) -> Axis:
    """The axis of a column; one that is not known is named by itself."""
    return _COLUMNS.get(column) or Axis(column.replace("_", " "), "1")


def axis_of_quantity(words: str, unit: str) -> Axis:
    """The axis of a quantity with a unit in SI."""
    shown, factor = _PREFIXED.get(unit, (unit, 1.0))
    return Axis(words, shown, factor)
