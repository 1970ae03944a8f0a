"""Bad input ends with exit code 2, a broken constraint with 3: one line on standard error and nothing else."""

import errno
import json
import sys
from pathlib import Path

import pytest

from reports.cli import app as cli
from tests.cases import Description, base, s2
from tests.reports.command import Command, Outcome, assert_one_line

BUNDLED = "edge-cell, multispin-llama2, multispin-qwen35, qwen-coder, smollm2-ladder, uldl-deepseek-r1, uldl-qwen25"
MULTISPIN = "decomposition, exact, grid, fixed, equal-bandwidth, homogeneous"
BAD_COMMANDS: list[tuple[str, list[str]]] = [
    ("solvee", ["'solvee'", "'solve'"]),
    ("solve", ["FILE"]),
    ("solve nope", ["neither a file nor a bundled scenario", BUNDLED]),
    ("solve qwen-codr", [BUNDLED, "did you mean qwen-coder?"]),
    ("solve qwen-coder.toml", ["did you mean qwen-coder?"]),
    ("solve FOLDER", ["Is a directory"]),
    ("solve S2 more", ["unexpected extra argument"]),
    ("solve S2 --problem foo", ["--problem", "'foo'", "'homogeneous', 'heterogeneous', 'modes', 'all'"]),
    ("solve S2 --problem", ["--problem", "requires an argument"]),
    ("solve S2 --method greedy", ['"greedy"', "heterogeneous", MULTISPIN]),
    ("solve S2 --problem modes --method grid", ['"grid"', "modes", "decomposition, exact, greedy, all-uplink"]),
    ("solve S2 --problem all --method grid", ['"grid"', "homogeneous", "decomposition, exact, server-only"]),
    ("solve S2 --method centralised", ["server.draft_s_per_token"]),
    ("solve S2 --length 4", ["length", "fixed", "decomposition"]),
    ("solve S2 --grid-phi 4", ["grid_phi", "grid"]),
    ("solve S2 --method fixed --grid-lambda 4", ["grid_lambda", "grid"]),
    ("solve S2 --method fixed --length 99", ["99", "1 to 16"]),
    ("solve S2 --method fixed --length 1.5", ["--length", "integer"]),
    ("solve S2 --method grid --grid-rule cut", ["--grid-rule", "'cut'", "'clip', 'skip'"]),
    ("solve S2 --problem modes --samples 1", ["samples", "at least 2"]),
    ("solve S2 --seed -1", ["seed", "-1", "at least 0"]),
    ("solve S2 --seed x", ["--seed", "integer"]),
    ("solve S2 --format yaml", ["--format", "'yaml'", "'table', 'json'"]),
    ("solve S2 --probem modes", ["--probem", "--problem"]),
    ("solve S2 --output FOLDER", ["cannot be written", "Is a directory"]),
    ("solve S2 --output FOLDER/no/such.json", ["such.json", "No such file or directory"]),
    ("compare", ["FILE"]),
    ("compare nope", ["neither a file nor a bundled scenario"]),
    ("compare S2 --problem foo", ["--problem", "'homogeneous', 'heterogeneous', 'modes', 'all'"]),
    ("compare S2 --method grid", ['"grid" is not MODULE:FUNCTION']),
    ("compare S2 --variant TokenBudget", ["--variant", "is not MODULE"]),
    ("compare S2 --samples 1", ["samples", "at least 2"]),
    ("compare S2 --format csv", ["--format", "'table', 'json'"]),
    ("compare S2 --output FOLDER", ["cannot be written", "Is a directory"]),
    ("react S2", ["--rejected"]),
    ("react S2 --rejected dev-3", ['"dev-3"', "did you mean"]),
    ("react S2 --rejected dev-1,", ['""', '"dev-1", "dev-2"']),
    ("evaluate S2", ["--control"]),
    ("evaluate S2 --control FOLDER/none.json", ["none.json", "No such file"]),
    ("evaluate S2 --control S2", ["is not JSON"]),
    ("scenario nope", ['"nope"', "multispin-llama2, multispin-qwen35, uldl-qwen25, uldl-deepseek-r1"]),
    ("scenario edge-cell", ["edge-cell is no preset but a bundled scenario; copy", "edge-cell.toml"]),
    ("scenario uldl-qwen25 --devices 0", ["devices", "at least 1"]),
    ("scenario uldl-qwen25 --bandwidth-hz nan", ["bandwidth_hz", "nan", "above 0"]),
    ("scenario uldl-qwen25 --bandwidth-hz 10MHz", ["--bandwidth-hz", "number"]),
    ("scenario uldl-qwen25 --dataset squad", ['"squad"', "HumanEval, GSM8K, MT-Bench, IFEval"]),
    ("scenario multispin-llama2 --power-ratio 4", ["power_ratio"]),
    ("report S2", ["--output"]),
    ("report nope --output FOLDER/out", ["neither a file nor a bundled scenario"]),
    ("report S2 --output S2", ["folder"]),
    ("report S2 --output FOLDER/scenario.toml/out", ["scenario.toml", "not a folder"]),
    ("report S2 --output=", ["--output is empty"]),
    ("sweep S2 --output=", ["--output is empty"]),
    ("crosscheck S2 --output=", ["--output is empty"]),
    ("solve S2 --output=", ["--output is empty"]),
    ("scenario uldl-qwen25 --output=", ["--output is empty"]),
    ("schedule smollm2-skip-8 --output=", ["--output is empty"]),
    ("sweep S2 --output FOLDER/out --method fixed", ['"fixed" is not MODULE:FUNCTION']),
    ("scenario uldl-qwen25 --devices 99999999999999999999", ["devices", "1000000"]),
    ("scenario uldl-qwen25 --pooled-rate 0.5 --pooled-length 99999999", ["draft length", "10000"]),
    ("schedule smollm2-skip-8 --output /dev/full", ["/dev/full: cannot be written: No space left on device"]),
    ("scenario --profile smollm2-skip-8 --output /proc/no", ["/proc/no: cannot be written"]),
]


