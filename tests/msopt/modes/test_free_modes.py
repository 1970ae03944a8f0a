"""Which devices to correct by uplink when bands and power are free: all sets enumerated, and where prefixes fail."""

import itertools

import numpy as np
import pytest

import msopt
from msopt import ParameterError, Scenario, draw, react
from msopt.arrays import BoolArray, FloatArray
from msopt.model.control import BAND_RULES, BandRule, best_rule, correction_of
from msopt.model.sharing import UplinkSharing
from msopt.modes.expected import expected_correction
from msopt.modes.free_bands import FreeBands
from msopt.modes.free_modes import best_time, table_of_best_times
from msopt.modes.table import TableOfOutcomes
from reports.crosscheck.random_scenarios import random_scenario
from tests.msopt.modes.test_free_bands import SHARINGS, cell
from tests.tolerances import CLOSED_FORM, EXACT


def all_modes(count: int) -> BoolArray:
    return np.array(list(itertools.product((False, True), repeat=count)))


def times(bands: FreeBands, up: BoolArray, rule: BandRule) -> FloatArray:
    if rule == "shared-band":
        return bands.shared(up, ~up).seconds
    return np.maximum(bands.uplink_s(up), bands.downlink(~up).seconds)


def prefixes(order: FloatArray) -> BoolArray:
    """The first n in an order, n = 0 to r, as masks over the devices."""
    return np.array([np.isin(np.arange(order.size), order[:n]) for n in range(order.size + 1)])


@pytest.mark.parametrize("rule", BAND_RULES)
@pytest.mark.parametrize("sharing", SHARINGS)
def test_the_table_has_the_best_of_all_modes(sharing: UplinkSharing, rule: BandRule) -> None:
    for seed in range(3):
        bands = FreeBands.of(random_scenario(seed, devices=(4, 4), uplink_sharing=sharing))
        seconds, chosen = table_of_best_times(bands, rule)
        assert seconds[0] == chosen[0] == 0
        for index in range(1, 16):
            members = np.flatnonzero((index >> np.arange(4)) & 1)
            part = bands.take(members)
            assert seconds[index] == pytest.approx(times(part, all_modes(members.size), rule).min(), rel=EXACT)
            up = ((chosen[index] >> members) & 1).astype(bool)
            assert times(part, up[None, :], rule)[0] == pytest.approx(seconds[index], rel=EXACT)
        assert best_time(bands, rule)[0] == pytest.approx(seconds[-1], rel=EXACT)


@pytest.mark.parametrize("power_dbm", [10.0, 30.0])
@pytest.mark.parametrize("rule", BAND_RULES)
def test_ten_devices_of_the_paper(rule: BandRule, power_dbm: float) -> None:
    """Where one weak device takes most of the time many uplink sets are nearly as good."""
    bands = FreeBands.of(draw("uldl-qwen25", devices=10, seed=1, downlink_power_dbm=power_dbm)[0])
    seconds, up = best_time(bands, rule)
    assert seconds == pytest.approx(times(bands, all_modes(10), rule).min(), rel=EXACT)
    assert times(bands, up[None, :], rule)[0] == pytest.approx(seconds, rel=EXACT)


def test_devices_that_are_alike() -> None:
    """Only how many go up counts; nothing is cut off by costs, all by change of places."""
    bands = FreeBands.of(cell([5.0] * 12, [9.0] * 12, "power-limited"))
    some = np.tri(13, 12, k=-1, dtype=bool)
    for rule in BAND_RULES:
        assert best_time(bands, rule)[0] == pytest.approx(times(bands, some, rule).min(), rel=EXACT)


# Where prefixes fail


@pytest.mark.parametrize(
    ("sharing", "rule", "up_db", "down_db", "best_up", "loss"),
    [
        ("fixed-snr", "separate-bands", [10, 30, 5], [20, 40, 15], [0], 0.205),
        ("power-limited", "separate-bands", [10, 25, 5], [20, 35, 15], [0], 0.205),
        ("fixed-snr", "shared-band", [0, 15, 5], [-10, 30, 20], [0], 0.420),
        ("power-limited", "shared-band", [10, 25, 5], [35, -10, -10], [1, 2], 0.142),
    ],
)
def test_a_prefix_by_uplink_delay_is_not_always_best(
    sharing: UplinkSharing, rule: BandRule, up_db: list[float], down_db: list[float], best_up: list[int], loss: float
) -> None:
    """[UD] Lemma 2 holds for equal shares alone; with two bands even where both channels have the same gain."""
    scenario = cell(up_db, down_db, sharing).with_bandwidth(downlink_hz=10e6).replace(downlink_snr_db=np.array(down_db))
    bands = FreeBands.of(scenario)
    seconds, up = best_time(bands, rule)
    assert np.flatnonzero(up).tolist() == best_up
    by_prefix = times(bands, prefixes(np.argsort(-scenario.uplink_snr_db)), rule).min()
    assert by_prefix / seconds - 1.0 == pytest.approx(loss, abs=6e-4)


