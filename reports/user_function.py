"""A user's own function, named MODULE:FUNCTION on the command line; the current folder is searched too."""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from msopt import ParameterError


def load_function(option: str, name: str) -> Callable[..., Any]:
    """The function that an option names.

    Raises
    ------
    ParameterError
        Where the name has another form, the module cannot be loaded or has no such function; in one line.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise ParameterError(f'{option} "{name}" is not MODULE:FUNCTION')
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise ParameterError(f'{option}: module "{module}" cannot be loaded: {type(error).__name__}: {error}') from None
    finally:
        sys.path.remove(here)
    function = getattr(found, attribute, None)
    if not callable(function):
        raise ParameterError(f'{option}: "{attribute}" is not a function of module {module}')
    return function  # type: ignore[no-any-return]
