"""Draft lengths for problem `modes`: the search over deadlines (design section 5, ours).

For a fixed deadline of drafting and upload every device drafts, at the best, either the minimum or all that
fits (geometric law, c1 = 0); which devices draft is found by local search, and the deadline is one of the
products l u_k. Other laws use the same search over all values of one length at a time.
"""

import numpy as np

from msopt.arrays import BoolArray, FloatArray, IntArray, levels
from msopt.baselines import computation_only_lengths
from msopt.greedy import greedy_lengths
from msopt.mode_problem import ModeProblem, deadlines, fitting

_IMPROVES = 1.0 + 1e-13
_MOST_DEADLINES = 600
_SCORED_AT_ONCE = 1024
_STEPS = 10_000
_SAMPLED_STEPS = 20
_SPREAD = 16
_NESTED = 8


def best_lengths(problem: ModeProblem) -> IntArray:
    """The best lengths found, shape (K,); with an exact correction never worse than `greedy_lengths`."""
    found = _search_all(problem) if problem.correction.exact else _search_sampled(problem)
    return np.asarray(np.rint(found), dtype=np.int64)


def _search_all(problem: ModeProblem) -> FloatArray:
    """From the best nested set at every deadline, from greedy's lengths, and from those that ignore corrections.

    Where there are more deadlines than are searched at once, a spread of them is searched first and then
    those between the neighbours of the best.
    """
    every = deadlines(problem)
    spread = _spread(every.size, _MOST_DEADLINES)
    starts = np.array([greedy_lengths(problem), computation_only_lengths(problem.scenario)], dtype=float)
    found = _search(problem, every[spread], starts)
    if spread.size < every.size:
        place = int(np.searchsorted(every, float(np.max(found * problem.s_per_token))))
        gap = int(np.max(np.diff(spread)))
        close = every[max(0, place - gap) : place + gap + 1]
        found = _search(problem, close[_spread(close.size, _MOST_DEADLINES)], found[None, :])
    return found


def _spread(size: int, most: int) -> IntArray:
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.int64))


def _search(problem: ModeProblem, deadline_s: FloatArray, starts: FloatArray) -> FloatArray:
    nested = fitting(problem, deadline_s)
    own = np.maximum(fitting(problem, np.max(starts * problem.s_per_token, axis=1)), starts)
    return climb(problem, np.vstack([_best_nested(problem, nested), starts]), np.vstack([nested, own]))


def _nested_sets(problem: ModeProblem) -> BoolArray:
    """Who drafts, shape (K + 1, K): all but the n devices whose rejection costs most by itself, n = 0 to K."""
    count = problem.scenario.device_count
    alone = problem.correction.expected_s(np.eye(count))
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(-alone, kind="stable")] = np.arange(count)
    return np.asarray(rank[None, :] >= np.arange(count + 1)[:, None])


