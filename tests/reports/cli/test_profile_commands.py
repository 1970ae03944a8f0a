"""`msopt scenario` from profiles and from vLLM's texts, and `msopt schedule`, as a user calls them."""

import json
from pathlib import Path

import pytest

from msopt import Scenario
from msopt.files.profile_json import write_profile
from tests.msopt.measured.test_served import GOOD_LINE, counters
from tests.profiles import profile
from tests.reports.command import Command, assert_one_line, strict_json


def served(msopt: Command, text: str) -> Path:
    path = msopt.folder / "served.txt"
    path.write_text(text)
    return path


def test_a_scenario_of_profiles_is_solved(msopt: Command, measured: Path) -> None:
    path = msopt.folder / "cell.toml"
    outcome = msopt.done("scenario", "--profile", measured, "--devices", 3, "--seed", 4, "--output", path)
    assert outcome.out == ""
    printed = msopt.done("scenario", "--profile", measured, "--devices", 3, "--seed", 4)
    assert printed.out == path.read_text()
    assert Scenario.read(path).device_count == 3
    assert msopt.solved(path, "heterogeneous")["goodput_tokens_per_s"] > 0.0


def test_a_scenario_file_that_names_the_profile(msopt: Command, measured: Path) -> None:
    cell = msopt.folder / "named.toml"
    cell.write_text(
        '[server]\nprofile = "p.json"\ndownlink_power_w = 1\n[radio]\nuplink_bandwidth_hz = 1e7\n'
        "downlink_bandwidth_hz = 1e7\n[payload]\ntoken_bits = 16\ndistribution_bits = 1e4\n"
        '[[devices]]\nname = "a"\nprofile = "p.json"\ntask = "code"\nuplink_snr_db = 10\ndownlink_snr_db = 20\n'
    )
    assert msopt.done("solve", cell, "--problem", "all").code == 0
    assert measured.exists()


@pytest.mark.parametrize("preset", [[], ["multispin-llama2"]])
def test_acceptance_that_a_vllm_served(msopt: Command, preset: list[str]) -> None:
    path = msopt.folder / "cell.toml"
    msopt.done("scenario", *preset, "--vllm-log", served(msopt, GOOD_LINE), "--devices", 2, "--output", path)
    curves = Scenario.read(path).acceptance.curves
    assert [c is not None and c.tolist()[0] == 17 / 23 for c in curves] == [True, True]
    assert "44 of 161 drafted tokens accepted in 23 drafts" in path.read_text()
    assert (preset or ["uldl-qwen25"])[0] in path.read_text()


def test_a_pooled_rate_is_told_to_be_one(msopt: Command) -> None:
    outcome = msopt("scenario", "--vllm-log", served(msopt, counters(100, 300, [80, 64, 32], per_pos=True)))
    assert outcome.code == 0
    assert outcome.err.startswith("warning: no rates by position")
    assert "acceptance_curve" not in outcome.out


SCHEDULE = ("--batch-sizes", "1-64,128", "--tolerance", "0.01")


def test_schedule(msopt: Command, measured: Path) -> None:
    outcome = msopt("schedule", measured, *SCHEDULE, "--format", "json", "--output", msopt.folder / "config.json")
    record = outcome.record
    config = strict_json((msopt.folder / "config.json").read_text())
    pause, *others = outcome.err.splitlines()
    assert pause.startswith("warning: some batch sizes draft nothing")
    assert others == ["warning: batch sizes above 8 were not measured; the fits are carried on to them"]
    assert record["speculative_config"] == config
    assert record["tasks"] == ["code", "chat"]
    assert [row["batch_size"] for row in record["batch_sizes"]] == [*range(1, 65), 128]
    schedule = config["num_speculative_tokens_per_batch_size"]
    assert schedule == [list(place.values()) for place in record["ranges"]]
    assert schedule[0][0] == 1
    assert max(length for _, _, length in schedule) == config["num_speculative_tokens"]
    lost = [1.0 - row["goodput_tokens_per_s"] / row["best_goodput_tokens_per_s"] for row in record["batch_sizes"]]
    assert max(lost) == pytest.approx(record["largest_loss_by_merging"])
    assert 0.0 <= record["largest_loss_by_merging"] <= 0.01
    stop = record["drafting_stops_paying_at_batch_size"]
    assert all((row["best_draft_length"] == 0) == (row["batch_size"] >= stop) for row in record["batch_sizes"])


def test_schedule_in_words(msopt: Command, measured: Path) -> None:
    out = msopt("schedule", measured, *SCHEDULE, "--task", "chat").out
    assert "acceptance: chat" in out
    assert "lost by merging: " in out
    assert "drafting no longer pays from batch size " in out
    assert json.loads(out.splitlines()[-1])["method"] == "draft_model"
    pays = msopt("schedule", measured, "--batch-sizes", "2").out
    assert "drafting pays at batch size 2, the greatest looked at" in pays


def test_schedule_of_what_vllm_served_for_a_load_test(msopt: Command, measured: Path) -> None:
    text = served(msopt, counters(1000, 4000, [900, 800, 720, 640]))
    line = msopt("schedule", measured, "--vllm-log", text, "--batch-sizes", "1-4", "--synthetic").out.splitlines()[-1]
    config = json.loads(line)
    assert config["synthetic_acceptance_rates"] == pytest.approx(
        [0.9, 0.8, 0.72, 0.64][: config["num_speculative_tokens"]]
    )
    assert len(config["synthetic_acceptance_rates"]) == config["num_speculative_tokens"]


