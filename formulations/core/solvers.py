"""The solvers: which there are and are installed, and one set of options by the names each gives them."""

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cvxpy.constraints import PowCone3D

from formulations.core.declared import DeclaredProgram, NamedConstraint
from formulations.core.solver_errors import SolverMissingError
from msopt.errors import ParameterError, describe

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
    "CLARABEL": dict.fromkeys(TOLERANCE_NAMES["CLARABEL"], 1e-8) | {"max_step_fraction": 0.8},
}
"""What repeats may be content with: dual residuals often stall just above 1e-8 where the gap is long below. Shorter
steps keep away from the cones' edges, where progress ends."""

REFUSED_SETTINGS = REPEAT_SETTINGS | {"ECOS": {"abstol": 1e-9, "reltol": 1e-9, "feastol": 2e-8}}
"""The same after a point that the solver called optimal and the certificate did not: many cones' gaps add up."""


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


def solvers_for(constraints: Iterable[NamedConstraint], solvers: Sequence[str]) -> tuple[str, ...]:
    """Those of some solvers that take the cones of some constraints: ECOS has no power cone."""
    power = any(isinstance(one.constraint, PowCone3D) for one in constraints)
    return tuple(name for name in solvers if not (power and name == "ECOS"))


def installed(solvers: Sequence[str]) -> list[str]:
    """Those of some solvers whose packages are there."""
    return [solver for solver in solvers if importlib.util.find_spec(MODULES[solver]) is not None]


def _choice(allowed: Sequence[str]) -> str:
    """Which solvers to use: those that are there, else what to install."""
    found = installed(allowed)
    return f"use {' or '.join(found)}" if found else f"pip install {' or '.join(MODULES[name] for name in allowed)}"


def solver_settings(solver: str, options: SolverOptions, repeat: bool = False, refused: bool = False) -> dict[str, Any]:
    """The options by the names this solver gives them; repeats are let off with a little less, or asked for more."""
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
        settings |= (REFUSED_SETTINGS if refused else REPEAT_SETTINGS).get(solver, {})
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
