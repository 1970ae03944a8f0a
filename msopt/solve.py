"""`solve`: every problem and method behind one call."""

from dataclasses import replace

from msopt.cautions import cautions
from msopt.methods import method_of
from msopt.model.scenario import Problem, Scenario
from msopt.options import checked_options
from msopt.solution import Solution


def solve(
    scenario: Scenario,
    problem: Problem = "heterogeneous",
    method: str = "decomposition",
    *,
    bound: float | None = None,
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
    **options
        Fields of `Options`.

    Returns
    -------
    Solution
        Its goodput is that of the whole control returned, scored by `evaluate`.

    Raises
    ------
    ParameterError
        For an unknown problem, method or option, or one that does not go with the method.
    MsoptError
        Where a control has more goodput than the bound.
    """
    procedure = method_of(problem, method).procedure
    solution = procedure(scenario, checked_options(method, options, problem), bound)
    return replace(solution, method=method, warnings=cautions(solution))
