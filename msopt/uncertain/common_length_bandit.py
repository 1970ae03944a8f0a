"""A bandit over one draft length for all devices, which knows nothing of the acceptance: the baseline."""

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.model.goodput import finish_s
from msopt.model.scenario import Scenario
from msopt.uncertain.online import Told


class CommonLengthBandit:
    """UCB1 of Auer, Cesa-Bianchi and Fischer 2002 over the common lengths, the split of [MS] Lemma 1 for each.

    The split and the time T(L) of a round do not depend on the acceptance, so a length's goodput is its mean tokens
    over T(L). The K drafts of a round are independent and yield 1 to L + 1 tokens each, so Hoeffding's bound holds for
    the mean of all n K drafts of n rounds; it is narrower by sqrt(K) than UCB1's, which takes a round as one reward.
    After t rounds the length with the greatest K (mean tokens + L sqrt(2 ln t/(n K)))/T(L) is played, each one once at
    first.
    """

    def __init__(self, scenario: Scenario, prompts: int) -> None:
        low, high = scenario.length_limits("heterogeneous")
        self._devices = scenario.device_count
        self._lengths = np.arange(low, high + 1)
        self._share = np.tile(solve_homogeneous(scenario).bandwidth_hz, (prompts, 1))
        every = np.repeat(self._lengths[:, None], self._devices, axis=1)
        upload_s = np.max(finish_s(scenario, "heterogeneous", every, self._share[0]), axis=-1)
        self._round_s = upload_s + scenario.verify_s(every)
        self._tokens = np.zeros((prompts, self._lengths.size))
        self._rounds = np.zeros((prompts, self._lengths.size), dtype=np.int64)
        self._arm = np.zeros(prompts, dtype=np.int64)

    def plan(self) -> tuple[IntArray, FloatArray]:
        """The length with the greatest upper confidence bound of the goodput, for all devices."""
        drafts = np.maximum(self._rounds, 1) * self._devices
        time = np.sum(self._rounds, axis=1, keepdims=True)
        reach = self._lengths * np.sqrt(2.0 * np.log(np.maximum(time, 1)) / drafts)
        index = np.where(self._rounds > 0, (self._tokens / drafts + reach) / self._round_s, np.inf)
        self._arm = np.argmax(index, axis=1)
        return np.repeat(self._lengths[self._arm][:, None], self._devices, axis=1), self._share

    def learn(self, told: Told) -> None:
        """Add the tokens to those of the length that was played."""
        prompts = np.arange(self._arm.size)
        self._tokens[prompts, self._arm] += np.sum(told.accepted + told.rounds, axis=-1)
        self._rounds[prompts, self._arm] += told.rounds
