"""A profile: what was measured on one pair of models, with where every number comes from (design section 8).

One profile speaks of one draft and one target. A ladder of drafts is a profile for each: acceptance, draft
time and payload belong to the pair, a scenario names a profile for each device, and one rung can be measured
again without touching the others. Verification belongs to the target; a rung may leave it out.

Reading a profile needs no torch. `msopt.profile_file` reads and writes the file.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.intervals import LEVEL, proportion_interval
from msopt.provenance import Count, Machine, Model, Part, Positive, Sampling, Seconds, Sha256, Share, Text, Vocabulary

VERSION: Literal[1] = 1
"""The version of the schema below; a change that breaks old files raises it."""

_ROUND_OFF = 1e-9
_POOR_FIT = 0.2


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
        total = self.mean * (1.0 - self.mean) / self.std**2 - 1.0
        return self.mean * total, (1.0 - self.mean) * total


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


def curve_of_counts(visited: Iterable[int], accepted: Iterable[int], level: float = LEVEL) -> tuple[CurvePoint, ...]:
    """The acceptance curve from what happened at each position.

    S(l) is the product of accepted/visited up to l, so that rounds cut short (by the end of the text) count
    as far as they went. The interval is that of the proportion S(l) among as many rounds as were not cut short
    before l: without any cut, accepted rounds out of all. Positions from the first that was never visited on
    are left out.

    Raises
    ------
    ParameterError
        Where more is accepted than visited, or visited than accepted before.
    """
    points: list[CurvePoint] = []
    rounds, before = 0.0, 0
    for seen, kept in zip(visited, accepted, strict=True):
        if seen == 0:
            break
        before = before if points else seen
        if not kept <= seen <= before:
            raise ParameterError(f"position {len(points) + 1}: {kept} accepted of {seen} visited after {before}")
        rounds = rounds * seen / before if points else float(seen)
        # accepted/rounds is the product of all accepted/visited up to here, without its roundings.
        low, high = proportion_interval(min(kept, rounds), rounds, level)
        points.append(CurvePoint(visited=seen, accepted=kept, survival=min(1.0, kept / rounds), low=low, high=high))
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


class Timing(Part):
    """Seconds of one thing done n times.

    Attributes
    ----------
    median_s, q10_s, q25_s, q75_s, q90_s : float
        Quantiles [s].
    n : int
        How often it was timed.
    raw_s : tuple of float
        Every single time, in the order measured [s]; empty where not kept.
    """

    median_s: Seconds
    q10_s: Seconds
    q25_s: Seconds
    q75_s: Seconds
    q90_s: Seconds
    n: Positive
    raw_s: tuple[Seconds, ...] = ()

    @classmethod
    def of(cls, seconds: Sequence[float], *, keep: bool = True) -> Self:
        """Summarise single times [s], and keep them where asked to."""
        q10, q25, median, q75, q90 = (float(q) for q in np.quantile(seconds, [0.1, 0.25, 0.5, 0.75, 0.9]))
        return cls(
            median_s=median,
            q10_s=q10,
            q25_s=q25,
            q75_s=q75,
            q90_s=q90,
            n=len(seconds),
            raw_s=tuple(float(s) for s in seconds) if keep else (),
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        quantiles = [self.q10_s, self.q25_s, self.median_s, self.q75_s, self.q90_s]
        if quantiles != sorted(quantiles):
            raise ValueError("the quantiles do not rise from q10_s to q90_s")
        if self.raw_s and len(self.raw_s) != self.n:
            raise ValueError(f"raw_s holds {len(self.raw_s)} times, and n = {self.n}")
        return self


class BatchTiming(Part):
    """Something done for a batch at once: one drafting step, or the processing of prompts.

    Attributes
    ----------
    batch : int
        Sequences in the batch.
    tokens : int
        New tokens of each sequence: 1 for a drafting step, a prompt's length for its processing [token].
    time : Timing
    """

    batch: Positive
    tokens: Positive = 1
    time: Timing


class VerificationRow(Part):
    """Verification of one batch whose drafts all have one length.

    Attributes
    ----------
    batch : int
        Sequences verified at once.
    draft_length : int
        Drafted tokens of each [token]; draft_length + 1 positions are computed.
    time : Timing
    """

    batch: Positive
    draft_length: Count
    time: Timing


class Term(Part):
    """One term of a fit.

    Attributes
    ----------
    seconds : float
        The coefficient that scenarios use, at least 0; 0 where the term was left out [s].
    standard_error_s : float or None
        Of that coefficient [s]; None where it was left out.
    p_value : float or None
        Of the test, with all terms in the fit, that the coefficient is 0 [1].
    needed : bool
        Whether that test says that the term is needed.
    """

    seconds: Seconds
    standard_error_s: Seconds | None
    p_value: Share | None
    needed: bool


class VerificationFit(Part):
    """T_ver = base + per_device * batch + per_token * batch * (draft_length + 1), by least squares.

    Attributes
    ----------
    base, per_device, per_token : Term
        c0, c2 and c1.
    r_squared : float
        Coefficient of determination, at most 1.
    residuals_s : tuple of float
        Median less fit, of each row of the grid [s].
    max_relative_residual : float
        The largest of |residual|/median [1].
    """

    base: Term
    per_device: Term
    per_token: Term
    r_squared: Annotated[float, Field(le=1.0)]
    residuals_s: tuple[float, ...]
    max_relative_residual: Annotated[float, Field(ge=0.0)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not any(term.seconds for term in (self.base, self.per_device, self.per_token)):
            raise ValueError("base.seconds, per_device.seconds and per_token.seconds are all 0; one must not be")
        return self


class Verification(Part):
    """The grid of verification times and its fit.

    Attributes
    ----------
    rows : tuple of VerificationRow
    fit : VerificationFit
    """

    rows: Annotated[tuple[VerificationRow, ...], Field(min_length=1)]
    fit: VerificationFit

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.fit.residuals_s) != len(self.rows):
            raise ValueError(f"fit.residuals_s holds {len(self.fit.residuals_s)} values for {len(self.rows)} rows")
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


class Profile(Part):
    """What was measured on one pair.

    Attributes
    ----------
    schema_version : int
        `VERSION`.
    name : str
        What tables and comments call the profile.
    compute_only : bool
        Random weights: times only, no acceptance.
    note : str
        Whatever a reader must know besides.
    draft, target : Model
    vocabulary : Vocabulary
    sampling : Sampling or None
        None where nothing was sampled (`compute_only`).
    machine : Machine
    versions : dict
        Library to version.
    seed : int
    date : str
        Day of the measurement, YYYY-MM-DD.
    interval_level : float
        Level of every interval in the file [1].
    tasks : dict
        Task to acceptance; empty where `compute_only`.
    draft_time : Timing or None
        One drafted token of one device, on `machine` [s].
    server_draft : tuple of BatchTiming
        One drafting step for a whole batch at the server.
    verification : Verification or None
    prompt_processing : tuple of BatchTiming
        The target over prompts, which no round contains.
    payload : tuple of PayloadRow
    """

    schema_version: Literal[1] = VERSION
    name: Text
    compute_only: bool = False
    note: str = ""
    draft: Model
    target: Model
    vocabulary: Vocabulary
    sampling: Sampling | None
    machine: Machine
    versions: dict[str, str]
    seed: Count
    date: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    interval_level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    tasks: dict[Text, TaskAcceptance]
    draft_time: Timing | None = None
    server_draft: tuple[BatchTiming, ...] = ()
    verification: Verification | None = None
    prompt_processing: tuple[BatchTiming, ...] = ()
    payload: tuple[PayloadRow, ...] = ()

    @property
    def label(self) -> str:
        """Which model drafts for which."""
        return f"{self.draft.name} drafts for {self.target.name}"

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a user of the numbers should know."""
        texts = []
        if self.verification is not None and self.verification.fit.max_relative_residual > _POOR_FIT:
            off = self.verification.fit.max_relative_residual
            texts.append(f'profile "{self.name}": its verification fit is up to {off:.0%} off a measured median')
        return tuple(texts)

    def server_draft_s(self, batch: int) -> float | None:
        """One drafting step for a batch at the server [s]: linear between the measured batches.

        Below the smallest it is that one's; above the largest it goes on with the last slope, never falling.
        None where nothing was measured.
        """
        if not self.server_draft:
            return None
        rows = sorted(self.server_draft, key=lambda row: row.batch)
        batches: FloatArray = np.array([row.batch for row in rows], dtype=float)
        seconds: FloatArray = np.array([row.time.median_s for row in rows])
        inside = float(np.interp(batch, batches, seconds))
        if batch <= batches[-1] or len(rows) == 1:
            return inside
        slope = (seconds[-1] - seconds[-2]) / (batches[-1] - batches[-2])
        return inside + max(0.0, float(slope)) * float(batch - batches[-1])

    @model_validator(mode="after")
    def _check(self) -> Self:
        random = self.draft.random_weights or self.target.random_weights
        if random and not self.compute_only:
            raise ValueError("compute_only = false: random weights say nothing about acceptance")
        if self.compute_only and (self.tasks or self.payload):
            raise ValueError("compute_only = true: such a profile carries neither tasks nor payload")
        if self.tasks and self.sampling is None:
            raise ValueError("sampling is null: acceptance needs the temperature and the draft length")
        batches = [row.batch for row in self.server_draft]
        if len(set(batches)) < len(batches):
            raise ValueError("server_draft holds a batch twice")
        return self
