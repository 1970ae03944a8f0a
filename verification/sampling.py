"""Exact speculative sampling on plain tensors of probabilities (Leviathan et al. 2023, Chen et al. 2023).

Everything here is a function of the target's probabilities p, the draft's probabilities q and the devices'
random generators. Rows are devices; each draws from its own generator, in its own order, so what one device
gets depends neither on the others of its batch nor on their draft lengths.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from msopt.errors import ParameterError

Generators = Sequence[torch.Generator]

_ROUND_OFF = 1e-3
"""How far from 1 probabilities may add up, in single precision over the largest vocabularies with much to spare."""


@dataclass(frozen=True)
class SamplingRule:
    """How logits become the probabilities that are sampled; the same rule holds for draft and target.

    Attributes
    ----------
    temperature : float
        At least 0; 0 takes the most probable token.
    top_k : int or None
        Keep so many most probable tokens; None: all.
    top_p : float or None
        Then keep the fewest most probable tokens that hold this share, 0 < top_p <= 1; None: all.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < float("inf"):
            raise ParameterError(f"temperature = {self.temperature} is not a number of at least 0")
        if self.top_k is not None and self.top_k < 1:
            raise ParameterError(f"top_k = {self.top_k} is not a whole number of at least 1")
        if self.top_p is not None and not 0.0 < self.top_p <= 1.0:
            raise ParameterError(f"top_p = {self.top_p} is not above 0 and at most 1")

    def probabilities(self, logits: Tensor) -> Tensor:
        """Probabilities of logits, shape (..., V) both; half precision is computed in single precision.

        A logit of -inf is a token that cannot be drawn. ParameterError where one is NaN or +inf, or all of a row are
        -inf.
        """
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        best = logits.amax(-1, keepdim=True)
        if not bool(best.isfinite().all()):
            raise ParameterError(f"{int((~best.isfinite()).sum())} of {best.numel()} rows of logits give no law")
        if self.temperature == 0.0:
            return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
        # At most 0 before the division and a divisor within the type's range: no temperature overflows.
        limits = torch.finfo(logits.dtype)
        logits = (logits - best) / min(max(self.temperature, limits.tiny), limits.max)
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            least = logits.topk(self.top_k, dim=-1).values[..., -1:]
            logits = logits.masked_fill(logits < least, -torch.inf)
        if self.top_p is not None and self.top_p < 1.0:
            logits = logits.masked_fill(_beyond_share(logits, self.top_p), -torch.inf)
        return logits.softmax(-1)


