"""Rounds with tiny models: caches, batches and ends."""

import pytest
import torch

from tests.verification.devices import PLACES, exchange_of, generators
from verification.decoder import Decoder
from verification.pairs import Pair
from verification.rounds import Session, generate
from verification.sampling import SamplingRule


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
