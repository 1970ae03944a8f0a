"""The closed forms of [MS], Multi-SPIN (arXiv 2606.04581), on plain arrays.

Symbols: `airtime_hz_s` is c_k = q/e_k, the time-bandwidth product that one token's upload costs [Hz s];
`draft_s` is T_S,k, the time to draft a token [s]. Nothing here overflows, and no branch of Lambert's W is
computed: both W's of the paper are replaced by equal expressions with the Wright omega function or a
monotone Newton iteration.
"""

from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.formulas.split import equal_latency_split
from msopt.model.sharing import FixedSnr
from msopt.numerics.special import excess_root, omega

_AT_ONCE = 1e-100  # of a deadline: drafting a token takes no time beside it


def per_token_split(draft_s: Any, airtime_hz_s: Any, bandwidth_hz: float) -> tuple[FloatArray, FloatArray]:
    """[MS] Lemma 1: for one common length every device has the same latency per token, theta.

    B_k = c_k/(theta - T_S,k) with theta the one root of sum_k c_k/(theta - T_S,k) = B above max T_S,k.

    Parameters
    ----------
    draft_s, airtime_hz_s : arrays, shape (..., K)
        T_S,k [s] and c_k > 0 [Hz s].
    bandwidth_hz : float
        The whole band [Hz].

    Returns
    -------
    theta_s : array, shape (...)
    bandwidth_hz : array, shape (..., K)

    Examples
    --------
    >>> theta, share = per_token_split([0.02, 0.02], [1e4, 3e4], 20e6)
    >>> float(theta), share.tolist()
    (0.022, [5000000.0, 15000000.0])
    """
    return length_split(1.0, draft_s, airtime_hz_s, bandwidth_hz)


def length_split(
    draft_length: Any, draft_s: Any, airtime_hz_s: Any, bandwidth_hz: float
) -> tuple[FloatArray, FloatArray]:
    """[MS] Lemmas 2 and 3: for given lengths every device finishes at the same time, phi.

    B_k = c_k L_k/(phi - L_k T_S,k), with phi the one root of the bandwidth budget. Devices of length 0
    leave the problem.

    Parameters
    ----------
    draft_length, draft_s, airtime_hz_s : arrays, shape (..., K)
        L_k [token], T_S,k [s] and c_k > 0 [Hz s].
    bandwidth_hz : float
        The whole band [Hz].

    Returns
    -------
    phi_s : array, shape (...)
    bandwidth_hz : array, shape (..., K)
    """
    lengths = np.asarray(draft_length, dtype=float)
    cost = lengths * np.asarray(airtime_hz_s, dtype=float)
    busy = lengths * np.asarray(draft_s, dtype=float)
    return equal_latency_split(busy, cost, FixedSnr(np.ones(cost.shape[-1])), bandwidth_hz)


def common_length(alpha: Any, per_token_s: Any, fixed_s: Any) -> FloatArray:
    """[MS] Theorem 1: the real length L that maximises (1 - alpha^(L+1))/(1 - alpha)/(a L + h).

    With r = h/a the paper's L = -ln(-W_-1(-alpha^(r-1)/e))/ln(alpha) - 1 is log(1 + d)/|ln alpha| - 1, where
    d - log(1 + d) = (r-1)|ln alpha|; the equal d/|ln alpha| - r would cancel where r is large.
    The goodput is unimodal in L, so the best whole length is the floor or the ceiling of L.

    Parameters
    ----------
    alpha : array
        Acceptance, the same for all devices, in [0, 1].
    per_token_s, fixed_s : arrays
        a = theta > 0, what one more token costs, and h = T_ver > 0, what a round costs without drafts [s].

    Returns
    -------
    array
        L [token]; below 0 where drafting does not pay (the paper's condition r > (1 - alpha)/(alpha |ln alpha|)
        is L > 0), -inf for alpha = 0, +inf for alpha = 1 with h > a.

    Examples
    --------
    >>> np.round(common_length(np.array([0.8, 0.8, 0.999999]), 1.0, np.array([10.0, 1.0, 50.0])), 2).tolist()
    [5.76, -1.0, 9882.19]
    """
    acceptance, ratio = np.broadcast_arrays(np.asarray(alpha, dtype=float), np.asarray(fixed_s, float) / per_token_s)
    inner = (acceptance > 0.0) & (acceptance < 1.0)
    decay = -np.log(np.where(inner, acceptance, 0.5))
    pays = ratio >= 1.0
    length = np.log1p(excess_root(np.where(pays, ratio - 1.0, 0.0) * decay)) / decay - 1.0
    at_ends = np.where((acceptance == 1.0) & (ratio > 1.0), np.inf, -np.inf)
    return np.where(inner, np.where(pays, length, -1.0), at_ends)


