"""Drafts made of the target itself by leaving out the layers that matter least (**ours**).

A device of less ability leaves out more of them. What a draft keeps it shares with the target: no weight is stored
twice. A layer's influence is how much it turns its input, 1 - cos(input, output) on a calibration text (Men et al.
2024, "block influence"); the layers of least influence go first, the first and the last layer never.
"""

import copy
import itertools
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from msopt.errors import ParameterError, describe
from verification.boundary import one_line
from verification.language_model import LanguageModel
from verification.reading import MOST_TOKENS, differ, read_at_once

CALIBRATION = (
    "The ferry leaves the harbour at seven, long before the shops along the quay have opened. On board, a teacher "
    "corrects the last exercises of her class: if a tank holds 240 litres and loses 8 litres an hour, it is empty "
    "after 30 hours. Two seats further a student writes a small program that counts how often each word occurs in "
    "a letter, def count(words): return {word: words.count(word) for word in set(words)}, and wonders why it is slow. "
    "Rain is forecast for the evening. Nobody on the upper deck believes it; the sky over the islands is clear, and "
    "the captain, who has made this crossing for nineteen years, says that the wind will turn before noon."
)
"""A text of our own: prose, arithmetic and code."""


def layer_influence(model: LanguageModel) -> list[float]:
    """Block influence of each layer on the calibration text, in layer order; from 0 (nothing) to 2."""
    text = model.tokens(CALIBRATION)
    tokens = torch.tensor([text[: int(min(model.positions, len(text)))]], device=model.device)
    with torch.inference_mode(), one_line(f"layers of {describe(model.name)} cannot be weighed"):
        states = model.network(tokens, output_hidden_states=True, use_cache=False).hidden_states
    # The last state has passed the final norm, which changes directions; the last layer is kept anyway.
    return [float(_turn(before, after)) for before, after in itertools.pairwise(states)]


def least_influential(model: LanguageModel, count: int) -> tuple[int, ...]:
    """Indices of the layers to leave out, ascending; never the first or the last.

    ParameterError where so many cannot be left out.
    """
    layers = int(model.config.num_hidden_layers)
    if not 1 <= count <= layers - 2:
        raise ParameterError(f"{count} of {layers} layers cannot be left out; from 1 to {layers - 2} is allowed")
    influence = layer_influence(model)
    return tuple(sorted(sorted(range(1, layers - 1), key=lambda layer: influence[layer])[:count]))


def without_layers(model: LanguageModel, left_out: tuple[int, ...]) -> LanguageModel:
    """The model without some of its layers, on the same weights.

    The layers that remain are numbered anew, as key-value caches expect. ParameterError where a network of this kind
    cannot be shortened, or a layer's number means more than its place.
    """
    with one_line(f"layers cannot be left out of {describe(model.name)}"):
        inner, place = model.network.base_model, _place_of_layers(model)
        layers = getattr(inner, place)
        kept = [layer for layer in range(len(layers)) if layer not in left_out]
        with torch.device("meta"):
            network = type(model.network)(_config_of(model.config, kept))
        for new, old in enumerate(kept):
            getattr(network.base_model, place)[new].load_state_dict(layers[old].state_dict(), assign=True)
        for name, part in inner.named_children():
            if name != place:
                setattr(network.base_model, name, part)
        for name, part in model.network.named_children():
            if name != model.network.base_model_prefix:
                setattr(network, name, part)
        network.generation_config = copy.deepcopy(model.network.generation_config)
        shorter = replace(
            model,
            network=network.eval().requires_grad_(False),
            name=f"{model.name} without {len(left_out)} layers",
            layers_left_out=left_out,
        )
        _check_same(shorter, model, kept)
    return shorter


def shortened(model: LanguageModel, count: int) -> LanguageModel:
    """The model without its least influential layers."""
    return without_layers(model, least_influential(model, count))


def _place_of_layers(model: LanguageModel) -> str:
    """What a network calls the list of its layers."""
    count = model.config.num_hidden_layers
    for name, part in model.network.base_model.named_children():
        if isinstance(part, torch.nn.ModuleList) and len(part) == count:
            return str(name)
    raise ValueError(f"a {type(model.network).__name__} has no list of {count} layers")


def _check_same(shorter: LanguageModel, model: LanguageModel, kept: list[int]) -> None:
    """The model with these layers taken out of it for a moment must say the same."""
    inner, place = model.network.base_model, _place_of_layers(model)
    text, layers = model.tokens(CALIBRATION)[:MOST_TOKENS], getattr(inner, place)
    try:
        setattr(inner, place, torch.nn.ModuleList([layers[layer] for layer in kept]))
        taken_out = read_at_once(model, text)
    finally:
        setattr(inner, place, layers)
    if differ(model, read_at_once(shorter, text), taken_out):
        raise ValueError("what a layer does depends on its number")


def _config_of(config: Any, kept: list[int]) -> Any:
    shorter = copy.deepcopy(config)
    shorter.num_hidden_layers = len(kept)
    if getattr(config, "layer_types", None):
        shorter.layer_types = [config.layer_types[layer] for layer in kept]
    return shorter


def _turn(before: Tensor, after: Tensor) -> Tensor:
    return (1.0 - torch.nn.functional.cosine_similarity(before.float(), after.float(), dim=-1)).mean()
