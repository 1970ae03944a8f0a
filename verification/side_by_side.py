"""Several plays in one batch, each as it would be alone.

A text depends on nothing but its device's models, prompt and generator, so that the models can run for all at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from msopt.arrays import BoolArray, IntArray
from msopt.emulation.assumptions import DraftRecord
from msopt.emulation.sources import OnUplink, PlayedTokens
from verification.played_texts import PlayedTexts


class ToldTokens(NamedTuple):
    """A `TokenSource` of rounds that were played before."""

    played: PlayedTokens
    record: DraftRecord

    def play(self, draft_length: IntArray, drafts: BoolArray, arrives: BoolArray, on_uplink: OnUplink) -> PlayedTokens:
        """All of them."""
        del draft_length, drafts, arrives, on_uplink
        return self.played


def side_by_side(
    texts: PlayedTexts, lengths: Sequence[IntArray], rounds: int, on_uplink: Sequence[OnUplink]
) -> list[ToldTokens]:
    """Play some rounds of several controls at once.

    Parameters
    ----------
    texts : PlayedTexts
        Of the devices of all plays, those of the first, then those of the second, ...
    lengths : sequence of arrays, shape (K,)
        Draft lengths of each play.
    rounds : int
    on_uplink : sequence of callables
        Where each play corrects.
    """
    plays = len(lengths)
    planned = np.tile(np.concatenate(lengths), (rounds, 1))
    everyone = np.ones(planned.shape, dtype=bool)

    def decide(place: int, rejected: BoolArray) -> BoolArray:
        each = np.split(rejected, plays)
        return np.concatenate([one(place, own) for one, own in zip(on_uplink, each, strict=True)])

    played = texts.play(planned, everyone, everyone, decide)
    parts = zip(*(np.split(value, plays, axis=1) for value in vars(played).values()), strict=True)
    records = zip(*(np.split(value, plays, axis=1) for value in vars(texts.record).values()), strict=True)
    return [ToldTokens(PlayedTokens(*part), DraftRecord(*record)) for part, record in zip(parts, records, strict=True)]
