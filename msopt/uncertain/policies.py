"""Who plans: one control for all time, the posterior of every device's acceptance, or optimism (a bandit)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.many import solve_many
from msopt.model.acceptance import Acceptance
from msopt.model.control import Control
from msopt.model.scenario import Scenario
from msopt.uncertain.online import Told
from msopt.uncertain.prompt_laws import BetaPrompts


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of S prompts: tokens accepted and drafts rejected, shapes (S, K), in some rounds of each."""

    accepted: IntArray
    rejected: IntArray
    rounds: int


Belief = Callable[[Seen], list[Acceptance]]
"""The laws to plan with, one for each prompt."""


class Kept:
    """One control in every round of every prompt, whatever is seen."""

    def __init__(self, control: Control, prompts: int) -> None:
        self._lengths = np.tile(control.draft_length, (prompts, 1))
        self._share = np.tile(control.bandwidth_hz, (prompts, 1))

    def plan(self) -> tuple[IntArray, FloatArray]:
        """The control."""
        return self._lengths, self._share

    def learn(self, told: Told) -> None:
        """Nothing."""


class Learner:
    """Begins with one control; then plans the best for what is believed after all that was seen, prompt by prompt."""

    def __init__(self, scenario: Scenario, belief: Belief, first: Control, prompts: int) -> None:
        self._scenario, self._belief, self._first = scenario, belief, Kept(first, prompts)
        none = np.zeros((prompts, scenario.device_count), dtype=np.int64)
        self.seen = Seen(none, none, 0)

    def plan(self) -> tuple[IntArray, FloatArray]:
        """Solved anew, all prompts in one call."""
        if self.seen.rounds == 0:
            return self._first.plan()
        found = solve_many([self._scenario.replace(acceptance=law) for law in self._belief(self.seen)])
        return found.draft_length, found.bandwidth_hz

    def learn(self, told: Told) -> None:
        """Add the counts."""
        seen = self.seen
        self.seen = Seen(seen.accepted + told.accepted, seen.rejected + told.rejected, seen.rounds + told.rounds)


def posterior_mean(prior: BetaPrompts) -> Belief:
    """Certainty equivalence: the geometric law of the posterior's mean.

    Every draft tells something of its own device's acceptance whatever its length, so nothing is tried only to learn;
    with a minimum length of 0 a device that is left out tells nothing, and may stay left out wrongly.
    """

    def belief(seen: Seen) -> list[Acceptance]:
        return [Acceptance.of(mean) for mean in prior.after(seen.accepted, seen.rejected).mean]

    return belief


def posterior_law(prior: BetaPrompts) -> Belief:
    """The posterior's mixture law: the control with the best expected goodput in the next round."""

    def belief(seen: Seen) -> list[Acceptance]:
        after = prior.after(seen.accepted, seen.rejected)
        return [Acceptance.of(mean, std) for mean, std in zip(after.mean, after.std, strict=True)]

    return belief


def upper_confidence(seen: Seen) -> list[Acceptance]:
    """Optimism by device: the acceptances' upper confidence bounds, accepted/seen + sqrt(1.5 ln(rounds)/seen).

    CUCB of Chen, Wang and Yuan 2013 (*Combinatorial multi-armed bandit*): what an optimal solver does with the upper
    bounds of the arms' means, because the goodput rises with each of them. A device that was never seen counts as 1.
    """
    trials = seen.accepted + seen.rejected
    of = np.maximum(trials, 1)
    bound = seen.accepted / of + np.sqrt(1.5 * np.log(max(seen.rounds, 1)) / of)
    return [Acceptance.of(prompt) for prompt in np.where(trials > 0, np.minimum(bound, 1.0), 1.0)]
