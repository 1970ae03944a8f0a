"""Every error that msopt raises on purpose, each with the exit code the command line gives it."""

from typing import ClassVar

LONGEST = 1000
"""Characters of a message: whatever names in it are longer, it stays a line."""


class MsoptError(Exception):
    """Base of all errors raised on purpose; its text is one line, fit to be shown to a user."""

    exit_code: ClassVar[int] = 3

    def __init__(self, text: str) -> None:
        # What comes from a file may hold line breaks and other characters that do not print, and may have no end.
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in shortened(text, LONGEST)))


class ParameterError(MsoptError):
    """A value that no scenario, control or option may have: where it stands, what it is, what is allowed."""

    exit_code: ClassVar[int] = 2


class InfeasibleError(MsoptError):
    """A control or problem that breaks a constraint: which one, and by how much."""


def describe(value: object) -> str:
    """Write a value as an error message shows it: short, and text in quotes."""
    try:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
    return shortened(text)


def shortened(text: str, most: int = 60) -> str:
    """A text cut to so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."
