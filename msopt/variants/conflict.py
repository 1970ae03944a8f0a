"""Why no choice of actions keeps all limits: which of them exclude each other, and how far one has to give way."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from msopt.model.control_limit import ControlLimit
from msopt.variants.variant import Variant

_ALL_SETS = 6  # limits: of more, not every set is tried
_MOST = 1e6  # by which factor a number gives way at most
_PRECISION = 1e-4  # relative, of the number at which it would do: four digits are shown
_ASKED = {">=": ("at least", "the most"), "<=": ("at most", "the least")}

Possible = Callable[[Sequence[ControlLimit]], bool]
"""Whether some choice keeps some limits."""


def why_none(variant: Variant, possible: Possible) -> str:
    """One line for a variant without any choice; `possible` tells whether there is one for fewer or easier limits."""
    limits = variant.limits
    if possible(limits):
        return (
            f"every choice of actions that keeps all limits leaves a device without tokens, which utility "
            f"{variant.utility.name} does not allow"
        )
    if not possible(()):
        return "no choice of actions has all bits there in time, whatever the limits"
    core = _smallest(limits, possible)
    names = " and ".join(f"the limit {limit.name}" for limit in core)
    exclude = f"exclude{'' if len(core) > 1 else 's'} every choice{' together' if len(core) > 1 else ''}"
    return f"no choice of actions keeps all limits: {names} {exclude}{_nearest(core, limits, possible)}"


def _smallest(limits: Sequence[ControlLimit], possible: Possible) -> list[ControlLimit]:
    """A set of limits that no choice keeps: of few limits the smallest one, else one that is possible without any."""
    if len(limits) <= _ALL_SETS:
        for size in range(1, len(limits)):
            for some in combinations(limits, size):
                if not possible(some):
                    return list(some)
        return list(limits)
    core = list(limits)
    for limit in limits:
        rest = [one for one in core if one is not limit]
        if not possible(rest):
            core = rest
    return core


def _nearest(core: Sequence[ControlLimit], limits: Sequence[ControlLimit], possible: Possible) -> str:
    """What one limit asks for and the nearest number that can be kept beside all others; "" where none would do."""
    best: tuple[float, ControlLimit] | None = None
    for limit in core:
        most = _MOST if best is None else best[0]

        def will_do(factor: float, limit: ControlLimit = limit) -> bool:
            eased = limit.eased(factor)
            return eased is not None and possible([eased if one is limit else one for one in limits])

        if will_do(most):
            low, high = 0.0, float(np.log(most))
            while high - low > _PRECISION:
                middle = 0.5 * (low + high)
                low, high = (low, middle) if will_do(float(np.exp(middle))) else (middle, high)
            best = float(np.exp(high)), limit
    if best is None:
        return ""
    factor, limit = best
    given = np.unique(np.asarray(getattr(limit, limit.number), dtype=float))
    unit = limit.number_unit or limit.unit
    asked, nearest = _ASKED[limit.sense]
    if given.size > 1:
        part = 100.0 / factor if limit.sense == ">=" else 100.0 * factor
        return f"; {limit.name}: about {part:.4g} % of its numbers is {nearest} beside the others"
    does = float(given[0]) / factor if limit.sense == ">=" else float(given[0]) * factor
    return f"; {limit.name} asks for {asked} {given[0]:.6g} {unit}, and about {does:.4g} is {nearest} beside the others"