def _beyond_share(logits: Tensor, share: float) -> Tensor:
    """Which tokens come after the most probable ones that hold a share; the first token never does."""
    ordered, place = logits.softmax(-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    return torch.zeros_like(logits, dtype=torch.bool).scatter_(-1, place, before >= share)


def draw(weights: Tensor, generators: Generators) -> Tensor:
    """One token for each row with probability proportional to its weight.

    By a race of exponential variables, argmax of weight/noise: the weights need not add up to 1, and a change of
    the weights in their last digits changes the token only that rarely.

    Parameters
    ----------
    weights : tensor, shape (n, V)
        Non-negative, in each row one positive at least.
    generators : n generators
        Row i draws V numbers from generator i.

    Returns
    -------
    tensor, shape (n,)
        Indices of tokens.

    Raises
    ------
    ParameterError
        Where a row's weights are no weights: negative, not finite or all 0.
    """
    total = weights.sum(-1)
    if not bool(((total > 0.0) & total.isfinite() & (weights.amin(-1) >= 0.0)).all()):
        raise ParameterError("weights to draw from are negative, not finite or all 0")
    noise = torch.empty_like(weights)
    for row, generator in zip(noise, generators, strict=True):
        row.exponential_(generator=generator)
    return (weights / noise.clamp_min_(torch.finfo(noise.dtype).tiny)).argmax(-1)


def overlap(target: Tensor, draft: Tensor) -> Tensor:
    """Probability that a drafted token is accepted, sum of min(p, q) over the last axis (design section 8)."""
    return torch.minimum(target, draft).sum(-1)


def ratio(p: Tensor, q: Tensor) -> Tensor:
    """min(1, p/q), the probability that a token drawn with probability q is accepted; 1 where q = 0, NaN of a NaN."""
    return torch.where(q <= p, torch.ones_like(p), p / q.clamp_min(torch.finfo(q.dtype).tiny))


def check_laws(target: Tensor, draft: Tensor, lengths: Sequence[int]) -> None:
    """Refuse what is no pair of laws: arguments as those of `verify`, entries beyond a row's length not looked at.

    ParameterError where a probability is negative or no number, or those of a position do not add up to 1.
    """
    drafted = torch.arange(draft.shape[1])[None] < torch.tensor(lengths)[:, None]
    reached = torch.arange(target.shape[1])[None] <= torch.tensor(lengths)[:, None]
    for whose, law, meant in (("target", target, reached), ("draft", draft, drafted)):
        off = (law.sum(-1) - 1.0).abs()
        wrong = meant.to(law.device) & ~((off <= _ROUND_OFF) & (law.amin(-1) >= 0.0))
        if bool(wrong.any()):
            row, place = (int(index) for index in wrong.nonzero()[0])
            raise ParameterError(
                f"the {whose}'s probabilities of row {row}, position {place} are no law: from "
                f"{float(law[row, place].min()):g} on, with sum {float(law[row, place].sum()):g}"
            )


def at(probabilities: Tensor, tokens: Tensor) -> Tensor:
    """The probabilities, shape (..., V), of one token each, shape (...)."""
    return probabilities.gather(-1, tokens[..., None])[..., 0]


def residual(target: Tensor, draft: Tensor) -> Tensor:
    """The law of the token after a rejection, max(p - q, 0) normalised, shape (..., V).

    Where nothing is left (p = q, so that a rejection has probability 0 or is round-off) it is p.
    """
    left = (target - draft).clamp_min(0.0)
    total = left.sum(-1, keepdim=True)
    return torch.where(total > 0.0, left / total.clamp_min(torch.finfo(total.dtype).tiny), target)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What became of a batch of drafts.

    Attributes
    ----------
    accepted : tensor, shape (n,)
        How many leading tokens of each draft were accepted.
    token : tensor, shape (n,)
        The token after them: the correction of the first rejected one, or the bonus after a whole draft.
    chance : tensor, shape (n, L)
        The probability with which each drafted token is accepted when all before it are; beyond a draft no meaning.
    """

    accepted: Tensor
    token: Tensor
    chance: Tensor


def uniforms(lengths: Sequence[int], generators: Generators, like: Tensor) -> Tensor:
    """As many uniform numbers in [0, 1) for each row as its draft is long, shape (n, longest); 2 beyond."""
    found = torch.full((len(lengths), max(lengths, default=0)), 2.0, dtype=like.dtype, device=like.device)
    for row, length, generator in zip(found, lengths, generators, strict=True):
        if length:
            row[:length].uniform_(generator=generator)
    return found


def leading(accepted: Tensor) -> Tensor:
    """How many entries are true before the first that is not, shape (n, L) to (n,)."""
    return accepted.to(torch.int64).cumprod(-1).sum(-1)


def verify(target: Tensor, draft: Tensor, tokens: Tensor, lengths: Sequence[int], generators: Generators) -> Verdict:
    """Accept the drafts' leading tokens and draw the one after them, so that all follow the target's law.

    Token x is accepted with probability min(1, p(x)/q(x)); after the first rejection the next token follows `residual`,
    after none it follows p. ParameterError as `check_laws`.

    Parameters
    ----------
    target : tensor, shape (n, L + 1, V)
        The target's probabilities before each drafted token and after the last; L is the longest draft.
    draft : tensor, shape (n, L, V)
        The probabilities that the drafted tokens were drawn from. Entries beyond a row's length are not used.
    tokens : tensor, shape (n, L)
    lengths : n whole numbers from 0 to L
    generators : n generators
    """
    check_laws(target, draft, lengths)
    chances = ratio(at(target[:, :-1], tokens), at(draft, tokens))
    accepted = leading(uniforms(lengths, generators, target) < chances)
    rejected = [row for row, (kept, length) in enumerate(zip(accepted.tolist(), lengths, strict=True)) if kept < length]
    law = target[torch.arange(len(target), device=target.device), accepted].clone()
    if rejected:
        law[rejected] = residual(law[rejected], draft[rejected, accepted[rejected]])
    return Verdict(accepted, draw(law, generators), chances)


def own_generator(device: torch.device, *names: object) -> torch.Generator:
    """A generator by what it is for: the same whatever else is drawn."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "big"))


def through_end(tokens: Sequence[int], end: frozenset[int]) -> list[int]:
    """The tokens up to and including the first that ends the text."""
    for place, token in enumerate(tokens):
        if token in end:
            return list(tokens[: place + 1])
    return list(tokens)
