"""No number passes for an answer: statuses, disagreement, infeasibility, missing solvers, fallbacks, options."""

import contextlib
import dataclasses
import importlib.util
import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from formulations import (
    BandwidthMinMax,
    DownlinkPower,
    DraftControl,
    FormulationError,
    InaccurateSolutionError,
    LengthsAtDeadline,
    ProblemInfeasibleError,
    ProblemUnboundedError,
    SolveError,
    SolverFailedError,
    SolverMissingError,
    SolverOptions,
)
from formulations.core import solve_checked
from formulations.core.solvers import solver_settings
from msopt.errors import InfeasibleError, MsoptError, ParameterError
from msopt.variants.variant import Variant
from reports.crosscheck.random_scenarios import random_scenario
from reports.crosscheck.variant_checks import cells_of
from reports.methods.convex_variant import conic_optimum
from tests.formulations.cells import OBJECTIVE_RTOL, S2


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """As where they are not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in modules else find(name, *rest))


@pytest.mark.parametrize(("solver", "limit"), [("CLARABEL", 2), ("ECOS", 2), ("SCS", 3)])
def test_an_iteration_limit_is_a_failure_that_quotes_the_status(solver: str, limit: int) -> None:
    with pytest.raises(SolverFailedError) as caught:
        DraftControl(S2).solve(solver, SolverOptions(max_iterations=limit))
    error = caught.value
    assert isinstance(error, MsoptError)
    assert error.exit_code == 3
    assert error.status in str(error)
    assert error.status != "optimal"
    assert error.remedy in str(error)
    assert "\n" not in str(error)
    assert len(error.attempts) == 4


def test_optimal_is_not_believed_when_the_evaluator_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    program = DraftControl(S2)
    scored = DraftControl.score
    monkeypatch.setattr(DraftControl, "score", lambda self, decision: 1.00001 * scored(self, decision))
    with pytest.raises(InaccurateSolutionError, match="differs from the evaluator's score") as caught:
        program.solve("CLARABEL")
    assert caught.value.status == "optimal"


def test_a_score_that_is_not_finite_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DraftControl, "score", lambda self, decision: -np.inf)
    with pytest.raises(InaccurateSolutionError):
        DraftControl(S2).solve("CLARABEL")


@pytest.mark.parametrize(
    ("kind", "variable", "decided", "budget"),
    [
        (BandwidthMinMax, "bandwidth", "bandwidth_hz", S2.uplink_bandwidth_hz),
        (DownlinkPower, "power", "downlink_power_w", S2.downlink_power_w),
    ],
)
def test_what_a_solver_leaves_a_hair_outside_is_within_before_it_is_scored(
    kind: Any, variable: str, decided: str, budget: float
) -> None:
    """Shares a hair below 0 and a budget overrun of 2e-6 under the status optimal are ends of first-order solvers."""
    program = kind(S2)
    program.solve("CLARABEL")
    off = np.array([-1e-7 * budget, budget * (1.0 + 2e-6)]) / getattr(program, decided).value
    program.variables[variable].save_value(program.variables[variable].value * off)
    decision = program.decision()
    assert decision[decided] == pytest.approx([0.0, budget], rel=1e-12)
    assert np.sum(decision[decided]) <= budget


def test_optimal_is_not_believed_without_the_optimality_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_checked, "CERTIFIED", 1e-14)
    with pytest.raises(InaccurateSolutionError, match="optimality conditions") as caught:
        DraftControl(S2).solve("CLARABEL")
    assert len(caught.value.attempts) == 4


@pytest.mark.parametrize(("name", "seed"), [("weighted-sum", 300_003), ("alpha-fair", 300_003)])
def test_a_refused_point_is_asked_for_again_with_a_smaller_gap(name: str, seed: int) -> None:
    """Three devices; in the same tolerance each of ECOS's four points was optimal to it and refused."""
    cell = cells_of(f"variant {name}", 4, seed - 3)[3]
    found = {solver: conic_optimum(cell, Variant.of(cell), "heterogeneous", solver) for solver in ("ECOS", "CLARABEL")}
    assert [(one.status, one.note) for one in found["ECOS"].attempts] == [("optimal", "")] * 2 + [("optimal", "repeat")]
    assert found["ECOS"].objective == pytest.approx(found["CLARABEL"].objective, rel=1e-6)


