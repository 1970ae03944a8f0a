"""[MS] Algorithm 1 (`grid`): lengths of Proposition 1 on a grid of (phi, lambda), rounded, scored (design section 4).

What the paper leaves open is ours: phi is linear and lambda logarithmic from 1e-6 of its upper end, with 100
points each; devices with an acceptance of 0 or 1 are left out of lambda's upper end; rounded lengths outside
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
DEFAULT_POINTS = 100
_LEAST_MULTIPLIER = 1e-6  # of the greatest: ours, the paper leaves it open
_SQUARED = 1e100  # [s]: the square of a longer deadline, or its product with an airtime, may leave the floats
_ROWS_AT_ONCE = 2048  # candidates scored together: no more arrays than the grid itself takes
_COPIES = 12  # of the table of lengths, at the same time at most


def grid_lengths(
    scenario: Scenario,
    *,
    phi_points: int = DEFAULT_POINTS,
    lambda_points: int = DEFAULT_POINTS,
    rule: GridRule = "clip",
) -> IntArray:
    """The best rounded lengths on the grid, shape (K,).

    Raises
    ------
    InfeasibleError
        Where rule "skip" drops every pair.
    """
    require_memory(
        8 * _COPIES * phi_points * lambda_points * scenario.device_count,
        f"a grid of {phi_points} x {lambda_points} points for {scenario.device_count} devices",
        "ask for fewer points",
    )
    low, high = scenario.length_limits("heterogeneous")
    candidates = np.unique(_rounded(scenario, phi_points, lambda_points), axis=0)
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


def _rounded(scenario: Scenario, phi_points: int, lambda_points: int) -> FloatArray:
    """Rounded lengths at every pair of the grid, shape (pairs, K)."""
    draft = scenario.draft_s_per_token
    airtime = scenario.token_payload_bits("heterogeneous") / spectral_efficiency(scenario.uplink_snr)
    band, count = scenario.uplink_bandwidth_hz, scenario.device_count
    _, high = scenario.length_limits("heterogeneous")
    phi_low = float(np.max(draft + airtime / band))
    phi_high = float(high * np.max(draft + count * airtime / band))
    phi = np.linspace(phi_low, phi_high, phi_points)
    alpha = scenario.acceptance.mean
    inner = (alpha > 0.0) & (alpha < 1.0)
    a = np.where(inner, alpha, 0.5)
    left = phi_high - draft
    certain = left**2 / (airtime * phi_high) if phi_high < _SQUARED else left / airtime * (left / phi_high)
    worth = certain * -np.log(a) / (1.0 - a) * a * a
    ceiling = float(np.max(worth[inner], initial=0.0)) or float(np.max(certain))
    ceiling = ceiling or 1.0  # where uploading takes no time beside drafting, every multiplier says the same
    multiplier = np.geomspace(_LEAST_MULTIPLIER * ceiling, ceiling, lambda_points)
    with_lengths = lengths_at_deadline(phi[:, None, None], multiplier[None, :, None], alpha, draft, airtime)
    bounded = np.nan_to_num(np.clip(with_lengths, -1.0, float(high) + 1.0))
    return np.rint(bounded).reshape(-1, count)
