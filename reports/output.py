"""Where results go: standard output, standard error, files."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from msopt.files import write_text
from msopt.json_text import to_json
from reports.words import one_line

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "json"]

_WIDE = 1000
"""Columns of an output that is no terminal: nothing is folded there."""


def as_json(record: Any) -> str:
    """A record as it is written and printed (`msopt.json_text.to_json`)."""
    return to_json(record, indent=2) + "\n"


def emit(record: Any, show: Callable[["Console"], None], *, form: Format, output: str | None = None) -> None:
    """Write a record as JSON to a file where one is named, and print it as JSON or as tables."""
    text = as_json(record)
    if output is not None:
        write_text(output, text)
    if form == "json":
        sys.stdout.write(text)
    else:
        print_tables(show)


def print_tables(show: Callable[["Console"], None]) -> None:
    """Print what `show` puts on a console, every text as it is and all of it at once."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDE
    console = Console(markup=False, emoji=False, highlight=False, width=width)
    # Captured, because rich ends the program itself where the reader of a pipe has gone.
    with console.capture() as capture:
        show(console)
    sys.stdout.write(capture.get())


def warn(texts: Iterable[str]) -> None:
    """Warnings to standard error, one line each."""
    for text in texts:
        print(f"warning: {one_line(text)}", file=sys.stderr)
