"""What a round is worth: utilities of the tokens that it yields and of the time that it takes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from msopt.arrays import FloatArray, numbers
from msopt.errors import ParameterError

PROOF_RTOL = 5e-11
"""A control counts as better where all goodputs would have to grow by more than this part; less may be round-off."""


@dataclass(frozen=True, eq=False)
class WorthTerms:
    """An upper estimate of by how much a round beats a target, linear in the round time (design section 7).

    A choice of actions with a round of T seconds beats the target only if the sum of its devices' `worth`, less
    `per_second` T, plus `constant` is above 0.

    Attributes
    ----------
    worth : array, shape (A, K)
        Of every action of every device; -inf for those with which no control beats the target.
    per_second, constant : float
    """

    worth: FloatArray
    per_second: float
    constant: float


@dataclass(frozen=True, eq=False)
class Utility:
    """A number for a round, greater where it is better; what it depends on besides are its own fields.

    A utility of one's own is a sum over devices of a concave, non-decreasing function of the device's goodput: its two
    methods are `of_device`, for numbers, and `expression`, the same for CVXPY. One of them will do: without
    `expression` method `convex` does not take it; without `of_device` no table does, and it needs its own `value`.

    Attributes
    ----------
    name, unit : str
        What files and tables call it; unit of the value.
    whole : bool
        Whether all its values are whole numbers.
    linear : bool
        Whether `terms` are exact at every length of the round.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    whole: ClassVar[bool] = False
    linear: ClassVar[bool] = False

    @property
    def conic(self) -> bool:
        """Whether it has an `expression`."""
        return type(self).expression is not Utility.expression

    @property
    def tabular(self) -> bool:
        """Whether a table of actions can be searched for it."""
        return type(self).of_device is not Utility.of_device

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """What each device adds at a goodput [token/s], shapes (..., K)."""
        raise ParameterError(f"utility {self.name} has no table form (`of_device`); method convex needs none")

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The utility as a concave CVXPY expression.

        Parameters
        ----------
        goodput : cvxpy expression, shape (K,)
            The devices' goodputs.
        cp : module
            cvxpy.
        """
        raise ParameterError(f"utility {self.name} has no concave expression")

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        """Worth of rounds.

        Parameters
        ----------
        tokens : array, shape (..., K)
            Expected tokens of each device, E_k(L_k).
        round_s : array, shape (...)
            Expected duration [s].

        Returns
        -------
        value : array, shape (...)
        """
        return np.asarray(np.sum(self.checked(tokens / np.asarray(round_s)[..., None]), axis=-1))

    def checked(self, goodput: FloatArray) -> FloatArray:
        """What each device adds; ParameterError where the answer is not one number for each, none NaN or infinity."""
        answer = self.of_device(goodput)
        good = isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and answer.shape == goodput.shape
        if not (good and np.all(answer < np.inf)):
            answer = numbers(answer, f"utility {self.name}: of_device")
            if answer.shape != goodput.shape:
                raise ParameterError(
                    f"utility {self.name}: of_device answers an array of shape {answer.shape}, not {goodput.shape}"
                )
            _no_nan(self, "of_device", answer)
        return answer

    def terms(self, tokens: FloatArray, round_s: tuple[float, float], target: float) -> WorthTerms:
        """What may beat a target in rounds of a length between two; by default as if all took the shortest.

        Parameters
        ----------
        tokens : array, shape (A, K)
        round_s : pair of float
            The shortest and the longest round [s].
        target : float
        """
        return WorthTerms(self.checked(tokens / round_s[0]), 0.0, -target)

    def raised(self, target: float, excess: float, round_s: tuple[float, float]) -> float:
        """No round beats the target by more than this value where `terms` leave an excess."""
        del round_s
        return target + excess

    def scaled(self, value: float, factor: float) -> float:
        """The value when all goodputs are `factor` times what they were, or a good measure of that."""
        return value + (factor - 1.0) * abs(value)

    def gap(self, value: float, bound: float) -> float:
        """By what part all goodputs at once would have to grow for the value to reach a bound, or a measure of that."""
        return 0.0 if bound <= value else (bound - value) / abs(value) if value else float("inf")

    def better(self, value: float) -> float:
        """The least value that counts as better."""
        return value + 1.0 - 1e-9 if self.whole else self.scaled(value, 1.0 + PROOF_RTOL)


class Sum(Utility):
    """Tokens of all devices per second, the papers' objective: the long-run rate sum_k E_k / E[T]."""

    name = "sum"
    unit = "token/s"
    linear = True

    def of_device(self, goodput: FloatArray) -> FloatArray:
        """The goodput itself [token/s]."""
        return goodput

    def expression(self, goodput: Any, cp: Any) -> Any:
        """The sum of the goodputs."""
        return cp.sum(goodput)

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        """Goodput [token/s]."""
        return np.asarray(np.add.reduce(tokens, axis=-1) / round_s)

    def terms(self, tokens: FloatArray, round_s: tuple[float, float], target: float) -> WorthTerms:
        """Exact: a round beats G where its tokens are more than G T."""
        del round_s
        return WorthTerms(tokens, target, 0.0)

    def raised(self, target: float, excess: float, round_s: tuple[float, float]) -> float:
        """So many tokens more in the shortest round."""
        return target + excess / round_s[0]


GOODPUT = Sum()


def utility_value(utility: Utility, tokens: FloatArray, round_s: FloatArray) -> float:
    """The worth of one round; ParameterError where a utility of one's own answers no number."""
    answer = numbers(utility.value(tokens, round_s), f"utility {utility.name}: value")
    if answer.shape != ():
        raise ParameterError(f"utility {utility.name}: value answers an array of shape {answer.shape}, not ()")
    _no_nan(utility, "value", answer)
    return float(answer)


def _no_nan(utility: Utility, method: str, answer: FloatArray) -> None:
    if not (answer < np.inf).all():
        told = "NaN" if np.any(np.isnan(answer)) else "infinity"
        raise ParameterError(f"utility {utility.name}: {method} answers {told}")
