"""The one way to solve: only `optimal` is success, and only while the evaluator agrees.

A number comes back from solvers that gave up, and `optimal` from solvers that were misled by the units
(design section 4). So each solve ends in a `FormulationSolution` or in a typed error, after `passes`
solves in units estimated from the answer before and at most `max_repeats` recorded repeats.
"""

import time
import warnings
from collections.abc import Sequence
from types import MappingProxyType

import cvxpy as cp
import numpy as np

from formulations.core.certificate import certify, is_affine
from formulations.core.conic_solution import Attempt, Decision, FormulationSolution
from formulations.core.declared import DeclaredProgram
from formulations.core.shortfall import shortfall
from formulations.core.solver_errors import (
    InaccurateSolutionError,
    ProblemInfeasibleError,
    ProblemUnboundedError,
    SolveError,
    SolverFailedError,
)
from formulations.core.solvers import SolverOptions, bisection_settings, check_solver, installed, solver_settings

CERTIFIED, CERTIFIED_OF = 2.5e-7, {"ECOS": 7.5e-8}
"""Largest scaled KKT residual of a solution, and that of solvers whose points are further off. It does not bound the
objective's error, many small ones add up: 4 residuals were seen, 19 where power-limited devices draft one length. What
is above was seen 2e-6 off, the evaluator agreeing to 5e-8."""

CERTIFIED_CURVED = 5e-6
"""The same where a user's requirement is convex but not affine: its gradient is that of a point, good to the square
root of what a solver is; the declared programs are affine inside their cones."""

SMALLEST_SCORE = 1e-200


def solve_checked(formulation: DeclaredProgram, solver: str, options: SolverOptions) -> FormulationSolution:
    """Solve a formulation, or raise an error that says why not.

    Raises
    ------
    ParameterError
        For a solver that is unknown, refused or unfit.
    SolverMissingError, SolverFailedError, InaccurateSolutionError, ProblemInfeasibleError, ProblemUnboundedError
        See `formulations.core.solver_errors`.
    """
    names = [check_solver(formulation.name, one, formulation.solvers) for one in (solver, *options.fallback)]
    if formulation.known_infeasible():
        cause, remedy = formulation.infeasible_cause()
        about = {"formulation": formulation.name, "solver": names[0], "status": "not asked"}
        raise ProblemInfeasibleError(**about, cause=cause, remedy=remedy, constraints=())
    attempts: list[Attempt] = []
    for name in names:
        try:
            return _solve_with(formulation, name, options, attempts)
        except (SolverFailedError, InaccurateSolutionError):
            if name == names[-1]:
                raise
            formulation.update(formulation.scenario)
    raise AssertionError("unreachable")


def _solve_with(
    formulation: DeclaredProgram, solver: str, options: SolverOptions, attempts: list[Attempt]
) -> FormulationSolution:
    refused = False
    for place in range(formulation.passes + max(options.max_repeats, formulation.least_repeats)):
        repeat = place >= formulation.passes
        attempt, decision = run(formulation, formulation.cvxpy, solver, options, repeat, refused)
        attempts.append(attempt)
        trusted = attempt.status == cp.OPTIMAL and attempt.disagreement <= formulation.agreement
        if trusted and decision is not None and place + 1 >= formulation.passes:
            solution = _solution(formulation, decision, attempts, options)
            if solution.certificate.kkt <= _certified_within(formulation, solver):
                return solution
            refused = True
        if attempt.status in cp.settings.INF_OR_UNB and not _numerical(formulation):
            break
        if formulation.passes == 1 and not formulation.least_repeats:
            break
        formulation.rescale(decision is not None)
        formulation.refresh()
    error = _error(formulation, attempts[-1], options)
    error.attempts = tuple(attempts)
    raise error


def run(
    formulation: DeclaredProgram,
    problem: cp.Problem,
    solver: str,
    options: SolverOptions,
    repeat: bool = False,
    refused: bool = False,
) -> tuple[Attempt, Decision | None]:
    """Call a solver once; the decision is None where it returned no usable point."""
    settings = solver_settings(solver, options, repeat, refused) | options.extra
    if formulation.quasiconvex:
        settings = bisection_settings(formulation, options)
    elif options.compile_once or not formulation.dpp:
        settings |= {"ignore_dpp": True}
    started = time.perf_counter()
    status, note = "error", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the status says so, and is judged here
            problem.solve(solver=solver, warm_start=False, verbose=options.verbose, **settings)
        status = problem.status
    except (cp.SolverError, ArithmeticError, ValueError) as error:
        note = str(error).splitlines()[0]
    elapsed = time.perf_counter() - started
    objective = score = disagreement = float("nan")
    decision = None
    if status in cp.settings.SOLUTION_PRESENT and all(v.value is not None for v in problem.variables()):
        with np.errstate(all="ignore"):
            decision = formulation.decision()
            offset, scale = formulation.objective_offset, formulation.objective_scale
            objective = offset + scale * float(problem.objective.value)
            score = formulation.score(decision)
        if all(np.all(np.isfinite(part)) for part in decision.values()) and np.isfinite(score):
            size = max(abs(score), abs(scale)) if offset else abs(score)  # a logarithm can be 0 where nothing is wrong
            disagreement = abs(objective - score) / size if size > SMALLEST_SCORE else float("inf")
        else:
            decision, disagreement = None, float("inf")
    stats = problem.solver_stats if status != "error" else None
    solve_s = float((stats.solve_time if stats else None) or 0.0)
    attempt = Attempt(
        solver=solver,
        status=status,
        objective=objective,
        score=score,
        disagreement=disagreement,
        iterations=int((stats.num_iters if stats else None) or 0),
        compile_s=max(elapsed - solve_s, 0.0),
        solve_s=solve_s,
        note=note or ("repeat" if repeat else ""),
    )
    return attempt, decision


