"""[UD] Algorithm 1 against a slow copy of the paper's text that scores by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings

from msopt.modes.expected import expected_correction
from msopt.modes.mode_problem import ModeProblem
from msopt.rivals.greedy import greedy_lengths
from tests import brute_force
from tests.cases import Description, s1, s2, s3, scenario_of
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


def test_limits() -> None:
    assert greedy(s2(limits={"min_draft_length": 4, "max_draft_length": 4})) == [4, 4]
    assert np.all(np.array(greedy(s2(limits={"min_draft_length": 5}))) >= 5)
