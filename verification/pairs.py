"""A draft and a target that speak of the same tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msopt.errors import ParameterError, describe
from verification.decoder import Decoder
from verification.ladder import shortened
from verification.language_model import EMBEDDED, LanguageModel, load_model
from verification.quiet import quiet_loading
from verification.reading import check_prompts, check_reading
from verification.same_tokenizer import known_entries, shared_entries


@dataclass(frozen=True, eq=False)
class Pair:
    """A draft, a target and the vocabulary they share.

    Attributes
    ----------
    draft, target : LanguageModel
    entries : int
        Leading entries of the vocabulary that the target has tokens for; every distribution is over them.
    shared : int
        Those of them that the draft has too; it drafts no other.
    end_tokens : frozenset of int
        The target's ends of a text.
    """

    draft: LanguageModel
    target: LanguageModel
    entries: int
    shared: int
    end_tokens: frozenset[int]

    def decoders(self, texts: int) -> tuple[Decoder, Decoder]:
        """The draft's and the target's over a batch of texts, with logits of the target's tokens both."""
        draft = Decoder(self.draft, texts, self.entries, self.shared, "draft")
        return draft, Decoder(self.target, texts, self.entries, role="target")


def make_pair(draft: LanguageModel, target: LanguageModel) -> Pair:
    """Pair two models.

    ParameterError where one cannot draft or verify (`verification.reading`) or gives no law, or their tokenizers differ
    (`verification.same_tokenizer`).
    """
    check_reading(draft, "draft")
    check_reading(target, "target")
    if draft.tokenizer is target.tokenizer:
        return Pair(draft, target, target.entries, target.entries, target.end_tokens)
    return Pair(draft, target, known_entries(target), shared_entries(draft, target), target.end_tokens)


def load_pair(draft: str, target: str = EMBEDDED, *, dtype: str = "float32", device: str = "cpu") -> Pair:
    """Load a pair: `load_pairs` with one draft."""
    return load_pairs([draft], target, dtype=dtype, device=device)[0]


def load_pairs(
    drafts: Sequence[str], target: str = EMBEDDED, *, dtype: str = "float32", device: str = "cpu"
) -> list[Pair]:
    """Load drafts of one target; ParameterError where one cannot be loaded, or their tokenizers differ.

    Parameters
    ----------
    drafts : sequence of str
        As `verification.language_model.load_model` takes them, or `skip-N`: the target without its N least
        influential layers.
    target : str
        As `load_model` takes it; by default the embedded model.
    dtype, device : str
        Of all.
    """
    rungs = [re.fullmatch("skip-([0-9]{1,4})", draft) for draft in drafts]
    for draft, rung in zip(drafts, rungs, strict=True):
        if rung is None and draft.startswith("skip-"):
            raise ParameterError(f"draft = {describe(draft)} is not skip-N with a whole number N below 10000")
    with quiet_loading():
        large = load_model(target, dtype=dtype, device=device)
        check_prompts(large)
        return [
            make_pair(shortened(large, int(rung[1])) if rung else load_model(draft, dtype=dtype, device=device), large)
            for draft, rung in zip(drafts, rungs, strict=True)
        ]
