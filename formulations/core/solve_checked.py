"""The one way to solve: only `optimal` is success, and only while the evaluator agrees.

A number comes back from solvers that gave up, and `optimal` from solvers that were misled by the units
(design section 4). So each solve ends in a `FormulationSolution` or in a typed error, after `passes`
solves in units estimated from the answer before and at most `max_repeats` recorded repeats.
"""

import functools
import importlib
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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
    SolverMissingError,
)
from msopt.errors import ParameterError, describe

CERTIFIED = 2.5e-7
"""Largest scaled KKT residual of a solution; above, objectives were seen off by 1e-6 in spite of the evaluator."""

CERTIFIED_CURVED = 5e-6
"""The same where a user's requirement is convex but not affine: its gradient is that of a point, good to the square
root of what a solver is; the declared programs are affine inside their cones."""

MODULES = {"ECOS": "ecos", "CLARABEL": "clarabel", "SCS": "scs", "HIGHS": "highspy"}
"""The solvers msopt uses, and the package each needs. ECOS_BB returns wrong optima: it is not among them."""

TOLERANCE_NAMES: dict[str, tuple[str, ...]] = {
    "ECOS": ("abstol", "reltol", "feastol"),
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "SCS": ("eps_abs", "eps_rel"),
    "HIGHS": ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"),
}
ITERATION_NAMES = {"ECOS": "max_iters", "CLARABEL": "max_iter", "SCS": "max_iters", "HIGHS": "mip_max_nodes"}
DEFAULT_TOLERANCES = {"ECOS": 1e-8, "CLARABEL": 3e-9, "SCS": 1e-9, "HIGHS": 1e-9}
DEFAULT_ITERATIONS = {"ECOS": 200, "CLARABEL": 200, "SCS": 100_000, "HIGHS": 10_000_000}

BISECTION_STEPS = 100
REPEAT_SETTINGS: dict[str, dict[str, float]] = {
    "ECOS": {"feastol": 2e-8},
    "CLARABEL": dict.fromkeys(TOLERANCE_NAMES["CLARABEL"], 1e-8) | {"max_step_fraction": 0.95},
}
"""What repeats may be content with: dual residuals often stall just above 1e-8 where the gap is long below. Shorter
steps keep away from the cones' edges, where progress ends."""
SMALLEST_SCORE = 1e-200


@dataclass(frozen=True, kw_only=True)
class SolverOptions:
    """One set of options for every solver.

    Attributes
    ----------
    tolerance : float or None
        Relative and absolute tolerance on gap and feasibility; None: 1e-8 for ECOS, 3e-9 for CLARABEL, 1e-9 else.
    max_iterations : int or None
        Iteration limit (nodes for mixed-integer problems); None: the solver's default here.
    max_repeats : int
        Further solves in new units, after the planned passes, before giving up.
    fallback : tuple of str
        Solvers to ask in turn when the first fails; each use is recorded in `attempts`.
    compile_once : bool
        Whether to compile the numbers in (`ignore_dpp`): faster for a single solve of a large problem.
    stationarity : bool
        Whether the certificate holds the Lagrangian's gradient; without it a first solve takes two thirds of the time.
    verbose : bool
        Whether the solver prints.
    extra : dict
        Further options by the solver's own names.
    """

    tolerance: float | None = None
    max_iterations: int | None = None
    max_repeats: int = 2
    fallback: tuple[str, ...] = ()
    compile_once: bool = False
    stationarity: bool = True
    verbose: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@functools.cache
def _swallow_banner() -> None:
    """Let HiGHS print its banner, once a process and past all its options, where nobody reads it."""
    highs = importlib.import_module("highspy")
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        highs.Highs()
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def check_solver(formulation: str, solver: str, allowed: Sequence[str]) -> str:
    """The solver's name in capitals, after checking that it is known, fit for the problem and installed."""
    name = solver.upper()
    if name == "ECOS_BB":
        raise ParameterError(f"solver ECOS_BB is refused: it returns wrong optima as optimal; {_choice(allowed)}")
    if name not in allowed:
        raise ParameterError(f"solver {describe(solver)} cannot solve {formulation}; {_choice(allowed)}")
    if not installed([name]):
        raise SolverMissingError(
            formulation=formulation,
            solver=name,
            status="not installed",
            cause=f"the package {MODULES[name]} is missing",
            remedy=f"pip install {MODULES[name]}" + (f", or {_choice(allowed)}" if installed(allowed) else ""),
        )
    if name == "HIGHS":
        _swallow_banner()
    return name


def installed(solvers: Sequence[str]) -> list[str]:
    """Those of some solvers whose packages are there."""
    return [solver for solver in solvers if importlib.util.find_spec(MODULES[solver]) is not None]


def _choice(allowed: Sequence[str]) -> str:
    """Which solvers to use: those that are there, else what to install."""
    found = installed(allowed)
    return f"use {' or '.join(found)}" if found else f"pip install {' or '.join(MODULES[name] for name in allowed)}"


def solver_settings(solver: str, options: SolverOptions, repeat: bool = False) -> dict[str, Any]:
    """The options by the names this solver gives them; repeats are let off with a little less."""
    tolerance = DEFAULT_TOLERANCES[solver] if options.tolerance is None else options.tolerance
    limit = DEFAULT_ITERATIONS[solver] if options.max_iterations is None else options.max_iterations
    if solver == "HIGHS":  # it refuses feasibility tolerances below 1e-10
        settings: dict[str, Any] = {name: max(tolerance, 1e-10) for name in TOLERANCE_NAMES[solver]}
        return settings | {
            "output_flag": options.verbose,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
            ITERATION_NAMES[solver]: limit,
        }
    settings = dict.fromkeys(TOLERANCE_NAMES[solver], tolerance) | {ITERATION_NAMES[solver]: limit}
    if repeat and options.tolerance is None:
        settings |= REPEAT_SETTINGS.get(solver, {})
    return settings


def bisection_settings(formulation: DeclaredProgram, options: SolverOptions) -> dict[str, Any]:
    """The options for CVXPY's bisection, which passes none on to the solver below it."""
    low, high, width = formulation.bracket
    return {
        "qcp": True,
        "low": low,
        "high": high,
        "eps": width if options.tolerance is None else max(width, options.tolerance),
        "max_iters": BISECTION_STEPS if options.max_iterations is None else options.max_iterations,
    }


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
    for place in range(formulation.passes + max(options.max_repeats, formulation.least_repeats)):
        repeat = place >= formulation.passes
        attempt, decision = run(formulation, formulation.cvxpy, solver, options, repeat)
        attempts.append(attempt)
        trusted = attempt.status == cp.OPTIMAL and attempt.disagreement <= formulation.agreement
        if trusted and decision is not None and place + 1 >= formulation.passes:
            solution = _solution(formulation, decision, attempts, options)
            if solution.certificate.kkt <= _certified_within(formulation):
                return solution
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
    formulation: DeclaredProgram, problem: cp.Problem, solver: str, options: SolverOptions, repeat: bool = False
) -> tuple[Attempt, Decision | None]:
    """Call a solver once; the decision is None where it returned no usable point."""
    settings = solver_settings(solver, options, repeat) | options.extra
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


def _certified_within(formulation: DeclaredProgram) -> float:
    return CERTIFIED if is_affine(formulation.cvxpy) else CERTIFIED_CURVED


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
        cause = f"the optimality conditions hold to no better than {_certified_within(formulation):.1e}"
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
