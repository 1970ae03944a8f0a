"""What the cross-check compares [UD]'s formulations with: closed form, the paper's algorithm, enumeration."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import msopt
from msopt import Scenario
from msopt.formulas.uldl import equal_delay_power
from msopt.model.control import BandRule, Reaction
from msopt.modes.correction import free_reaction
from msopt.modes.expected import expected_correction
from msopt.modes.mode_problem import ModeProblem
from reports.crosscheck.formulation_inputs import modes_solution
from reports.crosscheck.references_ms import SMALL, Inputs, Reference, chunks


def downlink_power(scenario: Scenario, given: Inputs) -> Reference:
    """[UD] Lemma 1."""
    share = np.asarray(given["shares"]) * scenario.downlink_bandwidth_hz
    devices = np.asarray(given["devices"])
    delay, power = equal_delay_power(
        scenario.downlink_snr[devices], share, scenario.downlink_bandwidth_hz, scenario.distribution_bits
    )
    return Reference(objective=scenario.distribution_bits / delay, minimiser=power * scenario.downlink_power_w)


def modes(scenario: Scenario, given: Inputs) -> Reference:
    """[UD] Lemma 2 and Proposition 1, and every choice of modes scored by the evaluator."""
    rejected = np.asarray(given["rejected"])
    _, seconds = msopt.react(scenario, rejected)
    best = None
    if rejected.size <= SMALL:
        best = max(
            1.0 / _correction_s(scenario, rejected, np.array(up))
            for up in itertools.product((True, False), repeat=rejected.size)
        )
    return Reference(objective=1.0 / seconds, brute_force=best)


def free_correction(rule: BandRule) -> Callable[[Scenario, Inputs], Reference]:
    """Bandwidths and power in given modes, by one root for the price."""

    def reference(scenario: Scenario, given: Inputs) -> Reference:
        reaction, seconds = free_reaction(scenario, np.asarray(given["rejected"]), np.asarray(given["on_uplink"]), rule)
        return Reference(objective=1.0 / seconds, minimiser=reaction.bandwidth_hz)

    return reference


def _correction_s(scenario: Scenario, rejected: Any, up: Any) -> float:
    need = np.where(up, 0.0, 1.0 / scenario.downlink_snr[rejected])
    power = scenario.downlink_power_w * need / max(float(np.sum(need)), 1e-300)
    band = np.where(up, scenario.uplink_bandwidth_hz, scenario.downlink_bandwidth_hz) / rejected.size
    reaction = Reaction(
        rejected=rejected,
        modes=tuple("uplink" if one else "downlink" for one in up),
        bandwidth_hz=band,
        downlink_power_w=np.where(up, np.nan, power),
    )
    return msopt.evaluate_reaction(scenario, reaction).correction_s


def lengths_for_modes(scenario: Scenario, given: Inputs) -> Reference:
    """The best lengths for problem `modes`, [UD] Algorithm 1, and every control of a few devices."""
    del given
    brute = None
    low, high = scenario.length_limits("modes")
    if scenario.device_count <= SMALL:
        problem = ModeProblem(scenario, expected_correction(scenario, "best"))
        every = chunks(range(low, high + 1), scenario.device_count)
        brute = max(float(np.max(problem.goodput(rows))) for rows in every)
    return Reference(
        objective=modes_solution(scenario).goodput,
        algorithm=msopt.solve(scenario, "modes", "greedy").goodput,
        brute_force=brute,
    )
