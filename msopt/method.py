"""The record of a method: all that the package knows of it, in one place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from msopt.model.scenario import Problem, Scenario
from msopt.options import Options, options_of
from msopt.solution import Solution
from msopt.variants.variant import Variant

Procedure = Callable[[Scenario, Options, float | None], Solution]
"""From a scenario, options, and a bound [token/s] that is known already; methods with a proof do not look at that."""

VariantProcedure = Callable[[Scenario, Variant, Options], Solution]
"""The same for another utility and further limits, whose bound is the utility's."""

Role = Literal["optimum", "algorithm", "baseline", "system", "conic"]
"""Ours; a paper's own algorithm for the problem; a control that leaves something out; another system than devices that
draft, without a control of the problem; the optimum again, by a solver for convex programs."""
Colour = Literal["black", "grey", "orange", "sky", "green", "yellow", "blue", "vermilion", "purple"]
"""Okabe and Ito's, and grey."""
Line = str | tuple[int, tuple[int, ...]]
"""As matplotlib has it: "-", "--", or (offset, (on, off, ...)) in points."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method of one problem.

    Attributes
    ----------
    name, problem
        What a user calls it, and what it solves; the two together are its key.
    procedure : callable
        From a scenario, options and a known bound to the solution.
    role : str
        What it is to the others; see `Role`.
    whose, what : str
        Whose it is, and what it does in a few words.
    label, colour, marker, line
        What figures call it and how they draw it; the same in every problem that has a method of the name.
    of_variant : callable, optional
        From a scenario, a variant and options to the solution; None where the method solves the papers' problems alone.
    tried_up_to : int or None
        Devices up to which it is tried where nobody asks for it by name: `exact` as a study's optimum, each beside the
        others in a comparison. Beyond, it may take too long. None: any number.
    """

    name: str
    problem: Problem
    procedure: Procedure
    role: Role
    whose: str
    what: str
    label: str
    colour: Colour
    marker: str
    line: Line
    of_variant: VariantProcedure | None = None
    tried_up_to: int | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it takes."""
        return options_of(self.name)
