"""Each limit of a control and a reaction has its two sides, in the unit that it names."""

import math

import numpy as np
import pytest

from msopt import Control, Reaction, evaluate, evaluate_reaction
from msopt.model.slacks import FEASIBILITY_RTOL, LIMITS, REACTION_LIMITS, Slack
from tests.cases import s2, s3, scenario_of
from tests.tolerances import FEW_ROUNDINGS


def test_sides_of_a_control() -> None:
    """Two devices, 20 MHz: lengths 5 and 2 in 1 to 16, 11 and 8 MHz."""
    scenario = scenario_of(s2())
    control = Control(problem="homogeneous", draft_length=[5, 2], bandwidth_hz=[1.1e7, 0.8e7])  # type: ignore[arg-type]
    evaluation = evaluate(scenario, control)
    finish = [
        length * (scenario.draft_s_per_token[k] + 33809 / (share * math.log2(1 + scenario.uplink_snr[k])))
        for k, (length, share) in enumerate(((5, 1.1e7), (2, 0.8e7)))
    ]
    expected = [
        ("the least draft length", "token", [1, 1], [5, 2]),
        ("the greatest draft length", "token", [5, 2], [16, 16]),
        ("the bandwidth of at least 0", "Hz", [0, 0], [1.1e7, 0.8e7]),
        ("the bandwidth above 0 for a device that drafts", "Hz", [0, 0], [1.1e7, 0.8e7]),
        ("the uplink bandwidth budget", "Hz", 1.9e7, 2e7),
        ("the end of draft and upload", "s", finish, [max(finish)] * 2),
        ("one length for all", "token", 5, 2),
    ]
    assert [limit.name for limit in LIMITS["homogeneous"]] == [name for name, *_ in expected]
    for slack, (name, unit, left, right) in zip(evaluation.slacks, expected, strict=True):
        assert (slack.constraint, slack.unit) == (name, unit)
        assert np.ravel(slack.left) * np.ones(np.size(left)) == pytest.approx(np.ravel(left), rel=FEW_ROUNDINGS)
        assert np.ravel(slack.right) * np.ones(np.size(right)) == pytest.approx(np.ravel(right), rel=FEW_ROUNDINGS)
        assert slack.value.shape == ((2,) if slack.devices else ())


def test_what_is_beyond_a_limit_by_round_off_has_no_room_left() -> None:
    def room(right: float) -> tuple[float, float]:
        slack = Slack("the uplink bandwidth budget", "Hz", np.float64(2e7), np.float64(right), 2e7)
        return float(slack.value), slack.violation

    assert room(2e7 * (1 - 0.5 * FEASIBILITY_RTOL)) == (0.0, 0.0)
    assert room(2e7 * (1 - 2.0 * FEASIBILITY_RTOL)) == pytest.approx((-0.04, 0.04), rel=1e-6)
    assert room(2e7 + 1.0) == (1.0, 0.0)


def test_only_one_problem_asks_for_one_length() -> None:
    assert LIMITS["heterogeneous"] == LIMITS["modes"] == LIMITS["homogeneous"][:-1]


def test_sides_of_a_reaction() -> None:
    scenario = scenario_of(s3())
    reaction = Reaction(
        rejected=[0, 2],  # type: ignore[arg-type]
        modes=("uplink", "downlink"),
        bandwidth_hz=[4e6, 7e6],  # type: ignore[arg-type]
        downlink_power_w=[np.nan, 0.5],  # type: ignore[arg-type]
    )
    slacks = evaluate_reaction(scenario, reaction).slacks
    assert [slack.constraint for slack in slacks] == [limit.name for limit in REACTION_LIMITS]
    assert [slack.left.tolist() for slack in slacks] == [[0.0, 0.0], 4e6, 7e6, [0.0, 0.0], 0.5]
    assert [slack.right.tolist() for slack in slacks] == [
        [4e6, 7e6],
        scenario.uplink_bandwidth_hz,
        scenario.downlink_bandwidth_hz,
        [0.0, 0.5],
        scenario.downlink_power_w,
    ]
    assert slacks[0].devices == (scenario.device_names[0], scenario.device_names[2])


@pytest.mark.parametrize(("share", "broken"), [(0.99, False), (1.01, True)])
def test_round_off_is_measured_by_the_scale(share: float, broken: bool) -> None:
    over = 2e7 * share * FEASIBILITY_RTOL
    slack = Slack("budget", "Hz", np.asarray(2e7 + over), np.asarray(2e7), 2e7)
    assert (slack.violation > 0.0) == broken
