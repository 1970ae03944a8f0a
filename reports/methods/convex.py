"""Method `convex`: the relaxed problem as one conic program, solved through CVXPY, then the decomposition's rounding.

msopt itself knows no convex solver, so the method is the command line's own. cvxpy is loaded when it is asked for.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import msopt
from msopt import Control, ParameterError, Scenario, Solution
from msopt.cautions import cautions
from msopt.errors import describe
from msopt.lengths.heterogeneous import whole_optimum
from msopt.lengths.homogeneous import better_neighbour, per_token_optimum
from msopt.lengths.relaxed import RelaxedOptimum
from msopt.model.problems import KINDS, Problem
from msopt.options import checked_options

if TYPE_CHECKING:
    from formulations import FormulationSolution

CONVEX = "convex"
CONVEX_PROBLEMS: tuple[Problem, ...] = ("homogeneous", "heterogeneous")
BOUND_RTOL = 1e-6
"""A conic optimum is trusted to this (formulations.registry.OBJECTIVE_RTOL), so a bound made of it is raised by it."""


def methods_of(problem: Problem) -> list[str]:
    """Every method of a problem that the command line knows, the default first."""
    return [*msopt.METHODS[problem], *([CONVEX] if problem in CONVEX_PROBLEMS else [])]


def need_cvxpy(what: str) -> None:
    """Raise ParameterError where CVXPY is not installed."""
    if importlib.util.find_spec("cvxpy") is None:
        raise ParameterError(f"{what} needs CVXPY, which is not installed; pip install 'msopt[formulations]'")


def solve_problems(
    scenario: Scenario,
    problems: Sequence[Problem],
    method: str,
    options: Mapping[str, Any],
    solver: str | None = None,
) -> list[Solution]:
    """The solutions of one method; a method that one of several problems lacks is an error before any is solved."""
    lacking = [problem for problem in problems if method not in methods_of(problem)]
    if lacking and len(problems) > 1:
        shared = [name for name in methods_of(lacking[0]) if all(name in methods_of(each) for each in problems)]
        raise ParameterError(
            f"method = {describe(method)} does not solve problem {lacking[0]}; "
            f"all of them are solved by {', '.join(shared)}"
        )
    return [solve(scenario, problem, method, options, solver) for problem in problems]


def solve(
    scenario: Scenario, problem: Problem, method: str, options: Mapping[str, Any], solver: str | None = None
) -> Solution:
    """`msopt.solve`, method `convex` included.

    Parameters
    ----------
    scenario, problem, method
        As `msopt.solve` takes them.
    options : mapping
        Fields of `msopt.options.Options`.
    solver : str, optional
        For method `convex` only.

    Raises
    ------
    ParameterError
        For what does not go together, and for laws that no program takes.
    SolveError
        Where the solver failed; its text has status, cause and remedy.
    """
    if method not in methods_of(problem):
        raise ParameterError(
            f"method = {describe(method)} does not solve problem {problem}; "
            f"allowed are {', '.join(methods_of(problem))}"
        )
    if method != CONVEX:
        if solver is not None:
            raise ParameterError(f"option solver goes with method {CONVEX}, not with {method}")
        return msopt.solve(scenario, problem, method, **options)
    checked_options(method, dict(options))
    need_cvxpy(f"method {CONVEX}")
    found = _relaxed(scenario, problem, solver)
    solution = (_common if KINDS[problem].one_length else _each)(scenario, found)
    return replace(solution, method=CONVEX, solver=found.solver, warnings=cautions(solution))


def check_laws(scenario: Scenario) -> None:
    """Raise ParameterError where some laws are geometric and some piecewise linear."""
    laws = scenario.acceptance
    piecewise = [curve is not None or std > 0.0 for curve, std in zip(laws.curves, laws.std, strict=True)]
    if any(piecewise) and not all(piecewise):
        raise ParameterError(
            f"method {CONVEX} has no one program for devices with the geometric law beside devices with measured "
            "curves or deviations; use decomposition"
        )


def _relaxed(scenario: Scenario, problem: Problem, solver: str | None) -> "FormulationSolution":
    check_laws(scenario)

    from formulations import DraftControl

    solution: FormulationSolution = DraftControl(scenario, common=KINDS[problem].one_length).solve(solver)
    return solution


def _each(scenario: Scenario, found: "FormulationSolution") -> Solution:
    price = float(found.shadow_price("bandwidth").value)
    relaxed = RelaxedOptimum(
        found["draft_length"], found["bandwidth_hz"], float(found["deadline_s"]), found.objective, price
    )
    best = whole_optimum(scenario, relaxed)
    control = Control(problem="heterogeneous", draft_length=best.draft_length, bandwidth_hz=best.bandwidth_hz)
    return _scored(scenario, control, best.bound, found)


def _common(scenario: Scenario, found: "FormulationSolution") -> Solution:
    """The better whole neighbour of the common length, with the split of Lemma 1."""
    theta, share = per_token_optimum(scenario)
    real = float(found["draft_length"][0])
    best = better_neighbour(scenario, theta, real, scenario.length_limits("homogeneous"))
    whole = np.full(scenario.device_count, best, dtype=np.int64)
    control = Control(problem="homogeneous", draft_length=whole, bandwidth_hz=share)
    bound = found.objective * (1.0 + BOUND_RTOL)
    return replace(_scored(scenario, control, bound, found), per_token_s=theta)


def _scored(scenario: Scenario, control: Control, bound: float, found: "FormulationSolution") -> Solution:
    return Solution.of(
        scenario,
        control,
        msopt.evaluate(scenario, control),
        bound,
        method=CONVEX,
        relaxed_goodput=found.objective,
        price_of_bandwidth=float(found.shadow_price("bandwidth").value),
    )