@pytest.mark.parametrize("seed", [200_039, 402_457])
def test_an_optimum_whose_residuals_hide_more_than_the_tolerance_is_refused(seed: int) -> None:
    """Power-limited devices: points of ECOS with residuals of 1e-7 and 7.5e-8 lie 1.1e-6 and 1.3e-6 off."""
    cell = random_scenario(seed, uplink_sharing="power-limited")
    best = DraftControl(cell, common=True).solve("CLARABEL").objective
    found = []
    with contextlib.suppress(InaccurateSolutionError, SolverFailedError):
        found.append(DraftControl(cell, common=True).solve("ECOS").objective)
    assert found == pytest.approx([best] * len(found), rel=1e-6)


@pytest.mark.parametrize("solver", ["ECOS_BB", "ecos_bb"])
def test_ecos_bb_is_refused(solver: str) -> None:
    with pytest.raises(ParameterError, match="ECOS_BB is refused"):
        DraftControl(S2).solve(solver)


@pytest.mark.parametrize("solver", ["HIGHS", "GUROBI", ""])
def test_unfit_solvers_are_refused_with_the_choice(solver: str) -> None:
    with pytest.raises(ParameterError, match="use ECOS or CLARABEL or SCS"):
        DraftControl(S2).solve(solver)


def test_a_missing_solver_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "scs")
    with pytest.raises(SolverMissingError, match="pip install scs") as caught:
        DraftControl(S2).solve("SCS")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "solver", "told"),
    [
        (("scs",), "SCS", "pip install scs, or use ECOS or CLARABEL"),
        (("scs", "ecos"), "SCS", "pip install scs, or use CLARABEL"),
        (("scs", "ecos", "clarabel"), "SCS", "pip install scs"),
        (("ecos",), "GUROBI", "cannot solve draft-control; use CLARABEL or SCS"),
        (("ecos",), "ECOS_BB", "it returns wrong optima as optimal; use CLARABEL or SCS"),
        (("scs", "ecos", "clarabel"), "ECOS_BB", "as optimal; pip install ecos or clarabel or scs"),
    ],
)
def test_only_solvers_that_are_there_are_offered(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], solver: str, told: str
) -> None:
    hide(monkeypatch, *missing)
    with pytest.raises(MsoptError) as caught:
        DraftControl(S2).solve(solver)
    assert str(caught.value).endswith(told)


def test_a_failed_solver_names_another_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "scs")
    with pytest.raises(SolverFailedError, match="try CLARABEL, or allow more iterations"):
        DraftControl(S2).solve("ECOS", SolverOptions(max_iterations=1))


def test_a_fallback_is_recorded() -> None:
    solution = DraftControl(S2).solve("SCS", SolverOptions(max_iterations=50, fallback=("CLARABEL",)))
    assert solution.fell_back
    assert solution.solver == "CLARABEL"
    asked = [attempt.solver for attempt in solution.attempts]
    assert asked[:4] == ["SCS"] * 4
    assert set(asked[4:]) == {"CLARABEL"}
    assert solution.objective == pytest.approx(18.6189740585, rel=OBJECTIVE_RTOL)


def test_no_fallback_unasked() -> None:
    solution = DraftControl(S2).solve("ECOS")
    assert not solution.fell_back
    assert len(solution.attempts) == DraftControl.passes


def test_one_option_has_each_solvers_name() -> None:
    options = SolverOptions(tolerance=1e-7, max_iterations=17)
    assert solver_settings("ECOS", options) == {"abstol": 1e-7, "reltol": 1e-7, "feastol": 1e-7, "max_iters": 17}
    assert solver_settings("CLARABEL", options)["max_iter"] == 17
    assert solver_settings("CLARABEL", options)["tol_gap_rel"] == 1e-7
    assert solver_settings("SCS", options) == {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 17}
    assert solver_settings("HIGHS", options)["mip_feasibility_tolerance"] == 1e-7


def test_a_requirement_that_cannot_be_met_is_named() -> None:
    program = DraftControl(S2)
    program.require(program.bandwidth_hz[0] >= 1e6, name="a megahertz")
    program.require(program.draft_length[0] >= 20, name="twenty tokens")
    with pytest.raises(ProblemInfeasibleError, match='"twenty tokens"') as caught:
        program.solve()
    assert caught.value.constraints == ("twenty tokens",)
    assert isinstance(caught.value, InfeasibleError)


def most_of_the_first_device() -> float:
    """S2's first device at its best length while the second drafts one token [token/s], by two nested searches."""

    def loss(length: float) -> float:
        bits, e = 17 + 33792, np.log2(1.0 + 10.0 ** np.array([1.0, -0.5]))
        lengths, busy = np.array([length, 1.0]), np.array([0.02 * length, 0.04])

        def used(deadline: float) -> float:
            return float(np.sum(lengths * bits / e / (deadline - busy))) - 20e6

        deadline = brentq(used, np.max(busy) + 1e-6, 100.0, xtol=1e-14)
        tokens = (1.0 - 0.8 ** (length + 1.0)) / 0.2
        return -tokens / (deadline + 0.2 + 1e-4 * (length + 1.0 + 2.0))

    return -float(minimize_scalar(loss, bounds=(1.0, 16.0), method="bounded", options={"xatol": 1e-10}).fun)


