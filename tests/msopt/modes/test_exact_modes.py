"""Method `exact` of problem `modes` against enumeration, from good, bad and no incumbents, and at its limits."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import ParameterError, draw, solve
from msopt.arrays import FloatArray
from msopt.model.acceptance import Acceptance
from msopt.modes import exact_modes as mode_exact
from msopt.modes.exact_modes import exact_lengths, require_exact
from msopt.modes.hull import all_or_nothing, upper_hull
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from msopt.modes.subsets import combination, expected_of_all, sum_of_all
from msopt.numerics import memory
from msopt.numerics.clock import Clock
from tests import brute_force
from tests.cases import Description, scenario_of
from tests.mode_cases import one, problem_of
from tests.strategies import LAWS, descriptions
from tests.tolerances import CLOSED_FORM, EXACT, NEVER_ABOVE, OPTIMAL

CURVE = [0.84, 0.69, 0.46, 0.37, 0.10, 0.09]


def least_lengths(problem: ModeProblem) -> np.ndarray:
    return np.full(problem.scenario.device_count, problem.limits[0])


def handicapped(problem: ModeProblem, best: np.ndarray, share: float = 0.97) -> np.ndarray:
    """Of the best lengths with one device changed or all cut short, those with the most goodput below a share of it."""
    low, high = problem.limits
    rows = [np.minimum(best, cap) for cap in range(low, high + 1)]
    for k in range(best.size):
        rows += [np.where(np.arange(best.size) == k, length, best) for length in range(low, high + 1)]
    scores = problem.goodput(np.array(rows, dtype=float))
    below = np.where(scores <= share * one(problem, best), scores, -np.inf)
    return rows[int(np.argmax(below))] if np.max(below) > 0.0 else least_lengths(problem)


def test_random_cases_against_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 cases, all laws, sharings and minima, c1 zero or not; with few combinations at once boxes are split."""
    for case in range(200):
        rng = np.random.default_rng([20260830, case])
        laws = LAWS if case % 3 else ("geometric",)
        description = brute_force.random_scenario(rng, 1 + case % 4, longest=(2, 5), laws=laws)
        best = brute_force.modes_optimum(description)
        problem = problem_of(scenario_of(description))
        starts = (least_lengths(problem), handicapped(problem, np.array(best["lengths"])))
        for combinations, start in itertools.product((4, 2**21), starts):
            monkeypatch.setattr(mode_exact, "_MOST_COMBINATIONS", combinations)
            found = exact_lengths(problem, start)
            if (lengths := found.draft_length.tolist()) != best["lengths"]:
                reached = brute_force.modes_goodput_of_lengths(description, lengths)
                assert reached == pytest.approx(best["goodput"], rel=OPTIMAL)
            assert found.bound == pytest.approx(best["goodput"], rel=OPTIMAL)


@given(descriptions(devices=(1, 3), longest=(1, 6)))
def test_extremes_against_enumeration(description: Description) -> None:
    """Acceptance 0 and 1, draft time 0, one device, a minimum of 1, curves and Beta laws."""
    solution = solve(scenario_of(description), "modes", "exact")
    best = brute_force.modes_optimum(description)["goodput"]
    assert solution.goodput == pytest.approx(best, rel=OPTIMAL)
    assert 0.0 <= solution.gap <= OPTIMAL


@pytest.mark.parametrize("preset", ["uldl-qwen25", "uldl-deepseek-r1"])
@pytest.mark.parametrize("power_dbm", [10.0, 20.0, 30.0])
def test_twenty_devices(preset: str, power_dbm: float) -> None:
    """At most 60 transforms of the table, and the same proof from a worse control."""
    problem = problem_of(draw(preset, seed=1, downlink_power_dbm=power_dbm)[0])
    near = best_lengths(problem)
    proven = exact_lengths(problem, near)
    assert proven.transforms <= 60
    best = one(problem, proven.draft_length)
    assert proven.bound == pytest.approx(best, rel=OPTIMAL)
    worse = handicapped(problem, proven.draft_length)
    assert one(problem, worse) <= 0.97 * best
    again = exact_lengths(problem, worse)
    assert again.transforms <= 60
    assert one(problem, again.draft_length) == pytest.approx(best, rel=OPTIMAL)
    assert again.bound == pytest.approx(best, rel=OPTIMAL)


@pytest.mark.parametrize("kind", ["per token", "curves"])
def test_many_lengths_of_six_devices(kind: str) -> None:
    """25 lengths where more than the ends count: from nothing to the same optimum as from the best known."""
    scenario = draw("uldl-qwen25", devices=6, seed=2, downlink_power_dbm=15.0)[0].replace(max_draft_length=25)
    if kind == "per token":
        scenario = scenario.replace(verify_per_token_s=1e-3)
    else:
        scenario = scenario.replace(acceptance=Acceptance.of(scenario.acceptance.mean, None, [CURVE, None] * 3))
    problem = problem_of(scenario)
    assert not all_or_nothing(problem)
    found = exact_lengths(problem, least_lengths(problem))
    best = one(problem, found.draft_length)
    assert found.bound == pytest.approx(best, rel=OPTIMAL)
    assert one(problem, best_lengths(problem)) <= best * (1.0 + NEVER_ABOVE)
    caps = np.broadcast_to(np.arange(26.0)[:, None], (26, 6))
    for k in range(6):
        rows = np.where(np.arange(6) == k, caps, found.draft_length)
        assert np.max(problem.goodput(rows)) <= best * (1.0 + NEVER_ABOVE)


