"""From rounds to acceptance: estimates with intervals that respect that positions of one text belong together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from msopt.errors import ParameterError
from msopt.measured.task_acceptance import Agreement, Estimate, Spread, TaskAcceptance, curve_of_counts
from msopt.numerics.intervals import LEVEL, proportion_interval, ratio_residuals, residual_reach
from verification.rounds import Drafted, check_shares

_ROUND_OFF = 1e-6


@dataclass(frozen=True)
class PromptRun:
    """What was seen on one prompt.

    Attributes
    ----------
    rounds : tuple of Drafted
    text_overlap : tuple of float
        Σ min(p, q) along the generated text.
    replayed : tuple of float pairs
        Visited and accepted positions by `verification.text_pass.replay`, in full and for each payload and place.
    """

    rounds: tuple[Drafted, ...]
    text_overlap: tuple[float, ...]
    replayed: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        check_shares("text_overlap", self.text_overlap)
        for visited, accepted in self.replayed:
            if not 0.0 <= accepted <= visited * (1.0 + _ROUND_OFF) or not math.isfinite(visited):
                raise ParameterError(f"replayed holds {accepted:g} accepted of {visited:g} visited positions")


def clustered(sums: Sequence[float], counts: Sequence[float], level: float = LEVEL) -> Estimate:
    """A mean over positions, Σ sums/Σ counts, with an interval over prompts.

    Positions of one prompt depend on each other, prompts do not: the standard error is that of a ratio of two sums
    over n prompts, taken with Student's t of n - 1. With one prompt nothing is known of the others: [0, 1].
    """
    numerator, denominator = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    total = float(denominator.sum())
    positions = round(total)
    if positions == 0:
        return Estimate(value=None, low=None, high=None, n=0)
    value = min(1.0, float(numerator.sum()) / total)
    visited = denominator > 0.0
    if np.count_nonzero(visited) < 2:
        return Estimate(value=value, low=0.0, high=1.0, n=positions)
    half = residual_reach(ratio_residuals(numerator[visited], denominator[visited]), level)
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=positions)


def agreement(rounds: Sequence[Drafted]) -> Agreement | None:
    """Whether accept/reject counts agree with Σ min(p, q) at the same positions; None where nothing was visited.

    Given everything before it, a visited position is accepted with probability o = Σ min(p, q). The differences
    between what happened and o are therefore uncorrelated along a text, whatever acceptance does there, and their
    sum has variance Σ o(1 - o): its ratio to that root is nearly normal.
    """
    overlaps = [value for drafted in rounds for value in drafted.overlap[: drafted.visited]]
    if not overlaps:
        return None
    difference = sum(drafted.accepted for drafted in rounds) - math.fsum(overlaps)
    variance = math.fsum(value * (1.0 - value) for value in overlaps)
    z = difference / math.sqrt(variance) if variance > 1e-6 else 0.0
    return Agreement(z=z, p_value=min(1.0, 2.0 * float(stats.norm.sf(abs(z)))))


def task_acceptance(runs: Sequence[PromptRun], prompts_sha256: str, level: float = LEVEL) -> TaskAcceptance:
    """Everything that a profile holds of one task."""
    each = [run.rounds for run in runs]
    rounds = [drafted for run in each for drafted in run]
    visited = [sum(d.visited for d in run) for run in each]
    accepted = [sum(d.accepted for d in run) for run in each]
    overlaps = [math.fsum(math.fsum(d.overlap[: d.visited]) for d in run) for run in each]
    ratios = [math.fsum(math.fsum(d.ratio) for d in run) for run in each]
    drafted = [sum(d.length for d in run) for run in each]
    longest = max((d.length for d in rounds), default=0)
    return TaskAcceptance(
        prompts=len(runs),
        prompts_sha256=prompts_sha256,
        drafted=sum(drafted),
        by_counts=_at_least_binomial(clustered(accepted, visited, level), sum(accepted), level),
        by_overlap=clustered(overlaps, visited, level),
        agreement=agreement(rounds),
        target_text_overlap=clustered(
            [math.fsum(run.text_overlap) for run in runs], [len(run.text_overlap) for run in runs], level
        ),
        all_drafted_ratio=clustered(ratios, drafted, level),
        over_prompts=_spread(accepted, visited),
        all_drafted_over_prompts=_spread(ratios, drafted),
        curve=curve_of_counts(
            [sum(d.visited >= place for d in rounds) for place in range(1, longest + 1)],
            [sum(d.accepted >= place for d in rounds) for place in range(1, longest + 1)],
            level,
        ),
    )


def payload_acceptance(runs: Sequence[PromptRun], column: int, level: float = LEVEL) -> Estimate:
    """Acceptance at visited positions for one column of `PromptRun.replayed`."""
    return clustered([run.replayed[column][1] for run in runs], [run.replayed[column][0] for run in runs], level)


def _spread(sums: Sequence[float], counts: Sequence[float]) -> Spread | None:
    means = [value / count for value, count in zip(sums, counts, strict=True) if count]
    if not means:
        return None
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else 0.0
    return Spread(mean=min(1.0, float(np.mean(means))), std=deviation, prompts=len(means))


def _at_least_binomial(estimate: Estimate, accepted: int, level: float) -> Estimate:
    """Never narrower than for independent trials: prompts that agree by chance say no more than their counts."""
    if estimate.low is None or estimate.high is None:
        return estimate
    low, high = proportion_interval(accepted, estimate.n, level)
    return estimate.model_copy(update={"low": min(low, estimate.low), "high": max(high, estimate.high)})
