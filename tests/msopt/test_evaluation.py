"""Slacks of controls and reactions, and the files they come in."""

import json
import math
import os
import re
import stat
from typing import Any

import numpy as np
import pytest

from msopt import InfeasibleError, MsoptError, ParameterError, Reaction, draw, evaluate, evaluate_reaction, solve
from msopt.files.control_json import parse_control
from msopt.files.json_text import to_json
from msopt.files.whole_files import read_text, write_bytes, write_text
from msopt.model.control import Control
from msopt.solution import valid_bound
from tests.cases import s1, s2, s3, scenario_of
from tests.tolerances import EXACT


def control(lengths: list[int], share: list[float], problem: Any = "heterogeneous") -> Control:
    return Control(problem=problem, draft_length=np.array(lengths), bandwidth_hz=np.array(share))


@pytest.mark.parametrize(
    ("lengths", "share", "problem", "broken"),
    [
        ([5, 2], [1.1e7, 1.1e7], "heterogeneous", r"the uplink bandwidth budget is broken by 2e\+06 Hz"),
        ([5, 2], [1e308, 1e6], "heterogeneous", r"the uplink bandwidth budget is broken by 1e\+308 Hz"),
        ([17, 2], [1e7, 1e7], "heterogeneous", 'the greatest draft length of "dev-1" is broken by 1 token'),
        ([5, 0], [1e7, 1e7], "heterogeneous", 'the least draft length of "dev-2" is broken by 1 token'),
        ([5, 2], [2e7, 0.0], "heterogeneous", 'the bandwidth above 0 for a device that drafts of "dev-2" is broken'),
        ([5, 2], [2.1e7, -1e6], "heterogeneous", r'the bandwidth of at least 0 of "dev-2" is broken by 1e\+06 Hz'),
        ([5, 2], [1e7, 1e7], "homogeneous", "one length for all is broken by 3 token"),
    ],
)
def test_each_constraint_when_broken(lengths: list[int], share: list[float], problem: Any, broken: str) -> None:
    with pytest.raises(InfeasibleError, match=broken):
        evaluate(scenario_of(s2()), control(lengths, share, problem)).require_feasible()


def test_no_slack_is_negative_at_the_optimum() -> None:
    scenario = scenario_of(s3())
    for problem in ("homogeneous", "heterogeneous", "modes"):
        found = solve(scenario, problem)  # type: ignore[arg-type]
        assert all(slack.violation == 0.0 for slack in found.evaluation.slacks)


def test_a_reaction_that_breaks_the_power_budget() -> None:
    scenario = scenario_of(s3())
    wasteful = Reaction(
        rejected=np.array([1]),
        modes=("downlink",),
        bandwidth_hz=np.array([1e6]),
        downlink_power_w=np.array([11.0]),
    )
    with pytest.raises(InfeasibleError, match="the downlink power budget is broken by 1 W"):
        evaluate_reaction(scenario, wasteful).require_feasible()


def test_a_solution_written_and_read_scores_the_same() -> None:
    scenario = scenario_of(s3())
    for problem, method in (("heterogeneous", "decomposition"), ("modes", "all-uplink"), ("modes", "random-modes")):
        found = solve(scenario, problem, method)  # type: ignore[arg-type]
        read = parse_control(json.dumps(found.to_dict()), scenario)
        assert isinstance(read, Control)
        assert evaluate(scenario, read).goodput == found.goodput


