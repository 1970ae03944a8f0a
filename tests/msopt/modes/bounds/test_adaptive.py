"""The bound of problem `modes` for many devices: never below the optimum, the pieces of its proof, how near it is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import Scenario, draw
from msopt.arrays import FloatArray
from msopt.modes.bounds import adaptive as mode_bound_adaptive
from msopt.modes.bounds import adaptive_choice
from msopt.modes.bounds.adaptive import adaptive_bound
from msopt.modes.bounds.adaptive_choice import AdaptiveChoice
from msopt.modes.correction import CorrectionTimes, alone_s, react
from msopt.modes.expected import expected_correction
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from msopt.numerics.binomial import binomial, spread_binomial
from tests import brute_force
from tests.cases import scenario_of
from tests.mode_cases import all_or_nothing_cases, problem_of
from tests.strategies import scenarios
from tests.tolerances import EXACT, NEVER_ABOVE, STANDARD_ERRORS


def correction_with(times: CorrectionTimes, members: tuple[bool, ...], sharers: float) -> float:
    """T_r(R) [s] by trying every uplink set; members and devices worst uplink first."""
    places = np.arange(len(members))[::-1]
    up = times.uplink_s(np.full(places.size, sharers), places)
    rejected = np.flatnonzero(members)
    best = np.inf if rejected.size else 0.0
    for chosen in itertools.product((False, True), repeat=rejected.size):
        on = np.array(chosen, dtype=bool)
        need = float(np.sum(times.inverse_snr[places[rejected[~on]]]))
        down = float(times.downlink_s(np.array(sharers), np.array(need)))
        best = min(best, max(float(np.max(up[rejected[on]], initial=0.0)), down))
    return best


def probability(members: tuple[bool, ...], rejection: FloatArray) -> float:
    return float(np.prod(np.where(members, rejection, 1.0 - rejection)))


def best_choice(
    choice: AdaptiveChoice,
    times: CorrectionTimes,
    tokens: FloatArray,
    rejection: FloatArray,
    sharers: float,
    price: float,
    cost: float,
) -> float:
    """The best choice where every delay is that of some number of sharers, times a cost."""
    up = times.uplink_s(np.array([sharers]), np.arange(times.order.size)[::-1][: choice.stages, None])
    down = times.downlink_s(np.array([sharers]), choice.grid[:, None])
    return float(choice.best(tokens, rejection, np.array([price]), cost * up, cost * down)[0])


@pytest.mark.parametrize(("grid", "dearer"), [((6, 3), 1.0), ((100, 20), 30.0), ((100, 20), 0.0)])
def test_never_below_the_optimum(grid: tuple[int, int], dearer: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """18 random cases of up to nine devices: two laws, both sharings, coarse grids, and prices far off."""
    prices = mode_bound_adaptive._prices
    monkeypatch.setattr(adaptive_choice, "_FINE", grid[0])
    monkeypatch.setattr(adaptive_choice, "_COARSE", grid[1])
    monkeypatch.setattr(mode_bound_adaptive, "_prices", lambda *of: dearer * prices(*of))
    monkeypatch.setattr(mode_bound_adaptive, "_ROWS", 100)
    for problem, best in itertools.islice(all_or_nothing_cases(20260903, grid[0]), 18):
        for reached in (0.0, best):
            bound = adaptive_bound(problem, reached)
            assert best <= bound * (1.0 + NEVER_ABOVE)
            assert bound >= reached


def test_never_below_brute_force() -> None:
    """24 cases of up to four devices by brute force alone: all laws, both sharings, c1 zero or not."""
    for case in range(24):
        rng = np.random.default_rng([20260904, case])
        description = brute_force.random_scenario(
            rng, 1 + case % 4, longest=(2, 5), laws=("geometric", "curve", "beta")
        )
        best = brute_force.modes_optimum(description)["goodput"]
        assert best <= adaptive_bound(problem_of(scenario_of(description)), 0.9 * best) * (1.0 + NEVER_ABOVE)


@settings(max_examples=25)
@given(scenarios(devices=(1, 4)))
def test_never_below_enumeration(scenario: Scenario) -> None:
    """No control of any lengths has more, over all that hypothesis thinks of: no rejections, alpha 0, tau 0."""
    problem = problem_of(scenario)
    low, high = problem.limits
    every = np.array(list(itertools.product({low, (low + high) // 2, high}, repeat=scenario.device_count)), dtype=float)
    assert np.max(problem.goodput(every)) <= adaptive_bound(problem) * (1.0 + NEVER_ABOVE)


@settings(max_examples=40)
@given(scenarios(devices=(1, 5)), st.floats(1.0, 6.0), st.data())
def test_time_with_given_shares(scenario: Scenario, sharers: float, data: st.DataObject) -> None:
    """T_r is the sum of the stages' parts, and T(R) >= h(|R|, T_r(R)), for every set."""
    count = scenario.device_count
    times = CorrectionTimes(scenario)
    up = np.append(times.uplink_s(np.full(count, sharers), np.arange(count)[::-1]), 0.0)
    members = tuple(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    down = times.downlink_s(np.full(count, sharers), np.cumsum(members * times.inverse_snr[::-1]))
    seconds = float(np.sum(np.maximum(np.minimum(up[:-1], down) - up[1:], 0.0)))
    assert seconds == pytest.approx(correction_with(times, members, sharers), rel=NEVER_ABOVE)
    _, exact = react(scenario, times.order[::-1][np.flatnonzero(members)])
    becomes = times.with_sharers(np.array(sum(members)), np.array(sharers), np.array(seconds))
    assert exact >= float(becomes) * (1.0 - NEVER_ABOVE)


@settings(max_examples=40)
@given(scenarios(devices=(1, 1)), st.floats(1.0, 9.0))
def test_how_delays_grow_with_sharers(scenario: Scenario, sharers: float) -> None:
    """h(r, t) = t; h rises with n and with t, by ever less from n to n + 1, and by the more the longer t."""
    n, t = np.arange(13), np.geomspace(0.01, 100.0, 9) * float(alone_s(scenario)[0])
    times = CorrectionTimes(scenario)
    assert times.with_sharers(np.array(7), np.array(7.0), t) == pytest.approx(t, rel=NEVER_ABOVE)
    h = times.with_sharers(n[:, None], np.array(sharers), t)
    steps = np.diff(h, axis=0)
    slack = NEVER_ABOVE * h[1:]
    assert np.all(steps >= -slack)
    assert np.all(np.diff(steps, axis=0) <= slack[1:])
    assert np.all(np.diff(steps, axis=1) >= -slack[:, 1:])


@settings(max_examples=20)
@given(scenarios(devices=(1, 5)), st.floats(1.0, 6.0), st.data())
def test_sharers_may_be_drawn_apart(scenario: Scenario, sharers: float, data: st.DataObject) -> None:
    """C(rho) is at least the mean of h(N, T_r(R)) over N binomial and independent of R, that at least with a few N."""
    count = scenario.device_count
    times = CorrectionTimes(scenario)
    rejection = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=count, max_size=count)))
    every = list(itertools.product((False, True), repeat=count))
    seconds = np.array([correction_with(times, members, sharers) for members in every])
    law = np.array([probability(members, rejection) for members in every])
    mean = np.array([rejection.sum()])
    exact = expected_correction(scenario, "best").expected_s(rejection[np.argsort(times.order[::-1])][None, :])[0]
    all_of_them = binomial(count, mean)[0], np.arange(count + 1)
    some, weight = spread_binomial(count, mean, np.linspace(-4.5, 4.5, 7))
    before = exact
    for weights, numbers in (all_of_them, (weight[:, 0], some[:, 0])):
        found = float(weights @ times.with_sharers(numbers[:, None], np.array(sharers), seconds) @ law)
        assert found <= before * (1.0 + NEVER_ABOVE)
        before = found


