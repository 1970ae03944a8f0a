"""Several plays in one batch, each as it would be alone.

A text depends on nothing but its device's models, prompts, luck and draft length. So the models run for all plays at
once, and once for all that have a device draft as many tokens; where it is corrected changes bits, no text.
"""

from collections.abc import Callable, Sequence

import numpy as np

from msopt.arrays import BoolArray, IntArray
from msopt.emulation.assumptions import DraftRecord
from msopt.emulation.sources import OnUplink, PlayedTokens
from verification.played_texts import Drafter, PlayedTexts

_OF_TEXTS = ("text", "prompt", "place", "chance")


class SideBySide:
    """The models of several plays, run for all of them by whichever asks first.

    Parameters
    ----------
    texts : callable
        Makes the texts of some drafters.
    drafters : sequence of K Drafter
        The devices of every play.
    lengths : sequence of arrays, shape (K,)
        Draft lengths of each play.

    Attributes
    ----------
    plays : list of OnePlay
    """

    def __init__(
        self, texts: Callable[[list[Drafter]], PlayedTexts], drafters: Sequence[Drafter], lengths: Sequence[IntArray]
    ) -> None:
        pairs = [list(enumerate(one.tolist())) for one in lengths]
        rows = {pair: row for row, pair in enumerate(dict.fromkeys(pair for play in pairs for pair in play))}
        self.texts = texts([drafters[device] for device, _ in rows])
        self._planned = np.array([length for _, length in rows])
        self._pieces: list[PlayedTokens] = []
        self.plays = [OnePlay(self, np.array([rows[pair] for pair in play])) for play in pairs]

    def rounds(self, first: int, count: int) -> PlayedTokens:
        """So many rounds of all, from one on; what has not been played yet is played."""
        missing = first + count - len(self._pieces)
        if missing > 0:
            planned = np.tile(self._planned, (missing, 1))
            everyone = np.ones(planned.shape, dtype=bool)
            played = self.texts.play(planned, everyone, everyone, lambda _, rejected: np.zeros_like(rejected))
            each = zip(*vars(played).values(), strict=True)
            self._pieces += [PlayedTokens(*one) for one in each]
        parts = [vars(piece).values() for piece in self._pieces[first : first + count]]
        return PlayedTokens(*(np.stack(of) for of in zip(*parts, strict=True)))


class OnePlay:
    """A `TokenSource`: one of several plays."""

    def __init__(self, together: SideBySide, rows: IntArray) -> None:
        self._together, self._rows, self._played = together, rows, 0

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """The next rounds; lengths and devices are those that all plays were begun with."""
        del drafts, arrives
        first, count = self._played, len(draft_length)
        self._played += count
        told = {name: value[:, self._rows] for name, value in vars(self._together.rounds(first, count)).items()}
        either = self._together.texts.either_bits[first : first + count, self._rows]
        up = np.stack([on_uplink(place, bits[:, 0] > 0) for place, bits in enumerate(either)])
        return PlayedTokens(**told | {"distribution_bits": np.where(up, either[..., 0], either[..., 1])})

    def as_written(self) -> list[str]:
        """Every device's text as it stands."""
        texts = self._together.texts.texts
        return [texts[row] for row in self._rows]

    @property
    def record(self) -> DraftRecord:
        """Of the rounds of this play so far."""
        whole = self._together.texts.record
        return DraftRecord(*(getattr(whole, name)[: self._played, self._rows] for name in _OF_TEXTS))
