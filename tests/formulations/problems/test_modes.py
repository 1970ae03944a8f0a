"""[UD]'s problems: downlink power, modes, and the bound over joint laws."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from formulations import (
    DownlinkPower,
    FreeCorrection,
    JointLawBound,
    ModeSelection,
    ProblemInfeasibleError,
    SolverFailedError,
    SolverOptions,
    enumerate_modes,
)
from formulations.problems.joint_law_bound import correction_times, rejected_sets
from msopt.errors import ParameterError
from msopt.model.control import BandRule
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario
from msopt.model.sharing import UplinkSharing
from msopt.modes.free_bands import FreeBands
from reports.crosscheck.random_scenarios import random_scenario
from tests.formulations.cells import OBJECTIVE_RTOL, RESIDUAL, S1, S2, S3, base_cell


def equalised_delay(scenario: Scenario, shares: np.ndarray) -> float:
    """The common delay whose powers sum to the total: one root [s]."""
    capacity = shares * scenario.downlink_bandwidth_hz

    def excess(log_delay: float) -> float:
        needed = np.exp2(np.minimum(scenario.distribution_bits / (capacity * np.exp(log_delay)), 1000.0)) - 1.0
        return float(np.log(np.sum(needed * shares / scenario.downlink_snr)))

    return float(np.exp(brentq(excess, -20.0, 20.0, xtol=1e-13)))


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
def test_power_for_unequal_users(solver: str) -> None:
    cell = base_cell([(0.8, 0.02, 10, snr) for snr in (20, 10, 0)])
    solution = DownlinkPower(cell).solve(solver)
    assert solution["downlink_power_w"] == pytest.approx([0.0900901, 0.9009009, 9.0090090], rel=1e-4)
    assert solution["delay_s"] == pytest.approx(2.6839231e-3, rel=OBJECTIVE_RTOL)
    assert np.sum(solution["downlink_power_w"]) <= 10.0
    assert solution.certificate.worst < RESIDUAL


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
def test_power_eighty_decibels_apart(solver: str) -> None:
    cell = base_cell([(0.8, 0.02, 10, 60), (0.8, 0.02, 10, -20)])
    solution = DownlinkPower(cell).solve(solver)
    assert solution["delay_s"] == pytest.approx(equalised_delay(cell, np.array([0.5, 0.5])), rel=OBJECTIVE_RTOL)
    assert solution["downlink_power_w"][0] < 1e-6  # 1e-7 does; the budget does not feel the rest
    assert np.sum(solution["downlink_power_w"]) <= 10.0


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
def test_power_for_equal_and_unequal_shares(solver: str) -> None:
    for seed in range(12):
        cell = random_scenario(seed)
        K = cell.device_count
        for shares in (np.full(K, 1.0 / K), 0.999 * np.random.default_rng(seed).dirichlet(np.ones(K))):
            solution = DownlinkPower(cell, shares=shares.tolist()).solve(solver)
            assert solution["delay_s"] == pytest.approx(equalised_delay(cell, shares), rel=OBJECTIVE_RTOL)
            assert solution.certificate.worst < RESIDUAL


def test_price_of_power() -> None:
    price = DownlinkPower(S3).solve("CLARABEL").shadow_price("power")
    gain_db = 10 * np.log10(1.001)
    rates = [
        DownlinkPower(S3.replace(downlink_power_w=10.0 * 1.001**n, downlink_snr_db=S3.downlink_snr_db + n * gain_db))
        .solve("CLARABEL")
        .objective
        for n in (-1, 1)
    ]
    assert price.value == pytest.approx((rates[1] - rates[0]) / (10.0 * (1.001 - 1 / 1.001)), rel=1e-3)
    assert price.unit == "(bit/s)/(W)"


@pytest.mark.parametrize(
    ("devices", "shares"), [([0, 0], None), ([3], None), ([], None), ([0, 1], [0.5]), ([0, 1], [0.9, 0.2])]
)
def test_bad_sets_and_shares(devices: list[int], shares: list[float] | None) -> None:
    with pytest.raises(ParameterError, match=r"devices = |shares = "):
        DownlinkPower(S3, devices, shares)


@pytest.mark.parametrize(
    ("rejected", "uplink", "time_s"),
    [([0, 1, 2], [1, 0, 0], 1.669037980e-3), ([0, 1], [1, 0], 7.69343304e-4), ([1, 2], [0, 0], 1.33180345e-3)],
)
def test_modes_of_the_base_cell(rejected: list[int], uplink: list[int], time_s: float) -> None:
    solution = ModeSelection(S3, rejected).solve()
    assert solution["correction_s"] == pytest.approx(time_s, rel=1e-7)
    assert solution["uplink"].tolist() == uplink
    best = enumerate_modes(S3, rejected)
    assert best.correction_s == pytest.approx(time_s, rel=OBJECTIVE_RTOL)
    assert best.reaction.on_uplink.tolist() == [bool(one) for one in uplink]


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_modes_against_every_prefix(sharing: str) -> None:
    for seed in range(15):
        cell = random_scenario(seed, devices=(1, 20), uplink_sharing=sharing)
        r = cell.device_count
        up = cell.distribution_bits / cell.uplink.rate(np.full(r, cell.uplink_bandwidth_hz / r))
        order = np.argsort(up)
        times = [up.max()]
        for n in range(r):
            reverse = np.sum(1.0 / cell.downlink_snr[order[n:]])
            down = cell.distribution_bits * r / (cell.downlink_bandwidth_hz * np.log2(1.0 + r / reverse))
            times.append(max(down, up[order[:n]].max(initial=0.0)))
        solution = ModeSelection(cell, range(r)).solve()
        assert solution["correction_s"] == pytest.approx(min(times), rel=2e-7)
        assert np.sum(solution["downlink_power_w"]) <= cell.downlink_power_w * (1 + 1e-12)


def test_modes_against_enumeration_with_conic_powers() -> None:
    for seed in range(3):
        cell = random_scenario(60 + seed, devices=(4, 4))
        expected = enumerate_modes(cell, range(4)).correction_s
        assert ModeSelection(cell, range(4)).solve()["correction_s"] == pytest.approx(expected, rel=OBJECTIVE_RTOL)


@pytest.mark.parametrize("bands", ["shared-band", "separate-bands"])
@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_free_correction_of_unequal_payloads(sharing: UplinkSharing, bands: BandRule) -> None:
    """The price that one root gives against the cones, whole and truncated distributions in either direction."""
    for seed in range(3):
        cell = random_scenario(seed, devices=(5, 5), uplink_sharing=sharing)
        bits = cell.distribution_bits * np.array([1.0, 0.3, 1.0, 0.05, 0.6])
        up = np.array([True, False, True, False, seed < 2])
        priced = FreeBands.of(cell, bits, bits)
        if bands == "shared-band":
            expected = float(priced.shared(up[None, :], ~up[None, :]).seconds[0])
        else:
            expected = max(float(priced.uplink_s(up[None, :])[0]), float(priced.downlink(~up[None, :]).seconds[0]))
        solution = FreeCorrection(cell, range(5), up.tolist(), bands=bands, bits=bits.tolist()).solve()
        assert solution["correction_s"] == pytest.approx(expected, rel=OBJECTIVE_RTOL)
        assert solution.certificate.worst < RESIDUAL


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"on_uplink": [True]}, "on_uplink = .* is not one mode for each rejected device"),
        ({"bands": "two"}, 'bands = "two" is not shared-band or separate-bands'),
        ({"bits": [1.0, 0.0]}, "bits = .* are not 2 positive numbers"),
    ],
)
def test_bad_free_corrections(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        FreeCorrection(S3, [0, 1], **({"on_uplink": [True, False]} | given))


def test_a_solver_that_leaves_a_device_without_power_has_failed() -> None:
    """Its rate is 0: a correction without an end is no answer, and no fault of ours."""
    cell = random_scenario(200_001, uplink_sharing="power-limited")
    up = (cell.uplink_snr_db >= np.median(cell.uplink_snr_db)).tolist()
    program = FreeCorrection(cell, range(cell.device_count), up, bands="separate-bands")
    with pytest.raises(SolverFailedError):
        program.solve("SCS", SolverOptions(max_iterations=5))


def test_enumeration_has_its_limit() -> None:
    with pytest.raises(ParameterError, match="ModeSelection above 6"):
        enumerate_modes(random_scenario(0, devices=(7, 7)), range(7))


def test_correction_times_against_enumeration() -> None:
    times = correction_times(S3)
    for row, members in enumerate(rejected_sets(3)):
        expected = enumerate_modes(S3, np.flatnonzero(members).tolist()).correction_s if row else 0.0
        assert times[row] == pytest.approx(expected, rel=OBJECTIVE_RTOL)


def best_independent(scenario: Scenario, deadline_s: float) -> float:
    """Best goodput at a deadline with independent rejections: all lengths, all outcomes."""
    K = scenario.device_count
    sets, times = rejected_sets(K), correction_times(scenario)
    rate = scenario.uplink.rate(np.full(K, scenario.equal_share_hz))
    per_token = scenario.draft_s_per_token + scenario.token_bits / rate
    least, greatest = scenario.length_limits("modes")
    best = 0.0
    for lengths in itertools.product(range(least, greatest + 1), repeat=K):
        held = np.array(lengths, dtype=float)
        if np.all(held * per_token <= deadline_s * (1 + 1e-12)):
            survival = scenario.acceptance.survival(held)
            chance = np.prod(np.where(sets, 1.0 - survival, survival), axis=1)
            best = max(best, float(round_at(scenario, held, deadline_s, chance @ times).goodput))
    return best


@pytest.mark.parametrize("solver", ["HIGHS", "CLARABEL", "ECOS"])
def test_any_joint_law_bounds_independence(solver: str) -> None:
    gaps = []
    for seed in range(5):
        cell = random_scenario(seed, devices=(2, 3)).replace(max_draft_length=7)
        deadline = 4.0 * float(np.max(cell.draft_s_per_token)) + 1e-3
        bound = JointLawBound(cell, deadline).solve(solver)
        best = best_independent(cell, deadline)
        assert bound.objective >= best * (1 - 1e-7)
        assert bound.certificate.worst < RESIDUAL
        gaps.append(bound.objective / best - 1)
    assert max(gaps) < 0.25
    assert max(gaps) > 1e-6  # the bound is not the optimum itself


def test_one_device_has_one_joint_law() -> None:
    deadline = 6 * (0.02 + 17 / (20e6 * np.log2(11)))
    assert JointLawBound(
        S1.replace(min_draft_length=6, max_draft_length=6), deadline
    ).solve().objective == pytest.approx(12.3154291299, rel=OBJECTIVE_RTOL)


def test_joint_laws_have_their_limits() -> None:
    with pytest.raises(ParameterError, match="above 10"):
        JointLawBound(random_scenario(0, devices=(11, 11)), 0.1)
    with pytest.raises(ProblemInfeasibleError, match="deadline_s"):
        JointLawBound(S2.replace(min_draft_length=1), 0.01).solve()
