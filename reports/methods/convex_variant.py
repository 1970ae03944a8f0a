"""Method `convex` for variants: another utility and further limits in the one conic program (design section 7).

Its optimum over real lengths bounds the utility and prices the limits; the control is the best rounding.
"""

import itertools
from typing import TYPE_CHECKING

import numpy as np

from msopt import Control, InfeasibleError, ParameterError, Scenario, Solution
from msopt.arrays import FloatArray
from msopt.evaluation import Evaluation, score
from msopt.lengths.relaxed import length_split
from msopt.method import VariantProcedure
from msopt.model.objective import GOODPUT, Sum
from msopt.model.problems import KINDS, Problem
from msopt.options import Options
from msopt.variants.lengths_of_variants import round_lengths, solve_common_length
from msopt.variants.variant import Variant
from reports.methods.conic_needs import BOUND_RTOL, CONVEX, check_laws, need_cvxpy

if TYPE_CHECKING:
    from formulations import FormulationSolution

_ALL_ROUNDINGS = 10
"""Devices up to which every rounding is tried where no table of actions takes the variant."""


def variant_procedure_of(problem: Problem) -> VariantProcedure:
    """What the method does for variants of one of its problems.

    The procedure raises ParameterError for what no program takes, InfeasibleError where no control keeps the limits,
    and SolveError where the solver failed.
    """

    def procedure(scenario: Scenario, variant: Variant, options: Options) -> Solution:
        need_cvxpy(f"method {CONVEX}")
        found = conic_optimum(scenario, variant, problem, options.solver)
        control = _rounded(scenario, variant, problem, found["draft_length"])
        evaluation = score(scenario, control, None, variant)
        evaluation.require_feasible()
        bound = _bound(variant, found)
        plain = isinstance(variant.utility, Sum)
        return Solution.of(
            scenario,
            control,
            evaluation,
            bound if plain else None,
            proven=True,
            utility_bound=max(bound, evaluation.utility_value),
            limit_prices=_prices(variant, found),
            relaxed_goodput=found.objective if plain else None,
            price_of_bandwidth=float(found.shadow_price("bandwidth").value) if plain else None,
            solver=found.solver,
            warnings=_left_out(variant),
        )

    return procedure


def check_stated(scenario: Scenario, variant: Variant) -> None:
    """Raise ParameterError for the first part of a variant that no program states, by what it says of itself."""
    check_laws(scenario)
    fault = ""
    if scenario.round_trip_s is not None and np.any(scenario.round_trip_s > 0.0):
        fault = "round_trip_s"
    elif scenario.padded_batches and scenario.verify_per_token_s > 0.0:
        fault = "padded_batches"
    elif not variant.utility.conic:
        fault = f"utility {variant.utility.name}"
    else:
        fault = next((f"limit {limit.name}" for limit in variant.limits if limit.in_program == "none"), "")
    if fault:
        raise ParameterError(f"method {CONVEX} has no convex program for {fault}; use decomposition or exact")


def conic_optimum(scenario: Scenario, variant: Variant, problem: Problem, solver: str | None) -> "FormulationSolution":
    """The optimum over real lengths, with the limits that a program states.

    Raises
    ------
    ParameterError, FormulationError
        For a variant that no program bounds, or whose form for a program fails.
    SolveError
        Where the solver failed; an InfeasibleError where no point keeps the limits.
    """
    from formulations import DraftControl

    check_stated(scenario, variant)
    program = DraftControl(scenario, common=KINDS[problem].one_length)
    if variant.utility is not GOODPUT:
        program.maximise(variant.utility)
    for limit in variant.limits:
        if limit.in_program == "exact":
            program.require(limit)
    solution: FormulationSolution = program.solve(solver)
    return solution


def _left_out(variant: Variant) -> tuple[str, ...]:
    return tuple(
        f"limit {limit.name} is left out of the conic program: the bound and the prices are those without it"
        for limit in variant.limits
        if limit.in_program == "relaxed"
    )


def _bound(variant: Variant, found: "FormulationSolution") -> float:
    """The optimum, raised by what it is trusted to."""
    best = max(found.objective, found.solver_objective)
    return max(variant.utility.scaled(best, 1.0 + BOUND_RTOL), best + BOUND_RTOL * abs(best))


def _prices(variant: Variant, found: "FormulationSolution") -> dict[str, FloatArray]:
    """What each unit brings by which a limit gives way [unit of the utility per unit of the limit]."""
    return {
        limit.name: np.asarray(found.shadow_price(limit.name).value) * (-1.0 if limit.sense == ">=" else 1.0)
        for limit in variant.limits
        if limit.in_program == "exact"
    }


def _rounded(scenario: Scenario, variant: Variant, problem: Problem, real: FloatArray) -> Control:
    if not (variant.utility.tabular and all(limit.tabular for limit in variant.limits)):
        return _best_of_roundings(scenario, variant, problem, real)
    if KINDS[problem].one_length:
        ends = int(np.floor(real[0])), int(np.ceil(real[0]))
        try:
            return solve_common_length(scenario, variant, lengths=ends)[0]
        except InfeasibleError:
            return solve_common_length(scenario, variant)[0]
    return round_lengths(scenario, variant, real)


def _best_of_roundings(scenario: Scenario, variant: Variant, problem: Problem, real: FloatArray) -> Control:
    """The best of the roundings with their quickest shares: all of few devices, else those in order of what is cut."""
    best: tuple[Evaluation, Control] | None = None
    for up in _choices(real - np.floor(real), KINDS[problem].one_length):
        lengths = (np.floor(real) + up).astype(np.int64)
        _, share = length_split(scenario, lengths.astype(float))
        control = Control(problem=problem, draft_length=lengths, bandwidth_hz=share)
        evaluation = score(scenario, control, None, variant)
        kept = all(slack.violation == 0.0 for slack in evaluation.slacks)
        if kept and (best is None or evaluation.utility_value > best[0].utility_value):
            best = evaluation, control
    if best is None:
        raise InfeasibleError("no rounding of the conic optimum keeps all limits")
    return best[1]


def _choices(fraction: FloatArray, together: bool) -> list[FloatArray]:
    """Who is rounded up, as 0 and 1."""
    whole = fraction <= 0.0
    if together:
        return [np.zeros(fraction.shape), np.where(whole, 0.0, 1.0)]
    if np.count_nonzero(~whole) <= _ALL_ROUNDINGS:
        ends = ((0.0,) if is_whole else (0.0, 1.0) for is_whole in whole)
        return [np.array(one) for one in itertools.product(*ends)]
    order = np.argsort(-fraction, kind="stable")
    return [np.isin(np.arange(fraction.size), order[:count]).astype(float) for count in range(fraction.size + 1)]
