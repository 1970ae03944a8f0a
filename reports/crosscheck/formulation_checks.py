"""Which scenarios each formulation of the registry is checked on, with what, and against what."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from formulations.registry import REGISTRY, Entry
from msopt import Scenario
from msopt.model.acceptance import Acceptance
from msopt.model.sharing import UplinkSharing
from reports.crosscheck import formulation_inputs, references_ms, references_ud
from reports.crosscheck.references_ms import Inputs, Reference
from reports.crosscheck.solver_promises import Promise, Promises

BOTH: tuple[UplinkSharing, ...] = ("fixed-snr", "power-limited")
FIXED: tuple[UplinkSharing, ...] = ("fixed-snr",)
LIMITED: tuple[UplinkSharing, ...] = ("power-limited",)
MOST_REJECTED = 20
SPREAD = 0.35
"""Deviation of a Beta law, as a share of the greatest that its mean allows."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """How one formulation is checked.

    Attributes
    ----------
    entry : Entry
        The formulation, its statement and tolerances.
    reference : callable
        (scenario, inputs) to Reference.
    minimiser : str
        The decision compared with the reference's; "" for none.
    sharings : tuple of str
        Ways to share that it takes; random trials go through them in turn.
    largest : int or None
        Greatest K it takes.
    geometric : bool
        Whether it takes the geometric law only.
    given : dict
        For each need of the entry, what is computed from the scenario.
    prepare : callable
        (random scenario, trial) to the scenario that is checked.
    algorithm : str
        The paper's algorithm whose goodput must not be above.
    equals_brute_force : bool
        Whether enumeration must be met, not only stay below.
    not_asked : dict
        Why a solver is not asked, by solver and sharing: what it is known to break down on. The cross-check says so.
    stalls : Promises
        Where a solver is known to stall on this formulation. A stalled point is refused; the cross-check says so, and
        how far from the closed form it was.
    """

    entry: Entry
    reference: Callable[[Scenario, Inputs], Reference]
    minimiser: str = ""
    sharings: tuple[UplinkSharing, ...] = BOTH
    largest: int | None = None
    geometric: bool = False
    given: dict[str, Callable[[Scenario], Any]] = field(default_factory=dict)
    prepare: Callable[[Scenario, int], Scenario] = lambda scenario, _: scenario
    algorithm: str = ""
    equals_brute_force: bool = False
    not_asked: dict[tuple[str, UplinkSharing], str] = field(default_factory=dict)
    stalls: Promises = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the formulation."""
        return self.entry.name

    def inputs(self, scenario: Scenario) -> Inputs:
        """What the formulation is given beside the scenario."""
        return {need: self.given[need](scenario) for need in self.entry.needs}

    def refuses(self, scenario: Scenario, solver: str) -> str:
        """Why this scenario is none for the formulation and solver; "" where it is one."""
        if scenario.variant_fields:
            return "a variant, which has a row of its own"
        if (solver, scenario.uplink_sharing) in self.not_asked:
            return self.not_asked[solver, scenario.uplink_sharing]
        if scenario.uplink_sharing not in self.sharings:
            return f"uplink_sharing = {scenario.uplink_sharing}"
        if self.geometric and not scenario.acceptance.geometric:
            return "not the geometric law"
        if self.largest is not None and scenario.device_count > self.largest:
            return f"more than {self.largest} devices"
        return ""


def _alike(scenario: Scenario, trial: int) -> Scenario:
    """One acceptance for all, as Theorem 1 has it, in every other pair of trials."""
    if trial % 4 < 2:
        return scenario
    return scenario.replace(acceptance=np.full(scenario.device_count, scenario.acceptance.mean[0]))


def _varying(scenario: Scenario, trial: int) -> Scenario:
    """Beta laws in every other pair of trials."""
    if trial % 4 < 2:
        return scenario
    mean = scenario.acceptance.mean
    return scenario.replace(acceptance=Acceptance.of(mean, SPREAD * np.sqrt(mean * (1.0 - mean))))