def test_two_bands_part_numbers() -> None:
    """Payloads of 1, 2, 3 and 4 units at one efficiency either way: 5 units each, as {1, 4} and {2, 3}.

    The best prefix of any of the orders by load has 6: {1, 2, 3} and {4}, or {4, ...} and the like.
    """
    scenario = cell([10.0] * 4, [10.0] * 4).with_bandwidth(downlink_hz=10e6).replace(downlink_snr_db=np.full(4, 10.0))
    bits = 1000.0 * np.arange(1.0, 5.0)
    bands = FreeBands.of(scenario, bits, bits)
    unit_s = 1000.0 / (10e6 * np.log2(11.0))
    seconds, up = best_time(bands, "separate-bands")
    assert seconds == pytest.approx(5.0 * unit_s, rel=CLOSED_FORM)
    assert set(np.flatnonzero(up)) in ({0, 3}, {1, 2})
    for order in (np.arange(4), np.arange(4)[::-1]):
        assert times(bands, prefixes(order), "separate-bands").min() == pytest.approx(6.0 * unit_s, rel=CLOSED_FORM)


# As a correction of problem `modes`


@pytest.mark.parametrize("rule", BAND_RULES)
def test_the_table_of_outcomes_is_that_of_reactions(rule: BandRule) -> None:
    scenario, _ = draw("uldl-qwen25", devices=5, seed=2, downlink_power_dbm=20.0)
    rho = np.random.default_rng(3).uniform(size=5)
    mean, on_uplink = 0.0, np.zeros(5)
    for outcome in itertools.product((False, True), repeat=5):
        rejected = np.flatnonzero(outcome)
        weight = float(np.prod(np.where(outcome, rho, 1.0 - rho)))
        reaction, seconds = react(scenario, rejected, rule)
        mean += weight * seconds
        on_uplink[reaction.rejected[reaction.on_uplink]] += weight
    table = TableOfOutcomes(scenario, rule)
    assert table.expected_s(rho[None, :]) == pytest.approx([mean], rel=EXACT)
    assert table.uplink_probability(rho) == pytest.approx(on_uplink, rel=EXACT)


def enumerated(scenario: Scenario, rule: BandRule) -> float:
    """The best goodput of all lengths."""
    low, high = scenario.length_limits("modes")
    every = itertools.product(range(low, high + 1), repeat=scenario.device_count)
    table = TableOfOutcomes(scenario, rule)
    lengths = np.array(list(every), dtype=float)
    survival = scenario.acceptance.survival(lengths)
    tokens = np.sum(scenario.acceptance.expected_tokens(lengths), axis=1)
    upload = np.max(lengths * scenario.draft_s_per_token, axis=1)
    seconds = upload + scenario.verify_s(lengths) + table.expected_s(1.0 - survival)
    return float(np.max(tokens / seconds))


@pytest.mark.parametrize("rule", BAND_RULES)
def test_lengths_are_optimal_for_the_correction_chosen(rule: BandRule) -> None:
    scenario, _ = draw("uldl-qwen25", devices=4, seed=5, downlink_power_dbm=20.0)
    scenario = scenario.replace(max_draft_length=6)
    best = enumerated(scenario, rule)
    exact = msopt.solve(scenario, "modes", "exact", correction=rule)
    searched = msopt.solve(scenario, "modes", correction=rule)
    assert exact.goodput == pytest.approx(best, rel=EXACT)
    assert exact.bound == pytest.approx(best, rel=CLOSED_FORM)
    assert searched.goodput <= best * (1.0 + EXACT)
    assert searched.bound >= best
    assert exact.to_dict()["correction"] == rule
    assert exact.goodput >= msopt.solve(scenario, "modes", "exact").goodput


def test_kinds_and_rules_name_each_other() -> None:
    assert [correction_of(best_rule(rule)) for rule in BAND_RULES] == list(BAND_RULES)
    assert (best_rule("equal-shares"), correction_of("all-uplink")) == ("best", "equal-shares")


@pytest.mark.parametrize(
    ("problem", "method", "options", "words"),
    [
        ("heterogeneous", "decomposition", {}, "option correction goes with problem modes, not with heterogeneous"),
        ("modes", "all-uplink", {}, "option correction goes with method .* or computation-only, not with all-uplink"),
        ("modes", "greedy", {"samples": 10}, "correction shared-band is not computed on drawn outcomes"),
    ],
)
def test_where_it_does_not_belong(problem: str, method: str, options: dict[str, int], words: str) -> None:
    scenario, _ = draw("uldl-qwen25", devices=3, seed=5)
    with pytest.raises(ParameterError, match=words):
        msopt.solve(scenario, problem, method, correction="shared-band", **options)  # type: ignore[arg-type]


def test_more_devices_than_a_table_holds() -> None:
    scenario = draw("uldl-qwen25", devices=21, seed=5)[0]
    words = "correction shared-band is known for at most 20 devices; the scenario has 21"
    with pytest.raises(ParameterError, match=words):
        msopt.solve(scenario, "modes", correction="shared-band")
    with pytest.raises(ParameterError, match=words):
        expected_correction(scenario, "shared-band")
