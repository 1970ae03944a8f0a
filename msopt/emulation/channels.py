"""Which channel and which control hold in which rounds: one for all, or one for each block of coherence."""

from dataclasses import dataclass, replace

import numpy as np

from msopt.arrays import FloatArray
from msopt.emulation.left_out import LeftOut
from msopt.many import solve_many
from msopt.model.control import Control
from msopt.model.scenario import Scenario
from msopt.units import linear_to_db


@dataclass(frozen=True, eq=False)
class ChannelBlock:
    """Rounds from `first` up to `end`, not included, with one channel and one control."""

    first: int
    end: int
    scenario: Scenario
    control: Control


def channel_blocks(
    scenario: Scenario, control: Control, rounds: int, left_out: LeftOut, seed: np.random.SeedSequence
) -> list[ChannelBlock]:
    """The blocks of a play. Both links of a device have the same gain; solved anew is by `solve_many`."""
    coherence = left_out.coherence_rounds
    if coherence is None:
        return [ChannelBlock(0, rounds, scenario, control)]
    generator = np.random.default_rng(seed)
    firsts = range(0, rounds, coherence)
    shape = left_out.fading_shape
    scenarios = [_faded(scenario, generator.gamma(shape, 1.0 / shape, scenario.device_count)) for _ in firsts]
    controls = [control] * len(scenarios)
    if left_out.solved_anew:
        found = solve_many(scenarios, control.problem)
        controls = [
            replace(control, draft_length=length, bandwidth_hz=share, mode_rule="best", served=None, not_before_s=None)
            for length, share in zip(found.draft_length, found.bandwidth_hz, strict=True)
        ]
    return [
        ChannelBlock(first, min(first + coherence, rounds), *given)
        for first, given in zip(firsts, zip(scenarios, controls, strict=True), strict=True)
    ]


def _faded(scenario: Scenario, gain: FloatArray) -> Scenario:
    change_db = linear_to_db(gain)
    return scenario.replace(
        uplink_snr_db=scenario.uplink_snr_db + change_db, downlink_snr_db=scenario.downlink_snr_db + change_db
    )
