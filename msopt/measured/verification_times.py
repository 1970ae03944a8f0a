"""How long a server takes to verify, by batch size and draft length: what was measured, carried on by the fit.

Scenarios hold the fit's three numbers; a schedule, which asks at which batch size a draft still pays, holds the rows
themselves against each other. Verifying one position is often another kernel than verifying two, so that rows
without drafts are used as they were measured. Rows with drafts are used so where the fit misses one of them by more
than its times spread; else the fit, which averages their noise, stands for them.
"""

from collections.abc import Sequence

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.measured.profile import Profile
from msopt.measured.step_times import VerificationRow

_ROUND_OFF = 1e-9


class VerificationTimes:
    """Verification times of one profile.

    Parameters
    ----------
    profile : Profile

    Raises
    ------
    ParameterError
        Where it has none.

    Attributes
    ----------
    rows : tuple of VerificationRow
    missed : list of VerificationRow
        Rows with drafts whose measured 10 % to 90 % the fit lies outside of; empty where the fit is used.
    """

    def __init__(self, profile: Profile) -> None:
        if profile.verification is None:
            raise ParameterError(f'profile "{profile.name}" has no verification times; name one that has')
        self.name, self.rows, self._fit = profile.name, profile.verification.rows, profile.verification.fit
        self.missed = [row for row in self.rows if row.draft_length > 0 and not self._within(row)]
        share = [row.time.median_s / float(self._fit.seconds(row.batch, row.draft_length)) for row in self.rows]
        self._least_share = min(share)
        self._excess: dict[int, tuple[list[int], list[float]]] = {}
        for row in sorted(self.rows, key=lambda row: (row.draft_length, row.batch)):
            batches, excess = self._excess.setdefault(row.draft_length, ([], []))
            batches.append(row.batch)
            excess.append(row.time.median_s - float(self._fit.seconds(row.batch, row.draft_length)))

    def seconds(self, batch: int, lengths: IntArray) -> FloatArray:
        """Time to verify a batch at each of several common lengths, shape (n,) both [s].

        The fit plus what rows measured beyond it: interpolated linearly between batch sizes, then between lengths,
        which on a full grid interpolates the medians; outside the rows, that of the nearest. Never below the least
        share of the fit that was measured, so that it stays above 0.
        """
        fitted = self._fit.seconds(batch, lengths)
        found = {length: float(np.interp(batch, *excess)) for length, excess in self._excess.items()}
        if self.missed:
            more = np.interp(lengths, list(found), list(found.values()))
        else:
            more = np.where(lengths == 0, found.get(0, 0.0), 0.0)
        return np.maximum(fitted + more, self._least_share * fitted)

    def notes(self, batch_sizes: Sequence[int] | IntArray, longest: int) -> list[str]:
        """What a schedule up to a draft length takes from no measurement, and whether the fit is used."""
        texts = []
        lengths = [row.draft_length for row in self.rows]
        idle = [row.batch for row in self.rows if row.draft_length == 0]
        least, most = min(row.batch for row in self.rows), max(row.batch for row in self.rows)
        if not idle:
            texts.append(f"length 0 was not timed: times without drafts are extrapolated from length {min(lengths)}")
        elif max(idle) < min(most, int(max(batch_sizes))):
            texts.append(f"length 0 was not timed at batch sizes above {max(idle)}; there it is extrapolated")
        if int(min(batch_sizes)) < least:
            texts.append(f"batch sizes below {least} were not timed; verification there is extrapolated")
        if longest > max(lengths):
            texts.append(f"verification of lengths above {max(lengths)} was not timed; it is extrapolated")
        if self.missed:
            relative = [
                abs(float(self._fit.seconds(row.batch, row.draft_length)) / row.time.median_s - 1.0)
                for row in self.missed
            ]
            worst = self.missed[int(np.argmax(relative))]
            texts.append(
                f'profile "{self.name}": its verification fit is not used where times were measured, they are '
                f"interpolated; it misses {len(self.missed)} of {sum(length > 0 for length in lengths)} rows by more "
                f"than they spread, by {max(relative):.0%} at batch size {worst.batch}, length {worst.draft_length}"
            )
        return texts

    def _within(self, row: VerificationRow) -> bool:
        fitted = float(self._fit.seconds(row.batch, row.draft_length))
        return row.time.q10_s * (1.0 - _ROUND_OFF) <= fitted <= row.time.q90_s * (1.0 + _ROUND_OFF)
