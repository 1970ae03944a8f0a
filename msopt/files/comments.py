"""The comment at the head of a scenario file: who drew it, and whose every number is."""

import textwrap
from collections.abc import Iterable, Sequence

COMMENT_WIDTH = 106


def sections(head: Sequence[str], titled: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Lines as they are, then each title with its texts as a list; a title without texts is left out."""
    lines = list(head)
    for title, texts in titled:
        if texts:
            lines += ["", title]
        for text in texts:
            # Device names stay whole: no break at their hyphens.
            lines += textwrap.wrap(
                f"- {text}", COMMENT_WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
            )
    return "\n".join(lines)
