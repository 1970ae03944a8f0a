"""What is said of a mean over draws, and of ratios and differences of means, each with the interval it lies in.

Every estimator here is a function of means over the same draws. To first order such a function is itself a mean, of
what each draw adds to it (the delta method), so Student's interval serves it, once the skewness is taken out. That of a
ratio is laid on its logarithm, that of what has limits on its log-odds; DESIGN.md, section 10, has the coverage.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from msopt.arrays import FloatArray
from msopt.numerics.intervals import LEVEL, proportion_interval, student_factor

_NO_LEAN = 1e-9


class Mean(NamedTuple):
    """A mean, its interval and how many draws it is made of."""

    mean: float
    low: float
    high: float
    draws: int

    def shifted(self, by: float) -> "Mean":
        """The same, some number higher."""
        return Mean(self.mean + by, self.low + by, self.high + by, self.draws)

    def times(self, factor: float) -> "Mean":
        """The same, in another unit or with the other sign."""
        ends = sorted((factor * self.low, factor * self.high))
        return Mean(factor * self.mean, ends[0], ends[1], self.draws)


@dataclass(frozen=True, eq=False)
class OfMeans:
    """A function of means over the same draws: its value, and what each draw adds to it to first order.

    Attributes
    ----------
    value : float
    influence : array, shape (draws,)
        Adds up to 0. That of a sum is the sum, that of a ratio a/b is (a's - a/b b's)/b.
    """

    value: float
    influence: FloatArray

    @classmethod
    def of(cls, values: Any) -> Self:
        """The mean itself; NaN of no draws."""
        drawn = np.asarray(values, dtype=float)
        mean = float(np.mean(drawn)) if drawn.size else math.nan
        return cls(mean, drawn - mean)

    def __sub__(self, other: "OfMeans") -> "OfMeans":
        return OfMeans(self.value - other.value, self.influence - other.influence)

    def __truediv__(self, other: "OfMeans") -> "OfMeans":
        ratio = self.value / other.value if other.value else math.nan
        return OfMeans(ratio, (self.influence - ratio * other.influence) / (other.value or math.nan))

    def interval(self, level: float = LEVEL) -> Mean:
        """Student's interval of the linearised mean, its skewness removed; of one draw, the value itself three times.

        Of what is skewed Student's t leans to the other side, and the ends of its interval with it: the far one is too
        near. A cube of t leans by as much and takes that out again [Hall 1992, J. R. Stat. Soc. B 54, 221-228]. The
        near end, which it would draw in, stays where Student has it (ours): the skewness of few draws is a guess.
        """
        count = self.influence.size
        spread = float(np.std(self.influence, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        if not spread > 0.0:
            return Mean(self.value, self.value, self.value, count)
        high = student_factor(count - 1, level)
        cubes = float(np.sum((self.influence / (spread * math.sqrt(count))) ** 3))
        lean = math.sqrt(count) * cubes / ((count - 1) * (count - 2)) if count > 2 else 0.0
        below, above = max(_leaning(high, lean), high), max(-_leaning(-high, lean), high)
        return Mean(self.value, self.value - below * spread, self.value + above * spread, count)

    def log_interval(self, level: float = LEVEL) -> Mean:
        """That of the logarithm, taken back; of a value that is not above 0, the plain one."""
        if not self.value > 0.0:
            return self.interval(level)
        log = OfMeans(math.log(self.value), self.influence / self.value).interval(level)
        return Mean(self.value, math.exp(log.low), math.exp(log.high), log.draws)

    def interval_between(self, least: float, most: float, level: float = LEVEL) -> Mean:
        """That of the log-odds of where it lies between two limits, taken back: it never reaches beyond them.

        With -1 and 1, as for a correlation, Fisher's transform. Where all draws are at a limit, others could be away
        from it: as far as Clopper and Pearson say of a share of which none was seen.
        """
        below, above, count = self.value - least, most - self.value, self.influence.size
        if not (below > 0.0 and above > 0.0):
            if count < 2 or math.isnan(self.value):
                return self.interval(level)
            low, high = proportion_interval(0 if above > 0.0 else count, count, level)
            return Mean(self.value, least + (most - least) * low, least + (most - least) * high, count)
        odds = OfMeans(math.log(below / above), self.influence * (1.0 / below + 1.0 / above)).interval(level)
        low, high = (least + (most - least) * float(expit(end)) for end in (odds.low, odds.high))
        return Mean(self.value, low, high, odds.draws)


def _leaning(t: float, lean: float) -> float:
    """The t of skewed draws that stands for one of draws without skewness: t + a t^2/3 + a^2 t^3/27 + a/6 undone."""
    if abs(lean) < _NO_LEAN:
        return t
    return 3.0 / lean * (math.cbrt(1.0 + lean * (t - lean / 6.0)) - 1.0)


def mean_of(values: Any, level: float = LEVEL) -> Mean:
    """Mean of independent draws with its interval; of one draw, the value itself three times; of none, NaN.

    >>> [round(x, 3) for x in mean_of([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484, 3]
    """
    return OfMeans.of(values).interval(level)


def mean_between(values: Any, least: float, most: float, level: float = LEVEL) -> Mean:
    """Mean of numbers that cannot lie beyond two limits (a share, a rank correlation): nor does its interval.

    >>> [round(x, 3) for x in mean_between([0.8, 1.0, 0.9], -1.0, 1.0)]
    [0.9, 0.163, 0.992, 3]
    """
    return OfMeans.of(values).interval_between(least, most, level)


def ratio_of_means(above: Any, below: Any, level: float = LEVEL) -> Mean:
    """Mean over mean of paired draws: what is read off two curves of means.

    >>> [round(x, 3) for x in ratio_of_means([2.0, 4.0, 6.0], [1.0, 1.0, 4.0])]
    [2.0, 0.578, 6.926, 3]
    """
    return (OfMeans.of(above) / OfMeans.of(below)).log_interval(level)


def gain_of_means(above: Any, below: Any, level: float = LEVEL) -> Mean:
    """`ratio_of_means` less 1."""
    return ratio_of_means(above, below, level).shifted(-1.0)


def share_of(truths: Any, level: float = LEVEL) -> Mean:
    """Share of the draws in which something is so, with Clopper and Pearson's interval: never below its level.

    >>> [round(x, 3) for x in share_of([True, True, True, False])]
    [0.75, 0.194, 0.994, 4]
    """
    found = np.asarray(truths, dtype=bool)
    low, high = proportion_interval(int(found.sum()), found.size, level)
    return Mean(float(np.mean(found)) if found.size else math.nan, low, high, found.size)


def halves(draws: Any) -> tuple[FloatArray, FloatArray]:
    """The draws of a table (one each row) to choose on, and those to judge on: a peak flatters the draws it is of.

    Every other draw, so that both halves have some from two on; one draw is both.
    """
    rows = np.asarray(draws, dtype=float)
    return (rows, rows) if len(rows) < 2 else (rows[1::2], rows[::2])


def differing(values: Any) -> int:
    """How many of some draws are not at their commonest value.

    >>> differing([0.0, 0.0, 2.0, 0.0, 1.0])
    2
    """
    drawn = np.asarray(values, dtype=float)
    return drawn.size - int(np.max(np.unique(drawn, return_counts=True)[1], initial=0))


def lies(estimate: Mean, low: float, high: float) -> bool | None:
    """Whether a number lies from `low` to `high`: True or False by its whole interval, None where that reaches both.

    >>> found = Mean(2.0, 1.5, 2.5, 9)
    >>> lies(found, 0.0, 3.0), lies(found, 3.0, 4.0), lies(found, 2.0, 3.0)
    (True, False, None)
    """
    if low <= estimate.low and estimate.high <= high:
        return True
    return False if estimate.high < low or high < estimate.low else None
