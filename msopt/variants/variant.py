"""A variant of a problem: what is maximised, and which limits hold besides the papers' (design section 7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.control_limit import ControlLimit
from msopt.model.objective import GOODPUT, Utility
from msopt.model.scenario import Scenario
from msopt.variants.bandwidth_limits import BandwidthCap, BandwidthFloor, ResourceBlocks
from msopt.variants.capacity_limits import Slots
from msopt.variants.energy_limits import AveragePower
from msopt.variants.goodput_limits import GoodputFloor, TokenLatencyCeiling
from msopt.variants.length_limits import TokenBudget
from msopt.variants.utilities import Admission, AlphaFair, MaxMin, ProportionalFair, WeightedSum, WeightedUtility
from msopt.variants.well_formed import check_growth, check_utility_class, listed

_OF_FIELD: tuple[tuple[str, Callable[[Any], ControlLimit]], ...] = (
    ("token_latency_ceiling_s", TokenLatencyCeiling),
    ("token_budget", TokenBudget),
    ("slots", Slots),
    ("bandwidth_floor_hz", BandwidthFloor),
    ("bandwidth_cap_hz", BandwidthCap),
    ("resource_block_hz", ResourceBlocks),
)
"""The limit that each field of a scenario with one number is; a floor may be each device's own."""


@dataclass(frozen=True, eq=False)
class Variant:
    """What is maximised and what limits hold.

    Attributes
    ----------
    utility : Utility
    limits : tuple of ControlLimit
        With different names.
    plain : bool
        Whether it is the papers' own problem.
    """

    utility: Utility
    limits: tuple[ControlLimit, ...]
    plain: bool

    @classmethod
    def of(cls, scenario: Scenario, utility: Utility | None = None, limits: Sequence[ControlLimit] = ()) -> Self:
        """What a scenario's own keys ask for, with another utility and further limits.

        Raises
        ------
        ParameterError
            For what is no utility or limit, a utility that falls with goodput, or two limits of one name.
        """
        if utility is not None:
            check_utility_class(utility)
        given = listed(limits)
        chosen = _utility(scenario) if utility is None else utility
        plain = utility is None and not given and not scenario.variant_fields
        if isinstance(chosen, WeightedUtility):
            weights = scenario.weight if scenario.weight is not None else np.ones(scenario.device_count)
            chosen = chosen.weighted(weights)
        if utility is not None and chosen.tabular:
            check_growth(chosen, scenario.device_count)
        every = tuple(_limits(scenario, guaranteed=isinstance(chosen, Admission) and utility is None)) + given
        names = [limit.name for limit in every]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"limit {twice} is there twice")
        return cls(chosen, every, plain)

    @property
    def idle(self) -> bool:
        """Whether a device may also take no part in a round."""
        return isinstance(self.utility, Admission) or any(limit.idle for limit in self.limits)

    def check_table(self) -> None:
        """Raise ParameterError where no table of actions takes the utility or a limit."""
        parts = [("utility", self.utility.name, self.utility.tabular)]
        parts += [("limit", limit.name, limit.tabular) for limit in self.limits]
        for kind, name, tabular in parts:
            if not tabular:
                raise ParameterError(f"{kind} {name} has no table form; method convex needs none")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is not known of its limits, in words."""
        return tuple(
            f"limit {limit.name} has no two sides: its slack is not known, and no control is checked against it"
            for limit in self.limits
            if not limit.sided
        )


def _utility(scenario: Scenario) -> Utility:
    name = scenario.utility or "sum"
    if name == "sum":
        return GOODPUT if scenario.weight is None else WeightedSum()
    if name == "alpha-fair":
        assert scenario.fairness_alpha is not None
        return AlphaFair(fairness=scenario.fairness_alpha)
    if name == "admission":
        return Admission(_guaranteed(scenario))
    return {"proportional-fair": ProportionalFair, "max-min": MaxMin}[name]()


def _guaranteed(scenario: Scenario) -> FloatArray:
    floors = _floors(scenario)
    if floors is None:
        raise ParameterError('variant.utility = "admission" needs goodput_floor_tokens_per_s, the goodput guaranteed')
    return floors


def _floors(scenario: Scenario) -> FloatArray | None:
    """The greater of the floor of all and of each device's own, shape (K,); None where there is neither."""
    every, own = scenario.goodput_floor_tokens_per_s, scenario.device_goodput_floor_tokens_per_s
    if every is None and own is None:
        return None
    least = np.full(scenario.device_count, 0.0 if every is None else every)
    return least if own is None else np.asarray(np.maximum(least, own))


def _limits(scenario: Scenario, guaranteed: bool) -> Iterator[ControlLimit]:
    floors = _floors(scenario)
    if floors is not None and not guaranteed:
        yield GoodputFloor(floors)
    for name, limit in _OF_FIELD:
        value = getattr(scenario, name)
        if value is not None:
            yield limit(value)
    if scenario.average_power_w is not None:
        yield AveragePower(scenario.draft_power_w, scenario.transmit_power_w, scenario.average_power_w)
