"""Rounds whose acceptance nobody knows: what a policy yields that plans, sees what is accepted, and plans again.

Many prompts are played side by side, each with acceptances of its own. Policies are compared on the same rounds: how
far a draft of the longest length would be accepted is drawn once, whatever length a policy chooses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.model.goodput import play
from msopt.model.scenario import Scenario
from msopt.model.stack import ScenarioStack
from msopt.model.validation import check_whole

MOST_RUNS = 100_000_000
"""Drafts of one comparison: rounds times prompts times devices."""


@dataclass(frozen=True, eq=False)
class Told:
    """What some rounds with one plan tell, for S prompts.

    Attributes
    ----------
    rounds : int
    draft_length : array of int, shape (S, K)
        Of each of these rounds [token].
    accepted, rejected : arrays of int, shape (S, K)
        Tokens accepted and drafts rejected in all: what was seen at visited positions.
    round_s : array, shape (S,)
        Duration of each [s].
    """

    rounds: int
    draft_length: IntArray
    accepted: IntArray
    rejected: IntArray
    round_s: FloatArray


class Policy(Protocol):
    """Who plans for S prompts and learns from what is told."""

    def plan(self) -> tuple[IntArray, FloatArray]:
        """Lengths [token] and shares of the band [Hz] of the next rounds, shapes (S, K)."""
        ...

    def learn(self, told: Told) -> None:
        """See what came of the plan."""
        ...


@dataclass(frozen=True, eq=False)
class OnlineRounds:
    """How a policy fared, up to the end of each of n blocks of rounds.

    Attributes
    ----------
    rounds : array of int, shape (n,)
        Rounds played so far.
    tokens, expected_tokens : arrays, shape (n, S)
        Tokens of all devices so far, as drawn and in expectation given the lengths [token].
    seconds : array, shape (n, S)
        Time so far [s].
    """

    rounds: IntArray
    tokens: FloatArray
    expected_tokens: FloatArray
    seconds: FloatArray

    @property
    def goodput(self) -> FloatArray:
        """Tokens drawn so far over seconds so far, shape (n, S) [token/s]."""
        return np.asarray(self.tokens / self.seconds)

    def regret(self, best: FloatArray) -> FloatArray:
        """Tokens that a goodput of shape (S,) would have given in the same time, above those expected, shape (n, S)."""
        return np.asarray(best * self.seconds - self.expected_tokens)

    def lost_share(self, best: FloatArray) -> FloatArray:
        """The same as a share of what that goodput would have given, shape (n, S) [1]."""
        return np.asarray(self.regret(best) / (best * self.seconds))


def accepted_runs(acceptance: FloatArray, rounds: int, longest: int, rng: np.random.Generator) -> IntArray:
    """How many tokens of drafts of the longest length are accepted before a rejection, shape (rounds, ..., K).

    An exponential variable E exceeds l ln(1/alpha) with probability alpha^l, so the run is floor(E/ln(1/alpha)).
    """
    with np.errstate(divide="ignore"):
        per_token = np.abs(np.log(acceptance))
        runs = rng.exponential(size=(rounds, *acceptance.shape)) / per_token
    return np.minimum(runs, longest).astype(np.int64)


def every(count: int, rounds: int) -> list[int]:
    """Blocks of so many rounds, the last perhaps shorter.

    >>> every(100, 250)
    [100, 100, 50]
    """
    check_whole("count", count, 1)
    return [min(count, rounds - first) for first in range(0, rounds, count)]


def doubling(rounds: int) -> list[int]:
    """Blocks after which 1, 2, 4, 8, ... rounds have been played, and all in the end.

    >>> doubling(10)
    [1, 1, 2, 4, 2]
    """
    ends = [0, *(2**power for power in range(rounds.bit_length()) if 2**power < rounds), rounds]
    return [after - before for before, after in pairwise(ends)]


def play_online(
    scenario: Scenario, acceptance: FloatArray, policy: Policy, blocks: Sequence[int], *, seed: int = 0
) -> OnlineRounds:
    """Play rounds of problem `heterogeneous`; the policy plans at the head of each block.

    Parameters
    ----------
    scenario : Scenario
        Its own acceptance is not looked at.
    acceptance : array, shape (S, K)
        The truth of each prompt [1].
    policy : Policy
    blocks : sequence of int
        Rounds of each plan, from 1 on: `every` or `doubling`.
    seed : int
        Of numpy's default generator; the same rounds for every policy.

    Raises
    ------
    ParameterError
        For numbers out of range, or acceptances outside [0, 1].
    """
    for block in blocks:
        check_whole("rounds of a plan", block, 1)
    check_whole("seed", seed, 0)
    rounds = sum(blocks)
    if rounds * acceptance.size > MOST_RUNS:
        raise ParameterError(f"{rounds} rounds of {acceptance.size} devices are more than {MOST_RUNS} drafts")
    truth = ScenarioStack.of([scenario.replace(acceptance=Acceptance.of(prompt)) for prompt in acceptance])
    _, longest = scenario.length_limits("heterogeneous")
    runs = accepted_runs(acceptance, rounds, longest, np.random.default_rng(seed))
    ends = np.cumsum(blocks)
    tokens, expected, seconds = [], [], []
    for end, block in zip(ends, blocks, strict=True):
        lengths, share = policy.plan()
        one = play(truth, "heterogeneous", lengths, share)
        drawn = runs[end - block : end]
        accepted = np.sum(np.minimum(drawn, lengths), axis=0)
        policy.learn(Told(block, lengths, accepted, np.sum(drawn < lengths, axis=0), one.round_s))
        tokens.append(np.sum(accepted + block, axis=-1))
        expected.append(block * np.sum(one.expected_tokens, axis=-1))
        seconds.append(block * one.round_s)
    return OnlineRounds(ends, *(np.cumsum(part, axis=0, dtype=float) for part in (tokens, expected, seconds)))
