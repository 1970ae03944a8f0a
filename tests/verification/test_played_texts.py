"""Texts that tiny models write for the event loop: the target's own, whatever drafts, modes and losses there are."""

from collections import Counter
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from msopt import ParameterError
from tests.verification.devices import generators
from verification.exchange import Exchange
from verification.messages import Payload
from verification.pairs import Pair, load_pairs
from verification.played_texts import Drafter, PlayedTexts, Text, payload_of
from verification.rounds import Session, generate
from verification.sampling import SamplingRule
from verification.side_by_side import SideBySide
from verification.timing import Stopwatch

FALSE_ALARM = 1e-3
PROMPTS = ("where is the cat?", "hello you")
LENGTHS = np.array([3, 0, 5])
TOKENS = 14


@pytest.fixture(scope="module")
def pairs(tiny_folders: tuple[str, str]) -> list[Pair]:
    """Two drafts of one target; one of them is the target itself, whose drafts are accepted."""
    draft, target = tiny_folders
    other, itself = load_pairs([draft, target], target)
    return [other, other, itself]


def texts_of(pairs: list[Pair], **how: Any) -> PlayedTexts:
    return texts_by(drafters_of(pairs), **how)


def drafters_of(pairs: list[Pair]) -> list[Drafter]:
    return [Drafter(pair, "chat", PROMPTS, luck) for luck, pair in enumerate(pairs)]


def texts_by(
    drafters: list[Drafter],
    *,
    every_token: bool,
    temperature: float = 1.0,
    seed: int = 0,
    stopwatch: Stopwatch | None = None,
) -> PlayedTexts:
    payload = Payload(12, 8, drafters[0].pair.entries)
    return PlayedTexts(
        drafters,
        SamplingRule(temperature),
        payload,
        every_token=every_token,
        text_tokens=TOKENS,
        seed=seed,
        stopwatch=stopwatch,
    )


def greedy(pair: Pair, prompt: str) -> list[int]:
    """The target alone, token by token, without a cache."""
    text, start = pair.target.chat(prompt), len(pair.target.chat(prompt))
    while len(text) < start + TOKENS and not (text[start:] and text[-1] in pair.end_tokens):
        text.append(int(pair.target.network(torch.tensor([text])).logits[0, -1, : pair.entries].argmax()))
    return text[start:]


def all_up(place: int, rejected: np.ndarray) -> np.ndarray:
    del place
    return rejected


def all_down(place: int, rejected: np.ndarray) -> np.ndarray:
    del place
    return np.zeros_like(rejected)


def by_turns(place: int, rejected: np.ndarray) -> np.ndarray:
    return rejected & ((np.arange(rejected.size) + place) % 2 == 0)


def whole_texts(texts: PlayedTexts) -> list[Text]:
    return [text for text in texts.written if text.ended]


MODES = [(True, all_up), (False, all_up), (False, all_down), (False, by_turns)]


@pytest.mark.parametrize(("every_token", "rule"), MODES)
def test_at_temperature_0_every_text_is_the_targets_own(pairs: list[Pair], every_token: bool, rule: object) -> None:
    """Token for token what the target decodes greedily without drafts, for two drafts, with one draft in four lost."""
    texts = texts_of(pairs, every_token=every_token, temperature=0.0)
    planned, everyone = np.tile(LENGTHS, (40, 1)), np.ones((40, 3), dtype=bool)
    arrives = np.random.default_rng(0).random((40, 3)) < 0.75
    played = texts.play(planned, everyone, arrives, rule)  # type: ignore[arg-type]
    own = [greedy(pairs[0], prompt) for prompt in PROMPTS]
    for text in texts.written:
        assert text.tokens == own[text.prompt][: len(text.tokens)]
    assert {text.prompt for text in whole_texts(texts)} == {0, 1}
    assert all(len(text.tokens) == len(own[text.prompt]) for text in whole_texts(texts))
    assert np.sum(played.accepted) > 0
    assert np.sum(played.tokens) == sum(len(text.tokens) for text in texts.written)
    assert not played.tokens[~arrives].any()


