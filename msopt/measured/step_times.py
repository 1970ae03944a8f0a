"""The parts of a profile that speak of time: quantiles, batches, the verification grid and its fit."""

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from msopt.arrays import FloatArray, IntArray
from msopt.measured.provenance import Count, Part, Positive, Seconds, Share


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

    Rows with drafts are fitted where they tell the terms apart, else all.

    Attributes
    ----------
    base, per_device, per_token : Term
        c0, c2 and c1.
    r_squared : float
        Coefficient of determination among the rows fitted, at most 1.
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

    def seconds(self, batch: int, draft_length: int | IntArray) -> FloatArray:
        """The fitted time of a batch at one draft length or several, of the same shape [s]."""
        positions = batch * (np.asarray(draft_length) + 1.0)
        fitted = self.base.seconds + self.per_device.seconds * batch + self.per_token.seconds * positions
        return np.asarray(fitted)

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
        cells = [(row.batch, row.draft_length) for row in self.rows]
        for place, row in enumerate(self.rows):
            if cells[place] in cells[:place]:
                raise ValueError(f"rows[{place}]: batch {row.batch} at draft_length {row.draft_length} stands twice")
            if row.time.median_s == 0.0:
                raise ValueError(f"rows[{place}].time.median_s = 0: verification takes time")
        return self
