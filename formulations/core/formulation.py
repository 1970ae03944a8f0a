"""What users call of a formulation: its decisions by name, further constraints, and `solve`."""

from collections.abc import Mapping

import cvxpy as cp

from formulations.core.conic_solution import FormulationSolution
from formulations.core.declared import DeclaredProgram
from formulations.core.quantity import Quantity, Requirement
from formulations.core.solve_checked import SolverOptions, solve_checked
from formulations.core.solver_errors import FormulationError
from msopt.errors import ParameterError, describe


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

    def require(self, requirement: Requirement | cp.Constraint, *, name: str | None = None) -> str:
        """Add a constraint, and return its name.

        Parameters
        ----------
        requirement : Requirement or cvxpy constraint
            `problem.draft_length[3] >= 2`, in SI units; or any CVXPY constraint on `problem.variables`,
            in their scaled units.
        name : str, optional
            "requirement 1", "requirement 2", ... where left out.
        """
        label = name or f"requirement {len(self.requirements) + 1}"
        if not isinstance(requirement, Requirement | cp.Constraint):
            raise ParameterError(f"require() takes a constraint, got {describe(requirement)}")
        if label in self.constraints or label in self.requirements:
            raise ParameterError(f'there is already a constraint named "{label}"')
        self.requirements[label] = requirement
        try:
            self._compile()
        except FormulationError:
            del self.requirements[label]
            raise
        return label

    def withdraw(self, name: str) -> None:
        """Remove a requirement by its name."""
        del self.requirements[name]
        self._compile()

    def solve(self, solver: str | None = None, options: SolverOptions | None = None) -> FormulationSolution:
        """Solve, certify and score; see `formulations.core.solve_checked`."""
        return solve_checked(self, self.solvers[0] if solver is None else solver, options or SolverOptions())
