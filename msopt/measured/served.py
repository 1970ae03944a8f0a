"""Acceptance as a running server tells it: counts by position, counts of tokens, or tokens a round.

Counts of several lines, engines or requests are added. The share of *all* drafts whose first l tokens were accepted is
S(l) where all drafts had l tokens; accepted/drafted is no acceptance probability.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import brentq

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.measured.served_counts import Counts, curve_of
from msopt.measured.task_acceptance import CurvePoint
from msopt.model.acceptance import Acceptance
from msopt.model.validation import MOST_SERVED, check_whole
from msopt.numerics.intervals import proportion_interval, student_factor


@dataclass(frozen=True)
class Served:
    """Acceptance of one model as a server served it.

    Attributes
    ----------
    drafts, drafted, accepted : int
        Drafts verified; tokens drafted and accepted in all [token].
    curve : tuple of CurvePoint
        S(1), S(2), ... with intervals; empty where the server told less.
    pooled : tuple (alpha, length) or None
        In place of a curve: the geometric law's acceptance, and the draft length that it was found at, the longest
        of several.
    pooled_interval : tuple (low, high) or None
        Of that acceptance, at 95 %; None where nothing tells it.
    notes : tuple of str
        What a user should be told.
    positions : int
        The most tokens that the server may draft, accepted or not; 0 where it is not told [token].
    method, draft_sample_method : str or None
        What drafts ("draft_model", "eagle3", ...) and how ("greedy", "probabilistic"), where the server's log says so.
    source : str
        Whose words these are, what their acceptance rate is, and what cannot be known from them.
    """

    drafts: int
    drafted: int
    accepted: int
    curve: tuple[CurvePoint, ...]
    pooled: tuple[float, int] | None = None
    notes: tuple[str, ...] = ()
    positions: int = 0
    method: str | None = None
    draft_sample_method: str | None = None
    pooled_interval: tuple[float, float] | None = None
    source: str = ""

    @classmethod
    def of_pooled(cls, rate: float, draft_length: int) -> Self:
        """Where only accepted/drafted at some draft length is known, no token behind a rejection being accepted."""
        alpha = pooled_acceptance(rate, draft_length)
        note = (
            f"pooled rate {rate:g} is taken as accepted over drafted tokens of drafts of {draft_length}, none counted "
            f"behind a rejection: {1.0 + draft_length * rate:.4g} tokens a round; a rate that counts those, too "
            "(vLLM's V0 engine), promises too much: give the tokens a round as --mean-length in its place"
        )
        return cls(0, 0, 0, (), (alpha, draft_length), (note,))

    @classmethod
    def of_mean_length(cls, mean: float, draft_length: int) -> Self:
        """Where only the tokens a round at some draft length are known, the target's own token among them."""
        check_whole("draft length", draft_length, 1, MOST_SERVED)
        if not 1.0 <= mean <= draft_length + 1.0:
            raise ParameterError(
                f"mean length = {mean:g} is outside [1, {draft_length + 1}]: drafts of {draft_length} yield that many "
                "tokens a round, the target's own token among them"
            )
        note = (
            f"mean length {mean:g} is taken as tokens a round with the target's own token; where that one is not "
            "counted, give 1 more"
        )
        alpha = pooled_acceptance(min(1.0, (mean - 1.0) / draft_length), draft_length)
        return cls(0, 0, 0, (), (alpha, draft_length), (note,))

    @classmethod
    def of_means(cls, tokens: FloatArray, weights: FloatArray, draft_length: int, notes: Sequence[str]) -> Self:
        """Where tokens a round of some intervals are told, the target's own among them, and nothing of their drafts.

        The interval is Student's for the mean of the intervals, each with its weight: as far as they spread.
        """
        check_whole("draft length", draft_length, 1, MOST_SERVED)
        mean = float(weights @ tokens / weights.sum())
        found = cls.of_mean_length(
            min(mean, draft_length + 1.0) if mean <= draft_length + 1.005 else mean, draft_length
        )
        reach = np.inf
        if tokens.size > 1:
            spread = np.sqrt(weights**2 @ (tokens - mean) ** 2 * tokens.size / (tokens.size - 1)) / weights.sum()
            reach = student_factor(tokens.size - 1) * float(spread)
        low, high = (
            pooled_acceptance(min(1.0, max(0.0, (mean + sign * reach - 1.0) / draft_length)), draft_length)
            for sign in (-1.0, 1.0)
        )
        interval = (low, high) if tokens.size > 1 else None
        return cls(0, 0, 0, (), found.pooled, tuple(notes), positions=draft_length, pooled_interval=interval)

    @classmethod
    def of_counts(cls, counts: Sequence[Counts], draft_length: int | None, told: frozenset[int] = frozenset()) -> Self:
        """Counts added up: those by position where there are any, else those with drafts, else tokens alone.

        ParameterError in one line where nothing was drafted, or a draft length is missing or superfluous.

        Parameters
        ----------
        counts : sequence of Counts
            Of every interval, engine or request.
        draft_length : int or None
            The tokens of every draft, where only accepted and drafted tokens are told [token].
        told : frozenset of int
            The lengths that the server chooses from, where it says so [token].
        """
        counts = [part for part in counts if part.drafted]
        if not counts:
            raise ParameterError("has no drafts yet: nothing was drafted")
        by_position = [part for part in counts if part.at]
        with_drafts = [part for part in counts if part.drafts is not None]
        used = by_position or with_drafts or counts
        notes = []
        if len(used) < len(counts):
            notes.append(
                f"{len(counts) - len(used)} of {len(counts)} lines that tell less than the others are left out"
            )
        if draft_length is not None and with_drafts:
            raise ParameterError("tells how long its drafts are; no --pooled-length is to be given")
        if draft_length is None and not with_drafts:
            raise ParameterError(
                "tells accepted and drafted tokens only: give the length of its drafts, too, as --pooled-length"
            )
        if draft_length is not None:
            used = [part.of_length(draft_length) for part in used]
        drafts = sum(part.drafts or 0 for part in used)
        drafted, accepted = (sum(getattr(part, key) for part in used) for key in ("drafted", "accepted"))
        if by_position:
            curve, more = curve_of(used, told)
            positions = max(len(part.at) for part in used)
            return cls(drafts, drafted, accepted, curve, notes=(*notes, *more), positions=positions)
        lengths = Counter[int]()
        for part in used:
            lengths[draft_length or max(1, round(part.drafted / (part.drafts or 1)))] += part.drafts or 0
        alpha, interval = _pooled(lengths, accepted)
        longest, shortest = max(lengths), min(lengths)
        at = f"length {longest}" if shortest == longest else f"lengths from {shortest} to {longest}"
        notes.append(
            f"no rates by position: alpha = {alpha:.4g} is that of the geometric law with {accepted} of {drafted} "
            f"tokens accepted at {at}"
        )
        found = (alpha, longest)
        return cls(drafts, drafted, accepted, (), found, tuple(notes), positions=longest, pooled_interval=interval)

    def law(self, devices: int) -> Acceptance:
        """The same law for each of so many devices: the curve, or the geometric law of the pooled rate."""
        if self.pooled is not None:
            return Acceptance.of([self.pooled[0]] * devices)
        return Acceptance.of(curves=[[point.survival for point in self.curve]] * devices)


