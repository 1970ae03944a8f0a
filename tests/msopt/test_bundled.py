"""The scenarios that come with the package."""

import pytest

from msopt import bundled
from msopt.errors import ParameterError
from msopt.presets import PRESETS
from msopt.scenario import Scenario


def test_names() -> None:
    assert bundled.names() == (bundled.default, *sorted(PRESETS))


@pytest.mark.parametrize("name", bundled.names())
def test_every_bundled_scenario_is_sound(name: str) -> None:
    path = bundled.path(name)
    assert path.is_file()
    assert path.stem == name
    scenario = Scenario.read(path)
    assert not scenario.warnings
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_default_is_the_measured_one() -> None:
    scenario = Scenario.read(bundled.path(bundled.default))
    assert scenario.name == "first look"
    assert scenario.device_count == 8
    assert scenario.acceptance.mean.tolist() == [0.643, 0.929, 0.673, 0.705, 0.648, 0.937, 0.750, 0.745]


@pytest.mark.parametrize(
    ("name", "part"),
    [("first-lock", "did you mean first-look?"), ("zzz", "uldl-qwen25"), ("../x", "first-look")],
)
def test_unknown_name(name: str, part: str) -> None:
    with pytest.raises(ParameterError) as caught:
        bundled.path(name)
    assert part in str(caught.value)
    assert f'"{name}"' in str(caught.value)
