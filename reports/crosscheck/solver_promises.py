"""How many of its trials a solver has to solve, and what is known of one that is held to less."""

from collections.abc import Mapping
from typing import NamedTuple

from msopt.model.sharing import UplinkSharing

AT_LEAST = 0.995
"""Least share of trials that a solver has to solve, of those in which dual, closed form and finite difference are
within PRICE_RTOL of each other, and of those in which the minimisers agree or the optimum is flat and has no one."""


class Promise(NamedTuple):
    """The least share of solved trials, and the known weakness behind one below `AT_LEAST`; "" where there is none."""

    least: float
    known: str = ""

    @property
    def told(self) -> str:
        """The weakness as the end of a cause."""
        return f" ({self.known})" if self.known else ""


Promises = Mapping[tuple[str, UplinkSharing], Promise]
"""By solver and sharing."""
SOLVED_AT_LEAST: Promises = {
    ("ECOS", "power-limited"): Promise(0.90, "ECOS is known to stall on exponential cones"),
    ("SCS", "fixed-snr"): Promise(0.0, "SCS, a first-order method, promises nothing"),
    ("SCS", "power-limited"): Promise(0.0, "SCS, a first-order method, promises nothing"),
}
"""Where a solver promises less, whatever it is asked."""


def promise(solver: str, sharing: UplinkSharing, stalls: Promises) -> Promise:
    """What a solver is held to: by what is known of it on one formulation, else by what it promises everywhere."""
    usual = SOLVED_AT_LEAST.get((solver, sharing), Promise(AT_LEAST))
    return stalls.get((solver, sharing), usual)
