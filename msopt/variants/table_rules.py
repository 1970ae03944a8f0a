"""What limits do to a table of actions: filters, changes of the bandwidth that an action needs, linear rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray, numbers
from msopt.errors import ParameterError
from msopt.model.scenario import Scenario
from msopt.variants.action_table import ActionTable

BandwidthMap = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class LinearRow:
    """A sum over devices that is at most a bound.

    Attributes
    ----------
    name : str
    amount : array, shape (A, K)
        What each action takes of it.
    bound : float
    """

    name: str
    amount: FloatArray
    bound: float


@dataclass(frozen=True, eq=False)
class RoundLine:
    """A number of every action that changes with the round: `constant` + `per_second` T, shapes (A, K)."""

    constant: FloatArray
    per_second: FloatArray

    def at(self, round_s: FloatArray | float, chosen: tuple[Any, Any] | None = None) -> FloatArray:
        """Its values in rounds of so many seconds, of all actions or of the chosen ones."""
        if chosen is None:
            return np.asarray(self.constant + self.per_second * round_s)
        return np.asarray(self.constant[chosen] + self.per_second[chosen] * round_s)


class TableRules:
    """Collects what limits say of one table; each method is one way to limit, and all of them hold.

    Attributes
    ----------
    scenario : Scenario
    table : ActionTable
    allowed : array of bool, shape (A, K)
        The actions that are left, whatever the round.
    rows : list of LinearRow
    spares : list of RoundLine
        At least 0 for the actions that a round allows.
    airtimes : list of RoundLine
        The longest times for sending [s].
    least_deadline_s : float
        No deadline is sooner [s].
    whose : str
        The limit that is speaking, as messages call it.
    """

    def __init__(self, scenario: Scenario, table: ActionTable) -> None:
        self.scenario = scenario
        self.table = table
        self.allowed = table.allowed.copy()
        self.rows: list[LinearRow] = []
        self.spares: list[RoundLine] = []
        self.airtimes: list[RoundLine] = []
        self.least_deadline_s = 0.0
        self.whose = ""
        self._maps: list[BandwidthMap] = []

    # What limits call; every array may be anything that numpy makes one of shape (A, K).

    def forbid(self, actions: Any) -> None:
        """Actions that no control may have."""
        self.allowed &= self._full(actions) == 0.0

    def at_most(self, name: str, amount: Any, bound: float) -> None:
        """The amounts of the chosen actions are at most a bound in sum."""
        self.rows.append(LinearRow(name, self._full(amount), self._finite(bound)))

    def at_least_per_second(self, amount: Any, rate: Any) -> None:
        """An action's amount over the round time is at least a rate of at least 0."""
        self.spares.append(RoundLine(self._full(amount), -self._full(rate)))

    def airtime(self, longest_s: Any, of_round: Any = 0.0) -> None:
        """An action sends for at most so many seconds, plus a part (at least 0) of the round."""
        self.airtimes.append(RoundLine(self._full(longest_s), self._full(of_round)))

    def bandwidth(self, changed: BandwidthMap) -> None:
        """What a device has to have [Hz] where its bits need so much, shapes (..., K).

        It must not fall where the need grows, nor be below the need; it is infinite where no bandwidth will do.
        """
        self._maps.append(partial(_changed, changed, self.whose))

    def not_before(self, deadline_s: float) -> None:
        """The drafts are waited for until a deadline, though all be there before."""
        self.least_deadline_s = max(self.least_deadline_s, self._finite(deadline_s))

    def _full(self, values: Any) -> FloatArray:
        """Numbers, or truth values as 0 and 1, for every action of every device."""
        given = np.asarray(values)
        given = numbers(given * 1.0 if given.dtype.kind == "b" else values, f"{self.whose}: what it tells the table")
        try:
            full = np.broadcast_to(given, self.table.shape)
        except ValueError:
            raise ParameterError(
                f"{self.whose}: what it tells the table has shape {given.shape}; {self.table.shape} is needed"
            ) from None
        if not np.all(np.isfinite(full[self.table.allowed])):
            raise ParameterError(f"{self.whose} puts a number that is not finite into the table of actions")
        return full

    def _finite(self, value: Any) -> float:
        """One number."""
        number = numbers(value, f"{self.whose}: what it tells the table")
        if number.shape != () or not np.isfinite(number):
            raise ParameterError(f"{self.whose} puts a number that is not finite into the table of actions")
        return float(number)

    # What the search calls.

    @property
    def plain(self) -> bool:
        """Whether an action needs the bandwidth that its bits need, and no more."""
        return not (self._maps or self.airtimes)

    def kept(self, round_s: float) -> BoolArray:
        """The actions that a round of so many seconds, or a shorter one, allows, shape (A, K)."""
        allowed: BoolArray = self.allowed
        for spare in self.spares:
            allowed = allowed & (spare.at(round_s) >= -_ROUND_OFF * np.abs(spare.constant))
        return allowed

    def keeps(self, round_s: FloatArray, chosen: tuple[Any, Any]) -> BoolArray:
        """Whether rounds of n lengths, shape (n, 1), allow all of their chosen actions, shape (n,)."""
        good: BoolArray = np.all(self.allowed[chosen], axis=-1)
        for spare in self.spares:
            short = spare.at(round_s, chosen) < -_ROUND_OFF * np.abs(spare.constant[chosen])
            good = good & ~np.any(short, axis=-1)
        for row in self.rows:
            used = np.sum(row.amount[chosen], axis=-1)
            good = good & (used <= row.bound + _ROUND_OFF * max(1.0, abs(row.bound)))
        return good

    def airtime_s(
        self, left_s: FloatArray, round_s: FloatArray | float, chosen: tuple[Any, Any] | None = None
    ) -> FloatArray:
        """The time for sending where so much is left before the deadline [s]."""
        for one in self.airtimes:
            left_s = np.minimum(left_s, one.at(round_s, chosen))
        return left_s

    def needed_hz(self, bandwidth_hz: FloatArray, sends: BoolArray) -> FloatArray:
        """What devices have to have where their bits need so much; those that send nothing have nothing."""
        for _ in self._maps:  # until all agree, whatever their order: a whole block within a cap, say
            for one in self._maps:
                bandwidth_hz = np.where(sends, one(bandwidth_hz), bandwidth_hz)
        return bandwidth_hz


def _changed(changed: BandwidthMap, whose: str, bandwidth_hz: FloatArray) -> FloatArray:
    """What a limit makes of bandwidths: as many, and none below what the bits need."""
    answer = np.asarray(changed(bandwidth_hz))
    if answer.shape != bandwidth_hz.shape or not np.all(answer >= bandwidth_hz * (1.0 - _NEED)):
        raise ParameterError(
            f"{whose}: what it asks of bandwidths is below what the bits need, no number, or of another shape"
        )
    return answer


_NEED = 1e-9

_ROUND_OFF = 1e-12