@settings(max_examples=20)
@given(scenarios(devices=(1, 4)), st.floats(1.0, 5.0), st.floats(-1.0, 2.0), st.integers(0, 2**32 - 1))
def test_adaptive_choice_is_never_worse(scenario: Scenario, sharers: float, price: float, seed: int) -> None:
    """Of three lengths each at least the best of all choices that follow nothing; at most that of free corrections."""
    count = scenario.device_count
    times = CorrectionTimes(scenario)
    rng = np.random.default_rng(seed)
    tokens = np.sort(1.0 + 9.0 * rng.random((3, count)), axis=0)
    rejection = np.sort(rng.random((3, count)), axis=0)
    every = list(itertools.product((False, True), repeat=count))
    seconds = [correction_with(times, members, sharers) for members in every]
    cost = 10.0 * float(rng.random()) / max(seconds)
    here = np.arange(count)
    values = []
    for drafting in itertools.product((0, 1, 2), repeat=count):
        p = rejection[np.array(drafting), here]
        mean = sum(probability(members, p) * t for members, t in zip(every, seconds, strict=True))
        values.append(float(np.sum(tokens[np.array(drafting), here] - price * p)) - cost * mean)
    choice = AdaptiveChoice(times, sharers, float(np.median(seconds[1:])))
    best = best_choice(choice, times, tokens, rejection, sharers, price, cost)
    assert best >= max(values) - EXACT * (10.0 * count + cost * max(seconds))
    assert best <= float(np.sum(np.max(tokens - price * rejection, axis=0))) + EXACT * 10.0 * count


def test_adaptive_choice_of_one_device_is_the_best_choice() -> None:
    """With one device there is nothing to follow, so that only the grid's rounding is left: T_r within one cell."""
    scenario = draw("uldl-qwen25", devices=1, seed=3)[0]
    times = CorrectionTimes(scenario)
    seconds = correction_with(times, (True,), 1.0)
    choice = AdaptiveChoice(times, 1.0, seconds)
    tokens, rejection = np.array([[1.0], [7.0]]), np.array([[0.0], [0.8]])
    for cost in (0.5 * 6.0 / (0.8 * seconds), 2.0 * 6.0 / (0.8 * seconds)):
        best = best_choice(choice, times, tokens, rejection, 1.0, 0.0, cost)
        exact = max(1.0, 7.0 - 0.8 * cost * seconds)
        assert exact * (1.0 - EXACT) <= best <= exact + 0.006 * 0.8 * cost * seconds


@pytest.mark.parametrize(
    ("preset", "devices", "power_dbm"),
    [("uldl-qwen25", 22, 5.0), ("uldl-qwen25", 100, 0.0), ("uldl-deepseek-r1", 150, 20.0)],
)
def test_gap_at_many_devices(preset: str, devices: int, power_dbm: float) -> None:
    """Never below the goodput of the search on outcomes of its own, and at most 0.6 % above it."""
    scenario = draw(preset, devices=devices, seed=4, downlink_power_dbm=power_dbm)[0]
    searched = ModeProblem(scenario, expected_correction(scenario, "best", samples=300, seed=1))
    lengths = best_lengths(searched)[None, :].astype(float)
    scored = ModeProblem(scenario, expected_correction(scenario, "best", samples=4000, seed=2))
    found = scored.play(lengths)
    goodput = float(found.goodput[0])
    error_s = STANDARD_ERRORS * scored.correction.standard_error_s(scored.rejection(lengths[0]))
    assert goodput * (1.0 - error_s / float(found.round_s[0])) <= adaptive_bound(scored)
    assert adaptive_bound(scored, goodput) <= 1.006 * goodput
