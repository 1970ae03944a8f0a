"""Where a rejected token is corrected: at the server or at the device, each with the messages it needs.

In both modes the device drafts from levels that can be sent and uploads tokens with their own levels. Then

- **at the server**: a rejected device uploads the distribution q of the rejected token and the server draws from
  max(p - q, 0). The result follows p exactly, whatever q is.
- **at the device**: a rejected device downloads the target's distribution as levels, r/2^Q <= p, and draws from
  max(p' - q, 0) with p' = r/Σr. The levels hold only the share s = Σr/2^Q of p, so (**ours**) the server verifies
  against the mixture p = s p' + (1 - s) d: with probability 1 - s it draws the token from d, the part of p that
  the levels leave out, and sends its index; otherwise x is accepted with probability min(1, p'(x)/q(x)).
  The result follows p exactly; the price is at most 1 - s of acceptance.
- **at either**, as it is decided once the rejections are known (**ours**): acceptance must not depend on a mode that
  depends on it, so verification is that of the device's mode. What is left to draw, max(p' - q, 0), needs p' and q at
  one place: q travels up or p' down, and the token is the same.

Where every drafted token travels with its distribution, the server has q already and nothing is exchanged.
"""

from collections.abc import Callable, Sequence
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

Place = Literal["server", "device", "either"]
OnUplink = Callable[[Sequence[int]], Sequence[bool]]
"""Which of the rejected rows of a batch send their distribution up; the others are sent one."""


@dataclass(frozen=True, eq=False)
class Corrected(Verdict):
    """A verdict with what was sent for it.

    Attributes
    ----------
    drafts : list of n messages
        Each device's tokens with the levels of their own probabilities, sent before verification.
    sent : list of n lists of messages
        The distributions sent with the tokens, where all are.
    distributions : list of n messages or None
        The distribution sent up or down after a rejection; None where none was needed.
    either : list of n pairs of int
        Bits of the distribution that goes up, or in its place comes down, where both ways are open; 0 where none goes.
    """

    drafts: list[Message] = field(default_factory=list)
    sent: list[list[Message]] = field(default_factory=list)
    distributions: list[Message | None] = field(default_factory=list)
    either: list[tuple[int, int]] = field(default_factory=list)

    def bits(self, row: int) -> tuple[int, int]:
        """Bits of a row before verification, and after it."""
        exchanged = self.distributions[row]
        return sent_bits(self.drafts[row], self.sent[row]), 0 if exchanged is None else exchanged.bits


@dataclass(frozen=True)
class Exchange:
    """A correction mode and the way distributions are sent in it.

    Attributes
    ----------
    place : "server", "device" or "either"
    payload : Payload
    every_token : bool
        Whether a distribution travels with every drafted token, so that none is exchanged; for the server alone.
    on_uplink : callable or None
        Decides for "either", once for a batch.
    """

    place: Place
    payload: Payload
    every_token: bool = False
    on_uplink: OnUplink | None = None

    def drafting(self, probabilities: Tensor) -> Tensor:
        """What the device draws from in place of its own probabilities, shape (..., V): levels/2^Q."""
        return draft_levels(probabilities, self.payload) / self.payload.total

    def messages(
        self, draft: Tensor, tokens: Tensor, lengths: Sequence[int]
    ) -> tuple[list[Message], list[list[Message]]]:
        """What each device sends before verification: its tokens, and the distributions where all travel with them."""
        drafts = _draft_messages(draft, tokens, lengths, self.payload)
        if not self.every_token:
            return drafts, [[] for _ in drafts]
        return drafts, [
            [distribution_message(q * self.payload.total, self.payload) for q in own[:length]]
            for own, length in zip(draft, lengths, strict=True)
        ]

    def decide(
        self, target: Tensor, draft: Tensor, tokens: Tensor, lengths: Sequence[int], generators: Generators
    ) -> Corrected:
        """Verify drafts that were drawn from `drafting`; arguments as those of `verification.sampling.verify`."""
        check_laws(target, draft, lengths)
        if self.place == "server":
            return _at_server(target, draft, tokens, lengths, generators, self)
        return _at_device(target, draft, tokens, lengths, generators, self)


def _at_server(
    target: Tensor, draft: Tensor, tokens: Tensor, lengths: Sequence[int], generators: Generators, exchange: Exchange
) -> Corrected:
    """Verify, and correct at the server from the distribution of the rejected token.

    The server is given nothing of the draft but what the messages hold.
    """
    payload = exchange.payload
    drafts, sent = exchange.messages(draft, tokens, lengths)
    scalars = torch.stack([_scalars(message, tokens.shape[1], payload, target) for message in drafts])
    chance = ratio(at(target[:, :-1], tokens), scalars)
    kept = leading(uniforms(lengths, generators, target) < chance)
    law = target[torch.arange(len(target), device=target.device), kept].clone()
    exchanged: list[Message | None] = [None] * len(drafts)
    for row, (place, length) in enumerate(zip(kept.tolist(), lengths, strict=True)):
        if place < length:
            message = (
                sent[row][place] if sent[row] else distribution_message(draft[row, place] * payload.total, payload)
            )
            exchanged[row] = None if sent[row] else message
            law[row] = residual(law[row], read_distribution(message, payload, target) / payload.total)
    return Corrected(kept, draw(law, generators), chance, drafts, sent, exchanged)


def _at_device(
    target: Tensor, draft: Tensor, tokens: Tensor, lengths: Sequence[int], generators: Generators, exchange: Exchange
) -> Corrected:
    """Verify against what can be sent of the target's law, and correct from that where both laws come together."""
    payload = exchange.payload
    drafts, sent = exchange.messages(draft, tokens, lengths)
    levels = target_levels(target, payload) / payload.total
    rows = torch.arange(len(target), device=target.device)
    chance = device_acceptance(levels[:, :-1], draft, tokens)
    # One number more than tokens: it is 2 and stops at the end of the longest draft.
    u = torch.nn.functional.pad(uniforms(lengths, generators, target), (0, 1), value=2.0)
    kept = leading(u[:, :-1] < chance)
    own = (u[rows, kept] >= levels[rows, kept].sum(-1)).tolist()
    law = target[rows, kept].clone()
    places = kept.tolist()
    rejected = [row for row, length in enumerate(lengths) if places[row] < length]
    apart = [row for row in rejected if not own[row]]
    up = exchange.on_uplink(apart) if exchange.on_uplink else [False] * len(apart)
    exchanged: list[Message | None] = [None] * len(drafts)
    either = [(0, 0)] * len(drafts)
    for row in set(rejected).difference(apart):
        law[row] = left_out(target[row, places[row]], levels[row, places[row]])
    for row, uplink in zip(apart, up, strict=True):
        p, q = levels[row, places[row]], draft[row, places[row]]
        ways = [distribution_message(one * payload.total, payload) for one in (q, p)]
        exchanged[row] = message = ways[0 if uplink else 1]
        either[row] = (ways[0].bits, ways[1].bits)
        received = read_distribution(message, payload, target) / payload.total
        p, q = (p, received) if uplink else (received, q)
        law[row] = residual(p / p.sum(), q)
    return Corrected(kept, draw(law, generators), chance, drafts, sent, exchanged, either)


def sent_bits(draft: Message, distributions: Sequence[Message]) -> int:
    """Bits of what one device sends before verification."""
    return draft.bits + sum(message.bits for message in distributions)


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