def test_schedule_says_what_was_not_measured(msopt: Command) -> None:
    path = msopt.folder / "p.json"
    write_profile(profile(server_draft=()), path)
    told = msopt("schedule", path, "--max", "9", "--batch-sizes", "1-5").err
    assert "no drafting step of a batch was measured" in told
    assert "batch sizes above 4 were not measured" in told
    assert "layers left out" in told
    assert "lengths above 3 were not measured" in told
    fit = profile().verification
    poor = fit.model_copy(update={"fit": fit.fit.model_copy(update={"max_relative_residual": 0.31})})
    write_profile(profile(verification=poor), path)
    assert "up to 31% off a measured median" in msopt("schedule", path, "--batch-sizes", "1").err
    assert "up to 31% off" in msopt("scenario", "--profile", path).err


BAD = [
    ("scenario", ["name a preset", "--profile"]),
    ("scenario nope", ['preset = "nope"']),
    ("scenario uldl-qwen25 --profile P", ["do not go with --profile"]),
    ("scenario --profile nope", ['"nope" is neither a file nor a bundled profile']),
    ("scenario --profile P --task sums", ['task = "sums"', "code, chat"]),
    ("scenario uldl-qwen25 --task code", ["go with --profile"]),
    ("scenario --vllm-log P", ["P: holds neither"]),
    ("scenario --vllm-log nope", ["nope: cannot be read"]),
    ("scenario --vllm-model m", ["--server-model goes with --server-log"]),
    ("scenario --pooled-rate 0.5", ["go together"]),
    ("scenario --pooled-rate 27.3 --pooled-length 7", ["pooled rate = 27.3 is outside [0, 1]"]),
    ("scenario --pooled-rate 0.5 --pooled-length 3 --vllm-log P", ["two sources"]),
    (
        "scenario --pooled-rate 0.5 --pooled-length 3 --mean-length 2",
        ["--pooled-rate and --mean-length are two"],
    ),
    ("scenario --mean-length 2.5", ["go together"]),
    ("scenario --pooled-length 3", ["go together"]),
    ("scenario --mean-length 4.1 --pooled-length 3", ["mean length = 4.1 is outside [1, 4]"]),
    ("scenario --mean-length nan --pooled-length 3", ["mean length = nan is outside [1, 4]"]),
    ("scenario --mean-length 2 --pooled-length 0", ["draft length = 0"]),
    ("scenario --vllm-log L --pooled-length 7", ["L: tells how long its drafts are"]),
    ("scenario --vllm-log L --dataset MBPP", ["two sources of one acceptance"]),
    ("schedule P --pooled-length 7", ["go together"]),
    ("schedule nope", ['"nope" is neither']),
    ("schedule P --batch-sizes 4-1", ['--batch-sizes: "4-1"']),
    ("schedule P --batch-sizes 0-3", ['--batch-sizes: "0-3"']),
    ("schedule P --batch-sizes 4,1-1000000000", ['--batch-sizes: "1-1000000000" goes beyond 100000, the most']),
    ("schedule P --batch-sizes 1-100000 --max 100", ["100000 batch sizes", "0 to 100", "10100000 ", "above 10000000"]),
    ("schedule P --batch-sizes 1,,2", ['--batch-sizes: ""']),
    ("schedule P --max 0", ["max = 0"]),
    ("schedule P --max 1000000000", ["msopt: --max = 1000000000 is above 10000, the most that is allowed\n"]),
    ("schedule P --tolerance 2", ["tolerance = 2"]),
    ("schedule P --task nope", ['task = "nope"']),
    ("schedule P --task code --vllm-log L", ["two sources"]),
]


@pytest.mark.parametrize(("line", "parts"), BAD)
def test_bad_input(msopt: Command, measured: Path, line: str, parts: list[str]) -> None:
    log = served(msopt, GOOD_LINE)
    outcome = msopt(*[{"P": str(measured), "L": str(log)}.get(word, word) for word in line.split()])
    assert_one_line(outcome, 2, [part.replace("P: ", f"{measured}: ").replace("L: ", f"{log}: ") for part in parts])


def test_a_schedule_needs_acceptance_and_times(msopt: Command) -> None:
    path = msopt.folder / "p.json"
    for changes, part in (
        ({"compute_only": True, "tasks": {}, "payload": (), "sampling": None}, "compute-only"),
        ({"tasks": {}}, "has no acceptance: it measured no task\n"),
        ({"verification": None}, "has no verification times; name one that has\n"),
        ({"server_draft": (), "draft_time": None}, "has no draft time; name one that has\n"),
    ):
        write_profile(profile(**changes), path)
        for command in (["schedule", path], ["scenario", "--profile", path]):
            assert_one_line(msopt(*command), 2, [part])


def test_a_schedule_that_cannot_be_written_prints_nothing(msopt: Command, measured: Path) -> None:
    outcome = msopt("schedule", measured, "--batch-sizes", "1-4", "--output", msopt.folder)
    assert_one_line(outcome, 2, ["cannot be written"])
