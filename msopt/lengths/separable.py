"""The best whole lengths where devices meet only in the deadline (exact, at any size).

Maximise sum_k E_k(l_k) / (max_k l_k u_k + T_ver(l) + sum_k m_k rho_k(l_k)). This is problem `heterogeneous`
with equal shares, problem `modes` without corrections, and, with m_k chosen as `additive_bound` does, a bound for
problem `modes`. At a trial value G every device takes the best of the lengths that a deadline allows, and
only the products l u_k can be deadlines, so one sorted pass over them serves all; G follows by Dinkelbach.
The search of `best_lengths` asks for the same pass with a linear model of C in place of the m_k.
"""

import numpy as np

from msopt.arrays import FloatArray, IntArray, every_length
from msopt.model.goodput import finish_s
from msopt.model.scenario import Problem, Scenario
from msopt.numerics.margins import FITS, RISES


class DeadlinePass:
    """The time of every length of every device, shape (lengths, K), sorted once.

    Parameters
    ----------
    every : array, shape (lengths, K)
        All lengths, the least first.
    s_per_token : array, shape (K,)
        u_k, drafting and sending one token [s].
    """

    def __init__(self, every: FloatArray, s_per_token: FloatArray) -> None:
        times = every * s_per_token
        least = float(times[0].max())
        self.times = np.maximum(times, least)
        self._order = np.argsort(self.times[1:], axis=None, kind="stable")
        self._event_s = np.concatenate([[least], self.times[1:].reshape(-1)[self._order]])
        self._last_of_deadline = np.append(self._event_s[1:] > self._event_s[:-1] * FITS, True)

    def best(self, worth: FloatArray, goodput: float) -> tuple[float, IntArray]:
        """The deadline D [s] with the greatest sum of worths less G D, and the row of each device's length for it.

        Parameters
        ----------
        worth : array, shape (lengths, K)
            Of every length of every device, whatever the deadline [token].
        goodput : float
            G [token/s].
        """
        steps = np.diff(np.maximum.accumulate(worth, axis=0), axis=0).reshape(-1)[self._order]
        value = np.concatenate([[0.0], np.cumsum(steps)]) - goodput * self._event_s
        deadline = self._event_s[int(np.argmax(np.where(self._last_of_deadline, value, -np.inf)))]
        return float(deadline), np.argmax(np.where(self.times <= deadline * FITS, worth, -np.inf), axis=0)


def best_separable(
    scenario: Scenario, s_per_token: FloatArray, limits: tuple[int, int], rejection_cost_s: FloatArray | None = None
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
    every = every_length(limits, count)
    tokens = scenario.acceptance.expected_tokens(every)
    own_s = scenario.verify_per_token_s * every
    if rejection_cost_s is not None:
        own_s = own_s + rejection_cost_s * (1.0 - scenario.acceptance.survival(every))
    by_deadline = DeadlinePass(every, s_per_token)
    goodput, lengths = 0.0, np.full(count, low, dtype=np.int64)
    everyone = np.arange(count)
    while True:
        picked = lengths - low
        seconds = float(np.max(by_deadline.times[picked, everyone])) + scenario.verify_idle_s
        reached = float(np.sum(tokens[picked, everyone]) / (seconds + np.sum(own_s[picked, everyone])))
        if not reached > goodput * RISES:
            return max(goodput, reached), lengths
        goodput = reached
        lengths = low + by_deadline.best(tokens - goodput * own_s, goodput)[1]


def equal_share_lengths(scenario: Scenario, problem: Problem) -> IntArray:
    """The whole lengths that are best with equal shares of the band and without corrections (exact), shape (K,)."""
    per_token = finish_s(scenario, problem, 1.0, scenario.equal_share_hz)
    return best_separable(scenario, per_token, scenario.length_limits(problem))[1]
