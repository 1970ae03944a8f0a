"""Scoring one control: goodput, the split of the round, and the signed slack of every constraint."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import SeedSequence

from msopt.arrays import FloatArray
from msopt.errors import InfeasibleError, ParameterError, describe
from msopt.model.control import Control, ModeRule, Reaction
from msopt.model.control_limit import ControlLimit
from msopt.model.goodput import Round, play, play_some, rejection_probability, sending_s
from msopt.model.objective import GOODPUT, Utility, utility_value
from msopt.model.problems import KINDS
from msopt.model.scenario import Scenario
from msopt.model.sharing import PowerLimited
from msopt.model.slacks import LIMITS, REACTION_LIMITS, ControlCase, ReactionCase, Slack
from msopt.modes.expected import DEFAULT_SAMPLES, ExpectedCorrection, expected_correction
from msopt.variants.decision import DecisionNumbers, limit_slack
from msopt.variants.variant import Variant


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a control is worth.

    Attributes
    ----------
    round : Round
        Tokens and times; `round.goodput` is the goodput [token/s].
    standard_error : float or None
        Of the goodput [token/s]; None where it is exact.
    rejection_probability : array, shape (K,)
    uplink_probability : array, shape (K,), or None
        Probability to be rejected and corrected by uplink; None in [MS]'s problems.
    case : ControlCase
        What the problem's own limits are asked of.
    limits : tuple of Slack
        Of the variant's limits alone.
    utility : Utility
        What the variant maximises.
    utility_value : float
        Its value [utility.unit]; for the papers' sum the goodput.
    """

    round: Round
    standard_error: float | None
    rejection_probability: FloatArray
    uplink_probability: FloatArray | None
    case: ControlCase
    limits: tuple[Slack, ...] = ()
    utility: Utility = GOODPUT
    utility_value: float = 0.0

    @property
    def goodput(self) -> float:
        """Goodput [token/s]."""
        return float(self.round.goodput)

    @cached_property
    def slacks(self) -> tuple[Slack, ...]:
        """Of the problem's own limits, then of the variant's."""
        return (*(limit.slack(self.case) for limit in LIMITS[self.case.control.problem]), *self.limits)

    def require_feasible(self) -> None:
        """Raise InfeasibleError naming the broken constraints and by how much."""
        _require_feasible(self.slacks)


@dataclass(frozen=True, eq=False)
class ReactionEvaluation:
    """How long one outcome's exchange takes [s], for each rejected device and in all, and the constraints' slack."""

    device_s: FloatArray
    correction_s: float
    slacks: tuple[Slack, ...]

    def require_feasible(self) -> None:
        """Raise InfeasibleError naming the broken constraints and by how much."""
        _require_feasible(self.slacks)


def _require_feasible(slacks: tuple[Slack, ...]) -> None:
    broken = [slack.complaint() for slack in slacks if slack.violation > 0.0]
    if broken:
        raise InfeasibleError("; ".join(broken))


def evaluate(
    scenario: Scenario,
    control: Control,
    *,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 0,
    utility: Utility | None = None,
    limits: Sequence[ControlLimit] = (),
) -> Evaluation:
    """Score a control; an infeasible one is scored too, its slacks tell.

    In problem `modes` with more devices than a table of outcomes holds, the expected correction is a mean
    over `samples` outcomes drawn with a seed of their own, the same for every method.

    Parameters
    ----------
    scenario, control
    samples, seed : int
    utility : Utility, optional
        The scenario's by default.
    limits : sequence of ControlLimit
        Beside the scenario's.

    Raises
    ------
    ParameterError
        Where the control does not have one length and bandwidth for each device.
    """
    correction = None
    if KINDS[control.problem].corrects:
        correction = scoring_correction(scenario, control.mode_rule, samples=samples, seed=seed)
    return score(scenario, control, correction, Variant.of(scenario, utility, limits))


