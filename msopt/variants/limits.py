"""The limits that come with the package (design section 7): each with its formula, its two sides and its table form."""

from typing import Any, ClassVar

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.control_limit import ControlLimit
from msopt.variants.table_rules import TableRules

_FITS = 1e-12
_SOME_POWER = 1e-12


def _positive(name: str, value: Any, *, zero: bool = False) -> FloatArray:
    """A number, or one for each device, above 0."""
    try:
        array = np.asarray(value, dtype=float)
        good = np.all(np.isfinite(array) & ((array >= 0.0) if zero else (array > 0.0))) and array.ndim < 2
    except (TypeError, ValueError):
        good = False
    if not good:
        allowed = "of at least 0" if zero else "above 0"
        raise ParameterError(
            f"limit {name} = {describe(value)} is not a finite number {allowed}, or one for each device"
        )
    return array


class LongestDraft(ControlLimit):
    """L_k <= L_max,k: a greatest draft length of each device's own."""

    name, unit = "longest draft", "token"
    number = "tokens"

    def __init__(self, tokens: Any) -> None:
        self.tokens = _positive(self.name, tokens, zero=True)

    def left(self, at: Any) -> Any:
        """The draft lengths [token]."""
        return at.draft_length

    def right(self, at: Any) -> Any:
        """The greatest [token]."""
        return np.broadcast_to(self.tokens, (at.scenario.device_count,))

    def on_table(self, rules: TableRules) -> None:
        """A filter."""
        rules.forbid(rules.table.drafted > self.tokens)


class AllowedLengths(ControlLimit):
    """L_k in a set of lengths, such as those that a server has compiled."""

    name, unit, conic = "allowed lengths", "token", "relaxed"

    def __init__(self, lengths: Any) -> None:
        self.lengths = np.unique(_positive(self.name, np.asarray(lengths, dtype=float).reshape(-1), zero=True))
        if not self.lengths.size:
            raise ParameterError("limit allowed lengths: there is none")

    def left(self, at: Any) -> Any:
        """How far each length is from the nearest that is allowed [token]."""
        away = np.min(np.abs(np.asarray(at.draft_length, dtype=float)[..., None] - self.lengths), axis=-1)
        return np.where(at.served, away, 0.0)

    def right(self, at: Any) -> Any:
        """0."""
        return 0.0

    def on_table(self, rules: TableRules) -> None:
        """A filter; taking no part in a round is always allowed."""
        rules.forbid(~np.isin(rules.table.drafted, self.lengths) & (rules.table.verified > 0.0))


class GoodputFloor(ControlLimit):
    """g_k = E_k/T >= a floor [token/s]."""

    name, unit, sense = "goodput floor", "token/s", ">="
    number = "tokens_per_s"

    def __init__(self, tokens_per_s: Any) -> None:
        self.tokens_per_s = _positive(self.name, tokens_per_s, zero=True)

    def left(self, at: Any) -> Any:
        """The devices' goodputs [token/s]."""
        return at.device_goodput

    def right(self, at: Any) -> Any:
        """The floor [token/s]."""
        return np.broadcast_to(self.tokens_per_s, (at.scenario.device_count,))

    def on_table(self, rules: TableRules) -> None:
        """E >= floor T, a filter that longer rounds make stricter."""
        rules.at_least_per_second(rules.table.tokens, self.tokens_per_s)


class TokenLatencyCeiling(GoodputFloor):
    """T/E_k <= a ceiling: the mean time from one token to the next, the inverse of a goodput."""

    name = "token latency ceiling"

    def __init__(self, seconds: Any) -> None:
        super().__init__(1.0 / _positive(self.name, seconds))


class BandwidthFloor(ControlLimit):
    """B_k >= a floor [Hz] for every device that drafts, whatever it needs."""

    name, unit, sense, conic = "bandwidth floor", "Hz", ">=", "relaxed"
    number = "hz"

    def __init__(self, hz: Any) -> None:
        self.hz = _positive(self.name, hz, zero=True)

    def left(self, at: Any) -> Any:
        """The shares [Hz]."""
        return at.bandwidth_hz

    def right(self, at: Any) -> Any:
        """The floor, 0 for a device that drafts nothing [Hz]."""
        return np.where(np.asarray(at.draft_length) > 0, self.hz, 0.0)

    def on_table(self, rules: TableRules) -> None:
        """max(w, floor)."""
        rules.bandwidth(lambda hz: np.maximum(hz, self.hz))


class BandwidthCap(ControlLimit):
    """B_k <= a cap [Hz]."""

    name, unit = "bandwidth cap", "Hz"
    number = "hz"

    def __init__(self, hz: Any) -> None:
        self.hz = _positive(self.name, hz)

    def left(self, at: Any) -> Any:
        """The shares [Hz]."""
        return at.bandwidth_hz

    def right(self, at: Any) -> Any:
        """The cap [Hz]."""
        return np.broadcast_to(self.hz, (at.scenario.device_count,))

    def on_table(self, rules: TableRules) -> None:
        """Whoever needs more cannot have the action."""
        rules.bandwidth(lambda hz: np.where(hz <= self.hz * (1.0 + _FITS), hz, np.inf))


class ResourceBlocks(ControlLimit):
    """B_k a whole multiple of a block [Hz], as a scheduler hands bandwidth out."""

    name, unit, conic = "resource blocks", "Hz", "relaxed"

    def __init__(self, block_hz: Any) -> None:
        self.block_hz = float(_positive(self.name, block_hz).reshape(()) if np.ndim(block_hz) == 0 else np.nan)
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


