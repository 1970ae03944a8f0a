"""The certificate finds what is wrong: points off the constraints, multipliers off their cones, a gradient not 0."""

import cvxpy as cp
import numpy as np
import pytest

from formulations import DraftControl
from formulations.core.certificate import (
    _relative,
    _stationarity,
    _stationarity_by_trees,
    _weighted,
    certify,
)
from formulations.core.gradient import compiled_rows
from formulations.core.solve_checked import CERTIFIED_CURVED
from reports.crosscheck.random_scenarios import random_scenario
from tests.formulations.cells import RESIDUAL, S2


def small_problem() -> tuple[cp.Problem, cp.Variable, dict[str, cp.Constraint]]:
    """Every kind of constraint once, all of them active."""
    x = cp.Variable(5, name="x")
    constraints = {
        "exponential": cp.ExpCone(x[0], cp.Constant(1.0), cp.Constant(3.0)),
        "second-order": cp.SOC(cp.Constant(np.array([1.2])), cp.reshape(x[1:3], (2, 1), order="C")),
        "inequality": x[3] <= 0.25,
        "equality": x[3] + x[4] == 1.0,
    }
    problem = cp.Problem(cp.Maximize(np.array([1.0, 1.0, 2.0, 0.5, 0.2]) @ x), list(constraints.values()))
    problem.solve(solver="CLARABEL")
    return problem, x, constraints


def test_a_solved_problem_is_certified() -> None:
    assert certify(small_problem()[0], 0.0).worst < RESIDUAL


def test_a_moved_point_breaks_the_constraints() -> None:
    problem, x, _ = small_problem()
    x.value = x.value + np.array([0.0, 0.0, 0.0, 0.01, 0.0])
    certificate = certify(problem, 0.0)
    assert certificate.primal_residual == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("name", ["equality", "inequality", "second-order", "exponential"])
def test_a_wrong_multiplier_breaks_stationarity(name: str) -> None:
    problem, _, constraints = small_problem()
    constraint = constraints[name]
    for dual in constraint.dual_variables:
        dual.save_value(np.asarray(dual.value) + 0.1)
    certificate = certify(problem, 0.0)
    assert certificate.stationarity > 1e-2


def test_a_negative_multiplier_is_outside_its_cone() -> None:
    problem, _, constraints = small_problem()
    constraints["inequality"].dual_variables[0].save_value(np.array(-0.5))
    certificate = certify(problem, 0.0)
    assert certificate.dual_residual > 0.3


@pytest.mark.parametrize(("name", "part", "value"), [("second-order", 0, 0.1), ("exponential", 2, -0.2)])
def test_a_multiplier_outside_its_cone(name: str, part: int, value: float) -> None:
    problem, _, constraints = small_problem()
    dual = constraints[name].dual_variables[part]
    dual.save_value(np.full(np.shape(dual.value), value))
    certificate = certify(problem, 0.0)
    assert certificate.dual_residual > 0.1


def test_a_slack_constraint_with_a_multiplier_is_not_complementary() -> None:
    problem, x, constraints = small_problem()
    constraints["inequality"].dual_variables[0].save_value(np.array(2.0))
    x.value = x.value - np.array([0.0, 0.0, 0.0, 0.1, 0.0])
    certificate = certify(problem, 0.0)
    assert certificate.complementarity == pytest.approx(0.2, rel=0.1)


def test_integers_have_no_multipliers() -> None:
    n = cp.Variable(2, integer=True)
    problem = cp.Problem(cp.Maximize(cp.sum(n)), [n <= 2.5])
    problem.solve(solver="HIGHS")
    certificate = certify(problem, 0.0)
    assert certificate.stationarity is None
    assert certificate.worst == 0.0


@pytest.mark.parametrize("chords", [False, True])
def test_the_compiled_gradient_is_that_of_the_trees(chords: bool) -> None:
    program = DraftControl(random_scenario(1, devices=(5, 5)), chords=chords)
    for seed in (1, 2, 3):
        program.update(random_scenario(seed, devices=(5, 5)))
        program.solve("CLARABEL")
        problem = program.cvxpy
        for constraint in problem.constraints:  # away from the optimum, where the gradient is not 0
            for n, dual in enumerate(constraint.dual_variables):
                dual.save_value(np.asarray(dual.value) * (1.1 + 0.1 * n))
        slow = _stationarity_by_trees(_weighted(problem), problem.variables())
        assert slow > 1e-3
        for ignore_dpp in (False, True):
            assert _stationarity(problem, ignore_dpp) == pytest.approx(slow, rel=1e-9)


def test_jacobians_that_do_not_reproduce_the_values_are_not_used() -> None:
    problem, x, _ = small_problem()
    rows = compiled_rows(problem, [x[0] + 1.0])
    assert rows.jacobian(False) is not None
    object.__setattr__(rows, "expressions", (x[0] + 2.0,))
    assert rows.jacobian(False) is None


def test_convex_requirements_have_their_own_gradient() -> None:
    program = DraftControl(S2)
    free = program.solve("CLARABEL")
    program.require(cp.norm(program.variables["length"]) <= 1.3 * program.variables["s"], name="short")
    bound = program.solve("CLARABEL")
    assert bound.objective < free.objective
    assert bound.certificate.worst < CERTIFIED_CURVED


def test_relative_without_entries() -> None:
    assert _relative(np.zeros(0), np.zeros(0)) == 0.0
