"""`solve`: every problem and method behind one call."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from msopt.arrays import IntArray
from msopt.cautions import cautions
from msopt.errors import ParameterError
from msopt.methods import method_of, methods_of
from msopt.model.control_limit import ControlLimit
from msopt.model.objective import Utility
from msopt.model.scenario import PROBLEMS, Problem, Scenario
from msopt.options import checked_options
from msopt.solution import Solution
from msopt.variants.variant import Variant

_LOG = logging.getLogger(__name__)


def solve(
    scenario: Scenario,
    problem: Problem = "heterogeneous",
    method: str = "decomposition",
    *,
    bound: float | None = None,
    utility: Utility | None = None,
    limits: Sequence[ControlLimit] = (),
    start: Solution | None = None,
    **options: object,
) -> Solution:
    """Solve one problem of a scenario by one method.

    Parameters
    ----------
    scenario : Scenario
    problem : "homogeneous", "heterogeneous" or "modes"
    method : str
        One of `METHODS[problem]`, or what was added to them (`msopt.methods.add`).
    bound : float, optional
        A goodput that no control of the problem, corrected in the same way, exceeds [token/s], such as the `bound` of
        a better method: a baseline, which proves nothing itself, then has that bound and computes none.
    utility : Utility, optional
        What is maximised in place of the goodput, or of what the scenario's own variant asks for.
    limits : sequence of ControlLimit
        Beside the scenario's.
    start : Solution, optional
        Of a neighbouring scenario with as many devices: methods `decomposition` and `exact` of problem `heterogeneous`
        begin with its lengths, too, so that theirs are never worse.
    **options
        Fields of `Options`.

    Returns
    -------
    Solution
        Its goodput is that of the whole control returned, scored by `evaluate`.

    Raises
    ------
    ParameterError
        For an unknown problem, method or option, or one that does not go with the method; for a variant where the
        method solves the papers' problems alone.
    InfeasibleError
        Where no control keeps all limits.
    MsoptError
        Where a control has more goodput than the bound.
    """
    record, chosen = method_of(problem, method), checked_options(method, options, problem)
    if start is not None:
        chosen = replace(chosen, start_length=_start_length(scenario, start))
    variant = Variant.of(scenario, utility, limits)
    if variant.plain:
        solution = record.procedure(scenario, chosen, bound)
    elif record.of_variant is not None:
        solution = record.of_variant(scenario, variant, chosen)
    else:
        raise ParameterError(_papers_alone(problem, method, scenario))
    solution = replace(solution, method=method, warnings=(*variant.remarks, *solution.warnings, *cautions(solution)))
    _LOG.info("%r", solution)
    return solution


def _start_length(scenario: Scenario, start: Solution) -> IntArray:
    if start.control is None or start.control.draft_length.shape != (scenario.device_count,):
        raise ParameterError(f"start: a solution with a control for {scenario.device_count} devices is needed")
    return start.control.draft_length


def _papers_alone(problem: Problem, method: str, scenario: Scenario) -> str:
    """What to say of a variant that a method does not take."""
    takers = [(kind, each.name) for kind in PROBLEMS for each in methods_of(kind) if each.of_variant is not None]
    kinds, names = (list(dict.fromkeys(part)) for part in zip(*takers, strict=True))
    asked = f" ({', '.join(scenario.variant_fields)})" if scenario.variant_fields else ""
    return (
        f"method {method} of problem {problem} takes no variant{asked}; {', '.join(names)} of {' and '.join(kinds)} do"
    )
