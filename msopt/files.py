"""Files are written whole or not at all."""

import os
import tempfile
from os import PathLike
from pathlib import Path

from msopt.errors import ParameterError


def write_text(path: str | PathLike[str], text: str) -> None:
    """`write_bytes` of a text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that no reader ever sees half of it.

    Links are followed; what is no regular file (a device, a pipe) is written to as it stands.

    Raises
    ------
    ParameterError
        Where the place cannot be written.
    """
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(target: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def read_text(path: str | PathLike[str]) -> str:
    """Read a UTF-8 text file.

    Raises
    ------
    ParameterError
        Where there is no such file, or it is not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: is not a UTF-8 text file") from None
    except ValueError as error:
        raise ParameterError(f"{path}: cannot be read: {error}") from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
