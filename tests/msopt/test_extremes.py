"""No overflow, no NaN, no warning at the ends of every range (K 1 to 1000, alpha 0 to 1 inclusive, tau 0
to 1 s, SNR -40 to 50 dB, 10 to 1e7 bits); warnings are errors in all tests."""

import itertools
from typing import Any

import numpy as np
import pytest

from msopt.acceptance import Acceptance
from msopt.correction import react
from msopt.errors import ParameterError
from msopt.goodput import play
from msopt.greedy import greedy_lengths
from msopt.heterogeneous import solve_heterogeneous
from msopt.homogeneous import solve_homogeneous
from msopt.mode_lengths import best_lengths
from msopt.mode_problem import ModeProblem
from msopt.outcomes import expected_correction
from msopt.relaxed import solve_relaxed
from msopt.scenario import Scenario
from tests.strategies import SHARINGS
from tests.tolerances import CLOSED_FORM, NEVER_ABOVE, RELAXED_OPTIMUM

BITS = (10.0, 1e7)
TOKEN_COSTS = (0.0, 1e-3)
MINIMA = (0, 1)
ALPHAS = np.array([0.0, 1.0, 0.5, 1.0 - 1e-12, 1e-12, 0.999, 0.01, 0.9])
DRAFTS = np.array([0.0, 1.0, 1e-6, 0.02, 0.1])
SNRS = np.array([-40.0, 50.0, 0.0, 20.0, -10.0, 35.0, 3.0])


def extreme(count: int, sharing: str, bits: float, token_cost: float, minimum: int, shift: int = 0) -> Scenario:
    """K devices that go round the ends of every range in cycles of unlike length."""
    k = np.arange(count) + shift
    return Scenario(
        acceptance=ALPHAS[k % 8],
        draft_s_per_token=DRAFTS[k % 5],
        uplink_snr_db=SNRS[k % 7],
        downlink_snr_db=SNRS[(3 * k + 1) % 7],
        verify_base_s=0.05,
        verify_per_token_s=token_cost,
        downlink_power_w=1.0,
        uplink_bandwidth_hz=20e6,
        downlink_bandwidth_hz=20e6,
        token_bits=0.0 if shift % 2 else 17.0,
        distribution_bits=bits,
        uplink_sharing=sharing,  # type: ignore[arg-type]
        min_draft_length=minimum,
    )


def assert_feasible(scenario: Scenario, problem: Any, lengths: np.ndarray, share: np.ndarray) -> float:
    low, high = scenario.length_limits(problem)
    assert np.all(np.isfinite(share) & (share >= 0.0))
    assert np.sum(share) <= scenario.uplink_bandwidth_hz * (1.0 + CLOSED_FORM)
    assert np.all((lengths >= low) & (lengths <= high))
    goodput = float(play(scenario, problem, lengths, share).goodput)
    assert 0.0 < goodput < np.inf
    return goodput


CELLS = list(itertools.product(SHARINGS, BITS, TOKEN_COSTS, MINIMA))
FEWER = [cell for place, cell in enumerate(CELLS) if place % 4 in ((0, 3) if place % 8 < 4 else (1, 2))]
"""Half of them, for what takes tenths of a second: every pair of ends still meets."""


def test_fewer_cells_hold_every_pair() -> None:
    for i, j in itertools.combinations(range(4), 2):
        assert {(cell[i], cell[j]) for cell in FEWER} == {(cell[i], cell[j]) for cell in CELLS}


@pytest.mark.parametrize("count", [1, 2, 20, 200, 1000])
@pytest.mark.parametrize(("sharing", "bits", "token_cost", "minimum"), CELLS)
def test_homogeneous(count: int, sharing: str, bits: float, token_cost: float, minimum: int) -> None:
    for shift in range(8 if count == 1 else 2):
        scenario = extreme(count, sharing, bits, token_cost, minimum, shift)
        found = solve_homogeneous(scenario)
        goodput = assert_feasible(scenario, "homogeneous", found.draft_length, found.bandwidth_hz)
        assert goodput <= found.relaxed_goodput * (1.0 + NEVER_ABOVE)
        assert np.isfinite(found.per_token_s)
        assert 0.0 <= found.price_of_bandwidth < np.inf


