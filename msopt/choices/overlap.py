"""Rounds that overlap: the server verifies group after group while the others draft (pipelining; ours).

In a cycle of C seconds every group drafts and sends until D_g, is verified in T_g, and starts again: D_g + T_g <= C for
each group, and sum_g T_g <= C for the server. Every device has one round under way, and its share of the band for the
whole cycle, so that the goodput is sum_k E_k/C.

With c1 = 0 and groups of equal size n = K/N it does not matter who is in which group: all have D = C - (c0 + c2 n), and
the problem is the synchronous one with c0 + c2 n in place of c0 + c2 K, in rounds of at least N c0 + c2 K.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.budget import within_budget
from msopt.model.control import Control
from msopt.model.scenario import Scenario
from msopt.model.validation import check_whole
from msopt.numerics.best_first import SearchEffort
from msopt.solve import solve
from msopt.variants.action_table import ActionTable
from msopt.variants.best_actions import solve_actions
from msopt.variants.capacity_limits import EarliestDeadline

LARGEST_PARTITIONED = 8
"""Devices up to which every partition is tried where groups differ."""
_HALVINGS = 60
_ROUNDS = 200
_STEPS = (-2, -1, 1, 2)
_IMPROVED = 32  # of all partitions with the lengths to start from, those with most goodput
_MARGIN = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class OverlapSolution:
    """A cycle of N groups.

    Attributes
    ----------
    scenario : Scenario
    group : array of int, shape (K,)
        Whom the server verifies together, 0 to N - 1.
    draft_length : array of int, shape (K,)
    bandwidth_hz : array, shape (K,)
    cycle_s : float
        [s].
    goodput, bound : float
        Tokens per second of all devices, and what no lengths and shares exceed: with c1 = 0 in groups of equal size;
        else in any groups, as if every device were verified alone, which is less tight.
    server_busy : float
        The part of the cycle in which the server verifies.
    """

    scenario: Scenario
    group: IntArray
    draft_length: IntArray
    bandwidth_hz: FloatArray
    cycle_s: float
    goodput: float
    bound: float
    server_busy: float

    @property
    def control(self) -> Control:
        """Lengths and shares alone; played in synchronous rounds they give another goodput."""
        return Control(problem="heterogeneous", draft_length=self.draft_length, bandwidth_hz=self.bandwidth_hz)


def solve_overlap(scenario: Scenario, groups: int, effort: SearchEffort | None = None) -> OverlapSolution:
    """The best lengths and shares for groups that overlap; one group is the synchronous round.

    Parameters
    ----------
    scenario : Scenario
        Of the papers' problem: no variant.
    groups : int
        N, at most K. Where groups differ (c1 > 0, or a K that N does not divide) fewer are tried, too.
        Eight devices in four such groups then take more than ten minutes: every partition is improved.
    effort : SearchEffort, optional
        Of the search for lengths.

    Raises
    ------
    ParameterError
        For a number of groups out of range, or a variant.
    """
    check_whole("groups", groups, 1, scenario.device_count)
    if scenario.variant_fields:
        raise ParameterError(f"overlap takes no variant ({', '.join(scenario.variant_fields)})")
    if scenario.verify_per_token_s == 0.0 and scenario.device_count % groups == 0:
        return _equal_groups(scenario, groups, effort)
    return _unlike_groups(scenario, groups, effort)


def _equal_groups(scenario: Scenario, groups: int, effort: SearchEffort | None) -> OverlapSolution:
    count = scenario.device_count
    own_s = scenario.verify_base_s + scenario.verify_per_device_s * count / groups
    busy_s = groups * scenario.verify_base_s + scenario.verify_per_device_s * count
    each = scenario.replace(verify_base_s=own_s, verify_per_device_s=0.0)
    table = ActionTable.of_lengths(each)
    found = solve_actions(each, table, limits=[EarliestDeadline(max(0.0, busy_s - own_s))], effort=effort)
    cycle_s = float(found.round.round_s)
    return OverlapSolution(
        scenario=scenario,
        group=np.arange(count) % groups,
        draft_length=_whole(table, found.choice),
        bandwidth_hz=found.bandwidth_hz,
        cycle_s=cycle_s,
        goodput=found.goodput,
        bound=found.utility_bound,
        server_busy=busy_s / cycle_s,
    )


def _unlike_groups(scenario: Scenario, groups: int, effort: SearchEffort | None) -> OverlapSolution:
    """Moves of one device's length or group, from the bound's lengths and from those of the synchronous round.

    Of few devices every partition is looked at with both, and the best are improved.
    """
    table = ActionTable.of_lengths(scenario)
    synchronous, count = solve(scenario), scenario.device_count
    assert synchronous.control is not None
    assert synchronous.bound is not None
    bound = synchronous.bound
    starts = [synchronous.control.draft_length - scenario.length_limits("heterogeneous")[0]]
    if groups > 1:
        apart, choice = _bound(scenario, table, effort)
        bound, starts = max(bound, apart), [*starts, choice]
    cycle = _Cycle(scenario, table, groups)
    if count <= LARGEST_PARTITIONED:
        group = np.array(list(partitions(count, groups)))
    else:
        group = np.array([np.arange(count) % used for used in range(1, groups + 1)])
    rows, group = np.repeat(np.stack(starts), len(group), axis=0), np.tile(group, (len(starts), 1))
    likely = np.argsort(-cycle.goodput(rows, group), kind="stable")[:_IMPROVED]
    rows, group, goodput = cycle.improved(rows[likely], group[likely])
    best = int(np.argmax(goodput))
    rows, group = rows[best : best + 1], group[best : best + 1]
    cycle_s = cycle.least_cycle_s(rows, group)
    return OverlapSolution(
        scenario=scenario,
        group=group[0],
        draft_length=_whole(table, rows[0]),
        bandwidth_hz=within_budget(cycle.needed_hz(rows, group, cycle_s[:, None])[0], scenario.uplink_bandwidth_hz),
        cycle_s=float(cycle_s[0]),
        goodput=float(goodput[best]),
        bound=max(bound, float(goodput[best])),
        server_busy=float(np.sum(cycle.group_s(rows, group)) / cycle_s[0]),
    )


def _bound(scenario: Scenario, table: ActionTable, effort: SearchEffort | None) -> tuple[float, IntArray]:
    """No cycle of two groups or more has more goodput, and the lengths of that relaxation.

    A device is verified in no less than c0 and its own time, and the server in no less than 2 c0 and all devices' own.
    """
    own = table.verify_s(scenario)
    alone = replace(table, trip_s=table.trip_s + own, verified=np.ones(table.shape))
    each = scenario.replace(verify_per_device_s=0.0, verify_per_token_s=0.0)
    least_busy = 2.0 * scenario.verify_base_s + float(np.sum(np.min(own, axis=0)))
    least = max(0.0, least_busy - scenario.verify_base_s)
    found = solve_actions(each, alone, limits=[EarliestDeadline(least)], effort=effort)
    return found.utility_bound, found.choice


def _whole(table: ActionTable, rows: IntArray) -> IntArray:
    return np.rint(table.drafted[rows, np.arange(rows.size)]).astype(np.int64)


class _Cycle:
    """Cycles of n choices of lengths (rows of the table) and groups, both of shape (n, K)."""

    def __init__(self, scenario: Scenario, table: ActionTable, groups: int) -> None:
        self.scenario = scenario
        self.table = table
        self.groups = groups
        self._own = table.verify_s(scenario)
        self._devices = np.arange(table.shape[1])

    def group_s(self, rows: IntArray, group: IntArray) -> FloatArray:
        """How long each group's verification takes [s], shape (n, N)."""
        member = group[:, :, None] == np.arange(self.groups)
        sums = np.sum(np.where(member, self._own[rows, self._devices][:, :, None], 0.0), axis=1)
        return np.where(np.any(member, axis=1), self.scenario.verify_base_s + sums, 0.0)

    def needed_hz(self, rows: IntArray, group: IntArray, cycle_s: FloatArray) -> FloatArray:
        """What every device needs in cycles of so many seconds, shape (n, 1) [Hz], shape (n, K)."""
        at = rows, self._devices
        verify_s = np.take_along_axis(self.group_s(rows, group), group, axis=1)
        left, bits = cycle_s - verify_s - self.table.ready_s[at], self.table.bits[at]
        some = left > 0.0
        needed = self.scenario.uplink.bandwidth(np.where(some, bits / np.where(some, left, 1.0), 0.0))
        late = np.where(bits > 0.0, ~some, left < 0.0)
        return np.where(late, np.inf, np.where(bits > 0.0, needed, 0.0))

    def least_cycle_s(self, rows: IntArray, group: IntArray) -> FloatArray:
        """The shortest cycles [s], shape (n,)."""
        low = np.sum(self.group_s(rows, group), axis=1, keepdims=True)

        def fits(cycle_s: FloatArray) -> BoolArray:
            used = np.sum(self.needed_hz(rows, group, cycle_s), axis=1, keepdims=True)
            return np.asarray(used <= self.scenario.uplink_bandwidth_hz)

        at_once, high = fits(low), 2.0 * low
        while not np.all(enough := fits(high)):
            high = np.where(enough, high, 2.0 * high)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            early = fits(middle)
            low, high = np.where(early, low, middle), np.where(early, middle, high)
        return np.asarray(np.where(at_once, np.sum(self.group_s(rows, group), axis=1, keepdims=True), high))[:, 0]

    def goodput(self, rows: IntArray, group: IntArray) -> FloatArray:
        """Tokens per second in the shortest cycles, shape (n,)."""
        return np.asarray(np.sum(self.table.tokens[rows, self._devices], axis=1) / self.least_cycle_s(rows, group))

    def improved(self, rows: IntArray, group: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Lengths, groups and goodput after moves of one device at a time, each choice as long as it gains."""
        goodput = self.goodput(rows, group)
        active = np.arange(len(rows))
        for _ in range(_ROUNDS):
            moved = [self._moves(rows[n], group[n]) for n in active]
            scores = self.goodput(
                np.concatenate([one for one, _ in moved]), np.concatenate([other for _, other in moved])
            )
            ends = np.cumsum([len(one) for one, _ in moved])
            gained = []
            for n, (other_rows, other_group), start, end in zip(active, moved, [0, *ends[:-1]], ends, strict=True):
                best = int(np.argmax(scores[start:end]))
                if scores[start + best] > goodput[n] * (1.0 + _MARGIN):
                    rows[n], group[n], goodput[n] = other_rows[best], other_group[best], scores[start + best]
                    gained.append(n)
            active = np.array(gained, dtype=np.int64)
            if not active.size:
                break
        return rows, group, goodput

    def _moves(self, rows: IntArray, group: IntArray) -> tuple[IntArray, IntArray]:
        """All choices that differ in one device's length, by one or two, or in its group."""
        count, longest = rows.size, self.table.shape[0] - 1
        lengths = np.repeat(rows[None, :], len(_STEPS) * count, axis=0)
        device = np.repeat(self._devices, len(_STEPS))
        lengths[np.arange(len(lengths)), device] = np.clip(rows[device] + np.tile(_STEPS, count), 0, longest)
        places = np.repeat(group[None, :], self.groups * count, axis=0)
        device = np.repeat(self._devices, self.groups)
        places[np.arange(len(places)), device] = np.tile(np.arange(self.groups), count)
        return (
            np.concatenate([lengths, np.repeat(rows[None, :], len(places), axis=0)]),
            np.concatenate([np.repeat(group[None, :], len(lengths), axis=0), places]),
        )


def partitions(count: int, groups: int) -> Iterator[IntArray]:
    """Every way to put so many devices into at most so many groups, each once."""

    def grow(prefix: list[int], used: int) -> Iterator[list[int]]:
        if len(prefix) == count:
            yield prefix
            return
        for place in range(min(used + 1, groups)):
            yield from grow([*prefix, place], max(used, place + 1))

    for one in grow([], 0):
        yield np.array(one)
