"""The utilities that come with the package: weighted, fair, the least goodput, admission (design section 7)."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from msopt.arrays import FloatArray, vector
from msopt.errors import ParameterError, describe
from msopt.model.objective import Utility, WorthTerms


@dataclass(frozen=True, eq=False)
class WeightedUtility(Utility):
    """A utility with a weight for each device; all alike where none are given.

    Attributes
    ----------
    weights : array, shape (K,), optional
        At least 0.
    """

    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            weights = vector(self.weights, f"utility {self.name}: weights")
            if not (np.all(np.isfinite(weights)) and np.all(weights >= 0.0) and np.any(weights > 0.0)):
                raise ParameterError(f"utility {self.name}: weights have to be finite, at least 0 and not all 0")
            object.__setattr__(self, "weights", weights)

    def weighted(self, weights: FloatArray | None) -> Self:
        """The same with weights, where it has none of its own."""
        return self if weights is None or self.weights is not None else replace(self, weights=weights)

    def _weights(self, count: int) -> FloatArray:
        if self.weights is None:
            return np.ones(count)
        if self.weights.size != count:
            raise ParameterError(
                f"utility {self.name} has {self.weights.size} weights; {count} are needed, one for each device"
            )
        return self.weights


@dataclass(frozen=True, eq=False)
class SeparableUtility(WeightedUtility):
    """A value beats a target where a sum over devices of a function of tokens, plus one of the round time, is above 0.

    The function of the time is convex and never rises; over an interval its chord lies above it, so that in a narrow
    interval next to nothing is lost.
    """

    def worth(self, tokens: FloatArray) -> FloatArray:
        """What each device's tokens are worth, shapes (..., K): as much as a goodput of so many."""
        return self.of_device(tokens)

    @abstractmethod
    def charge(self, round_s: float, target: float, count: int) -> float:
        """What the time of a round adds, for a target, among so many devices."""

    def terms(self, tokens: FloatArray, round_s: tuple[float, float], target: float) -> WorthTerms:
        """The chord over the interval in place of the charge; over a point next to its tangent."""
        start, end = round_s[0], max(round_s[1], round_s[0] * (1.0 + _POINT))
        count = tokens.shape[-1]
        first = self.charge(start, target, count)
        slope = (first - self.charge(end, target, count)) / (end - start)
        return WorthTerms(self.worth(tokens), slope, first + slope * start)


@dataclass(frozen=True, eq=False)
class WeightedSum(SeparableUtility):
    """sum_k w_k g_k: some devices' tokens count more than others'."""

    name = "weighted-sum"
    unit = "token/s"
    linear = True

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """w_k g_k [token/s]."""
        return np.asarray(self._weights(goodput.shape[-1]) * goodput)

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The weighted sum."""
        return cp.sum(cp.multiply(self._weights(goodput.shape[0]), goodput))

    def charge(self, round_s: float, target: float, count: int) -> float:
        """-G T."""
        del count
        return -target * round_s

    def raised(self, target: float, excess: float, round_s: tuple[float, float]) -> float:
        """So many weighted tokens more in the shortest round."""
        return target + excess / round_s[0]


@dataclass(frozen=True, eq=False)
class ProportionalFair(SeparableUtility):
    """sum_k w_k ln g_k: a part more for one device weighs as much as the same part less for another (Kelly 1997)."""

    name = "proportional-fair"
    unit = "ln(token/s)"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """w_k ln g_k; -inf for a device that gets nothing and has a weight."""
        return np.asarray(_weighted_log(self._weights(goodput.shape[-1]), goodput))

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The weighted sum of logarithms."""
        return cp.sum(cp.multiply(self._weights(goodput.shape[0]), cp.log(goodput)))

    def charge(self, round_s: float, target: float, count: int) -> float:
        """-(sum w) ln T - U."""
        return -float(np.sum(self._weights(count))) * float(np.log(round_s)) - target

    def scaled(self, value: float, factor: float) -> float:
        """The logarithm of the factor for each unit of weight; of a device where no weights are known."""
        total = 1.0 if self.weights is None else float(np.sum(self.weights))
        return value + total * float(np.log(factor))

    def gap(self, value: float, bound: float) -> float:
        """The inverse of `scaled`."""
        total = 1.0 if self.weights is None else float(np.sum(self.weights))
        return float(np.expm1((bound - value) / total)) if bound > value else 0.0


