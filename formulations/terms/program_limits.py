"""The limits that programs are declared with: lengths, the band, the server's power."""

from typing import Any

from msopt.model.control_limit import ControlLimit
from msopt.model.scenario import Problem


class LengthLimit(ControlLimit):
    """Every draft length of a problem against one of the scenario's two limits.

    Parameters
    ----------
    problem : str
        Whose limits hold.
    """

    unit = "token"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def left(self, at: Any) -> Any:
        """The lengths [token]."""
        return at.draft_length

    def right(self, at: Any) -> Any:
        """The least or the greatest [token]."""
        return at.scenario.length_limits(self.problem)[self.sense == "<="]


class LeastLength(LengthLimit):
    """Drafts are at least so long."""

    name, sense = "min_draft_length", ">="


class GreatestLength(LengthLimit):
    """Drafts are at most so long."""

    name = "max_draft_length"


class BandwidthBudget(ControlLimit):
    """The devices share the uplink band."""

    name, unit = "bandwidth", "Hz"

    def left(self, at: Any) -> Any:
        """What all use [Hz]."""
        return at.bandwidth_hz.sum()

    def right(self, at: Any) -> Any:
        """The band [Hz]."""
        return at.scenario.uplink_bandwidth_hz


class DownlinkPowerBudget(ControlLimit):
    """The server's power, the gains of each watt given."""

    name, unit = "power", "W"

    def left(self, at: Any) -> Any:
        """What all are sent with [W]."""
        return at.downlink_power_w.sum()

    def right(self, at: Any) -> Any:
        """The total [W]."""
        return at.scenario.downlink_power_w
