"""The scenarios that come with the package."""

import tomllib

import pytest

from msopt import bundled, draw, read_profile, solve
from msopt.drawn.presets import PRESETS
from msopt.errors import ParameterError
from msopt.model.scenario import Scenario


def test_names() -> None:
    assert bundled.names()[0] == bundled.default
    assert sorted(bundled.names()) == sorted(["edge-cell", "qwen-coder", "smollm2-ladder", *PRESETS])


@pytest.mark.parametrize("name", bundled.names())
def test_every_bundled_scenario_is_sound(name: str) -> None:
    path = bundled.path(name)
    assert path.is_file()
    assert path.stem == name
    scenario = Scenario.read(path)
    assert not scenario.warnings
    assert path.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", ["edge-cell", "qwen-coder", "smollm2-ladder"])
def test_measured_devices_have_the_numbers_of_their_profiles(name: str) -> None:
    text = tomllib.loads(bundled.path(name).read_text(encoding="utf-8"))
    scenario = Scenario.read(bundled.path(name))
    assert len(text["devices"]) == scenario.device_count == 8
    for row, device in enumerate(text["devices"]):
        assert scenario.draft_s_per_token[row] == device["draft_s_per_token"]
        curve = scenario.acceptance.curves[row]
        assert scenario.acceptance.mean[row] == curve[0]


@pytest.mark.parametrize("name", ["qwen-coder", "smollm2-ladder"])
def test_measured_servers_have_the_numbers_of_their_profiles(name: str) -> None:
    text = tomllib.loads(bundled.path(name).read_text(encoding="utf-8"))
    server = read_profile(bundled.profile_path(text["server"]["profile"]))
    assert Scenario.read(bundled.path(name)).verify_base_s == server.verification.fit.base.seconds
    assert all(
        read_profile(bundled.profile_path(device["profile"])).target.name == server.target.name
        for device in text["devices"]
    )


def test_the_default_has_something_to_decide_in_every_problem() -> None:
    """With the times of the paper's pair, every simpler rule loses at least 8 % of the proven optimum."""
    cell, paper = Scenario.read(bundled.path(bundled.default)), draw("uldl-qwen25", seed=0)[0]
    assert (cell.verify_base_s, cell.verify_per_device_s) == (paper.verify_base_s, paper.verify_per_device_s)
    for problem, plain in (
        ("homogeneous", ("server-only",)),
        ("heterogeneous", ("equal-bandwidth", "homogeneous", "fixed", "server-only")),
        ("modes", ("all-uplink", "all-downlink", "random-modes", "uniform-length", "greedy", "server-only")),
    ):
        best = solve(cell, problem, "exact")
        assert best.gap < 1e-9
        for method in plain:
            assert best.goodput > 1.08 * solve(cell, problem, method).goodput, (problem, method)


@pytest.mark.parametrize(
    ("name", "part"),
    [("qwen-codar", "did you mean qwen-coder?"), ("zzz", "uldl-qwen25"), ("../x", "qwen-coder")],
)
def test_unknown_name(name: str, part: str) -> None:
    with pytest.raises(ParameterError) as caught:
        bundled.path(name)
    assert part in str(caught.value)
    assert f'"{name}"' in str(caught.value)
