"""The one evaluator: every control of every method is scored here (design section 1).

Goodput is tokens per round over seconds per round, the long-run rate G = sum_k E_k(L_k) / E[T]. All
functions take lengths of shape (..., K), so that many controls are scored in one call.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.model.objective import GOODPUT
from msopt.model.scenario import Problem, Scenario
from msopt.model.stack import ScenarioStack


@dataclass(frozen=True, eq=False)
class Round:
    """What one round yields and how long it takes.

    Attributes
    ----------
    expected_tokens : array, shape (..., K)
        E_k(L_k), the correction or bonus token included.
    draft_upload_s, verify_s, correction_s : arrays, shape (...)
        Its parts [s], until verification begins and after; the correction is an expectation, 0 in [MS]'s problems.
    """

    expected_tokens: FloatArray
    draft_upload_s: FloatArray
    verify_s: FloatArray
    correction_s: FloatArray

    @property
    def round_s(self) -> FloatArray:
        """Expected duration [s], shape (...)."""
        return np.asarray(self.draft_upload_s + self.verify_s + self.correction_s)

    @property
    def device_goodput(self) -> FloatArray:
        """Tokens per second of each device, shape (..., K)."""
        return np.asarray(self.expected_tokens / self.round_s[..., None])

    @property
    def goodput(self) -> FloatArray:
        """Tokens per second of all devices, shape (...)."""
        return GOODPUT.value(self.expected_tokens, self.round_s)


def round_at(
    scenario: Scenario | ScenarioStack, draft_length: Any, draft_upload_s: Any, correction_s: Any = 0.0
) -> Round:
    """The round with given lengths (whole or relaxed) whose drafts are all there after a given time."""
    lengths = np.asarray(draft_length, dtype=float)
    return Round(
        scenario.acceptance.expected_tokens(lengths),
        np.asarray(draft_upload_s, dtype=float),
        scenario.verify_s(lengths),
        np.asarray(correction_s, dtype=float),
    )


def finish_s(scenario: Scenario | ScenarioStack, problem: Problem, draft_length: Any, bandwidth_hz: Any) -> FloatArray:
    """When each device has drafted and sent its tokens [s], shape (..., K); 0 for those that draft nothing.

    A length or bandwidth that is the same for all may be given once.
    """
    lengths = np.asarray(draft_length, dtype=float)
    bits = scenario.token_payload_bits(problem)
    airtime = sending_s(bits, scenario.uplink.rate(np.asarray(bandwidth_hz, dtype=float)))
    each = scenario.draft_s_per_token + np.where(lengths > 0.0, airtime, 0.0)
    trip = scenario.round_trip_s if isinstance(scenario, Scenario) else None
    with np.errstate(over="ignore"):  # infinite, as `sending_s` tells it
        there = lengths * each if trip is None else lengths * each + trip
        return np.where(lengths > 0.0, there, 0.0)


def sending_s(bits: Any, rate: FloatArray) -> FloatArray:
    """How long bits take at a rate [bit/s] in seconds; infinite at no rate, or one so low that no float holds it."""
    with np.errstate(over="ignore"):
        return np.where(rate > 0.0, bits / np.where(rate > 0.0, rate, 1.0), np.where(bits > 0.0, np.inf, 0.0))


def rejection_probability(scenario: Scenario, draft_length: Any) -> FloatArray:
    """rho_k = 1 - S_k(L_k), the probability that a device's draft is not accepted whole, shape (..., K)."""
    return np.asarray(1.0 - scenario.acceptance.survival(draft_length))


def play(
    scenario: Scenario | ScenarioStack, problem: Problem, draft_length: Any, bandwidth_hz: Any, correction_s: Any = 0.0
) -> Round:
    """The round with given lengths and bandwidths: drafts are there when the last device has sent its own."""
    finished = finish_s(scenario, problem, draft_length, bandwidth_hz)
    return round_at(scenario, draft_length, finished.max(axis=-1), correction_s)


def play_some(scenario: Scenario, played: Round, draft_length: Any, served: BoolArray) -> Round:
    """A round in which only some devices take part; the others have drafted nothing, and get nothing."""
    return replace(
        played,
        expected_tokens=np.where(served, played.expected_tokens, 0.0),
        verify_s=scenario.verify_s(draft_length, served),
    )
