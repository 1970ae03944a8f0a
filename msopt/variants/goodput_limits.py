"""Limits on what the devices get: floors, ceilings of time, how many have a guarantee (design section 7)."""

from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.model.control_limit import ControlLimit
from msopt.variants.limit_numbers import NumberLimit, positive
from msopt.variants.table_rules import TableRules

_FITS = 1e-12


class GoodputFloor(NumberLimit):
    """g_k = E_k/T >= a floor [token/s]."""

    name, unit, sense = "goodput floor", "token/s", ">="
    number = "tokens_per_s"

    def __init__(self, tokens_per_s: Any) -> None:
        self.tokens_per_s = positive(self.name, tokens_per_s, zero=True)

    def left(self, at: Any) -> Any:
        """The devices' goodputs [token/s]."""
        return at.device_goodput

    def on_table(self, rules: TableRules) -> None:
        """E >= floor T, a filter that longer rounds make stricter."""
        rules.at_least_per_second(rules.table.tokens, self.tokens_per_s)


class TokenLatencyCeiling(GoodputFloor):
    """T/E_k <= a ceiling: the mean time from one token to the next, the inverse of a goodput."""

    name = "token latency ceiling"

    def __init__(self, seconds: Any) -> None:
        super().__init__(1.0 / positive(self.name, seconds))


class Admitted(ControlLimit):
    """At least so many devices have a guaranteed goodput, and no other takes part: how ties of admission are broken."""

    name, unit, sense, conic, idle = "admitted devices", "device", ">=", "none", True

    def __init__(self, tokens_per_s: FloatArray | float, devices: float) -> None:
        self.tokens_per_s = np.asarray(tokens_per_s, dtype=float)
        self.devices = devices

    def reached(self, device_goodput: FloatArray) -> BoolArray:
        """Who has it."""
        return np.asarray(device_goodput >= self.tokens_per_s * (1.0 - _FITS))

    def left(self, at: Any) -> Any:
        """How many have it."""
        return np.sum(self.reached(np.asarray(at.device_goodput)))

    def right(self, at: Any) -> Any:
        """How many have to."""
        return self.devices

    def on_table(self, rules: TableRules) -> None:
        """A filter, and one row."""
        part = rules.table.verified > 0.0
        rules.at_least_per_second(np.where(part, rules.table.tokens, 0.0), np.where(part, self.tokens_per_s, 0.0))
        rules.at_most(self.name, -part.astype(float), -self.devices)
