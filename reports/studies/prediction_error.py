"""How sure a prediction is that rests on a measured profile: its acceptance curves have errors, too."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from msopt.arrays import IntArray
from msopt.measured.task_acceptance import TaskAcceptance
from msopt.numerics.intervals import LEVEL, proportion_interval


def prediction_reach(tasks: Sequence[TaskAcceptance], *plays: tuple[IntArray, float], over_prompts: bool) -> float:
    """How far the interval of predicted tokens of a round reaches, a weighted sum over plays: curves are measured, too.

    Var Σ_l 1[A ≥ l] of a round's accepted tokens A by the curve, over the rounds that the profile had; devices of one
    task share its error, in all plays. For prompts that the profile has not seen as many times that as the interval of
    its acceptance, over prompts, is wider than that of independent trials.

    Parameters
    ----------
    tasks : sequence of K TaskAcceptance
    *plays : pairs of an array of int, shape (K,), and a float
        Draft lengths, and how much the tokens of a round with them count.
    over_prompts : bool
        Whether the prompts are others than the profile's.
    """
    total = 0.0
    for task in {id(task): task for task in tasks}.values():
        mine = np.array([other is task for other in tasks])
        survival = np.array([1.0, *(point.survival for point in task.curve)])
        law = -np.diff([*survival, 0.0])  # of A
        won = sum(
            weight * np.minimum.outer(lengths[mine], np.arange(law.size)).sum(axis=0) for lengths, weight in plays
        )
        variance = float(np.sum(law * won**2) - np.sum(law * won) ** 2) / task.curve[0].visited
        total += variance * (_wider(task) if over_prompts else 1.0)
    return float(ndtri(0.5 + LEVEL / 2.0) * np.sqrt(total))


def _wider(task: TaskAcceptance) -> float:
    """By how much the variance over prompts is greater than that of as many independent trials."""
    own = task.by_counts
    if own.low is None or own.high is None or own.value is None:
        return 1.0
    low, high = proportion_interval(own.value * own.n, own.n)
    return max(1.0, ((own.high - own.low) / (high - low)) ** 2)
