"""What each thing that the formula leaves out costs: switched on alone, on the same luck (ours)."""

from dataclasses import dataclass

from msopt.emulation.event_loop import emulate
from msopt.emulation.left_out import FORMULA, PROMPT_ROUNDS, LeftOut
from msopt.emulation.played_rounds import PlayedRounds, batch_starts
from msopt.evaluation import evaluate
from msopt.model.control import Control
from msopt.model.scenario import Scenario
from msopt.numerics.intervals import LEVEL, residual_reach

TOGETHER = "all of these at once"
"""What several effects are called."""


@dataclass(frozen=True)
class EffectCost:
    """What one effect costs.

    Attributes
    ----------
    effect : str
    goodput : float
        Of the play that has it [token/s].
    cost, low, high : float
        By how much that is less than the play of the same seed without it, as a share of the formula's goodput [1];
        below 0 where it gains. The ends of the interval are over batches of rounds of both plays together, so that
        the luck that they share cancels. Where a device drops out half of the play is unlike the other: the
        interval is then wider than it need be.
    """

    effect: str
    goodput: float
    cost: float
    low: float
    high: float


def attribution(
    scenario: Scenario,
    control: Control,
    rounds: int,
    left_out: LeftOut,
    *,
    prompt_rounds: int = PROMPT_ROUNDS,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[EffectCost, ...]:
    """The cost of every effect that `left_out` asks for, alone; of several also all at once.

    That need not be the sum of them: what hides behind the slowest device costs once.

    Parameters
    ----------
    scenario, control, rounds, left_out, prompt_rounds, seed
        As in `emulate`.
    level : float
        Of the intervals.

    Raises
    ------
    ParameterError
        As `emulate` does, and where the rounds are too few for an interval.
    """
    predicted = evaluate(scenario, control)

    def play(with_it: LeftOut) -> PlayedRounds:
        return emulate(
            scenario, control, rounds, left_out=with_it, prompt_rounds=prompt_rounds, seed=seed, predicted=predicted
        )

    effects = dict(left_out.each())
    if left_out not in (FORMULA, *effects.values()):
        effects[TOGETHER] = left_out
    plain = play(FORMULA)
    return tuple(effect_cost(name, plain, play(effect), level) for name, effect in effects.items())


def effect_cost(effect: str, plain: PlayedRounds, played: PlayedRounds, level: float = LEVEL) -> EffectCost:
    """What the play with an effect costs against the one of the same seed and length without it."""
    starts = batch_starts(plain.rounds, plain.correlated_rounds, played.correlated_rounds)
    reach = residual_reach(played.residuals(starts) - plain.residuals(starts), level) / plain.predicted
    cost = (plain.goodput - played.goodput) / plain.predicted
    return EffectCost(effect, played.goodput, cost, cost - reach, cost + reach)
