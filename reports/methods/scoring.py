"""`msopt evaluate` and `msopt react` as plain records: JSON's keys, SI units, None for what is not there."""

from collections.abc import Sequence

import numpy as np

from msopt import (
    Control,
    InfeasibleError,
    ParameterError,
    Scenario,
    Solution,
    evaluate,
    evaluate_reaction,
    react,
    solve,
)
from msopt.cautions import cautions
from msopt.model.control import EQUAL_SHARES, Correction, Reaction, correction_of
from msopt.model.problems import KINDS
from msopt.model.slacks import FEASIBILITY_RTOL, Slack
from msopt.modes.correction import LARGEST_FREE
from msopt.modes.expected import DEFAULT_SAMPLES
from msopt.options import checked_options
from msopt.solution import finite
from reports.methods.user_variant import NONE, Variants
from reports.shared.protocols import with_protocols
from reports.shared.rows import Row


def scored(
    file: str, scenario: Scenario, given: Control | Reaction, options: dict[str, object], own: Variants = NONE
) -> Row:
    """The score of what a file holds; InfeasibleError names the file, the constraint and by how much."""
    try:
        if isinstance(given, Reaction):
            if own.names:
                raise ParameterError(f"{file}: holds a reaction to one outcome, which takes no variant")
            if options:
                raise ParameterError(
                    f"{file}: holds a reaction to one outcome, which takes no {' and no '.join(options)}"
                )
            return reaction_score(scenario, given)
        return control_score(scenario, given, options, own)
    except InfeasibleError as error:
        raise InfeasibleError(f"{file}: {error}") from None


def control_score(scenario: Scenario, control: Control, options: dict[str, object], own: Variants = NONE) -> Row:
    """The keys of `msopt solve`, with the bound of the control's problem, and the slack of each constraint.

    Parameters
    ----------
    scenario, control
    options : dict
        `samples` and `seed` of the draws that score problem `modes` beyond the table of outcomes.
    own : Variants
        A user's utility and limits, beside the scenario's.

    Raises
    ------
    InfeasibleError
        For a control that breaks a constraint.
    """
    chosen = checked_options("decomposition", options)
    samples = chosen.samples or DEFAULT_SAMPLES
    evaluation = evaluate(scenario, control, samples=samples, seed=chosen.seed, **own.asked)
    evaluation.require_feasible()
    best = _best(scenario, control, own)
    bound, utility_bound = (None, None) if best is None else (best.bound, best.utility_bound)
    solution = Solution.of(scenario, control, evaluation, bound, utility_bound=utility_bound)
    shown = with_protocols(solution) | {"method": None, "warnings": list(cautions(solution))}
    return shown | {"slacks": _slack_records(evaluation.slacks)}


def _best(scenario: Scenario, control: Control, own: Variants) -> Solution | None:
    """What bounds the control's problem and kind of correction; None for unequal shares where it shares equally."""
    if KINDS[control.problem].equal_shares and not np.allclose(
        control.bandwidth_hz, scenario.equal_share_hz, rtol=1e-9, atol=0.0
    ):
        return None
    if not KINDS[control.problem].corrects:
        return solve(scenario, control.problem, **own.asked)
    return solve(scenario, control.problem, correction=correction_of(control.mode_rule), **own.asked)


def reaction_score(scenario: Scenario, reaction: Reaction) -> Row:
    """The time of someone's reaction, for each device and in all, beside the best one's that shares bands as freely.

    Raises
    ------
    InfeasibleError
        For a reaction that breaks a constraint.
    """
    evaluation = evaluate_reaction(scenario, reaction)
    evaluation.require_feasible()
    _, best_s = react(scenario, reaction.rejected, _kind_of(scenario, reaction))
    devices = _exchanges(scenario, reaction)
    for device, seconds in zip(devices, evaluation.device_s, strict=True):
        device["exchange_s"] = float(seconds)
    return {
        "scenario": scenario.name,
        "correction_s": evaluation.correction_s,
        "best_correction_s": best_s,
        "warnings": list(scenario.warnings),
        "devices": devices,
        "slacks": _slack_records(evaluation.slacks),
    }


def _kind_of(scenario: Scenario, reaction: Reaction) -> Correction:
    """How freely a reaction shares the bands: nobody above an equal share, both directions in one band, or more."""
    bands = np.where(reaction.on_uplink, scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz)
    fractions = reaction.bandwidth_hz / bands
    count = fractions.size
    if count > LARGEST_FREE or np.max(fractions, initial=0.0) * count <= 1.0 + FEASIBILITY_RTOL:
        return EQUAL_SHARES
    return "shared-band" if np.sum(fractions) <= 1.0 + FEASIBILITY_RTOL else "separate-bands"


def best_reaction(scenario: Scenario, rejected: Sequence[str], correction: Correction = EQUAL_SHARES) -> Row:
    """The best modes and power for one outcome: the object that `msopt react` prints."""
    reaction, seconds = react(scenario, rejected, correction)
    return {"correction_s": seconds, "devices": _exchanges(scenario, reaction)}


def _exchanges(scenario: Scenario, reaction: Reaction) -> list[Row]:
    power = [None if np.isnan(watts) else float(watts) for watts in reaction.downlink_power_w]
    return [
        {
            "name": scenario.device_names[k],
            "mode": reaction.modes[place],
            "bandwidth_hz": float(reaction.bandwidth_hz[place]),
            "downlink_power_w": power[place],
        }
        for place, k in enumerate(reaction.rejected)
    ]


def _slack_records(slacks: Sequence[Slack]) -> list[Row]:
    """One entry for each constraint: its least slack and whose that is; None for a constraint on all."""
    records = []
    for slack in slacks:
        values = np.atleast_1d(slack.value)
        least = int(np.argmin(values))
        records.append(
            {
                "constraint": slack.constraint,
                "unit": slack.unit,
                "least_slack": finite(float(values[least])),
                "device": slack.devices[least] if slack.devices else None,
                "device_slacks": [finite(float(value)) for value in values] if slack.devices else None,
            }
        )
    return records
