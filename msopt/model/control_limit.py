"""A limit that a user puts to a control: two sides in SI units, and what it does to a table of actions."""

import copy
from typing import Any, ClassVar, Literal, Self

from msopt.errors import ParameterError

Sense = Literal["<=", ">="]
Conic = Literal["exact", "relaxed", "none"]


class ControlLimit:
    """left <= right, or >=: written once for the numbers of a decision and for a convex program, and once for a table.

    Both sides are written with the names of a decision: `draft_length`, `draft_s`, `airtime_s`, `bandwidth_hz`,
    `deadline_s`, `round_s`, `device_goodput`, `served`. What they are asked `at` has these as arrays, or, in a convex
    program, as expressions with units, all but `airtime_s` and `served`; it knows its `scenario`, too. A limit of
    one's own may have the two sides alone (no table of actions takes it, method `convex` does), or the table form alone
    (nothing else knows of it then).

    Attributes
    ----------
    name, unit : str
        What messages, tables and prices call it; SI unit of both sides.
    sense : "<=" or ">="
    conic : "exact", "relaxed" or "none"
        Whether a convex program with the two sides has the same real-valued optimum; or has to leave the limit out, and
        so bounds it; or bounds nothing, because the limit is no set of draft lengths and shares that is convex.
    idle : bool
        Whether a device may then also take no part in a round.
    number : str
        The attribute that holds the limit's number, or one for each device, by which messages say how far it would
        have to give way; "" where there is none.
    number_unit : str
        Its SI unit where that is not the sides'.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    sense: ClassVar[Sense] = "<="
    conic: ClassVar[Conic] = "exact"
    idle: ClassVar[bool] = False
    number: ClassVar[str] = ""
    number_unit: ClassVar[str] = ""

    def left(self, at: Any) -> Any:
        """The left side [unit]: a number, or one for each device."""
        raise ParameterError(f"limit {self.name} has no sides")

    def right(self, at: Any) -> Any:
        """The right side [unit]."""
        raise ParameterError(f"limit {self.name} has no sides")

    def on_table(self, rules: Any) -> None:
        """Tell a table of actions what the limit forbids, by the methods of `msopt.variants.table_rules.TableRules`."""
        raise ParameterError(f"limit {self.name} has no table form (`on_table`); method convex needs none")

    def eased(self, factor: float) -> Self | None:
        """The same limit with its number greater by a factor, or less where it is a least; None: it has no number."""
        if not self.number:
            return None
        eased = copy.copy(self)
        setattr(eased, self.number, getattr(self, self.number) * (1.0 / factor if self.sense == ">=" else factor))
        return eased

    @property
    def sided(self) -> bool:
        """Whether it has its two sides."""
        return type(self).left is not ControlLimit.left and type(self).right is not ControlLimit.right

    @property
    def in_program(self) -> Conic:
        """`conic`, of a limit with two sides; "none" of one without."""
        return self.conic if self.sided else "none"

    @property
    def tabular(self) -> bool:
        """Whether it has its table form."""
        return type(self).on_table is not ControlLimit.on_table
