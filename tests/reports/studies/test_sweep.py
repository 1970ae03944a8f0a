"""`msopt sweep`: a study from a file, the same bytes however it was run, and what is said of a bad one."""

import json
import math
import os
import shutil
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from distributed import KilledWorker
from joblib.externals.loky.process_executor import BrokenProcessPool
from matplotlib.figure import Figure

import msopt as package
from msopt import InfeasibleError, ManySolutions, MsoptError, ParameterError, Scenario, procedures
from reports.page.comparison import best_of
from reports.shared import parallel
from reports.shared.rows import Row
from reports.studies import points as points_module
from reports.studies import settings as settings_module
from reports.studies.finished_points import finished_points
from reports.studies.points import SOLVED, solve_rows
from reports.studies.settings import scenario_at
from reports.studies.study import OPTIMUM, Study, parse_study, read_study
from reports.studies.sweep import FINISHED, RESULTS, STUDY, sweep
from tests.reports import own_methods
from tests.reports.command import Command, assert_one_line
from tests.tolerances import MANY_AS_ONE

OWN = "tests.reports.own_methods"
SMALL = """
name = "small"
presets = ["multispin-llama2"]
methods = ["optimum", "fixed"]
draws = 2
seed = 5
[fixed]
devices = 3
[axes]
bandwidth_hz = [5e6, 10000000]
[options.fixed]
length = 4
"""


def read_results(path: Path) -> list[Row]:
    rows: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def study_file(msopt: Command, text: str) -> Path:
    path = msopt.folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of SMALL that nothing interrupts."""
    return sweep(parse_study(SMALL), tmp_path_factory.mktemp("whole"), jobs=1).results.parent


@pytest.fixture(scope="module")
def whole(whole_folder: Path) -> bytes:
    """Its results."""
    return (whole_folder / RESULTS).read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


def test_a_bound_is_for_one_kind_of_correction() -> None:
    """Of three methods the last is given the bound of the first, not that of corrections with less freedom."""
    text = 'problem = "modes"\npresets = ["uldl-qwen25"]\nmethods = ["exact", "greedy", "uniform-length"]\n'
    study = parse_study(text + '[fixed]\ndevices = 4\n[options.greedy]\ncorrection = "separate-bands"')
    exact, greedy, uniform = points_module.solve_points(study, study.points())[0]
    assert {row["status"] for row in (exact, greedy, uniform)} == {SOLVED}
    equal = [row["bound_tokens_per_s"] for row in (exact, uniform)]
    assert exact["goodput_tokens_per_s"] <= min(equal)
    assert max(equal) < greedy["goodput_tokens_per_s"] <= greedy["bound_tokens_per_s"]


def test_rows_are_what_solve_says(whole_folder: Path) -> None:
    rows = read_results(whole_folder / RESULTS)
    assert len(rows) == 2 * 2 * 2
    assert [row["bandwidth_hz"] for row in rows[:8]] == [5e6] * 4 + [10e6] * 4
    proven: float | None = None
    for row in rows:
        scenario, _ = package.draw(
            row["base"], devices=row["devices"], bandwidth_hz=row["bandwidth_hz"], seed=row["scenario_seed"]
        )
        options = {"length": 4} if row["method"] == "fixed" else {}
        # The optimum comes first: what it has proven is the bound of the next method too.
        wanted = package.solve(scenario, "heterogeneous", row["method"], bound=proven, **options)
        assert row["goodput_tokens_per_s"] == wanted.goodput
        assert row["bound_tokens_per_s"] == wanted.bound
        proven = wanted.bound if row["scheme"] == OPTIMUM else None


def test_a_draw_has_the_same_devices_at_every_point(whole_folder: Path) -> None:
    seeds = {(row["draw"], row["scenario_seed"]) for row in read_results(whole_folder / RESULTS)}
    assert len(seeds) == len({seed for _, seed in seeds}) == 2


@pytest.mark.parametrize(("torn", "jobs"), [("", 1), ('{"point": 7, "ro', 1), ("", 2)])
def test_interrupted_and_resumed(whole: bytes, folder: Path, torn: str, jobs: int) -> None:
    def interrupt(done: int, total: int) -> None:
        del total
        if done == 2:
            raise KeyboardInterrupt

    study = parse_study(SMALL)
    with pytest.raises(KeyboardInterrupt):
        sweep(study, folder, jobs=jobs, progress=interrupt)
    assert not (folder / RESULTS).exists()
    with (folder / FINISHED).open("a", encoding="utf-8") as log:
        log.write(torn)
    told: list[int] = []
    again = sweep(study, folder, jobs=1, progress=lambda done, total: told.append(done))
    assert told == [2, 3, 4]
    assert again.results.read_bytes() == whole
    # Once more: nothing is left to do.
    assert sweep(study, folder, jobs=1).results.read_bytes() == whole


DECOMPOSED = """
name = "decomposed"
presets = ["multispin-qwen35"]
methods = ["decomposition", "homogeneous"]
draws = 2
seed = 2
[axes]
devices = [3, 4]
uplink_sharing = ["fixed-snr", "power-limited"]
verify_per_token_s = [0.0, 1e-4]
"""


def test_decompositions_do_not_depend_on_the_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of 3 devices in one task and all of 4 in another, one by one, and in threes resumed within a task."""
    study = parse_study(DECOMPOSED)
    assert [len(chunk) for chunk in points_module.chunks(study, study.points())] == [8, 8]
    bytes_of = {"whole": sweep(study, tmp_path / "whole", jobs=1).results.read_bytes()}
    monkeypatch.setattr(points_module, "TOGETHER", 1)
    bytes_of["single"] = sweep(study, tmp_path / "single", jobs=1).results.read_bytes()
    log = (tmp_path / "single" / FINISHED).read_text(encoding="utf-8").splitlines(keepends=True)
    monkeypatch.setattr(points_module, "TOGETHER", 3)
    (tmp_path / "resumed").mkdir()
    (tmp_path / "resumed" / "study.json").write_bytes((tmp_path / "whole" / "study.json").read_bytes())
    (tmp_path / "resumed" / FINISHED).write_text("".join([*log[:6], *log[9:11]]), encoding="utf-8")
    bytes_of["resumed"] = sweep(study, tmp_path / "resumed", jobs=2).results.read_bytes()
    assert set(bytes_of.values()) == {bytes_of["whole"]}


