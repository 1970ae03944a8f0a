"""Which formulation tests which statement, and what cross-checks it.

The closed forms are named by text only: `msopt.module:function`, resolved by whoever may import both. That
keeps the two independent: no formulation can borrow an answer from the code it is meant to check.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from formulations.core.formulation import AbstractFormulation
from formulations.problems.bandwidth_for_lengths import BandwidthForLengths
from formulations.problems.bandwidth_minmax import BandwidthMinMax
from formulations.problems.downlink_power import DownlinkPower
from formulations.problems.draft_control import DraftControl
from formulations.problems.free_correction import FreeCorrection
from formulations.problems.homogeneous_length import HomogeneousLength
from formulations.problems.joint_law_bound import JointLawBound
from formulations.problems.lengths_at_deadline import LengthsAtDeadline
from formulations.problems.mode_selection import ModeSelection
from formulations.problems.whole_lengths import WholeLengths
from msopt.errors import ParameterError, describe
from msopt.model.scenario import Scenario

OBJECTIVE_RTOL = 1e-6
"""Conic optimum against closed form; observed 1e-8."""

ARGMIN_RTOL = 1e-3
"""Minimisers, where they are unique: the square root of the objective's."""

WHOLE_RTOL = 1e-8
"""Mixed-integer optimum against the local search: HiGHS prunes within its tolerances of 1e-9; 4e-9 was seen."""

PRICE_RTOL = 1e-3
"""Multipliers."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One formulation and its cross-check.

    Attributes
    ----------
    name : str
        Of the formulation.
    formulation : class
        What `build` builds from a scenario, and from what `needs` names.
    options : mapping
        Which of its kinds it is, as its constructor takes them.
    statement : str
        The lemma, theorem or proposition it tests.
    closed_form : str
        `msopt.module:function` that computes the same without a solver.
    objective_rtol, argmin_rtol : float or None
        Tolerances on objective and minimiser; None: the minimiser need not be unique.
    bound : bool
        Whether it bounds the closed form from above in place of equalling it.
    """

    name: str
    formulation: type[AbstractFormulation]
    statement: str
    closed_form: str
    options: Mapping[str, Any] = field(default_factory=dict)
    objective_rtol: float = OBJECTIVE_RTOL
    argmin_rtol: float | None = ARGMIN_RTOL
    bound: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """What its constructor takes beside the scenario and the options."""
        _, *given = inspect.signature(self.formulation).parameters.values()
        return tuple(each.name for each in given if each.kind is not each.KEYWORD_ONLY)

    def build(self, scenario: Scenario, *given: Any) -> AbstractFormulation:
        """The program of a scenario and of what it `needs`, in that order."""
        return self.formulation(scenario, *given, **self.options)


_ENTRIES = (
    Entry(
        name="bandwidth-minmax",
        formulation=BandwidthMinMax,
        statement="[MS] Lemma 1: equal per-token latencies",
        closed_form="msopt.lengths.homogeneous:per_token_optimum",
    ),
    Entry(
        name="homogeneous-length",
        formulation=HomogeneousLength,
        statement="[MS] Theorem 1: unimodal in the common length",
        closed_form="msopt.formulas.multispin:common_length",
        objective_rtol=1e-4,
        argmin_rtol=None,
    ),
    Entry(
        name="homogeneous-joint",
        formulation=DraftControl,
        options={"common": True},
        statement="[MS] Theorem 1 with Lemma 1: length and split together",
        closed_form="msopt.lengths.homogeneous:solve_homogeneous",
    ),
    Entry(
        name="bandwidth-for-lengths",
        formulation=BandwidthForLengths,
        statement="[MS] Lemmas 2 and 3: equal latencies for given lengths",
        closed_form="msopt.lengths.relaxed:length_split",
    ),
    Entry(
        name="lengths-at-deadline",
        formulation=LengthsAtDeadline,
        statement="[MS] Proposition 1: lengths for a deadline",
        closed_form="msopt.formulas.multispin:lengths_at_deadline",
    ),
    Entry(
        name="draft-control",
        formulation=DraftControl,
        statement="design section 4 (ours): one convex program; [MS]'s problem, geometric law, fixed SNR",
        closed_form="msopt.lengths.relaxed:solve_relaxed",
    ),
    Entry(
        name="draft-control-curves",
        formulation=DraftControl,
        options={"chords": True},
        statement="design section 7 (ours): the same with curves, piecewise linear",
        closed_form="msopt.lengths.relaxed:solve_relaxed",
        argmin_rtol=None,
    ),
    Entry(
        name="draft-control-power-limited",
        formulation=DraftControl,
        statement="design section 7 (ours): the same with power-limited sharing",
        closed_form="msopt.lengths.relaxed:solve_relaxed",
    ),
    Entry(
        name="whole-lengths",
        formulation=WholeLengths,
        statement="design section 4 (ours): whole lengths for a deadline, a multiple-choice knapsack",
        closed_form="msopt.lengths.heterogeneous:solve_heterogeneous",
        objective_rtol=WHOLE_RTOL,
        argmin_rtol=None,
    ),
    Entry(
        name="downlink-power",
        formulation=DownlinkPower,
        statement="[UD] Lemma 1: powers equalise the delays",
        closed_form="msopt.formulas.uldl:equal_delay_power",
    ),
    Entry(
        name="mode-selection",
        formulation=ModeSelection,
        statement="[UD] Lemma 2 and Proposition 1: the best uplink set is a prefix",
        closed_form="msopt.modes.correction:react",
        argmin_rtol=None,
    ),
    Entry(
        name="free-correction-shared-band",
        formulation=FreeCorrection,
        options={"bands": "shared-band"},
        statement="design section 5 (ours): bandwidths and power of a correction in one band, modes given",
        closed_form="msopt.modes.correction:free_reaction",
    ),
    Entry(
        name="free-correction-separate-bands",
        formulation=FreeCorrection,
        options={"bands": "separate-bands"},
        statement="design section 5 (ours): the same with a band for either direction",
        closed_form="msopt.modes.correction:free_reaction",
        argmin_rtol=None,
    ),
    Entry(
        name="joint-law-bound",
        formulation=JointLawBound,
        statement="design section 5 (ours): any joint law of the rejections bounds independence from above",
        closed_form="msopt.modes.local_search:best_lengths",
        objective_rtol=1e-7,
        argmin_rtol=None,
        bound=True,
    ),
)

REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def formulation(name: str) -> Entry:
    """The entry of a formulation; raises ParameterError that lists the names there are."""
    if name not in REGISTRY:
        raise ParameterError(f"there is no formulation {describe(name)}; there are {', '.join(REGISTRY)}")
    return REGISTRY[name]
