"""Devices for tests: random generators of their own, and where what is rejected is corrected."""

import torch

from verification.exchange import Exchange
from verification.messages import Payload
from verification.pairs import Pair

PLACES = ("full", "server", "device")


def generators(count: int, seed: int = 0) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(1000 * seed + n) for n in range(count)]


def exchange_of(place: str, pair: Pair, kept: int = 64, bits: int = 12) -> Exchange | None:
    return None if place == "full" else Exchange(place, Payload(kept, bits, pair.entries))  # type: ignore[arg-type]