def test_decompositions_are_what_solve_says(folder: Path) -> None:
    study = parse_study(DECOMPOSED)
    for row in read_results(sweep(study, folder, jobs=1).results):
        if row["method"] == "decomposition":
            settings = {name: row[name] for name in study.axes}
            scenario = scenario_at(row["base"], settings, row["scenario_seed"])
            exact = package.solve(scenario, "heterogeneous", "exact").goodput
            assert row["goodput_tokens_per_s"] == pytest.approx(exact, rel=MANY_AS_ONE)
            assert row["bound_tokens_per_s"] >= exact
        else:
            assert row["bound_tokens_per_s"] >= row["goodput_tokens_per_s"]


def test_on_the_command_line_with_processes(msopt: Command, whole: bytes, folder: Path) -> None:
    path = study_file(msopt, SMALL)
    outcome = msopt.done("sweep", path, "--output", folder, "--jobs", 2)
    assert outcome.out == f"The results are in {folder / RESULTS}\n"
    assert (folder / RESULTS).read_bytes() == whole


@pytest.mark.filterwarnings("default")  # the cluster's own
def test_on_a_dask_cluster(whole: bytes, folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        assert sweep(parse_study(SMALL), folder, dask=cluster.scheduler_address).results.read_bytes() == whole


def test_a_cluster_or_a_worker_that_is_lost_is_one_line(folder: Path) -> None:
    for address in ("tls://127.0.0.1:1", "nowhere://", ""):
        with pytest.raises(ParameterError, match=f"--dask {address}: no scheduler answers"):
            sweep(parse_study(SMALL), folder, dask=address)
    assert not folder.exists()
    with pytest.raises(MsoptError, match="a worker process was ended"), parallel._lost(None):
        raise BrokenProcessPool
    for lost in (CancelledError("scheduler-connection-lost"), KilledWorker("task", None, 3)):
        words = "--dask tcp://x: its workers or its scheduler are lost"
        with pytest.raises(MsoptError, match=words), parallel._lost("tcp://x"):
            raise lost
    with pytest.raises(ZeroDivisionError), parallel._lost(None):
        raise ZeroDivisionError


def test_a_scenario_of_ones_own(tmp_path: Path, folder: Path) -> None:
    scenario, _ = package.draw("uldl-qwen25", devices=3, seed=1)
    scenario.write(tmp_path / "cell.toml")
    path = tmp_path / "study.toml"
    path.write_text(
        'problem = "modes"\nscenarios = ["cell.toml"]\nmethods = ["decomposition", "greedy"]\n'
        "[axes]\nserver_speed = [1, 2.0]\n",
        encoding="utf-8",
    )
    rows = read_results(sweep(read_study(str(path)), folder, jobs=1).results)
    assert [row["server_speed"] for row in rows] == [1.0, 1.0, 2.0, 2.0]
    faster = scenario.replace(
        verify_base_s=scenario.verify_base_s / 2, verify_per_device_s=scenario.verify_per_device_s / 2
    )
    assert rows[2]["goodput_tokens_per_s"] == package.solve(faster, "modes").goodput


def test_a_users_method_joins(folder: Path) -> None:
    study = parse_study(SMALL)
    study = study.model_copy(update={"methods": ["fixed", f"{OWN}:three"]})
    rows = read_results(sweep(study, folder, jobs=1).results)
    assert [row["scheme"] for row in rows[:2]] == ["fixed", f"{OWN}:three"]
    assert all(row["mean_draft_length_tokens"] == 3.0 for row in rows[1::2])


def test_a_users_method_keeps_the_limits_of_the_study() -> None:
    """Three devices draft three tokens each: within nine, beyond eight."""
    for budget, status in ((9, SOLVED), (8, "infeasible")):
        more = {"presets": ["multispin-llama2"], "methods": [f"{OWN}:three"], "fixed": {"devices": 3}}
        study = Study(problem="heterogeneous", variants=[f"msopt:TokenBudget({budget})"], draws=1, **more)
        (row,) = solve_rows(study, study.points())
        assert row["status"] == status


def test_a_method_that_never_applies_is_an_error_before_anything_is_written(folder: Path) -> None:
    study = Study(problem="modes", presets=["uldl-qwen25"], methods=[f"{OWN}:three"], fixed={"devices": 2})
    with pytest.raises(ParameterError, match="three: has no control of problem modes"):
        sweep(study, folder, jobs=1)
    assert not folder.exists()


def test_a_method_that_fails_at_a_point_does_not_end_the_study(
    msopt: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(msopt, SMALL.replace("[5e6, 10000000]", "[10e6, 5e6, 20e6]").replace('"optimum", ', ""))
    line = ("sweep", path, "--output", folder, "--jobs", 1, "--method", f"{OWN}:at_5_mhz")
    outcome = msopt(*line)
    assert (outcome.code, outcome.out) == (3, f"The results are in {folder / RESULTS}\n")
    assert outcome.err.startswith("msopt: 4 of 12 rows are without an answer")
    assert "at_5_mhz on multispin-llama2 at devices = 3, bandwidth_hz = 10000000.0, draw 0: " in outcome.err
    assert outcome.err.count("\n") == 1
    rows = read_results(folder / RESULTS)
    assert [row["scheme"] for row in rows] == ["fixed", f"{OWN}:at_5_mhz"] * 6
    assert all((row["status"], row["cause"]) == (SOLVED, None) for row in rows[::2])
    own = rows[1::2]
    assert [row["status"] for row in own] == ["failed"] * 2 + [SOLVED] * 2 + ["infeasible"] * 2
    for row in own:
        assert [row[name] is None for name in ("goodput_tokens_per_s", "round_s")] == [row["status"] != SOLVED] * 2
    assert "SystemExit: no control at 1e+07 Hz" in own[0]["cause"]
    assert "the uplink bandwidth budget is broken by" in own[4]["cause"]
    # The same command tries these points again, and them alone.
    monkeypatch.setattr(own_methods, "at_5_mhz", own_methods.three)
    done: list[int] = []
    study = read_study(str(path)).model_copy(update={"methods": ["fixed", f"{OWN}:at_5_mhz"]})
    again = sweep(study, folder, jobs=1, progress=lambda ready, total: done.append(ready))
    assert (done, again.faults) == ([2, 3, 4, 5, 6], [])
    assert again.results.read_bytes() == sweep(study, msopt.folder / "other", jobs=1).results.read_bytes()


def test_a_method_that_answers_nowhere_is_refused(folder: Path) -> None:
    """At the first, the middle and the last point: nothing is computed for hours for the sake of a slip."""
    study = parse_study(SMALL).model_copy(update={"axes": {"bandwidth_hz": [10e6, 20e6]}})
    for method, error, words in (("at_5_mhz", ParameterError, "SystemExit"), ("too_wide", InfeasibleError, "broken")):
        with pytest.raises(error, match=words):
            sweep(study.model_copy(update={"methods": ["fixed", f"{OWN}:{method}"]}), folder, jobs=1)
    assert not folder.exists()


def test_where_many_at_once_fail_each_is_solved_by_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(scenarios: Sequence[Scenario]) -> ManySolutions:
        if any(cell.uplink_sharing == "power-limited" for cell in scenarios):
            raise MemoryError
        return package.solve_many(scenarios)

    monkeypatch.setattr(points_module, "solve_many", fails)
    swept = sweep(parse_study(DECOMPOSED), folder, jobs=1)
    rows = read_results(swept.results)
    assert len(rows) == swept.rows == 32
    for row in rows:
        failed = row["scheme"] == "decomposition" and row["uplink_sharing"] == "power-limited"
        assert (row["status"], row["cause"]) == (("failed", "MemoryError") if failed else (SOLVED, None))
    assert len(swept.faults) == 8


def test_where_no_proof_is_affordable_the_optimum_is_the_decompositions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(scenario: Scenario) -> None:
        raise ParameterError(f"no memory for {scenario.device_count} devices")

    monkeypatch.setattr(procedures, "require_exact", refuse)
    study = Study(problem="modes", presets=["uldl-qwen25"], methods=["optimum", "exact"], fixed={"devices": 3})
    best, exact = read_results(sweep(study, folder, jobs=1).results)
    assert (best["method"], best["status"]) == ("decomposition", SOLVED)
    assert (exact["status"], exact["cause"]) == ("refused", "no memory for 3 devices")
    wanted = package.solve(scenario_at("uldl-qwen25", {"devices": 3}, best["scenario_seed"]), "modes", "decomposition")
    assert best["goodput_tokens_per_s"] == wanted.goodput
    assert best_of(wanted.scenario, "modes").method == "decomposition"


def test_a_draw_that_no_scenario_has_is_a_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other draws of the same setting are computed."""
    study = parse_study(DECOMPOSED)
    bad = study.points()[1].seed

    def drawn(base: str, settings: dict[str, Any], seed: int) -> Scenario:
        if seed == bad:
            raise ParameterError("draft_s_per_token = inf")
        return scenario_at(base, settings, seed)

    monkeypatch.setattr(points_module, "scenario_at", drawn)
    rows = read_results(sweep(study, folder, jobs=1).results)
    assert {row["status"] for row in rows if row["scenario_seed"] == bad} == {"refused"}
    assert {row["status"] for row in rows if row["scenario_seed"] != bad} == {SOLVED}


def test_a_number_that_is_not_finite_is_a_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = replace(package.solve(scenario_at("multispin-llama2", {"devices": 3}, 1)), goodput=math.inf)
    monkeypatch.setattr(points_module.msopt, "solve", lambda *_, **__: endless)
    fault = sweep(parse_study(SMALL), folder, jobs=1).faults[0]
    assert (fault["status"], fault["cause"]) == ("failed", "goodput_tokens_per_s is inf, which is no finite number")


def test_a_folder_of_another_study(folder: Path) -> None:
    study = parse_study(SMALL)
    sweep(study, folder, jobs=1)
    with pytest.raises(ParameterError, match="another study or version"):
        sweep(study.model_copy(update={"seed": 6}), folder, jobs=1)
    (folder / "study.json").unlink()
    with pytest.raises(ParameterError, match="not the study they are of"):
        sweep(study, folder, jobs=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("presets = ", "preset = "), "unknown key preset; did you mean presets?"),
        (('"multispin-llama2"', '"multispin-llama"'), '"multispin-llama" is not one of multispin-llama2'),
        (('"multispin-llama2"', '"multispin-llama2", "multispin-llama2"'), 'presets holds "multispin-llama2" twice'),
        (("draws = 2", "draws = 0"), "draws = 0: input should be greater than or equal to 1"),
        (("draws = 2", "draws = 1000000000"), "draws = 1000000000: input should be less than or equal to 1000000"),
        (
            ("draws = 2", "draws = 500001"),
            "draws * settings * presets = 500001 * 2 * 1 = 1000002 points, above 1000000, the most that is allowed",
        ),
        (("draws = 2", "draws = 2.0"), "draws = 2.0: input should be a valid integer"),
        (("draws = 2", 'draws = 2\nscenarios = ["x"]'), "exactly one of presets and scenarios"),
        (('"fixed"', '"fixd"'), '"fixd" is not one of optimum, decomposition'),
        (('"fixed"', '"greedy"'), '"greedy" is not one of optimum'),
        (("bandwidth_hz", "bandwith_hz"), "did you mean bandwidth_hz?"),
        (("[5e6, 10000000]", "[]"), "axes.bandwidth_hz = []: list should have at least 1 item"),
        (("[5e6, 10000000]", "[5e6, 5000000]"), "axes.bandwidth_hz holds 5000000 twice"),
        (("[5e6, 10000000]", "[5e6, -1]"), "bandwidth_hz = -1 is not a finite number above 0"),
        (("[5e6, 10000000]", "[5e6]\ndevices = [2]"), "devices stands in both"),
        (("[5e6, 10000000]", "[5e6]\nsnr_spread = [true]"), "snr_spread = True is not a number"),
        (("length = 4", "length = -4"), "[options.fixed]: option length = -4 is not a whole number"),
        (("length = 4", "grid_phi = 4"), "option grid_phi goes with method grid"),
        (("[options.fixed]", "[options.grid]"), '"grid" is not one of fixed'),
        (("seed = 5", "seed = "), "Invalid value"),
        (("seed = 5", "seed = " + "9" * 5000), "cannot be read as TOML"),
        (("seed = 5", "seed = " + "[" * 5000), "cannot be read as TOML"),
        (("bandwidth_hz = [5e6, 10000000]", "cell = [5]"), "cell = 5 is not one of 3gpp-uma"),
        (("bandwidth_hz = [5e6, 10000000]", "dataset = [5]"), "dataset = 5 is not one of"),
        (
            ("bandwidth_hz = [5e6, 10000000]", "acceptance_spread = [inf]"),
            "axes.acceptance_spread.0 = inf: is no finite",
        ),
        (("bandwidth_hz = [5e6, 10000000]", "snr_spread = [1e308]"), "uplink_snr_db"),
        (("bandwidth_hz = [5e6, 10000000]", "draft_time_spread = [1e308]"), "draft_s_per_token = inf"),
        (("draws = 2", 'draws = 2\nproblem = "mode"'), 'problem = "mode": input should be'),
    ],
)
def test_bad_studies(msopt: Command, change: tuple[str, str], words: str) -> None:
    text = SMALL.replace(*change)
    assert text != SMALL
    path = study_file(msopt, text)
    assert_one_line(msopt("sweep", path, "--output", msopt.folder / "out"), 2, ["study.toml: ", words])
    assert not (msopt.folder / "out").exists()


def test_a_sweep_shows_itself(folder: Path) -> None:
    """Two points of one axis: each method's line runs through the means of its rows; without an axis there are bars."""
    swept = sweep(parse_study(SMALL), folder, jobs=1)
    lines = {line.get_label(): line for line in swept.plot(Figure().subplots()).get_lines()}
    rows = read_results(swept.results)
    for label, line in lines.items():
        base, scheme = label.split(", ") if ", " in label else (rows[0]["base"], label)
        for across, up in zip(line.get_xdata(), line.get_ydata(), strict=True):
            mine = [row for row in rows if (row["base"], row["scheme"]) == (base, scheme)]
            at = [row["goodput_tokens_per_s"] for row in mine if row["bandwidth_hz"] == pytest.approx(1e6 * across)]
            assert up == pytest.approx(sum(at) / len(at))
    assert len(lines) == len({(row["base"], row["scheme"]) for row in rows})
    assert "<table>" in swept._repr_html_()
    flat = replace(swept, study=swept.study.model_copy(update={"axes": {}})).plot(Figure().subplots())
    assert len(flat.patches) == len(swept.study.methods)


def test_an_option_that_no_scenario_takes_is_in_the_rows(folder: Path) -> None:
    study = parse_study(SMALL).model_copy(update={"options": {"fixed": {"length": 999}}})
    swept = sweep(study, folder, jobs=1)
    assert [row["scheme"] for row in swept.faults] == ["fixed"] * 4
    assert "length = 999" in swept.faults[0]["cause"]
    assert "without an answer 4 rows" in repr(swept)
    assert len(swept.to_frame()) == swept.rows


def test_lines_that_are_not_of_the_study(whole_folder: Path, folder: Path) -> None:
    """What is read back is checked: a row for each method, of the point that the line names, and nothing else."""
    study = parse_study(SMALL)
    shutil.copytree(whole_folder, folder)
    first, *others = (whole_folder / FINISHED).read_text(encoding="utf-8").splitlines(keepends=True)

    def told(line: str) -> str:
        (folder / FINISHED).write_text(line + "".join(others), encoding="utf-8")
        with pytest.raises(ParameterError) as caught:
            sweep(study, folder, jobs=1)
        return str(caught.value)

    entry = json.loads(first)

    def changed(**cells: object) -> str:
        return json.dumps({"point": 0, "rows": [entry["rows"][0] | cells, entry["rows"][1]]}) + "\n"

    unreadable = "line 1 is not a finished point"
    for rows in ("5", "[1]", "null", "[" * 100_000):
        assert unreadable in told(f'{{"point": 0, "rows": {rows}}}\n')
    for cells in ({"more": 1}, {"round_s": "1"}, {"round_s": True}, {"round_s": math.nan}, {"cause": 5}):
        assert unreadable in told(changed(**cells))
    assert unreadable in told(changed(goodput_tokens_per_s=None))
    assert unreadable in told("\xff\n")
    assert "line 1 is of no point of the study" in told(first.replace('"point": 0', '"point": 99'))
    assert "line 1 is of no point of the study" in told(first.replace('"point": 0', '"point": true'))
    assert "line 1 is not of point 1" in told(first.replace('"point": 0', '"point": 1'))
    assert "line 1 is not of point 0" in told(changed(bandwidth_hz=7e6))
    assert "line 1 has not a row for each method" in told(changed(scheme="grid"))
    assert "line 1 has not a row for each method" in told(json.dumps({"point": 0, "rows": entry["rows"][:1]}) + "\n")
    # A point that is missing altogether is computed.
    (folder / FINISHED).write_text("".join(others), encoding="utf-8")
    assert sweep(study, folder, jobs=1).results.read_bytes() == (whole_folder / RESULTS).read_bytes()


def test_one_sweep_at_a_time_in_a_folder(folder: Path) -> None:
    folder.mkdir()
    with finished_points(folder / FINISHED), pytest.raises(ParameterError, match="another sweep is at work there"):
        sweep(parse_study(SMALL), folder, jobs=1)
    assert list(folder.iterdir()) == []  # nor has anything been written


@pytest.mark.parametrize("name", ["study.json", FINISHED, RESULTS])
def test_what_is_no_file_is_not_waited_for(folder: Path, name: str) -> None:
    folder.mkdir()
    os.mkfifo(folder / name)
    with pytest.raises(ParameterError, match=f"{name}: is not a file"):
        sweep(parse_study(SMALL), folder, jobs=1)


def test_a_scenario_file_that_has_changed_is_another_study(tmp_path: Path, folder: Path) -> None:
    cell, study = tmp_path / "cell.toml", Study(scenarios=[str(tmp_path / "cell.toml")], methods=["fixed"])
    scenario, _ = package.draw("multispin-llama2", devices=3)
    scenario.write(cell)
    sweep(study, folder, jobs=1)
    scenario.replace(uplink_bandwidth_hz=1e6).write(cell)
    settings_module._read.cache_clear()  # as in a process of its own
    with pytest.raises(ParameterError, match="another study"):
        sweep(study, folder, jobs=1)


def test_a_full_disk_is_one_line_and_no_half_line(whole: bytes, folder: Path, full_disk: Callable[[int], None]) -> None:
    """Full before the points are done, then before the table is written; with room again the same command goes on."""
    study = parse_study(SMALL)
    full_disk(2500)
    with pytest.raises(ParameterError, match=rf"{FINISHED}: cannot be written: File too large"):
        sweep(study, folder, jobs=1)
    log = (folder / FINISHED).read_text(encoding="utf-8")
    assert log.endswith("\n")
    assert 0 < log.count("\n") < 4
    full_disk(len(whole) - 1)
    with pytest.raises(ParameterError, match=rf"{RESULTS}: cannot be written: File too large"):
        sweep(study, folder, jobs=1)
    assert sorted(path.name for path in folder.iterdir()) == sorted([FINISHED, STUDY])
    full_disk(10**9)
    assert sweep(study, folder, jobs=1).results.read_bytes() == whole


def test_whole_numbers_beyond_a_column(folder: Path) -> None:
    text = SMALL.replace("bandwidth_hz = [5e6, 10000000]", "token_bits = [100000000000000000000, 18]")
    rows = read_results(sweep(parse_study(text), folder, jobs=1).results)
    assert {row["token_bits"] for row in rows} == {1e20, 18.0}


def test_a_method_named_twice_has_one_row(msopt: Command) -> None:
    path = study_file(msopt, SMALL)
    twice = ["--method", f"{OWN}:three"] * 2
    assert msopt("sweep", path, "--output", msopt.folder / "out", "--jobs", 1, *twice).code == 0
    assert len(read_results(msopt.folder / "out" / RESULTS)) == 3 * 2 * 2


def test_a_function_that_leaves_is_an_error(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_file(msopt, SMALL)
    (msopt.folder / "leaver.py").write_text("import sys\n\n\ndef leave(scenario):\n    sys.exit(0)\n", encoding="utf-8")
    (msopt.folder / "leaving.py").write_text("import sys\n\nsys.exit(0)\n", encoding="utf-8")
    monkeypatch.chdir(msopt.folder)
    for method in ("leaver:leave", "leaving:any"):
        assert_one_line(msopt("sweep", path, "--output", msopt.folder / "out", "--method", method), 2, ["SystemExit"])
