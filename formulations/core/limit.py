"""A limit of a problem: two sides in SI units, written once for the program and for the numbers of a decision."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from formulations.core.quantity import Requirement, Sense, compare
from msopt.arrays import FloatArray


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

    @property
    def slack(self) -> FloatArray:
        """How far the left side is from the right: 0 where the limit binds, below where it is broken."""
        return np.asarray(self.left - self.right if self.sense == ">=" else self.right - self.left)


class ProgramLimit(ABC):
    """left <= right, or >=; `program.require(limit)` puts it in force.

    Both sides are written with the names of the program's decisions. What they are asked `at` is the program,
    whose decisions are quantities, or a solution's decision, whose are arrays; both know their `scenario`.

    Attributes
    ----------
    name, unit, sense
        What the price is asked by; SI unit of both sides; the relation between them.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    sense: ClassVar[Sense] = "<="

    @abstractmethod
    def left(self, at: Any) -> Any:
        """An affine combination of decisions."""

    @abstractmethod
    def right(self, at: Any) -> Any:
        """A number, one for each device, or another combination over the same divisor."""

    def requirement(self, program: Any) -> Requirement:
        """The limit as a constraint of a program."""
        return compare(self.left(program), self.sense, self.right(program), self.unit, self.name)

    def sides(self, at: Any) -> LimitSides:
        """Both sides for the numbers of a decision."""
        left, right = (np.asarray(side(at), dtype=float) for side in (self.left, self.right))
        return LimitSides(left, right, self.unit, self.sense)
