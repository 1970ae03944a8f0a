r"""The band in per-second variables: what the delay needs of it, and what it holds, for both ways to share.

Both declare the delay (p - l)(x - l) >= l^2 with x_k the tokens that could be sent in the whole deadline.
Fixed SNR: x_k = D B_k/c_k, and sum c_k x_k <= B d. Power-limited: with \eta_k = B_k d,

.. math:: q x_k \ln 2 \le -\eta_k \ln\frac{\eta_k}{\eta_k + S_k d}, \qquad \sum_k \eta_k \le B d,
    \qquad S_k = SNR_k B,

a relative entropy (`rate_cone`).
"""

import cvxpy as cp
import numpy as np

from formulations.terms.program import PerSecondProgram
from formulations.terms.program_limits import BandwidthBudget
from formulations.terms.rate_cone import declare_rate, set_rate
from msopt.arrays import FloatArray
from msopt.model.scenario import Scenario
from msopt.model.sharing import LN2, FixedSnr

SMALLEST_SHARE = 1e-9
"""A device's share of the band is sized as at least this."""


def airtime_per_token(scenario: Scenario) -> FloatArray:
    """Bandwidth times time that one token takes, c_k = q/e_k [Hz s], for fixed-SNR sharing."""
    assert isinstance(scenario.uplink, FixedSnr)
    return np.asarray(scenario.token_payload_bits("heterogeneous") / scenario.uplink.efficiency)


def declare_fixed_snr(program: PerSecondProgram, d: cp.Variable, length: cp.Expression) -> None:
    """Declare the delay and the budget sum c x <= B d for fixed SNR."""
    K = program.scenario.device_count
    excess = program.variable("excess", K)
    program.delay(d, length, excess)
    share, share_of_excess = (program.parameter(name, K, nonneg=True) for name in ("share", "share_of_excess"))
    used = cp.multiply(share, length) + cp.multiply(share_of_excess, excess)
    program.quantity("bandwidth_hz", used, "Hz", lambda: program.scenario.uplink_bandwidth_hz, per=d)
    program.limit(BandwidthBudget())


def set_fixed_snr(program: PerSecondProgram) -> None:
    """Give the parameters of time, delay and budget their values."""
    scenario = program.scenario
    share = airtime_per_token(scenario) * program.length_0 / (scenario.uplink_bandwidth_hz * program.deadline_0)
    excess_unit = program.set_common(share)
    program.set("share", share)
    program.set("share_of_excess", share * excess_unit)


def declare_power_limited(program: PerSecondProgram, d: cp.Variable, length: cp.Expression) -> None:
    """Declare the delay, the rates and the budget sum eta <= B d for power-limited sharing."""
    K = program.scenario.device_count
    excess, eta = program.variable("excess", K), program.variable("eta", K)
    program.delay(d, length, excess)
    bits, bits_of_excess, share = (
        program.parameter(name, K, nonneg=True) for name in ("bits", "bits_of_excess", "share")
    )
    declare_rate(program, cp.multiply(bits, length) + cp.multiply(bits_of_excess, excess), eta, d)
    used = cp.multiply(share, eta)
    program.quantity("bandwidth_hz", used, "Hz", lambda: program.scenario.uplink_bandwidth_hz, per=d)
    program.limit(BandwidthBudget())


def set_power_limited(program: PerSecondProgram) -> None:
    """Give the parameters of time, delay, rates and budget their values."""
    scenario = program.scenario
    payload = scenario.token_payload_bits(program.problem_name)
    band = scenario.uplink_bandwidth_hz
    share = np.minimum(scenario.uplink.bandwidth(payload * program.length_0 / program.slack_0), band)
    share = np.maximum(share, SMALLEST_SHARE * band)
    excess_unit = program.set_common(share / band * program.slack_0 / program.deadline_0)
    bits = payload * LN2 * program.length_0 / (program.deadline_0 * share)
    program.set("bits", bits)
    program.set("bits_of_excess", bits * excess_unit)
    set_rate(program, scenario.uplink_snr * band / share)
    program.set("share", share / band)


def declare_sharing(program: PerSecondProgram, d: cp.Variable, length: cp.Expression) -> None:
    """Declare delay and budget for the scenario's sharing."""
    fixed = isinstance(program.scenario.uplink, FixedSnr)
    (declare_fixed_snr if fixed else declare_power_limited)(program, d, length)


def set_sharing(program: PerSecondProgram) -> None:
    """Give its parameters their values."""
    (set_fixed_snr if isinstance(program.scenario.uplink, FixedSnr) else set_power_limited)(program)
