"""`msopt calibrate`: planted settings are recovered, contradictions named, bad files told."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import msopt
from msopt import ParameterError, Scenario
from reports.calibration.calibrate import FINISHED, calibrate, fit_in_memory
from reports.calibration.fit import Fit, smallest_sets
from reports.calibration.settings_tried import check_answers, found_at, tried
from reports.calibration.targets_file import BUNDLED, Calibration, check_ends, parse_calibration, read_calibration
from reports.calibration.unknowns import Unknown
from reports.shared.record import Record
from reports.studies.quoted import QUOTED
from tests.reports.command import Command, assert_one_line

TRUTH = {"verify_base_s": 0.031, "distribution_bits": 45_000.0}
HEAD = """
settings = 4
starts = 1
[base]
scenarios = ["cell.toml"]
[unknowns.verify_base_s]
low = 0.01
high = 0.1
scale = "log"
[unknowns.distribution_bits]
low = 1e4
high = 1e5
"""


def cell() -> Scenario:
    return msopt.draw("multispin-llama2", devices=3, seed=4)[0]


def planted(bandwidth_hz: float = 10e6) -> Scenario:
    return cell().replace(**TRUTH).with_bandwidth(bandwidth_hz)


def target(name: str, value: float, tolerance: float, more: str = "") -> str:
    return f'[[targets]]\nname = "{name}"\nvalue = {value!r}\ntolerance = {tolerance!r}\n{more}\n'


def numbers() -> str:
    """What solving the planted cell gives, to three digits or so."""
    best, narrow = (msopt.solve(planted(band), "heterogeneous").goodput for band in (10e6, 3e6))
    gain = best / msopt.solve(planted(), "heterogeneous", "fixed").goodput - 1.0
    return (
        target("level", best, 0.002 * best)
        + target("narrow", narrow, 0.002 * narrow, "at = { uplink_bandwidth_hz = 3e6 }")
        + target("gain", gain, 0.005, 'kind = "gain"\nover = "fixed"')
        + target("above server-only", 1.01, 0.005, 'kind = "ratio"\nover = "server-only"\nlimit = "at least"')
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("calibration")
    cell().write(place / "cell.toml")
    (place / "planted.toml").write_text(HEAD + numbers(), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def calibration(folder: Path) -> Calibration:
    return read_calibration(str(folder / "planted.toml"))


@pytest.fixture(scope="module")
def whole(calibration: Calibration, folder: Path) -> Fit:
    return calibrate(calibration, folder / "whole", jobs=1)


def test_planted_settings_are_recovered(calibration: Calibration, whole: Fit) -> None:
    assert whole.best.plausible
    found = calibration.space.values(whole.best.tried.point)
    assert found["verify_base_s"] == pytest.approx(TRUTH["verify_base_s"], rel=0.05)
    assert found["distribution_bits"] == pytest.approx(TRUTH["distribution_bits"], rel=0.05)
    assert whole.excluding == ()
    own = msopt.solve(cell(), "heterogeneous").goodput
    assert whole.given[0].printed == pytest.approx(own, rel=1e-12)


def test_a_number_is_what_solve_says(calibration: Calibration) -> None:
    point = [0.3, 0.6]
    values = calibration.space.values(point)
    wide = cell().replace(**values)
    best, fixed = (msopt.solve(wide, "heterogeneous", *method).goodput for method in ((), ("fixed",)))
    found = found_at(calibration, tried(calibration, point), {})
    assert found[0].printed == pytest.approx(best, rel=1e-12)
    assert found[2].printed == pytest.approx(best / fixed - 1.0, rel=1e-9)
    level = calibration.targets[0]
    assert found[0].misfit == pytest.approx((best - level.value) / level.tolerance, rel=1e-6)
    assert found[3].misfit == 0.0


def test_a_contradictory_pair_is_named(folder: Path) -> None:
    level = msopt.solve(planted(), "heterogeneous").goodput
    others = target("gain", 0.2, 0.1, 'kind = "gain"\nover = "fixed"') + target("level again", 1.2 * level, 0.1)
    text = HEAD + target("level", level, 0.1) + others
    found = fit_in_memory(parse_calibration(text.replace('"cell.toml"', f'"{folder}/cell.toml"')), jobs=1)
    assert not found.plausible
    names = [found.calibration.asked()[number].record.id for number in found.excluding]
    assert names == ["level", "level again"]


def test_interrupted_and_resumed(calibration: Calibration, whole: Fit, folder: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if (done, total) == (5, 5):
            raise KeyboardInterrupt

    place = tmp_path / "again"
    with pytest.raises(KeyboardInterrupt):
        calibrate(calibration, place, jobs=1, progress=interrupt)
    assert not (place / "tables").exists()
    with (place / FINISHED).open("a", encoding="utf-8") as log:
        log.write('{"point": 5, "ro')
    told: list[int] = []
    calibrate(calibration, place, jobs=1, progress=lambda done, total: told.append(done))
    assert told[0] == 4
    for name in ("manifest.json", "tables/calibration_settings.json", "figures/calibration-1.svg"):
        assert (place / name).read_bytes() == (folder / "whole" / name).read_bytes()
    other = calibration.model_copy(update={"starts": 2})
    with pytest.raises(ParameterError, match="holds the results of another study"):
        calibrate(other, place, jobs=1)


def test_what_the_command_says(msopt: Command, folder: Path, whole: Fit) -> None:
    outcome = msopt.done("calibrate", str(folder / "planted.toml"), "--output", str(folder / "whole"))
    assert f"of 4 numbers within tolerance, misfit {whole.best.misfit:.3g}" in outcome.out
    settings = len({one.number for one in whole.plausible})
    assert f"Plausible, with every number within its tolerance: {settings} setting" in outcome.out
    tables = Record.read(folder / "whole").tables
    assert list(tables["calibration_numbers"]["number"]) == ["level", "narrow", "gain", "above server-only"]


def test_smallest_sets() -> None:
    """Of three columns each pair is met by some row, all three by none; without the last row a pair is not."""
    rows = np.array([[True, True, False], [True, False, True], [False, True, True]])
    assert smallest_sets(rows) == [(0, 1, 2)]
    assert smallest_sets(rows[:2]) == [(1, 2)]
    assert smallest_sets(rows[:, :2]) == []


def test_points_fill_the_ranges(calibration: Calibration) -> None:
    """Of 16 points one lies in each sixteenth of either range, and one in each cell of 4 x 4."""
    points = calibration.space.filling(16)
    for column in points.T:
        assert sorted(np.floor(16 * column)) == list(range(16))
    assert len({tuple(cell) for cell in np.floor(4 * points).astype(int)}) == 16
    boxed = calibration.space.filling(16, np.array([0.5, 0.0]), np.array([0.75, 1.0]))
    assert 0.5 < boxed[:, 0].min() < boxed[:, 0].max() < 0.75


def test_values_of_coordinates() -> None:
    log = Unknown(low=0.01, high=1.0, scale="log")
    assert log.at(0.5, whole=False) == pytest.approx(0.1)
    assert Unknown(low=1.0, high=4.0).at(0.6, whole=True) == 3
    few = Unknown(values=[True, False, 3.5])
    assert [few.at(x, whole=False) for x in (0.0, 0.4, 1.0)] == [True, False, 3.5]


@pytest.mark.parametrize("name", BUNDLED)
def test_the_papers_numbers_are_all_asked_for(name: str) -> None:
    """Each once, but for the ratios over Cen-SPIN by the other reading, which are an unknown."""
    calibration = read_calibration(name)
    wanted = [record.id for record in QUOTED if record.paper == BUNDLED[name] and "serial" not in record.id]
    assert sorted(calibration.quoted) == sorted(wanted)
    assert calibration.settings >= 64
    assert all(unknown.why for unknown in calibration.unknowns.values())


def test_readings_of_one_setting(folder: Path) -> None:
    """Ratio of means, mean of ratios: 1.5 and 1.75 of goodputs 1, 2 over 1, 1 ... by hand, from what was drawn."""
    text = """
