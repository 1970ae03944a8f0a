import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import msopt
from msopt import EarliestDeadline, Scenario, evaluate, solve
from msopt.emulation.event_loop import emulate
from msopt.files.control_json import parse_control
from msopt.files.json_text import to_json


def two(rng: np.random.Generator) -> Scenario:
    """A pair whose mean powers often ask for a longer round than its drafts take."""
    return Scenario(
        verify_base_s=float(rng.uniform(0.02, 0.1)),
        downlink_power_w=1.0,
        uplink_bandwidth_hz=1e6,
        downlink_bandwidth_hz=1e6,
        token_bits=16,
        distribution_bits=20_000,
        max_draft_length=5,
        min_draft_length=int(rng.integers(0, 2)),
        acceptance=rng.uniform(0.5, 0.95, 2),
        draft_s_per_token=rng.uniform(0.005, 0.05, 2),
        uplink_snr_db=rng.uniform(0.0, 20.0, 2),
        downlink_snr_db=[20.0, 20.0],
        draft_power_w=rng.uniform(1.0, 5.0, 2),
        transmit_power_w=rng.uniform(0.2, 3.0, 2),
        average_power_w=rng.uniform(0.2, 2.0, 2),
    )


def shortest_round_s(cell: Scenario, lengths: tuple[int, int]) -> float:
    """Over all splits and all times of waiting: with given shares a round lasts as long as drafts, or mean powers, ask.

    Each device's demand falls with its share, so that the longer of the two is least where they are equal.
    """
    draft_w, send_w, mean_w = cell.draft_power_w, cell.transmit_power_w, cell.average_power_w

    def asked(k: int, share: float) -> float:
        draft_s = lengths[k] * cell.draft_s_per_token[k]
        rate = share * cell.uplink_bandwidth_hz * np.log2(1.0 + 10.0 ** (cell.uplink_snr_db[k] / 10.0))
        send_s = lengths[k] * (cell.token_bits + cell.distribution_bits) / rate if lengths[k] else 0.0
        energy_j = draft_w[k] * draft_s + send_w[k] * send_s
        return float(max(draft_s + send_s + cell.verify_base_s, energy_j / mean_w[k]))

    def first_longer(share: float) -> float:
        return asked(0, share) - asked(1, 1.0 - share)

    ends = 1e-9, 1.0 - 1e-9
    if first_longer(ends[0]) <= 0.0:  # only one of them sends
        return asked(1, 1.0)
    if first_longer(ends[1]) >= 0.0:
        return asked(0, 1.0)
    share = brentq(first_longer, *ends, xtol=1e-15, rtol=1e-14)
    return max(asked(0, share), asked(1, 1.0 - share))


def test_the_best_answer_may_be_to_wait_for_a_mean_power() -> None:
    rng = np.random.default_rng(12)
    waited = 0
    for _ in range(8):
        cell = two(rng)
        low = cell.length_limits("heterogeneous")[0]
        best = max(
            float(np.sum(cell.acceptance.expected_tokens(np.array(lengths, dtype=float))))
            / shortest_round_s(cell, lengths)
            for lengths in itertools.product(range(low, 6), repeat=2)
        )
        found = solve(cell, method="exact")
        assert found.goodput == pytest.approx(best, rel=1e-9)
        waited += found.control.not_before_s is not None
    assert 1 < waited < 8


@pytest.fixture(scope="module")
def waiting() -> msopt.Solution:
    cell = two(np.random.default_rng(2)).replace(average_power_w=[0.3, 0.3], min_draft_length=1)
    return solve(cell)


def test_a_control_that_waits_is_written_read_scored_and_played_as_it_is(waiting: msopt.Solution) -> None:
    cell, until = waiting.scenario, waiting.control.not_before_s
    again: Any = parse_control(to_json(waiting.to_dict()), cell)
    assert again.not_before_s == until
    assert evaluate(cell, again).goodput == waiting.goodput
    assert f"verification waits until {until:.4g} s" in "; ".join(waiting.warnings)
    played = emulate(cell, again, 3)
    np.testing.assert_allclose(played.verify_start_s - played.start_s[:-1], until, rtol=1e-12)
    hasty = evaluate(cell, replace(again, not_before_s=None))
    assert [slack.constraint for slack in hasty.slacks if slack.violation > 0.0] == ["average power"]


def test_a_server_that_is_not_free_before_is_waited_for() -> None:
    cell = two(np.random.default_rng(2)).replace(draft_power_w=None, transmit_power_w=None, average_power_w=None)
    found = solve(cell, limits=[EarliestDeadline(2.0)])
    assert float(found.evaluation.round.round_s) == pytest.approx(2.0 + cell.verify_base_s, rel=1e-12)
    assert found.evaluation.round.expected_tokens == pytest.approx(cell.acceptance.expected_tokens(np.full(2, 5.0)))


@pytest.mark.parametrize("time_s", [-1.0, np.inf, np.nan, [1.0, 2.0], "soon"])
def test_a_time_to_wait_for_that_is_none_is_refused(time_s: Any) -> None:
    with pytest.raises(msopt.ParameterError, match="not_before_s"):
        msopt.Control(problem="heterogeneous", draft_length=[1], bandwidth_hz=[1.0], not_before_s=time_s)
