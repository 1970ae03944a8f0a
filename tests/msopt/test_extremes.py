"""No overflow, no NaN, no warning at the ends of every range (K 1 to 1000, alpha 0 to 1 inclusive, tau 0
to 1 s, SNR -40 to 50 dB, 10 to 1e7 bits), nor at the ends of all that a scenario may hold; warnings are errors in all
tests. A bound lies above every control, also where sending takes next to no time."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

from msopt import solve
from msopt.errors import ParameterError
from msopt.lengths.heterogeneous import interpolated_bound, solve_heterogeneous
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.relaxed import exact_goodput, solve_relaxed
from msopt.model.acceptance import Acceptance
from msopt.model.goodput import play
from msopt.model.scenario import Scenario
from msopt.model.validation import LARGEST, LARGEST_SNR_DB, SMALLEST
from msopt.modes.bounds.adaptive import adaptive_bound
from msopt.modes.correction import react
from msopt.modes.expected import LARGEST_SAMPLED, expected_correction
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from msopt.rivals.greedy import greedy_lengths
from msopt.rivals.grid import grid_lengths
from tests.cases import base, scenario_of
from tests.strategies import SHARINGS
from tests.tolerances import CLOSED_FORM, EXACT, NEVER_ABOVE, RELAXED_OPTIMUM

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
    """1 + SNR rounds to 1; the goodput is tiny, not 0, NaN or infinite, or the SNR is refused."""
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


# Anything a scenario may hold


def _number(random: np.random.Generator, usual: tuple[float, float], *, zero: bool = False) -> float:
    """A number of the usual size, of any size, or at an end of what is allowed."""
    kind = random.integers(0, 6)
    if zero and kind == 0:
        return 0.0
    low, high = usual if kind > 2 else (SMALLEST, LARGEST)
    ends = kind == 1
    return float(
        random.choice([low, high]) if ends else np.clip(np.exp(random.uniform(*np.log([low, high]))), low, high)
    )


def _law(random: np.random.Generator, count: int) -> Acceptance:
    kind = random.integers(0, 4)
    mean = random.choice([0.0, 1.0, 1e-300, 1e-12, 1.0 - 1e-12, 0.5, 0.8], size=count)
    if kind == 0:
        mean = random.choice([1e-6, 0.5, 1.0 - 1e-6], size=count)
        return Acceptance.of(mean, random.choice([0.0, 1e-9, 0.5, 0.999999], size=count) * np.sqrt(mean * (1.0 - mean)))
    if kind == 1:
        return Acceptance.of(
            mean, curves=[np.cumprod(random.choice([1.0, 0.0, 0.5, 1e-200], size=3)), *[None] * (count - 1)]
        )
    return Acceptance.of(mean)


def anything(seed: int) -> Scenario:
    """A scenario of one to six devices anywhere in the ranges that are allowed."""
    random = np.random.default_rng(seed)
    count = int(random.choice([1, 2, 3, 6]))

    def snr_db() -> list[float]:
        ends = [-LARGEST_SNR_DB, LARGEST_SNR_DB, -300.0, 300.0, *random.uniform(-60.0, 60.0, 4)]
        return [float(value) for value in random.choice(ends, size=count)]

    least = random.choice([None, 0, 1, 3])
    return Scenario(
        acceptance=_law(random, count),
        draft_s_per_token=[_number(random, (1e-3, 0.2), zero=True) for _ in range(count)],
        uplink_snr_db=snr_db(),
        downlink_snr_db=snr_db(),
        verify_base_s=_number(random, (1e-3, 1.0)),
        verify_per_device_s=_number(random, (1e-4, 1e-2), zero=True),
        verify_per_token_s=_number(random, (1e-5, 1e-3), zero=True) if random.random() < 0.5 else 0.0,
        downlink_power_w=_number(random, (0.01, 100.0)),
        uplink_bandwidth_hz=_number(random, (1e5, 1e9)),
        downlink_bandwidth_hz=_number(random, (1e5, 1e9)),
        token_bits=_number(random, (10.0, 100.0), zero=True),
        distribution_bits=_number(random, (1e2, 1e7)),
        uplink_sharing=random.choice(SHARINGS),
        min_draft_length=least,
        max_draft_length=int(random.choice([3, 8, 16])),
    )


BASELINES = {
    "homogeneous": ("exact",),
    "heterogeneous": ("grid", "fixed", "equal-bandwidth", "homogeneous"),
    "modes": (
        *("greedy", "all-uplink", "all-downlink", "uniform-length", "computation-only", "computation-only-greedy"),
    ),
}


@pytest.mark.parametrize("seed", range(60))
def test_anything_is_solved_without_a_warning_and_below_every_bound(seed: int) -> None:
    scenario = anything(seed)
    for problem, methods in BASELINES.items():
        other = methods[seed % len(methods)]
        few: dict[str, Any] = {"grid_phi": 5, "grid_lambda": 5} if other == "grid" else {}
        found = [solve(scenario, problem), solve(scenario, problem, other, **few)]  # type: ignore[arg-type]
        goodputs = [solution.goodput for solution in found]
        assert np.all(np.isfinite(goodputs))
        json.dumps([solution.to_dict() for solution in found], allow_nan=False)
        best = max(goodputs)
        for solution in found:
            if solution.bound is not None:
                assert best <= solution.bound * (1.0 + NEVER_ABOVE)
            if solution.relaxed_goodput is not None:
                assert solution.goodput <= solution.relaxed_goodput * (1.0 + NEVER_ABOVE)


@pytest.mark.parametrize("seed", [134, 146])
def test_the_grid_knows_deadlines_whose_squares_are_beyond_floats(seed: int) -> None:
    """Its greatest deadline is about 1e160 s; scored, its lengths are controls like any other."""
    scenario = anything(seed)
    assert np.max(scenario.token_payload_bits("heterogeneous") / scenario.uplink.rate(scenario.equal_share_hz)) > 1e150
    assert 0.0 < exact_goodput(scenario, grid_lengths(scenario, phi_points=5, lambda_points=5).astype(float)) < np.inf


# Where sending takes next to no time


def nearly_free(count: int, sharing: str, band_hz: float, bits: float) -> Scenario:
    devices = [(0.8, 0.02, 20.0, 20.0), (0.45, 0.013, 3.0, 20.0), (0.7, 0.041, 11.0, 20.0)]
    return scenario_of(
        base(
            *devices[:count],
            server={"verify_base_s": 0.05, "verify_per_token_s": 0.0},
            radio={"uplink_bandwidth_hz": band_hz, "uplink_sharing": sharing},
            payload={"token_bits": 0.0, "distribution_bits": bits},
            limits={"max_draft_length": 8 if count < 3 else 4},
        )
    )


NEARLY_FREE = [(2e14, 33792.0), (5e15, 33792.0), (1e30, 33792.0), (10e6, 1e-4), (10e6, 1e-12)]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize(("band_hz", "bits"), NEARLY_FREE)
def test_a_bound_lies_above_every_control_where_sending_is_nearly_free(
    count: int, sharing: str, band_hz: float, bits: float
) -> None:
    scenario = nearly_free(count, sharing, band_hz, bits)
    every = np.array(list(itertools.product(range(1, scenario.max_draft_length + 1), repeat=count)), dtype=float)
    best = float(np.max(exact_goodput(scenario, every)))
    # Were sending free, a deadline would allow floor(D/tau) tokens: enumerated without any solver.
    tau, alpha = scenario.draft_s_per_token, scenario.acceptance.mean
    tokens = np.sum((1.0 - alpha ** (every + 1.0)) / (1.0 - alpha), axis=1)
    assert best == pytest.approx(float(np.max(tokens / (np.max(every * tau, axis=1) + 0.05))), rel=1e-6)
    found = solve_heterogeneous(scenario)
    assert float(exact_goodput(scenario, found.draft_length.astype(float))) == pytest.approx(best, rel=CLOSED_FORM)
    assert best <= found.bound <= best * (1.0 + 2.0 * NEVER_ABOVE)
    assert best <= found.relaxed.goodput * (1.0 + EXACT)
    assert best <= interpolated_bound(scenario) <= 1.1 * best
    common = solve_homogeneous(scenario)
    alike = np.max(exact_goodput(scenario, every[np.ptp(every, axis=1) == 0.0]))
    assert alike <= common.bound


def test_a_bound_holds_when_the_time_is_over_at_once() -> None:
    scenario = nearly_free(2, "power-limited", 1e18, 33792.0)
    every = np.array(list(itertools.product(range(1, 9), repeat=2)), dtype=float)
    early = solve(scenario, method="exact", time_limit_s=1e-9)
    assert early.goodput <= float(np.max(exact_goodput(scenario, every))) * (1.0 + EXACT) <= early.bound * (1.0 + EXACT)


def test_a_common_length_beside_an_endless_verification() -> None:
    """alpha^L + ... over a hardly growing time: every token pays, so the best length is the greatest."""
    scenario = nearly_free(1, "fixed-snr", 1e30, 100.0).replace(draft_s_per_token=[0.0])
    assert solve_homogeneous(scenario).draft_length.tolist() == [8]
    slow = nearly_free(1, "fixed-snr", 1e7, 100.0).replace(draft_s_per_token=[200.0], verify_base_s=1e30)
    assert solve_homogeneous(slow).draft_length.tolist() == [8]


def test_lengths_are_enumerated_to_an_end_whatever_the_rounding() -> None:
    """One device that accepts nothing: 1/(1/x) may lie below x, and no length is better than none."""
    for base_s in (0.055, 0.049, 0.1, 1e-3):
        scenario = nearly_free(1, "fixed-snr", 1e7, 100.0).replace(
            acceptance=[0.0], min_draft_length=0, verify_base_s=base_s
        )
        solution = solve(scenario, "homogeneous", "exact")
        assert solution.control.draft_length.tolist() == [0]
        assert solution.goodput == pytest.approx(1.0 / base_s, rel=EXACT)


def test_enumeration_looks_at_its_time_limit() -> None:
    """Ten million lengths, of which a block is tried; the bound is then that of the relaxed length."""
    scenario = nearly_free(1, "fixed-snr", 1e7, 1e-30).replace(
        acceptance=[1.0], draft_s_per_token=[0.01], max_draft_length=10**7
    )
    solution = solve(scenario, "homogeneous", "exact", time_limit_s=1e-9)
    assert solution.control.draft_length.tolist() == [10**7]  # (L + 1)/(0.01 L + 0.05) rises for ever
    assert solution.goodput <= solution.bound <= solution.goodput * (1.0 + 2.0 * NEVER_ABOVE)


def test_greedy_ends_where_tokens_pay_for_ever() -> None:
    scenario = nearly_free(1, "fixed-snr", 1e7, 1e-30).replace(
        acceptance=[1.0 - 1e-12], draft_s_per_token=[0.0], max_draft_length=10**9
    )
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    with pytest.raises(ParameterError, match="greedy adds a token at a time"):
        greedy_lengths(problem)


def test_a_bound_is_not_swallowed_by_delays_of_ages() -> None:
    """Two devices whose uplink takes 1e60 s beside corrections over a good downlink, which cost next to nothing."""
    scenario = nearly_free(3, "fixed-snr", 1e30, 1e-8).replace(
        uplink_snr_db=[-1000.0, -1000.0, -300.0], draft_s_per_token=[0.0, 0.0, 0.01], min_draft_length=0
    )
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    every = np.array(list(itertools.product(range(5), repeat=3)), dtype=float)
    assert float(np.max(problem.goodput(every))) <= adaptive_bound(problem, 1.0) * (1.0 + NEVER_ABOVE)


def test_problem_modes_says_how_many_devices_it_takes() -> None:
    scenario = extreme(LARGEST_SAMPLED + 1, "fixed-snr", 1e5, 0.0, 0)
    with pytest.raises(ParameterError, match="problem modes takes at most 5000 devices; the scenario has 5001"):
        solve(scenario, "modes")
