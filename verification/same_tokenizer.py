"""Whether two models speak of the same tokens: by what their tokenizers hold and do, not by their sizes."""

from msopt.errors import ParameterError, describe
from verification.boundary import one_line
from verification.language_model import LanguageModel

PROBES = (
    "The quick brown fox jumps over 13 lazy dogs.",
    "def f(x):\n    return x**2  # naïve café\n",
    "Übergröße, 東京, Ω ≈ 3.14, e\u0301, \U0001f600\t",
    "  two  spaces,\n\nand 1234567890 digits",
)
"""Texts that both tokenizers must cut alike: spaces, code, other scripts, combining marks."""


def known_entries(model: LanguageModel) -> int:
    """How many leading entries of a model's vocabulary hold its tokens; what follows is padding."""
    return min(model.entries, 1 + max(_by_index(model)))


def shared_entries(draft: LanguageModel, target: LanguageModel) -> int:
    """How many leading entries of the vocabulary both models have a token for: those that a pair drafts from.

    ParameterError where one index stands for different tokens, or a text is cut differently: the first such difference.
    """
    ours, theirs = (_by_index(model) for model in (draft, target))
    shared = min(known_entries(draft), known_entries(target))
    for index in range(shared):
        if ours.get(index) != theirs.get(index):
            raise ParameterError(
                f"{draft.name} and {target.name} have different tokenizers: token {index} is "
                f"{ours.get(index)!r} in one and {theirs.get(index)!r} in the other"
            )
    for text in PROBES:
        cuts = [model.tokens(text) for model in (draft, target)]
        # A token that only one of them has is cut out by that one alone.
        if cuts[0] != cuts[1] and max(map(max, cuts)) < shared:
            raise ParameterError(
                f"{draft.name} and {target.name} have different tokenizers: they cut {text!r} into different tokens"
            )
    return shared


def _by_index(model: LanguageModel) -> dict[int, str]:
    with one_line(f"the tokenizer of {describe(model.name)} cannot be used"):
        found = {index: token for token, index in model.tokenizer.get_vocab().items()}
        if not found:
            raise ValueError("it has no tokens")
    return found
