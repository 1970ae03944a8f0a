"""Proven whole lengths against enumeration, the search itself from starts that do not help, and its limits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import ParameterError, draw, solve
from msopt.arrays import FloatArray
from msopt.lengths.enumeration import near_controls
from msopt.lengths.heterogeneous import solve_heterogeneous
from msopt.lengths.multiple_choice import MultipleChoice
from msopt.lengths.need import BandwidthNeed
from msopt.lengths.region_search import DeadlineSearch, Proof, SearchEffort, prove
from msopt.lengths.relaxed import exact_goodput, length_split, shortest_deadline
from msopt.model.scenario import Scenario
from reports.crosscheck.random_scenarios import family
from tests import brute_force
from tests.cases import Description, s2, s3, scenario_of
from tests.strategies import LAWS, descriptions
from tests.tolerances import DIFFERENCE, DIFFERENCE_STEP, EXACT, NEVER_ABOVE, OPTIMAL

SEED = 20260609
HANDICAP = 0.97


def random_case(case: int, sharing: str) -> Description:
    """K = 1 to 4; every law, least length, token cost; some devices certain, hopeless, twins or drafting in no time."""
    rng = np.random.default_rng([SEED, case, sharing == "fixed-snr"])
    count = 1 + case % 4
    laws = LAWS if case % 3 else (LAWS[case % len(LAWS)],)
    description = brute_force.random_scenario(rng, count, sharing=sharing, laws=laws)
    if case % 5 == 0:
        description["server"]["verify_per_token_s"] = float(rng.uniform(1e-4, 2e-2))
    for device in description["devices"]:
        if "acceptance_std" not in device and "acceptance" in device and rng.random() < 0.2:
            device["acceptance"] = float(rng.integers(2))
        if rng.random() < 0.1:
            device["draft_s_per_token"] = 0.0
    if case % 7 == 0:
        description["devices"] = [description["devices"][0] | {"name": f"twin-{k}"} for k in range(count)]
    return description


def handicapped(scenario: Scenario, goodput: float, effort: SearchEffort | None = None) -> Proof:
    """A search that knows a goodput but no control that has it."""
    search = DeadlineSearch(scenario, effort or SearchEffort())
    search.goodput = max(search.goodput, goodput)
    return search.run()


def every_length(scenario: Scenario) -> FloatArray:
    low, high = scenario.length_limits("heterogeneous")
    grid = np.meshgrid(*[np.arange(low, high + 1.0)] * scenario.device_count, indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, scenario.device_count)


@pytest.mark.parametrize(("sharing", "cases"), [("fixed-snr", 160), ("power-limited", 40)])
def test_against_enumeration(sharing: str, cases: int) -> None:
    """From the shortest lengths, from 0.97 of the optimum and no control, and from the optimum itself."""
    for case in range(cases):
        description = random_case(case, sharing)
        scenario = scenario_of(description)
        best = brute_force.heterogeneous_optimum(description)
        start = np.array([best["lengths"]], dtype=float)
        proofs = prove(scenario), handicapped(scenario, HANDICAP * best["goodput"]), prove(scenario, start)
        for proof in proofs:
            scored = brute_force.goodput_of_lengths(description, proof.draft_length.tolist())
            assert scored == pytest.approx(best["goodput"], rel=OPTIMAL), case
            assert best["goodput"] * (1.0 - EXACT) <= proof.bound <= scored * (1.0 + OPTIMAL), case
        cut_short = handicapped(scenario, HANDICAP * best["goodput"], SearchEffort(regions=1 + case % 5))
        assert cut_short.bound >= best["goodput"] * (1.0 - EXACT)


def test_a_large_table_is_searched_for_fewer_regions() -> None:
    """Regions times lengths stay within what is asked for, and the bound holds."""
    certain = draw("multispin-llama2", devices=2)[0].replace(acceptance=np.ones(2), max_draft_length=200)
    search = DeadlineSearch(certain, SearchEffort(regions=200, numbers=4000))
    proof = search.run()
    assert search.regions <= 4000 / 400 + 2
    assert proof.bound >= prove(certain).goodput * (1.0 - EXACT)


def test_many_lengths_of_few_devices_are_halved_rather_than_listed() -> None:
    """A region leaves hundreds of lengths to both devices: to look at their pairs would take seven times as long."""
    patient = draw("multispin-llama2", devices=2)[0].replace(acceptance=np.full(2, 0.999), max_draft_length=10_000)
    proof = prove(patient)
    assert proof.bound <= proof.goodput * (1.0 + OPTIMAL)
    assert proof.nodes <= 800_000


def test_many_alike_devices() -> None:
    """Forty twins: nearly every choice between them is level, so that listing controls one by one cannot end."""
    twins = draw("multispin-llama2", devices=40)[0]
    law, count = float(twins.acceptance.mean[0]), twins.device_count
    alike = twins.replace(
        acceptance=np.full(count, law),
        draft_s_per_token=np.full(count, 0.02),
        uplink_snr_db=np.full(count, 12.0),
    )
    proof = prove(alike, effort=SearchEffort(nodes=20_000_000))
    assert proof.bound <= proof.goodput * (1.0 + OPTIMAL)
    at_most_two = np.array([np.where(np.arange(count) < n, l + 1.0, l) for l in range(1, 20) for n in range(count)])
    assert proof.goodput >= exact_goodput(alike, at_most_two).max() * (1.0 - EXACT)


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("count", [32, 256])
def test_the_start_does_not_matter(sharing: Any, count: int) -> None:
    for seed in range(3):
        scenario = family(seed, count, sharing)
        usual = solve_heterogeneous(scenario)
        goodput = float(exact_goodput(scenario, usual.draft_length.astype(float)))
        assert usual.bound <= goodput * (1.0 + 1e-4)
        proof = handicapped(scenario, HANDICAP * goodput)
        assert proof.bound <= proof.goodput * (1.0 + OPTIMAL)
        assert goodput <= proof.bound
        assert proof.goodput <= usual.bound


@settings(max_examples=40)
@given(descriptions(devices=(1, 3), longest=(1, 6)), st.floats(0.0, 1.0), st.floats(1e-3, 3.0), st.floats(0.5, 1.0))
def test_a_region_bounds_and_keeps_its_controls(
    description: Description, place: float, width: float, part: float
) -> None:
    """Every control with its deadline in an interval: its gain is below the excess, its lengths are left and listed."""
    scenario = scenario_of(description)
    low, high = scenario.length_limits("heterogeneous")
    lengths = every_length(scenario)
    lengths = lengths[lengths.any(axis=1)]
    deadline, goodput = shortest_deadline(scenario, lengths), exact_goodput(scenario, lengths)
    start = float(np.quantile(deadline, place)) * (1.0 - 1e-9)
    end, trial = start * (1.0 + width), part * float(goodput.max())
    inside = (deadline >= start) & (deadline <= end) & (goodput > trial * (1.0 + NEVER_ABOVE))
    window = tuple(np.full(scenario.device_count, limit, dtype=np.int64) for limit in (low, high))
    choices = MultipleChoice(scenario, high).examine((start, end), window, trial)  # type: ignore[arg-type]
    if choices is None:
        assert not inside.any()
        return
    region = choices.region
    assert np.all((lengths[inside] >= region.first) & (lengths[inside] <= region.last))
    tokens = scenario.acceptance.expected_tokens(lengths).sum(axis=1)
    gain = tokens - trial * (deadline + scenario.verify_s(lengths))
    assert np.all(gain[inside] <= region.excess.max() + NEVER_ABOVE * tokens[inside])
    listed, _ = near_controls(choices, scenario.uplink_bandwidth_hz, trial, scenario.verify_idle_s, 10**6)
    assert listed is not None
    assert {tuple(row) for row in lengths[inside]} <= {tuple(row) for row in listed}


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_needs_fill_the_band_and_fall(sharing: str) -> None:
    scenario = scenario_of(s3(radio={"uplink_sharing": sharing}))
    need, lengths = BandwidthNeed.of(scenario), np.array([3.0, 0.0, 5.0])
    deadline, share = length_split(scenario, lengths)
    band, fall = need.by_deadline(lengths, float(deadline))
    assert band == pytest.approx(share, rel=NEVER_ABOVE)
    step = DIFFERENCE_STEP * float(deadline)
    around = [need.by_deadline(lengths, float(deadline) + sign * step)[0] for sign in (-1.0, 1.0)]
    assert (around[0] - around[1]) / (2.0 * step) == pytest.approx(fall, rel=DIFFERENCE)
    some = np.array([2, 0, 2])
    of_some = need.take(some).by_deadline(lengths[some], float(deadline))
    assert np.array(of_some) == pytest.approx(np.array([band, fall])[:, some])
    assert [np.isinf(part).tolist() for part in need.by_deadline(lengths, 0.1)] == [[False, False, True]] * 2


def test_methods_and_limits() -> None:
    scenario = draw("multispin-qwen35", devices=12)[0]
    exact = solve(scenario, method="exact")
    assert 0.0 <= exact.gap <= 1e-9
    assert exact.goodput >= solve(scenario).goodput * (1.0 - EXACT)
    for limit in ({"node_limit": 1}, {"time_limit_s": 1e-9}):
        early = solve(scenario, method="exact", **limit)
        assert early.goodput <= exact.goodput * (1.0 + EXACT)
        assert early.bound >= exact.goodput * (1.0 - EXACT)
        assert early.gap > 1e-6
    common = solve(scenario, "homogeneous", "exact")
    assert common.gap == pytest.approx(0.0, abs=EXACT)
    assert common.goodput == pytest.approx(solve(scenario, "homogeneous").goodput, rel=EXACT)


def test_without_any_cap_a_certain_device_is_still_bounded() -> None:
    """Acceptance 1 and no useful limit: too many lengths for the search, which says so; the usual method does not."""
    scenario = scenario_of(s2()).replace(acceptance=[1.0, 0.6], draft_s_per_token=[1e-4, 0.04], max_draft_length=10**9)
    with pytest.raises(ParameterError, match="lower max_draft_length"):
        solve(scenario, method="exact")
    usual = solve(scenario)
    assert usual.goodput <= usual.bound
