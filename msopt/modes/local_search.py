"""Draft lengths for problem `modes`: a search that asks for the expected correction seldom (design section 5, ours).

C is linear in each rho_k, so its partial derivatives at some lengths give the gain of every single change
exactly. As a linear model of C they turn the problem into a separable one, whose best lengths for every deadline
follow from one sorted pass. The search asks the model for a few controls (all the changes it wants, half of
them, a quarter, ..., the best single change, the same devices at another deadline), takes the best of them by
the true C, and goes on from there. One path serves every law, every rule for the modes, and exact and sampled C.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from msopt.arrays import FloatArray, IntArray, evenly_spread, every_length
from msopt.lengths.separable import DeadlinePass, equal_share_lengths
from msopt.modes.correction import alone_s
from msopt.modes.mode_problem import ModeProblem, deadlines, fitting
from msopt.modes.samples import SampledOutcomes
from msopt.numerics.clock import UNLIMITED, Clock
from msopt.numerics.margins import IMPROVES
from msopt.numerics.memory import require_memory

_STEPS = 200  # of one ascent, each of many changes; usually it has ended after a few
_STARTS = 4  # nested sets that ascents start from
_SPREAD = 8  # sizes and deadlines that are tried in a first look, and common lengths
_FINE_SPREAD = 64  # sizes of a closer look
_NEAR = 64  # deadlines on either side, and of all, that the model looks at
_REFITTED = 2  # of these that the true C is asked for
_FEW = 0.2  # of the outcomes, on which all ascents are
_ASCEND_AGAIN = 2  # of their ends, on all outcomes
_BYTES_A_LENGTH = 200
"""Of the search's tables, measured: for each length of each device [byte]."""


def best_lengths(problem: ModeProblem, clock: Clock = UNLIMITED) -> IntArray:
    """The best lengths found, shape (K,): from nested sets, the best common length, and those that ignore corrections.

    Where C is exact the best of them is then changed at two devices at a time until that gains no more. Where it is
    sampled all ascents are on the first few outcomes, and the best of where they end ascend on all of them. When
    the clock is over what was found by then is the answer.
    """
    model = _Model(problem, clock)
    few = model.on_few_outcomes()
    ends = np.array([_ascend(few, row) for row in _starts(few.problem)])
    if few is not model:
        best_first = np.argsort(-problem.goodput(ends), kind="stable")
        ends = np.array([_ascend(model, row) for row in ends[best_first[:_ASCEND_AGAIN]]])
    best = _best_of(problem, ends)
    while problem.correction.exact and not model.is_over():
        changed = _best_pair(model, best)
        if changed is None:
            break
        # What the pair was said to gain may be lost to round-off.
        before, best = best, _best_of(problem, np.stack([best, _ascend(model, changed)]))
        if np.array_equal(best, before):
            break
    return np.asarray(np.rint(best), dtype=np.int64)


def _best_of(problem: ModeProblem, lengths: FloatArray) -> FloatArray:
    return np.asarray(lengths[np.argmax(problem.goodput(lengths))])


def _starts(problem: ModeProblem) -> FloatArray:
    """Controls to start from, shape (m, K): the best nested, the best common length, the best were corrections free."""
    count, (low, high) = problem.scenario.device_count, problem.limits
    common = every_length((low, high), count)[evenly_spread(0, high - low, _SPREAD)]
    free = equal_share_lengths(problem.scenario, "modes").astype(float)
    return np.vstack([_nested(problem), _best_of(problem, common), free])


