"""The numbers of a decision under the names that limits are written with, and the slack that a limit has in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.model.control import Control
from msopt.model.control_limit import ControlLimit
from msopt.model.goodput import Round, finish_s
from msopt.model.scenario import Scenario
from msopt.model.slacks import Slack
from msopt.variants.well_formed import side_of


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionNumbers:
    """What a control, or a choice of a table, comes to.

    Attributes
    ----------
    scenario : Scenario
    draft_length, draft_s, airtime_s, bandwidth_hz, device_goodput : arrays, shape (K,)
        Tokens drafted [token], the time for that [s], the time for sending [s], the share [Hz], tokens per second.
    deadline_s, round_s : float
        When all drafts are there, and the whole round [s].
    served : array of bool, shape (K,)
        Who takes part.
    extra : mapping of arrays, shape (K,)
        Further columns of a table.
    """

    scenario: Scenario
    draft_length: FloatArray
    draft_s: FloatArray
    airtime_s: FloatArray
    bandwidth_hz: FloatArray
    deadline_s: float
    round_s: float
    device_goodput: FloatArray
    served: BoolArray
    extra: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, control: Control, played: Round) -> "DecisionNumbers":
        """Of a control and its round."""
        length = control.draft_length.astype(float)
        draft_s = length * scenario.draft_s_per_token
        finished = finish_s(scenario, control.problem, length, control.bandwidth_hz)
        return cls(
            scenario=scenario,
            draft_length=length,
            draft_s=draft_s,
            airtime_s=np.maximum(finished - draft_s - scenario.trip_s(length > 0.0), 0.0),
            bandwidth_hz=control.bandwidth_hz,
            deadline_s=float(played.draft_upload_s),
            round_s=float(played.round_s),
            device_goodput=played.device_goodput,
            served=np.ones(length.shape, dtype=bool) if control.served is None else control.served,
        )


def limit_slack(limit: ControlLimit, at: DecisionNumbers) -> Slack:
    """The room that a limit leaves in a decision."""
    left, right = (side_of(limit, side, at) for side in ("left", "right"))
    if limit.sense == ">=":
        left, right = -left, -right
    ends = np.where(np.isfinite(right), np.abs(right), 0.0)
    scale = float(np.max(ends, initial=0.0)) or (at.scenario.uplink_bandwidth_hz if limit.unit == "Hz" else 1.0)
    names = at.scenario.device_names if left.ndim or right.ndim else ()
    return Slack(limit.name, limit.unit, left, right, scale, names)
