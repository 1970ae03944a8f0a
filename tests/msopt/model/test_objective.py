"""What rounds are worth, by hand."""

import numpy as np

from msopt.model.goodput import Round
from msopt.model.objective import GOODPUT


def test_goodput_is_tokens_over_seconds() -> None:
    tokens, zero = np.array([[2.0, 3.0], [1.0, 1.0]]), np.zeros(2)
    assert GOODPUT.value(tokens, np.array([0.5, 4.0])).tolist() == [10.0, 0.5]
    assert GOODPUT.value(tokens[0], np.array(0.5)).shape == ()
    assert Round(tokens, np.array([0.25, 3.0]), np.array([0.25, 1.0]), zero).goodput.tolist() == [10.0, 0.5]