def _best_nested(problem: ModeProblem, caps: FloatArray) -> FloatArray:
    """For each deadline the nested set that is best, drafting all that fits."""
    drafts = _nested_sets(problem)
    best = np.empty_like(caps)
    block = max(1, _SCORED_AT_ONCE // len(drafts))
    for first in range(0, len(caps), block):
        nested = np.where(drafts, caps[first : first + block, None, :], float(problem.limits[0]))
        scores = problem.goodput(nested.reshape(-1, caps.shape[1])).reshape(nested.shape[:2])
        best[first : first + block] = nested[np.arange(len(nested)), np.argmax(scores, axis=1)]
    return best


def _search_sampled(problem: ModeProblem) -> FloatArray:
    """From the best nested set, the lengths that ignore corrections, and the best common length.

    Deadline and lengths are improved in turns until neither gains: all that draft move to another deadline
    together, then single lengths change within it.
    """
    low, high = problem.limits
    every = deadlines(problem)
    common = levels(problem.limits, problem.scenario.device_count)[_spread(high - low + 1, _SPREAD)]
    nested = np.where(_nested_sets(problem), float(high), float(low))
    fitted = [_best_deadline(problem, every, row) for row in nested[_spread(len(nested), _NESTED)]]
    free = computation_only_lengths(problem.scenario).astype(float)
    starts = _best_of(problem, np.array(fitted)), _best_of(problem, common), free
    return _best_of(problem, np.array([_improve_in_turns(problem, every, lengths) for lengths in starts]))


def _improve_in_turns(problem: ModeProblem, every: FloatArray, lengths: FloatArray) -> FloatArray:
    score, reached = -np.inf, float(problem.goodput(lengths[None, :])[0])
    while reached > score * _IMPROVES:
        score = reached
        cap = np.maximum(fitting(problem, np.max(lengths * problem.s_per_token, keepdims=True)), lengths)
        lengths = _best_deadline(problem, every, climb(problem, lengths[None, :], cap, steps=_SAMPLED_STEPS))
        reached = float(problem.goodput(lengths[None, :])[0])
    return lengths


def _best_of(problem: ModeProblem, lengths: FloatArray) -> FloatArray:
    return np.asarray(lengths[np.argmax(problem.goodput(lengths))])


def _best_deadline(problem: ModeProblem, every: FloatArray, lengths: FloatArray) -> FloatArray:
    """The lengths themselves, or all that fits another deadline for those that draft: a spread, then ever closer."""
    low, _ = problem.limits
    drafts = lengths > low
    chosen = _spread(every.size, _SPREAD)
    best = lengths
    while True:
        refitted = np.where(drafts, fitting(problem, every[chosen]), float(low))
        best = _best_of(problem, np.vstack([best, refitted]))
        gap = int(np.max(np.diff(chosen), initial=1))
        if gap == 1:
            return best
        place = int(np.searchsorted(every, float(np.max(best * problem.s_per_token))))
        first, last = max(0, place - gap), min(every.size - 1, place + gap)
        chosen = first + _spread(last - first + 1, _SPREAD)


def climb(problem: ModeProblem, lengths: FloatArray, caps: FloatArray, steps: int = _STEPS) -> FloatArray:
    """Change the one length of each row that gains most until none gains; the best row, shape (K,).

    Gains are exact: C is linear in each rejection probability, so its partial derivatives give every
    single change of every row. Lengths stay between the minimum and `caps`.
    """
    scores = problem.goodput(lengths)
    active = np.arange(len(lengths))
    for _ in range(steps):
        if active.size == 0:
            break
        value, device, target = _best_changes(problem, lengths[active], caps[active])
        better = value > scores[active] * _IMPROVES
        active, device, target = active[better], device[better], target[better]
        moved = lengths[active]
        moved[np.arange(active.size), device] = target
        reached = problem.goodput(moved)
        up = reached > scores[active]
        active = active[up]
        lengths[active], scores[active] = moved[up], reached[up]
    return np.asarray(lengths[np.argmax(scores)])


def _best_changes(
    problem: ModeProblem, lengths: FloatArray, caps: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    """For each row the best goodput after one change, which device changes, and to what length."""
    value, options = single_changes(problem, lengths, _options(problem, lengths, caps))
    flat = value.reshape(len(lengths), -1)
    best = np.argmax(flat, axis=1)
    row = np.arange(len(lengths))
    return flat[row, best], best // options.shape[2], options.reshape(len(lengths), -1)[row, best]


def _options(problem: ModeProblem, lengths: FloatArray, caps: FloatArray) -> FloatArray:
    """Lengths to try for each device, shape (m, K, n): the two ends where only they can be best, else all."""
    low, _ = problem.limits
    ends_suffice = problem.scenario.acceptance.geometric and problem.scenario.verify_per_token_s == 0.0
    if ends_suffice:
        return np.stack([np.full_like(caps, float(low)), caps], axis=2)
    span = np.arange(low, int(caps.max()) + 1, dtype=float)
    return np.minimum(np.broadcast_to(span, (*caps.shape, span.size)), caps[:, :, None])


def single_changes(problem: ModeProblem, lengths: FloatArray, options: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Goodput [token/s] after setting one device to one of its options, shape (m, K, n); and the options."""
    scenario = problem.scenario
    acceptance, unit = scenario.acceptance, problem.s_per_token
    correction, slope = problem.correction.gradient_s(problem.rejection(lengths))
    by_option = np.moveaxis(options, 2, 1)
    tokens = acceptance.expected_tokens(lengths)
    more_tokens = np.moveaxis(acceptance.expected_tokens(by_option), 1, 2) - tokens[:, :, None]
    rejection = np.moveaxis(problem.rejection(by_option), 1, 2)
    more_correction = slope[:, :, None] * (rejection - problem.rejection(lengths)[:, :, None])
    upload = np.maximum(_others_max(lengths * unit)[:, :, None], options * unit[:, None])
    more_verify = scenario.verify_per_token_s * (options - lengths[:, :, None])
    seconds = upload + scenario.verify_s(lengths)[:, None, None] + more_verify
    seconds = seconds + correction[:, None, None] + more_correction
    return (np.sum(tokens, axis=1)[:, None, None] + more_tokens) / seconds, options


def _others_max(values: FloatArray) -> FloatArray:
    """For each column the greatest of the other columns, 0 where there is none."""
    order = np.sort(values, axis=1)
    if values.shape[1] == 1:
        return np.zeros_like(values)
    top, second = order[:, -1:], order[:, -2:-1]
    only = np.count_nonzero(values == top, axis=1, keepdims=True) == 1
    return np.where((values == top) & only, second, top)