def test_a_floor_tells_how_far_off_it_is() -> None:
    most = most_of_the_first_device()
    assert f"{most:.4g}" == "12.2"
    program = DraftControl(S2)
    program.require(program.device_goodput[0] >= 1000.0, name="floor")
    with pytest.raises(
        ProblemInfeasibleError, match=r'"floor" .* it asks for at least 1000 token/s, and about 12\.2 is'
    ):
        program.solve()
    program.withdraw("floor")
    program.require(program.device_goodput[0] >= 0.999 * most, name="floor")
    assert program.solve()["draft_length"][0] > 1.0


REACHED = {
    "the longest draft": (lambda p: p.draft_length[0] >= 20, "at least 20 token, and about 16 is the most"),
    "exactly": (lambda p: p.draft_length[0] == 20, "exactly 20 token, and about 16 is the most"),
    "fewer than the least": (lambda p: p.draft_length.sum() <= 1, "at most 1 token, and about 2 is the least"),
    "exactly too few": (lambda p: p.draft_length.sum() == -2, "exactly -2 token, and about 2 is the least"),
    "the band": (lambda p: p.bandwidth_hz.sum() >= 3e7, "at least 3e\\+07 Hz, and about 2e\\+07 is the most"),
    "unlike bounds": (lambda p: p.draft_length >= np.array([2.0, 20.0]), "4 token too much"),
    "all of them": (lambda p: p.draft_length <= 0.25, "at most 0.25 token, and about 1 is the least"),
}


@pytest.mark.parametrize("kind", REACHED)
def test_every_bound_tells_how_far_off_it_is(kind: str) -> None:
    requirement, told = REACHED[kind]
    program = DraftControl(S2)
    program.require(requirement(program))
    with pytest.raises(ProblemInfeasibleError, match=f"it asks for {told} "):
        program.solve()


def test_bounds_in_conflict_tell_what_the_others_leave() -> None:
    """Twelve tokens of 20 ms and the other device's one: what remains is the time to send them."""
    program = DraftControl(S2)
    program.require(program.draft_length[0] >= 12, name="long")
    program.require(program.deadline_s <= 0.2, name="soon")
    told = r'with the others met, "long" asks for at least 12 token, and about (9\.\d+) is the most; "soon" asks for'
    with pytest.raises(
        ProblemInfeasibleError, match=told + r" at most 0\.2 s, and about (0\.\d+) is the least"
    ) as caught:
        program.solve()
    longest, soonest = (float(number) for number in re.findall(r"about ([\d.]+)", str(caught.value)))
    for name, requirement in (
        ("long", program.draft_length[0] >= longest * 0.999),
        ("soon", program.deadline_s <= soonest * 1.001),
    ):
        kept = program.requirements[name]
        program.withdraw(name)
        program.require(requirement, name=name)
        program.solve()
        program.withdraw(name)
        program.require(kept, name=name)


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
def test_requirements_that_conflict_are_all_named(solver: str) -> None:
    program = DraftControl(S2)
    program.require(program.draft_length[0] >= 12, name="long")
    program.require(program.deadline_s <= 0.2, name="soon")
    program.require(program.round_s <= 10.0, name="any")
    with pytest.raises(ProblemInfeasibleError) as caught:
        program.solve(solver)
    assert caught.value.constraints == ("long", "soon")
    program.withdraw("soon")
    assert program.solve(solver)["draft_length"][0] >= 12 - 1e-4


def test_a_deadline_that_is_too_short_says_so() -> None:
    """One token each: 40 ms for the second device, then what the band takes; with the time that is told it is met."""
    with pytest.raises(ProblemInfeasibleError, match=r"take 0\.04435\d+ s, longer than deadline_s = 0\.04") as caught:
        LengthsAtDeadline(S2, 0.04).solve()
    needed = float(re.findall(r"take ([\d.]+) s", str(caught.value))[0])
    assert LengthsAtDeadline(S2, needed + 1e-6).solve()["draft_length"] == pytest.approx([1.0, 1.0], abs=1e-2)
    with pytest.raises(ProblemInfeasibleError):
        LengthsAtDeadline(S2, needed - 1e-6).solve()


