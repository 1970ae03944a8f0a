"""Whether a model reads as drafting and verification need it: in pieces, several texts at once, tokens taken back.

Not every causal language model does: some keep no keys and values, some see later tokens, some number positions in a
way of their own. Rather than know them all by name, every model is asked once.
"""

import torch
from torch import Tensor

from msopt.errors import ParameterError, describe
from verification.boundary import one_line
from verification.decoder import Decoder
from verification.language_model import LanguageModel

PROBE = "The ferry leaves at seven; 3 + 4 = 7, def f(x): return x**2"
MOST_TOKENS = 24


def check_reading(model: LanguageModel, role: str = "model") -> None:
    """Refuse a model that reads a text otherwise in pieces than at once.

    ParameterError where it does, cannot read at all, or gives what is no law; `role` is what it is in that message.
    """
    text = (model.tokens(PROBE) * MOST_TOKENS)[:MOST_TOKENS]
    unfit = f"{describe(model.name)} cannot draft or verify"
    with one_line(unfit):
        found, kept = _in_pieces(model, text, role)
        whole = read_at_once(model, text)
    if kept != model.config.num_hidden_layers:
        raise ParameterError(
            f"{unfit}: its layers do not all keep keys and values, from which rejected tokens could be taken back"
        )
    if differ(model, found, torch.cat([whole, whole[1:3]])):
        raise ParameterError(
            f"{unfit}: read in pieces, with tokens taken back, a text means something else to it than read at once"
        )


def check_prompts(model: LanguageModel) -> None:
    """Refuse a chat template that fails, or makes the same of every prompt; ParameterError where it does."""
    if model.chat("What is 3 + 4?") == model.chat(PROBE):
        raise ParameterError(f"the chat template of {describe(model.name)} makes the same of every prompt")


@torch.inference_mode()
def read_at_once(model: LanguageModel, text: list[int]) -> Tensor:
    """Logits at all positions of a text from one pass without a cache, shape (T, V)."""
    logits: Tensor = model.network(torch.tensor([text], device=model.device), use_cache=False).logits[0]
    return logits.float()


def differ(model: LanguageModel, one: Tensor, other: Tensor) -> bool:
    """Whether logits of shape (n, V) differ by more than rounding."""
    apart = ((one - other).abs().mean(-1) / other.std(-1)).mean()
    # Of float32 1e-5 was seen, of bfloat16 0.05; logits of neighbouring positions are more than 0.5 apart.
    return bool(apart > (0.001 if model.dtype == torch.float32 else 0.3))


def _in_pieces(model: LanguageModel, text: list[int], role: str) -> tuple[Tensor, int]:
    """Logits of a text and of the second and third token of a copy of it; and how many layers keep state."""
    decoder = Decoder(model, 2, model.entries, role=role)
    middle = len(text) // 2
    first = decoder.read([text[:middle], text[:1]], [0, 1], [middle, 1])[0]
    copy = decoder.read([text[:2], text[1:3]], [0, 1], [1, 2])[1]
    decoder.roll_back(0, middle)
    second = decoder.read([text[middle:]], [0], [len(text) - middle])[0]
    return torch.cat([first, second, copy]).float(), decoder.layers_kept
