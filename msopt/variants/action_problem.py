"""One table, one utility and some limits: what a choice needs, when it is there, and what it is worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, greatest
from msopt.formulas.split import equal_latency, equal_latency_split
from msopt.model.budget import within_budget
from msopt.model.objective import Utility
from msopt.model.scenario import Scenario
from msopt.numerics.margins import FITS
from msopt.variants.action_table import ActionTable
from msopt.variants.table_rules import TableRules

_LATEST = 1e12  # times the first deadline: whoever is not there by then never is
_HALVINGS = 80  # of a deadline whose bandwidths may jump; a float has no more digits
_AT_ONCE = 2_000_000  # numbers of choices scored in one go


@dataclass(frozen=True, eq=False)
class Outcome:
    """What n choices give.

    Attributes
    ----------
    deadline_s, round_s : arrays, shape (n,)
        The shortest deadline that the choice allows, and the round that follows; infinite where there is none.
    value : array, shape (n,)
        The utility; -inf where a limit is broken.
    """

    deadline_s: FloatArray
    round_s: FloatArray
    value: FloatArray


class ActionProblem:
    """Every question about choices of one action for each device.

    Parameters
    ----------
    scenario : Scenario
        Its server and its uplink.
    table : ActionTable
    utility : Utility
    rules : TableRules
        Of that table.
    """

    def __init__(self, scenario: Scenario, table: ActionTable, utility: Utility, rules: TableRules) -> None:
        self.scenario = scenario
        self.table = table
        self.utility = utility
        self.rules = rules
        self.band_hz = scenario.uplink_bandwidth_hz
        self.base_s = scenario.verify_base_s
        self.ready_s = table.ready_s
        self.own_s = table.verify_s(scenario)
        self.sends = table.bits > 0.0
        self.shortest_round_s = self._shortest_round()
        self._everyone = np.arange(table.shape[1])

    def chosen(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """The index of chosen entries, for rows of shape (n, K)."""
        return choice, np.broadcast_to(self._everyone, choice.shape)

    def _shortest_round(self) -> float:
        """No round that yields anything is shorter [s]; above 0 also where verification takes no time of a batch."""
        sent_s = self.table.bits / self.scenario.uplink.rate(np.asarray(self.band_hz))
        alone = (self.own_s + self.ready_s + sent_s)[self.table.allowed]
        return self.base_s or float(np.min(alone, where=alone > 0.0, initial=np.inf))

    def need_hz(self, deadline_s: float, longest_round_s: float) -> FloatArray:
        """What every action has to have for a deadline, in a round of at most so many seconds [Hz], shape (A, K)."""
        left = deadline_s - self.ready_s
        return self._need(self.rules.airtime_s(left, longest_round_s), left, self.table.bits, self.sends)

    def _need(self, airtime_s: FloatArray, left_s: FloatArray, bits: FloatArray, sends: BoolArray) -> FloatArray:
        """From the times for sending; who sends nothing needs its own work to be done in time, and nothing else."""
        some = airtime_s > 0.0
        with np.errstate(over="ignore"):  # no bandwidth will do for next to no time
            rate = np.where(some & sends, bits / np.where(some, airtime_s, 1.0), 0.0)
            needed = self.rules.needed_hz(self.scenario.uplink.bandwidth(rate), sends)
        return np.where(np.where(sends, some, left_s >= 0.0), np.where(sends, needed, 0.0), np.inf)

    def choice_need_hz(self, choice: IntArray, deadline_s: FloatArray) -> FloatArray:
        """The same for chosen actions, shapes (n, K) and (n, 1)."""
        at = self.chosen(choice)
        left = deadline_s - self.ready_s[at]
        round_s = deadline_s + self.base_s + np.sum(self.own_s[at], axis=-1, keepdims=True)
        airtime = self.rules.airtime_s(left, round_s, at)
        return self._need(airtime, left, self.table.bits[at], self.sends[at])

    def outcomes(self, choice: IntArray) -> Outcome:
        """The shortest deadline of choices, shape (n, K), and what they are worth then.

        All limits but those on bandwidth and airtime, which a longer deadline eases, are easier in a shorter round.
        """
        rows = max(1, _AT_ONCE // choice.shape[1])
        if len(choice) > rows:
            parts = [self.outcomes(choice[start : start + rows]) for start in range(0, len(choice), rows)]
            return Outcome(*(np.concatenate([getattr(part, name) for part in parts]) for name in _PARTS))
        at = self.chosen(choice)
        deadline = self._shortest_deadline(choice)[:, None]
        round_s = deadline + self.base_s + np.sum(self.own_s[at], axis=-1, keepdims=True)
        there = np.isfinite(round_s[:, 0])
        there &= round_s[:, 0] > 0.0  # nobody in a round of no time yields nothing
        good = there & self.rules.keeps(np.where(there[:, None], round_s, 1.0), at)
        tokens = np.where(good[:, None], self.table.tokens[at], 1.0)
        value = self.utility.value(tokens, np.where(good, round_s[:, 0], 1.0))
        return Outcome(deadline[:, 0], round_s[:, 0], np.where(good, value, -np.inf))

    def _shortest_deadline(self, choice: IntArray) -> FloatArray:
        at = self.chosen(choice)
        bits, busy = self.table.bits[at], self.ready_s[at]
        plain = equal_latency(busy, bits, self.scenario.uplink, self.band_hz)
        deadline = np.maximum(
            np.asarray(plain).reshape(len(choice), 1), np.maximum(greatest(busy), self.rules.least_deadline_s)
        )
        if self.rules.plain:
            return deadline[:, 0]
        low, high = deadline, np.maximum(deadline, np.finfo(float).tiny)
        fits = self._fits(choice, high)
        step = 2.0
        while not np.all(fits) and step < _LATEST:
            low = np.where(fits, low, high)
            high = np.where(fits, high, deadline * step + (deadline == 0.0) * step)
            fits, step = self._fits(choice, high), step * step
        never = ~fits[:, 0]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if np.all((middle <= low) | (middle >= high)):
                break
            early = self._fits(choice, middle)
            low, high = np.where(early, low, middle), np.where(early, middle, high)
        at_once = self._fits(choice, deadline)[:, 0]
        return np.where(never, np.inf, np.where(at_once, deadline[:, 0], high[:, 0]))

    def _fits(self, choice: IntArray, deadline_s: FloatArray) -> BoolArray:
        needed = self.choice_need_hz(choice, deadline_s)
        return np.asarray(np.sum(needed, axis=-1, keepdims=True) <= self.band_hz * FITS)

    def shares_hz(self, choice: IntArray, deadline_s: float) -> FloatArray:
        """The bandwidths of one choice for a deadline [Hz], shape (K,), within the band to the last digit."""
        needed = self.choice_need_hz(choice[None, :], np.array([[deadline_s]]))[0]
        if self.rules.plain and not np.all(np.isfinite(needed)):  # the deadline has no digit left for sending
            at = choice, self._everyone
            return equal_latency_split(self.ready_s[at], self.table.bits[at], self.scenario.uplink, self.band_hz)[1]
        return within_budget(needed, self.band_hz)


_PARTS: tuple[Any, ...] = ("deadline_s", "round_s", "value")