def test_an_unbounded_problem_is_told() -> None:
    program = DraftControl(S2)
    program._objective = cp.Maximize(-program.variables["g"][0])  # the goodput is bounded, its loss is not
    program.constraints.pop("some_tokens")
    program._compile()
    program.require(program.draft_length[0] >= 1.0)
    with pytest.raises(ProblemUnboundedError, match="no bound"):
        program.solve("CLARABEL")


def test_requirements_move_the_optimum_and_have_a_price() -> None:
    program = DraftControl(S2)
    free = program.solve("CLARABEL").objective
    program.require(program.draft_length[1] >= 3, name="three")
    bound = program.solve("CLARABEL")
    price = bound.shadow_price("three")
    assert bound.objective < free
    assert bound["draft_length"][1] == pytest.approx(3.0, rel=1e-6)
    assert price.unit == "(token/s)/(token)"
    program.withdraw("three")
    program.require(program.draft_length[1] >= 3.01, name="three")
    assert price.value == pytest.approx((program.solve("CLARABEL").objective - bound.objective) / 0.01, rel=1e-2)


def test_requirements_in_every_unit() -> None:
    program = DraftControl(S2)
    best = program.solve("CLARABEL")
    program.require(program.bandwidth_hz[0] <= 6e6)
    program.require(program.deadline_s <= 0.11)
    program.require(program.draft_length.sum() <= 7)
    program.require(program.draft_length[0] - 2.0 * program.draft_length[1] == 0)
    program.require(program.device_goodput[1] >= 5.0)
    solution = program.solve("CLARABEL")
    length = solution["draft_length"]
    assert solution["bandwidth_hz"][0] <= 6e6 * (1 + 1e-6)
    assert solution["deadline_s"] <= 0.11 * (1 + 1e-6)
    assert length[0] == pytest.approx(2 * length[1], rel=1e-5)
    assert solution.objective < best.objective
    assert set(program.requirements) == {f"requirement {n}" for n in range(1, 6)}


def test_requirements_survive_an_update() -> None:
    program = DraftControl(S2)
    program.require(program.deadline_s <= 0.1)
    program.update(S2.replace(verify_base_s=2.0))
    assert program.solve()["deadline_s"] <= 0.1 * (1 + 1e-6)


def test_a_cvxpy_constraint_is_taken_too() -> None:
    program = DraftControl(S2)
    length = program.variables["length"]
    program.require(length[0] == length[1], name="in scaled units")
    assert program.solve().objective < 18.6


@pytest.mark.parametrize("bad", [np.nan, np.inf, "two"])
def test_bounds_are_numbers(bad: Any) -> None:
    with pytest.raises(ParameterError, match="bound"):
        _ = DraftControl(S2).draft_length >= bad


def test_misuse_of_requirements_is_told() -> None:
    program = DraftControl(S2)
    with pytest.raises(ParameterError, match="in token is added to or compared with one in Hz"):
        _ = program.draft_length <= program.bandwidth_hz
    with pytest.raises(ParameterError, match="neither true nor false"):
        bool(program.deadline_s <= 1.0)
    with pytest.raises(ParameterError, match="takes a constraint"):
        program.require(True)  # type: ignore[arg-type]
    with pytest.raises(FormulationError, match="not convex"):
        program.require(cp.sqrt(program.variables["s"]) <= 1.0, name="not convex")
    x = program.variables["length"][0]
    with pytest.raises(FormulationError, match=r"is not one convex program with these constraints.*: interference"):
        program.require(cp.log(1.0 + x / (1.0 + 2.0 * x)) >= 0.1, name="interference")
    assert not program.requirements
    with pytest.raises(ParameterError, match="already"):
        program.require(program.deadline_s <= 1.0, name="bandwidth")
    with pytest.raises(AttributeError, match="draft_length"):
        _ = program.lengths


def test_a_solution_does_not_change() -> None:
    program = DraftControl(S2)
    solution = program.solve()
    before = solution.objective, solution["draft_length"].copy()
    program.update(S2.replace(verify_base_s=5.0))
    program.solve()
    assert solution.objective == before[0]
    assert np.array_equal(solution["draft_length"], before[1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.objective = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        solution["draft_length"][0] = 0.0
    assert len(repr(solution)) < 120


def test_every_error_of_solving_has_cause_and_remedy() -> None:
    kinds = SolveError.__subclasses__()
    assert len(kinds) == 5
    for kind in kinds:
        extra = {"constraints": ("a",)} if kind is ProblemInfeasibleError else {}
        error = kind(formulation="f", solver="s", status="t", cause="the cause", remedy="the remedy", **extra)
        assert str(error) == "f: the cause (solver s, status t); the remedy"
