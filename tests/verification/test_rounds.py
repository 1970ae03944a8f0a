"""Rounds with tiny models: caches, batches and ends."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from transformers import LlamaForCausalLM

from tests.verification.devices import PLACES, exchange_of, generators
from tests.verification.tiny import END
from verification.decoder import Decoder
from verification.language_model import LanguageModel
from verification.pairs import Pair
from verification.rounds import Session, generate
from verification.sampling import SamplingRule
from verification.text_pass import read_text


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


@pytest.mark.parametrize("kept", [0, 5, 6, 9])
def test_a_roll_back_keeps_what_is_asked_for(kept: int, tiny: Pair) -> None:
    """Nothing, all but one, all of six tokens; and it never makes a text longer."""
    text, more = [5, 6, 7, 8, 9, 10], [20, 21]
    decoder = Decoder(tiny.target, 1, tiny.entries)
    decoder.read([text], [0], [1])
    decoder.roll_back(0, kept)
    assert decoder.lengths == [min(kept, 6)]
    found = decoder.read([more], [0], [2])
    alone = Decoder(tiny.target, 1, tiny.entries).read([text[:kept] + more], [0], [2])
    torch.testing.assert_close(found, alone, rtol=1e-4, atol=1e-4)


def test_caches_are_those_of_the_text_after_fifty_rounds(tiny: Pair) -> None:
    """Drafts of 1 to 3 tokens, none to all accepted: by rounds and by one reading of the text acceptance is the same,
    from the first position to the last, so that it does not fall with the text's length."""
    prompt = [5, 6, 7]
    no_end = replace(tiny, end_tokens=frozenset())
    rule = SamplingRule(2.5)  # flat laws, so that whole drafts are accepted, too
    session = Session(no_end, [prompt], rule, generators(1, 3), record=True)
    done = [session.round([1 + place % 3])[0] for place in range(50)]
    assert {drafted.length - drafted.accepted for drafted in done if drafted.length == 3} == {0, 1, 2, 3}
    along = read_text(no_end, prompt, session.texts[0], rule).overlap
    place = 0
    for drafted in done:
        assert along[place : place + drafted.visited] == pytest.approx(drafted.overlap[: drafted.visited], abs=1e-4)
        place += drafted.accepted + 1


def following(model: LanguageModel, after: Mapping[int, int]) -> LanguageModel:
    """The model made to say one token after each of some tokens, whatever stood before."""
    network = LlamaForCausalLM(model.config)
    width = model.config.hidden_size
    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        network.model.embed_tokens.weight.copy_(torch.eye(model.entries, width))
        network.lm_head.weight.zero_()
        for before, token in after.items():
            network.lm_head.weight[token, before] = 9.0
    return replace(model, network=network.eval())


def test_an_end_inside_an_accepted_draft_is_the_last_token_counted(tiny: Pair) -> None:
    """a, b, end, d, e would all be accepted: 3 of 3 are, nothing follows. An end that is rejected ends nothing."""
    a, b, d, e = 5, 6, 7, 8
    both = following(tiny.target, {4: a, a: b, b: END, END: d, d: e})
    drafting = following(tiny.draft, {4: a, a: b, b: END, END: d, d: e})
    session = Session(replace(tiny, draft=drafting, target=both), [[4]], SamplingRule(0.0), generators(1))
    (done,) = session.round([5])
    assert (done.length, done.accepted, done.visited) == (3, 3, 3)
    assert (session.texts, session.ended, session.round([5])) == ([[a, b, END]], [True], [])
    going_on = following(tiny.target, {4: a, a: b, b: d, d: e})
    session = Session(replace(tiny, draft=drafting, target=going_on), [[4]], SamplingRule(0.0), generators(1))
    (done,) = session.round([5])
    assert (done.length, done.accepted) == (3, 2)
    assert (session.texts, session.ended) == ([[a, b, d]], [False])


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
