"""The best lengths of problem `modes` against enumeration of all lengths, and their structure."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import draw, solve
from msopt.model.control import ModeRule
from msopt.model.scenario import Scenario
from msopt.modes.correction import alone_s
from msopt.modes.exact_modes import exact_lengths
from msopt.modes.expected import expected_correction
from msopt.modes.local_search import _ascend, _Model, best_lengths
from msopt.modes.mode_problem import ModeProblem, deadlines, fitting
from msopt.modes.samples import SampledOutcomes
from msopt.modes.table import TableOfOutcomes
from msopt.rivals.greedy import greedy_lengths
from tests import brute_force
from tests.cases import Description, permuted, s1, s3, scenario_of, stretched
from tests.mode_cases import one, problem_of
from tests.strategies import LAWS, descriptions, scenarios
from tests.tolerances import (
    CLOSED_FORM,
    DECOMPOSITION_MODES,
    EXACT,
    NEVER_ABOVE,
    OPTIMAL,
    STANDARD_ERRORS,
)

SOME = settings(max_examples=25)


# Given answers


def test_three_devices_all_uplink() -> None:
    """Field scenario S3: printed as 29.6327967, by enumeration 29.63279682: the print is cut, not rounded."""
    problem = problem_of(scenario_of(s3()), "all-uplink")
    found = one(problem, best_lengths(problem))
    assert found == pytest.approx(29.6327967, rel=5e-9)
    assert found == pytest.approx(brute_force.modes_optimum(s3(), "uplink")["goodput"], rel=CLOSED_FORM)


# The evaluation within


@given(descriptions(devices=(1, 4)), st.data())
def test_scores_against_brute_force(description: Description, data: st.DataObject) -> None:
    problem = problem_of(scenario_of(description))
    length = st.integers(0, 12)
    rows = np.array([[data.draw(length) for _ in description["devices"]] for _ in range(3)])
    corrections = brute_force.expected_corrections(description, rows)
    exact = brute_force.modes_goodputs(description, rows, corrections)
    assert problem.goodput(rows.astype(float)) == pytest.approx(exact, rel=CLOSED_FORM)


@pytest.mark.parametrize("rule", ["best", "all-uplink", "all-downlink", "random"])
@SOME
@given(scenario=scenarios(devices=(1, 5)), data=st.data())
def test_gains_of_single_changes_are_exact(rule: ModeRule, scenario: Scenario, data: st.DataObject) -> None:
    """Tokens less G times the round, after every change of one length, G being the goodput before."""
    problem = problem_of(scenario, rule)
    low, high = problem.limits
    length = st.integers(low, high).map(float)
    lengths = np.array([data.draw(length) for _ in range(scenario.device_count)])
    goodput, deadline = one(problem, lengths), float(np.max(lengths * problem.s_per_token))
    gains = _Model(problem).gains(lengths, goodput)
    for level, device in np.ndindex(gains.shape):
        changed = lengths.copy()
        changed[device] = low + level
        played = problem.play(changed[None, :])
        tokens = float(np.sum(played.expected_tokens))
        value = tokens - goodput * float(played.round_s[0] - played.draft_upload_s[0] + deadline)
        assert gains[level, device] == pytest.approx(value, rel=CLOSED_FORM, abs=CLOSED_FORM * tokens)


class CountedCorrection:
    """A correction that counts contractions of the table: one for each row of C, two for each gradient.

    A gradient takes one contraction from the high places down and one from the low ones up; the rest of it is
    as small as the square root of the table.
    """

    def __init__(self, correction: TableOfOutcomes) -> None:
        self._correction = correction
        self.contractions = 0

    def expected_s(self, rejection: np.ndarray) -> np.ndarray:
        self.contractions += len(rejection)
        return self._correction.expected_s(rejection)

    def gradient_s(self, rejection: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.contractions += 2 * len(rejection)
        return self._correction.gradient_s(rejection)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._correction, name)


@pytest.mark.parametrize("preset", ["uldl-qwen25", "uldl-deepseek-r1"])
def test_twenty_devices_are_optimal_with_few_contractions(preset: str) -> None:
    """Equal to `exact` in every one of ten draws between 0 and 30 dBm, with at most 400 contractions."""
    for seed in range(10):
        scenario = draw(preset, seed=seed, downlink_power_dbm=float(np.random.default_rng(seed).uniform(0.0, 30.0)))[0]
        table = TableOfOutcomes(scenario, "best")
        counted = CountedCorrection(table)
        lengths = best_lengths(ModeProblem(scenario, counted))  # type: ignore[arg-type]
        assert counted.contractions <= 400
        problem = ModeProblem(scenario, table)
        proven = exact_lengths(problem, lengths)
        assert one(problem, lengths) == pytest.approx(one(problem, proven.draft_length), rel=OPTIMAL)


def test_deadlines_are_products_and_lengths_fit_them() -> None:
    """Field scenario S3's u_k = tau_k + b/R_k(B/3); a product l u_k lets device k draft l, not l - 1."""
    scenario = scenario_of(s3())
    problem = problem_of(scenario)
    unit = scenario.draft_s_per_token + 17.0 / (20e6 / 3.0 * np.log2(1.0 + scenario.uplink_snr))
    assert problem.s_per_token == pytest.approx(unit, rel=EXACT)
    every = deadlines(problem)
    assert every[0] == 0.0
    assert np.all(np.diff(every) > 0.0)
    for l in range(9):
        for k in range(3):
            assert np.any(np.abs(every - l * unit[k]) <= EXACT * every[-1])
            caps = fitting(problem, np.array([l * unit[k]]))[0]
            assert caps[k] == l
            assert np.all(caps * unit <= l * unit[k] * (1.0 + EXACT))
            assert np.all(((caps + 1.0) * unit > l * unit[k] * (1.0 - EXACT)) | (caps == 8.0))


