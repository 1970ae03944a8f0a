"""Rounds of speculative decoding with real models: several devices draft, one target verifies them in one batch.

Key-value caches live through the rounds; what was rejected is rolled back. Each device draws from its own
generator, so that its text depends neither on the batch it is in nor on the others' draft lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from msopt.errors import ParameterError
from verification.exchange import Corrected, Exchange
from verification.pairs import Pair
from verification.sampling import Generators, SamplingRule, at, draw, overlap, ratio, through_end, verify

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
        min(1, p(x)/q(x)) of each drafted token; empty where not recorded.
    payload_bits : int
        Bits of the draft and of the distribution exchanged; 0 without an exchange.
    """

    device: int
    length: int
    accepted: int
    overlap: Shares = ()
    ratio: Shares = ()
    payload_bits: int = 0

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


class Session:
    """Devices that generate together.

    Parameters
    ----------
    pair : Pair
    prompts : sequences of tokens
        One for each device, at least one token each.
    rule : SamplingRule
        For both models.
    generators : one generator for each device
    exchange : Exchange or None
        How distributions travel and where a rejection is corrected; None: both laws at hand in full.
    record : bool
        Whether to keep Σ min(p, q) and min(1, p/q) of every drafted position.

    Attributes
    ----------
    texts : list of lists of int
        What each device generated.
    ended : list of bool
        Whether it ended its text.
    """

    def __init__(
        self,
        pair: Pair,
        prompts: Sequence[Sequence[int]],
        rule: SamplingRule,
        generators: Generators,
        *,
        exchange: Exchange | None = None,
        record: bool = False,
    ) -> None:
        self.texts: list[list[int]] = [[] for _ in prompts]
        self.ended = [False] * len(prompts)
        self._pair, self._rule, self._exchange, self._record = pair, rule, exchange, record
        self._generators = generators
        self._whole = [list(prompt) for prompt in prompts]
        self.draft, self.target = pair.decoders(len(prompts))

    def process_prompts(self) -> None:
        """Fill both caches with all but the last token of each prompt, one prompt at a time."""
        for device, whole in enumerate(self._whole):
            for decoder in (self.draft, self.target):
                pending = whole[decoder.lengths[device] : -1]
                if pending:
                    decoder.read([pending], [device], [1])

    @torch.inference_mode()
    def round(self, lengths: Sequence[int]) -> list[Drafted]:
        """Draft and verify once for every device that has not ended.

        Parameters
        ----------
        lengths : one whole number for each device
            Tokens to draft, at least 0.
        """
        devices = [device for device, ended in enumerate(self.ended) if not ended]
        if not devices:
            return []
        tokens, laws = self._draft(devices, [lengths[device] for device in devices])
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
        measured = self._measured(p, q, x, drafted)
        for row, device in enumerate(devices):
            accepted = int(verdict.accepted[row])
            self._append(device, tokens[row][:accepted], int(verdict.token[row]))
            bits = _bits(verdict, row) if isinstance(verdict, Corrected) else 0
            done.append(Drafted(device, drafted[row], accepted, *measured[row], bits))
        return done

    def _draft(self, devices: list[int], lengths: list[int]) -> tuple[list[list[int]], list[list[Tensor]]]:
        """Draft for each device; tokens and the laws they were drawn from."""
        tokens: list[list[int]] = [[] for _ in devices]
        laws: list[list[Tensor]] = [[] for _ in devices]
        rows = [row for row, length in enumerate(lengths) if length]
        pending = {row: self._whole[devices[row]][self.draft.lengths[devices[row]] :] for row in rows}
        while rows:
            chosen = [devices[row] for row in rows]
            logits = self.draft.read([pending[row] for row in rows], chosen, [1] * len(rows))
            q = self._rule.probabilities(logits[:, 0])
            if self._exchange is not None:
                q = self._exchange.drafting(q)
            drawn = draw(q, [self._generators[device] for device in chosen]).tolist()
            for row, law, token in zip(rows, q, drawn, strict=True):
                laws[row].append(law)
                tokens[row].append(token)
                pending[row] = [token]
            rows = [
                row for row in rows if len(tokens[row]) < lengths[row] and tokens[row][-1] not in self._pair.end_tokens
            ]
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

    def _measured(self, p: Tensor, q: Tensor, x: Tensor, drafted: list[int]) -> list[tuple[Shares, Shares]]:
        """Σ min(p, q) and min(1, p/q) at each device's drafted positions, where they are recorded."""
        if not self._record:
            return [((), ()) for _ in drafted]
        p = p[:, :-1]
        overlaps, ratios = overlap(p, q).clamp_max(1.0).tolist(), ratio(at(p, x), at(q, x)).tolist()
        return [
            (tuple(one[:length]), tuple(other[:length]))
            for one, other, length in zip(overlaps, ratios, drafted, strict=True)
        ]

    def _append(self, device: int, accepted: list[int], token: int) -> None:
        """Append what a round yielded, and roll both caches back to what stands."""
        new = through_end([*accepted, token], self._pair.end_tokens)
        self.ended[device] = new[-1] in self._pair.end_tokens
        self.texts[device] += new
        self._whole[device] += new
        for decoder in (self.draft, self.target):
            decoder.roll_back(device, len(self._whole[device]) - 1)


def _bits(verdict: Corrected, row: int) -> int:
    sent = verdict.distributions[row]
    return verdict.drafts[row].bits + (0 if sent is None else sent.bits)


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
