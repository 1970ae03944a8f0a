"""Every method there is, one record each: the one table that whoever asks for methods reads.

A new one is its file in `msopt/rivals` and an entry here. A package above adds a method of its own by `add`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from msopt import procedures as do
from msopt.errors import ParameterError, describe
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.method import Method, Procedure, Role, VariantProcedure
from msopt.model.scenario import PROBLEMS, Problem, Scenario
from msopt.modes.expected import EXACT_UP_TO
from msopt.rivals.baselines import (
    centralised_goodput,
    computation_only_lengths,
    equal_bandwidth_lengths,
    fixed_lengths,
    point_to_point_goodput,
    server_only_goodput,
    uniform_lengths,
)
from msopt.rivals.greedy import computation_only_by_greedy

DECOMPOSITION, EXACT = "decomposition", "exact"


def _ours(
    name: str,
    problem: Problem,
    procedure: Procedure,
    what: str,
    *,
    whose: str = "ours",
    of_variant: VariantProcedure | None = None,
    tried_up_to: int | None = None,
) -> Method:
    return Method(
        name=name,
        problem=problem,
        procedure=procedure,
        role="optimum",
        whose=whose,
        what=what,
        label=f"{name} (ours)",
        colour="black",
        marker="o",
        line="-",
        of_variant=of_variant,
        tried_up_to=tried_up_to,
    )


def _systems(problem: Problem) -> tuple[Method, ...]:
    def alone(goodput: Callable[[Scenario, Problem], float]) -> Procedure:
        return do.without_control(problem, lambda scenario: goodput(scenario, problem))

    return (
        Method(
            name="server-only",
            problem=problem,
            procedure=do.without_control(problem, server_only_goodput),
            role="system",
            whose="ours",
            what="no drafting: one token for each device from every verification",
            label="server only",
            colour="grey",
            marker="*",
            line=(0, (1, 2)),
        ),
        Method(
            name="point-to-point",
            problem=problem,
            procedure=alone(point_to_point_goodput),
            role="system",
            whose="[MS] P2P",
            what="one device alone with the whole band, the mean over the devices",
            label="P2P-SPIN",
            colour="orange",
            marker="P",
            line=(0, (3, 1, 1, 1, 1, 1)),
        ),
        Method(
            name="centralised",
            problem=problem,
            procedure=alone(centralised_goodput),
            role="system",
            whose="[MS] Cen-SPIN",
            what="drafting and verification at the server, one best length, no radio",
            label="Cen-SPIN",
            colour="sky",
            marker="X",
            line=(0, (1, 1)),
        ),
        Method(
            name="centralised-serial",
            problem=problem,
            procedure=alone(partial(centralised_goodput, serial=True)),
            role="system",
            whose="[MS] Cen-SPIN",
            what="the same, the server drafting for one device after another",
            label="Cen-SPIN, serial",
            colour="blue",
            marker="D",
            line=(0, (5, 2)),
        ),
    )


_HOMOGENEOUS = (
    _ours(
        DECOMPOSITION,
        "homogeneous",
        do.homogeneous,
        "the split of Lemma 1 and the better whole neighbour of Theorem 1's length",
        whose="[MS], computed in our way",
        of_variant=do.common_variant,
    ),
    _ours(
        EXACT,
        "homogeneous",
        do.homogeneous_exact,
        "the split of Lemma 1, every common length tried",
        of_variant=do.common_variant_exact,
        tried_up_to=1000,
    ),
    *_systems("homogeneous"),
)

_HETEROGENEOUS = (
    _ours(
        DECOMPOSITION,
        "heterogeneous",
        do.heterogeneous,
        "the convex program by its closed form for each deadline, then the search of method exact, cut short",
        of_variant=do.variant,
    ),
    _ours(
        EXACT,
        "heterogeneous",
        do.heterogeneous_exact,
        "regions of deadlines and lengths, closed by a multiple-choice bound or by listing what is left",
        of_variant=do.variant_exact,
        tried_up_to=64,
    ),
    Method(
        name="grid",
        problem="heterogeneous",
        procedure=do.with_shares(do.grid_of, do.best_shares),
        role="algorithm",
        whose="[MS] Algorithm 1",
        what="grid over deadline and price of bandwidth, rounded lengths",
        label="[MS] Algorithm 1",
        colour="blue",
        marker="s",
        line="--",
    ),
    Method(
        name="fixed",
        problem="heterogeneous",
        procedure=do.with_shares(lambda scenario, options: fixed_lengths(scenario, options.length), do.equal_shares),
        role="baseline",
        whose="[MS] Fixed BW&L",
        what="one given length for all, equal shares of the band",
        label="Fixed BW&L",
        colour="purple",
        marker="v",
        line=":",
    ),
    Method(
        name="equal-bandwidth",
        problem="heterogeneous",
        procedure=do.with_shares(lambda scenario, _: equal_bandwidth_lengths(scenario), do.equal_shares),
        role="baseline",
        whose="[MS] Uni-BW",
        what="equal shares of the band, the best lengths with them",
        label="Uni-BW",
        colour="green",
        marker="^",
        line="-.",
    ),
    Method(
        name="homogeneous",
        problem="heterogeneous",
        procedure=do.with_shares(lambda scenario, _: solve_homogeneous(scenario).draft_length, do.best_shares),
        role="baseline",
        whose="[MS] Homo",
        what="one length for all, the best split of the band",
        label="Homo",
        colour="vermilion",
        marker="D",
        line=(0, (5, 1)),
    ),
    *_systems("heterogeneous"),
)

_MODES = (
    _ours(
        DECOMPOSITION,
        "modes",
        do.with_modes(do.searched),
        "for each deadline which devices draft, by exact gains; best modes",
    ),
    _ours(
        EXACT,
        "modes",
        do.exact_modes,
        f"proven optimal by transforms of the table of all outcomes; up to {EXACT_UP_TO} devices",
        tried_up_to=EXACT_UP_TO,
    ),
    Method(
        name="greedy",
        problem="modes",
        procedure=do.with_modes(do.greedily),
        role="algorithm",
        whose="[UD] Algorithm 1",
        what="from no drafts, one token more to all or to the best device",
        label="[UD] Algorithm 1",
        colour="blue",
        marker="s",
        line="--",
    ),
    Method(
        name="all-uplink",
        problem="modes",
        procedure=do.with_modes(do.searched, "all-uplink"),
        role="baseline",
        whose="[UD] baseline",
        what="every correction by uplink, the lengths we find best for it",
        label="all uplink",
        colour="vermilion",
        marker="^",
        line="-.",
    ),
    Method(
        name="all-downlink",
        problem="modes",
        procedure=do.with_modes(do.searched, "all-downlink"),
        role="baseline",
        whose="[UD] baseline",
        what="every correction by downlink, the lengths we find best for it",
        label="all downlink",
        colour="green",
        marker="v",
        line=(0, (5, 1)),
    ),
    Method(
        name="random-modes",
        problem="modes",
        procedure=do.with_modes(do.searched, "random"),
        role="baseline",
        whose="[UD] baseline",
        what="a fair coin for each correction, the lengths we find best for it",
        label="random modes",
        colour="purple",
        marker="X",
        line=":",
    ),
    Method(
        name="uniform-length",
        problem="modes",
        procedure=do.with_modes(lambda problem, _: uniform_lengths(problem)),
        role="baseline",
        whose="[UD] baseline",
        what="the best common length, all of them tried; best modes",
        label="uniform length",
        colour="orange",
        marker="D",
        line=(0, (3, 1, 1, 1, 1, 1)),
    ),
    Method(
        name="computation-only",
        problem="modes",
        procedure=do.with_modes(lambda problem, _: computation_only_lengths(problem.scenario)),
        role="baseline",
        whose="[UD] baseline, solved by us",
        what="the best lengths were corrections to take no time, exactly; best modes",
        label="computation only",
        colour="sky",
        marker="P",
        line=(0, (1, 1)),
    ),
    Method(
        name="computation-only-greedy",
        problem="modes",
        procedure=do.with_modes(lambda problem, _: computation_only_by_greedy(problem.scenario)),
        role="baseline",
        whose="[UD] baseline",
        what="lengths by [UD] Algorithm 1 as if corrections took no time; best modes",
        label="computation only, Alg. 1",
        colour="yellow",
        marker="<",
        line=(0, (4, 1, 1, 1)),
    ),
    *_systems("modes"),
)

_KNOWN: dict[Problem, dict[str, Method]] = {problem: {} for problem in PROBLEMS}


def add(method: Method) -> None:
    """Let a method be known; ParameterError where its problem has one of its name."""
    known = _KNOWN[method.problem]
    if method.name in known:
        raise ParameterError(f"method {method.name} of problem {method.problem} is known already")
    known[method.name] = method


for _method in (*_HOMOGENEOUS, *_HETEROGENEOUS, *_MODES):
    add(_method)

METHODS: Mapping[Problem, Mapping[str, Method]] = MappingProxyType(
    {problem: MappingProxyType(dict(known)) for problem, known in _KNOWN.items()}
)
"""The methods of this package by problem and name, the default first."""


def methods_of(problem: Problem, *roles: Role) -> list[Method]:
    """Every method of a problem that is known, what was added among them, the default first; or those of some roles."""
    return [method for method in _KNOWN[problem].values() if not roles or method.role in roles]


def method_of(problem: Problem, name: str) -> Method:
    """The method of a name; ParameterError with the names that are allowed."""
    if problem not in _KNOWN:
        raise ParameterError(f"problem = {describe(problem)} is not one of {', '.join(PROBLEMS)}")
    if name not in _KNOWN[problem]:
        raise ParameterError(
            f"method = {describe(name)} does not solve problem {problem}; allowed are {', '.join(_KNOWN[problem])}"
        )
    return _KNOWN[problem][name]


def by_name() -> dict[str, Method]:
    """One method for every name: its role and how figures draw it are alike in all problems that have it."""
    return {method.name: method for problem in PROBLEMS for method in methods_of(problem)}


def names_of(*roles: Role) -> tuple[str, ...]:
    """The names of all methods of some roles."""
    return tuple(name for name, method in by_name().items() if method.role in roles)


def optimum_at(problem: Problem, devices: int, exact_up_to: int | None = None) -> str:
    """`exact` up to some number of devices, by default as far as it is tried, else `decomposition`."""
    most = _KNOWN[problem][EXACT].tried_up_to if exact_up_to is None else exact_up_to
    return EXACT if most is None or devices <= most else DECOMPOSITION
