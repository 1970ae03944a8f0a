"""What users call of a formulation: its decisions by name, further constraints, and `solve`."""

from collections.abc import Mapping

import cvxpy as cp

from formulations.core.conic_solution import FormulationSolution
from formulations.core.declared import DeclaredProgram
from formulations.core.limit import requirement_of
from formulations.core.quantity import Quantity, Requirement
from formulations.core.solve_checked import solve_checked
from formulations.core.solver_errors import FormulationError
from formulations.core.solvers import SolverOptions
from msopt.errors import ParameterError, describe
from msopt.model.control_limit import ControlLimit


class AbstractFormulation(DeclaredProgram):
    """A declared problem with what users call; concrete classes are final and supply what `DeclaredProgram` asks."""

    @property
    def problem(self) -> "AbstractFormulation":
        """The formulation itself: `formulation.problem.cvxpy`."""
        return self

    def __getattr__(self, name: str) -> Quantity:
        quantities: Mapping[str, Quantity] = self.__dict__.get("quantities", {})
        if name in quantities:
            return quantities[name]
        raise AttributeError(
            f"{type(self).__name__} has no {name}; its decisions are {', '.join(quantities) or 'not declared yet'}"
        )

    def require(self, requirement: Requirement | ControlLimit | cp.Constraint, *, name: str | None = None) -> str:
        """Add a constraint, and return its name.

        Parameters
        ----------
        requirement : Requirement, ControlLimit or cvxpy constraint
            `problem.draft_length[3] >= 2`, in SI units; a limit, whose sides the solution then tells; or any
            CVXPY constraint on `problem.variables`, in their scaled units.
        name : str, optional
            Where left out the limit's own, or "requirement 1", "requirement 2", ...
        """
        limit = requirement if isinstance(requirement, ControlLimit) else None
        label = name or (limit.name if limit else f"requirement {len(self.requirements) + 1}")
        if not isinstance(requirement, Requirement | ControlLimit | cp.Constraint):
            raise ParameterError(f"require() takes a constraint, got {describe(requirement)}")
        if label in self.constraints or label in self.requirements:
            raise ParameterError(f'there is already a constraint named "{label}"')
        self.requirements[label] = (
            requirement_of(requirement, self) if isinstance(requirement, ControlLimit) else requirement
        )
        try:
            self._compile()
        except FormulationError:
            del self.requirements[label]
            raise
        if limit:
            self.limits[label] = limit
        return label

    def withdraw(self, name: str) -> None:
        """Remove a requirement by its name."""
        if name not in self.requirements:
            there = ", ".join(f'"{one}"' for one in self.requirements) or "none"
            raise ParameterError(f"there is no requirement {describe(name)} to withdraw; there are {there}")
        del self.requirements[name]
        self.limits.pop(name, None)
        self._compile()

    def solve(self, solver: str | None = None, options: SolverOptions | None = None) -> FormulationSolution:
        """Solve, certify and score; see `formulations.core.solve_checked`."""
        return solve_checked(self, self.solvers[0] if solver is None else solver, options or SolverOptions())
