"""Where results go: standard output, standard error, files."""

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from msopt import ParameterError
from msopt.files.json_text import to_json
from msopt.files.whole_files import write_text
from reports.shared.words import one_line

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "json"]

_WIDE = 1000
"""Columns of an output that is no terminal: nothing is folded there."""


def as_json(record: Any) -> str:
    """A record as it is written and printed (`msopt.files.json_text.to_json`)."""
    return to_json(record, indent=2) + "\n"


def emit(
    record: Any,
    show: Callable[["Console"], None],
    *,
    form: Format,
    output: str | None = None,
    warnings: Iterable[str] = (),
) -> None:
    """Write a record as JSON to a file where one is named, warn, and print it as JSON or as tables."""
    text = as_json(record)
    if output is not None:
        write_text(output, text)
    warn(warnings)
    if form == "json":
        say(text, end="")
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
    say(capture.get(), end="")


def say(text: str = "", end: str = "\n") -> None:
    """Write to standard output, and whatever waits there.

    Raises
    ------
    BrokenPipeError
        Where its reader has gone: it has what it wanted.
    ParameterError
        Where it cannot be written otherwise.
    """
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except OSError as error:
        _give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise ParameterError(f"standard output: cannot be written: {error.strerror}") from None


def tell(text: str) -> None:
    """A line to standard error; where that cannot be written, nobody is told, and the exit code says it alone."""
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def warn(texts: Iterable[str]) -> None:
    """Warnings to standard error, one line each."""
    for text in texts:
        tell(f"warning: {text}")


def _give_up(stream: TextIO) -> None:
    """What is left in a stream's buffer must not fail once more at exit."""
    with contextlib.suppress(OSError):  # among it: a stream that is no file has nowhere to fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def check_file(path: str) -> None:
    """Find that a file can be written, before something long is computed for it; nothing is left behind."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        kind = stat.S_IFREG
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written: {error.strerror}") from None
    if stat.S_ISDIR(kind):
        raise ParameterError(f"{path}: cannot be written: {os.strerror(errno.EISDIR)}")
    if stat.S_ISREG(kind):
        _try(Path(os.path.realpath(path)).parent, path)


def check_folder(path: str | Path, files: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
    """Find that a folder can be made and written, before something long is computed for it; nothing is left behind.

    Parameters
    ----------
    path
        The folder.
    files, folders
        Names in it of what will be written.

    Raises
    ------
    ParameterError
    """
    folder = Path(path)
    whole = (folder, *folder.absolute().parents)
    nearest = next(near for near in whole if os.path.exists(near))
    if not nearest.is_dir():
        raise ParameterError(f'"{nearest}" is not a folder')
    for name in (*files, *folders):
        good = os.path.isdir if name in folders else os.path.isfile  # which a pipe is not: it would be waited for
        if os.path.exists(folder / name) and not good(folder / name):
            raise ParameterError(f"{folder / name}: is not a {'folder' if name in folders else 'file'}")
    missing = [near for near in whole if not os.path.exists(near)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, *(folder / name for name in folders)):
            if place.is_dir():
                _try(place, place)
    except OSError as error:
        raise ParameterError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    finally:
        for near in missing:
            with contextlib.suppress(OSError):
                near.rmdir()


def _try(folder: Path, told: str | Path) -> None:
    """Write a file in a folder and take it away."""
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".") as stream:
            stream.write(b"msopt")
    except OSError as error:
        raise ParameterError(f"{told}: cannot be written: {error.strerror}") from None