@pytest.mark.parametrize("count", [1, 2, 20])
@pytest.mark.parametrize(("sharing", "bits", "token_cost", "minimum"), FEWER)
def test_relaxed(count: int, sharing: str, bits: float, token_cost: float, minimum: int) -> None:
    for shift in range(4 if count == 1 else 1):
        scenario = extreme(count, sharing, bits, token_cost, minimum, shift)
        found = solve_relaxed(scenario)
        goodput = assert_feasible(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
        assert goodput == pytest.approx(found.goodput, rel=CLOSED_FORM)
        assert 0.0 <= found.price_of_bandwidth < np.inf
        common = solve_homogeneous(scenario)
        assert common.relaxed_goodput <= found.goodput * (1.0 + RELAXED_OPTIMUM)


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("count", [200, 1000])
def test_relaxed_with_many_devices(count: int, sharing: str) -> None:
    scenario = extreme(count, sharing, 1e5, 0.0, 0)
    found = solve_relaxed(scenario)
    assert_feasible(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert solve_homogeneous(scenario).relaxed_goodput <= found.goodput * (1.0 + RELAXED_OPTIMUM)


@pytest.mark.parametrize(("sharing", "bits", "token_cost", "minimum"), FEWER)
def test_heterogeneous(sharing: str, bits: float, token_cost: float, minimum: int) -> None:
    scenario = extreme(2, sharing, bits, token_cost, minimum, shift=4).replace(max_draft_length=8)
    found = solve_heterogeneous(scenario)
    goodput = assert_feasible(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert goodput <= found.bound * (1.0 + NEVER_ABOVE)


@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.parametrize(("sharing", "bits", "token_cost", "minimum"), CELLS)
def test_modes(count: int, sharing: str, bits: float, token_cost: float, minimum: int) -> None:
    for shift in range(8 if count == 1 else 1):
        scenario = extreme(count, sharing, bits, token_cost, minimum, shift)
        problem = ModeProblem(scenario, expected_correction(scenario, "best"))
        scores = []
        for lengths in (best_lengths(problem), greedy_lengths(problem)):
            low, high = scenario.length_limits("modes")
            assert np.all((lengths >= low) & (lengths <= high))
            scores.append(float(problem.goodput(lengths[None, :].astype(float))[0]))
        assert 0.0 < scores[1] <= scores[0] * (1.0 + NEVER_ABOVE) < np.inf


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("count", [20, 200, 1000])
def test_reactions(count: int, sharing: str) -> None:
    scenario = extreme(count, sharing, 1e7, 0.0, 0)
    reaction, seconds = react(scenario, np.arange(count))
    assert 0.0 < seconds < np.inf
    power = reaction.downlink_power_w[~reaction.on_uplink]
    assert np.all(power > 0.0)
    assert np.sum(power) <= scenario.downlink_power_w


@pytest.mark.parametrize("sharing", SHARINGS)
def test_sampled_corrections_of_many_devices(sharing: str) -> None:
    scenario = extreme(200, sharing, 1e5, 0.0, 0)
    correction = expected_correction(scenario, "best", samples=50)
    value, slope = correction.gradient_s(np.full((1, 200), 0.5))
    assert 0.0 < value[0] < np.inf
    assert np.all(np.isfinite(slope))


@pytest.mark.parametrize(
    ("law", "sharing", "token_cost", "minimum"),
    [
        ({"curves": [[0.0], [1.0, 1.0], [0.9, 0.0]]}, "fixed-snr", 0.0, 0),
        ({"curves": [[1.0], None, [0.5]]}, "power-limited", 0.0, 0),
        ({"std": [1e-9, 0.0, 0.0]}, "power-limited", 1e-3, 1),
        ({"std": [0.0, 0.0, 0.4999]}, "fixed-snr", 1e-3, 0),
        ({"curves": [None, [0.7, 0.5], None], "std": [0.3, 0.0, 0.3]}, "fixed-snr", 0.0, 1),
    ],
    ids=["curves", "curves and certain", "narrow", "wide", "mixed"],
)
def test_other_laws(law: dict[str, Any], sharing: str, token_cost: float, minimum: int) -> None:
    scenario = extreme(3, sharing, 1e5, token_cost, minimum).replace(
        acceptance=Acceptance.of([0.5, 1.0 if "std" not in law else 0.0, 0.5], law.get("std"), law.get("curves")),
        max_draft_length=8,
    )
    found = solve_heterogeneous(scenario)
    goodput = assert_feasible(scenario, "heterogeneous", found.draft_length, found.bandwidth_hz)
    assert goodput <= found.bound * (1.0 + NEVER_ABOVE)
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    assert np.isfinite(problem.goodput(best_lengths(problem)[None, :].astype(float))).all()


# One device at a time, where each limit has a formula of its own


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("draft", [0.0, 1.0])
@pytest.mark.parametrize("snr_db", [-40.0, 50.0])
def test_certain_and_impossible_acceptance(sharing: str, draft: float, snr_db: float) -> None:
    """alpha = 0: the minimum. alpha = 1 alone: E/T = (L + 1)/(L u + c) is monotone, so an end of the range."""
    for alpha, minimum in itertools.product((0.0, 1.0), MINIMA):
        scenario = extreme(1, sharing, 1e4, 0.0, minimum).replace(
            acceptance=[alpha], draft_s_per_token=[draft], uplink_snr_db=[snr_db]
        )
        found = solve_heterogeneous(scenario)
        token_s = draft + scenario.token_payload_bits("heterogeneous") / (20e6 * np.log2(1.0 + 10.0 ** (snr_db / 10.0)))
        pays = alpha == 1.0 and token_s < 0.05
        assert found.draft_length.tolist() == [16 if pays else minimum]


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("snr_db", [-174.0, -300.0])
def test_hopeless_channels(sharing: str, snr_db: float) -> None:
    """Field case 23: 1 + SNR rounds to 1; the goodput is tiny, not 0, NaN or infinite, or the SNR is refused."""
    try:
        scenario = extreme(2, sharing, 33792.0, 1e-4, 1).replace(
            acceptance=[0.8, 0.6], draft_s_per_token=[0.02, 0.04], uplink_snr_db=[10.0, snr_db]
        )
    except ParameterError as error:
        assert "uplink_snr_db" in str(error)  # noqa: PT017
        return
    found = solve_homogeneous(scenario)
    assert 0.0 < assert_feasible(scenario, "homogeneous", found.draft_length, found.bandwidth_hz) < 1e-5
    best = solve_heterogeneous(scenario)
    assert 0.0 < assert_feasible(scenario, "heterogeneous", best.draft_length, best.bandwidth_hz) < 1e-5


@pytest.mark.parametrize("longest", [10_000, 10**7, 10**9])
def test_a_maximum_length_out_of_reach(longest: int) -> None:
    """A maximum that no optimum reaches changes nothing."""
    devices = {"acceptance": [0.8, 0.6], "draft_s_per_token": [0.02, 0.04], "uplink_snr_db": [10.0, -5.0]}
    base = extreme(2, "fixed-snr", 33792.0, 1e-4, 0).replace(**devices)
    far = base.replace(max_draft_length=longest)
    near = base.replace(max_draft_length=60)
    assert solve_homogeneous(far).draft_length.tolist() == solve_homogeneous(near).draft_length.tolist()
    assert solve_heterogeneous(far).draft_length.tolist() == solve_heterogeneous(near).draft_length.tolist()
