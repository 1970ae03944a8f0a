"""What the formulations share whose deadline is given: when all drafts must be there."""

from typing import ClassVar

import numpy as np

from formulations.base import AbstractFormulation
from msopt.errors import ParameterError, describe
from msopt.scenario import Scenario


class AtDeadline(AbstractFormulation):
    """A formulation of a scenario and a deadline.

    Parameters
    ----------
    scenario : Scenario
    deadline_s : float
        When all drafts must be there [s].
    """

    always_feasible: ClassVar[bool] = False

    def __init__(self, scenario: Scenario, deadline_s: float) -> None:
        self._given = _checked(deadline_s)
        super().__init__(scenario)

    def update(self, scenario: Scenario, deadline_s: float | None = None) -> None:
        """Take another scenario, and another deadline where given."""
        self._given = self._given if deadline_s is None else _checked(deadline_s)
        super().update(scenario)

    def infeasible_cause(self) -> tuple[str, str]:
        """The deadline is too short for the shortest drafts."""
        return f"the shortest drafts take longer than deadline_s = {self._given:g}", "raise deadline_s"


def _checked(deadline_s: float) -> float:
    if not (np.isfinite(deadline_s) and deadline_s > 0.0):
        raise ParameterError(f"deadline_s = {describe(deadline_s)} is not a finite number above 0")
    return float(deadline_s)
