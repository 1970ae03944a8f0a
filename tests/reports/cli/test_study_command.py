"""`msopt study`: measure, optimise, play and set side by side, in one command with tiny models."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from msopt import Scenario, bundled, solve
from msopt.emulation.sources import Watch
from msopt.files.profile_json import find_profile
from msopt.methods import methods_of
from reports.cli import study_plays
from reports.cli.model_play import Role
from reports.cli.study_plays import StudiedCell
from reports.shared.live_view import Texts
from reports.studies.closed_loop import stored_loops
from reports.studies.model_loop import model_loop
from tests.reports.command import Command, assert_one_line
from tests.tolerances import EXACT
from tests.verification.tiny import write_model

PLAYED = {
    "heterogeneous": {"decomposition", "grid", "fixed", "equal-bandwidth", "homogeneous"},
    "modes": {
        *("decomposition", "greedy", "all-uplink", "all-downlink", "random-modes", "uniform-length"),
        *("computation-only", "computation-only-greedy"),
    },
}
"""Every method that has a control, but for the exact one, which is ours."""

CELL = """# Two devices of one pair.
name = "two of a pair"

[server]
verify_base_s = 0.02
verify_per_device_s = 0.005
downlink_power_w = 1.0

[radio]
uplink_bandwidth_hz = 1e6
downlink_bandwidth_hz = 1e6

[payload]
token_bits = 5
distribution_bits = 200

[limits]
max_draft_length = 3

[[devices]]
name = "near"
profile = "pair.json"
task = "chat"
draft_s_per_token = 0.004
uplink_snr_db = 12.0
downlink_snr_db = 20.0

[[devices]]
name = "far"
profile = "pair.json"
task = "chat"
draft_s_per_token = 0.006
uplink_snr_db = 3.0
downlink_snr_db = 9.0
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    root = tmp_path_factory.mktemp("models")
    draft, target = write_model(root / "draft", seed=1, layers=2), write_model(root / "target", seed=2, layers=2)
    return ("--draft", draft, "--target", target)


def record_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "loop.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_loop_is_closed_in_one_command(msopt: Command, models: tuple[str, ...]) -> None:
    folder = msopt.folder / "out"
    ask = ("study", *models, "--task", "chat", "--prompts", 2, "--tokens", 6)
    answer = msopt.done(*ask, "--rounds", 32, "--devices", 2, "--seed", 1, "--output", folder)
    files = ["loop.json", "profile-1.json", "scenario.toml", "timeline.svg"]
    assert sorted(file.name for file in folder.iterdir()) == files
    record, cell = record_of(folder), Scenario.read(folder / "scenario.toml")
    for problem, names in PLAYED.items():
        for prompts in ("seen", "unseen"):
            rows = [row for row in record["plays"] if (row["problem"], row["prompts"]) == (problem, prompts)]
            told = [name for row in rows for name in (row["method"], *row["same_control"])]
            assert len(told) == len(set(told))
            assert set(told) - {"exact"} == names
            assert told[0] == "decomposition"
    for row in record["plays"]:
        assert row["device_rounds"] == 64
        for name in (row["method"], *row["same_control"]):
            promised = solve(cell, row["problem"], name).goodput
            assert row["predicted_goodput_curve"] == pytest.approx(promised, rel=1e-6)
        assert row["tokens_low"] <= row["tokens_per_round"] <= row["tokens_high"]
        more = row["tokens_per_round"] / row["predicted_tokens_curve"] - 1.0
        assert row["tokens_more"] == pytest.approx(more, abs=EXACT)
        reach = (row["tokens_high"] - row["tokens_low"]) / 2.0 / row["predicted_tokens_curve"]
        assert row["tokens_more_high"] - row["tokens_more"] >= reach, "the profile's error widens it"
    phases = [row for row in record["phases"] if row["method"] == "decomposition" and row["problem"] == "modes"]
    assert sum(row["realised_s"] for row in phases[:3]) == pytest.approx(phases[3]["realised_s"], rel=EXACT)
    first = record["order"][0]
    ours, other = record["plays"][0], record["plays"][1]
    assert (first["method"], first["against"]) == (ours["method"], other["method"])
    assert first["realised_gain"] == pytest.approx(ours["goodput"] / other["goodput"] - 1.0, rel=EXACT)
    assert {row["of"] for row in record["assumptions"]} == {"tokens", "time"}
    texts: dict[tuple[str, ...], list[int]] = {}
    for row in record["devices"]:
        texts.setdefault((row["problem"], row["method"], row["prompts"]), []).append(row["draft_length"])
    written = {(problem, prompts, *lengths) for (problem, _, prompts), lengths in texts.items()}
    told = [row for row in record["assumptions"] if row["assumption"] == "position in the text"]
    assert len(told) == len(written), "once for all plays that write the same texts"
    assert "equal-bandwidth" in answer.out
    profile = (folder / "profile-1.json").read_bytes()
    other = msopt(*ask[:-1], 7, "--rounds", 32, "--devices", 2, "--seed", 1, "--output", folder)
    assert_one_line(other, 2, ["tokens = 7", "profile-1", "measured with 6"])
    assert (folder / "profile-1.json").read_bytes() == profile


