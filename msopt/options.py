"""What a user may choose about a method."""

from dataclasses import dataclass
from math import inf

from msopt.errors import ParameterError, describe
from msopt.model.validation import (
    LARGEST_WHOLE,
    MOST_GRID_POINTS,
    MOST_SAMPLES,
    MOST_TOKENS,
    check_whole,
)
from msopt.rivals.grid import GridRule


@dataclass(frozen=True, kw_only=True)
class Options:
    """What some methods let a user choose; None means the method's own default.

    Attributes
    ----------
    samples : int
        Outcomes that score a control of problem `modes` beyond the table (20 000), and with method `greedy`
        the fresh outcomes of each of its evaluations (exact within the table, 1000 beyond).
    seed : int
        Of every draw.
    length : int
        The length of method `fixed` (8 within the limits).
    grid_phi, grid_lambda : int
        Points of method `grid` (100 each).
    grid_rule : "clip" or "skip"
        What `grid` does with rounded lengths outside the limits.
    node_limit : int
        The most nodes that method `exact` looks at (no limit).
    time_limit_s : float
        The most time that it searches [s] (no limit).
    """

    samples: int | None = None
    seed: int = 0
    length: int | None = None
    grid_phi: int | None = None
    grid_lambda: int | None = None
    grid_rule: GridRule | None = None
    node_limit: int | None = None
    time_limit_s: float | None = None


_METHOD_OF_OPTION = {
    "length": "fixed",
    "grid_phi": "grid",
    "grid_lambda": "grid",
    "grid_rule": "grid",
    "node_limit": "exact",
    "time_limit_s": "exact",
}
_LIMITS = {
    "samples": (2, MOST_SAMPLES),
    "seed": (0, LARGEST_WHOLE),
    "length": (0, MOST_TOKENS),
    "grid_phi": (1, MOST_GRID_POINTS),
    "grid_lambda": (1, MOST_GRID_POINTS),
    "node_limit": (1, LARGEST_WHOLE),
}


def checked_options(method: str, given: dict[str, object]) -> Options:
    """The options given, or ParameterError for one that is unknown, out of range or not for the method."""
    try:
        chosen = Options(**given)  # type: ignore[arg-type]
    except TypeError:
        unknown = next(name for name in given if name not in Options.__dataclass_fields__)
        raise ParameterError(
            f"option {describe(unknown)} is unknown; known are {', '.join(Options.__dataclass_fields__)}"
        ) from None
    for name, owner in _METHOD_OF_OPTION.items():
        if getattr(chosen, name) is not None and method != owner:
            raise ParameterError(f"option {name} goes with method {owner}, not with {method}")
    for name, (least, most) in _LIMITS.items():
        value = getattr(chosen, name)
        if value is not None:
            check_whole(f"option {name}", value, least, most)
    limit = chosen.time_limit_s
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < inf):
        raise ParameterError(f"option time_limit_s = {describe(limit)} is not a number above 0")
    if chosen.grid_rule not in (None, "clip", "skip"):
        raise ParameterError(f"option grid_rule = {describe(chosen.grid_rule)} is not clip or skip")
    return chosen
