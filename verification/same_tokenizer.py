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


def shared_entries(draft: LanguageModel, target: LanguageModel) -> int:
    """How many leading entries of the vocabulary both models have: those that a pair samples from.

    Vocabularies are often padded, to different sizes for different models of one family; what only one of them
    has is cut off.

    Raises
    ------
    ParameterError
        Where one index stands for different tokens, or a text is cut differently: the first such difference.
    """
    ours, theirs = (_by_index(model) for model in (draft, target))
    shared = min(draft.entries, target.entries, 1 + max(ours), 1 + max(theirs))
    for index in range(shared):
        if ours.get(index) != theirs.get(index):
            raise ParameterError(
                f"{draft.name} and {target.name} have different tokenizers: token {index} is "
                f"{ours.get(index)!r} in one and {theirs.get(index)!r} in the other"
            )
    for text in PROBES:
        if draft.tokens(text) != target.tokens(text):
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