[base]
presets = ["multispin-llama2"]
draws = 3
fixed = { devices = 2 }
[unknowns.averages]
values = ["ratio of means", "mean of ratios"]
[unknowns.centralised]
values = ["centralised", "centralised-serial"]
[[targets]]
name = "ratio"
kind = "ratio"
over = "centralised"
value = 2.0
tolerance = 0.1
"""
    calibration = parse_calibration(text)
    one = tried(calibration, [])
    goodputs = {name: np.array(drawn) for name, drawn in one.goodputs[0].items()}
    assert [reading["averages"] for reading in calibration.readings()].count("mean of ratios") == 2
    for reading in calibration.readings():
        above, below = goodputs["optimum"], goodputs[reading["centralised"]]
        wanted = above.mean() / below.mean() if "of means" in reading["averages"] else np.mean(above / below)
        assert found_at(calibration, one, reading)[0].printed == pytest.approx(wanted)


BAD = [
    ("[base]", "[bas]", "base: field required"),
    ('scenarios = ["cell.toml"]', "", "exactly one of presets and scenarios"),
    ("low = 0.01", "low = 0.2", "unknowns.verify_base_s: low = 0.2 is not below high = 0.1"),
    ("low = 0.01", "low = -0.01", "unknowns.verify_base_s: low = -0.01 is not above 0, as a logarithmic scale needs"),
    ("low = 0.01", "values = [1.0, 2.0]", "unknowns.verify_base_s: needs either `low` and `high`, or `values`"),
    ("low = 0.01", "lo = 0.01", "unknown key unknowns.verify_base_s.lo; did you mean low?"),
    ("unknowns.verify_base_s", "unknowns.verify_bas_s", '"verify_bas_s" is no setting; did you mean verify_base_s?'),
    ("settings = 4", "settings = 1", "settings = 1: input should be greater than or equal to 2"),
    ("starts = 1", "start = 1", "unknown key start; did you mean starts?"),
    ('over = "fixed"', 'over = "fixd"', "did you mean fixed?"),
    ('over = "fixed"', "", "`over` names the method below a ratio or gain"),
    ("tolerance = 0.005", "tolerance = 0.0", "targets.2.tolerance = 0.0: input should be greater than 0"),
    ("tolerance = 0.005", "tolerance = 1e-320", "targets.2: tolerance is further from 1 than a factor of 1e+30"),
    ("tolerance = 0.005", "tolerance = 1e308", "targets.2: tolerance is further from 1 than a factor of 1e+30"),
    ('name = "narrow"', 'name = "level"', 'targets holds "level" twice'),
    ("uplink_bandwidth_hz = 3e6", "uplink_bandwith_hz = 3e6", "did you mean uplink_bandwidth_hz?"),
    ("uplink_bandwidth_hz = 3e6", "uplink_bandwidth_hz = -3e6", "-3"),
    ("starts = 1", 'quoted = ["level-llama"]', "did you mean level-llama2?"),
    ("starts = 1", 'quoted = ["level-llama2"]', "level-llama2 is of multispin-llama2, which is not in [base]"),
    ("low = 1e4", "low = -1e4", "distribution_bits"),
]


@pytest.mark.parametrize(("old", "new", "told"), BAD, ids=[f"{new or old}" for old, new, _ in BAD])
def test_bad_files_are_told_in_one_line(folder: Path, old: str, new: str, told: str) -> None:
    text = (folder / "planted.toml").read_text(encoding="utf-8")
    assert old in text
    bad = folder / "bad.toml"
    bad.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ParameterError) as error:
        read_calibration(str(bad))
    assert told in str(error.value)
    assert str(error.value).startswith(f"{bad}: ")
    assert "\n" not in str(error.value)


def test_the_readmes_example() -> None:
    """It is read, every end of its ranges can be drawn, and it asks for both numbers where it says."""
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n((?:(?!```).)*\[\[targets\]\].*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    calibration = parse_calibration(example)
    check_ends(calibration)
    assert [asked.conditions for asked in calibration.asked()] == [({"devices": 20},), ({"bandwidth_hz": 10e6},)]
    assert calibration.methods() == ["optimum", "point-to-point", "fixed"]


def test_no_such_file() -> None:
    with pytest.raises(ParameterError, match=r"multispn.* is neither a file nor one of .*; did you mean multispin"):
        read_calibration("multispn")


def test_a_file_that_is_no_text_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(ParameterError) as error:
        read_calibration(str(tmp_path / "bad.toml"))
    assert str(error.value).count("bad.toml") == 1


@pytest.mark.parametrize("count", ["'a'", "true", "2.5"])
def test_a_count_that_is_none_is_named(tmp_path: Path, count: str) -> None:
    example = f"""base = {{ presets = ["multispin-llama2"] }}
    unknowns = {{ uplink_power_dbm = {{ low = -55.0, high = -40.0 }} }}
    targets = [{{ name = "g", value = 1.0, tolerance = 0.1, at = {{ devices = {count} }} }}]"""
    (tmp_path / "bad.toml").write_text(example, encoding="utf-8")
    with pytest.raises(ParameterError, match=r"devices = .* is not a whole number"):
        read_calibration(str(tmp_path / "bad.toml"))


def test_a_method_that_fails_makes_no_setting_plausible(folder: Path) -> None:
    """No draft time at the server: nothing to compare with, which counts as far off, and ends nothing."""
    place = folder / "without.toml"
    cell().replace(server_draft_s_per_token=None).write(place)
    text = HEAD.replace("cell.toml", str(place)) + target("r", 2.0, 0.1, 'kind = "ratio"\nover = "centralised"')
    found = fit_in_memory(parse_calibration(text.replace("starts = 1", "starts = 0")), jobs=1)
    assert not found.plausible
    assert math.isnan(found.best.found[0].printed)
    assert found.excluding == (0,)
    with pytest.raises(ParameterError, match=r"method centralised has no answer .*server\.draft_s_per_token"):
        check_answers(found.calibration)


def test_a_method_that_is_none_is_told_in_one_line(msopt: Command, folder: Path) -> None:
    bad = folder / "nobody.toml"
    bad.write_text(HEAD + target("r", 2.0, 0.1, 'kind = "ratio"\nover = "nobody:there"'), encoding="utf-8")
    assert_one_line(msopt("calibrate", bad, "--output", folder / "nobody"), 2, ["nobody"])
    assert not (folder / "nobody").exists()