@pytest.mark.parametrize(("line", "words"), BAD_COMMANDS, ids=[line for line, _ in BAD_COMMANDS])
def test_bad_commands(msopt: Command, line: str, words: list[str]) -> None:
    path = msopt.scenario(s2())
    before = sorted(msopt.folder.iterdir())
    arguments = [word.replace("FOLDER", str(msopt.folder)) for word in line.split()]
    arguments = [str(path) if word == "S2" else word for word in arguments]
    assert_one_line(msopt(*arguments), 2, words)
    assert sorted(msopt.folder.iterdir()) == before


BAD_FILES: list[tuple[str, str, str, list[str]]] = [
    ("per cent", "acceptance = 0.8", "acceptance = 82", ["acceptance = 82", "[0, 1]", "did you mean 0.82?"]),
    ("infinite", "uplink_snr_db = 10.0", "uplink_snr_db = -inf", ["uplink_snr_db", "finite"]),
    ("sharing", "fixed-snr", "fixed_snr", ["fixed_snr", '"fixed-snr" or "power-limited"']),
    ("misspelt", "acceptance", "acceptence", ["acceptence", "did you mean acceptance?"]),
    ("noise", "uplink_snr_db", "noise_dbm", ["noise_dbm"]),
    ("not TOML", "verify_base_s = 0.2", "verify_base_s = 20 MHz", ["line", "alone"]),
    ("twice", 'name = "dev-2"', 'name = "dev-1"', ['"dev-1"', "devices[1]"]),
]


@pytest.mark.parametrize(("old", "new", "words"), [case[1:] for case in BAD_FILES], ids=[case[0] for case in BAD_FILES])
@pytest.mark.parametrize("command", ["compare", "solve", "react", "evaluate", "report"])
def test_bad_files(msopt: Command, command: str, old: str, new: str, words: list[str]) -> None:
    path = msopt.scenario(s2())
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    more: dict[str, list[object]] = {
        "react": ["--rejected", "dev-1"],
        "evaluate": ["--control", path],
        "report": ["--output", msopt.folder / "out"],
    }
    assert_one_line(msopt(command, path, *more.get(command, [])), 2, [str(path), *words])
    assert list(msopt.folder.iterdir()) == [path]


def test_a_line_stays_one_line(msopt: Command) -> None:
    """A name with a line break or an escape sequence neither breaks the line nor reaches the terminal."""
    bad: Description = base((1.5, 0.02, 10.0, 25.0))
    bad["devices"][0]["name"] = "one\ntwo\x1b[31m"
    assert_one_line(msopt("solve", msopt.scenario(bad)), 2, ["one\\ntwo\\x1b[31m", "1.5"])
    assert_one_line(msopt("solve", "no\nsuch\nfile"), 2, ["no\\nsuch\\nfile"])


@pytest.mark.parametrize("line", ["LONG", "solve LONG", "solve S2 --format LONG", "solve S2 --method LONG"])
def test_a_line_has_an_end(msopt: Command, line: str) -> None:
    arguments = line.replace("LONG", "x" * 5000).replace("S2", str(msopt.scenario(s2()))).split()
    outcome = msopt(*arguments)
    assert_one_line(outcome, 2, ["xxx"])
    assert len(outcome.err) < 1100


def control(msopt: Command, path: Path, problem: str) -> Path:
    written = msopt.folder / "control.json"
    msopt.done("solve", path, "--problem", problem, "--output", written)
    return written


def edited(written: Path, **changes: object) -> Path:
    """The control with some keys of its first device changed."""
    record = json.loads(written.read_text(encoding="utf-8"))
    record["devices"][0] |= changes
    written.write_text(json.dumps(record), encoding="utf-8")
    return written


BROKEN: list[tuple[str, dict[str, object], list[str]]] = [
    ("heterogeneous", {"bandwidth_hz": 21e6}, ["uplink bandwidth budget", "Hz"]),
    ("heterogeneous", {"bandwidth_hz": -1e6}, ["bandwidth of at least 0", '"dev-1"', "1e+06 Hz"]),
    ("heterogeneous", {"bandwidth_hz": 0.0}, ["bandwidth above 0", '"dev-1"']),
    ("heterogeneous", {"draft_length": 0}, ["least draft length", '"dev-1"', "1 token"]),
    ("modes", {"draft_length": 20}, ["greatest draft length", '"dev-1"', "4 token"]),
    ("homogeneous", {"draft_length": 9}, ["one length for all", "token"]),
]


