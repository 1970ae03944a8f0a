"""What a profile says of where its numbers come from: models, machine, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import msopt
from msopt.measured.provenance import Machine, Model, Vocabulary
from verification.language_model import LanguageModel
from verification.pairs import Pair

LIBRARIES = ("torch", "transformers", "tokenizers", "gguf", "numpy", "scipy")


def model_record(model: LanguageModel) -> Model:
    """A model as a profile names it."""
    return Model(
        name=model.name,
        source=model.source,
        quantisation=model.quantisation,
        compute_type=str(model.dtype).removeprefix("torch."),
        file_sha256=model.file_sha256,
        parameters=model.parameters,
        layers=model.layers,
        layers_left_out=model.layers_left_out,
    )


def vocabulary_record(pair: Pair, draft_mass: float | None, target_mass: float | None) -> Vocabulary:
    """The vocabularies of a pair, and the mean probability that the cut to the target's tokens leaves out."""
    return Vocabulary(
        tokenizer_entries=len(pair.target.tokenizer),
        draft_entries=pair.draft.entries,
        target_entries=pair.target.entries,
        shared_entries=pair.shared,
        draft_mass_outside=draft_mass,
        target_mass_outside=target_mass,
    )


def machine_record(device: torch.device) -> Machine:
    """What is computed on."""
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else None
    return Machine(cpu=_processor(), threads=torch.get_num_threads(), gpu=gpu)


def version_record() -> dict[str, str]:
    """Versions of Python, msopt and the libraries that compute."""
    found = {"python": platform.python_version(), "msopt": msopt.__version__}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip() or platform.machine()
    return platform.processor() or platform.machine() or "unknown"
