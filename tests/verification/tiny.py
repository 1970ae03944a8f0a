"""Small random models with a tokenizer of letters, as folders that transformers can load."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LETTERS = "abcdefghijklmnopqrstuvwxyz .,?"
END = 1


def write_model(folder: Path, *, seed: int, padding: int = 0, layers: int = 3, letters: str = LETTERS) -> str:
    """A model of random weights; `padding` entries of its vocabulary have no token."""
    tokens = ["<unk>", "<end>", *letters]
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokens) + padding,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        eos_token_id=END,
        pad_token_id=END,
        bos_token_id=None,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    inner = Tokenizer(models.WordLevel({token: n for n, token in enumerate(tokens)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", eos_token="<end>").save_pretrained(folder)
    return str(folder)
