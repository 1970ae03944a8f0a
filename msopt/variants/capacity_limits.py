"""Limits of what devices and the server hold, and of when the server is free (design section 7)."""

from typing import Any, ClassVar

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.variants.limit_numbers import NumberLimit, positive
from msopt.variants.table_rules import TableRules


class Slots(NumberLimit):
    """At most so many devices in a round; the others get nothing in it."""

    name, unit, conic = "slots", "device", "none"
    idle: ClassVar[bool] = True
    number = "devices"

    def __init__(self, devices: Any) -> None:
        self.devices = float(positive(self.name, devices))

    def left(self, at: Any) -> Any:
        """How many take part."""
        return np.sum(np.asarray(at.served, dtype=float))

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, rules.table.verified > 0.0, self.devices)


class DeviceMemory(NumberLimit):
    """A device's memory [byte] holds what its action keeps there: column `memory_bytes` of the table."""

    name, unit, conic = "device memory", "byte", "none"
    number = "memory_bytes"

    def __init__(self, memory_bytes: Any) -> None:
        self.memory_bytes = positive(self.name, memory_bytes, zero=True)

    def left(self, at: Any) -> Any:
        """What the chosen actions keep [byte]."""
        return _extra(at.extra, "memory_bytes", self.name)

    def on_table(self, rules: TableRules) -> None:
        """A filter."""
        rules.forbid(_extra(rules.table.extra, "memory_bytes", self.name) > self.memory_bytes)


class ServerMemory(NumberLimit):
    """sum_k bytes_k <= the server's memory: column `server_bytes` of the table."""

    name, unit, conic = "server memory", "byte", "none"
    number = "memory_bytes"

    def __init__(self, memory_bytes: Any) -> None:
        self.memory_bytes = float(positive(self.name, memory_bytes))

    def left(self, at: Any) -> Any:
        """What all keep there [byte]."""
        return np.sum(_extra(at.extra, "server_bytes", self.name))

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, _extra(rules.table.extra, "server_bytes", self.name), self.memory_bytes)


class EarliestDeadline(NumberLimit):
    """D >= a time [s]: the server is not free before, or looks at drafts at given times only."""

    name, unit, sense = "earliest deadline", "s", ">="
    number = "seconds"

    def __init__(self, seconds: Any) -> None:
        self.seconds = float(positive(self.name, seconds, zero=True))

    def left(self, at: Any) -> Any:
        """When verification begins [s]."""
        return at.deadline_s

    def on_table(self, rules: TableRules) -> None:
        """No deadline is sooner."""
        rules.not_before(self.seconds)


def _extra(columns: Any, name: str, limit: str) -> FloatArray:
    if name not in columns:
        raise ParameterError(f"limit {limit} needs a column {name} in the table of actions")
    return np.asarray(columns[name])
