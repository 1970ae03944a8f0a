"""`solve`: every problem and method behind one call."""

from dataclasses import replace

from msopt.cautions import cautions
from msopt.errors import ParameterError, describe
from msopt.methods import METHODS
from msopt.model.scenario import PROBLEMS, Problem, Scenario
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
        One of `METHODS[problem]`.
    bound : float, optional
        A goodput that no control of the problem exceeds [token/s], such as the `bound` of a better method: a
        baseline, which proves nothing itself, then has that bound and computes none.
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
    if problem not in METHODS:
        raise ParameterError(f"problem = {describe(problem)} is not one of {', '.join(PROBLEMS)}")
    if method not in METHODS[problem]:
        raise ParameterError(
            f"method = {describe(method)} does not solve problem {problem}; allowed are {', '.join(METHODS[problem])}"
        )
    solution = METHODS[problem][method](scenario, checked_options(method, options), bound)
    return replace(solution, method=method, warnings=cautions(solution))
