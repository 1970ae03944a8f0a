"""The score of whole lengths against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.lengths.relaxed import exact_goodput
from tests import brute_force
from tests.cases import Description, scenario_of
from tests.strategies import descriptions
from tests.tolerances import CLOSED_FORM


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
