"""The keys `profile` and `task` of a scenario file: what they put in, what overrides them, and every misuse."""

from pathlib import Path

import pytest

from msopt import bundled
from msopt.errors import ParameterError
from msopt.files.profile_json import write_profile
from msopt.measured.profile import Profile
from msopt.model.scenario import Scenario
from tests.profiles import profile

GOOD = profile()
BARE = profile(name="bare", compute_only=True, tasks={}, payload=(), sampling=None, draft_time=None, server_draft=(),
               verification=None)  # fmt: skip


def text(server: str = 'profile = "pair.json"', device: str = 'profile = "pair.json"\ntask = "chat"') -> str:
    return f"""
[server]
downlink_power_w = 1.0
{server}
[radio]
uplink_bandwidth_hz = 10e6
downlink_bandwidth_hz = 10e6
[payload]
token_bits = 16
distribution_bits = 34816
[[devices]]
name = "phone"
uplink_snr_db = 14.0
downlink_snr_db = 25.0
{device}
[[devices]]
name = "plain"
acceptance = 0.8
draft_s_per_token = 0.03
uplink_snr_db = 14.0
downlink_snr_db = 25.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_profile(GOOD, tmp_path / "pair.json")
    write_profile(BARE, tmp_path / "bare.json")
    return tmp_path


def read(folder: Path, content: str) -> Scenario:
    path = folder / "cell.toml"
    path.write_text(content)
    return Scenario.read(path)


def curve(measured: Profile, task: str) -> list[float]:
    return [point.survival for point in measured.tasks[task].curve]


def test_a_profile_in_place_of_numbers(folder: Path) -> None:
    cell = read(folder, text())
    assert cell.acceptance.curves[0].tolist() == curve(GOOD, "chat")
    assert cell.draft_s_per_token.tolist() == [0.02, 0.03]
    assert (cell.verify_base_s, cell.verify_per_device_s, cell.verify_per_token_s) == (0.1, 0.01, 0.001)
    assert cell.server_draft_s_per_token == GOOD.server_draft_s(2)
    assert cell.acceptance.curves[1] is None


def test_written_scenarios_hold_numbers_and_need_no_profile(folder: Path) -> None:
    cell = read(folder, text())
    other = folder / "elsewhere"
    other.mkdir()
    cell.write(other / "copy.toml")
    assert "profile" not in (other / "copy.toml").read_text()
    assert Scenario.read(other / "copy.toml") == cell


def test_numbers_beside_a_profile_override_it(folder: Path) -> None:
    cell = read(
        folder,
        text(
            'profile = "pair.json"\nverify_per_device_s = 0.5\ndraft_s_per_token = 0.007',
            'profile = "pair.json"\ntask = "chat"\nacceptance = 0.4\nacceptance_std = 0.1',
        ),
    )
    assert (cell.verify_base_s, cell.verify_per_device_s, cell.verify_per_token_s) == (0.1, 0.5, 0.001)
    assert cell.server_draft_s_per_token == 0.007
    assert (cell.acceptance.mean[0], cell.acceptance.std[0]) == (0.4, 0.1)
    assert cell.draft_s_per_token[0] == 0.02
    slower = read(folder, text(device='profile = "pair.json"\ntask = "code"\ndraft_s_per_token = 9'))
    assert slower.draft_s_per_token[0] == 9.0
    assert slower.acceptance.mean[0] == pytest.approx(0.9)


def test_a_law_beside_a_compute_only_profile(folder: Path) -> None:
    timed = BARE.model_copy(update={"draft_time": GOOD.draft_time})
    write_profile(timed, folder / "timed.json")
    cell = read(folder, text(device='profile = "timed.json"\nacceptance_curve = [0.9, 0.5]'))
    assert cell.draft_s_per_token[0] == 0.02
    assert cell.acceptance.mean[0] == 0.9


def test_by_a_bundled_name(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled, "_profiles", lambda: folder)
    place = tmp_path / "far"
    (place / "pair").mkdir(parents=True)  # a folder of that name is no profile
    assert read(place, text('profile = "pair"', 'profile = "pair"\ntask = "code"')).verify_base_s == 0.1


@pytest.mark.parametrize(
    ("server", "device", "parts"),
    [
        ('profile = "nope.json"', "", ["server: ", '"nope.json" is neither a file nor a bundled profile']),
        ('profile = "bare.json"', "", ["server: ", '"bare" has no verification times', "or write verify_base_s"]),
        ("profile = 3", "", ["server: profile = 3 is not a text"]),
        ("", "", ["server: verify_base_s is missing"]),
        (None, 'profile = "pair.json"', ['devices[0] ("phone"): task is missing', "code, chat"]),
        (None, 'profile = "pair.json"\ntask = "sums"', ['devices[0] ("phone"): task = "sums"', "code, chat"]),
        (None, 'profile = "bare.json"\ntask = "code"', ['devices[0] ("phone")', "compute-only"]),
        (
            None,
            'profile = "bare.json"\nacceptance = 0.5',
            ['devices[0] ("phone")', "has no draft time", "or write draft_s"],
        ),
        (None, 'task = "code"\nacceptance = 0.5\ndraft_s_per_token = 1', ["task goes with profile"]),
        (None, "acceptance = 0.5", ['devices[0] ("phone"): draft_s_per_token is missing']),
        (None, "draft_s_per_token = 1", ["exactly one of acceptance and acceptance_curve is needed"]),
        (None, 'profile = "pair.json"\ntask = "chat"\nacceptance_std = 0.1', ["acceptance_std goes with acceptance"]),
        (None, 'profile = "cell.toml"\ntask = "chat"', ['devices[0] ("phone")', "cell.toml: is not JSON"]),
        (None, 'profle = "pair.json"', ["unknown key profle; did you mean profile?"]),
    ],
)
def test_every_misuse_is_one_line(folder: Path, server: str | None, device: str, parts: list[str]) -> None:
    good = text()
    content = text('profile = "pair.json"' if server is None else server, device) if device else text(server or "")
    assert content != good
    with pytest.raises(ParameterError) as caught:
        read(folder, content)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'cell.toml'}: ")
    assert all(part in message for part in parts), message


def test_a_task_without_drafts(folder: Path) -> None:
    silent = GOOD.tasks["chat"].model_dump() | {"drafted": 0, "curve": ()}
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    tasks = {"chat": silent | {"by_counts": nothing, "by_overlap": nothing}}
    write_profile(Profile.model_validate(GOOD.model_dump() | {"tasks": tasks}), folder / "silent.json")
    with pytest.raises(ParameterError, match="had no drafts: no acceptance"):
        read(folder, text(device='profile = "silent.json"\ntask = "chat"'))
