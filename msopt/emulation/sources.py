"""Where a play has its tokens and times from: the interface that laws and real models share.

The loop asks for n rounds at once. A source of drawn numbers answers in arrays; one with models plays them one by one
and keeps its texts and caches from call to call. Arrays have shape (n, K).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.emulation.played_rounds import PlayedRounds

OnUplink = Callable[[int, BoolArray], BoolArray]
"""Which of the devices that exchange a distribution do so on the uplink: of a round of a call, masks of shape (K,)."""


@dataclass(frozen=True, eq=False)
class PlayedTokens:
    """What became of n rounds of drafts.

    Attributes
    ----------
    drafted : array of int, shape (n, K)
        Tokens drafted: those planned, or fewer at the end of a text.
    accepted : array of int, shape (n, K)
        The accepted prefix; 0 for a draft that does not arrive.
    tokens : array of int, shape (n, K)
        What was added to the text: accepted + 1, but no more than the text still had; 0 for a draft that does not
        arrive.
    draft_bits, distribution_bits : arrays of int, shape (n, K), or None
        Bits of the messages as built: sent before verification, and exchanged after it, 0 for a device that exchanges
        nothing. None: the scenario's for every token drafted, and for every rejection.
    """

    drafted: IntArray
    accepted: IntArray
    tokens: IntArray
    draft_bits: IntArray | None = None
    distribution_bits: IntArray | None = None


class TokenSource(Protocol):
    """Whose drafts are accepted how far."""

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """The next n rounds.

        Parameters
        ----------
        draft_length : array of int
            As planned.
        drafts, arrives : arrays of bool
            Who takes part, and whose draft arrives (a part of those).
        on_uplink : callable
            Decides where rejections are corrected, for sources that have to know.
        """
        ...


class StepClock(Protocol):
    """How long the steps of a round take."""

    def draft_s(self, drafted: IntArray) -> FloatArray:
        """Time to draft so many tokens in each of the next n rounds [s]."""
        ...

    def verify_s(self, drafted: IntArray, arrives: BoolArray) -> FloatArray:
        """Time to verify the drafts that arrive [s], shape (n,)."""
        ...


class Watch(NamedTuple):
    """Who is told of a play while it runs: of so many rounds at once, as a piece of it (at least 1)."""

    rounds_at_once: int
    see: Callable[[PlayedRounds], object]


class RoundSources(NamedTuple):
    """Both together, and in how many rounds luck is shared, as by the rounds of a text."""

    tokens: TokenSource
    clock: StepClock
    correlated_rounds: int = 1