def test_the_plain_floor_loses_tokens() -> None:
    """Some l u / u fall just below l; the fitting lengths do not."""
    rng = np.random.default_rng(0)
    draft = rng.uniform(0.01, 0.05, 200)
    lost = 0
    for tau in draft.tolist():
        description = s1(payload={"token_bits": 0}) | {"devices": [s1()["devices"][0] | {"draft_s_per_token": tau}]}
        problem = problem_of(scenario_of(description))
        for l in range(1, 17):
            lost += int(np.floor(np.array(3 * l * tau) / 3 / tau) < l)
            assert fitting(problem, np.array([3.0 * l * tau / 3.0]))[0, 0] == l
    assert lost > 0


# Enumeration and structure


def test_random_cases_against_enumeration() -> None:
    """80 cases of up to four devices: all laws, both sharings, with and without time by the token."""
    ratios = []
    for case in range(80):
        rng = np.random.default_rng([20260829, case])
        laws = LAWS if case % 3 == 2 else ("geometric",)
        description = brute_force.random_scenario(rng, 1 + case % 4, longest=(2, 5), laws=laws)
        best = brute_force.modes_optimum(description)["goodput"]
        lengths = best_lengths(problem_of(scenario_of(description)))
        ratios.append(brute_force.modes_goodput_of_lengths(description, lengths.tolist()) / best)
    assert max(ratios) <= 1.0 + NEVER_ABOVE
    assert min(ratios) >= DECOMPOSITION_MODES


@SOME
@given(descriptions(devices=(1, 4), longest=(2, 5), kinds=("geometric",), per_token=False))
def test_all_or_nothing(description: Description) -> None:
    """c1 = 0, geometric: some best control has each device at the minimum or at all that its deadline allows.

    By brute force alone: all lengths against those of that form, for every deadline.
    """
    lengths = brute_force.all_lengths(description, 0)
    scores = brute_force.modes_goodputs(description, lengths, brute_force.expected_corrections(description, lengths))
    problem = problem_of(scenario_of(description))
    unit, (low, high) = problem.s_per_token, problem.limits
    corners = set()
    for deadline in {l * u for l in range(low, high + 1) for u in unit.tolist()}:
        caps = [low + sum((low + n) * u <= deadline * (1.0 + EXACT) for n in range(1, high - low + 1)) for u in unit]
        corners |= set(itertools.product(*[(low, cap) for cap in caps]))
    of_that_form = [tuple(row) in corners for row in lengths.tolist()]
    assert scores[of_that_form].max() >= scores.max() * (1.0 - EXACT)


@SOME
@given(descriptions(devices=(1, 4)))
def test_limits_and_no_single_change_gains(description: Description) -> None:
    problem = problem_of(scenario_of(description))
    low, high = problem.limits
    found = best_lengths(problem)
    assert np.all((found >= low) & (found <= high))
    score = one(problem, found)
    upload = float(np.max(found * problem.s_per_token))
    for device in range(found.size):
        for length in range(low, high + 1):
            if length * problem.s_per_token[device] <= upload:
                changed = found.copy()
                changed[device] = length
                assert one(problem, changed) <= score * (1.0 + CLOSED_FORM)


@given(scenarios(devices=(1, 6)))
def test_never_behind_greedy(scenario: Scenario) -> None:
    problem = problem_of(scenario)
    assert one(problem, best_lengths(problem)) >= one(problem, greedy_lengths(problem)) * (1.0 - EXACT)