def test_a_scenario_is_studied_as_it_is_and_the_result_can_be_stored(
    msopt: Command, models: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own devices and tasks; the file has every part that stored ones have, and becomes tables as they do.

    Whoever watches is told round by round, with the texts of the play as they stand.
    """
    seen: list[tuple[str, int, int]] = []

    @contextlib.contextmanager
    def view(scenario: Scenario, rounds: int, *, quiet: bool, texts: Texts, rounds_at_once: int) -> Iterator[Watch]:
        assert quiet
        assert rounds == 32
        yield Watch(rounds_at_once, lambda piece: seen.append((scenario.name, piece.rounds, len(texts()))))

    monkeypatch.setattr(study_plays, "live_view", view)
    monkeypatch.setattr(study_plays, "PROBLEMS", ("modes",))
    profile, cell = msopt.folder / "pair.json", msopt.folder / "cell.toml"
    few = ("--task", "chat", "--prompts", 1, "--tokens", 5)
    times = ("--repeats", 1, "--batches", "1,2", "--draft-lengths", "0,1")
    msopt.done("measure", *models, *few, *times, "--output", profile)
    cell.write_text(CELL, encoding="utf-8")
    folder = msopt.folder / "out"
    msopt.done("study", cell, *models, "--rounds", 32, "--output", folder, "--quiet")
    assert (folder / "scenario.toml").read_text(encoding="utf-8") == CELL
    record = record_of(folder)
    assert len(seen) == 32 * len(record["plays"])
    assert {told[1:] for told in seen} == {(1, 2)}
    assert seen[0][0].startswith("two of a pair, modes, seen prompts, ")
    assert record["scenario_toml"] == CELL
    assert record["text_tokens"] == 5, "as the profile was measured, where nothing else is said"
    assert len({row["device"] for row in record["devices"]}) == 2
    for stored in stored_loops():
        assert set(stored) - {"note"} == set(record)
        for part in ("plays", "devices", "phases", "assumptions", "order"):
            assert not stored[part] or set().union(*stored[part]) == set().union(*record[part]), part
    tables = model_loop([record]).tables
    assert np.array_equal(tables["loop_plays"]["goodput"], [row["goodput"] for row in record["plays"]])
    assert not tables["loop_order"].drop(columns="pair").isna().any(axis=None)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--rounds 31 --draft skip-1", ["--rounds = 31", "at least 32"]),
        ("smollm2-skip-4 --tokens 0", ["--tokens = 0", "at least 1"]),
        ("", ["neither a scenario nor a profile nor --draft"]),
        ("qwen2.5-coder-0.5b-1.5b", ["qwen2.5-coder-0.5b-1.5b", "--draft and --target"]),
        ("smollm2-ladder --devices 3", ["smollm2-ladder", "--devices"]),
        ("smollm2-ladder --prompts 9", ["--prompts = 9", "have seen 8"]),
        ("multispin-llama2", ["names no profile or no task"]),
        ("smollm2-skip-4 --temperature -1", ["temperature = -1", "at least 0"]),
        ("--draft skip-2 --temperature nan", ["temperature = nan"]),
        ("--draft skip-2 --top-p 0", ["top_p = 0"]),
        ("--draft skip-2 --top-k 0", ["top_k = 0"]),
        ("--draft skip-2 --task cooking", ["cooking", "code"]),
        ("--draft skip-2 --prompts 99", ["99 prompts of code"]),
        ("--draft skip-2 --dtype float8", ["float8", "bfloat16"]),
        ("--draft skip-2 --target /", ["cannot be loaded"]),
        ("--draft skip-x", ["skip-x"]),
        ("--draft skip-2 --task chat --task chat", ["chat", "none twice"]),
        ("smollm2-skip-4 --devices 1000001", ["--devices = 1000001"]),
    ],
)
def test_what_a_study_needs_is_told_before_anything_is_made(msopt: Command, line: str, words: list[str]) -> None:
    folder = msopt.folder / "out"
    assert_one_line(msopt("study", *line.split(), "--output", folder), 2, words)
    assert not folder.exists()


@pytest.mark.parametrize("wrong", [("--temperature", -1), ("--top-p", 2), ("--top-k", 0), ("--prompts", 0)])
def test_emulate_tells_it_before_models_are_loaded(msopt: Command, wrong: tuple[str, object]) -> None:
    folder = msopt.folder / "out"
    answer = msopt("emulate", "smollm2-ladder", "--draft", "no-such-model/here", *wrong, "--output", folder)
    assert_one_line(answer, 2, [wrong[0].strip("-").replace("-", "_") if wrong[0] != "--prompts" else "--prompts"])
    assert not folder.exists()


def test_where_no_folder_can_be_is_told_before_the_study(msopt: Command) -> None:
    (msopt.folder / "file").write_text("", encoding="utf-8")
    assert_one_line(msopt("study", "smollm2-skip-4", "--output", msopt.folder / "file"), 2, ["is not a folder"])


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cell whose profile has no verification times."""
    folder = tmp_path_factory.mktemp("untimed")
    profile = json.loads(bundled.profile_path("smollm2-skip-4").read_text(encoding="utf-8"))
    (folder / "pair.json").write_text(json.dumps(profile | {"verification": None}), encoding="utf-8")
    (folder / "cell.toml").write_text(CELL, encoding="utf-8")
    (folder / "varied.toml").write_text(CELL + '\n[variant]\nutility = "max-min"\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["cell.toml"], ["two of a pair", "verification times"]),
        (["varied.toml"], ["two of a pair", "variant"]),
        (["cell.toml", "pair.json"], ["cell.toml", "studied alone"]),
    ],
)
def test_what_a_cell_lacks_is_told_before_models_are_loaded(
    msopt: Command, untimed: Path, files: list[str], words: list[str]
) -> None:
    folder = msopt.folder / "out"
    ask = ("study", *(untimed / file for file in files), "--draft", "no-such-model/here", "--output", folder)
    assert_one_line(msopt(*ask), 2, words)
    assert not folder.exists()


