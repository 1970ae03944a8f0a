"""Every error that msopt raises on purpose, each with the exit code the command line gives it, and its warning."""

import difflib
from collections.abc import Iterable
from typing import ClassVar

LONGEST = 1000
"""Characters of a message: of what is longer, the middle is left out."""


class MsoptError(Exception):
    """Base of all errors raised on purpose; its text is one line, fit to be shown to a user."""

    exit_code: ClassVar[int] = 3

    def __init__(self, text: str) -> None:
        # What comes from a file may hold line breaks and other characters that do not print, and may have no end.
        if len(text) > LONGEST:
            text = f"{text[: LONGEST // 2]} ... {text[5 - LONGEST // 2 :]}"
        super().__init__(literal(text))


class ParameterError(MsoptError):
    """A value that no scenario, control or option may have: where it stands, what it is, what is allowed."""

    exit_code: ClassVar[int] = 2


class InfeasibleError(MsoptError):
    """A control or problem that breaks a constraint: which one, and by how much."""


class PowerWarning(UserWarning):
    """A changed scenario whose SNRs, left as they were, mean other transmit powers than before."""


def literal(text: str) -> str:
    r"""A text in one line, as it is; what a terminal would obey is written out.

    >>> print(literal("[red]a|b\n\x1b[31m"))
    [red]a|b\n\x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def and_more(count: int) -> str:
    """What a message about the first or worst of some devices says of the others.

    >>> and_more(1), and_more(2), and_more(3)
    ('', ' (and 1 more device)', ' (and 2 more devices)')
    """
    return "" if count < 2 else f" (and {count - 1} more device{'s' if count > 2 else ''})"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message on an unknown word: the nearest of the known ones in any case, or nothing.

    >>> did_you_mean("modus", ["Modes", "homogeneous"]), did_you_mean("x", ["modes"])
    ('; did you mean Modes?', '')
    """
    names = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def describe(value: object) -> str:
    """Write a value as an error message shows it: short, and text in quotes."""
    try:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."
