"""The parts of a profile that speak of acceptance: estimates, curves, tasks, payloads (design section 8)."""

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from msopt.errors import ParameterError
from msopt.measured.provenance import Count, Part, Positive, Sha256, Share, Text
from msopt.model.acceptance import beta_counts
from msopt.numerics.intervals import LEVEL, proportion_interval

_ROUND_OFF = 1e-9


class Estimate(Part):
    """A mean with its interval at the profile's level.

    Attributes
    ----------
    value, low, high : float or None
        The estimate and the ends of its interval [1]; None where nothing was observed.
    n : int
        Sample size: how many observations, not how many prompts.
    """

    value: Share | None
    low: Share | None
    high: Share | None
    n: Count

    @classmethod
    def of_counts(cls, accepted: int, trials: int, level: float = LEVEL) -> Self:
        """Estimate a probability from counts, with Clopper and Pearson's interval."""
        if trials == 0:
            return cls(value=None, low=None, high=None, n=0)
        low, high = proportion_interval(accepted, trials, level)
        return cls(value=accepted / trials, low=low, high=high, n=trials)

    @model_validator(mode="after")
    def _check(self) -> Self:
        known = [number for number in (self.value, self.low, self.high) if number is not None]
        if len(known) != (3 if self.n else 0):
            raise ValueError("value, low and high are numbers where n is above 0, and null where it is 0")
        if self.value is not None and not known[1] - _ROUND_OFF <= self.value <= known[2] + _ROUND_OFF:
            raise ValueError(f"value = {self.value:g} lies outside its interval, {known[1]:g} to {known[2]:g}")
        return self


class Spread(Part):
    """Acceptance averaged within each prompt: its mean and deviation over prompts, as in [MS] Table I.

    Attributes
    ----------
    mean, std : float
        Of the prompts' averages; the deviation with n - 1 in its denominator, 0 for a single prompt [1].
    prompts : int
        How many prompts had a draft at all.
    """

    mean: Share
    std: Annotated[float, Field(ge=0.0, le=1.0)]
    prompts: Positive

    @property
    def beta(self) -> tuple[float, float] | None:
        """The Beta law (a, b) with this mean and deviation; None where there is none."""
        if not 0.0 < self.std**2 < self.mean * (1.0 - self.mean):
            return None
        a, b = beta_counts(self.mean, self.std)
        return a, b


class CurvePoint(Part):
    """One position of the drafts, l = 1, 2, ...

    Attributes
    ----------
    visited : int
        Rounds that drafted an l-th token and accepted all before it.
    accepted : int
        Those of them that accepted the l-th too.
    survival, low, high : float
        S(l), the probability that the first l tokens are all accepted, and its interval [1].
    """

    visited: Positive
    accepted: Count
    survival: Share
    low: Share
    high: Share


def curve_of_counts(visited: Iterable[float], accepted: Iterable[int], level: float = LEVEL) -> tuple[CurvePoint, ...]:
    """The acceptance curve from what happened at each position.

    S(l) is the product of accepted/visited up to l, so that rounds cut short (by the end of the text) count as far as
    they went. The interval is that of the proportion S(l) among as many rounds as were not cut short before l: without
    any cut, accepted rounds out of all. Positions from the first that was never visited on are left out. Visits that
    are known on average only need not be whole. ParameterError where more is accepted than visited, or visited than
    accepted before.
    """
    points: list[CurvePoint] = []
    rounds, before = 0.0, 0.0
    for seen, kept in zip(visited, accepted, strict=True):
        if seen == 0:
            break
        before = before if points else seen
        if not kept <= seen <= before:
            raise ParameterError(f"position {len(points) + 1}: {kept} accepted of {seen} visited after {before}")
        rounds = rounds * seen / before if points else float(seen)
        # accepted/rounds is the product of all accepted/visited up to here, without its roundings.
        low, high = proportion_interval(min(kept, rounds), rounds, level)
        survival = min(1.0, kept / rounds)
        points.append(CurvePoint(visited=max(1, round(seen)), accepted=kept, survival=survival, low=low, high=high))
        before = kept
    return tuple(points)


