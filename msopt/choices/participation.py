"""Who takes part in which round: slots, and fairness in the long run by weights that follow what devices got (ours)."""

from dataclasses import dataclass

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.scenario import Scenario
from msopt.model.validation import check_whole
from msopt.numerics.best_first import SearchEffort
from msopt.variants.action_table import ActionTable
from msopt.variants.best_actions import solve_actions
from msopt.variants.capacity_limits import Slots
from msopt.variants.utilities import WeightedSum

EACH_ROUND = SearchEffort(regions=30)
"""Of the search in one round: the next round weighs what a slightly worse choice leaves."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LongRun:
    """Rounds one after another.

    Attributes
    ----------
    served : array of bool, shape (rounds, K)
    draft_length : array of int, shape (rounds, K)
    tokens : array, shape (rounds, K)
        Expected tokens.
    round_s : array, shape (rounds,)
        [s].
    """

    served: BoolArray
    draft_length: IntArray
    tokens: FloatArray
    round_s: FloatArray

    @property
    def device_goodput(self) -> FloatArray:
        """Tokens of each device over the time of all rounds [token/s], shape (K,)."""
        return np.asarray(np.sum(self.tokens, axis=0) / np.sum(self.round_s))

    @property
    def goodput(self) -> float:
        """Of all devices [token/s]."""
        return float(np.sum(self.device_goodput))


def take_turns(scenario: Scenario, slots: int, rounds: int) -> LongRun:
    """Rounds of at most so many devices, each the best for weights that keep the long run proportionally fair.

    A round maximises sum_k g_k/r_k with r_k what device k had per second until then: the gradient of sum_k ln r_k, as a
    proportionally fair scheduler of a cell does (Kushner and Whiting 2004). In the first rounds, before a device was
    served, it counts as if it had had the least of those that were.

    Parameters
    ----------
    scenario : Scenario
        Without slots of its own.
    slots : int
        Devices in a round at most.
    rounds : int
        At least K/slots, so that everyone is served.

    Raises
    ------
    ParameterError
        For numbers out of range.
    """
    count = scenario.device_count
    check_whole("slots", slots, 1, count)
    check_whole("rounds", rounds, -(-count // slots))
    if scenario.slots is not None:
        raise ParameterError("the scenario has slots of its own; give them here alone")
    table = ActionTable.of_lengths(scenario, idle=True)
    everyone = np.arange(count)
    got = np.zeros(count)
    history: list[tuple[IntArray, float]] = []
    for _ in range(rounds):
        starts = np.array([history[-1][0]]) if history else None
        weights = WeightedSum(_weights(got))
        solution = solve_actions(scenario, table, weights, [Slots(slots)], effort=EACH_ROUND, starts=starts)
        history.append((solution.choice, float(solution.round.round_s)))
        got = got + table.tokens[solution.choice, everyone]
    choices = np.array([choice for choice, _ in history])
    return LongRun(
        served=table.verified[choices, everyone] > 0.0,
        draft_length=table.drafted[choices, everyone].astype(np.int64),
        tokens=table.tokens[choices, everyone],
        round_s=np.array([length_s for _, length_s in history]),
    )


def _weights(got: FloatArray) -> FloatArray:
    """One over what each device had, in units of their mean; who had nothing has ten times the least had by others."""
    if not np.any(got > 0.0):
        return np.ones(got.size)
    least = float(np.min(got[got > 0.0]))
    had = np.where(got > 0.0, got, 0.1 * least)
    return np.asarray(np.mean(had) / had)
