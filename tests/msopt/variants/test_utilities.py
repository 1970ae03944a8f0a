import numpy as np
import pytest

from msopt import Admission, AlphaFair, MaxMin, ParameterError, ProportionalFair, WeightedSum
from msopt.model.objective import GOODPUT, Utility

W = np.array([0.5, 1.0, 2.0])
ALL = [GOODPUT, WeightedSum(W), ProportionalFair(W), AlphaFair(W, 2.0), AlphaFair(W, 0.5), MaxMin(W)]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_a_gap_is_the_factor_of_all_goodputs(one: Utility) -> None:
    tokens = np.array([1.5, 2.5, 3.5])
    value = float(one.value(tokens, np.asarray(0.5)))
    for factor in (1.0 + 1e-9, 1.01, 3.0):
        more = float(one.value(factor * tokens, np.asarray(0.5)))
        assert one.scaled(value, factor) == pytest.approx(more, rel=1e-12)
        assert one.gap(value, more) == pytest.approx(factor - 1.0, rel=1e-5)
    assert one.gap(value, value) == 0.0


@pytest.mark.parametrize("one", [*ALL, Admission(4.0)], ids=lambda one: one.name)
def test_terms_overlook_no_round_that_beats_the_target(one: Utility) -> None:
    rng = np.random.default_rng(2)
    tokens = rng.uniform(1.0, 6.0, (4, 3))
    for _ in range(200):
        start, end = np.sort(rng.uniform(0.3, 1.5, 2))
        choice = rng.integers(0, 4, 3), np.arange(3)
        round_s = rng.uniform(start, end)
        value = float(one.value(tokens[choice], np.asarray(round_s)))
        target = value - abs(value) * rng.uniform(1e-6, 0.5) if value else -0.5
        terms = one.terms(tokens, (start, end), target)
        assert float(np.sum(terms.worth[choice])) - terms.per_second * round_s + terms.constant > 0.0


def test_nonsense_is_refused() -> None:
    for weights in ([0.0, 0.0], [1.0, -1.0], [1.0, np.nan]):
        with pytest.raises(ParameterError, match="weights"):
            WeightedSum(np.array(weights))
    for fairness in (0.0, 1.0, 101.0, np.nan):
        with pytest.raises(ParameterError, match="fairness"):
            AlphaFair(fairness=fairness)
    for guaranteed in (0.0, np.inf):
        with pytest.raises(ParameterError, match="guaranteed"):
            Admission(guaranteed)