class Agreement(Part):
    """Whether accepted/(accepted + rejected) and the mean of sum min(p, q), both at visited positions, agree.

    Attributes
    ----------
    z : float
        Their difference in standard deviations, nearly normal where both measure one quantity.
    p_value : float
        Probability of so large a difference in that case, two-sided [1].
    """

    z: float
    p_value: Share

    def holds(self, comparisons: int, false_alarm: float = 0.01) -> bool:
        """Whether they agree, where one false alarm in so many sets of comparisons is allowed (Bonferroni)."""
        return self.p_value >= false_alarm / comparisons


class TaskAcceptance(Part):
    """Acceptance on one task. Positions are visited up to and including the first rejection of each round.

    Attributes
    ----------
    prompts, prompts_sha256 : int, str
        How many, and the SHA-256 of their text.
    drafted : int
        Tokens drafted in all, those after a rejection included [token].
    by_counts : Estimate
        Accepted out of accepted and rejected at visited positions.
    by_overlap : Estimate
        Mean of sum min(p, q) at the same positions: the same quantity as `by_counts`.
    agreement : Agreement or None
        Of those two; None where it was not computed.
    target_text_overlap : Estimate or None
        Another quantity: sum min(p, q) averaged along text sampled from the target.
    all_drafted_ratio : Estimate or None
        The papers' estimator: min(1, p/q) averaged over all drafted positions, those after a rejection included.
    over_prompts : Spread or None
        Of the acceptance at visited positions, averaged within each prompt.
    all_drafted_over_prompts : Spread or None
        Of the papers' estimator, averaged within each prompt.
    curve : tuple of CurvePoint
        S(1), S(2), ...; empty where nothing was drafted.
    """

    prompts: Positive
    prompts_sha256: Sha256
    drafted: Count
    by_counts: Estimate
    by_overlap: Estimate
    agreement: Agreement | None = None
    target_text_overlap: Estimate | None = None
    all_drafted_ratio: Estimate | None = None
    over_prompts: Spread | None = None
    all_drafted_over_prompts: Spread | None = None
    curve: tuple[CurvePoint, ...]

    @property
    def accepted(self) -> int:
        """Tokens accepted [token]."""
        return sum(point.accepted for point in self.curve)

    @property
    def visited(self) -> int:
        """Tokens accepted or rejected [token]."""
        return sum(point.visited for point in self.curve)

    @property
    def survival(self) -> list[float]:
        """S(1), S(2), ... as a scenario's `acceptance_curve` holds them."""
        return [point.survival for point in self.curve]

    @model_validator(mode="after")
    def _check(self) -> Self:
        before, survival = None, 1.0
        for place, point in enumerate(self.curve):
            if point.accepted > point.visited or (before is not None and point.visited > before):
                raise ValueError(f"curve[{place}]: no more rounds go on than were accepted, and were visited, before")
            before, survival = point.accepted, survival * point.accepted / point.visited
            if abs(point.survival - survival) > _ROUND_OFF:
                raise ValueError(
                    f"curve[{place}].survival = {point.survival:g} is not what its counts give, {survival:g}"
                )
            if not point.low - _ROUND_OFF <= point.survival <= point.high + _ROUND_OFF:
                raise ValueError(f"curve[{place}].survival = {point.survival:g} lies outside its interval")
        for name, estimate in (("by_counts", self.by_counts), ("by_overlap", self.by_overlap)):
            if estimate.n != self.visited:
                raise ValueError(f"{name}.n = {estimate.n} is not the number of visited positions, {self.visited}")
        share = self.by_counts.value
        if share is not None and abs(share - self.accepted / self.visited) > _ROUND_OFF:
            raise ValueError(f"by_counts.value = {share:g} is not {self.accepted} of {self.visited}")
        if self.drafted < self.visited:
            raise ValueError(f"drafted = {self.drafted} is below the number of visited positions, {self.visited}")
        return self


class PayloadRow(Part):
    """One way to send a distribution, and the acceptance when drafting from exactly what is sent.

    Attributes
    ----------
    task : str or None
        The task measured on; None: all of them.
    kept_entries : int
        Top entries kept [token].
    probability_bits : int
        Bits of each probability [bit].
    distribution_bits : int
        One distribution as sent, indices included [bit].
    acceptance : Estimate
        At visited positions, when rejections are corrected at the server: the draft's distribution is cut.
    acceptance_at_device : Estimate or None
        The same when they are corrected at the device: the target's distribution is cut as well.
    """

    task: Text | None = None
    kept_entries: Positive
    probability_bits: Positive
    distribution_bits: Positive
    acceptance: Estimate
    acceptance_at_device: Estimate | None = None