def lengths_at_deadline(deadline_s: Any, multiplier: Any, alpha: Any, draft_s: Any, airtime_hz_s: Any) -> FloatArray:
    """[MS] Proposition 1: the real lengths for a given deadline phi and multiplier lambda.

    L_k = phi/T + (2/ln alpha) W_0(alpha^(-phi/2T)/(2T) sqrt(lambda c phi |ln alpha| (1 - alpha)/alpha)).
    With W_0(e^z) = omega(z) and omega + ln omega = z no power of alpha is computed, and the difference of
    the two terms is taken where it does not cancel. Limits: alpha = 1 gives (phi - sqrt(lambda c phi))/T,
    T = 0 gives -ln(lambda c (1 - alpha)/(|ln alpha| phi))/|ln alpha| - 1, both give 0 or infinity by whether
    another token is worth its price; alpha = 0 gives -1, a length below every limit.

    Parameters
    ----------
    deadline_s, multiplier : arrays, broadcast against (..., K)
        phi > 0 [s]; lambda > 0, tokens per hertz that the last hertz yields [token/Hz].
    alpha, draft_s, airtime_hz_s : arrays, shape (K,)
        Acceptance, T_S,k [s] and c_k [Hz s].

    Returns
    -------
    array, shape (..., K)
        Lengths [token], not clipped to any limits.
    """
    phi = np.asarray(deadline_s, dtype=float)
    devices = (np.asarray(values, dtype=float) for values in (alpha, draft_s, airtime_hz_s))
    return PricedLengths(*devices).at(phi, np.log(np.asarray(multiplier, dtype=float)) - np.log(phi))


class PricedLengths:
    """`lengths_at_deadline` with the price given as ln(lambda/phi), which may be far outside a float's range.

    What does not depend on deadline and price is computed once. Arrays have shape (..., K).
    """

    def __init__(self, alpha: FloatArray, draft_s: FloatArray, airtime_hz_s: FloatArray) -> None:
        self._certain = alpha == 1.0
        self._inner = (alpha > 0.0) & ~self._certain
        self._ordinary = bool(self._inner.all())
        decay = -np.log(np.where(self._inner, alpha, 0.5))
        rejection = np.where(self._inner, 1.0 - alpha, 0.5)
        self._half_decay, self._draft_s = 0.5 * decay, draft_s
        self._log_airtime = np.log(airtime_hz_s)
        self._half_price = 0.5 * (self._log_airtime + np.log(rejection / decay))
        self._offset = np.log(self._half_decay / np.where(draft_s > 0.0, draft_s, 1.0)) + self._half_price
        self._fastest_s = float(np.min(draft_s))

    def at(self, deadline_s: FloatArray, log_price: FloatArray) -> FloatArray:
        """Lengths [token], not clipped to any limits, for phi > 0 [s] and ln(lambda/phi), shapes (..., 1)."""
        # Where the deadline holds more than 1e100 tokens the limit of no drafting time is exact to the last digit.
        least_s = _AT_ONCE * deadline_s
        if self._ordinary and self._fastest_s > np.max(least_s):
            return self._general(deadline_s, log_price, self._draft_s)
        drafts = self._draft_s > least_s
        step = np.where(drafts, self._draft_s, 1.0)
        at_once = -(0.5 * log_price + self._half_price) / self._half_decay - 1.0
        inner = np.where(drafts, self._general(deadline_s, log_price, step), at_once)
        log_each = log_price + self._log_airtime
        sure = np.where(
            drafts,
            -deadline_s * np.expm1(0.5 * np.minimum(log_each, 100.0)) / step,
            np.where(log_each < 0.0, np.inf, 0.0),
        )
        return np.where(self._inner, inner, np.where(self._certain, sure, -1.0))

    def _general(self, deadline_s: FloatArray, log_price: FloatArray, draft_s: FloatArray) -> FloatArray:
        offset = self._offset + (np.log(deadline_s) + 0.5 * log_price)
        budget = self._half_decay / draft_s * deadline_s + self._half_decay
        root = omega(budget + offset)
        # omega + ln(omega) = z: two forms of one number, each used where its terms are not nearly equal.
        longer = np.where(root > 1.0, np.log(root) - offset, budget - root)
        return np.asarray(longer / self._half_decay - 1.0)
