"""The time that a search may take."""

import time

import numpy as np


class Clock:
    """Counts down from some seconds [s]; from None, which never ends, to nothing."""

    def __init__(self, limit_s: float | None) -> None:
        self._stop_s = np.inf if limit_s is None else time.monotonic() + limit_s

    @property
    def left_s(self) -> float:
        """What is left [s]: 0 from the end on, infinite without a limit."""
        return max(0.0, self._stop_s - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return time.monotonic() >= self._stop_s


UNLIMITED = Clock(None)