def devices(**changes: Any) -> list[dict[str, Any]]:
    named = [{"name": f"dev-{k + 1}", "draft_length": 2, "bandwidth_hz": 5e6} for k in range(3)]
    named[1] |= changes
    return named


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[{}, {}]", "holds a list of 2 solutions; one object is needed"),
        ("{}", 'has no "devices" list'),
        (json.dumps({"devices": []}), "its method has no one control to score"),
        (json.dumps({"devices": devices(draft_length=2.5)}), "devices[1].draft_length = 2.5"),
        (json.dumps({"devices": devices(draft_length=-1)}), "devices[1].draft_length = -1"),
        (json.dumps({"devices": devices(draft_length=10**30)}), "devices[1].draft_length = 1000000"),
        (json.dumps({"devices": devices(bandwidth_hz="wide")}), 'devices[1].bandwidth_hz = "wide"'),
        (json.dumps({"devices": devices(bandwidth_hz=None)}), 'device "dev-2": bandwidth_hz is missing'),
        (json.dumps({"devices": devices(name="dev-9")}), 'devices[1]: "dev-9" is not a device of the scenario'),
        (json.dumps({"devices": devices(name="dev-1")}), 'devices[1]: "dev-1" is there twice'),
        (json.dumps({"devices": devices()[:2]}), 'device "dev-3" of the scenario is missing'),
        (json.dumps({"devices": [{"name": "dev-1", "mode": "sideways", "bandwidth_hz": 1.0}]}), "devices[0].mode"),
        (
            json.dumps({"devices": [{"name": "dev-1", "mode": "downlink", "bandwidth_hz": 1.0}]}),
            'device "dev-1": downlink_power_w is missing',
        ),
    ],
)
def test_files_that_hold_no_control(text: str, message: str) -> None:
    with pytest.raises(ParameterError) as raised:
        parse_control(text, scenario_of(s3()))
    assert message in str(raised.value)


def test_files_are_written_whole_or_not_at_all(tmp_path: Any) -> None:
    place = tmp_path / "a.txt"
    write_text(place, "one")
    link = tmp_path / "link"
    link.symlink_to(place)
    write_bytes(link, b"two")
    assert link.is_symlink()
    assert read_text(place) == "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "link"]
    with pytest.raises(ParameterError, match="cannot be written"):
        write_text(tmp_path / "nowhere" / "a.txt", "x")
    write_text("/dev/null", "nothing is replaced")
    for mode in (0o600, 0o640, 0o755):  # whoever may read it, may do so afterwards, and nobody else
        place.chmod(mode)
        write_text(place, "three")
        assert stat.S_IMODE(place.stat().st_mode) == mode
    write_text(tmp_path / ("n" * 250), "as long a name as there may be")
    with pytest.raises(ParameterError, match="nn: cannot be written: File name too long"):
        write_text(tmp_path / ("n" * 256), "x")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(ParameterError, match="round: cannot be written"):
        write_text(tmp_path / "round", "x")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_text(tmp_path / "missing")


@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_leaves_no_part_of_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    """Just before the new file takes the old one's place, and just after."""
    place, replace = tmp_path / "a.txt", os.replace
    write_text(place, "one")

    def interrupted(source: Any, target: Any) -> None:
        if late:
            replace(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(place, "two")
    assert read_text(place) == ("two" if late else "one")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draft_length": [float("nan"), 2]}, "draft_length holds a number that is not finite"),
        ({"bandwidth_hz": [float("inf"), 1e7]}, "bandwidth_hz holds a number that is not finite"),
        ({"draft_length": [3.5, 2.0]}, "draft_length holds a number that is not whole"),
        ({"draft_length": ["a", "b"]}, "draft_length = .* is not a list of numbers; it holds str"),
        ({"problem": "nope"}, 'problem = "nope" is not homogeneous or heterogeneous or modes'),
        ({"mode_rule": "nope"}, 'mode_rule = "nope" is not best or all-uplink or all-downlink or random'),
    ],
)
def test_what_is_no_control(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"problem": "heterogeneous", "draft_length": [5, 2], "bandwidth_hz": [1e7, 1e7]}
    assert evaluate(scenario_of(s2()), Control(**good)).goodput > 0.0
    with pytest.raises(ParameterError, match=message):
        Control(**(good | changes))


