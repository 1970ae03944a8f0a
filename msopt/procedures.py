"""What the methods do: from a scenario and options to a solution, scored by the one evaluator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from msopt.arrays import FloatArray, IntArray
from msopt.evaluation import evaluate, score, scoring_correction
from msopt.lengths.heterogeneous import interpolated_bound, solve_heterogeneous
from msopt.lengths.homogeneous import HomogeneousOptimum, enumerated_length, solve_homogeneous
from msopt.lengths.relaxed import length_split
from msopt.method import Procedure
from msopt.model.control import EQUAL_SHARES, Control, ModeRule, best_rule
from msopt.model.objective import Sum
from msopt.model.scenario import Problem, Scenario
from msopt.modes.bounds.upper import upper_bound
from msopt.modes.exact_modes import exact_lengths, require_exact
from msopt.modes.expected import DEFAULT_SAMPLES, expected_correction
from msopt.modes.local_search import best_lengths
from msopt.modes.mode_problem import ModeProblem
from msopt.modes.samples import FreshOutcomes
from msopt.modes.table import table_of_best_modes
from msopt.numerics.best_first import SearchEffort
from msopt.numerics.clock import Clock
from msopt.options import Options
from msopt.rivals.greedy import greedy_lengths
from msopt.rivals.grid import DEFAULT_EPSILON, DEFAULT_POINTS, grid_lengths
from msopt.solution import Solution
from msopt.variants.best_actions import ActionsSolution
from msopt.variants.lengths_of_variants import solve_common_length, solve_lengths
from msopt.variants.variant import Variant

PAPER_SAMPLES = 1000
LEAST_SEARCH_SAMPLES = 500
SEARCH_DRAWS = 200_000


def without_control(problem: Problem, goodput: Callable[[Scenario], float]) -> Procedure:
    """Methods that have no one control: only their goodput is known, and no bound of the problem applies."""

    def method(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
        del options, known_bound
        return Solution(scenario=scenario, problem=problem, method="", goodput=goodput(scenario))

    return method


def _multispin(
    scenario: Scenario,
    problem: Problem,
    lengths: IntArray,
    share_hz: FloatArray,
    bound: float,
    *,
    proven: bool = False,
    **known: Any,
) -> Solution:
    """The solution of given lengths and shares."""
    control = Control(problem=problem, draft_length=lengths, bandwidth_hz=share_hz)
    return Solution.of(scenario, control, evaluate(scenario, control), bound, proven=proven, **known)


def homogeneous(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
    """The split of Lemma 1 and the better whole neighbour of the real length."""
    del options, known_bound
    best = solve_homogeneous(scenario)
    return _common(scenario, best, best.draft_length, best.bound)


def homogeneous_exact(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
    """The split of Lemma 1, every common length tried."""
    del known_bound
    best = solve_homogeneous(scenario)
    start = int(best.draft_length[0])
    length, goodput, ended = enumerated_length(scenario, best.per_token_s, start, options.time_limit_s)
    lengths = np.full(scenario.device_count, length, dtype=np.int64)
    return _common(scenario, best, lengths, goodput if ended else best.bound)


def _common(scenario: Scenario, best: HomogeneousOptimum, lengths: IntArray, bound: float) -> Solution:
    return _multispin(
        scenario,
        "homogeneous",
        lengths,
        best.bandwidth_hz,
        bound,
        proven=True,
        per_token_s=best.per_token_s,
        relaxed_goodput=best.relaxed_goodput,
        price_of_bandwidth=best.price_of_bandwidth,
    )


def heterogeneous(scenario: Scenario, options: Options, known_bound: float | None, *, proven: bool = False) -> Solution:
    """The relaxed optimum, rounded, then the search over regions of deadlines and lengths, short or for a proof."""
    del known_bound
    best = solve_heterogeneous(scenario, _effort(options, proven), options.start_length)
    return _multispin(
        scenario,
        "heterogeneous",
        best.draft_length,
        best.bandwidth_hz,
        best.bound,
        proven=True,
        relaxed_goodput=best.relaxed.goodput,
        price_of_bandwidth=best.relaxed.price_of_bandwidth,
    )


def variant(scenario: Scenario, asked: Variant, options: Options, *, proven: bool = False) -> Solution:
    """The search of a table of actions, cut short, or for a proof."""
    asked.check_table()
    found = solve_lengths(scenario, asked, _effort(options, proven), _starts(scenario, options))
    return _varied(scenario, asked, *found)


def common_variant(scenario: Scenario, asked: Variant, options: Options, *, proven: bool = False) -> Solution:
    """The same with one length for all who draft; for a proof each length's own search."""
    asked.check_table()
    return _varied(scenario, asked, *solve_common_length(scenario, asked, _effort(options, proven)))


def _starts(scenario: Scenario, options: Options) -> IntArray | None:
    if options.start_length is None:
        return None
    return np.clip(options.start_length, *scenario.length_limits("heterogeneous"))[None, :]


