"""The local search over whole lengths: exact scores, no move left that gains, nothing lost on the way."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt.whole_lengths import exact_goodput, improve
from tests import brute_force
from tests.cases import Description, s2, scenario_of
from tests.strategies import descriptions
from tests.tolerances import CLOSED_FORM, EXACT


def draw_rows(description: Description, data: st.DataObject, rows: int) -> np.ndarray:
    limits = description["limits"]
    length = st.integers(limits.get("min_draft_length", 1), limits["max_draft_length"])
    count = len(description["devices"])
    return np.array([[data.draw(length) for _ in range(count)] for _ in range(rows)], dtype=float)


@given(descriptions(), st.data())
def test_scores_against_brute_force(description: Description, data: st.DataObject) -> None:
    rows = draw_rows(description, data, 3)
    scores = exact_goodput(scenario_of(description), rows)
    for score, row in zip(scores, rows.astype(int), strict=True):
        assert score == pytest.approx(brute_force.goodput_of_lengths(description, row.tolist()), rel=CLOSED_FORM)


@settings(max_examples=25)
@given(descriptions(devices=(1, 3), longest=(1, 8)), st.data())
def test_no_single_move_gains(description: Description, data: st.DataObject) -> None:
    """A token more, a token less, or one moved from a device to another: none is left, and no start was better."""
    scenario = scenario_of(description)
    starts = draw_rows(description, data, 3)
    end = improve(scenario, starts)
    score = float(exact_goodput(scenario, end.astype(float)))
    assert score >= exact_goodput(scenario, starts).max() * (1.0 - EXACT)
    low, high = scenario.length_limits("heterogeneous")
    for change in itertools.product((-1, 0, 1), repeat=end.size):
        moves = np.array(change)
        neighbour = end + moves
        one_move = np.abs(moves).sum() <= 1 or (np.abs(moves).sum() == 2 and moves.sum() == 0)
        if one_move and neighbour.min() >= low and neighbour.max() <= high:
            assert exact_goodput(scenario, neighbour.astype(float)) <= score * (1.0 + EXACT)


def test_starts_outside_the_limits_are_brought_inside() -> None:
    scenario = scenario_of(s2(limits={"min_draft_length": 2, "max_draft_length": 4}))
    end = improve(scenario, np.array([[-3.0, 40.0], [0.0, 0.0]]))
    assert end.tolist() == [4, 2]


@pytest.mark.parametrize("start", [[1, 1], [5, 2], [5, 3], [6, 1]])
def test_two_devices_from_near_by(start: list[int]) -> None:
    assert improve(scenario_of(s2()), np.array([start], dtype=float)).tolist() == [5, 2]


def test_nobody_drafts() -> None:
    """From lengths of 0, where no deadline binds, the first token is found."""
    scenario = scenario_of(s2(limits={"min_draft_length": 0}))
    assert improve(scenario, np.zeros((1, 2))).tolist() == [5, 2]


def test_the_last_token_can_be_taken() -> None:
    """A device that drafts in vain (acceptance 0): without its one token the round has no deadline at all."""
    description = s2(limits={"min_draft_length": 0}, server={"verify_per_token_s": 0.0})
    description["devices"] = [description["devices"][1] | {"acceptance": 0.0}]
    assert improve(scenario_of(description), np.array([[1.0]])).tolist() == [0]


def test_the_last_of_many_tokens_can_be_moved_away() -> None:
    """From (0, 1), where the first device would be the better one to draft, as from anywhere else."""
    scenario = scenario_of(s2(limits={"min_draft_length": 0}, server={"verify_base_s": 0.005}))
    starts = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    ends = [float(exact_goodput(scenario, improve(scenario, row[None, :]).astype(float))) for row in starts]
    assert ends == pytest.approx([max(ends)] * 3, rel=EXACT)