@pytest.mark.parametrize("limit", [{"node_limit": 1}, {"node_limit": 3}, {"clock": Clock(0.0)}])
def test_limits_leave_a_true_bound(limit: dict[str, float]) -> None:
    scenario = draw("uldl-qwen25", devices=10, seed=3, downlink_power_dbm=12.0)[0]
    best = solve(scenario, "modes", "exact").goodput
    problem = problem_of(scenario)
    stopped = exact_lengths(problem, least_lengths(problem), **limit)  # type: ignore[arg-type]
    assert one(problem, stopped.draft_length) <= best * (1.0 + NEVER_ABOVE)
    assert best <= stopped.bound * (1.0 + NEVER_ABOVE)
    assert np.isfinite(stopped.bound)
    assert stopped.nodes <= limit.get("node_limit", 0)


def test_the_first_search_ends_with_the_time() -> None:
    """Once the time is over no gradient is asked for, and the answer is what was to start from."""
    scenario = draw("uldl-qwen25", devices=10, seed=3, downlink_power_dbm=12.0)[0]
    problem = problem_of(scenario)
    asked: list[int] = []

    class Watched:
        exact, rule = True, "best"
        expected_s = problem.correction.expected_s

        def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
            asked.append(len(rejection))
            return problem.correction.gradient_s(rejection)

    watched = ModeProblem(scenario, Watched())  # type: ignore[arg-type]
    over = best_lengths(watched, clock=Clock(0.0))
    assert not asked
    assert one(problem, over) <= one(problem, best_lengths(watched))
    assert asked


def test_limits_on_random_cases() -> None:
    """A bound at any limit is never below the enumerated optimum."""
    for case in range(60):
        rng = np.random.default_rng([20260831, case])
        description = brute_force.random_scenario(rng, 2 + case % 3, longest=(2, 5), laws=LAWS)
        best = brute_force.modes_optimum(description)["goodput"]
        problem = problem_of(scenario_of(description))
        for limit in (1, 2, 4):
            stopped = exact_lengths(problem, least_lengths(problem), node_limit=limit)
            assert best <= stopped.bound * (1.0 + NEVER_ABOVE)
            assert one(problem, stopped.draft_length) <= best * (1.0 + NEVER_ABOVE)


def test_more_devices_than_a_table_holds() -> None:
    with pytest.raises(ParameterError, match="at most K = 20 devices; the scenario has 21"):
        solve(draw("uldl-qwen25", devices=21)[0], "modes", "exact")


def test_memory_is_checked_before_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2 << 20)
    with pytest.raises(ParameterError, match=r"modes for K = 20 needs about 256 MiB of memory; 2 MiB are available"):
        require_exact(draw("uldl-qwen25", devices=20)[0])
    three = draw("uldl-qwen25", devices=3)[0]
    assert three.max_draft_length == 20
    require_exact(three)  # 21^3 combinations, in 16 arrays of 8 bytes each
    with pytest.raises(ParameterError, match="for K = 3 needs about 32 MiB"):
        require_exact(three.replace(max_draft_length=63))


# The pieces


@settings(max_examples=25)
@given(descriptions(devices=(1, 7)), st.data())
def test_transform_against_the_expectation(description: Description, data: st.DataObject) -> None:
    """Every combination of one to three probabilities of each device, against C at it."""
    problem = problem_of(scenario_of(description))
    order = problem.correction.times.order  # type: ignore[attr-defined]
    probability = st.floats(0.0, 1.0)
    parts = [np.array(data.draw(st.lists(probability, min_size=1, max_size=3))) for _ in range(order.size)]
    values = expected_of_all(problem.correction.seconds, parts)  # type: ignore[attr-defined]
    rows = np.empty((values.size, order.size))
    for index in range(values.size):
        chosen = combination(index, [part.size for part in parts])
        rows[index, order] = [part[i] for part, i in zip(parts, chosen, strict=True)]
    assert values == pytest.approx(problem.correction.expected_s(rows), rel=CLOSED_FORM)
    assert sum_of_all(parts) == pytest.approx(rows.sum(axis=1), rel=EXACT, abs=EXACT)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(-2.0, 9.0)), min_size=1, max_size=9), st.floats(0.0, 50.0))
def test_some_vertex_of_the_hull_is_best_at_every_price(points: list[tuple[float, float]], price: float) -> None:
    rejection = np.sort([x for x, _ in points])
    worth = np.array([y for _, y in points])
    value = worth - price * rejection
    hull = upper_hull(rejection, worth)
    assert np.max(value[hull]) == pytest.approx(np.max(value), rel=EXACT, abs=EXACT)