def _effort(options: Options, proven: bool) -> SearchEffort | None:
    """For a proof until the options' limits; None is the usual short search."""
    return SearchEffort(nodes=options.node_limit, seconds=options.time_limit_s) if proven else None


def _varied(scenario: Scenario, asked: Variant, control: Control, found: ActionsSolution) -> Solution:
    evaluation = score(scenario, control, None, asked)
    evaluation.require_feasible()
    bound = found.utility_bound
    plain_sum = isinstance(asked.utility, Sum)
    return Solution.of(scenario, control, evaluation, bound if plain_sum else None, proven=True, utility_bound=bound)


def with_shares(
    lengths_of: Callable[[Scenario, Options], IntArray], share_of: Callable[[Scenario, IntArray], FloatArray]
) -> Procedure:
    """Baselines: lengths by one rule, then shares of the band by another."""

    def method(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
        lengths = lengths_of(scenario, options)
        proven = known_bound is None
        bound = interpolated_bound(scenario) if known_bound is None else known_bound
        return _multispin(scenario, "heterogeneous", lengths, share_of(scenario, lengths), bound, proven=proven)

    return method


def equal_shares(scenario: Scenario, lengths: IntArray) -> FloatArray:
    """B/K for each [Hz], shape (K,)."""
    return np.full(lengths.shape, scenario.equal_share_hz)


def best_shares(scenario: Scenario, lengths: IntArray) -> FloatArray:
    """The split with which the given lengths are all there first [Hz], shape (K,)."""
    return length_split(scenario, lengths.astype(float))[1]


def grid_of(scenario: Scenario, options: Options) -> IntArray:
    """[MS] Algorithm 1 with the user's grid or the default one."""
    return grid_lengths(
        scenario,
        phi_points=options.grid_phi or DEFAULT_POINTS,
        lambda_points=options.grid_lambda or DEFAULT_POINTS,
        rule=options.grid_rule or "clip",
        spacing=options.grid_spacing or "linear",
        epsilon=options.grid_epsilon or DEFAULT_EPSILON,
    )


def with_modes(lengths_of: Callable[[ModeProblem, Options], IntArray], given_rule: ModeRule | None = None) -> Procedure:
    """Search on one set of draws (or exactly), score on another; the bound is that of the best modes."""

    def method(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
        rule = given_rule or best_rule(options.correction or EQUAL_SHARES)
        samples = options.samples or DEFAULT_SAMPLES
        seed = SeedSequence(options.seed).spawn(1)[0]
        most = max(LEAST_SEARCH_SAMPLES, SEARCH_DRAWS // scenario.device_count)
        searched = expected_correction(scenario, rule, samples=min(samples, most), seed=seed)
        control = _mode_control(scenario, lengths_of(ModeProblem(scenario, searched), options), rule)
        scoring = searched if searched.exact else scoring_correction(scenario, rule, samples=samples, seed=options.seed)
        evaluation = score(scenario, control, scoring)
        if known_bound is None:
            best_modes = searched if given_rule is None else expected_correction(scenario, "best", samples=2)
            bound = upper_bound(ModeProblem(scenario, best_modes), evaluation.goodput)
        else:
            bound = known_bound
        return Solution.of(scenario, control, evaluation, bound)

    return method


def exact_modes(scenario: Scenario, options: Options, known_bound: float | None) -> Solution:
    """The table, a first control by `decomposition`, and the proof."""
    del known_bound
    require_exact(scenario)
    rule, clock = best_rule(options.correction or EQUAL_SHARES), Clock(options.time_limit_s)
    problem = ModeProblem(scenario, table_of_best_modes(scenario, rule))
    best = exact_lengths(problem, best_lengths(problem, clock), options.node_limit, clock)
    control = _mode_control(scenario, best.draft_length, rule)
    return Solution.of(scenario, control, score(scenario, control, problem.correction), best.bound, proven=True)


def _mode_control(scenario: Scenario, lengths: IntArray, rule: ModeRule) -> Control:
    share = equal_shares(scenario, lengths)
    return Control(problem="modes", draft_length=lengths, bandwidth_hz=share, mode_rule=rule)


def searched(problem: ModeProblem, _: Options) -> IntArray:
    """The lengths of `decomposition`."""
    return best_lengths(problem)


def greedily(problem: ModeProblem, options: Options) -> IntArray:
    """[UD] Algorithm 1: on the exact correction, or on fresh outcomes at each evaluation."""
    start = options.greedy_start or "minimum"
    if problem.correction.exact and options.samples is None:
        return greedy_lengths(problem, start)
    samples = options.samples or PAPER_SAMPLES
    seed = SeedSequence(options.seed).spawn(3)[2]
    fresh = FreshOutcomes(problem.scenario, problem.correction.rule, samples, seed)
    return greedy_lengths(ModeProblem(problem.scenario, fresh), start)
