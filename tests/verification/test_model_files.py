"""A model's files may be broken in any way: what is loaded is whole, or one line says what is wrong with it."""

import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from msopt import ParameterError
from verification.boundary import MOST_CHARACTERS, one_line
from verification.language_model import load_model
from verification.pairs import load_pair, make_pair
from verification.reading import PROBE

Damage = Callable[[Path], object]
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"


@pytest.fixture
def folder(tiny_folders: tuple[str, str], tmp_path: Path) -> Path:
    """A copy of the tiny target, of four layers, for a test to damage."""
    return Path(shutil.copytree(tiny_folders[1], tmp_path / "model"))


def written(file: str, content: bytes) -> Damage:
    return lambda folder: (folder / file).write_bytes(content)


def cut(file: str, length: int) -> Damage:
    return lambda folder: (folder / file).write_bytes((folder / file).read_bytes()[:length])


def edited(file: str, **values: Any) -> Damage:
    def edit(folder: Path) -> None:
        held = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps({**held, **values}))

    return edit


def reweighted(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Damage:
    def rewrite(folder: Path) -> None:
        path = folder / "model.safetensors"
        save_file(change(load_file(path)), path, metadata={"format": "pt"})

    return rewrite


def without(*parts: str) -> Damage:
    return reweighted(lambda held: {name: w for name, w in held.items() if not any(part in name for part in parts)})


def pickled(value: object) -> Damage:
    def write(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(value))

    return write


def folder_for(file: str) -> Damage:
    def replace(folder: Path) -> None:
        (folder / file).unlink()
        (folder / file).mkdir()

    return replace


def with_another_layer(held: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return held | {name.replace(".3.", ".4."): w.clone() for name, w in held.items() if ".3." in name}


BROKEN: dict[str, tuple[Damage, str]] = {
    "layers missing": (without(".1.", ".3."), "its weights: 2 layers are not in the file"),
    "one layer missing": (without(".2."), "its weights: 1 layer is not in the file"),
    "one weight missing": (without(".2.mlp.up_proj"), "model.layers.2.mlp.up_proj.weight is not in the file"),
    "layer and head missing": (without(".2.", "lm_head"), "lm_head.weight and 9 more weights are not in the file"),
    "a layer left over": (reweighted(with_another_layer), "1 layer is in the file, but not in its configuration"),
    "other shape": (
        reweighted(lambda held: held | {"model.norm.weight": torch.ones(33)}),
        r"model.norm.weight has the shape \(33,\) in the file and \(32,\) by its configuration",
    ),
    "other names": (reweighted(lambda held: {f"x.{name}": w for name, w in held.items()}), "more weights are not in"),
    "weights empty": (written("model.safetensors", b""), "its weights: "),
    "weights cut in the header": (cut("model.safetensors", 50), "its weights: "),
    "weights cut in the data": (cut("model.safetensors", -1), "its weights: .*incomplete"),
    "weights a pointer": (written("model.safetensors", LFS), "its weights: "),
    "header longer than the file": (written("model.safetensors", struct.pack("<Q", 2**63)), "its weights: "),
    "weights a folder": (folder_for("model.safetensors"), "its weights: "),
    "pickle": (pickled({"a": bytes(10**6)}), "its weights: UnpicklingError: "),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), "its configuration: "),
    "configuration empty": (written("config.json", b""), "its configuration: "),
    "configuration a list": (written("config.json", b"[]"), "its configuration: "),
    "configuration nested": (written("config.json", b"[" * 100_000), "its configuration: .*recursion"),
    "configuration not UTF-8": (written("config.json", b"\xff\xfe"), "its configuration: "),
    "NaN heads": (edited("config.json", num_attention_heads=float("nan")), "'num_attention_heads'"),
    "no heads": (edited("config.json", num_attention_heads=0), "its (weights|configuration): "),
    "negative vocabulary": (edited("config.json", vocab_size=-5), "its (weights|configuration): "),
    "no vocabulary": (edited("config.json", vocab_size=0), "its (weights|configuration): "),
    "a thousand million layers": (
        edited("config.json", num_hidden_layers=10**9),
        "its number of layers, 1000000000, is not a whole number from 1 to 1000",
    ),
    "a vocabulary that no file holds": (
        edited("config.json", vocab_size=10**9),
        r"its weights: 64000\d+ weights by its configuration cannot be in \d+ bytes of file",
    ),
    "a thousand million labels": (
        edited("config.json", num_labels=10**9),
        "its configuration: num_labels = 1000000000 is more than 100000",
    ),
    "messages of the library": (edited("config.json", sub_configs=3), "its configuration: "),
    "no layers": (edited("config.json", num_hidden_layers=0), "its number of layers, 0, "),
    "unknown dtype": (edited("config.json", dtype="float33"), "its configuration: "),
    "unknown quantisation": (
        edited("config.json", quantization_config={"quant_method": "x"}),
        'its configuration: weights quantised by "x" are not known here',
    ),
    "list as model type": (edited("config.json", model_type=["llama"]), "its configuration: TypeError: "),
    "end that is text": (edited("generation_config.json", eos_token_id=["x"]), "eos_token_id = .* not whole numbers"),
    "no tokenizer": (written("tokenizer.json", b"{}"), "its tokenizer: "),
    "tokenizer a number": (written("tokenizer.json", b"3"), "its tokenizer: "),
    "vocabulary a list": (edited("tokenizer.json", model={"type": "WordLevel", "vocab": []}), "its tokenizer: "),
    "control characters": (edited("config.json", model_type="\x1b[31mx\x07"), "its configuration: .*x"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_folder_is_one_line(kind: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    damage, said = BROKEN[kind]
    damage(folder)
    with pytest.raises(ParameterError, match=said) as caught:
        load_model(str(folder))
    assert str(caught.value).startswith(f'"{folder}"'[:40])
    assert str(caught.value).isprintable()
    assert capfd.readouterr() == ("", "")


TOKENIZERS = {
    "no tokens": {"type": "BPE", "vocab": {}, "merges": []},
    "no token for the unknown": {"type": "WordLevel", "vocab": {"a": 2}, "unk_token": "none"},
}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_tokenizer_that_fails_at_work_is_one_line(kind: str, folder: Path) -> None:
    edited("tokenizer.json", model=TOKENIZERS[kind], added_tokens=[])(folder)
    edited("tokenizer_config.json", unk_token=None, eos_token=None)(folder)
    model = load_model(str(folder))
    with pytest.raises(ParameterError, match=r'tokenizer of "model" (cannot be used|makes no tokens)'):
        model.chat("bcd")
    with pytest.raises(ParameterError, match="tokenizer"):
        make_pair(model, model)


def test_a_panic_of_a_tokenizer_is_one_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Backtracking without an end: Rust gives up with a panic, and says so on standard error itself."""
    endless = {"type": "Split", "pattern": {"Regex": "(.*)*\\1{40}(a|a?)+$x"}, "behavior": "Isolated", "invert": False}
    edited("tokenizer.json", pre_tokenizer=endless)(folder)
    with pytest.raises(ParameterError, match=r"cannot be used: PanicException: ") as caught:
        load_model(str(folder)).chat(PROBE)
    assert str(caught.value).isprintable()
    assert capfd.readouterr() == ("", "")


def test_what_is_not_broken_is_loaded_whole(folder: Path) -> None:
    held = load_file(folder / "model.safetensors")
    found = load_model(str(folder)).network.state_dict()
    assert found.keys() == held.keys()
    assert all(torch.equal(found[name], held[name]) for name in held)


def test_names_that_are_no_models_are_one_line(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in (str(folder / "config.json"), str(empty), "", " ", "a/b/c", "\x1b[31mx", "x" * 5000, "a\0b", "\udcff"):
        with pytest.raises(ParameterError, match="cannot be loaded as a language model") as caught:
            load_model(name)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500


CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from transformers import LlamaConfig as Own
"""
OWN_MODEL = {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Own"}}
OWN_TOKENIZER = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}}


@pytest.mark.parametrize(
    ("file", "values"),
    [("config.json", OWN_MODEL), ("tokenizer_config.json", OWN_TOKENIZER)],
    ids=["model", "tokenizer"],
)
def test_code_in_a_folder_is_not_run_and_nobody_is_asked(
    file: str, values: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(text: str = "") -> str:
        asked.append(text)
        return "y"

    monkeypatch.setattr("builtins.input", ask)
    edited(file, **values)(folder)
    for path in (folder / "own.py", folder / "custom_generate" / "generate.py"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(CODE)
    with pytest.raises(ParameterError, match="custom code"):
        load_model(str(folder))
    assert not list(folder.rglob("ran"))
    assert not asked


class Running:
    """Unpickling it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (self.path,)


def test_pickled_weights_run_nothing(folder: Path, tmp_path: Path) -> None:
    pickled([Running(tmp_path / "ran"), bytes(10**6)])(folder)
    with pytest.raises(ParameterError, match="its weights: UnpicklingError: "):
        load_model(str(folder))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("device", ["", "cpu:", "cpu:x", "cpu:٠", "cuda:", "CPU", "cpu:0\n", "cpu:1" + "0" * 5000])
def test_devices_in_words_of_their_own(device: str) -> None:
    with pytest.raises(ParameterError, match="device = "):
        load_model("nowhere", device=device)


@pytest.mark.parametrize("draft", ["skip-", "skip--1", "skip-10000", "skip-²", "skip-٣", "skip-" + "9" * 5000])
def test_rungs_that_are_no_number(draft: str) -> None:
    with pytest.raises(ParameterError, match="is not skip-N with a whole number N below 10000") as caught:
        load_pair(draft)
    assert len(str(caught.value)) < 200


class Panic(BaseException):
    """As Rust's, no `Exception`."""


class MuteError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("first\nsecond"), "x: first"),
        (ValueError("\n\n  in  field:\n nothing\nelse"), "x: in field: nothing"),
        (KeyError("weight"), "x: KeyError: 'weight'"),
        (Panic("index out of bounds"), "x: Panic: index out of bounds"),
        (SystemExit(3), "x: SystemExit: 3"),
        (RuntimeError(), "x: RuntimeError"),
        (MuteError(), "x: MuteError"),
        (MemoryError(), "x: MemoryError"),
        (RuntimeError("\x1b[31mred\x1b[0m\x07\x9b"), r"x: red\x07\x9b"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_error_becomes_one_line(error: BaseException, said: str) -> None:
    with pytest.raises(ParameterError) as caught, one_line("x"):
        raise error
    assert str(caught.value) == said


def test_the_boundary_lets_through_what_speaks_for_itself() -> None:
    with pytest.raises(ParameterError, match=r"^mine$"), one_line("x"):
        raise ParameterError("mine")
    with pytest.raises(KeyboardInterrupt), one_line("x"):
        raise KeyboardInterrupt
    with pytest.raises(ParameterError) as caught, one_line("x"):
        raise RuntimeError("y" * 10_000)
    assert str(caught.value) == f"x: {'y' * (MOST_CHARACTERS - 3)}..."
