"""Scoring one control: goodput, the split of the round, and the signed slack of every constraint."""

from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence

from msopt.arrays import FloatArray
from msopt.errors import InfeasibleError, ParameterError, describe
from msopt.model.control import Control, ModeRule, Reaction
from msopt.model.goodput import Round, finish_s, play, rejection_probability, sending_s
from msopt.model.scenario import Scenario
from msopt.model.sharing import PowerLimited
from msopt.modes.expected import DEFAULT_SAMPLES, ExpectedCorrection, expected_correction

FEASIBILITY_RTOL = 1e-9
_NEVER = ": what it sends never arrives"


@dataclass(frozen=True, eq=False)
class Slack:
    """How much room a constraint leaves.

    Attributes
    ----------
    constraint : str
    unit : str
    value : array
        At least 0 where the constraint holds; one number, or one for each device.
    scale : float
        What a violation is compared with: beyond 1e-9 of it the control is infeasible.
    devices : tuple of str
        Whom the numbers belong to; empty for a constraint on all.
    consequence : str
        What is so where it is broken without measure.
    """

    constraint: str
    unit: str
    value: FloatArray
    scale: float
    devices: tuple[str, ...] = ()
    consequence: str = ""

    @property
    def violation(self) -> float:
        """By how much the constraint is broken [unit]; 0 where it holds within the tolerance."""
        worst = float(np.max(-self.value, initial=0.0))
        return worst if worst > FEASIBILITY_RTOL * self.scale else 0.0

    def complaint(self) -> str:
        """One line: the constraint, for whom it is broken most, and by how much."""
        worst = int(np.argmin(self.value))
        whom = f" of {describe(self.devices[worst])}" if self.devices else ""
        by = f" by {self.violation:.6g} {self.unit}" if np.isfinite(self.violation) else self.consequence
        return f"{self.constraint}{whom} is broken{by}"


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
    slacks : tuple of Slack
    """

    round: Round
    standard_error: float | None
    rejection_probability: FloatArray
    uplink_probability: FloatArray | None
    slacks: tuple[Slack, ...]

    @property
    def goodput(self) -> float:
        """Goodput [token/s]."""
        return float(self.round.goodput)

    def require_feasible(self) -> None:
        """Raise InfeasibleError naming the first broken constraint and by how much."""
        _require_feasible(self.slacks)


@dataclass(frozen=True, eq=False)
class ReactionEvaluation:
    """How long one outcome's exchange takes [s], for each rejected device and in all, and the constraints' slack."""

    device_s: FloatArray
    correction_s: float
    slacks: tuple[Slack, ...]

    def require_feasible(self) -> None:
        """Raise InfeasibleError naming the first broken constraint and by how much."""
        _require_feasible(self.slacks)


def _require_feasible(slacks: tuple[Slack, ...]) -> None:
    for slack in slacks:
        if slack.violation > 0.0:
            raise InfeasibleError(slack.complaint())


def evaluate(scenario: Scenario, control: Control, *, samples: int = DEFAULT_SAMPLES, seed: int = 0) -> Evaluation:
    """Score a control; an infeasible one is scored too, its slacks tell.

    In problem `modes` with more devices than a table of outcomes holds, the expected correction is a mean
    over `samples` outcomes drawn with a seed of their own, the same for every method.

    Raises
    ------
    ParameterError
        Where the control does not have one length and bandwidth for each device.
    """
    correction = None
    if control.problem == "modes":
        correction = scoring_correction(scenario, control.mode_rule, samples=samples, seed=seed)
    return score(scenario, control, correction)


def scoring_correction(scenario: Scenario, rule: ModeRule, *, samples: int, seed: int) -> ExpectedCorrection:
    """The expected correction that controls are scored with: never on the draws that a search has seen."""
    return expected_correction(scenario, rule, samples=samples, seed=SeedSequence(seed).spawn(2)[1])


def score(scenario: Scenario, control: Control, correction: ExpectedCorrection | None) -> Evaluation:
    """`evaluate` with an expected correction that is at hand; None in [MS]'s problems."""
    _check_shapes(scenario, control)
    rejection = rejection_probability(scenario, control.draft_length)
    correction_s = 0.0 if correction is None else float(correction.expected_s(rejection[None, :])[0])
    played = play(scenario, control.problem, control.draft_length, control.bandwidth_hz, correction_s)
    error = None
    if correction is not None and not correction.exact:
        error = float(played.goodput / played.round_s) * correction.standard_error_s(rejection)
    return Evaluation(
        played,
        error,
        rejection,
        None if correction is None else correction.uplink_probability(rejection),
        _slacks(scenario, control, played),
    )


