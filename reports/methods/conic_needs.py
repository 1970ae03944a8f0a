"""What method `convex` needs of the machine and of a scenario, and how far its optima are trusted."""

import importlib.util

from msopt import ParameterError, Scenario

CONVEX = "convex"
BOUND_RTOL = 1e-6
"""A conic optimum is trusted to this (formulations.registry.OBJECTIVE_RTOL), so a bound made of it is raised by it."""


def need_cvxpy(what: str) -> None:
    """Raise ParameterError where CVXPY is not installed."""
    if importlib.util.find_spec("cvxpy") is None:
        raise ParameterError(f"{what} needs CVXPY, which is not installed; pip install 'msopt[formulations]'")


def check_laws(scenario: Scenario) -> None:
    """Raise ParameterError where some laws are geometric and some piecewise linear."""
    laws = scenario.acceptance
    piecewise = [curve is not None or std > 0.0 for curve, std in zip(laws.curves, laws.std, strict=True)]
    if any(piecewise) and not all(piecewise):
        raise ParameterError(
            f"method {CONVEX} has no one program for devices with the geometric law beside devices with measured "
            "curves or deviations; use decomposition"
        )
