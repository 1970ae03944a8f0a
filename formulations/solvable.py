"""What `solve_checked` needs of a formulation; `base.AbstractFormulation` has it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import cvxpy as cp

from formulations.solution import ShadowPrice
from msopt.arrays import FloatArray
from msopt.control import Control
from msopt.scenario import Scenario

Decision = dict[str, FloatArray]


class Solvable(Protocol):
    """A declared problem that can be solved, repeated in new units, updated and scored; see `base`."""

    scenario: Scenario

    @property
    def name(self) -> str:
        """Registry name."""

    @property
    def objective_unit(self) -> str:
        """Unit of the objective."""

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solvers that can take it."""

    @property
    def passes(self) -> int:
        """How often it is solved as a matter of course."""

    @property
    def dpp(self) -> bool:
        """Whether it is parametrised."""

    @property
    def quasiconvex(self) -> bool:
        """Whether it is solved by bisection."""

    @property
    def always_feasible(self) -> bool:
        """Whether a solution exists for every scenario."""

    @property
    def agreement(self) -> float:
        """Largest relative difference from the evaluator's score."""

    @property
    def least_repeats(self) -> int:
        """Repeats that the method itself needs."""

    @property
    def requirements(self) -> Mapping[str, Any]:
        """The constraints that users added."""

    @property
    def cvxpy(self) -> cp.Problem:
        """The problem, requirements included."""

    @property
    def objective_scale(self) -> float:
        """SI value of one unit of the scaled objective."""

    @property
    def bracket(self) -> tuple[float, float, float]:
        """Where bisection begins, and how close it goes."""

    def with_requirements(self, names: Sequence[str], *more: cp.Constraint) -> cp.Problem:
        """The problem with only some of the requirements, and with more constraints."""

    def decision(self) -> Decision:
        """The solution just found, in SI units."""

    def score(self, decision: Decision) -> float:
        """The objective of a decision, by the evaluator."""

    def control(self, decision: Decision) -> Control | None:
        """The decision as a control, where it is one."""

    def shadow_prices(self) -> dict[str, ShadowPrice]:
        """Prices of the constraints that have one."""

    def known_infeasible(self) -> bool:
        """Whether the numbers alone show that there is no solution."""

    def infeasible_cause(self) -> tuple[str, str]:
        """Why there is no solution, and what to do."""

    def rescale(self, found: bool) -> None:
        """Choose the units of the next pass."""

    def refresh(self) -> None:
        """Write all parameter values in the units in force."""

    def update(self, scenario: Scenario) -> None:
        """Take the numbers of another scenario."""
