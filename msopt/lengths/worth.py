"""What whole lengths are worth under the split of the band that suits them best."""

from msopt.arrays import FloatArray
from msopt.lengths.relaxed import shortest_deadline
from msopt.model.goodput import round_at
from msopt.model.scenario import Scenario


def exact_goodput(scenario: Scenario, lengths: FloatArray) -> FloatArray:
    """Goodput [token/s] of lengths of shape (..., K) under the split that suits them best."""
    return round_at(scenario, lengths, shortest_deadline(scenario, lengths)).goodput
