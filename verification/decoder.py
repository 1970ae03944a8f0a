"""One model over a batch of texts of different lengths, with a key-value cache that can be rolled back."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import Cache

from msopt.errors import ParameterError, describe
from verification.language_model import LanguageModel


class RaggedCache(Cache):  # type: ignore[misc]
    """Keys and values of several texts, each with its own length, in one buffer per layer.

    A text is rolled back by lowering its length: what lies beyond is masked, and overwritten when it grows again.
    """

    def __init__(self, rows: int) -> None:
        super().__init__(layers=[])
        self._capacity = 0
        self._buffers: dict[int, tuple[Tensor, Tensor]] = {}
        self._texts = rows
        self._rows = torch.arange(rows)
        self._positions = torch.zeros((rows, 0), dtype=torch.int64)
        self._end = 0

    def select(self, rows: Tensor, positions: Tensor) -> None:
        """Say which texts the next forward pass is for, and at which positions, shapes (n,) and (n, t)."""
        self._rows, self._positions = rows, positions
        self._end = int(positions.max()) + 1
        if self._end > self._capacity:
            self._capacity = 2 * self._end
            self._buffers = {layer: (self._grown(k), self._grown(v)) for layer, (k, v) in self._buffers.items()}

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Keep the new keys and values, shape (n, heads, t, d), and return all up to the longest text's."""
        if layer not in self._buffers:
            self._buffers[layer] = (self._empty(keys), self._empty(values))
        held = []
        for buffer, new in zip(self._buffers[layer], (keys, values), strict=True):
            buffer[self._rows[:, None], self._positions] = new.transpose(1, 2)
            seen = buffer[:, : self._end]
            held.append((seen if len(self._rows) == self._texts else seen[self._rows]).transpose(1, 2))
        return held[0], held[1]

    @property
    def layers_kept(self) -> int:
        """How many layers keep keys and values here."""
        return len(self._buffers)

    def get_seq_length(self, layer: int = 0) -> int:
        """Positions before those selected, of the longest text."""
        return self._end - self._positions.shape[1]

    def _empty(self, like: Tensor) -> Tensor:
        return like.new_zeros(self._texts, self._capacity, like.shape[1], like.shape[3])

    def _grown(self, buffer: Tensor) -> Tensor:
        wider = buffer.new_zeros(buffer.shape[0], self._capacity, *buffer.shape[2:])
        wider[:, : buffer.shape[1]] = buffer
        return wider