@SOME
@given(scenarios(devices=(2, 4)), st.data())
def test_ascending_never_loses(scenario: Scenario, data: st.DataObject) -> None:
    problem = problem_of(scenario)
    low, high = problem.limits
    length = st.integers(low, high).map(float)
    start = np.array([data.draw(length) for _ in range(scenario.device_count)])
    assert one(problem, _ascend(_Model(problem), start)) >= one(problem, start) * (1.0 - EXACT)


@SOME
@given(scenarios(devices=(2, 4), inner=True), st.randoms(use_true_random=False))
def test_permuting_devices_keeps_the_goodput(scenario: Scenario, random: Any) -> None:
    order = list(range(scenario.device_count))
    random.shuffle(order)
    problem, moved = problem_of(scenario), problem_of(permuted(scenario, order))
    lengths, others = best_lengths(problem), best_lengths(moved)
    assert one(moved, others) == pytest.approx(one(problem, lengths), rel=CLOSED_FORM)
    assert one(moved, lengths[order]) == pytest.approx(one(problem, lengths), rel=CLOSED_FORM)


@SOME
@given(scenarios(devices=(1, 4)), st.sampled_from([0.01, 3.0, 1e3]))
def test_stretching_time_divides_the_goodput(scenario: Scenario, factor: float) -> None:
    """Draft times, verification times and both payloads times s divide the goodput by s."""
    problem, slow = problem_of(scenario), problem_of(stretched(scenario, factor))
    found = one(problem, best_lengths(problem))
    assert one(slow, best_lengths(slow)) * factor == pytest.approx(found, rel=CLOSED_FORM)


def test_a_weak_device_is_set_aside() -> None:
    """Greedy cannot start when one weak device makes every rejection dear; the nested sets can."""
    devices = [s1()["devices"][0] | {"name": f"d{k}", "acceptance": 0.9} for k in range(3)]
    devices.append(devices[0] | {"name": "weak", "uplink_snr_db": -40.0, "downlink_snr_db": -40.0})
    description = s1(limits={"max_draft_length": 5}) | {"devices": devices}
    problem = problem_of(scenario_of(description))
    best = brute_force.modes_optimum(description)
    found = best_lengths(problem)
    assert found[3] == 0
    assert found[:3].min() > 0
    assert one(problem, found) == pytest.approx(best["goodput"], rel=CLOSED_FORM)
    assert one(problem, greedy_lengths(problem)) < 0.9 * best["goodput"]


# Sampled corrections


def test_a_search_on_samples_is_near_the_optimum() -> None:
    """On its own outcomes the found control is no worse than the proven optimum; scored exactly, it is behind by noise.

    Either sampled goodput may be four standard errors off, so the exact ones differ by at most eight: less than
    1.3e-4 false alarms for each of the four draws.
    """
    for seed in range(4):
        scenario = draw("uldl-qwen25", devices=12, seed=seed, downlink_power_dbm=10.0)[0]
        problem = problem_of(scenario)
        sampled = ModeProblem(scenario, SampledOutcomes(scenario, "best", 2000, seed))
        found, proven = best_lengths(sampled), exact_lengths(problem, best_lengths(problem)).draft_length
        assert one(sampled, found) >= one(sampled, proven) * (1.0 - NEVER_ABOVE)
        best, played = one(problem, proven), problem.play(proven[None, :].astype(float))
        error_s = sampled.correction.standard_error_s(problem.rejection(proven.astype(float)))
        slack = 2.0 * STANDARD_ERRORS * error_s / float(played.round_s[0])
        assert best * (1.0 - slack) <= one(problem, found) <= best * (1.0 + NEVER_ABOVE)


def test_standard_error_beyond_the_table() -> None:
    """The default number of outcomes leaves less than 0.1 % of the goodput."""
    solution = solve(draw("uldl-deepseek-r1", devices=150, seed=1)[0], "modes")
    assert 0.0 < solution.standard_error < 1e-3 * solution.goodput


@pytest.mark.parametrize(("preset", "devices", "seed"), [("uldl-deepseek-r1", 100, 0), ("uldl-qwen25", 300, 1)])
def test_no_nested_set_is_better_at_its_deadline(preset: str, devices: int, seed: int) -> None:
    """Downlink power is scarce here, so that one weak device more or less decides; every number of them is tried."""
    scenario = draw(preset, devices=devices, seed=seed, downlink_power_dbm=10.0)[0]
    problem = ModeProblem(scenario, expected_correction(scenario, "best", samples=300))
    found = best_lengths(problem)
    deadline = float(np.max(found * problem.s_per_token))
    cap = fitting(problem, np.array([deadline]))[0]
    rank = np.argsort(np.argsort(-alone_s(scenario), kind="stable"), kind="stable")
    nested = np.where(rank >= np.arange(devices + 1)[:, None], cap, float(problem.limits[0]))
    assert np.max(problem.goodput(nested)) <= one(problem, found) * (1.0 + NEVER_ABOVE)
