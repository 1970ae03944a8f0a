"""Rounds played online: their law, their counts, regret, and who learns how fast. Seeds are fixed."""

import math

import numpy as np
import pytest
from scipy import stats

from msopt import Acceptance, ParameterError, Scenario, draw, solve, solve_many
from msopt.arrays import FloatArray, IntArray
from msopt.model.goodput import play
from msopt.uncertain.common_length_bandit import CommonLengthBandit
from msopt.uncertain.online import OnlineRounds, Policy, Told, accepted_runs, doubling, every, play_online
from msopt.uncertain.policies import Kept, Learner, Seen, posterior_law, posterior_mean, upper_confidence
from msopt.uncertain.prompt_laws import BetaPrompts
from tests.tolerances import EXACT, STANDARD_ERRORS

PROMPTS, DEVICES, ROUNDS = 3, 4, 256


@pytest.fixture(scope="module")
def cell() -> Scenario:
    drawn, _ = draw("multispin-llama2", devices=DEVICES, seed=0)
    return drawn.replace(acceptance=Acceptance.of(drawn.acceptance.mean, np.full(DEVICES, 0.25)), max_draft_length=12)


@pytest.fixture(scope="module")
def truth(cell: Scenario) -> FloatArray:
    return BetaPrompts.of(cell).draw(np.random.default_rng(3), PROMPTS)


@pytest.fixture(scope="module")
def best(cell: Scenario, truth: FloatArray) -> FloatArray:
    return solve_many([cell.replace(acceptance=Acceptance.of(prompt)) for prompt in truth]).goodput


def fixed(cell: Scenario, length: int) -> Policy:
    return Kept(solve(cell.replace(min_draft_length=length, max_draft_length=length)).control, PROMPTS)  # type: ignore[arg-type]


def test_runs_are_geometric_and_cut_off() -> None:
    """A chi-square test for each of two acceptances: a false alarm in 1e-4 of seeds each; the ends are certain."""
    runs = accepted_runs(np.array([0.0, 0.35, 0.9, 1.0]), 4000, 6, np.random.default_rng(0))
    assert runs.shape == (4000, 4)
    assert set(runs[:, 0]) == {0}
    assert set(runs[:, 3]) == {6}
    for k, alpha in ((1, 0.35), (2, 0.9)):
        law = np.array([alpha**n * (1.0 - alpha) for n in range(6)] + [alpha**6])
        assert stats.chisquare(np.bincount(runs[:, k], minlength=7), 4000 * law).pvalue > 1e-4


def test_blocks() -> None:
    for rounds in (1, 2, 3, 8, 9, 1000):
        assert sum(doubling(rounds)) == sum(every(7, rounds)) == rounds
        ends = np.cumsum(doubling(rounds))
        assert ends[:-1].tolist() == [2**n for n in range(len(ends) - 1)]


