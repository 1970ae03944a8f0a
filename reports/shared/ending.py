"""How a run ends before its time: SIGTERM as an interrupt does, and no worker outlives the run it works for."""

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import NoReturn

LOOK_EVERY_S = 0.5
"""How often a worker looks whether the run is still there."""
ONE_WISH_S = 3.0
"""A second signal this soon after the first is of the same wish: it must not break into what tidies up."""


class Interrupted(KeyboardInterrupt):
    """SIGINT, told apart from a KeyboardInterrupt that some code raises by itself."""

    exit_code = 128 + signal.SIGINT


class Terminated(KeyboardInterrupt):
    """SIGTERM: what an interrupt ends and tidies up, this does."""

    exit_code = 128 + signal.SIGTERM


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Raise `Interrupted` on SIGINT and `Terminated` on SIGTERM, one of them for several that come close together.

    A program around this one that has its own mind about a signal keeps it.
    """
    with _raising({signal.SIGINT: Interrupted, signal.SIGTERM: Terminated}):
        yield


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` on SIGINT where Python would raise a plain KeyboardInterrupt."""
    with _raising({signal.SIGINT: Interrupted}):
        yield


def leave_at_once() -> None:
    """Let an interrupt end this process without a word where nothing else handles it: there is nothing to tidy up."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(128 + number)


_NOBODYS = (signal.SIG_DFL, signal.default_int_handler, _leave)


@contextlib.contextmanager
def _raising(kinds: Mapping[signal.Signals, type[KeyboardInterrupt]]) -> Iterator[None]:
    raised_s = -math.inf

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal raised_s
        if time.monotonic() - raised_s >= ONE_WISH_S:
            raised_s = time.monotonic()
            raise kinds[signal.Signals(number)]

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: now for number in kinds if (now := signal.getsignal(number)) in _NOBODYS}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, now in before.items():
            signal.signal(number, now)


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
