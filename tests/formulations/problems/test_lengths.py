"""[MS]'s lengths: one for all, at a deadline, and whole ones, each against enumeration or a scalar search."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from formulations import (
    BandwidthForLengths,
    BandwidthMinMax,
    DraftControl,
    HomogeneousLength,
    LengthsAtDeadline,
    ProblemInfeasibleError,
    WholeLengths,
)
from msopt.errors import ParameterError
from msopt.lengths.region_search import prove
from msopt.lengths.relaxed import shortest_deadline
from msopt.model.acceptance import Acceptance
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario
from msopt.model.sharing import UplinkSharing
from reports.crosscheck.random_scenarios import family, random_scenario
from tests.formulations.cells import ARGMIN_RTOL, OBJECTIVE_RTOL, RESIDUAL, S1, S2, S3, base_cell

BISECTION_RTOL = 1e-4


def common_optimum(scenario: Scenario, per_token_s: float) -> float:
    """Best goodput of one relaxed length by a scalar search."""

    def loss(length: float) -> float:
        lengths = np.full(scenario.device_count, length)
        return -float(round_at(scenario, lengths, per_token_s * length).goodput)

    least, greatest = scenario.length_limits("homogeneous")
    inner = minimize_scalar(loss, bounds=(least, greatest), method="bounded", options={"xatol": 1e-10})
    return -min(float(inner.fun), loss(least), loss(greatest))


@pytest.mark.parametrize(
    ("alpha", "ratio", "length"),
    [(0.8, 10.0, 5.75620464), (0.8, 0.999, 1.0), (0.5, 2000.0, 9.44485032), (0.999999, 50.0, 16.0)],
)
def test_common_length_of_theorem_1(alpha: float, ratio: float, length: float) -> None:
    cell = base_cell([(alpha, 0.02, 10, 25)], verify_per_token_s=0.0, verify_base_s=0.05 * ratio)
    solution = HomogeneousLength(cell, 0.05).solve()
    assert solution["draft_length"] == pytest.approx(length, rel=0.03)  # the root of the level's tolerance
    assert solution.objective == pytest.approx(common_optimum(cell, 0.05), rel=BISECTION_RTOL)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_common_length_and_split_in_one_program_and_in_two(sharing: str) -> None:
    for seed in range(6):
        cell = random_scenario(seed, devices=(1, 15), uplink_sharing=sharing)
        theta = BandwidthMinMax(cell).solve("CLARABEL").objective
        expected = common_optimum(cell, theta)
        joint = DraftControl(cell, common=True).solve("CLARABEL")
        assert joint.objective == pytest.approx(expected, rel=OBJECTIVE_RTOL)
        assert joint.certificate.worst < RESIDUAL
        assert np.ptp(joint["draft_length"]) == 0.0
        assert joint["deadline_s"] == pytest.approx(theta * joint["draft_length"][0], rel=ARGMIN_RTOL)
        if seed < 3:
            assert HomogeneousLength(cell, theta).solve().objective == pytest.approx(expected, rel=BISECTION_RTOL)


def test_common_length_with_curves_and_ends() -> None:
    laws = Acceptance.of([0.8, 0.6, 1.0, 0.0], [0.0, 0.25, 0.0, 0.0], [[0.8, 0.5, 0.4], None, None, None])
    cell = base_cell([(0.5, 0.02, 10, 25)] * 4).replace(acceptance=laws)
    for held in (cell, cell.replace(acceptance=[0.8, 0.6, 1.0, 0.0])):
        theta = BandwidthMinMax(held).solve().objective
        expected = common_optimum(held, theta)
        assert DraftControl(held, common=True).solve("CLARABEL").objective == pytest.approx(
            expected, rel=OBJECTIVE_RTOL
        )
        assert HomogeneousLength(held, theta).solve().objective == pytest.approx(expected, rel=BISECTION_RTOL)


def test_common_length_is_updated() -> None:
    program = HomogeneousLength(S1, 0.02048864963565)
    program.update(S1.replace(verify_base_s=2.0), 0.03)
    expected = common_optimum(S1.replace(verify_base_s=2.0), 0.03)
    assert program.solve().objective == pytest.approx(expected, rel=BISECTION_RTOL)
    with pytest.raises(ParameterError, match="per_token_s"):
        HomogeneousLength(S1, -1.0)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_the_best_deadline_gives_back_the_joint_optimum(sharing: str) -> None:
    cell = S2.replace(uplink_sharing=sharing, verify_per_token_s=0.0)
    best = minimize_scalar(
        lambda t: -LengthsAtDeadline(cell, float(np.exp(t))).solve("CLARABEL").objective,
        bounds=(np.log(0.06), np.log(0.4)),
        method="bounded",
        options={"xatol": 1e-5},
    )
    if sharing == "fixed-snr":
        joint = DraftControl(cell).solve("CLARABEL").objective
        assert -best.fun == pytest.approx(joint, rel=OBJECTIVE_RTOL)
    at_best = LengthsAtDeadline(cell, float(np.exp(best.x))).solve("CLARABEL")
    assert at_best.shadow_price("deadline").value * np.exp(best.x) / at_best.objective == pytest.approx(0.0, abs=1e-4)


def test_price_of_the_deadline_is_the_finite_difference() -> None:
    prices = LengthsAtDeadline(S2, 0.12).solve("CLARABEL").shadow_price("deadline")
    goodput = [LengthsAtDeadline(S2, d).solve("CLARABEL").objective for d in (0.1199, 0.1201)]
    assert prices.value == pytest.approx((goodput[1] - goodput[0]) / 2e-4, rel=1e-3)
    assert prices.unit == "(token/s)/(s)"


def whole_optimum(scenario: Scenario, deadline_s: float) -> float:
    """Best goodput of all whole lengths whose own shortest deadline is within the given one, by enumeration."""
    least, greatest = scenario.length_limits("heterogeneous")
    best = 0.0
    for lengths in itertools.product(range(least, greatest + 1), repeat=scenario.device_count):
        held = np.array(lengths, dtype=float)
        slack = deadline_s - held * scenario.draft_s_per_token
        if np.all(slack > 0.0):
            need = scenario.uplink.bandwidth(held * scenario.token_payload_bits("heterogeneous") / slack)
            if np.sum(need) <= scenario.uplink_bandwidth_hz:
                best = max(best, float(round_at(scenario, held, deadline_s).goodput))
    return best


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("verify_per_token_s", [0.0, 2e-2])
def test_whole_lengths_against_enumeration(sharing: str, verify_per_token_s: float) -> None:
    for seed in range(6):
        cell = random_scenario(seed, devices=(1, 3), uplink_sharing=sharing)
        cell = cell.replace(verify_per_token_s=verify_per_token_s, max_draft_length=9, min_draft_length=seed % 2)
        deadline = 1.3 * BandwidthForLengths(cell, np.full(cell.device_count, 3)).solve("CLARABEL").objective
        solution = WholeLengths(cell, deadline).solve()
        assert solution.objective == pytest.approx(whole_optimum(cell, deadline), rel=1e-9)
        assert np.sum(solution["bandwidth_hz"]) <= cell.uplink_bandwidth_hz * (1 + 1e-9)
        assert solution.control.draft_length.dtype == np.int64
        bound = LengthsAtDeadline(cell, deadline).solve("CLARABEL").objective
        assert solution.objective <= bound * (1 + OBJECTIVE_RTOL)


def test_whole_lengths_at_the_best_deadline() -> None:
    deadline = BandwidthForLengths(S2, [5, 2]).solve("CLARABEL").objective * (1 + 1e-9)
    solution = WholeLengths(S2, deadline).solve()
    assert solution["draft_length"].tolist() == [5.0, 2.0]
    assert solution.objective == pytest.approx(18.5400314930, rel=1e-6)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_no_deadline_has_more_than_the_proven_optimum(sharing: UplinkSharing) -> None:
    """The mixed-integer program at the optimum's own deadline attains it, at others it stays below."""
    for seed in range(3):
        cell = family(seed, 10, sharing)
        proof = prove(cell)
        assert proof.bound <= proof.goodput * (1 + 1e-9)
        deadline = float(shortest_deadline(cell, proof.draft_length.astype(float)))
        for factor in (0.98, 1.0 + 1e-9, 1.03):
            try:
                objective = WholeLengths(cell, factor * deadline).solve().objective
            except ProblemInfeasibleError:
                assert factor < 1.0
                continue
            assert objective <= proof.goodput * (1 + OBJECTIVE_RTOL)
            if 1.0 < factor < 1.01:
                assert objective == pytest.approx(proof.goodput, rel=OBJECTIVE_RTOL)


def test_an_impossible_deadline_is_told_by_highs() -> None:
    with pytest.raises(ProblemInfeasibleError, match="deadline_s"):
        WholeLengths(S3, 0.01).solve()


@pytest.mark.parametrize("deadline", [0.0, -1.0, np.nan, np.inf])
def test_deadlines_are_positive_numbers(deadline: float) -> None:
    with pytest.raises(ParameterError, match="deadline_s"):
        LengthsAtDeadline(S2, deadline)
