"""What a user may choose about a method: every option once, with its type, its limits, its words and its owner."""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msopt.arrays import IntArray
from msopt.errors import ParameterError, describe
from msopt.model.control import Correction
from msopt.model.problems import Problem
from msopt.model.validation import LARGEST_WHOLE, MOST_GRID_POINTS, MOST_SAMPLES, MOST_TOKENS, check_whole
from msopt.rivals.greedy import GreedyStart
from msopt.rivals.grid import GridRule, GridSpacing


@dataclass(frozen=True, kw_only=True)
class Option:
    """What an option is beside its type.

    Attributes
    ----------
    help : str
        What it sets, and the default.
    method : str, tuple of str, or None
        The methods that it goes with; None: any.
    problem : str or None
        The one problem that it goes with; None: any.
    least, most : int
        Of a whole number. (A number with a fraction is above 0 and at most `most`.)
    metavar : str
        What stands for its value in the help of the command line; "" where that names the choices.
    """

    help: str
    method: str | tuple[str, ...] | None = None
    problem: Problem | None = None
    least: int = 0
    most: int = LARGEST_WHOLE
    metavar: str = "N"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it goes with; none where it goes with any."""
        return (self.method,) if isinstance(self.method, str) else self.method or ()


@dataclass(frozen=True, kw_only=True)
class Options:
    """What some methods let a user choose; None means the method's own default."""

    samples: Annotated[
        int | None,
        Option(help="Outcomes drawn where problem modes is not exact (default 20000).", least=2, most=MOST_SAMPLES),
    ] = None
    """With method `greedy` also the fresh outcomes of each of its evaluations (exact within the table, 1000 beyond)."""
    seed: Annotated[int, Option(help="Seed of every draw (default 0).", metavar="S")] = 0
    correction: Annotated[
        Correction | None,
        Option(
            help="How rejected devices of problem modes share bands and power: equal shares (default), or both free in "
            "one band for both directions or in a band for each; up to 20 devices.",
            method=("decomposition", "exact", "greedy", "uniform-length", "computation-only"),
            problem="modes",
            metavar="",
        ),
    ] = None
    length: Annotated[
        int | None,
        Option(help="Draft length of method fixed, in tokens (default 8).", method="fixed", most=MOST_TOKENS),
    ] = None
    grid_phi: Annotated[
        int | None,
        Option(help="Points of phi in method grid (default 100).", method="grid", least=1, most=MOST_GRID_POINTS),
    ] = None
    grid_lambda: Annotated[
        int | None,
        Option(help="Points of lambda in method grid (default 100).", method="grid", least=1, most=MOST_GRID_POINTS),
    ] = None
    grid_rule: Annotated[
        GridRule | None,
        Option(
            help="Method grid: clip rounded lengths to the limits (default), or skip them.", method="grid", metavar=""
        ),
    ] = None
    grid_spacing: Annotated[
        GridSpacing | None,
        Option(help="Method grid: points of phi linear (default) or logarithmic.", method="grid", metavar=""),
    ] = None
    grid_epsilon: Annotated[
        float | None,
        Option(
            help="Method grid: the least lambda as a part of the greatest (default 1e-6).",
            method="grid",
            most=1,
            metavar="X",
        ),
    ] = None
    greedy_start: Annotated[
        GreedyStart | None,
        Option(
            help="Method greedy: start at the minimum (default), also at the best common lengths, or also at these "
            "for the devices that cost least to correct (nested).",
            method="greedy",
            metavar="",
        ),
    ] = None
    node_limit: Annotated[
        int | None, Option(help="Most nodes of method exact (default: no limit).", method="exact", least=1)
    ] = None
    time_limit_s: Annotated[
        float | None,
        Option(help="Longest search of method exact, in seconds (default: no limit).", method="exact", metavar="S"),
    ] = None
    solver: Annotated[
        str | None, Option(help="Method convex: ECOS (default), CLARABEL or SCS.", method="convex", metavar="NAME")
    ] = None
    start_length: IntArray | None = None
    """Lengths to begin with where a method searches, shape (K,); of `solve`'s own argument, not a user's option."""


_HINTS = {
    name: hint for name, hint in get_type_hints(Options, include_extras=True).items() if get_origin(hint) is Annotated
}
OPTIONS: dict[str, Option] = {name: get_args(hint)[1] for name, hint in _HINTS.items()}
"""Every option by name."""
TYPES: dict[str, Any] = {name: get_args(hint)[0] for name, hint in _HINTS.items()}
"""The type of each, None among its values where the method has a default of its own."""


def options_of(method: str) -> tuple[str, ...]:
    """The options that a method takes."""
    return tuple(name for name, option in OPTIONS.items() if option.method is None or method in option.methods)


def checked_options(method: str, given: dict[str, object], problem: Problem | None = None) -> Options:
    """The options given, or ParameterError for one that is unknown, out of range or not for method or problem."""
    unknown = next((name for name in given if name not in OPTIONS), None)
    if unknown is not None:
        raise ParameterError(f"option {describe(unknown)} is unknown; known are {', '.join(OPTIONS)}")
    chosen = {name: given[name] for name in OPTIONS if given.get(name) is not None}
    for name in chosen:
        if name not in options_of(method):
            raise ParameterError(f"option {name} goes with method {_listed(OPTIONS[name].methods)}, not with {method}")
        if problem and OPTIONS[name].problem not in (None, problem):
            raise ParameterError(f"option {name} goes with problem {OPTIONS[name].problem}, not with {problem}")
    for name, value in chosen.items():
        _check(name, value)
    return Options(**chosen)  # type: ignore[arg-type]


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _check(name: str, value: object) -> None:
    option, kinds = OPTIONS[name], get_args(TYPES[name]) or (TYPES[name],)
    choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
    if int in kinds:
        check_whole(f"option {name}", value, option.least, option.most)
    elif float in kinds:
        most = option.most if option.most < LARGEST_WHOLE else inf
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value <= most and value < inf):  # type: ignore[operator]
            limit = f" and at most {most}" if most < inf else ""
            raise ParameterError(f"option {name} = {describe(value)} is not a number above 0{limit}")
    elif choices:
        if value not in choices:
            raise ParameterError(f"option {name} = {describe(value)} is not {' or '.join(choices)}")
    elif not isinstance(value, str):
        raise ParameterError(f"option {name} = {describe(value)} is not a text")
