"""A declared problem: scaled, parametrised (DPP), with names for all it consists of; not yet solved.

A formulation declares named parameters, variables and constraints of a scaled convex program in `_build`,
gives the parameters their values in `_set_parameters`, and translates the solution back to SI in
`decision`. `solve_checked` solves what is declared here, and `formulation.AbstractFormulation` is what users call.

Steps that fail silently if forgotten: a product of two parameters is not DPP, so it is made in numpy; a
constraint's `price` must undo the scaling of its right side; `score` must come from the evaluator.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from formulations.core.conic_solution import Decision, ShadowPrice
from formulations.core.limit import LimitSides, requirement_of
from formulations.core.quantity import Quantity, Requirement, si_unit
from formulations.core.solver_errors import FormulationError
from msopt.arrays import FloatArray
from msopt.errors import describe
from msopt.model.control import Control
from msopt.model.control_limit import ControlLimit
from msopt.model.scenario import Scenario

ONE = cp.Constant(1.0)

AGREEMENT_RTOL = 1e-6
"""Largest relative difference between the solver's objective and the evaluator's score of its solution."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedConstraint:
    """A constraint with a name, and what its multiplier means.

    Attributes
    ----------
    constraint : cvxpy constraint
        In scaled units.
    unit : str
        Unit of the right side; the price is in objective units per this.
    price : callable or None
        Change of the scaled objective for each SI unit by which the right side rises; None: a constraint
        of the declaration (a cone), whose multiplier has no meaning of its own.
    user : bool
        Whether `require` put it there.
    """

    constraint: cp.Constraint
    unit: str
    price: Callable[[], FloatArray] | None
    user: bool = False


