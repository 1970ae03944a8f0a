"""What each effect costs against arithmetic of its own, with one device where a closed form is at hand.

Intervals and their false alarms are as in `test_played_rounds`: eight comparisons here, one seed in 12 500.
"""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from msopt import Fault, FaultPlan, LeftOut, ParameterError, attribution, emulate, evaluate
from msopt.emulation.channels import channel_blocks
from msopt.emulation.left_out import typical
from msopt.model.acceptance import beta_counts
from tests.cases import s1, s3, scenario_of
from tests.msopt.emulation.test_played_rounds import ROUNDS, SURE, assert_meets, control_of
from tests.tolerances import EXACT, STANDARD_ERRORS

ONE = scenario_of(s1(server={"verify_base_s": 0.02}))
ALONE = control_of(ONE, "heterogeneous", [5])
TOKENS = (1.0 - 0.8**6) / 0.2
DRAFT_S, AIR_S = 5 * 0.02, 5 * (17 + 33792) / (20e6 * np.log2(11.0))
VERIFY_S = 0.02 + 6e-4


def faulty(**fault: Any) -> LeftOut:
    return LeftOut(faults=FaultPlan(faults=(Fault(**fault),)))


@pytest.mark.parametrize(
    ("left_out", "tokens", "seconds"),
    [
        (faulty(kind="lost", probability=0.3), 0.7 * TOKENS, DRAFT_S + AIR_S + 0.7 * VERIFY_S),
        (faulty(kind="straggler", probability=0.2, factor=4.0), TOKENS, 1.6 * DRAFT_S + AIR_S + VERIFY_S),
        (LeftOut(compute_variation=0.5), TOKENS, DRAFT_S + AIR_S + VERIFY_S),
        (LeftOut(delay_s=0.05), TOKENS, DRAFT_S + AIR_S + 0.05 + VERIFY_S),
    ],
    ids=["loss", "stragglers", "jitter", "delays"],
)
def test_one_device(left_out: LeftOut, tokens: float, seconds: float) -> None:
    assert_meets(emulate(ONE, ALONE, 4 * ROUNDS, left_out=left_out, seed=7), tokens / seconds)


def test_jitter_has_the_variation_asked_for() -> None:
    played = emulate(ONE, ALONE, ROUNDS, left_out=LeftOut(compute_variation=0.5))
    for seconds, mean in (
        (played.draft_end_s[:, 0] - played.start_s[:-1], DRAFT_S),
        (played.verified_s - played.verify_start_s, VERIFY_S),
    ):
        assert seconds.mean() == pytest.approx(mean, rel=STANDARD_ERRORS * 0.5 / ROUNDS**0.5)
        spread = np.log(seconds).std(ddof=1)
        assert spread == pytest.approx(np.sqrt(np.log(1.25)), rel=STANDARD_ERRORS / (2 * ROUNDS) ** 0.5)


def test_the_slowest_of_many_costs() -> None:
    """Three devices in step without chance; with it the server waits for the greatest of three factors."""
    cell = scenario_of(s3()).replace(draft_s_per_token=[0.02] * 3, uplink_snr_db=[14.0] * 3)
    left_out = LeftOut(compute_variation=0.5)
    factor = np.exp(np.sqrt(np.log(1.25)) * np.random.default_rng(0).standard_normal((200_000, 3)) - np.log(1.25) / 2)
    round_s = 5 * 0.02 * factor.max(axis=1).mean() + 5 * 33809 / (20e6 / 3 * np.log2(1 + 10**1.4)) + 0.2 + 18e-4
    control = control_of(cell, "heterogeneous", [5, 5, 5])
    tokens = float(np.sum(evaluate(cell, control).round.expected_tokens))
    assert_meets(emulate(cell, control, ROUNDS, left_out=left_out, seed=1), tokens / round_s)


def test_a_device_that_drops_out_takes_its_tokens_and_its_verification_with_it() -> None:
    cell = scenario_of(s3()).replace(acceptance=[1.0, 1.0, 1.0])
    leaves = faulty(kind="dropout", devices=("dev-3",), first_round=4)
    played = emulate(cell, control_of(cell, "modes", [2, 3, 4]), 10, left_out=leaves)
    rate = 20e6 / 3 * np.log2(1.0 + 10.0 ** np.array([1.4, 0.0, -0.6]))
    each_s = np.array([2, 3, 4]) * (np.array([0.02, 0.03, 0.04]) + 17 / rate)
    with_s, without_s = each_s.max() + 0.2 + 12e-4, each_s[:2].max() + 0.2 + 7e-4
    assert played.goodput == pytest.approx((4 * 12 + 6 * 7) / (4 * with_s + 6 * without_s), rel=EXACT)


def test_who_drafts_nothing_loses_nothing() -> None:
    cell = scenario_of(s3())
    played = emulate(cell, control_of(cell, "modes", [2, 0, 2]), 20, left_out=faulty(kind="lost"))
    assert np.array_equal(played.tokens, np.tile([0, 1, 0], (20, 1)))


