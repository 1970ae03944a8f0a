"""Loading models without the chatter of the libraries: their progress bars and notes are not ours."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Hold back what transformers prints and warns of while a model is loaded; what it cannot do it raises as well."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