@pytest.mark.parametrize("exchange", ["every token", "up", "down", "by turns"])
def test_texts_follow_the_targets_law(pairs: list[Pair], exchange: str) -> None:
    """Chi-square over the first two tokens of 400 texts; false alarm in 1e-3 of seeds for each of the four."""
    other, tiny = pairs[1:]
    rule, start, payload = SamplingRule(3.0), [5], Payload(20, 8, tiny.entries)
    up = {
        "up": lambda rows: [True] * len(rows),
        "down": lambda rows: [False] * len(rows),
        "by turns": lambda rows: [row % 2 == 0 for row in rows],
    }.get(exchange)
    told = Exchange("server", payload, every_token=True) if up is None else Exchange("either", payload, on_uplink=up)
    session = Session([other, tiny] * 200, [start] * 400, rule, generators(400, 7), exchange=told)
    done = generate(session, [2] * 400, 2)

    def after(texts: list[list[int]]) -> torch.Tensor:
        return rule.probabilities(tiny.target.network(torch.tensor(texts)).logits[:, -1, : tiny.entries].double())

    first, second = after([start])[0], after([[*start, token] for token in range(tiny.entries)])
    law: dict[tuple[int, ...], float] = {}
    for a in range(tiny.entries):
        if a in tiny.end_tokens:
            law[(a,)] = float(first[a])
        else:
            law |= {(a, b): float(first[a] * second[a, b]) for b in range(tiny.entries)}
    seen = Counter(tuple(text[:2]) for text in session.texts)
    assert set(seen) <= set(law)
    assert 50 < sum(drafted.accepted < drafted.length for drafted in done) < len(done) - 50
    cells = sorted(law, key=lambda text: law[text])
    expected, observed = [400 * law[text] for text in cells], [seen[text] for text in cells]
    while expected[0] < 5:  # a rare text shares a cell with the next rarer
        expected[:2], observed[:2] = [sum(expected[:2])], [sum(observed[:2])]
    assert len(expected) > 15
    assert chisquare(observed, expected).pvalue > FALSE_ALARM


def test_where_a_token_is_corrected_changes_no_text(pairs: list[Pair]) -> None:
    planned, everyone = np.tile(LENGTHS, (12, 1)), np.ones((12, 3), dtype=bool)
    found = []
    for rule in (all_up, all_down, by_turns):
        texts = texts_of(pairs, every_token=False)
        played = texts.play(planned, everyone, everyone, rule)
        found.append([text.tokens for text in texts.written])
        exchanged = played.distribution_bits > 0  # type: ignore[operator]
        assert np.all(played.accepted[exchanged] < played.drafted[exchanged])
        assert exchanged.any()
    assert found[0] == found[1] == found[2]


def test_bits_are_those_of_the_messages(pairs: list[Pair]) -> None:
    """Five index bits for 32 entries and eight of level: 13 for a token, at most 12 times 13 for a distribution."""
    everyone = np.ones((12, 3), dtype=bool)
    planned = np.tile(LENGTHS, (12, 1))
    assert pairs[0].entries == 32
    alone = texts_of(pairs, every_token=False).play(planned, everyone, everyone, all_up)
    assert np.array_equal(alone.draft_bits, 13 * alone.drafted)  # type: ignore[arg-type]
    together = texts_of(pairs, every_token=True).play(planned, everyone, everyone, all_up)
    sent = together.draft_bits - 13 * together.drafted  # type: ignore[operator]
    assert np.all(sent % 13 == 0)
    assert np.all(sent <= 12 * 13 * together.drafted)
    assert np.all(sent >= 13 * together.drafted)
    assert not together.distribution_bits.any()  # type: ignore[union-attr]