def test_texts_end_where_they_end() -> None:
    """Ten tokens, three drafted and all accepted: rounds of 4, 4 and 2, and never a token beyond an end."""
    sure = ONE.replace(acceptance=[1.0])
    left_out = LeftOut(text_tokens=10)
    for seed in range(10):
        tokens = emulate(sure, control_of(sure, "heterogeneous", [3]), 40, left_out=left_out, seed=seed).tokens[:, 0]
        begins = next(place for place in range(4) if tokens[place : place + 3].tolist() == [4, 4, 2])
        assert tokens[begins : begins + 36].tolist() == [4, 4, 2] * 12
        assert tokens[:begins].sum() < 10
    reached = np.cumsum(emulate(ONE, ALONE, 500, left_out=left_out).tokens[:, 0])
    ends = [first for first in range(1, 11) if set(range(first, reached[-1], 10)) <= set(reached.tolist())]
    assert ends, "the first text ends somewhere, and every ten tokens after it another"


def test_texts_of_unlike_acceptance_weigh_by_their_rounds() -> None:
    """A text of little acceptance takes more rounds: tokens a round are the harmonic mean, below the law's E."""
    mean, std, count = 0.6, 0.2, 10
    alike = s1()["devices"][0] | {"acceptance": mean, "acceptance_std": std}
    cell = scenario_of(s1() | {"devices": [alike | {"name": f"{k}"} for k in range(count)]})
    law = beta(*beta_counts(mean, std))
    rounds_a_token, _ = quad(lambda x: law.pdf(x) * (1.0 - x) / (1.0 - x**6), 0.0, 1.0)
    control = control_of(cell, "heterogeneous", [5] * count)
    played = emulate(cell, control, 6400, left_out=LeftOut(text_tokens=400), seed=2)
    low, high = (end * played.round_s[0] for end in played.interval(SURE))
    assert low <= count / rounds_a_token <= high
    assert high < played.predicted * played.round_s[0], "the formula counts prompts by rounds"


def test_fading_keeps_the_mean_power_and_moves_both_links() -> None:
    cell = scenario_of(s3())
    left_out = LeftOut(coherence_rounds=4, fading_shape=3.0)
    control = control_of(cell, "heterogeneous", [5, 4, 3])
    blocks = channel_blocks(cell, control, 3998, left_out, np.random.SeedSequence(1))
    assert [(block.first, block.end) for block in blocks[-2:]] == [(3992, 3996), (3996, 3998)]
    up = np.array([block.scenario.uplink_snr_db - cell.uplink_snr_db for block in blocks])
    down = np.array([block.scenario.downlink_snr_db - cell.downlink_snr_db for block in blocks])
    assert up == pytest.approx(down, abs=1e-9)
    gain = 10.0 ** (up / 10.0)
    error = np.sqrt(1.0 / 3.0 / gain.size)  # a gamma law of shape 3 and mean 1 has the variance 1/3
    assert abs(gain.mean() - 1.0) < STANDARD_ERRORS * error


def test_solved_anew_is_never_worse_in_any_channel() -> None:
    cell = scenario_of(s3())
    control = control_of(cell, "heterogeneous", [5, 4, 3])
    seeds = np.random.SeedSequence(1)
    kept, anew = (
        channel_blocks(cell, control, 30, LeftOut(coherence_rounds=3, solved_anew=again), seeds)
        for again in (False, True)
    )
    for one, other in zip(kept, anew, strict=True):
        assert one.scenario == other.scenario
        assert evaluate(other.scenario, other.control).goodput >= evaluate(one.scenario, one.control).goodput


def test_attribution_switches_on_one_at_a_time_on_the_same_luck() -> None:
    cell = scenario_of(s3())
    control = control_of(cell, "modes", [5, 4, 3])
    left_out = typical(160, cell.device_names)
    costs = attribution(cell, control, 160, left_out, seed=3)
    assert [cost.effect for cost in costs] == [name for name, _ in left_out.each()] + ["all of these at once"]
    plain = emulate(cell, control, 160, seed=3)
    for cost, (_, alone) in zip(costs, left_out.each(), strict=False):
        played = emulate(cell, control, 160, left_out=alone, seed=3)
        assert cost.goodput == played.goodput
        assert cost.cost == pytest.approx((plain.goodput - played.goodput) / plain.predicted, rel=EXACT)
        assert cost.low <= cost.cost <= cost.high
        if alone.text_tokens is None and not alone.solved_anew:
            assert np.all((played.accepted == plain.accepted) | ~played.arrives), "the same drafts"
    (fading,) = [cost for cost in costs if cost.effect == "fading, control kept"]
    alone_low, alone_high = plain.interval()
    assert fading.high - fading.low < 0.5 * (alone_high - alone_low) / plain.predicted, "shared luck cancels"


def test_only_what_is_asked_for_has_a_row() -> None:
    assert attribution(ONE, ALONE, 40, LeftOut()) == ()
    (loss,) = attribution(ONE, ALONE, 40, faulty(kind="lost", probability=0.5))
    assert loss.effect == "lost drafts"
    both = attribution(ONE, ALONE, 40, LeftOut(coherence_rounds=20, solved_anew=True))
    assert [cost.effect for cost in both] == ["fading, control kept", "fading, solved anew"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text_tokens": 0}, "text_tokens = 0 is not a whole number of at least 1"),
        ({"compute_variation": -0.1}, "compute_variation = -0.1"),
        ({"delay_s": float("nan")}, "delay_s = nan"),
        ({"coherence_rounds": 4, "fading_shape": 2.0}, "fading_shape = 2.0 is not above 2"),
        ({"solved_anew": True}, "solved_anew needs coherence_rounds"),
    ],
)
def test_bad_effects(options: dict[str, float], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        LeftOut(**options)  # type: ignore[arg-type]