def test_verification_is_as_the_server_has_it(untimed: Path) -> None:
    """Where the scenario names a profile of the server, its times; else those of the first device that has some."""
    timed, other = find_profile("smollm2-skip-2"), find_profile(str(untimed / "pair.json"))
    scenario = Scenario.read(untimed / "cell.toml")
    roles = [Role(other, "chat"), Role(find_profile("smollm2-skip-8"), "chat")]
    rows = timed.verification.rows if timed.verification else ()
    seconds, count = np.array([row.time.median_s for row in rows]), np.array([row.batch for row in rows])
    slope = np.cov(count, seconds)[0, 1] / np.var(count, ddof=1)
    found = StudiedCell(scenario, roles, "", timed).verify_by_batch_s
    assert found == pytest.approx((seconds.mean() - slope * count.mean(), slope), rel=1e-6)
    assert StudiedCell(scenario, roles, "").verify_by_batch_s != found


def test_texts_too_short_for_a_whole_draft_lose_no_study(
    msopt: Command, models: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts of one token: what an assumption on tokens is worth is left out, all else is kept; others' models told."""
    monkeypatch.setattr(study_plays, "PROBLEMS", ("heterogeneous",))
    monkeypatch.setattr(study_plays, "methods_of", lambda *_: methods_of("heterogeneous", "optimum")[:1])
    cell = msopt.folder / "cell.toml"
    cell.write_text(CELL.replace("pair.json", "smollm2-skip-4"), encoding="utf-8")
    folder = msopt.folder / "out"
    ask = ("--prompts", 1, "--tokens", 1, "--rounds", 32, "--output", folder, "--quiet")
    answer = msopt("study", cell, *models, *ask)
    assert answer.code == 0
    assert answer.err.count("\n") == 1
    assert "in profile smollm2-skip-4" in answer.err
    assert "here draft drafts for target" in answer.err
    record = record_of(folder)
    assert {row["of"] for row in record["assumptions"]} == {"time"}
    assert all(row["tokens_per_round"] == 2.0 for row in record["plays"])
