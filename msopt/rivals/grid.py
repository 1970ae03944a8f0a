"""[MS] Algorithm 1 (`grid`): lengths of Proposition 1 on a grid of (phi, lambda), rounded, scored (design section 4).

What the paper leaves open is ours: phi is linear (or logarithmic) and lambda logarithmic from 1e-6 of its upper end,
with 100 points each; devices with an acceptance of 0 or 1 are left out of lambda's upper end; rounded lengths outside
the limits are clipped, or their pair is dropped. c_k is taken at the fixed SNR under both ways to share.
"""

from typing import Literal

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import InfeasibleError
from msopt.formulas.multispin import lengths_at_deadline
from msopt.lengths.relaxed import exact_goodput
from msopt.model.scenario import Scenario
from msopt.model.sharing import spectral_efficiency
from msopt.numerics.memory import require_memory

GridRule = Literal["clip", "skip"]
GridSpacing = Literal["linear", "logarithmic"]
DEFAULT_POINTS = 100
DEFAULT_EPSILON = 1e-6
"""The least lambda, as a part of the greatest."""
_SQUARED = 1e100  # [s]: the square of a longer deadline, or its product with an airtime, may leave the floats
_ROWS_AT_ONCE = 2048  # candidates scored together: no more arrays than the grid itself takes
_COPIES = 12  # of the table of lengths, at the same time at most


def grid_lengths(
    scenario: Scenario,
    *,
    phi_points: int = DEFAULT_POINTS,
    lambda_points: int = DEFAULT_POINTS,
    rule: GridRule = "clip",
    spacing: GridSpacing = "linear",
    epsilon: float = DEFAULT_EPSILON,
) -> IntArray:
    """The best rounded lengths on the grid, shape (K,); `spacing` is that of phi.

    InfeasibleError where rule "skip" drops every pair.
    """
    require_memory(
        8 * _COPIES * phi_points * lambda_points * scenario.device_count,
        f"a grid of {phi_points} x {lambda_points} points for {scenario.device_count} devices",
        "ask for fewer points",
    )
    low, high = scenario.length_limits("heterogeneous")
    phi_low, phi_high = _deadlines(scenario)
    phi = (np.linspace if spacing == "linear" else np.geomspace)(phi_low, phi_high, phi_points)
    ceiling = _greatest_multiplier(scenario, phi_high)
    candidates = _rounded(scenario, phi, np.geomspace(epsilon * ceiling, ceiling, lambda_points))
    if rule == "skip":
        candidates = candidates[np.all((candidates >= low) & (candidates <= high), axis=1)]
        if not len(candidates):
            raise InfeasibleError(
                f"grid: every one of the {phi_points} x {lambda_points} pairs has a rounded length outside "
                f"{low} to {high}; use rule clip, or more points"
            )
    candidates = np.unique(np.clip(candidates, low, high), axis=0)
    scores = np.concatenate(
        [exact_goodput(scenario, candidates[i : i + _ROWS_AT_ONCE]) for i in range(0, len(candidates), _ROWS_AT_ONCE)]
    )
    return np.asarray(candidates[np.argmax(scores)], dtype=np.int64)


def _airtime(scenario: Scenario) -> FloatArray:
    """Sending a token over one hertz [s Hz], shape (K,)."""
    return scenario.token_payload_bits("heterogeneous") / spectral_efficiency(scenario.uplink_snr)


def _deadlines(scenario: Scenario) -> tuple[float, float]:
    """The ends of phi [s]."""
    draft, airtime = scenario.draft_s_per_token, _airtime(scenario)
    band, count = scenario.uplink_bandwidth_hz, scenario.device_count
    _, high = scenario.length_limits("heterogeneous")
    return float(np.max(draft + airtime / band)), float(high * np.max(draft + count * airtime / band))


def _greatest_multiplier(scenario: Scenario, phi_high: float) -> float:
    """The upper end of lambda."""
    alpha, airtime = scenario.acceptance.mean, _airtime(scenario)
    inner = (alpha > 0.0) & (alpha < 1.0)
    a = np.where(inner, alpha, 0.5)
    left = phi_high - scenario.draft_s_per_token
    certain = left**2 / (airtime * phi_high) if phi_high < _SQUARED else left / airtime * (left / phi_high)
    worth = certain * -np.log(a) / (1.0 - a) * a * a
    ceiling = float(np.max(worth[inner], initial=0.0)) or float(np.max(certain))
    return ceiling or 1.0  # where uploading takes no time beside drafting, every multiplier says the same


def _rounded(scenario: Scenario, phi: FloatArray, multiplier: FloatArray) -> FloatArray:
    """The rounded lengths that occur on the grid, one row each."""
    _, high = scenario.length_limits("heterogeneous")
    alpha, draft = scenario.acceptance.mean, scenario.draft_s_per_token
    with_lengths = lengths_at_deadline(phi[:, None, None], multiplier[None, :, None], alpha, draft, _airtime(scenario))
    rounded = np.rint(np.nan_to_num(np.clip(with_lengths, -1.0, float(high) + 1.0)))
    changed = np.ones(rounded.shape[:2], dtype=bool)  # most neighbours along lambda are alike: fewer to be sorted
    changed[:, 1:] = np.any(rounded[:, 1:] != rounded[:, :-1], axis=-1)
    return np.asarray(np.unique(rounded[changed], axis=0))
