"""What can go wrong between a declared problem and a trusted answer; each error is one line with its remedy."""

from formulations.core.conic_solution import Attempt
from msopt.errors import InfeasibleError, MsoptError


class FormulationError(MsoptError):
    """A problem that was declared wrongly: not convex, not parametrised (DPP), or changed in shape."""


class SolveError(MsoptError):
    """A problem that has no trusted answer.

    Attributes
    ----------
    formulation, solver, status : str
        What was solved, by whom, and the solver's own word for the outcome.
    cause, remedy : str
        Why it is no answer, and what to try.
    attempts : tuple of Attempt
        Every call of a solver on the way.
    """

    attempts: tuple[Attempt, ...] = ()

    def __init__(self, *, formulation: str, solver: str, status: str, cause: str, remedy: str) -> None:
        self.formulation, self.solver, self.status = formulation, solver, status
        self.cause, self.remedy = cause, remedy
        super().__init__(f"{formulation}: {cause} (solver {solver}, status {status}); {remedy}")


class SolverMissingError(SolveError):
    """The solver is not installed."""


class SolverFailedError(SolveError):
    """The solver stopped early or broke down: every status that is neither optimal, infeasible nor unbounded."""


class InaccurateSolutionError(SolveError):
    """The solver says `optimal`, and the evaluator's score of its solution says otherwise."""


class ProblemUnboundedError(SolveError):
    """The objective has no bound."""


class ProblemInfeasibleError(SolveError, InfeasibleError):
    """No point meets the constraints.

    Attributes
    ----------
    constraints : tuple of str
        Names of the constraints in conflict, as far as they could be told.
    """

    def __init__(self, *, constraints: tuple[str, ...], **about: str) -> None:
        super().__init__(**about)
        self.constraints = constraints
