"""GGUF files that are whole are loaded; of those that are not, lengths are not believed: one line, and at once."""

import struct
from pathlib import Path

import gguf
import pytest
import torch

from msopt import ParameterError
from tests.verification.tiny import write_gguf
from verification.language_model import load_model
from verification.reading import check_reading

LIST = b"tokenizer.ggml.token_type"
BLOCKS = b"llama.block_count"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return Path(write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")).read_bytes()


def length_of_list(held: bytes, value: int) -> bytes:
    place = held.index(LIST) + len(LIST) + 8  # behind the kinds of the value and of its entries
    return held[:place] + struct.pack("<Q", value) + held[place + 8 :]


def refused(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=said) as caught:
        load_model(str(path))
    assert str(caught.value).isprintable()


def test_a_whole_file_is_loaded_whole(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(whole)
    model = load_model(str(path))
    assert (model.name, model.source, model.layers, model.quantisation) == ("tiny", "tiny.gguf", 2, "GGUF, mostly F32")
    held = {tensor.name: torch.tensor(tensor.data) for tensor in gguf.GGUFReader(path).tensors}
    parts = model.network.state_dict()
    for ours, theirs in (("mlp.up_proj", "ffn_up"), ("self_attn.v_proj", "attn_v"), ("input_layernorm", "attn_norm")):
        torch.testing.assert_close(parts[f"model.layers.1.{ours}.weight"], held[f"blk.1.{theirs}.weight"])
    assert len(parts) == len(held)
    check_reading(model)


def test_a_cut_file_is_one_line(whole: bytes, tmp_path: Path) -> None:
    """Cut in the magic word, the counts, a key, a list, the tensors' names and their data."""
    for length in (3, 4, 8, 23, 24, 30, 100, 1000, 6000, len(whole) // 2, len(whole) - 1):
        refused(tmp_path / "cut.gguf", whole[:length], "its header: the file is cut, or its header damaged")
    refused(tmp_path / "empty.gguf", b"", "its header: ")


@pytest.mark.parametrize("length", [0, 1, 300, 10**7, 10**12, 2**64 - 1])
def test_a_damaged_length_is_noticed_at_once(length: int, whole: bytes, tmp_path: Path) -> None:
    """The library's own reader takes what lies behind the end for empty, and would read on 10¹² times."""
    refused(tmp_path / "x.gguf", length_of_list(whole, length), "its header: ")


def test_counts_of_tensors_and_keys_are_not_believed(whole: bytes, tmp_path: Path) -> None:
    for place in (8, 16):
        for count in (10**6, 2**63, 2**64 - 1):
            content = whole[:place] + struct.pack("<Q", count) + whole[place + 8 :]
            refused(tmp_path / "x.gguf", content, "its header: ")
    refused(tmp_path / "x.gguf", whole[:8] + bytes(8) + whole[16:], "its header: it holds no model")


def test_other_files_are_no_gguf(whole: bytes, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 12345\n"
    refused(tmp_path / "pointer.gguf", pointer, "its header: GGUF magic invalid")
    refused(tmp_path / "later.gguf", whole[:4] + b"\x09" + whole[5:], "its header: .*version 9")
    refused(tmp_path / "other.gguf", whole.replace(b"llama", b"llaxa"), "architecture llaxa is not supported")
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(ParameterError, match="is not a file"):
        load_model(str(tmp_path / "folder.gguf"))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (4, "its weights: 2 layers are not in the file"),
        (0, "its number of layers, 0, is not a whole number from 1 to 1000"),
        (2**32 - 1, "its number of layers, 4294967295, is not"),
    ],
)
def test_a_header_with_another_number_of_layers(said: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        load_model(write_gguf(tmp_path / "x.gguf", said=said))
