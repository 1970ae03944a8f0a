"""A user's own function, named MODULE:FUNCTION on the command line, and the one boundary around what a user wrote.

Whatever it raises becomes one line. What it prints and warns goes to standard error, and our streams, folder and
numpy's settings are as they were afterwards, whatever it did to them.
"""

import contextlib
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from msopt import ParameterError
from msopt.errors import did_you_mean
from reports.shared.ending import Interrupted, Terminated, interruptible
from reports.shared.output import warn
from reports.shared.words import exception_words

_ONE_AT_A_TIME = threading.RLock()  # streams, folder and warnings are the process's
_told: set[str] = set()


def load_function(option: str, name: str) -> Callable[..., Any]:
    """The function that an option names; the current folder is searched too.

    Raises
    ------
    ParameterError
        Where the name has another form, the module cannot be loaded or has no such function; in one line.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise ParameterError(f'{option} "{name}" is not MODULE:FUNCTION')
    if module.endswith(".py") and os.path.isfile(module):
        raise ParameterError(f'{option} "{name}" names a file; its module is {module.removesuffix(".py")}')
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        with users_code(f'{option}: module "{module}"', "cannot be loaded"):
            loaded = importlib.import_module(module)
            function, known = getattr(loaded, attribute, None), dir(loaded)
    finally:
        sys.path.remove(here)
    if not callable(function):
        hint = did_you_mean(attribute, known)
        raise ParameterError(f'{option}: "{attribute}" is not a function or class of module {module}{hint}')
    return function  # type: ignore[no-any-return]


@contextlib.contextmanager
def users_code(who: str, fault: str) -> Iterator[None]:
    """Run what a user wrote.

    Parameters
    ----------
    who, fault : str
        Whose code it is, and what to say of it where it raises: "WHO FAULT: EXCEPTION".

    Raises
    ------
    ParameterError
        For whatever it raises, SystemExit and a KeyboardInterrupt of its own among it; in one line.
    Interrupted, Terminated
        Where this run is to end.
    """
    with _ONE_AT_A_TIME:
        with warnings.catch_warnings(record=True) as caught, interruptible(), _unharmed():
            warnings.simplefilter("default")
            # A control of complex numbers must not be cut to their real parts.
            warnings.filterwarnings("error", category=np.exceptions.ComplexWarning, module=r"(msopt|reports)\.")
            try:
                yield
            except (Interrupted, Terminated):
                raise
            except BaseException as error:
                raise ParameterError(f"{who} {fault}: {exception_words(error)}") from None
        told = dict.fromkeys(f"{who}: {exception_words(one.message)}" for one in caught)  # type: ignore[arg-type]
        warn(text for text in told if text not in _told)
        _told.update(told)


@contextlib.contextmanager
def _unharmed() -> Iterator[None]:
    """Put standard error in the place of standard output, and put everything back afterwards."""
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr", "__stdout__", "__stderr__")}
    folder = os.getcwd()
    kept = {}
    for number in (1, 2):
        with contextlib.suppress(OSError):  # one that was closed before we started
            kept[number] = os.dup(number)
    aside = os.dup(kept[2]) if 2 in kept else os.open(os.devnull, os.O_WRONLY)
    stream = open(aside, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    if 1 in kept:
        os.dup2(aside, 1)
    for name in streams:
        setattr(sys, name, stream)
    try:
        with np.errstate():
            yield
    finally:
        for name, one in streams.items():
            setattr(sys, name, one)
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)
        with contextlib.suppress(OSError, ValueError):
            stream.close()
        os.chdir(folder)
