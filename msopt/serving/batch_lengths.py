"""How many tokens a server that drafts and verifies itself should draft at each batch size, and in how few ranges.

The goodput of a batch of b sequences at length L is b E(L)/(L * step(b) + T_ver(b, L)): the centralised baseline, with
verification times as they were measured (`measured.verification_times`) where a scenario has three numbers of a fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.model.validation import MOST_SERVED, MOST_TOGETHER, check_whole

DEFAULT_TOLERANCE = 0.005
NEAR = 0.01
"""Lengths that lose no more than this share of the best goodput are as good as the best, for all that is measured."""
MOST_GOODPUTS = 10_000_000
"""Batch sizes times lengths of one schedule."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Lengths by batch size.

    Attributes
    ----------
    batch_sizes : array of int, shape (n,)
        The batch sizes looked at, rising.
    goodput_by_length : array, shape (n, greatest length + 1)
        Goodput of every batch size at every length [token/s].
    ranges : tuple of (first, last, length)
        Inclusive ranges of batch sizes, each with one length; what lies between two keeps the one before.
    min_length : int
        The least length that is chosen; the goodput of shorter ones is known all the same [token].
    """

    batch_sizes: IntArray
    goodput_by_length: FloatArray
    ranges: tuple[tuple[int, int, int], ...]
    min_length: int = 0

    @property
    def best_length(self) -> IntArray:
        """The best length of each batch size, the shortest of equals [token]."""
        return np.asarray(self.min_length + np.argmax(self.goodput_by_length[:, self.min_length :], axis=1))

    @property
    def best_goodput(self) -> FloatArray:
        """The goodput of each batch size at its best length [token/s]."""
        return np.asarray(np.max(self.goodput_by_length[:, self.min_length :], axis=1))

    @property
    def near_best(self) -> BoolArray:
        """Which lengths are within `NEAR` of the best goodput of each batch size, the best among them."""
        near = self.goodput_by_length >= (1.0 - NEAR) * self.best_goodput[:, None]
        near[:, : self.min_length] = False
        return np.asarray(near)

    @property
    def one_length(self) -> int:
        """The length with the greatest least share of the best goodput over all batch sizes, the shortest of equals."""
        share = np.min(self.goodput_by_length / self.best_goodput[:, None], axis=0)
        return self.min_length + int(np.argmax(share[self.min_length :]))

    @property
    def draft_length(self) -> IntArray:
        """The length of each batch size by the ranges [token]."""
        firsts = [first for first, _, _ in self.ranges]
        held = np.searchsorted(firsts, self.batch_sizes, side="right") - 1
        return np.array([self.ranges[place][2] for place in held], dtype=np.int64)

    @property
    def goodput(self) -> FloatArray:
        """The goodput of each batch size by the ranges [token/s]."""
        return self.goodput_by_length[np.arange(self.batch_sizes.size), self.draft_length]

    @property
    def loss(self) -> FloatArray:
        """What the ranges cost each batch size, as a share of its best goodput [1]."""
        return 1.0 - self.goodput / self.best_goodput

    @property
    def stops_paying_at(self) -> int | None:
        """The batch size from which on no draft pays, up to the greatest looked at; None where one pays there."""
        drafting = np.flatnonzero(self.best_length > 0)
        first = 0 if drafting.size == 0 else int(drafting[-1]) + 1
        return int(self.batch_sizes[first]) if first < self.batch_sizes.size else None


def schedule(
    acceptance: Acceptance,
    verify_s: Callable[[int, IntArray], FloatArray],
    draft_step_s: Callable[[int], float],
    batch_sizes: Sequence[int],
    max_length: int,
    tolerance: float = DEFAULT_TOLERANCE,
    min_length: int = 0,
) -> Schedule:
    """Find the best length of each batch size, and the fewest ranges that keep the goodput.

    ParameterError for values outside their domains.

    Parameters
    ----------
    acceptance : Acceptance
        Of one sequence; all of a batch have the same law.
    verify_s : function
        Verification of a batch of some size at each of several draft lengths, as many numbers above 0 [s].
    draft_step_s : function
        One drafting step for a batch of some size [s].
    batch_sizes : sequence of int
        From 1 to `MOST_TOGETHER` each.
    max_length : int
        Greatest draft length [token].
    tolerance : float
        Share of its best goodput that merging may cost a batch size at most [1].
    min_length : int
        Least draft length; 1 for a server whose drafter must not pause [token].
    """
    check_whole("max", max_length, 1, MOST_SERVED)
    check_whole("min", min_length, 0, max_length)
    if not 0.0 <= tolerance < 1.0:
        raise ParameterError(f"tolerance = {tolerance:g} is not a share of the goodput, from 0 to below 1")
    if not batch_sizes:
        raise ParameterError("no batch size is given")
    for size in batch_sizes:
        check_whole("batch size", size, 1, MOST_TOGETHER)
    if len(batch_sizes) * (max_length + 1) > MOST_GOODPUTS:
        raise ParameterError(
            f"{len(batch_sizes)} batch sizes at lengths from 0 to {max_length} are "
            f"{len(batch_sizes) * (max_length + 1)} goodputs, above {MOST_GOODPUTS}, the most that is allowed"
        )
    sizes = np.unique(np.array(batch_sizes, dtype=np.int64))
    lengths = np.arange(max_length + 1)
    tokens = acceptance.expected_tokens(lengths[:, None].astype(float))[:, 0]
    table = np.array(
        [b * tokens / (lengths * draft_step_s(b) + verify_s(b, lengths)) for b in (int(size) for size in sizes)]
    )
    allowed = table[:, min_length:]
    ranges = _merge(sizes, allowed / allowed.max(axis=1, keepdims=True), 1.0 - tolerance)
    ranges = tuple((first, last, min_length + length) for first, last, length in ranges)
    return Schedule(sizes, table, ranges, min_length)


def _merge(sizes: IntArray, share: FloatArray, least: float) -> tuple[tuple[int, int, int], ...]:
    """The fewest ranges: each goes on as long as one length keeps the least share at all its batch sizes.

    What a range allows its parts allow too, so to stop as late as possible is optimal. Of the lengths that remain
    the one with the greatest least share is taken, the shortest of equals. The first range starts at 1.
    """
    ranges: list[tuple[int, int, int]] = []
    start = 0
    while start < sizes.size:
        kept = share[start]
        end = start + 1
        while end < sizes.size and np.any(np.minimum(kept, share[end]) >= least):
            kept = np.minimum(kept, share[end])
            end += 1
        ranges.append((int(sizes[start]) if ranges else 1, int(sizes[end - 1]), int(np.argmax(kept))))
        start = end
    return tuple(ranges)
