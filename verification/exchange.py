"""Where a rejected token is corrected: at the server or at the device, each with the messages it needs.

In both modes the device drafts from levels that can be sent and uploads tokens with their own levels. Then

- **at the server**: a rejected device uploads the distribution q of the rejected token and the server draws from
  max(p - q, 0). The result follows p exactly, whatever q is.
- **at the device**: a rejected device downloads the target's distribution as levels, r/2^Q <= p, and draws from
  max(p' - q, 0) with p' = r/Σr. The levels hold only the share s = Σr/2^Q of p, so (**ours**) the server verifies
  against the mixture p = s p' + (1 - s) d: with probability 1 - s it draws the token from d, the part of p that
  the levels leave out, and sends its index; otherwise x is accepted with probability min(1, p'(x)/q(x)).
  The result follows p exactly; the price is at most 1 - s of acceptance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from verification.messages import (
    Message,
    Payload,
    distribution_message,
    draft_levels,
    pack,
    read_distribution,
    target_levels,
    unpack,
)
from verification.sampling import Generators, Verdict, at, check_laws, draw, leading, ratio, residual, uniforms

Place = Literal["server", "device"]


@dataclass(frozen=True, eq=False)
class Corrected(Verdict):
    """A verdict with what was sent for it.

    Attributes
    ----------
    drafts : list of n messages
        Each device's tokens with the levels of their own probabilities, sent before verification.
    distributions : list of n messages or None
        The distribution sent up or down after a rejection; None where none was needed.
    """

    drafts: list[Message] = field(default_factory=list)
    distributions: list[Message | None] = field(default_factory=list)


@dataclass(frozen=True)
class Exchange:
    """A correction mode and the way distributions are sent in it."""

    place: Place
    payload: Payload

    def drafting(self, probabilities: Tensor) -> Tensor:
        """What the device draws from in place of its own probabilities, shape (..., V): levels/2^Q."""
        return draft_levels(probabilities, self.payload) / self.payload.total

    def decide(
        self, target: Tensor, draft: Tensor, tokens: Tensor, lengths: Sequence[int], generators: Generators
    ) -> Corrected:
        """Verify drafts that were drawn from `drafting`; arguments as those of `verification.sampling.verify`."""
        check_laws(target, draft, lengths)
        decide = correct_at_server if self.place == "server" else correct_at_device
        return decide(target, draft, tokens, lengths, generators, self.payload)


def correct_at_server(
    target: Tensor,
    draft: Tensor,
    tokens: Tensor,
    lengths: Sequence[int],
    generators: Generators,
    payload: Payload,
) -> Corrected:
    """Verify, and correct at the server from the uploaded distribution of the rejected token.

    The server is given nothing of the draft but what the messages hold.
    """
    drafts = _draft_messages(draft, tokens, lengths, payload)
    sent = torch.stack([_scalars(message, tokens.shape[1], payload, target) for message in drafts])
    kept = leading(uniforms(lengths, generators, target) < ratio(at(target[:, :-1], tokens), sent))
    law = target[torch.arange(len(target), device=target.device), kept].clone()
    uploaded: list[Message | None] = [None] * len(drafts)
    for row, (place, length) in enumerate(zip(kept.tolist(), lengths, strict=True)):
        if place < length:
            message = distribution_message(draft[row, place] * payload.total, payload)
            uploaded[row] = message
            law[row] = residual(law[row], read_distribution(message, payload, target) / payload.total)
    return Corrected(kept, draw(law, generators), drafts, uploaded)


def correct_at_device(
    target: Tensor,
    draft: Tensor,
    tokens: Tensor,
    lengths: Sequence[int],
    generators: Generators,
    payload: Payload,
) -> Corrected:
    """Verify against what can be sent of the target's law, and correct at the device from what was sent."""
    drafts = _draft_messages(draft, tokens, lengths, payload)
    levels = target_levels(target, payload) / payload.total
    rows = torch.arange(len(target), device=target.device)
    # One number more than tokens: it is 2 and stops at the end of the longest draft.
    u = torch.nn.functional.pad(uniforms(lengths, generators, target), (0, 1), value=2.0)
    kept = leading(u[:, :-1] < device_acceptance(levels[:, :-1], draft, tokens))
    own = u[rows, kept] >= levels[rows, kept].sum(-1)
    law = target[rows, kept].clone()
    downloaded: list[Message | None] = [None] * len(drafts)
    for row, (place, length) in enumerate(zip(kept.tolist(), lengths, strict=True)):
        if place == length:
            continue
        if own[row]:
            law[row] = left_out(target[row, place], levels[row, place])
        else:
            message = distribution_message(levels[row, place] * payload.total, payload)
            downloaded[row] = message
            received = read_distribution(message, payload, target)
            law[row] = residual(received / received.sum(), draft[row, place])
    return Corrected(kept, draw(law, generators), drafts, downloaded)


def device_acceptance(levels: Tensor, draft: Tensor, tokens: Tensor) -> Tensor:
    """Probability that tokens are accepted when the device corrects: s min(1, p'(x)/q(x)) = min(s, r(x)/q(x)).

    Parameters
    ----------
    levels, draft : tensors, shape (..., V)
        What is sent of the target's law, r/2^Q, and the law of the drafted tokens.
    tokens : tensor, shape (...)
    """
    return torch.minimum(levels.sum(-1), at(levels, tokens) / at(draft, tokens).clamp_min(_tiny(draft)))


def left_out(target: Tensor, levels: Tensor) -> Tensor:
    """The part of the target's law that its levels leave out, normalised, shape (..., V); p where nothing is left."""
    return residual(target, levels)


def _draft_messages(draft: Tensor, tokens: Tensor, lengths: Sequence[int], payload: Payload) -> list[Message]:
    levels = (at(draft, tokens) * payload.total).round().to(torch.int64)
    return [
        pack(token[:length].cpu().numpy(), level[:length].cpu().numpy(), payload)
        for token, level, length in zip(tokens, levels, lengths, strict=True)
    ]


def _scalars(message: Message, longest: int, payload: Payload, like: Tensor) -> Tensor:
    """The probabilities of the drafted tokens as a draft's message holds them, shape (longest,); 1 beyond its end."""
    levels = torch.from_numpy(unpack(message, payload)[1]).to(like)
    return torch.nn.functional.pad(levels / payload.total, (0, longest - len(levels)), value=1.0)


def _tiny(like: Tensor) -> float:
    return torch.finfo(like.dtype).tiny