class _Noted:
    """Plays a policy and keeps what it was told."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.told = policy, list[Told]()

    def plan(self) -> tuple[IntArray, FloatArray]:
        return self.policy.plan()

    def learn(self, told: Told) -> None:
        self.told.append(told)
        self.policy.learn(told)


def test_counts_and_sums_by_hand(cell: Scenario, truth: FloatArray) -> None:
    """Every draft of every round, one by one: what is accepted, whether a rejection was seen, tokens over seconds."""
    noted = _Noted(fixed(cell, 5))
    found = play_online(cell, truth, noted, [2, 3], seed=9)
    runs = accepted_runs(truth, 5, 12, np.random.default_rng(9))
    for told, first, last in zip(noted.told, (0, 2), (2, 5), strict=True):
        assert told.rounds == last - first
        for prompt in range(PROMPTS):
            for k in range(DEVICES):
                ends = [min(int(run), 5) for run in runs[first:last, prompt, k]]
                assert told.accepted[prompt, k] == sum(ends)
                assert told.rejected[prompt, k] == sum(end < 5 for end in ends)
    seconds = 5.0 * noted.told[0].round_s
    tokens = np.sum(np.minimum(runs, 5) + 1, axis=(0, 2))
    assert found.rounds.tolist() == [2, 5]
    assert found.goodput[-1] == pytest.approx(tokens / seconds, rel=EXACT)
    expected = 5.0 * np.sum((1.0 - truth**6) / (1.0 - truth), axis=1)
    assert found.expected_tokens[-1] == pytest.approx(expected, rel=EXACT)


def test_the_same_rounds_whatever_the_blocks(cell: Scenario, truth: FloatArray) -> None:
    whole, parts = (play_online(cell, truth, fixed(cell, 7), blocks, seed=1) for blocks in ([40], every(9, 40)))
    assert whole.tokens[-1].tolist() == parts.tokens[-1].tolist()
    assert whole.regret(np.ones(PROMPTS))[-1] == pytest.approx(parts.regret(np.ones(PROMPTS))[-1], rel=EXACT)


def test_tokens_drawn_have_the_expectation_of_the_evaluator(cell: Scenario, truth: FloatArray) -> None:
    """Four standard errors of the sum, by the law's own variance: 6.3e-5 false alarms for each of three prompts."""
    found = play_online(cell, truth, fixed(cell, 6), [2000], seed=4)
    tails = truth[..., None] ** np.arange(7)  # P(tokens > n), n = 0 to 6
    mean = tails.sum(axis=-1)
    variance = np.sum((2.0 * np.arange(7) + 1.0) * tails, axis=-1) - mean**2
    error = np.sqrt(2000.0 * variance.sum(axis=-1))
    assert np.all(np.abs(found.tokens[-1] - found.expected_tokens[-1]) < STANDARD_ERRORS * error)


def _played(cell: Scenario, truth: FloatArray, policy: Policy, blocks: list[int]) -> OnlineRounds:
    return play_online(cell, truth, policy, blocks, seed=2)


def test_regret_never_falls_and_knowing_has_none(cell: Scenario, truth: FloatArray, best: FloatArray) -> None:
    first = solve(cell).control
    assert first is not None
    blind = _played(cell, truth, Kept(first, PROMPTS), every(32, ROUNDS)).regret(best)
    assert np.all(np.diff(blind, axis=0) >= -1e-9)
    assert blind[-1] == pytest.approx(8.0 * blind[0], rel=1e-9), "who never learns loses as much in every round"
    knows = Learner(cell, lambda _: [Acceptance.of(prompt) for prompt in truth], first, PROMPTS)
    knows.learn(Told(1, *(np.zeros((PROMPTS, DEVICES), dtype=np.int64),) * 3, np.ones(PROMPTS)))
    assert _played(cell, truth, knows, [ROUNDS]).regret(best) == pytest.approx(np.zeros((1, PROMPTS)), abs=1e-6)


def test_who_learns_how_fast(cell: Scenario, truth: FloatArray, best: FloatArray) -> None:
    """Counts of every device teach what takes bandits longer; one common length never gets there."""
    first, prior = solve(cell).control, BetaPrompts.of(cell)
    assert first is not None
    regret = {
        name: float(np.mean(_played(cell, truth, policy, blocks).regret(best)[-1]))
        for name, policy, blocks in (
            ("never", Kept(first, PROMPTS), [ROUNDS]),
            ("mean", Learner(cell, posterior_mean(prior), first, PROMPTS), doubling(ROUNDS)),
            ("law", Learner(cell, posterior_law(prior), first, PROMPTS), doubling(8)),
            ("optimist", Learner(cell, upper_confidence, first, PROMPTS), doubling(ROUNDS)),
            ("common", CommonLengthBandit(cell, PROMPTS), every(1, ROUNDS)),
        )
    }
    assert regret["mean"] < 0.5 * regret["optimist"] < 0.25 * regret["never"]
    assert regret["mean"] < 0.1 * regret["common"]
    assert regret["law"] < 0.1 * regret["never"]