@pytest.mark.parametrize("every_token", [True, False])
def test_plays_side_by_side_are_those_alone(pairs: list[Pair], every_token: bool) -> None:
    """Whoever asks first, whatever is shared: tokens, bits and chances of each play are those of a play of its own."""
    plays = [(LENGTHS, all_up), (np.array([1, 0, 5]), all_down), (LENGTHS, by_turns)]
    batches = []

    def texts(rows: list[Drafter]) -> PlayedTexts:
        batches.append(len(rows))
        return texts_by(rows, every_token=every_token)

    together = SideBySide(texts, drafters_of(pairs), [lengths for lengths, _ in plays])
    assert batches == [4], "a device that drafts as many tokens in several plays drafts once"
    everyone = np.ones((12, 3), dtype=bool)
    for one, (lengths, rule) in zip(together.plays, plays, strict=True):
        pieces = [
            one.play(np.tile(lengths, (4, 1)), everyone[:4], everyone[:4], lambda k, r, n=n, f=rule: f(n + k, r))
            for n in (0, 4, 8)
        ]
        alone = texts_of(pairs, every_token=every_token)
        played = alone.play(np.tile(lengths, (12, 1)), everyone, everyone, rule)
        for name, value in vars(played).items():
            assert np.array_equal(np.concatenate([getattr(piece, name) for piece in pieces]), value), name
        assert np.array_equal(one.record.place, alone.record.place)
        assert np.array_equal(one.record.prompt, alone.record.prompt)
        assert one.as_written() == alone.texts


def test_a_lost_draft_had_the_bits_that_it_was_sent_with(pairs: list[Pair]) -> None:
    """At temperature 0 a distribution is one entry, at 13 bits as its token: 26 for each drafted, lost or not."""
    everyone, planned = np.ones((12, 3), dtype=bool), np.tile(LENGTHS, (12, 1))
    arrives = np.random.default_rng(1).random((12, 3)) < 0.5
    greedy_texts = texts_of(pairs, every_token=True, temperature=0.0)
    played = greedy_texts.play(planned, everyone, arrives, all_up)
    assert np.array_equal(played.draft_bits, 26 * played.drafted)  # type: ignore[arg-type]
    first = [
        texts_of(pairs, every_token=True).play(planned[:1], everyone[:1], come, all_up).draft_bits
        for come in (everyone[:1], ~everyone[:1])
    ]
    assert np.array_equal(*first), "what is drafted does not know whether it arrives"  # type: ignore[arg-type]


def test_measured_steps_are_each_devices_own(pairs: list[Pair]) -> None:
    """A clock that goes on by 1 s whenever it is looked at: each draft and each verification take 1 s."""
    everyone, planned = np.ones((8, 3), dtype=bool), np.tile(LENGTHS, (8, 1))
    told = texts_of(pairs, every_token=False, stopwatch=Stopwatch(torch.device("cpu"), map(float, count()).__next__))
    played = told.play(planned, everyone, everyone, all_up)
    assert np.all(told.draft_s(played.drafted) == 1.0)
    assert np.all(told.verify_s(played.drafted, everyone) == 1.0)
    together = texts_of(pairs, every_token=False)
    together.play(planned, everyone, everyone, all_up)
    assert [text.tokens for text in told.written] == [text.tokens for text in together.written]
    assert told.texts == [pairs[0].target.tokenizer.decode(tokens) for tokens in current(told)]


def current(texts: PlayedTexts) -> list[list[int]]:
    """The text that each device is at."""
    return [[text for text in texts.written if text.device == device][-1].tokens for device in range(3)]


def test_a_distribution_has_as_many_entries_as_its_bits_hold() -> None:
    assert payload_of(34_816, 151_936) == Payload(1024, 16, 151_936)  # 18 bits of index and 16 of level
    assert payload_of(200, 49_152) == Payload(6, 16, 49_152)
    assert payload_of(10_000, 32) == Payload(32, 16, 32)
    with pytest.raises(ParameterError, match="distribution_bits = 20 hold no entry of 32 bits"):
        payload_of(20, 49_152)