def pooled_acceptance(pooled: float, draft_length: int) -> float:
    """The geometric law's alpha whose drafts of one length have accepted/drafted = pooled.

    E = 1 + K pooled tokens a round, so pooled = alpha (1 - alpha^K)/((1 - alpha) K), which rises with alpha.

    Raises
    ------
    ParameterError
        For a rate outside [0, 1], or a length below 1.

    Examples
    --------
    >>> pooled_acceptance(44 / 161, 7)
    0.671
    """
    if not 0.0 <= pooled <= 1.0:
        raise ParameterError(f"pooled rate = {pooled:g} is outside [0, 1]")
    check_whole("draft length", draft_length, 1, MOST_SERVED)
    return _geometric({draft_length: 1}, pooled * draft_length)


def _geometric(drafts: Mapping[int, int], accepted: float) -> float:
    """The geometric law's alpha that accepts so many tokens of so many drafts of each length, on average."""
    places = np.arange(1, max(drafts) + 1)
    long_enough = np.array(list(drafts.values())) @ (np.array(list(drafts))[:, None] >= places)
    if accepted <= 0.0 or accepted >= long_enough.sum():
        return float(accepted > 0.0)
    return float(brentq(lambda alpha: long_enough @ alpha**places - accepted, 0.0, 1.0, xtol=1e-15, rtol=1e-14))


def _pooled(drafts: Mapping[int, int], accepted: int) -> tuple[float, tuple[float, float]]:
    """Alpha and a cautious interval of it, whatever law the tokens of a draft follow.

    A draft's accepted tokens over the longest's are a number in [0, 1]. None of that mean varies more than a draft of
    which all tokens or none are accepted: Clopper and Pearson's interval of as many of those is at least as wide.
    """
    number, longest = sum(drafts.values()), max(drafts)
    most = sum(length * count for length, count in drafts.items())
    ends = proportion_interval(min(accepted, most) / longest, number)
    low, high = (_geometric(drafts, min(most, end * number * longest)) for end in ends)
    return _geometric(drafts, accepted), (low, high)