def _nested(problem: ModeProblem) -> FloatArray:
    """Controls in which all but the n devices whose rejection costs most by itself draft all that fits, shape (m, K).

    The best of a spread of n, each at its best deadline of a spread; then the best of many n at the deadline of the
    first, with all n between its neighbours: one weak device that is not left out can cost most of what others gain.
    """
    count, low = problem.scenario.device_count, float(problem.limits[0])
    alone = alone_s(problem.scenario, problem.correction.rule)
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(-alone, kind="stable")] = np.arange(count)
    every = deadlines(problem)

    def scored(left_out: IntArray, caps: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = np.where(rank >= left_out[:, None, None], caps, low)  # (sizes, deadlines, K)
        return rows, problem.goodput(rows.reshape(-1, count)).reshape(rows.shape[:2])

    left_out, caps = (
        evenly_spread(0, count, _SPREAD),
        fitting(problem, every[evenly_spread(0, every.size - 1, _SPREAD + 1)[-_SPREAD:]]),
    )
    rows, scores = scored(left_out, caps)
    at = np.argmax(scores, axis=1)
    chosen = rows[np.arange(left_out.size), at][np.argsort(-np.max(scores, axis=1), kind="stable")[:_STARTS]]  # (m, K)
    caps = caps[at[np.argmax(np.max(scores, axis=1))], None]
    left_out = evenly_spread(0, count, _FINE_SPREAD)
    while True:
        rows, scores = scored(left_out, caps)
        place = int(np.argmax(scores))
        if left_out.size < 3 or np.max(np.diff(left_out)) == 1:
            break
        left_out = evenly_spread(left_out[max(place - 1, 0)], left_out[min(place + 1, left_out.size - 1)], _FINE_SPREAD)
    best = rows[place, 0]
    return chosen if np.any(np.all(chosen == best, axis=1)) else np.vstack([chosen, best])


class _Model:
    """What depends on the scenario alone: tokens, rejection and time of every length, and the sorted deadlines."""

    def __init__(self, problem: ModeProblem, clock: Clock = UNLIMITED) -> None:
        scenario = problem.scenario
        self.problem, self.clock = problem, clock
        self.low, high = problem.limits
        entries = (high - self.low + 1) * scenario.device_count
        require_memory(entries * _BYTES_A_LENGTH, "the search over all lengths", "lower max_draft_length")
        self.every = deadlines(problem)
        self.length = every_length(problem.limits, scenario.device_count)
        self.tokens = scenario.acceptance.expected_tokens(self.length)
        self.rejection = problem.rejection(self.length)
        self.by_deadline = DeadlinePass(self.length, problem.s_per_token)
        self.everyone = np.arange(scenario.device_count)

    def on_few_outcomes(self) -> "_Model":
        """The same where C is a mean over a part of the outcomes; itself where it is exact."""
        correction = self.problem.correction
        if not isinstance(correction, SampledOutcomes):
            return self
        few = copy(self)
        few.problem = replace(self.problem, correction=correction.first(_FEW))
        return few

    def is_over(self) -> bool:
        return self.clock.over

    def deadline_s(self, lengths: FloatArray) -> float:
        return float(np.max(lengths * self.problem.s_per_token))

    def gains(self, lengths: FloatArray, goodput: float) -> FloatArray:
        """Value of every length of every device in place of its own, the deadline apart, shape (lengths, K).

        The value is tokens less G times the seconds; a change that is worth more than G times the time by which
        it moves the deadline raises the goodput.
        """
        _, slope = self.problem.correction.gradient_s(self.problem.rejection(lengths)[None, :])
        own_s = self.problem.scenario.verify_per_token_s * self.length + slope[0] * self.rejection
        worth = self.tokens - goodput * own_s
        return np.asarray(worth - self.at(worth, lengths))

    def at(self, table: FloatArray, lengths: FloatArray) -> FloatArray:
        """Entries of a table (lengths, K) at lengths of shape (..., K)."""
        return np.asarray(table[lengths.astype(np.int64) - self.low, self.everyone])

    def refitted(self, lengths: FloatArray, deadline_s: FloatArray) -> FloatArray:
        """The same devices at other deadlines, shape (m, K): whoever drafts all that fits does so again."""
        full = lengths >= fitting(self.problem, np.array([self.deadline_s(lengths)]))[0]
        caps = fitting(self.problem, deadline_s)
        return np.where(full & (lengths > self.low), caps, np.minimum(lengths, caps))


def _ascend(model: _Model, lengths: FloatArray) -> FloatArray:
    """Steps to the best control that the linear model proposes, until one gains nothing."""
    goodput = float(model.problem.goodput(lengths[None, :])[0])
    for _ in range(_STEPS):
        if model.is_over():
            break
        gains = model.gains(lengths, goodput)
        proposed = np.vstack(
            [
                _single_change(model, lengths, goodput, gains),
                _many_changes(model, lengths, goodput, gains),
                _other_deadlines(model, lengths, goodput, gains),
            ]
        )
        reached = model.problem.goodput(proposed)
        best = int(np.argmax(reached))
        if reached[best] <= goodput * IMPROVES:
            break
        lengths, goodput = proposed[best], float(reached[best])
    return lengths


def _single_change(model: _Model, lengths: FloatArray, goodput: float, gains: FloatArray) -> FloatArray:
    """The one length whose change gains most (exactly), its deadline counted, shape (1, K)."""
    unit = model.problem.s_per_token
    deadline = np.maximum(model.length * unit, _others_max(lengths * unit))
    value = gains - goodput * (deadline - model.deadline_s(lengths))
    row, device = np.unravel_index(int(np.argmax(value)), value.shape)
    changed = lengths.copy()
    changed[device] = model.low + row
    return changed[None, :]


def _many_changes(model: _Model, lengths: FloatArray, goodput: float, gains: FloatArray) -> FloatArray:
    """All changes the model wants at its best deadline, those of the better half, quarter, ...; shape (m, K)."""
    deadline, rows_wanted = model.by_deadline.best(gains, goodput)
    wanted = model.low + rows_wanted.astype(float)
    kept = model.refitted(lengths, np.array([deadline]))[0]
    profit = model.at(gains, wanted) - model.at(gains, kept)
    order = np.argsort(-profit, kind="stable")
    rows = [kept]
    size = int(np.count_nonzero(profit > 0.0))
    while size > 0:
        row = kept.copy()
        row[order[:size]] = wanted[order[:size]]
        rows.append(row)
        size //= 2
    return np.array(rows)


def _other_deadlines(model: _Model, lengths: FloatArray, goodput: float, gains: FloatArray) -> FloatArray:
    """The same devices at the deadlines that the model likes best, of those near and a spread of all; shape (m, K)."""
    place = int(np.searchsorted(model.every, model.deadline_s(lengths)))
    near = np.arange(max(0, place - _NEAR), min(model.every.size, place + _NEAR + 1))
    tried = model.every[np.union1d(near, evenly_spread(0, model.every.size - 1, _NEAR))]
    rows = model.refitted(lengths, tried)
    value = np.sum(model.at(gains, rows), axis=1) - goodput * tried
    return np.asarray(rows[np.argsort(-value, kind="stable")[:_REFITTED]])


def _best_pair(model: _Model, lengths: FloatArray) -> FloatArray | None:
    """The best control that differs at two devices, each at the minimum or at all that fits; None if none is better.

    One weak device can hide behind another, so that only setting both aside, or exchanging them, gains.
    """
    problem = model.problem
    goodput = float(problem.goodput(lengths[None, :])[0])
    deadline = model.deadline_s(lengths)
    cap = fitting(problem, np.array([deadline]))[0]
    other = np.where(lengths > model.low, float(model.low), cap)
    first = np.where(np.eye(lengths.size, dtype=bool), other, lengths)  # (K, K): row k has device k changed
    correction, slopes = problem.correction.gradient_s(problem.rejection(first))
    more_tokens = model.at(model.tokens, other) - model.at(model.tokens, lengths)
    more_rejected = model.at(model.rejection, other) - model.at(model.rejection, lengths)
    tokens = np.sum(model.at(model.tokens, first), axis=1)[:, None] + more_tokens
    more_verify = problem.scenario.verify_per_token_s * (other - lengths)
    seconds = deadline + (problem.scenario.verify_s(first) + correction)[:, None] + more_verify + slopes * more_rejected
    value = np.where(np.eye(lengths.size, dtype=bool), 0.0, tokens / seconds)  # (K, K): of each pair
    at = np.unravel_index(int(np.argmax(value)), value.shape)
    if value[at] <= goodput * IMPROVES:
        return None
    changed = first[at[0]]
    changed[at[1]] = other[at[1]]
    return np.asarray(changed)


def _others_max(values: FloatArray) -> FloatArray:
    """For each entry the greatest of the others, 0 where there is none; shape (K,)."""
    top = int(np.argmax(values))
    others = np.full(values.size, values[top])
    others[top] = np.max(np.delete(values, top), initial=0.0)
    return others
