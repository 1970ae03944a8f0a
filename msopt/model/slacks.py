"""The limits that a control and a reaction have to keep: each a left side that is at most a right side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import describe
from msopt.model.control import Control, Reaction
from msopt.model.goodput import Round, finish_s
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario

FEASIBILITY_RTOL = 1e-9
_NEVER = ": what it sends never arrives"


@dataclass(frozen=True, eq=False)
class Slack:
    """How much room a limit leaves.

    Attributes
    ----------
    constraint : str
    unit : str
    left, right : arrays
        The sides, the left at most the right where the limit is kept; one number, or one for each device.
    scale : float
        What a violation is compared with: beyond 1e-9 of it the control is infeasible.
    devices : tuple of str
        Whom the numbers belong to; empty for a limit on all.
    consequence : str
        What is so where it is broken without measure.
    """

    constraint: str
    unit: str
    left: FloatArray
    right: FloatArray
    scale: float
    devices: tuple[str, ...] = ()
    consequence: str = ""

    @cached_property
    def value(self) -> FloatArray:
        """Right side less left side, at least 0 where the limit is kept: what a control is beyond by round-off is 0."""
        room = np.asarray(self.right - self.left)
        return np.where((room < 0.0) & (room >= -FEASIBILITY_RTOL * self.scale), 0.0, room)

    @property
    def violation(self) -> float:
        """By how much the limit is broken [unit]; 0 where it is kept within the tolerance."""
        worst = float(np.max(-self.value, initial=0.0))
        return worst if worst > 0.0 else 0.0

    def complaint(self) -> str:
        """One line: the limit, for whom it is broken most, and by how much."""
        worst = int(np.argmin(self.value))
        whom = f" of {describe(self.devices[worst])}" if self.devices else ""
        by = f" by {self.violation:.6g} {self.unit}" if np.isfinite(self.violation) else self.consequence
        return f"{self.constraint}{whom} is broken{by}"


@dataclass(frozen=True, eq=False)
class ControlCase:
    """A control and the round that it gives."""

    scenario: Scenario
    control: Control
    played: Round

    @property
    def device_names(self) -> tuple[str, ...]:
        """All devices."""
        return self.scenario.device_names

    @cached_property
    def length(self) -> FloatArray:
        """Draft lengths [token], shape (K,)."""
        return self.control.draft_length.astype(float)

    @property
    def served(self) -> BoolArray:
        """Who takes part in the round."""
        served = self.control.served
        return np.ones(self.length.shape, dtype=bool) if served is None else served

    @property
    def length_limits(self) -> tuple[int, int]:
        """Least and greatest draft length [token]."""
        return self.scenario.length_limits(self.control.problem)

    @cached_property
    def finish_s(self) -> FloatArray:
        """When each device has drafted and sent its tokens [s], shape (K,); infinite for those that never have."""
        return finish_s(self.scenario, self.control.problem, self.length, self.control.bandwidth_hz)

    @property
    def starved(self) -> BoolArray:
        """Who has something to send and a bandwidth that carries nothing."""
        sends = (self.length > 0.0) & (self.scenario.token_payload_bits(self.control.problem) > 0.0)
        return np.asarray(sends & ~np.isfinite(self.finish_s))


@dataclass(frozen=True, eq=False)
class ReactionCase:
    """A reaction to one outcome, and how long each rejected device's exchange takes in it [s], shape (r,)."""

    scenario: Scenario
    reaction: Reaction
    exchange_s: FloatArray

    @property
    def device_names(self) -> tuple[str, ...]:
        """The rejected devices."""
        return tuple(self.scenario.device_names[k] for k in self.reaction.rejected)

    @cached_property
    def power_w(self) -> FloatArray:
        """The server's power for each device [W]; 0 on the uplink."""
        return np.where(self.reaction.on_uplink, 0.0, self.reaction.downlink_power_w)

    @cached_property
    def unheard(self) -> BoolArray:
        """Who is sent its distribution by downlink without power."""
        return np.asarray(~self.reaction.on_uplink & ~(self.power_w > 0.0))


_Case = TypeVar("_Case", ControlCase, ReactionCase)


