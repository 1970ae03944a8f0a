"""[MS] Lemmas 1, 2 and 3 as programs: equal latencies, the right root, both ways to share."""

import numpy as np
import pytest
from scipy.optimize import brentq

from formulations import BandwidthForLengths, BandwidthMinMax
from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.goodput import finish_s
from msopt.model.scenario import Scenario
from reports.crosscheck.formulation_inputs import some_lengths
from reports.crosscheck.random_scenarios import random_scenario
from tests.formulations.cells import ARGMIN_RTOL, OBJECTIVE_RTOL, RESIDUAL, S1, S2

EARLY_RTOL = 3 * ARGMIN_RTOL
"""How early a device may be: seed 7 has one that could give 1e-3 of its time back for 1e-10 of the objective."""


def latency_root(scenario: Scenario, lengths: FloatArray) -> float:
    """When the bandwidths that all devices need to end together are the whole band; each by a root of its rate."""
    bits = lengths * scenario.token_payload_bits("heterogeneous")
    busy, band = lengths * scenario.draft_s_per_token, scenario.uplink_bandwidth_hz

    def need(k: int, rate: float) -> float:
        uplink = scenario.uplink.take(np.array([k]))
        if uplink.rate(np.array([band]))[0] <= rate:
            return 2.0 * band
        return float(np.exp(brentq(lambda t: float(uplink.rate(np.array([np.exp(t)]))[0]) - rate, -30, np.log(band))))

    def excess(log_rest: float) -> float:
        left = np.max(busy) + np.exp(log_rest) - busy
        return sum(need(k, bits[k] / left[k]) for k in range(lengths.size) if bits[k] > 0) - band

    return float(np.max(busy) + np.exp(brentq(excess, -14, 12, xtol=1e-14)))


@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL", "SCS"])
def test_split_of_the_base_cells(solver: str) -> None:
    assert BandwidthMinMax(S1).solve(solver).objective == pytest.approx(0.02048864963565, rel=OBJECTIVE_RTOL)
    solution = BandwidthMinMax(S2).solve(solver)
    assert solution.objective == pytest.approx(0.04435173021, rel=OBJECTIVE_RTOL)
    assert solution["bandwidth_hz"] == pytest.approx([401326.42, 19598673.58], rel=ARGMIN_RTOL)
    assert solution.objective_unit == "s/token"


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("solver", ["ECOS", "CLARABEL"])
def test_latencies_are_equal_and_least(sharing: str, solver: str) -> None:
    for seed in range(10):
        cell = random_scenario(seed, devices=(1, 20), uplink_sharing=sharing)
        rng = np.random.default_rng(seed)
        lengths = rng.integers(0, 17, cell.device_count).astype(float)
        lengths[0] = 2.5
        for program, drafted in (
            (BandwidthMinMax(cell), np.ones(cell.device_count)),
            (BandwidthForLengths(cell, lengths), lengths),
        ):
            solution = program.solve(solver)
            finished = finish_s(cell, "heterogeneous", drafted, solution["bandwidth_hz"])[drafted > 0]
            assert np.ptp(finished) < EARLY_RTOL * solution.objective
            assert solution.objective == pytest.approx(latency_root(cell, drafted), rel=OBJECTIVE_RTOL)
            assert solution.certificate.worst < RESIDUAL


@pytest.mark.parametrize("seed", [401_157, 401_417, 401_707, 402_597])
def test_where_ecos_fails_in_one_unit_a_repeat_takes_another(seed: int) -> None:
    """Cells of a run of 3,000: broken down, stalled or refused where every attempt after the first was the same."""
    cell = random_scenario(seed, uplink_sharing="power-limited")
    program = BandwidthForLengths(cell, some_lengths(cell))
    solution = program.solve("ECOS")
    assert solution.objective == pytest.approx(latency_root(cell, program.lengths), rel=OBJECTIVE_RTOL)
    program.update(cell)
    units = {program.rest_0}
    for _ in range(3):
        program.rescale(False)
        units.add(program.rest_0)
    assert len(units) == 4


def test_price_of_bandwidth_is_negative_and_the_finite_difference() -> None:
    price = BandwidthMinMax(S2).solve("CLARABEL").shadow_price("bandwidth")
    theta = [
        BandwidthMinMax(S2.replace(uplink_bandwidth_hz=20e6 * f)).solve("CLARABEL").objective for f in (0.999, 1.001)
    ]
    assert price.unit == "(s/token)/(Hz)"
    assert price.value == pytest.approx((theta[1] - theta[0]) / (0.002 * 20e6), rel=1e-3)
    assert price.value < 0


def test_lengths_are_updated() -> None:
    program = BandwidthForLengths(S2, [5, 2])
    first = program.solve().objective
    program.update(S2, [10, 4])
    assert program.solve().objective == pytest.approx(2 * first, rel=OBJECTIVE_RTOL)


@pytest.mark.parametrize("lengths", [[1], [1, -1], [np.nan, 1], [0, 0]])
def test_bad_lengths(lengths: list[float]) -> None:
    with pytest.raises(ParameterError):
        BandwidthForLengths(S2, lengths)
