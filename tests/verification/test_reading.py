"""Whether a model can draft or verify is asked of the model itself: read in pieces, a text means the same to it."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from msopt import ParameterError
from tests.verification.tiny import write_model
from verification.decoder import Decoder
from verification.ladder import shortened, without_layers
from verification.language_model import LanguageModel, load_model
from verification.pairs import Pair
from verification.reading import check_reading

SMALL: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4}


def model_of(kind: str, folder: Path, **options: Any) -> LanguageModel:
    """A random model of another architecture with the tokenizer of letters."""
    write_model(folder, seed=0)
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=32, bos_token_id=None, eos_token_id=1, pad_token_id=1, initializer_range=0.3, **{**SMALL, **options}
    )
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return load_model(str(folder))


CANNOT: dict[str, tuple[str, dict[str, Any]]] = {
    "Bert": ("read in pieces, with tokens taken back, a text means something else", {}),
    "Rwkv": ("do not all keep keys and values", {"attention_hidden_size": 32}),
    "Bloom": ("cannot draft or verify: ", {"n_head": 4}),
}


@pytest.mark.parametrize("kind", CANNOT)
def test_architectures_that_cannot_draft_are_one_line(kind: str, tmp_path: Path) -> None:
    said, options = CANNOT[kind]
    with pytest.raises(ParameterError, match=said) as caught:
        check_reading(model_of(kind, tmp_path, **options))
    assert str(caught.value).isprintable()


def test_gpt2_drafts_and_is_shortened(tmp_path: Path) -> None:
    """Its network lies under `transformer`, its layers are called `h`."""
    model = model_of("GPT2", tmp_path, n_positions=64)
    check_reading(model)
    draft = without_layers(model, (1, 2))
    check_reading(draft)
    text = torch.tensor([model.tokens("what is this?")])
    with torch.inference_mode():
        inner = model.network.transformer
        state = inner.wte(text) + inner.wpe(torch.arange(text.shape[1]))
        mask = torch.full((text.shape[1],) * 2, -1e30).triu(1)[None, None]
        for layer in (0, 3):
            state = inner.h[layer](state, attention_mask=mask)
        by_hand = model.network.lm_head(inner.ln_f(state))
        torch.testing.assert_close(draft.network(text).logits, by_hand, rtol=1e-4, atol=1e-4)
    assert shortened(model, 2).layers_left_out


def test_layers_whose_number_means_something_are_not_left_out(tmp_path: Path) -> None:
    """Without layer 1 the third would turn its keys by their position, which it does not in the target."""
    model = model_of("SmolLM3", tmp_path, num_key_value_heads=2, no_rope_layers=[1, 1, 0, 1])
    check_reading(model)
    with pytest.raises(ParameterError, match="what a layer does depends on its number"):
        without_layers(model, (1,))
    assert without_layers(model, (3,)).layers_left_out == (3,)


def test_a_network_without_a_list_of_layers_is_not_shortened(tmp_path: Path) -> None:
    model = model_of("OPT", tmp_path, ffn_dim=64, word_embed_proj_dim=32)
    with pytest.raises(ParameterError, match="a OPTForCausalLM has no list of 4 layers"):
        shortened(model, 1)


def test_tokens_and_positions_that_a_model_has_not_are_refused(tiny: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = tiny.target.entries
    monkeypatch.setattr(tiny.target.network.config, "max_position_embeddings", 8)
    decoder = Decoder(tiny.target, 2, tiny.entries)
    with pytest.raises(ParameterError, match=f"knows tokens 0 to {entries - 1}; a text has token {entries}"):
        decoder.read([[0], [0, entries]], [0, 1], [1, 1])
    decoder.read([[2] * 6, [entries - 1]], [0, 1], [1, 1])
    decoder.read([[2] * 2], [0], [1])
    with pytest.raises(ParameterError, match="reads at most 8 tokens; a text has 9"):
        decoder.read([[2], [2]], [0, 1], [1, 1])


def test_a_model_of_nan_is_told_before_it_drafts(tmp_path: Path) -> None:
    model = load_model(write_model(tmp_path, seed=0))
    model.network.model.norm.weight.fill_(float("nan"))
    with pytest.raises(ParameterError, match=r"draft .* gives no law after 1 tokens of text 1: .*32 are NaN"):
        check_reading(model, "draft")