@dataclass(frozen=True, kw_only=True)
class Limit(Generic[_Case]):
    """A named limit.

    Attributes
    ----------
    name, unit : str
        What messages and tables call it; the unit of both sides.
    sides : callable
        Left and right side of a case: arrays, shape (), or (devices,) on one side at least.
    scale : callable
        Size [unit] of what is rounded in the sides, from the scenario; 1 by default.
    consequence : str
        What is so where a right side less a left side is -inf.
    """

    name: str
    unit: str
    sides: Callable[[_Case], tuple[Any, Any]]
    scale: Callable[[Scenario], float] = lambda _: 1.0
    consequence: str = ""

    def slack(self, case: _Case) -> Slack:
        """The room that it leaves in a case."""
        left, right = (np.asarray(side, dtype=float) for side in self.sides(case))
        devices = case.device_names if left.ndim or right.ndim else ()
        return Slack(self.name, self.unit, left, right, self.scale(case.scenario), devices, self.consequence)


def _unless(broken: BoolArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """0 and a right side, but infinity and 0 where the limit is broken without measure."""
    return np.where(broken, np.inf, 0.0), np.where(broken, 0.0, right)


def _sum(shares: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # shares of someone who did not mind the band
        return np.asarray(np.sum(shares))


def _end(case: ControlCase) -> tuple[FloatArray, FloatArray]:
    """Who never finishes breaks another limit."""
    finishes = np.isfinite(case.finish_s)
    return np.where(finishes, case.finish_s, 0.0), np.where(finishes, case.played.draft_upload_s, 0.0)


def _uplink_band(scenario: Scenario) -> float:
    return scenario.uplink_bandwidth_hz


_OF_EVERY_CONTROL: tuple[Limit[ControlCase], ...] = (
    Limit(
        name="the least draft length",
        unit="token",
        sides=lambda case: (np.where(case.served, case.length_limits[0], 0), case.length),
    ),
    Limit(name="the greatest draft length", unit="token", sides=lambda case: (case.length, case.length_limits[1])),
    Limit(
        name="the bandwidth of at least 0",
        unit="Hz",
        sides=lambda case: (0.0, case.control.bandwidth_hz),
        scale=_uplink_band,
    ),
    Limit(
        name="the bandwidth above 0 for a device that drafts",
        unit="Hz",
        sides=lambda case: _unless(case.starved, case.control.bandwidth_hz),
        scale=_uplink_band,
        consequence=_NEVER,
    ),
    Limit(
        name="the uplink bandwidth budget",
        unit="Hz",
        sides=lambda case: (_sum(case.control.bandwidth_hz), case.scenario.uplink_bandwidth_hz),
        scale=_uplink_band,
    ),
    Limit(name="the end of draft and upload", unit="s", sides=_end),
)
_ONE_LENGTH: Limit[ControlCase] = Limit(
    name="one length for all",
    unit="token",
    sides=lambda case: (np.max(case.length), np.min(np.where(case.served, case.length, np.max(case.length)))),
)

LIMITS: Mapping[str, tuple[Limit[ControlCase], ...]] = MappingProxyType(
    {problem: (*_OF_EVERY_CONTROL, *((_ONE_LENGTH,) if kind.one_length else ())) for problem, kind in KINDS.items()}
)
"""What a control of each problem has to keep; a control is refused for the first that it breaks."""

REACTION_LIMITS: tuple[Limit[ReactionCase], ...] = (
    Limit(
        name="the bandwidth above 0",
        unit="Hz",
        sides=lambda case: _unless(~np.isfinite(case.exchange_s) & ~case.unheard, case.reaction.bandwidth_hz),
        scale=_uplink_band,
        consequence=_NEVER,
    ),
    Limit(
        name="the uplink bandwidth budget",
        unit="Hz",
        sides=lambda case: (
            _sum(case.reaction.bandwidth_hz[case.reaction.on_uplink]),
            case.scenario.uplink_bandwidth_hz,
        ),
        scale=_uplink_band,
    ),
    Limit(
        name="the downlink bandwidth budget",
        unit="Hz",
        sides=lambda case: (
            _sum(case.reaction.bandwidth_hz[~case.reaction.on_uplink]),
            case.scenario.downlink_bandwidth_hz,
        ),
        scale=lambda scenario: scenario.downlink_bandwidth_hz,
    ),
    Limit(
        name="the downlink power above 0",
        unit="W",
        sides=lambda case: _unless(case.unheard, case.power_w),
        consequence=_NEVER,
    ),
    Limit(
        name="the downlink power budget",
        unit="W",
        sides=lambda case: (_sum(case.power_w), case.scenario.downlink_power_w),
        scale=lambda scenario: scenario.downlink_power_w,
    ),
)
"""What a reaction has to keep."""
