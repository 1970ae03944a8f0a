"""Loading models without the chatter of the libraries: their progress bars and notes are not ours."""

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Hold back what transformers prints and warns of while a model is loaded and tried; errors still raise."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()), silent_standard_error():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)


@contextmanager
def silent_standard_error() -> Iterator[None]:
    """Hold back what is written past Python: Rust tells of a panic on the file descriptor itself, and raises it too."""
    try:
        kept = os.dup(2)
    except OSError:  # closed before the start
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
