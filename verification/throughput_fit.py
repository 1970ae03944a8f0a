"""Round times from throughputs that someone measured at a server: which of the model's costs they tell, and how well.

A batch of b sequences with drafts of L tokens yields b E(L) tokens a round, so a throughput is a round time:
T(b, L) = c0 + c2 b + c1 b (L + 1) + L step. Errors of throughputs are shares, so the squares are of relative errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.numerics.intervals import student_factor
from verification.verification_fit import least_squares

COSTS = ("verify_base_s", "server_draft_s_per_token", "verify_per_token_s", "verify_per_device_s")
"""The keys of a scenario, in the order in which what the rows do not tell apart is given to them."""

POOR = 0.2
"""A round time that is off by more than this share is no round of this model."""

_SAME = 1e-6
"""Columns that are the same but for this share are told apart by no measurement."""


@dataclass(frozen=True)
class ThroughputRow:
    """One measurement: sequences at once, drafted tokens of each, tokens/s of all, and tokens a round of each."""

    batch: int
    draft_length: int
    tokens_per_s: float
    tokens_per_round: float

    @property
    def round_s(self) -> float:
        """The round time [s]."""
        return self.batch * self.tokens_per_round / self.tokens_per_s


@dataclass(frozen=True)
class FittedCost:
    """A cost [s] with its interval at 95 %; both ends None where the rows do not tell it, or it came out negative."""

    seconds: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ThroughputFit:
    """What the rows tell.

    Attributes
    ----------
    costs : dict
        Key of a scenario to its cost.
    told_with : tuple of str
        Costs that the rows do not tell apart from the others, and are 0 here.
    negative : tuple of str
        Costs that came out negative or 0, and are 0 here.
    relative_residuals : array, shape (n,)
        Measured over fitted round time, less 1 [1].
    """

    costs: dict[str, FittedCost]
    told_with: tuple[str, ...]
    negative: tuple[str, ...]
    relative_residuals: FloatArray

    @property
    def holds(self) -> bool:
        """Whether every row is within `POOR` of its fitted round time."""
        return bool(np.abs(self.relative_residuals).max() <= POOR)


def fit_throughputs(rows: Sequence[ThroughputRow]) -> ThroughputFit:
    """Fit the costs of a round; ParameterError for fewer rows than one more than the costs that they tell apart."""
    batch, length, measured = (
        np.array([getattr(row, key) for row in rows], dtype=float) for key in ("batch", "draft_length", "round_s")
    )
    grid = np.stack([np.ones(len(rows)), length, batch * (length + 1.0), batch], axis=1) / measured[:, None]
    shape = grid / np.maximum(np.linalg.norm(grid, axis=0), np.finfo(float).tiny)
    told: list[int] = []
    for place in range(len(COSTS)):
        if np.linalg.matrix_rank(shape[:, [*told, place]], tol=_SAME) > len(told):
            told.append(place)
    if len(rows) <= len(told):
        raise ParameterError(f"{len(rows)} rows for {len(told)} costs; at least {len(told) + 1} are needed")
    kept = list(told)
    while True:
        coefficient, error, _ = least_squares(grid[:, kept], np.ones(len(rows)))
        if len(kept) == 1 or coefficient.min() > 0.0:
            break
        del kept[int(coefficient.argmin())]
    reach = student_factor(len(rows) - len(kept)) * error
    fitted = {
        COSTS[place]: FittedCost(float(value), max(0.0, float(value - half)), float(value + half))
        for place, value, half in zip(kept, coefficient, reach, strict=True)
    }
    return ThroughputFit(
        costs={key: fitted.get(key, FittedCost(0.0, None, None)) for key in COSTS},
        told_with=tuple(key for place, key in enumerate(COSTS) if place not in told),
        negative=tuple(COSTS[place] for place in told if place not in kept),
        relative_residuals=1.0 / (grid[:, kept] @ coefficient) - 1.0,
    )
