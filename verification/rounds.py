"""Rounds of speculative decoding with real models: several devices draft, one target verifies them in one batch.

Key-value caches live through the rounds; what was rejected is rolled back. Each device draws from its own
generator, so that its text depends neither on the batch it is in nor on the others' draft lengths. Devices may draft
with models of their own, and begin a text when the one before has ended.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from msopt.errors import ParameterError
from verification.decoder import Decoder
from verification.exchange import Corrected, Exchange, sent_bits
from verification.pairs import Pair
from verification.sampling import Generators, SamplingRule, Verdict, draw, overlap, through_end, verify

Shares = tuple[float, ...]


def check_shares(name: str, shares: Shares) -> None:
    """Refuse what is no probability: a NaN is below no number, and so would count as 1."""
    for place, share in enumerate(shares):
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"{name}[{place}] = {share:g} is no probability")


@dataclass(frozen=True)
class Drafted:
    """What one round did for one device.

    Attributes
    ----------
    device : int
    length : int
        Tokens drafted; a draft stops at the end of the text [token].
    accepted : int
        How many of them were accepted [token].
    overlap : tuple of float
        Σ min(p, q) at each drafted position, those after a rejection included; empty where not recorded.
    ratio : tuple of float
        The probability with which each drafted token is accepted, min(1, p(x)/q(x)) where both laws are at hand in
        full; empty where not recorded.
    draft_bits, distribution_bits : int
        Bits sent before verification, and of the distribution exchanged after it; 0 without an exchange.
    either_bits : pair of int
        Bits of that distribution were it sent up, and were it sent down; 0 where only one way is open.
    """

    device: int
    length: int
    accepted: int
    overlap: Shares = ()
    ratio: Shares = ()
    draft_bits: int = 0
    distribution_bits: int = 0
    either_bits: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        if not 0 <= self.accepted <= self.length:
            raise ParameterError(f"{self.accepted} of {self.length} drafted tokens cannot be accepted")
        for name, shares in (("overlap", self.overlap), ("ratio", self.ratio)):
            if len(shares) not in (0, self.length):
                raise ParameterError(f"{name} holds {len(shares)} values of {self.length} drafted tokens")
            check_shares(name, shares)

    @property
    def visited(self) -> int:
        """Drafted positions up to and including the first rejection."""
        return min(self.accepted + 1, self.length)


class Drafts(NamedTuple):
    """What some devices have drafted: tokens, and the laws that they were drawn from."""

    devices: list[int]
    tokens: list[list[int]]
    laws: list[list[Tensor]]

    def of(self, devices: Container[int]) -> "Drafts":
        """Those of some of the devices."""
        rows = [row for row, device in enumerate(self.devices) if device in devices]
        return Drafts(
            [self.devices[row] for row in rows], [self.tokens[row] for row in rows], [self.laws[row] for row in rows]
        )


class Session:
    """Devices that generate together.

    Parameters
    ----------
    pair : Pair, or one for each device
        Of one target; devices with the same pair draft in one batch.
    prompts : sequences of tokens
        One for each device, at least one token each.
    rule : SamplingRule
        For all models.
    generators : one generator for each device
    exchange : Exchange or None
        How distributions travel and where a rejection is corrected; None: both laws at hand in full.
    record : bool
        Whether to keep Σ min(p, q) and the probability of acceptance of every drafted position.
    text_tokens : int or None
        Where a text ends at the latest [token]; None: with the target's end alone.

    Attributes
    ----------
    texts : list of lists of int
        What each device generated.
    ended : list of bool
        Whether it ended its text.
    drafts : list of Decoder
        Of the draft models.
    target : Decoder

    Raises
    ------
    ParameterError
        For pairs of several targets.
    """

    def __init__(
        self,
        pair: Pair | Sequence[Pair],
        prompts: Sequence[Sequence[int]],
        rule: SamplingRule,
        generators: Generators,
        *,
        exchange: Exchange | None = None,
        record: bool = False,
        text_tokens: int | None = None,
    ) -> None:
        count = len(prompts)
        self.texts: list[list[int]] = [[] for _ in prompts]
        self.ended = [False] * count
        self._rule, self._exchange, self._record, self._text_tokens = rule, exchange, record, text_tokens
        self._generators = list(generators)
        self._whole = [list(prompt) for prompt in prompts]
        pairs = [pair] * count if isinstance(pair, Pair) else list(pair)
        self._end_tokens = pairs[0].end_tokens
        if any(each.target is not pairs[0].target or each.entries != pairs[0].entries for each in pairs):
            raise ParameterError("devices of one session have one target and one vocabulary")
        decoders = {each: each.decoders(count) for each in dict.fromkeys(pairs)}
        self.target = decoders[pairs[0]][1]
        self.drafts = [draft for draft, _ in decoders.values()]
        self._draft_of = [decoders[each][0] for each in pairs]

    def process_prompts(self) -> None:
        """Fill both caches with all but the last token of each prompt, one prompt at a time."""
        for device in range(len(self._whole)):
            self._process_prompt(device)

    def begin(self, device: int, prompt: Sequence[int], generator: torch.Generator) -> None:
        """Let a device begin a new text, with a generator of its own."""
        self._whole[device], self._generators[device] = list(prompt), generator
        self.texts[device], self.ended[device] = [], False
        for decoder in (self._draft_of[device], self.target):
            decoder.roll_back(device, 0)
        self._process_prompt(device)

    def _process_prompt(self, device: int) -> None:
        for decoder in (self._draft_of[device], self.target):
            pending = self._whole[device][decoder.lengths[device] : -1]
            if pending:
                decoder.read([pending], [device], [1])

    def round(self, lengths: Sequence[int]) -> list[Drafted]:
        """Draft and verify once for every device that has not ended.

        Parameters
        ----------
        lengths : one whole number for each device
            Tokens to draft, at least 0.
        """
        return self.verify(self.draft([device for device, ended in enumerate(self.ended) if not ended], lengths))

    @torch.inference_mode()
    def draft(self, devices: Sequence[int], lengths: Sequence[int]) -> Drafts:
        """Draft for some devices whose texts have not ended, in ascending order; lengths are of all devices."""
        found: dict[int, tuple[list[int], list[Tensor]]] = {}
        for decoder in self.drafts:
            own = [device for device in devices if self._draft_of[device] is decoder]
            made = self._draft(decoder, own, [self._cut(device, lengths[device]) for device in own])
            found |= dict(zip(own, zip(*made, strict=True), strict=True))
        return Drafts(list(devices), [found[device][0] for device in devices], [found[device][1] for device in devices])

    def forget(self, drafts: Drafts) -> list[int]:
        """Take back drafts that never arrive: the texts stand as before them. Bits of what was sent of each."""
        bits = []
        for device, tokens, laws in zip(*drafts, strict=True):
            self._draft_of[device].roll_back(device, len(self._whole[device]) - 1)
            bits.append(self._sent_bits(tokens, laws))
        return bits

    def _sent_bits(self, tokens: list[int], laws: list[Tensor]) -> int:
        """Of one device's messages before verification."""
        if self._exchange is None or not tokens:
            return 0
        x = torch.tensor([tokens], device=laws[0].device)
        (draft,), (distributions,) = self._exchange.messages(torch.stack(laws)[None], x, [len(tokens)])
        return sent_bits(draft, distributions)

    @torch.inference_mode()
    def verify(self, drafts: Drafts) -> list[Drafted]:
        """Verify drafts in one batch and append what they yield."""
        devices, tokens, laws = drafts
        if not devices:
            return []
        drafted = [len(row) for row in tokens]
        logits = self.target.read(
            [
                self._whole[device][self.target.lengths[device] :] + row
                for device, row in zip(devices, tokens, strict=True)
            ],
            devices,
            [length + 1 for length in drafted],
        )
        p = self._rule.probabilities(logits)
        q, x = self._stacked(laws, tokens, p)
        own = [self._generators[device] for device in devices]
        decide = verify if self._exchange is None else self._exchange.decide
        verdict = decide(p, q, x, drafted, own)
        done = []
        measured = self._measured(p, q, verdict.chance, drafted)
        for row, device in enumerate(devices):
            accepted = int(verdict.accepted[row])
            self._append(device, tokens[row][:accepted], int(verdict.token[row]))
            done.append(Drafted(device, drafted[row], accepted, *measured[row], **_bits(verdict, row)))
        return done

    def _cut(self, device: int, length: int) -> int:
        """A draft reaches no further than the text."""
        return length if self._text_tokens is None else min(length, self._text_tokens - len(self.texts[device]))

    def _draft(
        self, decoder: Decoder, devices: list[int], lengths: list[int]
    ) -> tuple[list[list[int]], list[list[Tensor]]]:
        """Draft for devices with one model; tokens and the laws they were drawn from."""
        tokens: list[list[int]] = [[] for _ in devices]
        laws: list[list[Tensor]] = [[] for _ in devices]
        rows = [row for row, length in enumerate(lengths) if length]
        pending = {row: self._whole[devices[row]][decoder.lengths[devices[row]] :] for row in rows}
        while rows:
            chosen = [devices[row] for row in rows]
            logits = decoder.read([pending[row] for row in rows], chosen, [1] * len(rows))
            q = self._rule.probabilities(logits[:, 0])
            if self._exchange is not None:
                q = self._exchange.drafting(q)
            drawn = draw(q, [self._generators[device] for device in chosen]).tolist()
            for row, law, token in zip(rows, q, drawn, strict=True):
                laws[row].append(law)
                tokens[row].append(token)
                pending[row] = [token]
            rows = [row for row in rows if len(tokens[row]) < lengths[row] and tokens[row][-1] not in self._end_tokens]
        return tokens, laws

    @staticmethod
    def _stacked(laws: list[list[Tensor]], tokens: list[list[int]], p: Tensor) -> tuple[Tensor, Tensor]:
        """Laws and tokens of ragged drafts as tensors; what lies beyond a draft is not used."""
        longest = p.shape[1] - 1
        q = torch.zeros_like(p[:, :longest])
        x = torch.zeros(q.shape[:2], dtype=torch.int64, device=p.device)
        for row, (law, token) in enumerate(zip(laws, tokens, strict=True)):
            if law:
                q[row, : len(law)] = torch.stack(law)
                x[row, : len(token)] = torch.tensor(token, device=p.device)
        return q, x

    def _measured(self, p: Tensor, q: Tensor, chance: Tensor, drafted: list[int]) -> list[tuple[Shares, Shares]]:
        """Σ min(p, q) and the probability of acceptance at each device's drafted positions, where they are recorded."""
        if not self._record:
            return [((), ()) for _ in drafted]
        overlaps, chances = overlap(p[:, :-1], q).clamp_max(1.0).tolist(), chance.tolist()
        return [
            (tuple(one[:length]), tuple(other[:length]))
            for one, other, length in zip(overlaps, chances, drafted, strict=True)
        ]

    def _append(self, device: int, accepted: list[int], token: int) -> None:
        """Append what a round yielded, and roll both caches back to what stands."""
        text = self.texts[device]
        new = through_end([*accepted, token], self._end_tokens)
        if self._text_tokens is not None:
            new = new[: self._text_tokens - len(text)]
        text += new
        self.ended[device] = text[-1] in self._end_tokens or len(text) == self._text_tokens
        self._whole[device] += new
        for decoder in (self._draft_of[device], self.target):
            decoder.roll_back(device, len(self._whole[device]) - 1)


def _bits(verdict: Verdict, row: int) -> dict[str, Any]:
    """Of the messages of a row; nothing where none are built."""
    if not isinstance(verdict, Corrected):
        return {}
    before, after = verdict.bits(row)
    either = verdict.either[row] if verdict.either else (0, 0)
    return {"draft_bits": before, "distribution_bits": after, "either_bits": either}


def generate(session: Session, lengths: Sequence[int], tokens: int) -> list[Drafted]:
    """Run rounds until every device has so many tokens or has ended; the last round may yield a few more.

    A device that has enough stops drafting with the others still at work: it is marked as ended.
    """
    session.process_prompts()
    done: list[Drafted] = []
    while not all(session.ended):
        done += session.round(lengths)
        for device, text in enumerate(session.texts):
            session.ended[device] |= len(text) >= tokens
    return done
