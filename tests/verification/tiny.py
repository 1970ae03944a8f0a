"""Small random models with a tokenizer of letters, as folders that transformers can load."""

from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

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


def write_gguf(path: Path, *, layers: int = 2, said: int | None = None) -> str:
    """A model of random weights in one GGUF file, whose header may say another number of layers."""
    width, inner, heads, shared = 32, 64, 4, 2
    tokens = [*bytes_to_unicode().values(), "ab", "<end>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(layers if said is None else said)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(shared)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges(["a b"])
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_pad_token_id):
        add(len(tokens) - 1)
    shapes = {"token_embd": (len(tokens), width), "output_norm": (width,), "output": (len(tokens), width)}
    one = {
        "attn_norm": (width,), "ffn_norm": (width,), "attn_q": (width, width), "attn_output": (width, width),
        "attn_k": (width * shared // heads, width), "attn_v": (width * shared // heads, width),
        "ffn_gate": (inner, width), "ffn_up": (inner, width), "ffn_down": (width, inner),
    }  # fmt: skip
    shapes |= {f"blk.{layer}.{name}": shape for layer in range(layers) for name, shape in one.items()}
    generator = np.random.default_rng(0)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", 0.3 * generator.standard_normal(shape, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)
