"""Files are written whole or not at all."""

import os
import tempfile
from os import PathLike
from pathlib import Path

from msopt.errors import ParameterError


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file by way of a temporary one beside it, so that no reader ever sees half of it.

    Raises
    ------
    ParameterError
        Where the place cannot be written.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise ParameterError(f"{target}: cannot be written: {error.strerror}") from None


def read_text(path: str | PathLike[str]) -> str:
    """Read a UTF-8 text file.

    Raises
    ------
    ParameterError
        Where there is no such file, or it is not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: is not a UTF-8 text file") from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
