"""A limit of msopt's in a program: as a constraint on its quantities, and both sides of it for a decision's numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations.core.quantity import Requirement, Sense, compare
from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.control_limit import ControlLimit


@dataclass(frozen=True, eq=False)
class LimitSides:
    """Both sides of a limit for a decision.

    Attributes
    ----------
    left, right : arrays
        Numbers, or one for each device.
    unit : str
        Of both.
    sense : str
        `<=` or `>=`.
    """

    left: FloatArray
    right: FloatArray
    unit: str
    sense: Sense

    @classmethod
    def of(cls, limit: ControlLimit, at: Any) -> "LimitSides":
        """Both sides for the numbers of a decision."""
        left, right = (np.asarray(side(at), dtype=float) for side in (limit.left, limit.right))
        return cls(left, right, limit.unit, limit.sense)

    @property
    def slack(self) -> FloatArray:
        """How far the left side is from the right: 0 where the limit binds, below where it is broken."""
        return np.asarray(self.left - self.right if self.sense == ">=" else self.right - self.left)


def requirement_of(limit: ControlLimit, program: Any) -> Requirement:
    """A limit as a constraint of a program, whose decisions are the quantities that its sides are written with.

    ParameterError where no constraint of a program is that limit.
    """
    if limit.in_program != "exact":
        why = "no convex set of a program's decisions" if limit.sided else "known to tables of actions alone"
        raise ParameterError(f"limit {limit.name} is {why}")
    return compare(limit.left(program), limit.sense, limit.right(program), limit.unit, limit.name)
