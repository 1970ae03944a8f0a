"""Models are loaded from folders and GGUF files; tokenizers are compared by content; drafts share weights."""

from pathlib import Path

import pytest
import torch

from msopt import ParameterError
from tests.verification.tiny import LETTERS, write_model
from verification.decoder import Decoder
from verification.ladder import layer_influence, least_influential, shortened, without_layers
from verification.language_model import load_model
from verification.pairs import Pair, load_pair, make_pair


def test_vocabularies_of_different_padding_are_cut_to_the_tokens(tiny: Pair) -> None:
    assert (tiny.draft.entries, tiny.target.entries) == (len(LETTERS) + 5, len(LETTERS) + 9)
    assert tiny.entries == len(LETTERS) + 2
    decoder = Decoder(tiny.target, 1, tiny.entries)
    text = tiny.target.chat("hello, who are you?")
    cut = decoder.read([text], [0], [3])
    whole = tiny.target.network(torch.tensor([text])).logits[:, -3:]
    torch.testing.assert_close(cut, whole[..., : tiny.entries], rtol=1e-4, atol=1e-4)
    assert decoder.mass_outside == pytest.approx(float(whole.softmax(-1)[..., tiny.entries :].sum(-1).mean()), rel=1e-3)


def test_the_same_number_of_other_tokens_is_another_tokenizer(tmp_path: Path, tiny: Pair) -> None:
    other = write_model(tmp_path, seed=3, letters=LETTERS[::-1])
    with pytest.raises(ParameterError, match="different tokenizers: token 2 is 'a' in one and '\\?' in the other"):
        load_pair(tiny.draft.source, other)


def test_the_same_tokens_cut_differently_are_another_tokenizer(tmp_path: Path, tiny: Pair) -> None:
    other = load_model(write_model(tmp_path, seed=3))
    from tokenizers import normalizers

    other.tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(ParameterError, match="they cut 'The quick"):
        make_pair(other, tiny.target)


@pytest.mark.parametrize(
    ("given", "said"),
    [("no/such/folder", "cannot be loaded"), ("missing.gguf", "is not a file"), ("skip-x", "skip-N")],
)
def test_a_model_that_is_not_there_is_one_line(
    given: str, said: str, tiny_folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ParameterError, match=said) as caught:
        load_pair(given, tiny_folders[1])
    assert "\n" not in str(caught.value)


def test_layers_that_cannot_be_rolled_back_are_refused(tmp_path: Path) -> None:
    from transformers import MistralConfig, MistralForCausalLM

    folder = Path(write_model(tmp_path, seed=0))
    config = MistralConfig(
        vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, sliding_window=8,
    )  # fmt: skip
    MistralForCausalLM(config).save_pretrained(folder)
    with pytest.raises(ParameterError, match="full attention"):
        load_model(str(folder))


def test_a_shortened_model_shares_the_weights_and_is_what_it_says(tiny: Pair) -> None:
    whole = tiny.target
    draft = without_layers(whole, (1, 2))
    held = {parameter.data_ptr() for parameter in whole.network.parameters()}
    assert {parameter.data_ptr() for parameter in draft.network.parameters()} <= held
    assert [layer.self_attn.layer_idx for layer in draft.network.model.layers] == [0, 1]
    assert draft.parameters < whole.parameters
    tokens = torch.tensor([whole.chat("what is this?")])
    inner = whole.network.model
    with torch.inference_mode():
        state = inner.embed_tokens(tokens)
        places = torch.arange(tokens.shape[1])[None]
        mask = torch.full((tokens.shape[1],) * 2, -1e30).triu(1)[None, None]
        turns = inner.rotary_emb(state, position_ids=places)
        for layer in (0, 3):
            state = inner.layers[layer](state, attention_mask=mask, position_embeddings=turns)
        by_hand = whole.network.lm_head(inner.norm(state))
        torch.testing.assert_close(draft.network(tokens).logits, by_hand, rtol=1e-4, atol=1e-4)


def test_the_layers_of_least_influence_go_first(tiny: Pair) -> None:
    influence = layer_influence(tiny.target)
    assert least_influential(tiny.target, 1) == (1 if influence[1] < influence[2] else 2,)
    assert least_influential(tiny.target, 2) == (1, 2)
    with pytest.raises(ParameterError, match="from 1 to 2"):
        shortened(tiny.target, 3)


@pytest.mark.parametrize("device", ["xx", "meta", "cuda:x", "cuda:99", "cpu:9"])
def test_devices_that_are_not_there(device: str) -> None:
    with pytest.raises(ParameterError, match="device = "):
        load_model("nowhere.gguf", device=device)