@dataclass(frozen=True, eq=False)
class AlphaFair(SeparableUtility):
    """sum_k w_k g_k^(1-a)/(1-a) for a fairness a > 0 other than 1 (Mo and Walrand 2000): the greater, the fairer.

    Attributes
    ----------
    fairness : float
        a; towards 0 it is the sum, towards 1 proportionally fair, without end the least goodput alone.
    """

    name = "alpha-fair"
    unit = "(token/s)^(1-alpha)"
    fairness: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0.0 < self.fairness <= 100.0) or self.fairness == 1.0:
            raise ParameterError(
                f"utility alpha-fair: fairness = {describe(self.fairness)} is not a number above 0, at most 100 and "
                "other than 1 (proportional-fair)"
            )

    @property
    def power(self) -> float:
        """1 - a."""
        return 1.0 - self.fairness

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """w_k g_k^(1-a)/(1-a); -inf for a device that gets nothing, has a weight, and a > 1."""
        weights = self._weights(goodput.shape[-1])
        with np.errstate(divide="ignore", over="ignore"):  # of next to nothing, to a great power
            each = np.asarray(goodput, dtype=float) ** self.power / self.power
        return np.asarray(np.where(weights > 0.0, weights * np.where(weights > 0.0, each, 0.0), 0.0))

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The weighted sum of powers: by second-order cones where they are exact, else by the power cone."""
        rational = abs(float(Fraction(self.power).limit_denominator(_LARGEST_DENOMINATOR)) - self.power) < _ROUND_OFF
        powers = cp.power(goodput, self.power, max_denom=_LARGEST_DENOMINATOR, approx=rational)
        return cp.sum(cp.multiply(self._weights(goodput.shape[0]) / self.power, powers))

    def charge(self, round_s: float, target: float, count: int) -> float:
        """-U T^(1-a): U has the sign of 1 - a, so that it falls and is convex for every a."""
        del count
        size = np.log(abs(target)) + self.power * np.log(round_s) if target else -np.inf
        return float(-np.sign(target) * np.exp(min(size, _LARGEST)))

    def raised(self, target: float, excess: float, round_s: tuple[float, float]) -> float:
        """The excess over T^(1-a), at the end where that is less."""
        return target + excess * max(float(end**-self.power) for end in round_s)

    def scaled(self, value: float, factor: float) -> float:
        """The factor's power."""
        return value * float(factor**self.power)

    def gap(self, value: float, bound: float) -> float:
        """The inverse of `scaled`; no growth reaches 0 or a bound of the other sign."""
        if bound <= value:
            return 0.0
        ratio = bound / value if value and np.isfinite(value) else 0.0
        return float(ratio ** (1.0 / self.power)) - 1.0 if ratio > 0.0 else float("inf")


@dataclass(frozen=True, eq=False)
class MaxMin(WeightedUtility):
    """min_k w_k g_k: the device that is worst off. A weight of 0 leaves a device out."""

    name = "max-min"
    unit = "token/s"

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """w_k g_k [token/s]; inf for a weight of 0. The value is the least, not the sum."""
        weights = self._weights(goodput.shape[-1])
        return np.where(weights > 0.0, weights * goodput, np.inf)

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The least of those that count."""
        weights = self._weights(goodput.shape[0])
        counted = np.flatnonzero(weights > 0.0)
        return cp.min(cp.multiply(weights[counted], goodput[counted]))

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        """The least weighted goodput [token/s]."""
        return np.asarray(np.min(self.of_device(tokens / np.asarray(round_s)[..., None]), axis=-1))

    def terms(self, tokens: FloatArray, round_s: tuple[float, float], target: float) -> WorthTerms:
        """A filter: what does not reach the target in the shortest round is out, and all that is left will do.

        Among those the fewest tokens are preferred, which ask for least; all together they lose less than the constant.
        """
        reaches = self.of_device(tokens / round_s[0]) > target
        dearest = float(np.sum(np.max(np.where(reaches, tokens, 0.0), axis=0)))
        return WorthTerms(np.where(reaches, -0.5 * tokens / max(dearest, 1.0), -np.inf), 0.0, 1.0)

    def raised(self, target: float, excess: float, round_s: tuple[float, float]) -> float:
        """No bound by itself: the search asks for which targets a region stays open."""
        del target, excess, round_s
        return float("inf")


@dataclass(frozen=True, eq=False)
class Admission(Utility):
    """How many devices have at least a guaranteed goodput.

    Attributes
    ----------
    guaranteed_tokens_per_s : float or array, shape (K,)
        Above 0.
    """

    name = "admission"
    unit = "device"
    whole = True
    guaranteed_tokens_per_s: FloatArray | float = 1.0

    def __post_init__(self) -> None:
        value = np.asarray(self.guaranteed_tokens_per_s, dtype=float)
        if not (np.all(np.isfinite(value)) and np.all(value > 0.0)):
            raise ParameterError(
                f"utility admission: guaranteed_tokens_per_s = {describe(self.guaranteed_tokens_per_s)} is not "
                "a finite number above 0"
            )

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """1 where it has it, else 0."""
        return np.asarray(goodput >= np.asarray(self.guaranteed_tokens_per_s) * (1.0 - _ROUND_OFF)).astype(float)


_ROUND_OFF = 1e-12
_LARGEST = 700.0  # whose exponential is a float
_POINT = 1e-6  # of a round: what the chord of a charge spans at least
_LARGEST_DENOMINATOR = 1024
"""Of an exponent that second-order cones stand for."""

UTILITIES: Mapping[str, type[Utility]] = MappingProxyType(
    {one.name: one for one in (WeightedSum, ProportionalFair, AlphaFair, MaxMin, Admission)}
)
"""Those that a scenario file may name, beside `sum`."""


def _weighted_log(weights: FloatArray, values: FloatArray) -> FloatArray:
    """w ln x, 0 for a weight of 0."""
    with np.errstate(divide="ignore"):
        return np.where(weights > 0.0, weights * np.where(weights > 0.0, np.log(values), 0.0), 0.0)
