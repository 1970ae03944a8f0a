"""[UD] Algorithm 1 against a slow copy of the paper's text that scores by brute force."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings

from msopt.modes.expected import expected_correction
from msopt.modes.mode_problem import ModeProblem
from msopt.rivals.greedy import GreedyStart, computation_only_by_greedy, greedy_lengths
from tests import brute_force
from tests.cases import Description, base, s1, s2, s3, scenario_of
from tests.strategies import descriptions
from tests.tolerances import CLOSED_FORM


def as_printed(description: Description) -> list[int]:
    """From the minimum, one more for every device while G improves, then one for the best device while it does."""
    limits = description["limits"]
    low, high = limits.get("min_draft_length", 0), limits["max_draft_length"]
    count = len(description["devices"])

    def score(lengths: list[int]) -> float:
        return brute_force.modes_goodput_of_lengths(description, lengths)

    lengths = [low] * count
    while lengths[0] < high and score([l + 1 for l in lengths]) > score(lengths):
        lengths = [l + 1 for l in lengths]
    while True:
        steps = [[l + (i == k) for i, l in enumerate(lengths)] for k in range(count) if lengths[k] < high]
        best = max(steps, key=score, default=lengths)
        if score(best) <= score(lengths):
            return lengths
        lengths = best


def greedy(description: Description) -> list[int]:
    scenario = scenario_of(description)
    return [int(l) for l in greedy_lengths(ModeProblem(scenario, expected_correction(scenario, "best")))]


@settings(max_examples=40)
@given(descriptions(devices=(1, 4), longest=(1, 6), inner=True))
def test_against_the_papers_text(description: Description) -> None:
    found, expected = greedy(description), as_printed(description)
    scores = [brute_force.modes_goodput_of_lengths(description, lengths) for lengths in (found, expected)]
    assert scores[0] == pytest.approx(scores[1], rel=CLOSED_FORM)
    assert found == expected


@pytest.mark.parametrize("description", [s1(), s2(), s3()], ids=["S1", "S2", "S3"])
def test_base_scenarios(description: Description) -> None:
    assert greedy(description) == as_printed(description)


@settings(max_examples=20)
@given(descriptions(devices=(1, 4), longest=(1, 6), inner=True))
def test_without_corrections_against_the_papers_text(description: Description) -> None:
    """Corrections of next to no bits take next to no time, and the printed search is the same."""
    scenario = scenario_of(description)
    free = description | {"payload": description["payload"] | {"distribution_bits": 1e-12}}
    found = [int(l) for l in computation_only_by_greedy(scenario)]
    scores = [brute_force.modes_goodput_of_lengths(free, lengths) for lengths in (found, as_printed(free))]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_more_starts_are_never_worse_and_set_a_weak_device_aside() -> None:
    """One device of -40 dB makes every rejection dear, and one token of one device alone is not worth its time."""
    cell = base((0.9, 0.05, -40.0, -40.0), *[(0.9, 0.05, 20.0, 20.0)] * 4)
    scenario = scenario_of(cell)
    problem = ModeProblem(scenario, expected_correction(scenario, "best"))
    found = {start: greedy_lengths(problem, start) for start in get_args(GreedyStart)}
    scores = {start: float(problem.goodput(lengths[None, :].astype(float))[0]) for start, lengths in found.items()}
    assert scores["minimum"] <= scores["common"] <= scores["nested"]
    assert list(found["minimum"]) == [0] * 5
    assert found["nested"][0] == 0
    assert min(found["nested"][1:]) > 0
    best = max(
        brute_force.modes_goodput_of_lengths(cell, [0, length, length, length, length]) for length in range(1, 9)
    )
    assert scores["nested"] >= best * (1.0 - CLOSED_FORM)


def test_limits() -> None:
    assert greedy(s2(limits={"min_draft_length": 4, "max_draft_length": 4})) == [4, 4]
    assert np.all(np.array(greedy(s2(limits={"min_draft_length": 5}))) >= 5)