def _check_shapes(scenario: Scenario, control: Control) -> None:
    for name, values in (("draft_length", control.draft_length), ("bandwidth_hz", control.bandwidth_hz)):
        if np.shape(values) != (scenario.device_count,):
            raise ParameterError(
                f"control: {name} has shape {np.shape(values)}; ({scenario.device_count},) is needed, "
                "one number for each device"
            )


def _slacks(scenario: Scenario, control: Control, played: Round) -> tuple[Slack, ...]:
    low, high = scenario.length_limits(control.problem)
    length, share = control.draft_length.astype(float), control.bandwidth_hz
    names = scenario.device_names
    band = scenario.uplink_bandwidth_hz
    needs_band = (length > 0.0) & (scenario.token_payload_bits(control.problem) > 0.0)
    finished = finish_s(scenario, control.problem, length, share)
    end = float(played.draft_upload_s)
    with np.errstate(over="ignore"):  # shares of someone who did not mind the band
        unused = np.asarray(band - np.sum(share))
    slacks = [
        Slack("the least draft length", "token", length - low, 1.0, names),
        Slack("the greatest draft length", "token", high - length, 1.0, names),
        Slack("the bandwidth of at least 0", "Hz", share, band, names),
        Slack(
            "the bandwidth above 0 for a device that drafts",
            "Hz",
            np.where(needs_band & ~np.isfinite(finished), -np.inf, share),
            band,
            names,
            _NEVER,
        ),
        Slack("the uplink bandwidth budget", "Hz", unused, band),
        Slack(
            "the end of draft and upload",
            "s",
            np.subtract(end, finished, out=np.zeros_like(finished), where=np.isfinite(finished)),
            1.0,
            names,
        ),
    ]
    if control.problem == "homogeneous":
        slacks.append(Slack("one length for all", "token", np.asarray(np.min(length) - np.max(length)), 1.0))
    return tuple(slacks)


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
    up = reaction.on_uplink
    share = reaction.bandwidth_hz
    names = tuple(scenario.device_names[k] for k in reaction.rejected)
    power = np.where(up, 0.0, reaction.downlink_power_w)
    fraction = np.where(power > 0.0, power, 0.0) / scenario.downlink_power_w
    with np.errstate(over="ignore"):  # of a power far beyond the budget, which is told below
        received = fraction * scenario.downlink_snr[reaction.rejected] * scenario.downlink_bandwidth_hz
    down_rate = PowerLimited(np.where(up, 0.0, received)).rate(share)
    rate = np.where(up, scenario.uplink.take(reaction.rejected).rate(share), down_rate)
    seconds = sending_s(scenario.distribution_bits, rate)
    bands = scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz
    starved = ~up & ~(power > 0.0)
    slacks = (
        Slack(
            "the bandwidth above 0",
            "Hz",
            np.where(np.isfinite(seconds) | starved, share, -np.inf),
            bands[0],
            names,
            _NEVER,
        ),
        Slack("the uplink bandwidth budget", "Hz", np.asarray(bands[0] - np.sum(share[up])), bands[0]),
        Slack("the downlink bandwidth budget", "Hz", np.asarray(bands[1] - np.sum(share[~up])), bands[1]),
        Slack("the downlink power above 0", "W", np.where(starved, -np.inf, power), 1.0, names, _NEVER),
        Slack(
            "the downlink power budget",
            "W",
            np.asarray(scenario.downlink_power_w - np.sum(power)),
            scenario.downlink_power_w,
        ),
    )
    return ReactionEvaluation(seconds, float(np.max(seconds, initial=0.0)), slacks)