class _Energy(ControlLimit):
    """What limits a device's energy: drafting and sending take powers of their own."""

    unit, conic = "J", "none"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any) -> None:
        self.draft_power_w = _positive(f"{self.name}: draft_power_w", draft_power_w, zero=True)
        self.transmit_power_w = _positive(f"{self.name}: transmit_power_w", transmit_power_w, zero=True)

    def left(self, at: Any) -> Any:
        """P_draft t + P_tx airtime [J]."""
        return self.draft_power_w * at.draft_s + self.transmit_power_w * at.airtime_s

    def _airtime(self, rules: TableRules, budget_j: Any, per_second_w: Any) -> None:
        power = np.maximum(self.transmit_power_w, _SOME_POWER)
        rules.airtime((budget_j - self.draft_power_w * rules.table.compute_s) / power, per_second_w / power)


class AveragePower(_Energy):
    """P_draft t_k + P_tx airtime_k <= P_mean T: what a device's cooling or battery bears in the long run [W]."""

    name = "average power"
    number, number_unit = "average_power_w", "W"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any, average_power_w: Any) -> None:
        super().__init__(draft_power_w, transmit_power_w)
        self.average_power_w = _positive(f"{self.name}: average_power_w", average_power_w)

    def right(self, at: Any) -> Any:
        """P_mean T [J]."""
        return self.average_power_w * at.round_s

    def on_table(self, rules: TableRules) -> None:
        """Airtime at most (P_mean T - P_draft t)/P_tx."""
        self._airtime(rules, 0.0, self.average_power_w)


class EnergyPerToken(_Energy):
    """P_draft t_k + P_tx airtime_k <= an energy for every token that comes out [J/token]."""

    name = "energy per token"
    number, number_unit = "joule_per_token", "J/token"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any, joule_per_token: Any) -> None:
        super().__init__(draft_power_w, transmit_power_w)
        self.joule_per_token = _positive(f"{self.name}: joule_per_token", joule_per_token)

    def right(self, at: Any) -> Any:
        """The energy of the expected tokens [J]."""
        return self.joule_per_token * np.asarray(at.device_goodput) * at.round_s

    def on_table(self, rules: TableRules) -> None:
        """Airtime at most (energy E - P_draft t)/P_tx."""
        self._airtime(rules, self.joule_per_token * rules.table.tokens, 0.0)


class DeviceMemory(ControlLimit):
    """A device's memory [byte] holds what its action keeps there: column `memory_bytes` of the table."""

    name, unit, conic = "device memory", "byte", "none"
    number = "memory_bytes"

    def __init__(self, memory_bytes: Any) -> None:
        self.memory_bytes = _positive(self.name, memory_bytes, zero=True)

    def left(self, at: Any) -> Any:
        """What the chosen actions keep [byte]."""
        return _extra(at.extra, "memory_bytes", self.name)

    def right(self, at: Any) -> Any:
        """What the devices have [byte]."""
        return np.broadcast_to(self.memory_bytes, (at.scenario.device_count,))

    def on_table(self, rules: TableRules) -> None:
        """A filter."""
        rules.forbid(_extra(rules.table.extra, "memory_bytes", self.name) > self.memory_bytes)


class TokenBudget(ControlLimit):
    """sum_k L_k <= a number of tokens: the drafts of one batch."""

    name, unit = "token budget", "token"
    number = "tokens"

    def __init__(self, tokens: Any) -> None:
        self.tokens = float(_positive(self.name, tokens, zero=True))

    def left(self, at: Any) -> Any:
        """All drafted tokens [token]."""
        return at.draft_length.sum()

    def right(self, at: Any) -> Any:
        """The budget [token]."""
        return self.tokens

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, rules.table.drafted, self.tokens)


class Slots(ControlLimit):
    """At most so many devices in a round; the others get nothing in it."""

    name, unit, conic = "slots", "device", "none"
    idle: ClassVar[bool] = True
    number = "devices"

    def __init__(self, devices: Any) -> None:
        self.devices = float(_positive(self.name, devices))

    def left(self, at: Any) -> Any:
        """How many take part."""
        return np.sum(np.asarray(at.served, dtype=float))

    def right(self, at: Any) -> Any:
        """How many may."""
        return self.devices

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, rules.table.verified > 0.0, self.devices)


class ServerMemory(ControlLimit):
    """sum_k bytes_k <= the server's memory: column `server_bytes` of the table."""

    name, unit, conic = "server memory", "byte", "none"
    number = "memory_bytes"

    def __init__(self, memory_bytes: Any) -> None:
        self.memory_bytes = float(_positive(self.name, memory_bytes))

    def left(self, at: Any) -> Any:
        """What all keep there [byte]."""
        return np.sum(_extra(at.extra, "server_bytes", self.name))

    def right(self, at: Any) -> Any:
        """What it has [byte]."""
        return self.memory_bytes

    def on_table(self, rules: TableRules) -> None:
        """One row."""
        rules.at_most(self.name, _extra(rules.table.extra, "server_bytes", self.name), self.memory_bytes)


class EarliestDeadline(ControlLimit):
    """D >= a time [s]: the server is not free before, or looks at drafts at given times only."""

    name, unit, sense = "earliest deadline", "s", ">="
    number = "seconds"

    def __init__(self, seconds: Any) -> None:
        self.seconds = float(_positive(self.name, seconds, zero=True))

    def left(self, at: Any) -> Any:
        """When verification begins [s]."""
        return at.deadline_s

    def right(self, at: Any) -> Any:
        """The earliest time [s]."""
        return self.seconds

    def on_table(self, rules: TableRules) -> None:
        """No deadline is sooner."""
        rules.not_before(self.seconds)


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


def _extra(columns: Any, name: str, limit: str) -> FloatArray:
    if name not in columns:
        raise ParameterError(f"limit {limit} needs a column {name} in the table of actions")
    return np.asarray(columns[name])
