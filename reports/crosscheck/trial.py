"""One trial of the cross-check: a formulation solved, solved again after an update, and compared."""

import time
from dataclasses import dataclass, replace

import numpy as np

from formulations import FormulationSolution, SolveError
from formulations.core.solvers import SolverOptions
from formulations.registry import OBJECTIVE_RTOL, PRICE_RTOL
from msopt import Scenario
from msopt.arrays import FloatArray
from reports.crosscheck.formulation_checks import Check
from reports.crosscheck.references_ms import Inputs, Reference
from reports.crosscheck.solver_promises import promise

OPTIMAL, REFUSED = "optimal", "refused"

SMALL_ELASTICITY = OBJECTIVE_RTOL / PRICE_RTOL
"""B/G dG/dB below which a price is known to fewer digits than PRICE_RTOL asks: a multiplier is good to about
OBJECTIVE_RTOL of G/B (seen: 9e-7 with ECOS), which is PRICE_RTOL of a price of this size."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """What came of one formulation, scenario and solver.

    Attributes
    ----------
    number : int
        Place of the scenario among the trials.
    scenario : Scenario
    status, cause : str
        "optimal", or the solver's word ("refused" where that is "optimal" and not believed) and why there is no answer.
    difference, minimiser_difference : float or None
        Relative, from the closed form; the first with its sign, positive where the formulation is above.
    certificate : float or None
        Its worst residual.
    price_differences : (float, float) or None
        Dual from closed form, and from the finite difference, relative.
    price_reason : str
        Why they may differ; "" where nothing is known.
    above_brute_force, above_algorithm : float or None
        Formulation over the other's objective, less one.
    repeated : bool
        Whether the solver was called again after a failure.
    build_s, first_s, again_s : float
        NaN where not measured.
    """

    number: int
    scenario: Scenario
    status: str
    cause: str = ""
    difference: float | None = None
    minimiser_difference: float | None = None
    certificate: float | None = None
    price_differences: tuple[float, float] | None = None
    price_reason: str = ""
    above_brute_force: float | None = None
    above_algorithm: float | None = None
    repeated: bool = False
    build_s: float = float("nan")
    first_s: float = float("nan")
    again_s: float = float("nan")

    @property
    def price_difference(self) -> float | None:
        """The larger of the two differences of the price."""
        return None if self.price_differences is None else max(self.price_differences)

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return self.status == OPTIMAL


def reference_of(check: Check, scenario: Scenario) -> tuple[Inputs, Reference]:
    """The inputs and the reference of a scenario, the same for every solver."""
    given = check.inputs(scenario)
    return given, check.reference(scenario, given)


def certified(check: Check, solution: FormulationSolution, reference: Reference) -> FormulationSolution:
    """The solution with its certificate completed by the closed form."""
    certificate = replace(
        solution.certificate,
        closed_form=check.entry.closed_form,
        closed_form_gap=abs(solution.objective / reference.objective - 1.0),
    )
    return replace(solution, certificate=certificate)


def attempt(
    check: Check, number: int, scenario: Scenario, given: Inputs, reference: Reference, solver: str, again: bool
) -> Trial:
    """Build, solve and compare; a failure is told as one."""
    started = time.perf_counter()
    try:
        program = check.entry.build(scenario, *given.values())
        built = time.perf_counter()
        solution = certified(check, program.solve(solver), reference)
        first = time.perf_counter()
        if again:
            program.update(scenario)
            program.solve(solver, SolverOptions())
        ended = time.perf_counter()
    except SolveError as error:
        known = promise(solver, scenario.uplink_sharing, check.stalls)
        cause = error.cause + stalled_at(error, reference.objective) + known.told
        return Trial(number=number, scenario=scenario, status=status_of(error), cause=cause)
    above = solution.objective / reference.objective - 1.0
    return Trial(
        number=number,
        scenario=scenario,
        status=OPTIMAL,
        difference=above,
        minimiser_difference=_minimiser_difference(check, solution, reference),
        certificate=solution.certificate.worst,
        price_differences=_price_differences(solution, reference),
        price_reason=_price_reason(scenario, reference),
        above_brute_force=_over(solution.objective, reference.brute_force),
        above_algorithm=_over(solution.objective, reference.algorithm),
        repeated=len(solution.attempts) > check.entry.formulation.passes,
        build_s=built - started,
        first_s=first - built,
        again_s=ended - first if again else float("nan"),
    )


def status_of(error: SolveError) -> str:
    """The solver's word for a failure; an optimum that is not believed is none."""
    return REFUSED if error.status == OPTIMAL else error.status


def stalled_at(error: SolveError, objective: float) -> str:
    """How far from the closed form's objective the last point was, where there is one; it is refused all the same."""
    score = error.attempts[-1].score if error.attempts else float("nan")
    return f"; its point is {abs(score / objective - 1.0):.0e} off" if np.isfinite(score) else ""


def _over(objective: float, other: float | None) -> float | None:
    return None if other is None else objective / other - 1.0


def _minimiser_difference(check: Check, solution: FormulationSolution, reference: Reference) -> float | None:
    """Largest difference over the largest entry; a device that gets next to nothing cannot differ by much."""
    if not check.minimiser or reference.minimiser is None:
        return None
    found: FloatArray = solution[check.minimiser]
    return float(np.max(np.abs(found - reference.minimiser)) / np.max(np.abs(reference.minimiser)))


def _price_reason(scenario: Scenario, reference: Reference) -> str:
    """Why a multiplier may be off although the optimum is right."""
    if reference.at_bounds:
        return "every length at a limit"
    elasticity = abs(reference.price or 0.0) * scenario.uplink_bandwidth_hz / reference.objective
    return f"1 % of band for {elasticity:.0e} % of goodput" if elasticity < SMALL_ELASTICITY else ""


def _price_differences(solution: FormulationSolution, reference: Reference) -> tuple[float, float] | None:
    if reference.price is None or reference.price_difference is None:
        return None
    dual = float(solution.shadow_price("bandwidth").value)
    least = 1e-300
    return (
        abs(dual - reference.price) / max(abs(reference.price), least),
        abs(dual - reference.price_difference) / max(abs(reference.price_difference), least),
    )
