"""Batched speculative decoding of 8 devices against transformers' assisted generation, one device after another.

Both with SmolLM2-135M-Instruct and the same draft of its ladder, prompts, draft length, temperature, number of
tokens, type and threads; no text ends early. Both clocks start when the first round of a text is done, so that
prompt processing is in neither, and run until every text has its tokens. The two take turns within each repeat, and
a ratio is taken within its repeat. Run: python benchmarks/bench_batched_verification.py [float32|bfloat16]
"""

import statistics
import sys
import time
from dataclasses import replace
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList
from transformers.utils import logging

from verification.pairs import Pair, load_pair
from verification.prompts import all_prompts
from verification.rounds import Session
from verification.sampling import SamplingRule
from verification.timing import Stopwatch, time_steps

DEVICES, DRAFT, DRAFT_LENGTH, TOKENS, REPEATS = 8, "skip-4", 4, 96, 5
RULE = SamplingRule(temperature=1.0)
GOAL = 3.0


class Clock(StoppingCriteria):  # type: ignore[misc]
    """Notes when each round of assisted generation ended and how long the text was; never stops it."""

    def __init__(self) -> None:
        self.ends: list[tuple[float, int]] = []

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        self.ends.append((time.perf_counter(), input_ids.shape[1]))
        return torch.zeros(len(input_ids), dtype=torch.bool)


def assisted(pair: Pair, prompts: list[list[int]], seed: int) -> tuple[float, int, int]:
    """Seconds, tokens and rounds of transformers' assisted generation, all devices one after another."""
    seconds, tokens, rounds = 0.0, 0, 0
    torch.manual_seed(seed)
    for prompt in prompts:
        clock, given = Clock(), torch.tensor([prompt])
        pair.target.network.generate(
            given,
            attention_mask=torch.ones_like(given),
            assistant_model=pair.draft.network,
            do_sample=True,
            temperature=RULE.temperature,
            top_k=0,
            max_new_tokens=TOKENS,
            stopping_criteria=StoppingCriteriaList([clock]),
        )
        (start, before), (end, after) = clock.ends[0], clock.ends[-1]
        seconds, tokens, rounds = seconds + end - start, tokens + after - before, rounds + len(clock.ends) - 1
    return seconds, tokens, rounds


def batched(pair: Pair, prompts: list[list[int]], seed: int) -> tuple[float, int, int]:
    """Seconds, tokens and rounds of ours, all devices in one batch; tokens beyond the number asked for do not count."""
    own = [torch.Generator().manual_seed(1000 * seed + n) for n in range(len(prompts))]
    session = Session(pair, prompts, RULE, own)
    lengths = [DRAFT_LENGTH] * len(prompts)
    session.process_prompts()
    session.round(lengths)
    before = sum(len(text) for text in session.texts)
    rounds, start = 0, time.perf_counter()
    while not all(session.ended):
        session.round([min(DRAFT_LENGTH, TOKENS - 1 - len(text)) for text in session.texts])
        session.ended = [len(text) >= TOKENS for text in session.texts]
        rounds += 1
    return time.perf_counter() - start, TOKENS * len(prompts) - before, rounds


def endless(pair: Pair) -> Pair:
    """The pair with no token that ends a text, in either way to generate, and a constant draft length."""
    for network in (pair.target.network, pair.draft.network):
        network.generation_config.eos_token_id = None
        network.generation_config.pad_token_id = 0
    assistant = pair.draft.network.generation_config
    assistant.num_assistant_tokens = DRAFT_LENGTH
    assistant.num_assistant_tokens_schedule = "constant"
    assistant.assistant_confidence_threshold = 0.0
    return replace(pair, end_tokens=frozenset())


def forward_times(pair: Pair) -> None:
    """What single steps cost alone and in a batch: where the ratio comes from."""
    watch = Stopwatch(pair.target.device)
    grid = [(1, DRAFT_LENGTH), (DEVICES, DRAFT_LENGTH)]
    timed = time_steps(pair, RULE, [batch for batch, _ in grid], grid, 64, 10, watch)
    drafting, verification = ([statistics.median(times) for times in rows] for rows in timed)
    print(f"{'single steps [ms]':<40}{'1 device':>12}{f'{DEVICES} devices':>12}{'ratio':>8}")
    for name, (alone, together) in (("one drafted token", drafting), ("one verification", verification)):
        print(f"{name:<40}{1e3 * alone:>12.1f}{1e3 * together:>12.1f}{together / alone:>8.2f}")
    rounds = [DRAFT_LENGTH * d + v for d, v in zip(drafting, verification, strict=True)]
    print(f"a round of these, {DEVICES} alone over one batch: {DEVICES * rounds[0] / rounds[1]:.2f} times")


def main() -> None:
    logging.set_verbosity_error()
    dtype = sys.argv[1] if len(sys.argv) > 1 else "float32"
    pair = endless(load_pair(DRAFT, dtype=dtype))
    prompts = [pair.target.chat(texts[n]) for n in (0, 1) for texts in all_prompts().values()][:DEVICES]
    for run in (assisted, batched):
        run(pair, prompts[:2], 0)  # warm up; not counted
    ratios = []
    print(f"{DRAFT} of {pair.target.name}, {dtype}, {torch.get_num_threads()} threads, {DEVICES} devices")
    print(f"{'repeat':<10}{'assisted':>12}{'batched':>12}{'ratio':>8}   [token/s]; tokens of a device's round")
    for repeat in range(1, REPEATS + 1):
        order = (assisted, batched) if repeat % 2 else (batched, assisted)
        found = {run: run(pair, prompts, repeat) for run in order}
        (slow_s, slow, slow_rounds), (fast_s, fast, fast_rounds) = found[assisted], found[batched]
        ratios.append((fast / fast_s) / (slow / slow_s))
        each = f"{slow / slow_rounds:.2f}; batch: {fast / fast_rounds / DEVICES:.2f}"
        print(f"{repeat:<10}{slow / slow_s:>12.1f}{fast / fast_s:>12.1f}{ratios[-1]:>8.2f}   {each}")
    print(f"ratio: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}; goal {GOAL:.0f}")
    forward_times(pair)


if __name__ == "__main__":
    main()
