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
Tick = Callable[[], None]
WARM_UP = 2
"""Times that are not counted before those that are."""


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


def time_drafting(
    pair: Pair, rule: SamplingRule, batch: int, context: int, repeats: int, watch: Stopwatch
) -> list[float]:
    """Single times of one drafting step of a batch of texts [s]: one token each, drawn."""
    texts = list(range(batch))
    decoder, _ = pair.decoders(batch)
    decoder.read([context_tokens(pair.draft, context)] * batch, texts, [1] * batch)
    own = _generators(batch, pair.draft.device)
    tokens = [[1]] * batch

    def step() -> None:
        nonlocal tokens
        drawn = draw(rule.probabilities(decoder.read(tokens, texts, [1] * batch)[:, 0]), own)
        tokens = [[token] for token in drawn.tolist()]

    return [watch.seconds(step) for _ in range(WARM_UP + repeats)][WARM_UP:]


def time_verification(
    pair: Pair,
    rule: SamplingRule,
    grid: Sequence[tuple[int, int]],
    context: int,
    repeats: int,
    watch: Stopwatch,
    tick: Tick = lambda: None,
) -> list[list[float]]:
    """Single times of the verification of each (batch, draft length) of a grid [s].

    The rows take turns, in an order that changes with every repeat, so that a slow spell meets all of them.
    """
    order = torch.Generator().manual_seed(0)
    cells = [_verifier(pair, rule, batch, length, context) for batch, length in grid]
    times: list[list[float]] = [[] for _ in grid]
    for repeat in range(WARM_UP + repeats):
        for place in torch.randperm(len(grid), generator=order).tolist():
            seconds = watch.seconds(cells[place])
            if repeat >= WARM_UP:
                times[place].append(seconds)
        tick()
    return times


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
