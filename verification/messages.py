"""What travels between device and server: drafted tokens and distributions, packed to the bit.

A distribution is sent as its most probable entries, each with its index and a whole level of `level_bits` bits.
Both ends compute with the levels, so quantisation is never an error between them: a draft is drawn *from* the
levels that can be sent (Σ levels = 2^bits), and what the levels leave of the target's law is drawn by the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from msopt.errors import ParameterError

MOST_LEVEL_BITS = 24
"""Whole numbers up to 2^24 are exact in single precision."""


@dataclass(frozen=True)
class Payload:
    """How a distribution is sent.

    Attributes
    ----------
    kept : int
        Most probable entries that are sent at most, V_eff [token].
    level_bits : int
        Bits of one entry's level, Q [bit].
    vocabulary : int
        Entries of the vocabulary, V [token].
    """

    kept: int
    level_bits: int
    vocabulary: int

    def __post_init__(self) -> None:
        if not 1 <= self.kept <= self.vocabulary:
            raise ParameterError(f"{self.kept} entries kept of {self.vocabulary}: from 1 to all of them is allowed")
        if not 1 <= self.level_bits <= MOST_LEVEL_BITS:
            raise ParameterError(f"{self.level_bits} bits for a level: from 1 to {MOST_LEVEL_BITS} is allowed")

    @property
    def index_bits(self) -> int:
        """Bits of a token's index, ceil(log2 V)."""
        return max(1, (self.vocabulary - 1).bit_length())

    @property
    def token_bits(self) -> int:
        """One drafted token: its index and the level of its own probability."""
        return self.index_bits + self.level_bits

    @property
    def distribution_bits(self) -> int:
        """One distribution with all the entries kept, V_eff (ceil(log2 V) + Q)."""
        return self.kept * (self.index_bits + self.level_bits)

    @property
    def total(self) -> int:
        """The level of probability 1."""
        return 1 << self.level_bits


def draft_levels(probabilities: Tensor, payload: Payload) -> Tensor:
    """Round a draft's probabilities, shape (..., V), to levels that add up to 2^Q; to draft from levels/2^Q.

    The entries kept are renormalised and cut to whole levels; the entries with the largest remainders get one more.
    """
    values, place = probabilities.topk(payload.kept, dim=-1)
    scaled = values.to(torch.float64)
    scaled *= payload.total / scaled.sum(-1, keepdim=True)
    whole = scaled.floor()
    missing = payload.total - whole.sum(-1, keepdim=True)
    rank = (scaled - whole).argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    levels = (whole + (rank < missing)).to(probabilities.dtype)
    return torch.zeros_like(probabilities).scatter_(-1, place, levels)


def target_levels(probabilities: Tensor, payload: Payload) -> Tensor:
    """Cut the target's most probable entries, shape (..., V), to whole levels: levels/2^Q is nowhere above p."""
    values, place = probabilities.topk(payload.kept, dim=-1)
    levels = (values.to(torch.float64) * payload.total).floor().clamp_max(payload.total)
    return torch.zeros_like(probabilities).scatter_(-1, place, levels.to(probabilities.dtype))


@dataclass(frozen=True)
class Message:
    """Tokens with a level each, as one string of bits: a draft, or the entries of a distribution.

    Attributes
    ----------
    content : bytes
        Index and level - 1 of one entry after the other, filled up to whole bytes.
    entries : int
        How many there are; a transport knows the length of what it carries.
    bits : int
        Bits that count: entries times (index bits + level bits).
    """

    content: bytes
    entries: int
    bits: int


def pack(tokens: Sequence[int] | NDArray[np.int64], levels: Sequence[int] | NDArray[np.int64], p: Payload) -> Message:
    """Write entries as a message; levels are from 1 to 2^Q."""
    entries = (np.asarray(tokens, dtype=np.int64) << p.level_bits) | (np.asarray(levels, dtype=np.int64) - 1)
    bits = ((entries[:, None] >> np.arange(p.token_bits)[::-1]) & 1).astype(np.uint8)
    return Message(np.packbits(bits).tobytes(), len(bits), bits.size)


def unpack(message: Message, p: Payload) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokens and levels of a message."""
    bits = np.unpackbits(np.frombuffer(message.content, dtype=np.uint8), count=message.bits)
    entries = bits.reshape(message.entries, p.token_bits) @ (1 << np.arange(p.token_bits)[::-1])
    return entries >> p.level_bits, (entries & (p.total - 1)) + 1


def distribution_message(levels: Tensor, payload: Payload) -> Message:
    """Write the entries of one distribution, shape (V,), whose level is not 0."""
    place = levels.nonzero()[:, 0]
    return pack(place.cpu().numpy(), levels[place].to(torch.int64).cpu().numpy(), payload)


def read_distribution(message: Message, payload: Payload, like: Tensor) -> Tensor:
    """The levels of one distribution, shape (V,), as `distribution_message` was given them."""
    place, levels = unpack(message, payload)
    found = torch.zeros(payload.vocabulary, dtype=like.dtype, device=like.device)
    found[torch.from_numpy(place).to(like.device)] = torch.from_numpy(levels).to(like)
    return found
