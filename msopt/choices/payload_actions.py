"""A payload for each device: how much of every distribution is sent, against the acceptance that it keeps (ours).

A draft that is sent cut short is accepted more rarely. A measured payload table tells by what part: an option with
`kept` has S(l) kept^l in place of S(l). Few bits for devices in a bad place, many for those in a good one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from msopt.arrays import every_length
from msopt.errors import ParameterError, describe
from msopt.measured.profile import Profile
from msopt.model.scenario import Scenario
from msopt.variants.action_table import ActionTable


@dataclass(frozen=True)
class PayloadOption:
    """One way to send a distribution.

    Attributes
    ----------
    distribution_bits : float
        What it takes [bit].
    kept : float
        The acceptance of a token with it over that with whole distributions, in (0, 1].
    """

    distribution_bits: float
    kept: float

    def __post_init__(self) -> None:
        if not (isfinite(self.distribution_bits) and self.distribution_bits >= 0.0):
            raise ParameterError(
                f"distribution_bits = {describe(self.distribution_bits)} is not a number of at least 0"
            )
        if not 0.0 < self.kept <= 1.0:
            raise ParameterError(f"kept = {describe(self.kept)} is not in (0, 1]")


def payload_options(profile: Profile, task: str, *, at_device: bool = False) -> tuple[PayloadOption, ...]:
    """The payload table of a profile's task, without what other rows beat in both numbers; fewest bits first.

    Parameters
    ----------
    profile : Profile
    task : str
    at_device : bool
        Whether the correction is sampled at the device: what the server then sends is cut short instead.

    Raises
    ------
    ParameterError
        Where the table has no row of the task.
    """
    found: list[tuple[int, float]] = []
    for row in (row for row in profile.payload if row.task in (task, None)):
        estimate = row.acceptance_at_device if at_device else row.acceptance
        if estimate is not None and estimate.value:
            found.append((row.distribution_bits, estimate.value))
    if not found:
        raise ParameterError(f'profile "{profile.name}" has no payload table for task {describe(task)}')
    best = max(acceptance for _, acceptance in found)
    options: list[PayloadOption] = []
    for bits, acceptance in sorted(found, key=lambda one: (one[0], -one[1])):
        if not options or acceptance / best > options[-1].kept:
            options.append(PayloadOption(float(bits), acceptance / best))
    return tuple(options)


def payload_actions(scenario: Scenario, options: Sequence[Sequence[PayloadOption]]) -> ActionTable:
    """Every draft length with every payload of the device; the scenario's own `distribution_bits` is not looked at.

    Parameters
    ----------
    scenario : Scenario
        Its acceptance is that of whole distributions.
    options : sequence of K sequences
        Those of each device; one sequence for all where there is only one.

    Raises
    ------
    ParameterError
        Where there is not one sequence for each device, or an empty one.
    """
    count = scenario.device_count
    each = list(options) * count if len(options) == 1 else list(options)
    if len(each) != count or not all(each):
        raise ParameterError(f"there are {len(each)} lists of payload options; {count} that are not empty are needed")
    low, high = scenario.length_limits("heterogeneous")
    lengths = every_length((low, high), count)
    survival = scenario.acceptance.survival(np.arange(high + 1.0)[:, None] * np.ones(count))
    tables = []
    for n in range(max(len(own) for own in each)):
        there = np.array([n < len(own) for own in each])
        chosen = [own[min(n, len(own) - 1)] for own in each]
        kept = np.array([option.kept for option in chosen])
        bits = np.array([option.distribution_bits for option in chosen])
        tokens = np.cumsum(survival * kept ** np.arange(high + 1.0)[:, None], axis=0)[low:]
        tables.append(
            ActionTable(
                labels=tuple(f"draft {length}, payload {n + 1}" for length in range(low, high + 1)),
                device_names=scenario.device_names,
                tokens=tokens,
                compute_s=lengths * scenario.draft_s_per_token,
                trip_s=scenario.trip_s(lengths > 0.0),
                bits=lengths * (scenario.token_bits + bits),
                verified=lengths + 1.0,
                drafted=lengths,
                allowed=np.broadcast_to(there, lengths.shape),
                extra={"distribution_bits": np.where(lengths > 0.0, bits, 0.0)},
            )
        )
    return ActionTable.stacked(tables)
