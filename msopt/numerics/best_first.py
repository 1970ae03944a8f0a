"""A branch and bound, best first: what the searches for lengths and for actions share (ours, design section 4).

Each step splits the open region with the highest bound. The search has ended when none may hold anything better; where
a limit stops it before, the highest bound is the answer.
"""

import heapq
import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from msopt.numerics.clock import Clock

Region = TypeVar("Region")

EDGE = 1e-9  # relative, beyond either end of the deadlines: more than the split's round-off
NARROW = 1e-13  # relative: numbers that differ by round-off
_WIDE = 4.0  # an end so many times as far from the origin as the other: halved on a logarithmic scale
_NEAR_START = 1.0 / 16.0  # of the first interval, whose logarithm has no start


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """The limits that stop a search before it has ended; None: no limit.

    Attributes
    ----------
    regions : int or None
        Regions examined.
    numbers : int or None
        Regions examined times the useful lengths of all devices: a large table is searched for fewer regions.
    nodes : int or None
        Regions examined and partial controls looked at.
    seconds : float or None
        Of wall-clock time.
    """

    regions: int | None = None
    numbers: int | None = None
    nodes: int | None = None
    seconds: float | None = None


class BestFirst(ABC, Generic[Region]):
    """The open regions of one search and the effort so far: regions examined, and nodes with partial choices."""

    numbers = 0  # of one region, as `SearchEffort.numbers` counts them

    def __init__(self, effort: SearchEffort) -> None:
        self.effort = effort
        self.nodes = self.regions = 0
        self._clock = Clock(effort.seconds)
        self._heap: list[tuple[float, int, Region]] = []
        self._number = itertools.count()  # of regions with the same bound the one that was found first

    @property
    @abstractmethod
    def trial(self) -> float:
        """What must be exceeded to count as better."""

    @abstractmethod
    def split(self, region: Region) -> None:
        """Examine the parts of a region, and keep open those that may hold something better."""

    def keep(self, bound: float, region: Region) -> None:
        """Let a region be open."""
        heapq.heappush(self._heap, (-bound, next(self._number), region))

    def step(self) -> bool:
        """Split the region with the highest bound; False where none is open or the effort is spent."""
        if not self.open or self.spent:
            return False
        self.split(heapq.heappop(self._heap)[2])
        return True

    @property
    def open(self) -> bool:
        """Whether a region may hold something better."""
        return bool(self._heap) and -self._heap[0][0] > self.trial

    @property
    def bound(self) -> float:
        """Nothing has more."""
        return max(-self._heap[0][0], self.trial) if self._heap else self.trial

    @property
    def spent(self) -> bool:
        """Whether a limit of the effort is reached."""
        effort = self.effort
        return (
            (effort.regions is not None and self.regions >= effort.regions)
            or (effort.numbers is not None and self.regions * self.numbers >= effort.numbers)
            or (effort.nodes is not None and self.nodes >= effort.nodes)
            or self._clock.over
        )


def cut(start: float, end: float, origin: float = 0.0) -> float:
    """Where to halve an interval: the middle, on a logarithmic scale from an origin where it spans that much."""
    if start <= origin:
        return start + _NEAR_START * (end - start)
    before, beyond = start - origin, end - origin
    return origin + float(np.sqrt(before * beyond)) if beyond > _WIDE * before else 0.5 * (start + end)


def is_narrow(start: float, end: float, origin: float = 0.0) -> bool:
    """Whether halving an interval tells nothing more."""
    return end - start <= NARROW * end or not start < cut(start, end, origin) < end
