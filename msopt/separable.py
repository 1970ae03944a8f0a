"""The best whole lengths where devices meet only in the deadline (exact, at any size).

Maximise sum_k E_k(l_k) / (max_k l_k u_k + T_ver(l) + sum_k m_k rho_k(l_k)). This is problem `heterogeneous`
with equal shares, problem `modes` without corrections, and, with m_k chosen as `mode_bound` does, a bound for
problem `modes`. At a trial value G every device takes the best of the lengths that a deadline allows, and
only the products l u_k can be deadlines, so one sorted pass over them serves all; G follows by Dinkelbach.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray, levels
from msopt.scenario import Scenario

_FITS = 1.0 + 1e-12
_IMPROVES = 1.0 + 1e-14


def best_separable(
    scenario: Scenario,
    s_per_token: FloatArray,
    limits: tuple[int, int],
    rejection_cost_s: FloatArray | None = None,
) -> tuple[float, IntArray]:
    """The greatest ratio and the lengths that attain it.

    Parameters
    ----------
    scenario : Scenario
        Gives acceptance and verification times.
    s_per_token : array, shape (K,)
        u_k, drafting and sending one token [s].
    limits : pair of int
        Least and greatest length.
    rejection_cost_s : array, shape (K,), optional
        m_k [s]; none by default.

    Returns
    -------
    goodput : float
        [token/s].
    lengths : array of int, shape (K,)
    """
    low, _ = limits
    count = scenario.device_count
    every = levels(limits, count)
    tokens = scenario.acceptance.expected_tokens(every)
    own_s = scenario.verify_per_token_s * every
    if rejection_cost_s is not None:
        own_s = own_s + rejection_cost_s * (1.0 - scenario.acceptance.survival(every))
    least = low * float(s_per_token.max())
    times = np.maximum(every * s_per_token, least)
    order = np.argsort(times[1:], axis=None, kind="stable")
    event_s = np.concatenate([[least], times[1:].reshape(-1)[order]])
    last_of_deadline = np.append(event_s[1:] > event_s[:-1] * _FITS, True)
    goodput, lengths = 0.0, np.full(count, low, dtype=np.int64)
    everyone = np.arange(count)
    while True:
        picked = lengths - low
        seconds = float(np.max(times[picked, everyone])) + scenario.verify_idle_s
        reached = float(np.sum(tokens[picked, everyone]) / (seconds + np.sum(own_s[picked, everyone])))
        if reached <= goodput * _IMPROVES:
            return max(goodput, reached), lengths
        goodput = reached
        best = np.maximum.accumulate(tokens - goodput * own_s, axis=0)
        steps = np.diff(best, axis=0).reshape(-1)[order]
        value = np.concatenate([[0.0], np.cumsum(steps)]) - goodput * event_s
        deadline = event_s[int(np.argmax(np.where(last_of_deadline, value, -np.inf)))]
        fits = times <= deadline * _FITS
        allowed = np.where(fits, tokens - goodput * own_s, -np.inf)
        lengths = low + np.argmax(allowed, axis=0).astype(np.int64)