class Decoder:
    """A model that reads on in several texts at once.

    Parameters
    ----------
    model : LanguageModel
    texts : int
        How many.
    entries : int
        Entries of the logits that are returned.
    known : int, optional
        Leading entries that the model has a token for, by default all: the logits of the others are -inf, what
        the model holds beyond them is cut off.
    role : str
        What the model is in messages.
    """

    def __init__(
        self, model: LanguageModel, texts: int, entries: int, known: int | None = None, role: str = "model"
    ) -> None:
        self.model = model
        self.entries = entries
        self.known = entries if known is None else known
        self._role = role
        self.lengths = [0] * texts
        self._cache = RaggedCache(texts)
        self._outside_sum, self._outside_count = 0.0, 0

    @property
    def mass_outside(self) -> float:
        """Mean probability, at temperature 1, of the entries cut off, over all positions with logits so far."""
        return self._outside_sum / max(1, self._outside_count)

    @property
    def layers_kept(self) -> int:
        """How many of the model's layers keep keys and values."""
        return self._cache.layers_kept

    def roll_back(self, text: int, length: int) -> None:
        """Forget what a text holds beyond a length."""
        self.lengths[text] = min(self.lengths[text], length)

    @torch.inference_mode()
    def read(self, new: Sequence[Sequence[int]], texts: Sequence[int], wanted: Sequence[int]) -> Tensor:
        """Append tokens to some texts and return the logits after the last of them.

        Parameters
        ----------
        new : n sequences of whole numbers
            Tokens to append, at least one for each text.
        texts : n whole numbers
            The texts, ascending.
        wanted : n whole numbers
            After how many of the last tokens logits are wanted, at least 1.

        Returns
        -------
        tensor, shape (n, most wanted, entries)
            Row i holds its `wanted[i]` logits in text order; what follows them has no meaning.

        Raises
        ------
        ParameterError
            Where the model has no such token, or not so many positions; where wanted logits are no law: NaN or
            infinite, or no token left, the text and the place are named.
        """
        self._check_readable(new, texts)
        device = self.model.device
        counts = torch.tensor([len(tokens) for tokens in new])
        width = int(counts.max())
        tokens = torch.tensor([[*row, *[row[-1]] * (width - len(row))] for row in new], device=device)
        before = torch.tensor([self.lengths[text] for text in texts])
        positions = (before[:, None] + torch.arange(width)).to(device)
        self._cache.select(torch.tensor(texts, device=device), positions)
        keep = width - int((counts - torch.tensor(wanted)).min())
        output = self.model.network(
            **self._inputs(tokens),
            position_ids=positions,
            attention_mask=self._mask(positions),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        for text, row in zip(texts, new, strict=True):
            self.lengths[text] += len(row)
        first = counts - torch.tensor(wanted) - (width - keep)
        place = (first[:, None] + torch.arange(max(wanted))).clamp_max(keep - 1).to(device)
        logits = output.logits
        if max(wanted) < keep or bool(first.any()):
            logits = logits.gather(1, place[..., None].expand(-1, -1, logits.shape[-1]))
        meant = (torch.arange(max(wanted))[None] < torch.tensor(wanted)[:, None]).to(logits.device)
        cut = self._cut(logits, meant)
        for part in (logits,) if cut is logits else (logits, cut):
            self._check(part, meant, texts, wanted)
        return cut

    def _check(self, logits: Tensor, meant: Tensor, texts: Sequence[int], wanted: Sequence[int]) -> None:
        """Refuse logits that are no law; the first of a text and a place at which they are not is named."""
        wrong = meant & ~logits.amax(-1).isfinite()  # NaN wins a maximum; -inf is the greatest where none is left
        if not bool(wrong.any()):
            return
        row, column = (int(index) for index in wrong.nonzero()[0])
        place, logits = self.lengths[texts[row]] - wanted[row] + column + 1, logits[row, column]
        nan, infinite = int(logits.isnan().sum()), int(logits.isposinf().sum())
        what = f"of its {len(logits)} logits {nan} are NaN and {infinite} infinite"
        if not nan and not infinite:
            what = f"all of its {len(logits)} logits are -inf, no token is left"
        hint = "; float16 ends at 65504, float32 and bfloat16 do not" if self.model.dtype == torch.float16 else ""
        whose = f"{self._role} {describe(self.model.name)}"
        raise ParameterError(f"{whose} gives no law after {place} tokens of text {texts[row] + 1}: {what}{hint}")

    def _inputs(self, tokens: Tensor) -> dict[str, Tensor]:
        """What the network is given: tokens, or where it lacks one their embeddings, that of the lacking one 0."""
        lacking = tokens >= self.model.entries
        if self.entries <= self.model.entries or not bool(lacking.any()):
            return {"input_ids": tokens}
        embedded = self.model.network.get_input_embeddings()(tokens.masked_fill(lacking, 0))
        return {"inputs_embeds": embedded.masked_fill(lacking[..., None], 0.0)}

    def _check_readable(self, new: Sequence[Sequence[int]], texts: Sequence[int]) -> None:
        """A token or position beyond a network's tables ends a program on a GPU; some models have no such table."""
        name, token = describe(self.model.name), max(map(max, new))
        known = max(self.entries, self.model.entries)  # what the model has no row for is read as a zero embedding
        if token >= known:
            raise ParameterError(f"{name} knows tokens 0 to {known - 1}; a text has token {token}")
        longest = max(self.lengths[text] + len(tokens) for text, tokens in zip(texts, new, strict=True))
        if longest > self.model.positions:
            raise ParameterError(f"{name} reads at most {self.model.positions} tokens; a text has {longest}")

    def _mask(self, positions: Tensor) -> Tensor:
        """What is added to attention scores, shape (n, 1, t, longest): a position sees itself and all before it."""
        seen = torch.arange(int(positions.max()) + 1, device=positions.device) <= positions[..., None]
        blocked = torch.zeros(seen.shape, dtype=self.model.dtype, device=positions.device)
        return blocked.masked_fill_(~seen, torch.finfo(self.model.dtype).min)[:, None]

    def _cut(self, logits: Tensor, meant: Tensor) -> Tensor:
        """Logits of the entries that are returned; the mass that a cut leaves out is added up where it is meant."""
        if logits.shape[-1] < self.known:
            raise ParameterError(
                f"{self._role} {describe(self.model.name)} gives {logits.shape[-1]} logits, fewer than its vocabulary"
            )
        inside = logits
        if self.known < logits.shape[-1]:
            inside = logits[..., : self.known]
            share = torch.exp(inside.float().logsumexp(-1) - logits.float().logsumexp(-1))
            self._outside_sum += float((1.0 - share[meant]).clamp_min(0.0).sum())
            self._outside_count += int(meant.sum())
        if self.known < self.entries:
            inside = torch.nn.functional.pad(inside, (0, self.entries - self.known), value=-torch.inf)
        return inside