def _certified_within(formulation: DeclaredProgram, solver: str) -> float:
    if not is_affine(formulation.cvxpy):
        return CERTIFIED_CURVED
    return CERTIFIED_OF[solver] * formulation.residual_share if solver in CERTIFIED_OF else CERTIFIED


def _numerical(formulation: DeclaredProgram) -> bool:
    """Whether `infeasible` can only be the fault of the units: the problem has a solution by construction."""
    return formulation.always_feasible and not formulation.requirements


def _solution(
    formulation: DeclaredProgram, decision: Decision, attempts: list[Attempt], options: SolverOptions
) -> FormulationSolution:
    attempt = attempts[-1]
    values = {name: np.array(value, dtype=float) for name, value in decision.items()}
    for value in values.values():
        value.flags.writeable = False
    return FormulationSolution(
        formulation=formulation.name,
        solver=attempt.solver,
        objective_unit=formulation.objective_unit,
        objective=attempt.score,
        solver_objective=attempt.objective,
        decision=MappingProxyType(values),
        shadow_prices=MappingProxyType(formulation.shadow_prices()),
        limits=MappingProxyType(formulation.limit_sides(values)),
        control=formulation.control(values),
        certificate=certify(
            formulation.cvxpy, attempt.disagreement, options.stationarity, options.compile_once or not formulation.dpp
        ),
        attempts=tuple(attempts),
    )


def _error(formulation: DeclaredProgram, attempt: Attempt, options: SolverOptions) -> SolveError:
    about = {"formulation": formulation.name, "solver": attempt.solver, "status": attempt.status}
    others = installed([name for name in formulation.solvers if name != attempt.solver])
    another = f"try {' or '.join(others)}, or " if others else ""
    if attempt.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE) and not _numerical(formulation):
        return _infeasible(formulation, attempt, options)
    if attempt.status in (cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE) and not _numerical(formulation):
        return ProblemUnboundedError(**about, cause="the objective has no bound", remedy="bound the decisions")
    if attempt.status == cp.OPTIMAL and attempt.disagreement <= formulation.agreement:
        cause = f"the optimality conditions hold to no better than {_certified_within(formulation, attempt.solver):.1e}"
        return InaccurateSolutionError(**about, cause=cause, remedy=f"{another}allow more repeats")
    if attempt.status == cp.OPTIMAL:
        cause = (
            f"the solver's objective {attempt.objective:.9g} differs from the evaluator's score {attempt.score:.9g} "
            f"by {attempt.disagreement:.1e}, more than {formulation.agreement:.0e}"
        )
        return InaccurateSolutionError(**about, cause=cause, remedy=f"{another}allow more repeats")
    cause = attempt.note if attempt.status == "error" else "the solver stopped without an optimum"
    return SolverFailedError(**about, cause=cause, remedy=f"{another}allow more iterations or a looser tolerance")


def _infeasible(formulation: DeclaredProgram, attempt: Attempt, options: SolverOptions) -> ProblemInfeasibleError:
    """Tell which constraints conflict: drop all requirements, then all but one, then one at a time."""
    about = {"formulation": formulation.name, "solver": attempt.solver, "status": attempt.status}

    def feasible(names: Sequence[str]) -> bool:
        status = run(formulation, formulation.with_requirements(names), attempt.solver, options)[0].status
        return status not in cp.settings.INF_OR_UNB

    requirements = tuple(formulation.requirements)
    if not requirements or not feasible(()):
        cause, remedy = formulation.infeasible_cause()
        return ProblemInfeasibleError(**about, cause=cause, remedy=remedy, constraints=())
    culprits: tuple[str, ...] = tuple(name for name in requirements if not feasible((name,)))
    together = not culprits
    if together:
        needed = list(requirements)
        for name in requirements:
            rest = [one for one in needed if one != name]
            if not feasible(rest):
                needed = rest
        culprits = tuple(needed)
    told = ", ".join(f'"{name}"' for name in culprits)
    cause = f"the constraint {told} cannot be met" + (" together" if together else "")
    cause += _how_far(formulation, culprits, together, attempt.solver, options)
    return ProblemInfeasibleError(**about, cause=cause, remedy="relax or withdraw it", constraints=culprits)


def _how_far(
    formulation: DeclaredProgram, culprits: Sequence[str], together: bool, solver: str, options: SolverOptions
) -> str:
    """Of each constraint what it asks for and what can be met, with the others in conflict held where they are."""

    def solves(problem: cp.Problem) -> bool:
        attempt, decision = run(formulation, problem, solver, options)
        return attempt.status == cp.OPTIMAL and decision is not None

    parts = []
    for name in culprits:
        others = [other for other in culprits if other != name] if together else []
        if far := shortfall(formulation, name, others, solves):
            parts.append(f'"{name}" {far}' if len(culprits) > 1 else f"it {far}")
    return f": {'with the others met, ' if together else ''}{'; '.join(parts)}" if parts else ""
