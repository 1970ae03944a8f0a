"""Files are written whole or not at all, and read whole. No pipe is waited for without end."""

import errno
import io
import os
import secrets
import select
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeVar

from msopt.errors import ParameterError, describe

T = TypeVar("T")
LONGEST_READ = 2**30
"""Of a file that is read [byte]: one without an end, such as /dev/zero, must not fill the memory."""
NOBODY_S = 5.0
"""How long a pipe is waited for that has nobody at its other end."""
_CHUNK = 2**20
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # Windows has no pipes among its files


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
    keeps who may read and write it. ParameterError where the place cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_symlink():  # still, so it leads back to itself
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb", opener=_with_reader) as stream:
                stream.write(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written: {error.strerror}") from None
    except ValueError as error:  # a name that holds a NUL
        raise ParameterError(f"{path}: cannot be written: {error}") from None


def _with_reader(path: str, flags: int) -> int:
    """Open a place for writing; a pipe that nobody reads is no place."""
    end_s = time.monotonic() + NOBODY_S
    while True:
        try:
            number = os.open(path, (flags & ~os.O_CREAT) | _NO_WAIT)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > end_s:
                raise OSError(errno.ENXIO, "nobody reads this pipe") from None
            time.sleep(0.01)
        else:
            if _NO_WAIT:
                os.set_blocking(number, True)
            return number


def _replace(target: Path, content: bytes) -> None:
    mode = None
    if target.exists():
        if not os.access(target, os.W_OK):  # which a file put in its place would pass over
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(target.stat().st_mode)
    # Named before it is there, so that an interrupt at any moment leaves nothing; the whole name might be too long.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
    try:
        with _nameless(target.parent) or temporary.open("xb") as stream:
            if mode is not None:
                os.chmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            if not temporary.exists():
                number = stream.fileno()  # a dir_fd that does not matter: without one, Python does not follow the link
                os.link(f"/proc/self/fd/{number}", temporary, src_dir_fd=number)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _nameless(folder: Path) -> BinaryIO | None:
    """A new file in a folder that is gone with a process that is killed; None where the system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except OSError:  # the file system has none, or writing there will say what is wrong
        return None


def make_folder(path: str | PathLike[str]) -> None:
    """Make a folder, and those above it, where they are missing; ParameterError where it cannot be made."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be made a folder: {error.strerror}") from None


def read_text(path: str | PathLike[str]) -> str:
    """Read a UTF-8 text file; ParameterError where there is no such file, or it is not text."""
    with _reading(path):
        return io.TextIOWrapper(io.BytesIO(_content(path)), encoding="utf-8-sig").read()


def read_as(
    path: str | PathLike[str], parse: Callable[[str], T], read: Callable[[str | PathLike[str]], str] = read_text
) -> T:
    """What a parser makes of a file's text, as one of these readers gives it; the parser's errors name the file."""
    text = read(path)
    try:
        return parse(text)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def read_log(path: str | PathLike[str]) -> str:
    """Read a text that may be damaged: bytes that are not UTF-8 become lone surrogates, and line ends stay.

    ParameterError where there is no such file.
    """
    with _reading(path):
        return _content(path).decode("utf-8-sig", errors="surrogateescape")


def _content(path: str | PathLike[str]) -> bytearray:
    with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as stream:
        content = bytearray()
        if stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
            select.select([stream], [], [], NOBODY_S)
            first = stream.read(_CHUNK)
            if first == b"":  # None where somebody is there who has not yet written anything
                raise ValueError("nobody writes to this pipe")
            content += first or b""
        if _NO_WAIT:
            os.set_blocking(stream.fileno(), True)
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > LONGEST_READ:
                raise ValueError(f"it has more than {LONGEST_READ} bytes")
    return content


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
