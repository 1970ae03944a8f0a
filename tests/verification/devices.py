"""Devices for tests: random generators of their own, and where what is rejected is corrected."""

import torch
from torch import Tensor

from verification.exchange import Exchange
from verification.messages import Payload
from verification.pairs import Pair
from verification.sampling import Verdict, draw, verify

PLACES = ("full", "server", "device")


def generators(count: int, seed: int = 0) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(1000 * seed + n) for n in range(count)]


def exchange_of(place: str, pair: Pair, kept: int = 64, bits: int = 12) -> Exchange | None:
    return None if place == "full" else Exchange(place, Payload(kept, bits, pair.entries))  # type: ignore[arg-type]


def played(
    p: Tensor, q: Tensor, before: Tensor, length: int, exchange: Exchange | None, own: list[torch.Generator]
) -> tuple[Tensor, Verdict]:
    """The drafts and the verdict of a round in a language whose row i is the law of the token after i."""
    given = q if exchange is None else exchange.drafting(q)
    places, laws = [before], []
    for _ in range(length):
        laws.append(given[places[-1]])
        places.append(draw(laws[-1], own))
    drafted = torch.stack(places, 1)
    decide = verify if exchange is None else exchange.decide
    verdict = decide(p[drafted], torch.stack(laws, 1), drafted[:, 1:], [length] * len(before), own)
    return drafted[:, 1:], verdict
