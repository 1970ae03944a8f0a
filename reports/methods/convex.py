"""Method `convex`: the relaxed problem as one conic program, solved through CVXPY, then the decomposition's rounding.

msopt itself knows no convex solver, so the method is added to its table here. cvxpy is loaded when it is asked for.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import msopt
from msopt import Control, Scenario, Solution
from msopt.lengths.heterogeneous import whole_optimum
from msopt.lengths.homogeneous import better_neighbour, per_token_optimum
from msopt.lengths.relaxed import RelaxedOptimum
from msopt.method import Method, Procedure
from msopt.methods import add
from msopt.model.problems import KINDS, Problem
from msopt.options import Options
from reports.methods.conic_needs import BOUND_RTOL, CONVEX, check_laws, need_cvxpy
from reports.methods.convex_variant import variant_procedure_of

if TYPE_CHECKING:
    from formulations import FormulationSolution

CONVEX_PROBLEMS: tuple[Problem, ...] = ("homogeneous", "heterogeneous")


def procedure_of(problem: Problem) -> Procedure:
    """What the method does for one of its problems.

    The procedure raises ParameterError for laws that no program takes, and SolveError where the solver failed; its text
    has status, cause and remedy.
    """

    def procedure(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
        del known_bound
        need_cvxpy(f"method {CONVEX}")
        found = _relaxed(scenario, problem, options.solver)
        return replace((_common if KINDS[problem].one_length else _each)(scenario, found), solver=found.solver)

    return procedure


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
        relaxed_goodput=found.objective,
        price_of_bandwidth=float(found.shadow_price("bandwidth").value),
    )


for _problem in CONVEX_PROBLEMS:
    add(
        Method(
            name=CONVEX,
            problem=_problem,
            procedure=procedure_of(_problem),
            role="conic",
            whose="ours",
            what="the relaxed problem as one conic program by CVXPY, rounded as decomposition rounds",
            label=CONVEX,
            colour="yellow",
            marker="h",
            line=(0, (8, 2)),
            of_variant=variant_procedure_of(_problem),
        )
    )
