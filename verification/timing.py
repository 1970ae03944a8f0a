"""How long drafting, verifying and reading prompts take: warmed up, synchronised, every single time kept.

What is timed is what a round does: the forward pass over cached texts, the probabilities, and for drafting the
draw. The clock is an argument, so that tests need no real time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from msopt.errors import ParameterError
from verification.decoder import Decoder
from verification.ladder import CALIBRATION
from verification.language_model import LanguageModel
from verification.pairs import Pair
from verification.sampling import SamplingRule, draw, verify

Clock = Callable[[], float]
WARM_UP = 2
"""Turns that are not counted before those that are."""
DRAFTED_TOGETHER = 8
"""Drafting steps of one turn."""


@dataclass(frozen=True)
class Stopwatch:
    """Times work on one device.

    Attributes
    ----------
    device : torch.device
        Where the work is done; what runs there asynchronously is waited for.
    clock : callable
        Gives the present time [s].
    """

    device: torch.device
    clock: Clock = time.perf_counter

    def seconds(self, work: Callable[[], object]) -> float:
        """How long one piece of work takes [s]."""
        self._wait()
        start = self.clock()
        work()
        self._wait()
        return self.clock() - start

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def context_tokens(model: LanguageModel, length: int) -> list[int]:
    """So many tokens of a text of our own, repeated where it is shorter."""
    text = list(model.tokenizer(CALIBRATION)["input_ids"])
    return (text * (length // len(text) + 1))[:length]


def time_steps(
    pair: Pair,
    rule: SamplingRule,
    batches: Sequence[int],
    grid: Sequence[tuple[int, int]],
    context: int,
    repeats: int,
    watch: Stopwatch,
) -> tuple[list[list[float]], list[list[float]]]:
    """Single times of a drafting step of each batch size and of the verification of each (batch, draft length) [s].

    All take turns, in an order that changes with every repeat, so that a slow spell, or a machine that gets warm, meets
    both models and all sizes. A turn of drafting is `DRAFTED_TOGETHER` steps in a row, as a round has them.
    """
    order = torch.Generator().manual_seed(0)
    drafting = [(_drafter(pair, rule, batch, context), DRAFTED_TOGETHER) for batch in batches]
    cells = drafting + [(_verifier(pair, rule, batch, length, context), 1) for batch, length in grid]
    times: list[list[float]] = [[] for _ in cells]
    for repeat in range(WARM_UP + repeats):
        for place in torch.randperm(len(cells), generator=order).tolist():
            work, steps = cells[place]
            seconds = [watch.seconds(work) for _ in range(steps)]
            if repeat >= WARM_UP:
                times[place] += seconds
    return times[: len(drafting)], times[len(drafting) :]


def _drafter(pair: Pair, rule: SamplingRule, batch: int, context: int) -> Callable[[], None]:
    """One drafting step of a batch of texts, ready to be repeated: one token each, drawn, after a text that is read."""
    texts = list(range(batch))
    decoder, _ = pair.decoders(batch)
    decoder.read([context_tokens(pair.draft, context)] * batch, texts, [1] * batch)
    own = _generators(batch, pair.draft.device)
    tokens = [[1]] * batch

    def step() -> None:
        nonlocal tokens
        drawn = draw(rule.probabilities(decoder.read(tokens, texts, [1] * batch)[:, 0]), own)
        tokens = [[token] for token in drawn.tolist()]

    return step


def _verifier(pair: Pair, rule: SamplingRule, batch: int, length: int, context: int) -> Callable[[], None]:
    """One verification, ready to be repeated: it rolls back what it appended."""
    texts = list(range(batch))
    text = context_tokens(pair.target, context + length + 1)
    _, decoder = pair.decoders(batch)
    decoder.read([text[:context]] * batch, texts, [1] * batch)
    drafted = torch.tensor([text[context + 1 :]] * batch, device=pair.target.device).reshape(batch, length)
    q = torch.full((batch, length, pair.entries), 1.0 / pair.entries, device=pair.target.device)
    own = _generators(batch, pair.target.device)

    def work() -> None:
        logits = decoder.read([text[context:]] * batch, texts, [length + 1] * batch)
        verify(rule.probabilities(logits), q, drafted, [length] * batch, own)
        for place in texts:
            decoder.roll_back(place, context)

    return work


def time_prompts(model: LanguageModel, entries: int, length: int, repeats: int, watch: Stopwatch) -> list[float]:
    """Single times of reading a prompt of so many tokens, alone and from nothing [s]."""
    if length < 1:
        raise ParameterError(f"a prompt of {length} tokens cannot be read; at least 1 is needed")
    text = context_tokens(model, length)
    return [watch.seconds(lambda: Decoder(model, 1, entries).read([text], [0], [1])) for _ in range(WARM_UP + repeats)][
        WARM_UP:
    ]


def _generators(count: int, device: torch.device) -> list[torch.Generator]:
    return [torch.Generator(device).manual_seed(n) for n in range(count)]
