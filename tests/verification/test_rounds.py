"""Rounds with real models: caches, batches, greedy decoding, and the target's law by chi-square."""

from collections import Counter

import pytest
import torch
from scipy.stats import chisquare

from verification.decoder import Decoder
from verification.exchange import Exchange
from verification.messages import Payload
from verification.pairs import Pair
from verification.rounds import Session, generate
from verification.sampling import SamplingRule

PROMPTS = ("What is 12 + 30?", "Translate to French: the cat sleeps.", "Why is the sky blue? Answer in one sentence.")
FALSE_ALARM = 1e-3
START = [504]
"""SmolLM2's token "The": after it the next two tokens are open."""
PLACES = ("full", "server", "device")


def generators(count: int, seed: int = 0) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(1000 * seed + n) for n in range(count)]


def exchange_of(place: str, pair: Pair, kept: int = 64, bits: int = 12) -> Exchange | None:
    return None if place == "full" else Exchange(place, Payload(kept, bits, pair.entries))  # type: ignore[arg-type]


def test_ragged_reading_with_rollback_equals_reading_from_nothing(tiny: Pair) -> None:
    decoder = Decoder(tiny.target, 3, tiny.entries)
    texts = [[5, 6, 7, 8, 9, 10], [11, 12], [3, 4, 5, 6]]
    decoder.read(texts, [0, 1, 2], [1, 1, 1])
    decoder.roll_back(0, 4)
    decoder.roll_back(2, 1)
    found = decoder.read([[20, 21, 22], [23]], [0, 2], [2, 1])
    for row, (text, count) in enumerate([([5, 6, 7, 8, 20, 21, 22], 2), ([3, 23], 1)]):
        alone = tiny.target.network(torch.tensor([text])).logits[0, -count:, : tiny.entries]
        torch.testing.assert_close(found[row, :count], alone, rtol=1e-4, atol=1e-4)
    assert decoder.lengths == [7, 2, 2]


@pytest.mark.parametrize("place", PLACES)
def test_a_batch_of_devices_equals_one_by_one(place: str, tiny: Pair) -> None:
    """Bitwise the same tokens, with ragged lengths, ends of texts and 0 drafted tokens in the batch."""
    prompts = [tiny.target.chat(text) for text in ("hello", "where is the cat?", "a", "who", "what. then", "no")]
    lengths = [0, 1, 2, 3, 5, 8]
    rule = SamplingRule(0.9, top_p=0.98)
    together = Session(tiny, prompts, rule, generators(6), exchange=exchange_of(place, tiny, 20, 8))
    generate(together, lengths, 40)
    assert any(text[-1] in tiny.end_tokens for text in together.texts)
    for row, prompt in enumerate(prompts):
        alone = Session(tiny, [prompt], rule, [generators(6)[row]], exchange=exchange_of(place, tiny, 20, 8))
        generate(alone, [lengths[row]], 40)
        assert alone.texts[0] == together.texts[row]


def test_an_end_inside_a_draft_ends_the_text(tiny: Pair) -> None:
    session = Session(tiny, [tiny.target.chat("stop")] * 30, SamplingRule(), generators(30), record=True)
    done = generate(session, [6] * 30, 60)
    for text in session.texts:
        assert not set(text[:-1]) & tiny.end_tokens
    short = [drafted for drafted in done if drafted.length < 6]
    assert any(drafted.accepted == drafted.length for drafted in short)
    assert all(len(d.overlap) == len(d.ratio) == d.length for d in done)


@pytest.fixture(scope="module")
def greedy(pair: Pair) -> list[list[int]]:
    """What transformers' own generate decodes."""
    found = []
    for prompt in (pair.target.chat(text) for text in PROMPTS):
        given = torch.tensor([prompt])
        text = pair.target.network.generate(
            given, attention_mask=torch.ones_like(given), do_sample=False, max_new_tokens=12
        )
        found.append(text[0, len(prompt) :].tolist())
    return found


@pytest.mark.parametrize("place", PLACES)
def test_temperature_0_is_greedy_decoding_token_for_token(place: str, pair: Pair, greedy: list[list[int]]) -> None:
    prompts = [pair.target.chat(text) for text in PROMPTS]
    session = Session(pair, prompts, SamplingRule(0.0), generators(3), exchange=exchange_of(place, pair))
    done = generate(session, [1, 4, 6], 12)
    assert [text[:12] for text in session.texts] == greedy
    assert sum(drafted.accepted for drafted in done) > 0
    if place != "full":
        assert all(d.payload_bits >= d.length * Payload(64, 12, pair.entries).token_bits for d in done)


@pytest.fixture(scope="module")
def two_tokens(pair: Pair) -> dict[tuple[int, int], float]:
    """The exact law of SmolLM2's first two tokens at top-k 4: sixteen texts, from five readings."""
    rule = SamplingRule(1.4, top_k=4)

    def after(text: list[int]) -> torch.Tensor:
        return rule.probabilities(pair.target.network(torch.tensor([text])).logits[0, -1].double())

    law = {}
    with torch.inference_mode():
        first = after(START)
        for a in first.nonzero()[:, 0].tolist():
            second = after([*START, a])
            law.update({(a, b): float(first[a] * second[b]) for b in second.nonzero()[:, 0].tolist()})
    assert sum(law.values()) == pytest.approx(1.0)
    return law


@pytest.mark.parametrize("place", PLACES)
def test_smollm2_follows_its_own_law(place: str, pair: Pair, two_tokens: dict[tuple[int, int], float]) -> None:
    """Chi-square over the first two tokens of 600 texts, seed 5; false alarm in 1e-3 of seeds for each mode."""
    rule = SamplingRule(1.4, top_k=4)
    session = Session(pair, [START] * 600, rule, generators(600, 5), exchange=exchange_of(place, pair, 3, 6))
    done = generate(session, [2] * 600, 2)
    seen = Counter((text[0], text[1]) for text in session.texts)
    assert set(seen) <= set(two_tokens)
    rejections = sum(drafted.accepted < drafted.length for drafted in done)
    assert 50 < rejections < len(done) - 50
    cells = sorted(two_tokens, key=lambda text: two_tokens[text])
    expected, observed = [600 * two_tokens[text] for text in cells], [seen[text] for text in cells]
    while expected[0] < 5:  # a rare text shares a cell with the next rarer
        expected[:2], observed[:2] = [sum(expected[:2])], [sum(observed[:2])]
    assert len(expected) > 6
    assert chisquare(observed, expected).pvalue > FALSE_ALARM


def test_positions_along_a_text_are_those_that_rounds_saw(pair: Pair) -> None:
    """Σ min(p, q) by rounds, from caches, equals one reading of the finished text, position by position."""
    from verification.text_pass import read_text

    prompt = pair.target.chat(PROMPTS[2])
    rule = SamplingRule(1.0)
    session = Session(pair, [prompt], rule, generators(1, 9), record=True)
    done = generate(session, [3], 24)
    along = read_text(pair, prompt, session.texts[0], rule).overlap
    place = 0
    for drafted in done:
        assert along[place : place + drafted.visited] == pytest.approx(drafted.overlap[: drafted.visited], abs=2e-4)
        place += drafted.accepted + 1
    assert any(drafted.accepted == drafted.length for drafted in done), "no bonus token, which no round visits"