def test_a_wrong_bound_is_told_and_not_hidden() -> None:
    assert valid_bound(10.0, 10.0 * (1.0 + 1e-12)) >= 10.0 * (1.0 + 1e-12)
    assert valid_bound(10.0, 10.001, standard_error=0.001) == 10.001
    with pytest.raises(MsoptError, match="below a goodput that was reached"):
        valid_bound(10.0, 10.001)


# Bandwidths that carry nothing


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
@pytest.mark.parametrize("share", [5e-324, 1e-320, 1e-310])
def test_a_vanishing_bandwidth_never_finishes(sharing: str, share: float) -> None:
    """34 kbit at less than 1e-305 bit/s take longer than a float can tell."""
    scenario = scenario_of(s2(radio={"uplink_sharing": sharing}))
    for problem in ("heterogeneous", "homogeneous", "modes"):
        scored = evaluate(scenario, control([5, 5], [1e7, share], problem))
        assert scored.goodput == 0.0
        broken = 'a device that drafts of "dev-2" is broken: what it sends never arrives'
        with pytest.raises(InfeasibleError, match=broken):
            scored.require_feasible()


@pytest.mark.parametrize("sharing", ["fixed-snr", "power-limited"])
def test_a_tiny_bandwidth_is_slow_and_no_more(sharing: str) -> None:
    """B log2(1 + SNR B_all/B) to the last digits, where the SNR itself is more than a float holds."""
    scenario = scenario_of(s1(radio={"uplink_sharing": sharing}))
    share, bits = 1e-302, 33809
    nats = math.log(10.0 * 20e6) + 302.0 * math.log(10.0) if sharing == "power-limited" else math.log(11.0)
    seconds = 5 * (0.02 + bits * math.log(2.0) / (share * nats))
    assert evaluate(scenario, control([5], [share])).round.draft_upload_s == pytest.approx(seconds, rel=EXACT)


@pytest.mark.parametrize(
    ("mode", "band", "power", "broken"),
    [
        ("uplink", 1e-320, float("nan"), 'the bandwidth above 0 of "dev-2" is broken: what it sends never arrives'),
        ("downlink", 1e-320, 1.0, 'the bandwidth above 0 of "dev-2" is broken: what it sends never arrives'),
        ("downlink", 1e6, 0.0, 'the downlink power above 0 of "dev-2" is broken: what it sends never arrives'),
        ("downlink", 1e6, -1.0, 'the downlink power above 0 of "dev-2" is broken: what it sends never arrives'),
        ("uplink", -1e6, float("nan"), 'the bandwidth above 0 of "dev-2" is broken'),
    ],
)
def test_reactions_that_never_finish(mode: Any, band: float, power: float, broken: str) -> None:
    reaction = Reaction(rejected=[1], modes=(mode,), bandwidth_hz=[band], downlink_power_w=[power])  # type: ignore[arg-type]
    with pytest.raises(InfeasibleError, match=broken):
        evaluate_reaction(scenario_of(s3()), reaction).require_feasible()


def test_no_json_holds_an_infinite_number() -> None:
    for wrong in (math.inf, -math.inf, math.nan):
        with pytest.raises(MsoptError, match=re.escape(f"devices[1].finish_s is {wrong}, which JSON cannot hold")):
            to_json({"devices": [{"finish_s": 1.0}, {"finish_s": wrong}]})
    assert to_json({"a": [1.5, None, "NaN"]}) == '{"a": [1.5, null, "NaN"]}'


def test_many_devices_are_looked_up_by_name() -> None:
    """At 20 000 devices comparing each name with each would be 400 million comparisons."""
    scenario = draw("multispin-llama2", devices=20_000)[0]
    text = json.dumps({"devices": [{"name": n, "draft_length": 1, "bandwidth_hz": 1.0} for n in scenario.device_names]})
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    object.__setattr__(scenario, "device_names", tuple(map(Name, scenario.device_names)))
    assert isinstance(parse_control(text, scenario), Control)
    assert compared <= 5 * 20_000
