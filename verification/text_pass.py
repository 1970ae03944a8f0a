"""What a text sampled from the target says about acceptance, read once by both models.

Along the text x the two laws p_t and q_t are known at every position. The mean of Σ min(p_t, q_t) is the text's
overlap: another quantity than acceptance at visited positions, because rounds do not visit every position (the
bonus token after a whole draft is never drafted, and it follows easy stretches) and because acceptance is not
independent along a text.

Given that token x_t was produced at a drafted position, it was an accepted one with probability
min(1, q_t(x_t)/p_t(x_t)) (**ours**: accepted and x_t has probability min(p, q)(x_t), x_t at all p(x_t)). Rounds over
the text can therefore be replayed for any draft law without a model: `replay` gives the expected visits and
acceptances, so many payloads share one text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from verification.messages import Payload, draft_levels, target_levels
from verification.pairs import Pair
from verification.sampling import SamplingRule, at, overlap, ratio

MOST_KEPT = 4096
"""The most entries that a payload may keep here [token]."""


@dataclass(frozen=True, eq=False)
class TextLaws:
    """Both laws along a text of T tokens.

    Attributes
    ----------
    target, draft : tensors, shape (T, V)
    tokens : tensor, shape (T,)
    """

    target: Tensor
    draft: Tensor
    tokens: Tensor

    @property
    def overlap(self) -> list[float]:
        """Σ min(p, q) at each position."""
        return list(overlap(self.target, self.draft).clamp_max(1.0).tolist())

    def accepted_share(self, payload: Payload | None = None, *, at_device: bool = False) -> list[float]:
        """Probability that a token was an accepted one, given that it was produced at a drafted position.

        Parameters
        ----------
        payload : Payload or None
            How drafts are cut to levels, with at most `MOST_KEPT` entries; None: not at all.
        at_device : bool
            Whether the device corrects, so that the target's law is cut as well (`verification.exchange`).
        """
        p, qx = at(self.target, self.tokens), at(self.draft, self.tokens)
        if payload is not None:
            top, mine = self._draft_top
            qx = (draft_levels(top, payload) * mine).sum(-1) / payload.total
        if payload is not None and at_device:
            top, mine = self._target_top
            levels = target_levels(top, payload) / payload.total
            qx = torch.minimum(levels.sum(-1) * qx, (levels * mine).sum(-1))
        return [float(share) for share in ratio(qx, p)]

    @cached_property
    def _draft_top(self) -> tuple[Tensor, Tensor]:
        return self._top(self.draft)

    @cached_property
    def _target_top(self) -> tuple[Tensor, Tensor]:
        return self._top(self.target)

    def _top(self, law: Tensor) -> tuple[Tensor, Tensor]:
        """The most probable entries of a law, found once for all payloads, and which of them is the text's token."""
        values, place = law.topk(min(MOST_KEPT, law.shape[-1]), dim=-1)
        return values, place == self.tokens[:, None]


def read_text(pair: Pair, prompt: Sequence[int], text: Sequence[int], rule: SamplingRule) -> TextLaws:
    """Read a text once with both models."""
    tokens = [*prompt, *text[:-1]]
    q, p = (rule.probabilities(each.read([tokens], [0], [len(text)])[0]) for each in pair.decoders(1))
    return TextLaws(p, q, torch.tensor(text, device=p.device))


def replay(shares: Sequence[float], length: int) -> tuple[float, float]:
    """Expected visits and acceptances when rounds of one draft length run over a text.

    Parameters
    ----------
    shares : T numbers
        `TextLaws.accepted_share`.
    length : int
        Tokens drafted in each round, at least 1.

    Returns
    -------
    visited, accepted : float
        Positions that rounds drafted and reached, and those of them that were accepted.
    """
    # place[j]: probability that j tokens of the present round are accepted already; at j = length comes the bonus.
    place = [1.0] + [0.0] * length
    visited = accepted = 0.0
    for share in shares:
        reached = sum(place[:length])
        visited += reached
        accepted += reached * share
        place = [place[length] + reached * (1.0 - share)] + [chance * share for chance in place[:length]]
    return visited, accepted
