"""Means, ratios of means and shares with their intervals: by other arithmetic, and by how often they are right."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from reports.shared.estimators import (
    Mean,
    OfMeans,
    gain_of_means,
    halves,
    lies,
    mean_between,
    mean_of,
    ratio_of_means,
    share_of,
)
from tests.tolerances import EXACT

Floats = NDArray[np.float64]


def test_interval_of_a_mean() -> None:
    assert mean_of([2.5]) == (2.5, 2.5, 2.5, 1)
    even = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]) + 2.0
    wanted = stats.ttest_1samp(even, 0.0).confidence_interval(0.95)
    assert mean_of(even)[1:3] == pytest.approx(tuple(wanted), rel=EXACT)


def test_the_ends_of_a_skewed_mean_are_those_of_halls_transform() -> None:
    """t + a t^2/3 + a^2 t^3/27 + a/6, a the skewness over the root of n, is Student's quantile at the far end.

    The near end, which that would draw in, is Student's own.
    """
    values = np.random.default_rng(0).exponential(size=9)
    found = mean_of(values)
    deviations = values - values.mean()
    s = np.sqrt(np.sum(deviations**2) / 8.0)
    a = 9.0 / (8.0 * 7.0) * np.sum((deviations / s) ** 3) / 3.0
    t = (found.mean - np.array([found.high, found.low])) / (s / 3.0)
    turned = t + a * t**2 / 3.0 + a**2 * t**3 / 27.0 + a / 6.0
    far, near = stats.t.ppf([0.025, 0.975], 8)
    assert turned[0] == pytest.approx(far, rel=1e-9)
    assert t[1] == pytest.approx(near, rel=1e-9)
    assert turned[1] > near
    assert found.high - found.mean > found.mean - found.low  # the long tail is above


def test_what_a_draw_adds_is_the_derivative_by_its_weight() -> None:
    """Ratio of means less another: each draw counted a little more, and the whole computed anew."""
    a, b, c, d = np.random.default_rng(1).uniform(1.0, 2.0, (4, 6))

    def value(weight: Floats) -> float:
        means = [float(np.average(x, weights=weight)) for x in (a, b, c, d)]
        return means[0] / means[1] - means[2] / means[3]

    found = OfMeans.of(a) / OfMeans.of(b) - OfMeans.of(c) / OfMeans.of(d)
    assert found.value == pytest.approx(value(np.ones(6)), rel=EXACT)
    for draw in range(6):
        more = np.full(6, 1.0 / 6.0)
        more[draw] += (step := 1e-6)
        slope = (value(more) - value(np.ones(6))) / step
        assert found.influence[draw] == pytest.approx(slope, abs=1e-5)


def test_a_ratio_of_means_is_that_of_the_curves() -> None:
    """One draw in which the lower scheme collapses weighs as much as it yields, not as its ratio."""
    above, below = [100.0, 100.0, 100.0], [50.0, 50.0, 0.5]
    assert ratio_of_means(above, below).mean == pytest.approx(300.0 / 100.5, rel=EXACT)
    assert gain_of_means(above, below).mean == pytest.approx(300.0 / 100.5 - 1.0, rel=EXACT)
    assert mean_of(np.array(above) / np.array(below)).mean == pytest.approx(68.0, rel=EXACT)
    same = ratio_of_means([2.0, 4.0], [1.0, 2.0])
    assert same == pytest.approx((2.0, 2.0, 2.0, 2), rel=EXACT)
    assert np.isnan(ratio_of_means([1.0, 2.0], [0.0, 0.0]).mean)
    assert ratio_of_means([1.0], [2.0]) == (0.5, 0.5, 0.5, 1)


def test_the_interval_turns_with_the_ratio() -> None:
    above, below = np.random.default_rng(2).uniform(1.0, 3.0, (2, 9))
    there, back = ratio_of_means(above, below), ratio_of_means(below, above)
    assert (1.0 / back.high, 1.0 / back.low) == pytest.approx((there.low, there.high), rel=EXACT)


def test_what_has_limits_has_an_interval_within_them() -> None:
    """Rank correlations near 1: Fisher's transform of the mean, by the delta method; Student's interval is beyond."""
    values = np.array([0.99, 1.0, 0.93, 1.0, 0.98, 0.6])
    found = mean_between(values, -1.0, 1.0)
    middle = values.mean()
    turned = mean_of(np.arctanh(middle) + (values - middle) / (1.0 - middle**2))
    wanted = np.tanh([turned.low, turned.high])
    assert found == pytest.approx((middle, *wanted, 6), rel=1e-12)
    assert found.high < 1.0
    assert mean_of([0.999, 1.0, 0.9]).high > 1.0 > mean_between([0.999, 1.0, 0.9], -1.0, 1.0).high
    assert mean_between(-values, -1.0, 1.0) == pytest.approx((-middle, -wanted[1], -wanted[0], 6), rel=1e-12)
    none = stats.binomtest(0, 8).proportion_ci().high
    assert mean_between([0.0] * 8, 0.0, 1.0) == pytest.approx((0.0, 0.0, none, 8))
    assert mean_between([1.0] * 8, -1.0, 1.0) == pytest.approx((1.0, 1.0 - 2.0 * none, 1.0, 8))
    assert mean_between([0.0, 0.1, 0.0], 0.0, 1.0).low > 0.0
    assert np.all(np.isnan(mean_between([0.5, np.nan, 0.7], -1.0, 1.0)[:3]))  # and not at a limit


def test_share_of_draws() -> None:
    wanted = stats.binomtest(5, 7).proportion_ci()
    assert share_of([True] * 5 + [False] * 2) == pytest.approx((5 / 7, wanted.low, wanted.high, 7), rel=1e-9)


def test_where_a_number_lies() -> None:
    number = Mean(2.0, 1.5, 2.5, 9)
    assert [lies(number, *ends) for ends in ((1.5, 2.5), (2.6, 3.0), (0.0, 1.4), (1.6, 9.0), (-9.0, 2.4))] == [
        True,
        False,
        False,
        None,
        None,
    ]


def test_no_draw_is_in_both_halves() -> None:
    chosen, judged = halves([[1.0], [2.0], [3.0]])
    assert (chosen.tolist(), judged.tolist()) == ([[2.0]], [[1.0], [3.0]])


def fixed_at_5_mhz(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Goodputs of optimum and Fixed BW&L as [MS] at 5 MHz has them: the weakest of 20 Rayleigh channels ends a round.

    8 tokens of 31 744 bits over a 20th of the band, 8 drafting steps of 25 ms, verification in 0.277 s; 20 devices of
    3.3 tokens. Beside it an optimum that hardly feels the weakest one.
    """
    gain = 0.35 * rng.exponential(size=(*shape, 20)) * 130.0
    weakest = np.log2(1.0 + gain.min(axis=-1))
    seconds = 8.0 * (0.025 + 31744.0 / (5e6 / 20.0 * weakest)) + 0.277
    return 120.0 + 2.0 * np.log(weakest) + rng.normal(0.0, 3.0, shape), 20.0 * 3.3 / seconds


@pytest.mark.parametrize("draws", [6, 40])
def test_the_ratio_of_means_is_covered_and_the_mean_of_ratios_is_not(draws: int) -> None:
    """On 1000 samples of so many draws; the truth from 100 000."""
    rng = np.random.default_rng(3)
    best, fixed = fixed_at_5_mhz(rng, (100_000,))
    truth, other = best.mean() / fixed.mean(), (best / fixed).mean()
    ratios = means = 0
    for above, below in zip(*fixed_at_5_mhz(rng, (1000, draws)), strict=True):
        ratios += bool(lies(Mean(truth, truth, truth, 2), *ratio_of_means(above, below)[1:3]))
        means += bool(lies(Mean(other, other, other, 2), *mean_of(above / below)[1:3]))
    assert 0.93 <= ratios / 1000 <= 0.97
    assert means / 1000 < 0.85
