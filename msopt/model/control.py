"""What is decided: lengths and bandwidths before a round, modes and power after its rejections."""

from dataclasses import dataclass
from typing import Literal, TypeGuard, get_args

import numpy as np

from msopt.arrays import BoolArray, FloatArray, Frozen, IntArray, frozen, numbers
from msopt.errors import ParameterError, describe
from msopt.model.scenario import PROBLEMS, Problem

Mode = Literal["uplink", "downlink"]
EqualShareRule = Literal["best", "all-uplink", "all-downlink", "random"]
BandRule = Literal["shared-band", "separate-bands"]
ModeRule = Literal[EqualShareRule, BandRule]
EQUAL_SHARE_RULES: tuple[EqualShareRule, ...] = get_args(EqualShareRule)
BAND_RULES: tuple[BandRule, ...] = get_args(BandRule)
MODE_RULES: tuple[ModeRule, ...] = get_args(ModeRule)
Correction = Literal["equal-shares", BandRule]
EQUAL_SHARES: Correction = "equal-shares"
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def best_rule(correction: Correction) -> ModeRule:
    """The rule that gives the best modes in a kind of correction."""
    return "best" if correction == "equal-shares" else correction


def frees_bands(rule: str) -> TypeGuard[BandRule]:
    """Whether a rule or a kind of correction chooses bandwidths, too."""
    return rule in BAND_RULES


def correction_of(rule: ModeRule) -> Correction:
    """The kind of correction in which a rule chooses modes."""
    return rule if frees_bands(rule) else EQUAL_SHARES


@dataclass(frozen=True, kw_only=True, eq=False)
class Control(Frozen):
    """A decision for one round, or for many in the leading axes.

    Raises
    ------
    ParameterError
        For an unknown problem or rule, lengths that are not whole, numbers that are not finite.

    Attributes
    ----------
    problem : "homogeneous", "heterogeneous" or "modes"
        Decides what each drafted token carries and whether rejections cost a correction.
    draft_length : array of int, shape (..., K)
        L_k [token].
    bandwidth_hz : array, shape (..., K)
        Share of the uplink band while drafts are sent [Hz].
    mode_rule : str
        How rejected devices exchange their distribution; only `modes` uses it. Over equal shares of the bands by the
        "best" modes, "all-uplink", "all-downlink" or "random"; by the best modes with bandwidths and power free, both
        directions in one "shared-band" or in "separate-bands".
    served : array of bool, shape (..., K), optional
        Who takes part in the round; all by default. The others draft nothing and get nothing in it.
    not_before_s : float, optional
        Verification begins no sooner after the round's start [s], though all drafts be there: what keeps a mean power,
        or meets a server that is busy until then.
    """

    problem: Problem
    draft_length: IntArray
    bandwidth_hz: FloatArray
    mode_rule: ModeRule = "best"
    served: BoolArray | None = None
    not_before_s: float | None = None

    def __post_init__(self) -> None:
        for field, allowed in (("problem", PROBLEMS), ("mode_rule", MODE_RULES)):
            if getattr(self, field) not in allowed:
                raise ParameterError(
                    f"control: {field} = {describe(getattr(self, field))} is not {' or '.join(allowed)}"
                )
        for field in ("draft_length", "bandwidth_hz"):
            values = numbers(getattr(self, field), f"control: {field}")
            if not np.isfinite(values).all():
                raise ParameterError(f"control: {field} holds a number that is not finite")
            object.__setattr__(self, field, values)
        whole = np.rint(self.draft_length)
        if not ((whole == self.draft_length) & (np.abs(whole) <= 2.0**53)).all():
            raise ParameterError("control: draft_length holds a number that is not whole")
        object.__setattr__(self, "draft_length", frozen(whole.astype(np.int64)))
        if self.served is not None:
            served = np.array(self.served, dtype=bool)
            if served.shape != self.draft_length.shape or np.any(self.draft_length[~served] > 0):
                raise ParameterError("control: served has to be one truth value for each device, who drafts is served")
            object.__setattr__(self, "served", frozen(served))
        if self.not_before_s is not None:
            earliest = numbers(self.not_before_s, "control: not_before_s")
            if earliest.shape != () or not (np.isfinite(earliest) and earliest >= 0.0):
                raise ParameterError(
                    f"control: not_before_s = {describe(self.not_before_s)} is not a finite number of at least 0"
                )
            object.__setattr__(self, "not_before_s", float(earliest))


@dataclass(frozen=True, kw_only=True, eq=False)
class Reaction(Frozen):
    """How the rejected devices of one outcome exchange their distributions.

    Raises
    ------
    ParameterError
        Where there is not one mode, share and power for each rejected device, or they are no numbers.

    Attributes
    ----------
    rejected : array of int, shape (r,)
        Their indices.
    modes : tuple of r
        "uplink": corrected at the server; "downlink": at the device.
    bandwidth_hz : array, shape (r,)
        Share of the band of its direction [Hz].
    downlink_power_w : array, shape (r,)
        Server's power for it [W]; NaN on the uplink.
    """

    rejected: IntArray
    modes: tuple[Mode, ...]
    bandwidth_hz: FloatArray
    downlink_power_w: FloatArray

    def __post_init__(self) -> None:
        for field in ("rejected", "bandwidth_hz", "downlink_power_w"):
            values = numbers(getattr(self, field), f"reaction: {field}")
            if values.shape != (len(self.modes),):
                raise ParameterError(
                    f"reaction: {field} has shape {values.shape}; ({len(self.modes)},) is needed, one for each mode"
                )
            object.__setattr__(self, field, values)
            if not np.all(np.isfinite(values) | (np.isnan(values) & (field == "downlink_power_w"))):
                raise ParameterError(f"reaction: {field} holds a number that is not finite")
        for mode in self.modes:
            if mode not in get_args(Mode):
                raise ParameterError(f"reaction: mode {describe(mode)} is not {' or '.join(get_args(Mode))}")
        whole = np.rint(self.rejected)
        if not np.array_equal(whole, self.rejected):
            raise ParameterError("reaction: rejected holds a number that is not whole")
        object.__setattr__(self, "modes", tuple(self.modes))
        object.__setattr__(self, "rejected", frozen(whole.astype(np.int64)))

    @property
    def on_uplink(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Mask of the rejected devices corrected by uplink."""
        return np.array([mode == "uplink" for mode in self.modes], dtype=bool)