@pytest.mark.parametrize(("problem", "changes", "words"), BROKEN)
@pytest.mark.parametrize("form", ["table", "json"])
def test_broken_constraints(
    msopt: Command, problem: str, changes: dict[str, object], words: list[str], form: str
) -> None:
    path = msopt.scenario(s2())
    written = edited(control(msopt, path, problem), **changes)
    outcome = msopt("evaluate", path, "--control", written, "--format", form)
    assert_one_line(outcome, 3, [str(written), *words])


def test_broken_reaction(msopt: Command) -> None:
    path, written = msopt.scenario(s2()), msopt.folder / "reaction.json"
    written.write_text(msopt.done("react", path, "--rejected", "dev-2", "--format", "json").out, encoding="utf-8")
    edited(written, mode="downlink", downlink_power_w=11.0)
    assert_one_line(msopt("evaluate", path, "--control", written), 3, ["downlink power budget", "1 W"])
    edited(written, downlink_power_w=1e300)
    assert_one_line(msopt("evaluate", path, "--control", written), 3, ["downlink power budget", "1e+300 W"])
    options = ("--seed", 3, "--samples", 9)
    assert_one_line(msopt("evaluate", path, "--control", written, *options), 2, ["samples", "seed"])


BAD_CONTROLS: list[tuple[dict[str, object], list[str]]] = [
    ({"name": "dev-3"}, ['"dev-3"']),
    ({"draft_length": 1.5}, ["draft_length", "1.5"]),
    ({"draft_length": "5"}, ["draft_length", '"5"']),
    ({"bandwidth_hz": None}, ["bandwidth_hz", "missing"]),
    ({"bandwidth_hz": float("nan")}, ["bandwidth_hz", "nan"]),
]


@pytest.mark.parametrize(("changes", "words"), BAD_CONTROLS)
def test_bad_controls(msopt: Command, changes: dict[str, object], words: list[str]) -> None:
    path = msopt.scenario(s2())
    written = edited(control(msopt, path, "heterogeneous"), **changes)
    assert_one_line(msopt("evaluate", path, "--control", written), 2, [str(written), *words])


def test_a_list_is_no_control(msopt: Command) -> None:
    path = msopt.scenario(s2())
    assert_one_line(msopt("evaluate", path, "--control", control(msopt, path, "all")), 2, ["list of 3"])
    written = msopt.folder / "none.json"
    msopt.done("solve", path, "--method", "server-only", "--output", written)
    assert_one_line(msopt("evaluate", path, "--control", written), 2, ["no one control"])


def test_what_the_system_refuses_is_one_line_where_the_output_is_no_file(
    msopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cli, "print_tables", full)
    assert_one_line(msopt("scenarios"), 2, ["No space left on device"])


def test_full_streams(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is the command's where nobody can be told, and 2 where the answer itself is lost."""
    for line, code in (("solve nope", 2), ("evaluate", 2), ("solve qwen-coder --method server-only", 0), ("--help", 0)):
        for name in ("stderr", "stdout"):
            with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patch:
                patch.setattr(sys, name, full)
                outcome = msopt(*line.split())
            if name == "stderr":
                assert (outcome.code, outcome.err) == (code, "")
            elif code == 0:
                words = ["standard output: cannot be written: No space left on device"]
                assert_one_line(Outcome(outcome.code, "", outcome.err), 2, words)


@pytest.mark.parametrize("command", ["crosscheck", "report S2", "sweep STUDY"])
def test_an_unusable_folder_is_told_before_anything_is_computed(msopt: Command, command: str) -> None:
    path = msopt.scenario(s2())
    study = msopt.folder / "study.toml"
    study.write_text('presets = ["multispin-llama2"]\n', encoding="utf-8")
    arguments = command.replace("S2", str(path)).replace("STUDY", str(study)).split()
    for output, words in (
        ("/proc/no", "cannot be made a folder"),
        (msopt.folder / ("n" * 256), "File name too long"),
        (path, "is not a folder"),
    ):
        assert_one_line(msopt(*arguments, "--output", output), 2, [words])
    for name, kind in (("report.html", "file"), ("tables", "folder")) if command.startswith("report") else ():
        folder = msopt.folder / name
        folder.mkdir()
        (folder / name).mkdir() if kind == "file" else (folder / name).touch()
        assert_one_line(msopt(*arguments, "--output", folder), 2, [f"{name}: is not a {kind}"])
    nothing = {path, study, msopt.folder / "report.html", msopt.folder / "tables"}
    assert set(msopt.folder.iterdir()) <= nothing


def test_an_unusable_file_is_told_before_anything_is_computed(msopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "solve_problems", None)
    for output in (msopt.folder, msopt.folder / "no" / "such.json", msopt.folder / ("n" * 256)):
        assert_one_line(msopt("solve", "qwen-coder", "--output", output), 2, ["cannot be written"])
