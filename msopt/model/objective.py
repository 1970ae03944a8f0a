"""What a round is worth: utilities of the tokens that it yields and of the time that it takes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from msopt.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Utility(ABC):
    """A number for a round, greater where it is better; what it depends on besides are its own fields.

    Attributes
    ----------
    unit : str
        Of the value.
    """

    unit: ClassVar[str]

    @abstractmethod
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


class Sum(Utility):
    """Tokens of all devices per second, the papers' objective: the long-run rate sum_k E_k / E[T]."""

    unit = "token/s"

    def value(self, tokens: FloatArray, round_s: FloatArray) -> FloatArray:
        """Goodput [token/s]."""
        return np.asarray(np.sum(tokens, axis=-1) / round_s)


GOODPUT = Sum()