class DeclaredProgram(ABC):
    """One convex problem of K devices, declared once and given other numbers by `update`.

    Attributes
    ----------
    name, objective_unit : str
        Registry name; unit of the objective.
    solvers : tuple of str
        The solvers that can take it; the first is the default.
    passes : int
        How often it is solved, each time in units estimated from the answer before (design section 4).
    dpp : bool
        Whether disciplined parametrised programming is asserted; off for quasi-convex problems only.
    quasiconvex, always_feasible : bool
        Whether it is solved by bisection (DQCP); whether a solution exists for every scenario.
    agreement : float
        Largest relative difference allowed between the solver's objective and the evaluator's score.
    residual_share : float
        What part of their largest residual solvers are held to whose points are further off; below 1 where the
        residuals of many devices add up in the objective.
    least_repeats : int
        Repeats that the method itself needs (tangent cuts, Dinkelbach's iteration).
    parameters, variables, quantities, constraints : dict by name
        What was declared; `quantities` are also attributes: `problem.draft_length[3] >= 2`.
    requirements : dict by name
        The constraints that `require` added.
    limits : dict by name
        The limits among the constraints and the requirements.
    tried : int
        Solves without an answer to take units from, and repeats: the next is in other units, not the same again.
    """

    name: str
    objective_unit: str = "token/s"
    solvers: tuple[str, ...] = ("ECOS", "CLARABEL", "SCS")
    passes: ClassVar[int] = 1
    dpp: ClassVar[bool] = True
    quasiconvex: ClassVar[bool] = False
    always_feasible: ClassVar[bool] = True
    agreement: ClassVar[float] = AGREEMENT_RTOL
    least_repeats: ClassVar[int] = 0
    residual_share: float = 1.0

    def __init__(self, scenario: Scenario) -> None:
        self.parameters: dict[str, cp.Parameter] = {}
        self.variables: dict[str, cp.Variable] = {}
        self.quantities: dict[str, Quantity] = {}
        self.constraints: dict[str, NamedConstraint] = {}
        self.requirements: dict[str, Requirement | cp.Constraint] = {}
        self.limits: dict[str, ControlLimit] = {}
        self._limited: dict[str, Requirement] = {}
        self.declared_solvers = self.solvers
        self.scenario = scenario
        self._shape = self._structure(scenario)
        self._objective = self._build()
        self._compile()
        self.update(scenario)

    # What a concrete formulation supplies.

    def _structure(self, scenario: Scenario) -> tuple[str, ...]:
        """What must not change between updates; raises where the scenario does not fit the problem."""
        return (f"{scenario.device_count} devices",)

    @abstractmethod
    def _build(self) -> cp.Maximize | cp.Minimize:
        """Declare parameters, variables and constraints, and return the objective."""

    @abstractmethod
    def _estimate(self) -> None:
        """Choose the units of the first pass for `self.scenario`."""

    @abstractmethod
    def _set_parameters(self) -> None:
        """Give every parameter its value, in the units chosen."""

    @abstractmethod
    def decision(self) -> Decision:
        """The solution just found, in SI units and within its limits."""

    @abstractmethod
    def score(self, decision: Decision) -> float:
        """The objective of a decision in SI units, by the evaluator."""

    @property
    @abstractmethod
    def objective_scale(self) -> float:
        """SI value of one unit of the scaled objective."""

    @property
    def objective_offset(self) -> float:
        """SI value of the scaled objective's zero."""
        return 0.0

    def rescale(self, found: bool) -> None:
        """Choose the units of the next pass from the solution just found, if any; here these are only counted."""
        self._solves += 1
        self.tried += not found or self._solves >= self.passes

    @property
    def bracket(self) -> tuple[float, float, float]:
        """Below and above the scaled objective, and how close the two shall come; for quasi-convex problems."""
        return 0.0, np.inf, 0.0

    def control(self, decision: Decision) -> Control | None:
        """The decision as a control, where it is one (relaxed lengths are not whole)."""
        del decision
        return None

    def known_infeasible(self) -> bool:
        """Whether the numbers alone show that there is no solution; solvers can break down where they should tell."""
        return False

    def infeasible_cause(self) -> tuple[str, str]:
        """Why the problem without requirements has no solution, and what to do."""
        return "no point meets the constraints", "relax the limits of the scenario"

    @property
    def cvxpy(self) -> cp.Problem:
        """The underlying CVXPY problem, requirements included."""
        return self._problem

    def update(self, scenario: Scenario) -> None:
        """Take the numbers of another scenario with as many devices; the next solve compiles nothing anew.

        Raises
        ------
        FormulationError
            Where the scenario has another number of devices or another law than the problem was built for.
        """
        shape = self._structure(scenario)
        if shape != self._shape:
            raise FormulationError(
                f"{self.name} was built for {describe(self._shape)} and the scenario has {describe(shape)}; "
                "build a new formulation"
            )
        self.scenario = scenario
        self._solves = self.tried = 0
        self._estimate()
        self.refresh()
        added = self.limits.keys() & self.requirements.keys()
        if added:  # their sides may hold numbers of the scenario
            self.requirements |= {name: requirement_of(self.limits[name], self) for name in added}
            self._compile()

    def refresh(self) -> None:
        """Write all parameter values in the units in force."""
        self._set_parameters()
        for name, declared in self._limited.items():
            declared.rebound(self.limits[name].right(self))
        for requirement in self.requirements.values():
            if isinstance(requirement, Requirement):
                requirement.refresh()

    # What `_build` calls.

    def parameter(self, name: str, shape: int | tuple[int, ...] = (), **attributes: Any) -> cp.Parameter:
        """Declare a named parameter."""
        self.parameters[name] = cp.Parameter(shape, name=name, **attributes)
        return self.parameters[name]

    def variable(self, name: str, shape: int | tuple[int, ...] = (), **attributes: Any) -> cp.Variable:
        """Declare a named variable."""
        self.variables[name] = cp.Variable(shape, name=name, **attributes)
        return self.variables[name]

    def quantity(
        self,
        name: str,
        expression: cp.Expression,
        unit: str,
        scale: Callable[[], float] = si_unit,
        per: cp.Expression = ONE,
    ) -> Quantity:
        """Declare a decision with its unit; it becomes an attribute."""
        self.quantities[name] = Quantity(expression=expression, per=per, scale=scale, unit=unit)
        return self.quantities[name]

    def constrain(
        self, name: str, constraint: cp.Constraint, unit: str = "", price: Callable[[], Any] | None = None
    ) -> cp.Constraint:
        """Declare a named constraint, with the unit of its right side and the price that unscales its multiplier."""
        self.constraints[name] = NamedConstraint(constraint=constraint, unit=unit, price=price)
        return constraint

    def limit(self, limit: ControlLimit) -> None:
        """Declare a limit whose right side is a number of the scenario."""
        self.limits[limit.name] = limit
        declared = self._limited[limit.name] = requirement_of(limit, self)
        self.parameters[limit.name] = declared.scaled_bound
        self.constrain(limit.name, declared.constraint, limit.unit, declared.price)

    def set(self, name: str, value: Any) -> None:
        """Give a parameter its value."""
        self.parameters[name].value = np.asarray(value, dtype=float)

    def solved(self, name: str) -> FloatArray:
        """Scaled value of a variable in the last solution."""
        return np.asarray(self.variables[name].value, dtype=float)

    def given(self, name: str) -> FloatArray:
        """Value of a parameter."""
        return np.asarray(self.parameters[name].value, dtype=float)

    # What the solve loop calls.

    def active(self, requirements: Sequence[str] | None = None) -> dict[str, NamedConstraint]:
        """The named constraints with all or some of the requirements."""
        chosen = dict(self.constraints)
        for label in self.requirements if requirements is None else requirements:
            given = self.requirements[label]
            if isinstance(given, Requirement):
                chosen[label] = NamedConstraint(
                    constraint=given.constraint, unit=given.quantity.unit, price=given.price, user=True
                )
            else:
                chosen[label] = NamedConstraint(constraint=given, unit="scaled", price=None, user=True)
        return chosen

    def with_requirements(self, names: Sequence[str], *more: cp.Constraint) -> cp.Problem:
        """The CVXPY problem with only some of the requirements, and with more constraints."""
        return cp.Problem(self._objective, [*(named.constraint for named in self.active(names).values()), *more])

    def shadow_prices(self) -> dict[str, ShadowPrice]:
        """Prices of all constraints that have one, from the solution just found."""
        sign = self.objective_scale if isinstance(self._objective, cp.Maximize) else -self.objective_scale
        return {
            name: ShadowPrice(sign * np.asarray(named.price(), dtype=float), f"({self.objective_unit})/({named.unit})")
            for name, named in self.active().items()
            if named.price is not None and named.constraint.dual_value is not None
        }

    def limit_sides(self, decision: Decision) -> dict[str, LimitSides]:
        """Both sides of all limits for a decision, by name."""
        at = SimpleNamespace(scenario=self.scenario, **decision)
        return {name: LimitSides.of(limit, at) for name, limit in self.limits.items()}

    def _compile(self) -> None:
        active = self.active()
        self._problem = cp.Problem(self._objective, [named.constraint for named in active.values()])
        if self.quasiconvex:
            if not self._problem.is_dqcp():
                raise FormulationError(f"{self.name} is not quasi-convex (DQCP)")
            return
        # Expressions know `dpp`, whole problems hide it behind a decorator.
        culprits = [name for name, named in active.items() if not named.constraint.is_dcp(dpp=self.dpp)]
        if not self._objective.is_dcp(dpp=self.dpp):
            culprits.append("objective")
        if not culprits:
            return
        raise FormulationError(
            f"{self.name} is not one convex program with these constraints (DCP and DPP): {', '.join(culprits)}"
        )
