"""What it is worth to know the acceptance of each prompt before its first round."""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray
from msopt.evaluation import score, scoring_correction
from msopt.many import solve_many
from msopt.model.acceptance import Acceptance
from msopt.model.control import Control
from msopt.model.problems import KINDS, Problem
from msopt.model.scenario import Scenario
from msopt.model.validation import MOST_SAMPLES, check_whole
from msopt.modes.expected import DEFAULT_SAMPLES
from msopt.numerics.intervals import LEVEL, mean_interval
from msopt.solution import Solution
from msopt.solve import solve
from msopt.uncertain.prompt_laws import BetaPrompts, PromptLaw


@dataclass(frozen=True, eq=False)
class Foregone:
    """One control against the best of each prompt, S prompts with known acceptance.

    Attributes
    ----------
    best, bound : arrays, shape (S,)
        The goodput of the control that was found for the prompt, and what none exceeds [token/s].
    held : array, shape (S,)
        The goodput of the one control on it [token/s].
    """

    best: FloatArray
    bound: FloatArray
    held: FloatArray

    @property
    def gain(self) -> FloatArray:
        """What knowing adds to each prompt, shape (S,) [token/s]."""
        return np.asarray(self.best - self.held)


@dataclass(frozen=True, eq=False)
class ValueOfKnowing:
    """The long-run goodput with and without knowledge of each prompt, where prompts last equally long.

    Attributes
    ----------
    planned : Solution
        The best control for the mixture law; its goodput is the exact mean over prompts.
    drawn : Foregone
        That control against the best of each drawn prompt.
    """

    planned: Solution
    drawn: Foregone

    @property
    def value(self) -> float:
        """Mean of the paired differences [token/s]."""
        return float(np.mean(self.drawn.gain))

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Student's interval of that mean, of two prompts or more [token/s]."""
        return mean_interval(self.drawn.gain, level)


def foregone(scenario: Scenario, control: Control, acceptance: FloatArray) -> Foregone:
    """A control against the best of each prompt; ParameterError for acceptances outside [0, 1], or none.

    Parameters
    ----------
    scenario : Scenario
        Its own acceptance is not looked at.
    control : Control
    acceptance : array, shape (S, K)
        Of every device on every prompt [1].
    """
    known = [scenario.replace(acceptance=Acceptance.of(prompt)) for prompt in acceptance]
    best = solve_many(known, control.problem)
    correction = None
    if KINDS[control.problem].corrects:  # what a rejected set takes does not depend on the acceptance
        correction = scoring_correction(scenario, control.mode_rule, samples=DEFAULT_SAMPLES, seed=0)
    held = np.array([score(prompt, control, correction).goodput for prompt in known])
    return Foregone(best.goodput, best.bound, held)


def value_of_knowing(
    scenario: Scenario,
    law: PromptLaw | None = None,
    *,
    problem: Problem = "heterogeneous",
    prompts: int = 100,
    seed: int = 0,
) -> ValueOfKnowing:
    """E[G*(alpha)], solved anew for each prompt, against the goodput of the best control for the mixture law.

    Prompts count by the time that they last. On no prompt has a control more than the best of that prompt, so the value
    is never negative but for what the search for whole lengths misses, which `bound` limits.

    Parameters
    ----------
    scenario : Scenario
    law : PromptLaw, optional
        By default the Beta laws of the scenario's devices.
    problem : "homogeneous", "heterogeneous" or "modes"
    prompts, seed : int
        Prompts that are drawn, at least two, and the seed of numpy's default generator.

    Raises
    ------
    ParameterError
        Where no law is given and a device of the scenario has no Beta law; for a number out of range.
    """
    check_whole("prompts", prompts, 2, MOST_SAMPLES)
    check_whole("seed", seed, 0)
    law = BetaPrompts.of(scenario) if law is None else law
    mixture = law.mixture(scenario.length_limits(problem)[1])
    planned = solve(scenario.replace(acceptance=mixture), problem)
    assert planned.control is not None
    drawn = law.draw(np.random.default_rng(seed), prompts)
    return ValueOfKnowing(planned, foregone(scenario, planned.control, drawn))
