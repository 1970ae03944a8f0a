"""How a run ends before its time: SIGTERM as an interrupt does, and no worker outlives the run it works for."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

LOOK_EVERY_S = 0.5
"""How often a worker looks whether the run is still there."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: what an interrupt ends and tidies up, this does."""

    exit_code = 128 + signal.SIGTERM


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM; a program around this one that has its own mind about that signal keeps it."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def follow(parent: int) -> None:
    """In a worker: leave interrupts to the run, and end soon after it however it ended, even killed.

    Where the system gives orphans no other parent (Windows) the end of a run that was killed goes unnoticed.

    Parameters
    ----------
    parent : int
        Process that started the worker.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)