def scoring_correction(scenario: Scenario, rule: ModeRule, *, samples: int, seed: int) -> ExpectedCorrection:
    """The expected correction that controls are scored with: never on the draws that a search has seen."""
    return expected_correction(scenario, rule, samples=samples, seed=SeedSequence(seed).spawn(2)[1])


def score(
    scenario: Scenario, control: Control, correction: ExpectedCorrection | None, variant: Variant | None = None
) -> Evaluation:
    """`evaluate` with an expected correction and a variant that are at hand; no correction in [MS]'s problems."""
    _check_shapes(scenario, control)
    variant = Variant.of(scenario) if variant is None else variant
    rejection = rejection_probability(scenario, control.draft_length)
    correction_s = 0.0 if correction is None else float(correction.expected_s(rejection[None, :])[0])
    played = _played(scenario, control, correction_s)
    own: tuple[Slack, ...] = ()
    if variant.limits:
        numbers = DecisionNumbers.of(scenario, control, played)
        own = tuple(limit_slack(limit, numbers) for limit in variant.limits if limit.sided)
    error = None
    if correction is not None and not correction.exact:
        error = float(played.goodput / played.round_s) * correction.standard_error_s(rejection)
    return Evaluation(
        played,
        error,
        rejection,
        None if correction is None else correction.uplink_probability(rejection),
        ControlCase(scenario, control, played),
        own,
        variant.utility,
        utility_value(variant.utility, played.expected_tokens, played.round_s),
    )


def _played(scenario: Scenario, control: Control, correction_s: float) -> Round:
    """The round of a control, with those who take part and the time that it waits."""
    played = play(scenario, control.problem, control.draft_length, control.bandwidth_hz, correction_s)
    if control.not_before_s is not None:
        played = replace(played, draft_upload_s=np.maximum(played.draft_upload_s, control.not_before_s))
    if control.served is not None:
        played = play_some(scenario, played, control.draft_length, control.served)
        if not played.round_s > 0.0:
            raise InfeasibleError("nobody takes part, and the round takes no time")
    return played


def _check_shapes(scenario: Scenario, control: Control) -> None:
    for name, values in (("draft_length", control.draft_length), ("bandwidth_hz", control.bandwidth_hz)):
        if np.shape(values) != (scenario.device_count,):
            raise ParameterError(
                f"control: {name} has shape {np.shape(values)}; ({scenario.device_count},) is needed, "
                "one number for each device"
            )


def evaluate_reaction(scenario: Scenario, reaction: Reaction) -> ReactionEvaluation:
    """Score modes, shares and powers for one outcome: each device's exchange at the rate its share and power give.

    Raises
    ------
    ParameterError
        Where a rejected device is not one of the scenario's, or is there twice.
    """
    places = reaction.rejected
    if np.unique(places).size < places.size or np.any((places < 0) | (places >= scenario.device_count)):
        raise ParameterError(
            f"reaction: rejected = {describe(places.tolist())} are not different devices, "
            f"from 0 to {scenario.device_count - 1}"
        )
    case = ReactionCase(scenario, reaction, _exchange_s(scenario, reaction))
    slacks = tuple(limit.slack(case) for limit in REACTION_LIMITS)
    return ReactionEvaluation(case.exchange_s, float(np.max(case.exchange_s, initial=0.0)), slacks)


def _exchange_s(scenario: Scenario, reaction: Reaction) -> FloatArray:
    """How long each rejected device sends, or is sent, its distribution at its share and power [s]."""
    power = np.where(reaction.downlink_power_w > 0.0, reaction.downlink_power_w, 0.0)
    fraction = np.where(reaction.on_uplink, 0.0, power) / scenario.downlink_power_w
    with np.errstate(over="ignore"):  # of a power far beyond the budget, which a limit tells
        received = fraction * scenario.downlink_snr[reaction.rejected] * scenario.downlink_bandwidth_hz
    up_rate = scenario.uplink.take(reaction.rejected).rate(reaction.bandwidth_hz)
    down_rate = PowerLimited(received).rate(reaction.bandwidth_hz)
    return sending_s(scenario.distribution_bits, np.where(reaction.on_uplink, up_rate, down_rate))
