"""Timing with clocks of our own: what is waited for, what is counted, and in what order."""

import itertools
from statistics import median

import pytest
import torch

from verification.decoder import Decoder
from verification.pairs import Pair
from verification.sampling import SamplingRule
from verification.timing import DRAFTED_TOGETHER, WARM_UP, Stopwatch, time_prompts, time_steps

PROMPT_S, TOKEN_S, CHECK_S = 1.0, 0.05, 0.2
Reading = tuple[list[tuple[str, int]], Stopwatch]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    """What was read in turn, by whom and how many tokens a text; a clock that these readings alone move on."""
    read, now, seen = Decoder.read, [0.0], []

    def counted(self: Decoder, new: list[list[int]], texts: list[int], wanted: list[int]) -> torch.Tensor:
        longest = max(map(len, new))
        now[0] += TOKEN_S if longest == 1 else CHECK_S if longest < 4 else PROMPT_S
        seen.append((self._role, longest))
        return read(self, new, texts, wanted)

    monkeypatch.setattr(Decoder, "read", counted)
    return seen, Stopwatch(torch.device("cpu"), lambda: now[0])


def test_reading_the_context_is_no_part_of_a_step(tiny: Pair, reading: Reading) -> None:
    """A prompt of 1 s before drafting steps of 0.05 s and verifications of 0.2 s."""
    _, watch = reading
    drafted, verified = time_steps(tiny, SamplingRule(), [1, 2], [(1, 1), (2, 2)], 8, 3, watch)
    assert [len(times) for times in drafted] == [3 * DRAFTED_TOGETHER] * 2
    assert {round(seconds, 9) for times in drafted for seconds in times} == {TOKEN_S}
    assert [median(times) for times in verified] == pytest.approx([CHECK_S, CHECK_S])
    assert [len(times) for times in verified] == [3, 3]
    assert time_prompts(tiny.target, tiny.entries, 6, 2, watch) == pytest.approx([PROMPT_S] * 2)


def test_both_models_take_turns(tiny: Pair, reading: Reading) -> None:
    """A machine that slows down is met by both: neither has all its turns before the other's, nor always the first."""
    seen, watch = reading
    time_steps(tiny, SamplingRule(), [1], [(1, 1)], 8, 6, watch)
    turns = [role for role, _ in itertools.groupby(role for role, length in seen if length < 4)]
    assert len(turns) > WARM_UP + 6
    every = [role for role, length in seen if length < 4]
    repeats = [every[n : n + DRAFTED_TOGETHER + 1] for n in range(0, len(every), DRAFTED_TOGETHER + 1)]
    assert all(repeat.count("target") == 1 for repeat in repeats)
    assert {repeat[0] for repeat in repeats} == {"draft", "target"}


def test_what_runs_on_a_device_is_waited_for_before_the_start_and_before_the_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: events.append(f"wait for {device}"))

    def clock() -> float:
        events.append("clock")
        return float(len(events))

    watch = Stopwatch(torch.device("cuda:0"), clock)
    assert watch.seconds(lambda: events.append("work")) == 3.0
    assert events == ["wait for cuda:0", "clock", "work", "wait for cuda:0", "clock"]
