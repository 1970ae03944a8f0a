"""One boundary around what is read from a model's files: whatever goes wrong there is one line about that model.

A model comes from strangers. Its configuration, weights, tokenizer and chat template go through five libraries, two
of them not in Python, and what these raise on damaged input is anything: a `KeyError` on a missing entry, a
`RecursionError` on nested lists, a panic of Rust that is no `Exception`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from msopt.errors import MsoptError, ParameterError

MOST_CHARACTERS = 300
"""Of a reason that is passed on."""

_SPEAKING = (OSError, ValueError, RuntimeError, ImportError)
"""Errors whose text says what is wrong; of others the kind has to be named too."""

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@contextmanager
def one_line(what: str) -> Iterator[None]:
    """Turn any failure within into one line, "`what`: reason".

    Raises
    ------
    ParameterError
        Whatever was raised within, but for an interrupt and errors that speak for themselves.
    """
    try:
        yield
    except (MsoptError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a panic of Rust is no Exception
        raise ParameterError(f"{what}: {reason(error)}") from None


def reason(error: BaseException) -> str:
    """What an error says, in one line of limited length: its first, and the next where that ends with a colon."""
    try:
        said = _ESCAPES.sub("", str(error)).splitlines()
    except Exception:
        said = []
    lines = iter([" ".join(line.split()) for line in said if line.strip()])
    text = next(lines, "")
    while text.endswith(":") and (more := next(lines, "")):
        text = f"{text} {more}"
    if not text or not isinstance(error, _SPEAKING):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
