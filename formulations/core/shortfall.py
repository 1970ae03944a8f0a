"""How far a requirement that cannot be met is from one that can: the nearest bound within reach."""

from collections.abc import Callable, Sequence

import cvxpy as cp
import numpy as np

from formulations.core.declared import DeclaredProgram
from formulations.core.quantity import Requirement

PRECISION = 1e-5
"""Of the nearest bound, relative to it: four digits are shown."""

MOST_HALVINGS = 60
_ASKED = {">=": "at least", "<=": "at most", "==": "exactly"}
_LIMIT = {">=": "the most", "<=": "the least"}

Solves = Callable[[cp.Problem], bool]
"""Whether a solver found a point of a problem."""


def shortfall(formulation: DeclaredProgram, name: str, kept: Sequence[str], solves: Solves) -> str:
    """What a requirement asks for and the nearest that can be met beside the requirements kept; "" where none is known.

    The bound gives way by equal amounts for all devices, found by bisection between what was asked for and what some
    point has. Not for a CVXPY constraint of the user's own, whose units are unknown, nor for a problem that is solved
    by bisection itself.
    """
    given = formulation.requirements[name]
    if formulation.quasiconvex or not isinstance(given, Requirement):
        return ""
    for sense in ("<=", ">=") if given.sense == "==" else (given.sense,):
        one = Requirement(quantity=given.quantity, sense=sense, bound=given.bound)
        short = _least_excess(one, formulation, kept, solves)
        if short is not None and short > 0.0:
            return f"asks for {_told(one, given.sense, short)}"
    return ""


def _told(one: Requirement, sense: str, short: float) -> str:
    unit, bounds = one.quantity.unit, np.unique(one.bound)
    if bounds.size > 1:
        return f"{short:.4g} {unit} too {'much' if one.sense == '>=' else 'little'}"
    limit = float(np.unique(one.gives_way(short))[0])
    return f"{_ASKED[sense]} {bounds[0]:.6g} {unit}, and about {limit:.4g} is {_LIMIT[one.sense]}"


def _least_excess(one: Requirement, formulation: DeclaredProgram, kept: Sequence[str], solves: Solves) -> float | None:
    """By how much the bound has to give way [SI unit]; None where no point was found at all."""
    if not solves(formulation.with_requirements(kept)):
        return None
    low, high = 0.0, one.excess()
    problem = formulation.with_requirements(kept, one.constraint)
    for _ in range(MOST_HALVINGS):
        nearest = float(np.min(np.abs(one.gives_way(high))))
        if high - low <= PRECISION * max(nearest, PRECISION * high):
            break
        middle = 0.5 * (low + high)
        one.refresh(middle)
        if solves(problem):
            high = max(low, min(middle, one.excess()))
        else:
            low = middle
    return high
