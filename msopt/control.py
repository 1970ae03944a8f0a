"""What is decided: lengths and bandwidths before a round, modes and power after its rejections."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.scenario import Problem

Mode = Literal["uplink", "downlink"]
ModeRule = Literal["best", "all-uplink", "all-downlink", "random"]
MODE_RULES: tuple[ModeRule, ...] = get_args(ModeRule)


@dataclass(frozen=True, kw_only=True, eq=False)
class Control:
    """A decision for one round, or for many in the leading axes.

    Attributes
    ----------
    problem : "homogeneous", "heterogeneous" or "modes"
        Decides what each drafted token carries and whether rejections cost a correction.
    draft_length : array of int, shape (..., K)
        L_k [token].
    bandwidth_hz : array, shape (..., K)
        Share of the uplink band while drafts are sent [Hz].
    mode_rule : "best", "all-uplink", "all-downlink" or "random"
        How rejected devices exchange their distribution; only `modes` uses it.
    """

    problem: Problem
    draft_length: IntArray
    bandwidth_hz: FloatArray
    mode_rule: ModeRule = "best"


@dataclass(frozen=True, kw_only=True, eq=False)
class Reaction:
    """How the rejected devices of one outcome exchange their distributions.

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

    @property
    def on_uplink(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Mask of the rejected devices corrected by uplink."""
        return np.array([mode == "uplink" for mode in self.modes], dtype=bool)