def test_what_the_learner_believes(cell: Scenario, truth: FloatArray) -> None:
    """Its counts are those it was told; near the truth after many rounds (four standard errors of a proportion)."""
    first, prior = solve(cell).control, BetaPrompts.of(cell)
    assert first is not None
    noted = _Noted(Learner(cell, posterior_mean(prior), first, PROMPTS))
    _played(cell, truth, noted, doubling(256))
    seen = noted.policy.seen  # type: ignore[attr-defined]
    assert seen.rounds == 256
    assert np.array_equal(seen.accepted, sum(told.accepted for told in noted.told))
    after = prior.after(seen.accepted, seen.rejected)
    believed = [law.mean for law in posterior_mean(prior)(seen)]
    assert np.array(believed) == pytest.approx(
        (prior.a + seen.accepted) / (prior.a + prior.b + seen.accepted + seen.rejected)
    )
    assert np.all(np.abs(after.mean - truth) < STANDARD_ERRORS * after.std)
    assert [law.std for law in posterior_law(prior)(seen)] == pytest.approx(after.std, rel=EXACT)


def test_upper_confidence_by_hand() -> None:
    seen = Seen(np.array([[30, 1, 0]]), np.array([[10, 0, 0]]), 20)
    wanted = [0.75 + math.sqrt(1.5 * math.log(20.0) / 40.0), 1.0, 1.0]
    assert upper_confidence(seen)[0].mean == pytest.approx(np.minimum(wanted, 1.0), rel=EXACT)


def test_the_bandit_by_hand(cell: Scenario, truth: FloatArray) -> None:
    """UCB1 with plain loops on the same rounds chooses the same lengths."""
    small = cell.replace(max_draft_length=5)
    noted = _Noted(CommonLengthBandit(small, PROMPTS))
    play_online(small, truth, noted, every(1, 120), seed=6)
    runs = accepted_runs(truth, 120, 5, np.random.default_rng(6))
    split = solve(small, "homogeneous").control
    seconds = [
        float(play(small, "heterogeneous", np.full(DEVICES, n), split.bandwidth_hz).round_s) for n in range(1, 6)
    ]
    for prompt in range(PROMPTS):
        tokens, times = [0.0] * 5, [0] * 5
        for t in range(120):
            index = [
                (tokens[n] / (times[n] * DEVICES) + (n + 1) * math.sqrt(2.0 * math.log(t) / (times[n] * DEVICES)))
                / seconds[n]
                if times[n]
                else math.inf
                for n in range(5)
            ]
            arm = index.index(max(index))
            assert noted.told[t].draft_length[prompt].tolist() == [arm + 1] * DEVICES
            tokens[arm] += sum(min(int(run), arm + 1) + 1 for run in runs[t, prompt])
            times[arm] += 1


def test_prompts_side_by_side_are_as_each_alone(cell: Scenario, truth: FloatArray) -> None:
    """What is planned for one prompt does not depend on the others: the same counts, the same plan."""
    first, prior = solve(cell).control, BetaPrompts.of(cell)
    assert first is not None
    together, alone = (Learner(cell, posterior_mean(prior), first, count) for count in (PROMPTS, 1))
    counts = np.arange(PROMPTS * DEVICES).reshape(PROMPTS, DEVICES)
    together.learn(Told(20, counts, counts, counts[::-1], np.ones(PROMPTS)))
    alone.learn(Told(20, counts[1:2], counts[1:2], counts[::-1][1:2], np.ones(1)))
    for whole, part in zip(together.plan(), alone.plan(), strict=True):
        assert np.array_equal(whole[1:2], part)


def test_bad_arguments(cell: Scenario, truth: FloatArray) -> None:
    policy = fixed(cell, 3)
    with pytest.raises(ParameterError, match="rounds of a plan = 0"):
        play_online(cell, truth, policy, [3, 0])
    with pytest.raises(ParameterError, match="more than 100000000 drafts"):
        play_online(cell, truth, policy, [10**9])
    with pytest.raises(ParameterError, match=r"acceptance = 1\.5 is outside"):
        play_online(cell, np.full((1, DEVICES), 1.5), policy, [1])
    with pytest.raises(ParameterError, match="count = 0"):
        every(0, 5)
