"""The expected correction C(rho): over all outcomes of a round, exactly or on common random numbers (design section 5).

An outcome is the set of devices whose draft was rejected, independently with probabilities rho_k. The time
T(R) it costs does not depend on the lengths, so for K <= 20 it is tabulated once for all 2^K sets, and C is
the multilinear extension of the table. Beyond, the same uniforms serve every control (common random numbers).
"""

from typing import Protocol

from numpy.random import SeedSequence

from msopt.arrays import FloatArray
from msopt.errors import ParameterError
from msopt.model.control import ModeRule, frees_bands
from msopt.model.scenario import Scenario
from msopt.modes.samples import SampledOutcomes
from msopt.modes.table import TableOfOutcomes, table_of_best_modes

EXACT_UP_TO = 20
RANDOM_EXACT_UP_TO = 10
DEFAULT_SAMPLES = 20_000
LARGEST_SAMPLED = 5_000
"""Devices up to which outcomes are drawn: the draws of more would fill gigabytes, and a search takes hours."""


class ExpectedCorrection(Protocol):
    """C and what depends on it, for rejection probabilities of shape (m, K) in the scenario's device order."""

    exact: bool
    rule: ModeRule

    def expected_s(self, rejection: FloatArray) -> FloatArray:
        """C(rho) [s], shape (m,)."""
        ...

    def gradient_s(self, rejection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """C(rho), shape (m,), and dC/drho_k, shape (m, K); C is linear in each rho_k."""
        ...

    def standard_error_s(self, rejection: FloatArray) -> float:
        """Standard error of C for one vector of shape (K,) [s]; 0 where exact."""
        ...

    def uplink_probability(self, rejection: FloatArray) -> FloatArray:
        """Probability that each device is rejected and corrected by uplink, for one vector of shape (K,)."""
        ...


def expected_correction(
    scenario: Scenario, rule: ModeRule, *, samples: int = DEFAULT_SAMPLES, seed: int | SeedSequence = 0
) -> ExpectedCorrection:
    """Exact where the table of outcomes is small enough, else sampled with a seed of its own.

    ParameterError for more devices than `LARGEST_SAMPLED`, or than `EXACT_UP_TO` where bandwidths are free.
    """
    largest = RANDOM_EXACT_UP_TO if rule == "random" else EXACT_UP_TO
    if scenario.device_count <= largest:
        best = rule == "best" or frees_bands(rule)
        return table_of_best_modes(scenario, rule) if best else TableOfOutcomes(scenario, rule)
    if frees_bands(rule):
        raise ParameterError(
            f"correction {rule} is known for at most {EXACT_UP_TO} devices; the scenario has {scenario.device_count}"
        )
    if scenario.device_count > LARGEST_SAMPLED:
        raise ParameterError(
            f"problem modes takes at most {LARGEST_SAMPLED} devices; the scenario has {scenario.device_count}"
        )
    return SampledOutcomes(scenario, rule, samples, seed)
