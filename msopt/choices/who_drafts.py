"""Who drafts: the devices, or the server for all of them; how many each way serves, and at which round trip they meet.

A server that drafts needs no upload and no round trip within a round, and shares its own time between drafting and
verifying. It drafts for the whole batch in one step, or for one device after another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from msopt.arrays import IntArray
from msopt.errors import ParameterError, describe
from msopt.lengths.homogeneous import best_common_goodput
from msopt.model.chosen_devices import chosen_devices
from msopt.model.scenario import Scenario
from msopt.model.validation import check_whole
from msopt.solve import solve

ServerDrafts = Literal["batched", "one-by-one"]
LONGEST_TRIP_S = 100.0
_HALVINGS = 40


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where devices that draft and a server that drafts deliver as much.

    Attributes
    ----------
    round_trip_s : float or None
        Of every device [s]: with a shorter one drafting on the devices delivers more. 0 where it never does, None
        where it still does at `LONGEST_TRIP_S`.
    distributed, colocated : float
        Goodput without any round trip, and of the server that drafts [token/s].
    """

    round_trip_s: float | None
    distributed: float
    colocated: float


def colocated_goodput(scenario: Scenario, how: ServerDrafts) -> float:
    """Goodput of a server that drafts for all devices at its best common length [token/s].

    Parameters
    ----------
    scenario : Scenario
        `server.draft_s_per_token` is a step for the whole batch, or, one by one, a step for one device.
    how : "batched" or "one-by-one"

    Raises
    ------
    ParameterError
        Where the scenario has no such time, or for another word.
    """
    step = scenario.server_draft_s_per_token
    if step is None:
        raise ParameterError("a server that drafts needs server.draft_s_per_token in the scenario")
    if how not in ("batched", "one-by-one"):
        raise ParameterError(f"a server drafts batched or one-by-one, not {describe(how)}")
    each = step if how == "batched" else step * scenario.device_count
    return best_common_goodput(scenario, each, (0, scenario.max_draft_length))


def distributed_goodput(scenario: Scenario) -> float:
    """The best goodput of problem `heterogeneous`, where devices draft, their round trips included [token/s]."""
    return solve(scenario).goodput


def crossing(scenario: Scenario, how: ServerDrafts = "batched") -> Crossing:
    """The round trip at which one way passes the other; `round_trip_s` of the scenario is not looked at."""
    colocated = colocated_goodput(scenario, how)

    def distributed(trip_s: float) -> float:
        return distributed_goodput(scenario.replace(round_trip_s=np.full(scenario.device_count, trip_s)))

    at_once = distributed(0.0)
    if at_once <= colocated:
        return Crossing(round_trip_s=0.0, distributed=at_once, colocated=colocated)
    if distributed(LONGEST_TRIP_S) > colocated:
        return Crossing(round_trip_s=None, distributed=at_once, colocated=colocated)
    low, high = 0.0, LONGEST_TRIP_S
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distributed(middle) > colocated else (low, middle)
    return Crossing(round_trip_s=high, distributed=at_once, colocated=colocated)


def capacity(
    scenario: Scenario, goodput_tokens_per_s: float, served: Callable[[Scenario], float], most: int = 1000
) -> int:
    """The most devices, alike the scenario's in turn, of which each has a goodput on average; 0 where one has not.

    Parameters
    ----------
    scenario : Scenario
        Its devices are repeated in order: a cell of n has its first n, or all of them and the first again.
    goodput_tokens_per_s : float
        Of each device [token/s]: the goodput of all over their number.
    served : callable
        The goodput of all devices of a scenario [token/s], such as `distributed_goodput`.
    most : int
        More are not tried.
    """
    check_whole("most", most, 1)

    def enough(count: int) -> bool:
        return served(repeated(scenario, count)) >= goodput_tokens_per_s * count

    if not enough(1):
        return 0
    low, high = 1, 2
    while high <= most and enough(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def repeated(scenario: Scenario, count: int) -> Scenario:
    """A scenario of so many devices, those of another in turn."""
    take: IntArray = np.arange(count) % scenario.device_count
    return chosen_devices(scenario, take, [f"device-{k + 1}" for k in range(count)])
