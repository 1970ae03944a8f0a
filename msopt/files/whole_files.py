"""Files are written whole or not at all."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from msopt.errors import ParameterError, describe


def write_text(path: str | PathLike[str], text: str) -> None:
    """`write_bytes` of a text in UTF-8."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"{path}: cannot be written: {describe(text[error.start])} is half a character") from None
    write_bytes(path, content)


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that no reader ever sees half of it.

    Links are followed; what is no regular file (a device, a pipe) is written to as it stands. A file that is there
    keeps who may read and write it.

    Raises
    ------
    ParameterError
        Where the place cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_symlink():  # still, so it leads back to itself
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(target: Path, content: bytes) -> None:
    mode = None
    if target.exists():
        if not os.access(target, os.W_OK):  # which a file put in its place would pass over
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(target.stat().st_mode)
    # Named before it is there, so that an interrupt at any moment leaves nothing; the whole name might be too long.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as stream:
            if mode is not None:
                temporary.chmod(mode)
            stream.write(content)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def make_folder(path: str | PathLike[str]) -> None:
    """Make a folder, and those above it, where they are missing.

    Raises
    ------
    ParameterError
        Where it cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be made a folder: {error.strerror}") from None


def read_text(path: str | PathLike[str]) -> str:
    """Read a UTF-8 text file.

    Raises
    ------
    ParameterError
        Where there is no such file, or it is not text.
    """
    with _reading(path):
        return Path(path).read_text(encoding="utf-8-sig")


def read_log(path: str | PathLike[str]) -> str:
    """Read a text that may be damaged: bytes that are not UTF-8 become lone surrogates, and line ends stay.

    Raises
    ------
    ParameterError
        Where there is no such file.
    """
    with _reading(path):
        return Path(path).read_bytes().decode("utf-8-sig", errors="surrogateescape")


@contextmanager
def _reading(path: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: is not a UTF-8 text file") from None
    except ValueError as error:
        raise ParameterError(f"{path}: cannot be read: {error}") from None
