"""Whether a network holds exactly what lay in its weights file: what is missing there would be random numbers."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msopt.errors import describe

MOST_LAYERS = 1000
"""The largest models have some hundred; a network is built layer by layer before its weights are read."""

MOST_LABELS = 100_000
"""Of a classifier, which no language model is."""


def check_layers(layers: object) -> None:
    """Refuse a number of layers that none is."""
    if type(layers) is not int or not 1 <= layers <= MOST_LAYERS:
        raise ValueError(f"its number of layers, {describe(layers)}, is not a whole number from 1 to {MOST_LAYERS}")


def check_labels(config: Mapping[str, Any]) -> None:
    """Refuse a number of labels for which a list would be made that nothing here uses."""
    for part in (config, *config.values()):
        labels = part.get("num_labels") if isinstance(part, dict) else None
        if type(labels) is int and labels > MOST_LABELS:
            raise ValueError(f"num_labels = {describe(labels)} is more than {MOST_LABELS}")


def weights_files(folder: Path) -> list[Path]:
    """The files of a folder that weights may be in; none where a model is not in a folder."""
    return [path for path in folder.glob("*") if path.suffix in (".safetensors", ".bin") and path.is_file()]


def check_room(described: Any, files: Sequence[Path], *, quantised: bool) -> None:
    """Refuse a network that is larger than its files before memory is taken for what is missing there.

    Parameters
    ----------
    described : PreTrainedModel
        Without memory (on torch's device "meta").
    files : paths
        Where its weights are; none where they are not known before they are fetched.
    quantised : bool
        Whether weights may take as little as a bit, else a byte.
    """
    parameters = sum(parameter.numel() for parameter in described.parameters())
    held = sum(file.stat().st_size for file in files)
    if files and parameters > held * (8 if quantised else 1):
        raise ValueError(f"{parameters} weights by its configuration cannot be in {held} bytes of file")


def check_weights(network: Any, found: dict[str, Any]) -> None:
    """Refuse a network that is not what its weights file holds.

    ValueError where weights are missing, left over or of another shape.

    Parameters
    ----------
    network : PreTrainedModel
    found : dict
        What transformers says of loading it (`output_loading_info`).
    """
    if found["missing_keys"]:
        present = _layers(set(network.state_dict()) - found["missing_keys"])
        raise ValueError(f"{_counted(found['missing_keys'], present)} not in the file")
    if found["unexpected_keys"]:
        counted = _counted(found["unexpected_keys"], _layers(network.state_dict()))
        raise ValueError(f"{counted} in the file, but not in its configuration")
    for name, held, described in sorted(found["mismatched_keys"]):
        raise ValueError(f"{name} has the shape {tuple(held)} in the file and {tuple(described)} by its configuration")
    if found["error_msgs"]:
        raise ValueError(found["error_msgs"][0])


def _counted(names: Collection[str], other: set[str]) -> str:
    """Some weights in words: as whole layers where they are such, else by name."""
    layers = _layers(names)
    if layers and not layers & other and all(_layers([name]) for name in names):
        return "1 layer is" if len(layers) == 1 else f"{len(layers)} layers are"
    first = min(names)
    return f"{first} is" if len(names) == 1 else f"{first} and {len(names) - 1} more weights are"


def _layers(names: Iterable[str]) -> set[str]:
    """The layers that weights belong to: their names up to the first number."""
    return {part[0] for name in names if (part := re.match(r".*?\.\d+(?=\.)", name))}