_ALL: dict[str, Callable[[Scenario], Any]] = {
    "devices": lambda scenario: list(range(scenario.device_count)),
    "rejected": lambda scenario: list(range(min(scenario.device_count, MOST_REJECTED))),
    "on_uplink": lambda scenario: formulation_inputs.some_modes(scenario, MOST_REJECTED),
    "per_token_s": formulation_inputs.best_per_token,
    "draft_length": formulation_inputs.some_lengths,
    "deadline_s": formulation_inputs.some_deadline,
    "shares": formulation_inputs.some_shares,
}

_CHORDS = "100,000 of its iterations leave it 1e-5 to 1e-3 off beside many chords"
_MIXTURE = "it breaks down on exponential cones beside many chords"
_STALL = Promise(
    0.80, "ECOS stalls about here in one cell of eight: near the optimum, dual residuals short of its tolerance"
)
_BISECTION = "CVXPY's bisection ran out of steps with it in 45 of 300 trials"

_CHECKS = (
    Check(entry=REGISTRY["bandwidth-minmax"], reference=references_ms.minmax, minimiser="bandwidth_hz"),
    Check(
        entry=REGISTRY["homogeneous-length"],
        reference=references_ms.common_length,
        given=_ALL,
        prepare=_alike,
        not_asked={("CLARABEL", sharing): _BISECTION for sharing in BOTH},
    ),
    Check(
        entry=REGISTRY["homogeneous-joint"],
        reference=references_ms.homogeneous,
        minimiser="draft_length",
        stalls={("ECOS", "power-limited"): _STALL},
    ),
    Check(
        entry=REGISTRY["bandwidth-for-lengths"],
        reference=references_ms.split_for_lengths,
        minimiser="bandwidth_hz",
        given=_ALL,
    ),
    Check(
        entry=REGISTRY["lengths-at-deadline"], reference=references_ms.at_deadline, minimiser="draft_length", given=_ALL
    ),
    Check(
        entry=REGISTRY["draft-control"],
        reference=references_ms.relaxed,
        minimiser="draft_length",
        sharings=FIXED,
        geometric=True,
        algorithm="grid",
    ),
    Check(
        entry=REGISTRY["draft-control-curves"],
        reference=references_ms.interpolated,
        prepare=_varying,
        not_asked={("ECOS", "power-limited"): _MIXTURE, **{("SCS", sharing): _CHORDS for sharing in BOTH}},
    ),
    Check(
        entry=REGISTRY["draft-control-power-limited"],
        reference=references_ms.relaxed,
        minimiser="draft_length",
        sharings=LIMITED,
        geometric=True,
        algorithm="grid",
    ),
    Check(
        entry=REGISTRY["whole-lengths"],
        reference=references_ms.whole,
        given=_ALL | {"deadline_s": formulation_inputs.whole_deadline},
        algorithm="grid",
        equals_brute_force=True,
    ),
    Check(
        entry=REGISTRY["downlink-power"],
        reference=references_ud.downlink_power,
        minimiser="downlink_power_w",
        given=_ALL,
    ),
    Check(entry=REGISTRY["mode-selection"], reference=references_ud.modes, given=_ALL, equals_brute_force=True),
    Check(
        entry=REGISTRY["free-correction-shared-band"],
        reference=references_ud.free_correction("shared-band"),
        minimiser="bandwidth_hz",
        given=_ALL,
    ),
    Check(
        entry=REGISTRY["free-correction-separate-bands"],
        reference=references_ud.free_correction("separate-bands"),
        given=_ALL,
    ),
    Check(
        entry=REGISTRY["joint-law-bound"],
        reference=references_ud.lengths_for_modes,
        largest=10,
        given=_ALL | {"deadline_s": formulation_inputs.mode_deadline},
        algorithm="greedy",
    ),
)

CHECKS: dict[str, Check] = {check.name: check for check in _CHECKS}
"""One for each entry of the registry."""
