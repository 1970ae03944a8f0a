"""Whether a network holds exactly what lay in its weights file: what is missing there would be random numbers."""

import re
from collections.abc import Collection, Iterable
from typing import Any

MOST_LAYERS = 1000
"""The largest models have some hundred; a network is built layer by layer before its weights are read."""


def check_layers(layers: object) -> None:
    """Refuse a number of layers that none is."""
    if type(layers) is not int or not 1 <= layers <= MOST_LAYERS:
        raise ValueError(f"its number of layers, {layers!r:.20}, is not a whole number from 1 to {MOST_LAYERS}")


def check_weights(network: Any, found: dict[str, Any]) -> None:
    """Refuse a network that is not what its weights file holds.

    Parameters
    ----------
    network : PreTrainedModel
    found : dict
        What transformers says of loading it (`output_loading_info`).

    Raises
    ------
    ValueError
        Where weights are missing, left over or of another shape.
    """
    if found["missing_keys"]:
        present = _layers(set(network.state_dict()) - found["missing_keys"])
        raise ValueError(f"{_counted(found['missing_keys'], present)} not in the file")
    if found["unexpected_keys"]:
        raise ValueError(f"{_counted(found['unexpected_keys'], _layers(network.state_dict()))} more than it describes")
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
