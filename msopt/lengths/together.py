"""Whole lengths for many scenarios at once: local search on rows (ours).

A move adds a token to one device, takes one from another, or does both, or moves all devices by one. Moves of
single devices are first judged by an estimate that is never too low, because the bandwidth that lengths need is
convex and decreasing in the deadline and so lies above its tangent; the most promising are scored exactly.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.lengths.response import Response
from msopt.numerics.margins import IMPROVES

_SHIFTS = np.linspace(-1.5, 1.5, 25)  # [token] an eighth apart, so that every device rounds at its own
_ROUNDS = ((6, 6), (2, 40))  # climbs of each scenario, and moves of each step that are scored exactly
_STEPS = 200  # moves of one climb: far more than the starts are away from a maximum


def best_whole_lengths(response: Response, real: FloatArray) -> FloatArray:
    """The best whole lengths, shape (S, K), found from the optimal real lengths of S scenarios.

    Good controls move all devices by one together, so the climbs start from the real lengths rounded after
    shifts between -1.5 and 1.5 tokens. The best few climb quickly, then the best of those again with more care.
    """
    count, devices = real.shape
    low, high = response.low[:, None, :], response.high[:, None, :]
    starts = np.clip(np.rint(real[:, None, :] + _SHIFTS[:, None]), low, high).reshape(-1, devices)  # (S * shifts, K)
    owner = np.repeat(np.arange(count), _SHIFTS.size)
    score = _score(response.take(owner), starts).reshape(count, -1)  # (S, shifts)
    # Of several equal starts one is enough.
    score = np.where(_repeated(score), -np.inf, score)
    found, scores = starts.reshape(count, -1, devices), score
    for climbed, scored in _ROUNDS:
        found, scores = _best(found, scores, climbed)
        owner = np.repeat(np.arange(count), climbed)
        ends, reached = _climb(response, owner, found.reshape(-1, devices), scores.reshape(-1), scored)
        found, scores = ends.reshape(count, climbed, devices), reached.reshape(count, climbed)
        scores = np.where(_repeated(scores), -np.inf, scores)
    return np.asarray(_best(found, scores, 1)[0][:, 0])


def _best(lengths: FloatArray, scores: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """The best few rows of each scenario, shapes (S, n, K) and (S, n)."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :most]
    return np.take_along_axis(lengths, order[..., None], axis=1), np.take_along_axis(scores, order, axis=1)


def _repeated(score: FloatArray) -> FloatArray:
    """Whether a score occurs further left in its row, shape (S, n)."""
    order = np.argsort(-score, axis=1, kind="stable")
    ranked = np.take_along_axis(score, order, axis=1)
    again = np.zeros(score.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ranked[:, 1:] == ranked[:, :-1], axis=1)
    return again


def _score(response: Response, lengths: FloatArray, at_least_s: FloatArray | float = 0.0) -> FloatArray:
    return response.goodput(lengths, response.shortest_deadline(lengths, at_least_s))[..., 0]


def _climb(
    response: Response, owner: IntArray, lengths: FloatArray, scores: FloatArray, scored: int
) -> tuple[FloatArray, FloatArray]:
    """Each row takes steps while a move gains, shapes (R, K) and (R,); rows that have ended leave."""
    lengths, scores = lengths.copy(), scores.copy()
    active = np.flatnonzero(np.isfinite(scores))
    for _ in range(_STEPS):
        if not active.size:
            break
        rows = response.take(owner[active])
        moved, earliest = _moves(rows, lengths[active], scores[active], scored)
        of_move = np.repeat(np.arange(active.size), moved.shape[1])
        found = _score(rows.take(of_move), moved.reshape(-1, moved.shape[2]), earliest.reshape(-1, 1))
        found = found.reshape(moved.shape[:2])  # (active, moves)
        best = np.argmax(found, axis=1)
        here = np.arange(active.size)
        gains = found[here, best] > scores[active] * IMPROVES
        lengths[active[gains]], scores[active[gains]] = moved[here, best][gains], found[here, best][gains]
        active = active[gains]
    return lengths, scores


def _moves(rows: Response, lengths: FloatArray, scores: FloatArray, scored: int) -> tuple[FloatArray, FloatArray]:
    """The most promising moves of each row, shape (R, n, K), and deadlines that none of them beats, shape (R, n) [s].

    Where there are fewer than n, the row itself.
    """
    count, devices = lengths.shape
    estimate, earliest = (part.reshape(count, -1) for part in _estimates(rows, lengths))
    estimate = np.where(estimate > scores[:, None] * IMPROVES, estimate, -np.inf)
    most = min(scored, estimate.shape[1])
    top = np.argpartition(-estimate, most - 1, axis=1)[:, :most]
    worth = np.isfinite(np.take_along_axis(estimate, top, axis=1))
    up, down = np.divmod(top, devices + 1)  # (R, n), K for nobody
    moved = np.repeat(lengths[:, None, :], most + 2, axis=1)
    row, move = np.nonzero(worth & (up < devices))
    moved[row, move, up[row, move]] += 1.0
    row, move = np.nonzero(worth & (down < devices))
    moved[row, move, down[row, move]] -= 1.0
    moved[:, most] = np.minimum(lengths + 1.0, rows.high)
    moved[:, most + 1] = np.maximum(lengths - 1.0, rows.low)
    known = np.zeros((count, most + 2))
    known[:, :most] = np.where(worth, np.take_along_axis(earliest, top, axis=1), 0.0)
    return moved, known


def _estimates(rows: Response, lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At most the goodput, and at least the deadline, of "one more for i, one less for j"; the last is "nobody".

    Shapes (R, K + 1, K + 1).
    """
    deadline = rows.shortest_deadline(lengths)
    positive = np.where(deadline > 0.0, deadline, 1.0)
    need, fall = rows.need.by_deadline(lengths, positive)
    tokens = rows.acceptance.expected_tokens(lengths)
    halves = []
    for token, limit in ((1.0, rows.high), (-1.0, rows.low)):
        moved = lengths + token
        allowed = lengths != limit
        # What is too late now may still be in time after the move: then only its own time counts.
        late = moved * rows.least_s_per_token >= positive
        other, steeper = rows.need.by_deadline(np.where(allowed & ~late, moved, lengths), positive)
        gain = np.where(allowed, rows.acceptance.expected_tokens(np.maximum(moved, 0.0)) - tokens, -np.inf)
        earliest = np.where(late & allowed, moved * rows.least_s_per_token, 0.0)
        halves.append([_with_nobody(part) for part in (gain, other - need, steeper - fall, earliest)])  # (R, K + 1)
    (g, n, f, e), (h, m, d, _) = halves
    change = n[:, :, None] + m[:, None, :]
    bend = np.sum(fall, axis=1)[:, None, None] + f[:, :, None] + d[:, None, :]
    step = np.divide(change, bend, out=np.zeros_like(change), where=bend > 0.0)
    earliest = np.maximum(np.maximum(positive[:, :, None] + step, e[:, :, None]), 0.0)
    extra = np.append(np.ones(lengths.shape[1]), 0.0)
    drafted = np.sum(lengths, axis=1)[:, None, None] + extra[:, None] - extra
    verify = rows.idle_s[:, :, None] + rows.token_cost_s[:, :, None] * drafted
    total = np.sum(tokens, axis=1)[:, None, None] + g[:, :, None] + h[:, None, :]
    return np.asarray(total / (earliest + verify)), earliest


def _with_nobody(values: FloatArray) -> FloatArray:
    return np.concatenate([values, np.zeros((len(values), 1))], axis=1)
