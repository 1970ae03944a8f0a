"""What a solve gives back: copied out at once, immutable, with the certificate and the way it was found."""

from collections.abc import Mapping
from dataclasses import dataclass

from formulations.core.limit import LimitSides
from msopt.arrays import FloatArray
from msopt.model.control import Control

Decision = dict[str, FloatArray]
"""The values of a problem's decisions by name, in SI units."""


@dataclass(frozen=True, eq=False)
class ShadowPrice:
    """Change of the optimal objective for each unit by which a constraint's right side rises.

    Attributes
    ----------
    value : array
        A number, or one for each device.
    unit : str
        Objective unit per unit of the constraint.
    """

    value: FloatArray
    unit: str


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One call of a solver.

    Attributes
    ----------
    solver, status : str
        The solver and its word for the outcome; `error` where it broke down.
    objective, score, disagreement : float
        Solver's objective and evaluator's score of the same solution in SI units, and their relative
        difference; NaN where there was no solution.
    iterations : int
        0 where the solver does not tell.
    compile_s, solve_s : float
        Time in CVXPY and in the solver [s].
    note : str
        The solver's error, or why the attempt was repeated.
    """

    solver: str
    status: str
    objective: float
    score: float
    disagreement: float
    iterations: int
    compile_s: float
    solve_s: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Optimality without knowing the answer: scaled, dimensionless residuals of the KKT conditions.

    Attributes
    ----------
    primal_residual : float
        Largest violation of a constraint, by the solver's own point.
    dual_residual, complementarity, stationarity : float or None
        Distance of the multipliers from their cones; largest product of a multiplier and its slack;
        largest entry of the Lagrangian's gradient relative to its terms. None for integer
        problems, and where the solver gave no multipliers.
    evaluator_gap : float
        Relative difference of the solver's objective from the evaluator's score.
    closed_form : str or None
        Name of the closed form that cross-checks the formulation; the registry knows it.
    closed_form_gap : float or None
        Relative difference from it; None until someone who may import both fills it in.
    """

    primal_residual: float
    dual_residual: float | None
    complementarity: float | None
    stationarity: float | None
    evaluator_gap: float
    closed_form: str | None = None
    closed_form_gap: float | None = None

    @property
    def kkt(self) -> float:
        """The largest of the optimality conditions' residuals."""
        parts = (self.primal_residual, self.dual_residual, self.complementarity, self.stationarity)
        return max(part for part in parts if part is not None)

    @property
    def worst(self) -> float:
        """The largest of the residuals, the evaluator's included."""
        return max(self.kkt, self.evaluator_gap)


@dataclass(frozen=True, kw_only=True, eq=False)
class FormulationSolution:
    """A trusted answer.

    Attributes
    ----------
    formulation, solver, objective_unit : str
        What was solved, who solved it (a fallback may differ from the one asked for), unit of the objective.
    objective : float
        The evaluator's score of the decision, SI units.
    solver_objective : float
        What the solver reports, in the same units.
    decision : mapping of arrays
        Read-only values of the decisions in SI units.
    shadow_prices : mapping of ShadowPrice
        By name of the constraint.
    limits : mapping of LimitSides
        What each limit asks for and how far the decision is from it, by name.
    control : Control or None
        Where the decision is a control.
    certificate : Certificate
        KKT residuals and cross-checks.
    attempts : tuple of Attempt
        Every call of a solver on the way, repeats and fallbacks included.
    """

    formulation: str
    solver: str
    objective_unit: str
    objective: float
    solver_objective: float
    decision: Mapping[str, FloatArray]
    shadow_prices: Mapping[str, ShadowPrice]
    limits: Mapping[str, LimitSides]
    control: Control | None
    certificate: Certificate
    attempts: tuple[Attempt, ...]

    def __getitem__(self, name: str) -> FloatArray:
        """A decision by its name."""
        return self.decision[name]

    def shadow_price(self, name: str) -> ShadowPrice:
        """Price of a constraint by its name, with its unit."""
        return self.shadow_prices[name]

    @property
    def fell_back(self) -> bool:
        """Whether another solver than the one asked for found it."""
        return self.attempts[0].solver != self.solver

    def __repr__(self) -> str:
        return (
            f"FormulationSolution({self.formulation}: {self.objective:.8g} {self.objective_unit}, {self.solver}, "
            f"{len(self.attempts)} solves, certificate {self.certificate.worst:.1e})"
        )
