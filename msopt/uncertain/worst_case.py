"""Acceptance of which only an interval is known: the control with the best guaranteed goodput, and its price."""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import FloatArray, vector
from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.model.problems import Problem
from msopt.model.scenario import Scenario
from msopt.model.validation import MOST_SAMPLES, check_whole
from msopt.solution import Solution
from msopt.solve import solve
from msopt.uncertain.knowing import Foregone, foregone


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The control with the greatest least goodput over a box of acceptances.

    Attributes
    ----------
    low, high : arrays, shape (K,)
        The ends of each device's acceptance [1].
    solution : Solution
        The best control at `low`: its goodput there is guaranteed, and its bound holds for every control's guarantee.
    """

    low: FloatArray
    high: FloatArray
    solution: Solution

    def at(self, acceptance: FloatArray) -> Foregone:
        """The control against the best at acceptances of shape (S, K)."""
        assert self.solution.control is not None
        return foregone(self.solution.scenario, self.solution.control, acceptance)

    @property
    def at_middle(self) -> Foregone:
        """The control against the best in the middle of the box: the price where the middle is the truth."""
        return self.at(0.5 * (self.low + self.high)[None, :])

    def over_box(self, prompts: int = 100, seed: int = 0) -> Foregone:
        """The control against knowing, prompts drawn uniformly from the box."""
        check_whole("prompts", prompts, 1, MOST_SAMPLES)
        check_whole("seed", seed, 0)
        drawn = np.random.default_rng(seed).uniform(self.low, self.high, (prompts, self.low.size))
        return self.at(drawn)


def worst_case(scenario: Scenario, low: object, high: object, problem: Problem = "heterogeneous") -> WorstCase:
    """Maximise over controls the least goodput over low_k <= alpha_k <= high_k.

    That is the problem at alpha = low. Take a control: lengths, bandwidths, rule of the modes. The tokens of a device,
    E_k = 1 + alpha_k + ... + alpha_k^L_k, rise with its own alpha_k. The time of a round does not depend on alpha in
    [MS]'s problems. In [UD]'s it falls: each rejection probability 1 - alpha_k^L_k falls, and the expected correction
    never falls with any of them, because one rejected device more leaves smaller shares of bands and power to others
    and is one more to wait for. So the least goodput of every control is at one and the same corner of the box, and
    the best control there has the greatest. The same holds for any laws of which one has the lower S(l) everywhere.

    Parameters
    ----------
    scenario : Scenario
        Its own acceptance is not looked at.
    low, high : numbers, shape (K,)
        The ends of each device's acceptance [1].
    problem : "homogeneous", "heterogeneous" or "modes"

    Raises
    ------
    ParameterError
        Where there is not one end for each device, an end is outside [0, 1], or low is above high.
    """
    ends = vector(low, "low"), vector(high, "high")
    for name, values in zip(("low", "high"), ends, strict=True):
        if values.size != scenario.device_count:
            raise ParameterError(f"{name} has {values.size} values; {scenario.device_count} are needed")
        scenario.replace(acceptance=Acceptance.of(values))  # says which device lies outside [0, 1]
    above = np.flatnonzero(ends[0] > ends[1])
    if above.size:
        k = int(above[0])
        raise ParameterError(
            f"{scenario.device_label(k)}: the interval of the acceptance begins at {ends[0][k]:g}, above its end, "
            f"{ends[1][k]:g}"
        )
    return WorstCase(*ends, solve(scenario.replace(acceptance=Acceptance.of(ends[0])), problem))
