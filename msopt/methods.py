"""Every method there is, one record each: the one table that whoever asks for methods reads.

A new one is its file in `msopt/rivals` and an entry here. A package above adds a method of its own by `add`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from msopt import procedures as do
from msopt.errors import ParameterError, describe
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.method import Colour, Line, Method, Procedure, Role
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


_LOOKS: Mapping[str, tuple[str, Colour, str, Line]] = {
    DECOMPOSITION: ("decomposition (ours)", "black", "o", "-"),
    EXACT: ("exact (ours)", "black", "o", "-"),
    "grid": ("[MS] Algorithm 1", "blue", "s", "--"),
    "fixed": ("Fixed BW&L", "purple", "v", ":"),
    "equal-bandwidth": ("Uni-BW", "green", "^", "-."),
    "homogeneous": ("Homo", "vermilion", "D", (0, (5, 1))),
    "greedy": ("[UD] Algorithm 1", "blue", "s", "--"),
    "all-uplink": ("all uplink", "vermilion", "^", "-."),
    "all-downlink": ("all downlink", "green", "v", (0, (5, 1))),
    "random-modes": ("random modes", "purple", "X", ":"),
    "uniform-length": ("uniform length", "orange", "D", (0, (3, 1, 1, 1, 1, 1))),
    "computation-only": ("computation only", "sky", "P", (0, (1, 1))),
    "computation-only-greedy": ("computation only, Alg. 1", "yellow", "<", (0, (4, 1, 1, 1))),
    "server-only": ("server only", "grey", "*", (0, (1, 2))),
    "point-to-point": ("P2P-SPIN", "orange", "P", (0, (3, 1, 1, 1, 1, 1))),
    "centralised": ("Cen-SPIN", "sky", "X", (0, (1, 1))),
    "centralised-serial": ("Cen-SPIN, serial", "blue", "D", (0, (5, 2))),
}
"""What figures call each, its colour, marker and line: the same in every problem that has a method of the name."""


def _row(problem: Problem, name: str, role: Role, procedure: Procedure, whose: str, what: str, **more: Any) -> Method:
    label, colour, marker, line = _LOOKS[name]
    return Method(
        name=name,
        problem=problem,
        procedure=procedure,
        role=role,
        whose=whose,
        what=what,
        label=label,
        colour=colour,
        marker=marker,
        line=line,
        **more,
    )


def _systems(problem: Problem) -> tuple[Method, ...]:
    def alone(goodput: Callable[[Scenario, Problem], float]) -> Procedure:
        return do.without_control(problem, lambda scenario: goodput(scenario, problem))

    return (
        _row(
            problem,
            "server-only",
            "system",
            do.without_control(problem, server_only_goodput),
            "ours",
            "no drafting: one token for each device from every verification",
        ),
        _row(
            problem,
            "point-to-point",
            "system",
            alone(point_to_point_goodput),
            "[MS] P2P",
            "one device alone with the whole band, the mean over the devices",
        ),
        _row(
            problem,
            "centralised",
            "system",
            alone(centralised_goodput),
            "[MS] Cen-SPIN",
            "drafting and verification at the server, one best length, no radio",
        ),
        _row(
            problem,
            "centralised-serial",
            "system",
            alone(partial(centralised_goodput, serial=True)),
            "[MS] Cen-SPIN",
            "the same, the server drafting for one device after another",
        ),
    )


_HOMOGENEOUS = (
    _row(
        "homogeneous",
        DECOMPOSITION,
        "optimum",
        do.homogeneous,
        "[MS], computed in our way",
        "the split of Lemma 1 and the better whole neighbour of Theorem 1's length",
        of_variant=do.common_variant,
    ),
    _row(
        "homogeneous",
        EXACT,
        "optimum",
        do.homogeneous_exact,
        "ours",
        "the split of Lemma 1, every common length tried",
        of_variant=partial(do.common_variant, proven=True),
        tried_up_to=1000,
    ),
    *_systems("homogeneous"),
)

_HETEROGENEOUS = (
    _row(
        "heterogeneous",
        DECOMPOSITION,
        "optimum",
        do.heterogeneous,
        "ours",
        "the convex program by its closed form for each deadline, then the search of method exact, cut short",
        of_variant=do.variant,
    ),
    _row(
        "heterogeneous",
        EXACT,
        "optimum",
        partial(do.heterogeneous, proven=True),
        "ours",
        "regions of deadlines and lengths, closed by a multiple-choice bound or by listing what is left",
        of_variant=partial(do.variant, proven=True),
        tried_up_to=64,
    ),
    _row(
        "heterogeneous",
        "grid",
        "algorithm",
        do.with_shares(do.grid_of, do.best_shares),
        "[MS] Algorithm 1",
        "grid over deadline and price of bandwidth, rounded lengths",
        tried_up_to=1000,
    ),
    _row(
        "heterogeneous",
        "fixed",
        "baseline",
        do.with_shares(lambda scenario, options: fixed_lengths(scenario, options.length), do.equal_shares),
        "[MS] Fixed BW&L",
        "one given length for all, equal shares of the band",
    ),
    _row(
        "heterogeneous",
        "equal-bandwidth",
        "baseline",
        do.with_shares(lambda scenario, _: equal_bandwidth_lengths(scenario), do.equal_shares),
        "[MS] Uni-BW",
        "equal shares of the band, the best lengths with them",
    ),
    _row(
        "heterogeneous",
        "homogeneous",
        "baseline",
        do.with_shares(lambda scenario, _: solve_homogeneous(scenario).draft_length, do.best_shares),
        "[MS] Homo",
        "one length for all, the best split of the band",
    ),
    *_systems("heterogeneous"),
)

_MODES = (
    _row(
        "modes",
        DECOMPOSITION,
        "optimum",
        do.with_modes(do.searched),
        "ours",
        "for each deadline which devices draft, by exact gains; best modes",
    ),
    _row(
        "modes",
        EXACT,
        "optimum",
        do.exact_modes,
        "ours",
        f"proven optimal by transforms of the table of all outcomes; up to {EXACT_UP_TO} devices",
        tried_up_to=EXACT_UP_TO,
    ),
    _row(
        "modes",
        "greedy",
        "algorithm",
        do.with_modes(do.greedily),
        "[UD] Algorithm 1",
        "from no drafts, one token more to all or to the best device",
        tried_up_to=100,
    ),
    _row(
        "modes",
        "all-uplink",
        "baseline",
        do.with_modes(do.searched, "all-uplink"),
        "[UD] baseline",
        "every correction by uplink, the lengths we find best for it",
    ),
    _row(
        "modes",
        "all-downlink",
        "baseline",
        do.with_modes(do.searched, "all-downlink"),
        "[UD] baseline",
        "every correction by downlink, the lengths we find best for it",
    ),
    _row(
        "modes",
        "random-modes",
        "baseline",
        do.with_modes(do.searched, "random"),
        "[UD] baseline",
        "a fair coin for each correction, the lengths we find best for it",
    ),
    _row(
        "modes",
        "uniform-length",
        "baseline",
        do.with_modes(lambda problem, _: uniform_lengths(problem)),
        "[UD] baseline",
        "the best common length, all of them tried; best modes",
    ),
    _row(
        "modes",
        "computation-only",
        "baseline",
        do.with_modes(lambda problem, _: computation_only_lengths(problem.scenario)),
        "[UD] baseline, solved by us",
        "the best lengths were corrections to take no time, exactly; best modes",
    ),
    _row(
        "modes",
        "computation-only-greedy",
        "baseline",
        do.with_modes(lambda problem, _: computation_only_by_greedy(problem.scenario)),
        "[UD] baseline",
        "lengths by [UD] Algorithm 1 as if corrections took no time; best modes",
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
