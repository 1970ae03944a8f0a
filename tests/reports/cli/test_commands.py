"""What the commands print and write."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import msopt as package
from msopt import METHODS, PROBLEMS, draw
from msopt.model.scenario import Problem
from reports.cli import app
from tests.cases import s1, s2, s3, scenario_of
from tests.msopt.test_methods import KEYS as OF_A_SOLUTION
from tests.reports.command import Command, assert_one_line, strict_json
from tests.tolerances import EXACT

KEYS = [*OF_A_SOLUTION.split()[:-1], "server_only_tokens_per_s", "centralised_tokens_per_s", "devices"]
LITERAL = ("[red]x", "$$", "a|b", "<b>x</b>", "=1+1", "NA", ":smile:", "x" * 200, "Ünï 漢字", "[/]")


def test_version_and_help(msopt: Command) -> None:
    assert msopt.done("--version").out == f"msopt {package.__version__}\n"
    commands = ["solve", "react", "evaluate", "emulate", "scenario", "scenarios", "measure", "report", "crosscheck"]
    text = msopt.done("--help").out
    assert all(command in text for command in commands)
    for command in commands:
        assert msopt.done(command, "--help").out.startswith("Usage: msopt ")


def test_alone_it_names_commands_that_work(msopt: Command, tmp_path: Path) -> None:
    """Five of them, in 80 columns, each as it stands there (the report elsewhere)."""
    lines = msopt.done().out.splitlines()
    assert max(map(len, lines)) <= 80
    told = [re.split(r"  +", line.strip())[0].split()[1:] for line in lines if line.startswith("  msopt ")]
    assert len(told) == 5
    assert told[4][0] == "report"
    for command in told[:4]:
        msopt.done(*(str(tmp_path / word) if word in ("my.toml", "played") else word for word in command))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("solve ed", "edge-cell"),
        ("report edge-cell q", "qwen-coder"),
        ("solve edge-cell --method gri", "grid"),
        ("solve edge-cell --problem modes --method gr", "greedy"),
        ("solve edge-cell --problem all --method ex", "exact"),
        ("emulate edge-cell --problem modes --method unif", "uniform-length"),
        ("scenario uldl-q", "uldl-qwen25"),
        ("scenario --profile smollm2-skip-4 --profile qw", "qwen2.5-coder-0.5b-1.5b"),
        ("schedule qwen", "qwen2.5-coder-0.5b-1.5b"),
        ("schedule x --for sg", "sglang"),
        ("schema cali", "calibration"),
    ],
)
def test_a_shell_completes_names(
    line: str, names: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"msopt {line}"
    for key, value in (("_MSOPT_COMPLETE", "complete_bash"), ("COMP_WORDS", words)):
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert (ended.value.code, capsys.readouterr().out.split()) == (0, names.split())


def test_completing_loads_nothing_heavy() -> None:
    asked = {"_MSOPT_COMPLETE": "complete_bash", "COMP_WORDS": "msopt solve edge-cell --method ", "COMP_CWORD": "4"}
    heavy = "pandas", "matplotlib", "cvxpy", "torch", "rich", "jinja2"
    loaded = f"register(lambda: print(*set({heavy}) & set(sys.modules), file=sys.stderr))"
    text = f"from atexit import register; import sys; {loaded}; from reports.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split()[:2], done.stderr) == (0, ["decomposition", "exact"], "\n")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_keys(msopt: Command, problem: Problem) -> None:
    path = msopt.scenario(s2(server={"draft_s_per_token": 0.01}))
    for method in METHODS[problem]:
        record = msopt.solved(path, problem, "--method", method)
        assert list(record) == KEYS
        assert (record["problem"], record["method"], record["solver"]) == (problem, method, None)
        assert record["scenario"] == "base"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_solve_writes_evaluate_reads(msopt: Command, problem: Problem) -> None:
    path, written = msopt.scenario(s2()), msopt.folder / "control.json"
    for method in METHODS[problem]:
        if method in ("server-only", "point-to-point", "centralised", "centralised-serial"):
            continue
        table = msopt.done("solve", path, "--problem", problem, "--method", method, "--output", written).out
        assert "dev-1" in table
        solved = strict_json(written.read_text(encoding="utf-8"))
        assert solved == msopt.solved(path, problem, "--method", method)
        score = msopt.done("evaluate", path, "--control", written, "--format", "json").record
        assert score["goodput_tokens_per_s"] == pytest.approx(solved["goodput_tokens_per_s"], rel=EXACT)
        assert score["devices"] == solved["devices"]
        assert score["bound_tokens_per_s"] >= score["goodput_tokens_per_s"]
        assert {slack["unit"] for slack in score["slacks"]} == {"token", "Hz", "s"}
        assert all(slack["least_slack"] >= -20e6 * EXACT for slack in score["slacks"])
        assert "the uplink bandwidth budget" in msopt.done("evaluate", path, "--control", written).out


def test_a_correction_with_free_bands(msopt: Command) -> None:
    """What solve writes is scored with the correction that it was found for; a reaction has its bandwidths."""
    path, written = msopt.scenario(s3()), msopt.folder / "control.json"
    chosen = ("--correction", "shared-band")
    solved = msopt.solved(path, "modes", *chosen, "--output", written)
    score = msopt.done("evaluate", path, "--control", written, "--format", "json").record
    assert solved["correction"] == score["correction"] == "shared-band"
    assert score["goodput_tokens_per_s"] == pytest.approx(solved["goodput_tokens_per_s"], rel=EXACT)
    assert solved["goodput_tokens_per_s"] > msopt.solved(path, "modes")["goodput_tokens_per_s"]
    rejected = ("--rejected", "dev-1,dev-2,dev-3", "--format", "json")
    equal, free = (msopt.done("react", path, *rejected, *more).record for more in ((), chosen))
    assert free["correction_s"] < equal["correction_s"]
    assert len({device["bandwidth_hz"] for device in equal["devices"]}) == 1
    assert len({device["bandwidth_hz"] for device in free["devices"]}) == 3
    assert sum(device["bandwidth_hz"] for device in free["devices"]) == pytest.approx(20e6)
    for kind in ("equal-shares", "shared-band", "separate-bands"):
        written.write_text(msopt.done("react", path, *rejected, "--correction", kind).out, encoding="utf-8")
        score = msopt.done("evaluate", path, "--control", written, "--format", "json").record
        assert score["best_correction_s"] == pytest.approx(score["correction_s"], rel=EXACT)
    words = ["msopt: option correction goes with problem modes, not with heterogeneous\n"]
    assert_one_line(msopt("solve", path, *chosen), 2, words)


def test_options_reach_the_method(msopt: Command) -> None:
    path = msopt.scenario(s2())
    fixed = msopt.solved(path, "heterogeneous", "--method", "fixed", "--length", 3)
    assert [device["draft_length"] for device in fixed["devices"]] == [3, 3]
    grid = ["--method", "grid", "--grid-phi", 2, "--grid-lambda", 3, "--grid-rule", "skip"]
    expected = package.solve(
        scenario_of(s2()), "heterogeneous", "grid", grid_phi=2, grid_lambda=3, grid_rule="skip"
    ).goodput
    assert msopt.solved(path, "heterogeneous", *grid)["goodput_tokens_per_s"] == expected
    many = msopt.folder / "many.toml"
    draw("uldl-qwen25", devices=22, seed=1)[0].write(many)
    sampled = ["--method", "uniform-length", "--samples", 50]
    first, again, other = (msopt.solved(many, "modes", *sampled, "--seed", seed) for seed in (1, 1, 2))
    assert first == again
    assert first["standard_error_tokens_per_s"] > 0.0
    assert first["goodput_tokens_per_s"] != other["goodput_tokens_per_s"]


def test_units_are_echoed(msopt: Command) -> None:
    """What was meant as 20 MHz is seen to be 200 MHz."""
    text = msopt.done("solve", msopt.scenario(s2(radio={"uplink_bandwidth_hz": 20 * 10e6}))).out
    line = next(line for line in text.splitlines() if "uplink_bandwidth_hz" in line)
    assert line.split() == ["uplink_bandwidth_hz", "200000000", "Hz", "200", "MHz,", "fixed-snr"]
    for shown in ("20 MHz", "33.792 kbit", "200 ms", "40 dBm", "1 to 16 token", "20 ms to 40 ms"):
        assert shown in text


def test_side_by_side(msopt: Command) -> None:
    text = msopt.done("solve", msopt.scenario(s2()), "--problem", "all").out
    goodputs = next(line for line in text.splitlines() if line.strip().startswith("goodput"))
    assert goodputs.split() == ["goodput", "token/s", "15.36", "18.54", "19.0473"]
    lengths = next(line for line in text.splitlines() if line.strip().startswith("dev-1"))
    assert lengths.split()[1::2] == ["3", "5", "6"]


def test_warnings(msopt: Command) -> None:
    """One line each on standard error, the same in the JSON, and standard output stays JSON."""
    device = (0.8, 0.02, 87.0, 25.0)
    path = msopt.scenario(s1() | {"devices": [dict(zip(list(s1()["devices"][0])[1:], device, strict=True), name="a")]})
    for problem in ("modes", "all"):
        outcome = msopt("solve", path, "--problem", problem, "--format", "json")
        assert outcome.code == 0
        assert outcome.err == 'warning: devices[0] ("a"): uplink_snr_db = 87 is above 60 dB; is it in dB?\n'
        record = outcome.record[0] if problem == "all" else outcome.record
        assert [f"warning: {text}\n" for text in record["warnings"]] == [outcome.err]
    assert msopt("react", path, "--rejected", "a").err == outcome.err


def test_warnings_of_some_problems_name_them(msopt: Command) -> None:
    """Lengths beyond a curve differ by problem: each has its line, one for all devices."""
    description = s2()
    for device in description["devices"]:
        device["acceptance_curve"] = [device.pop("acceptance")]
    path = msopt.scenario(description)
    lines = msopt("solve", path, "--problem", "all", "--format", "json").err.splitlines()
    told = {line.removeprefix("warning: ").partition(": devices[")[0] for line in lines}
    problems = {problem for names in told for problem in names.split(", ")}
    assert problems == set(PROBLEMS)
    assert len(lines) == len(told) <= 3
    assert all("(and 1 more device)" in line for line in lines)


def test_names_are_literal(msopt: Command) -> None:
    description = s1()
    description["devices"] = [description["devices"][0] | {"name": name} for name in LITERAL]
    description["name"] = "[bold]$$|*"
    path = msopt.scenario(description)
    solved = msopt.done("solve", path).out
    assert solved.startswith("[bold]$$|*\n")
    reaction = [word for name in LITERAL for word in ("--rejected", name)]
    for text in (solved, msopt.done("react", path, *reaction).out):
        shown = [line[1:].split("  ")[0] for line in text.splitlines()]
        assert [line for line in shown if line in LITERAL] == list(LITERAL)


def test_rejected_names(msopt: Command) -> None:
    """A whole name comes first; of a list the longest run that is a name."""
    description = s1()
    names = ["a", "b (c, d)", "x,y", "x", "y"]
    description["devices"] = [description["devices"][0] | {"name": name} for name in names]
    path = msopt.scenario(description)
    for given, expected in (
        (["x,y"], ["x,y"]),
        (["x", "y"], ["x", "y"]),
        (["y, x"], ["x", "y"]),
        (["a,b (c, d),x,y"], ["a", "b (c, d)", "x,y"]),
        (["a,a", "a"], ["a"]),
    ):
        arguments = [word for name in given for word in ("--rejected", name)]
        record = msopt.done("react", path, *arguments, "--format", "json").record
        assert list(record) == ["correction_s", "devices"]
        assert [device["name"] for device in record["devices"]] == expected
        for device in record["devices"]:
            assert list(device) == ["name", "mode", "bandwidth_hz", "downlink_power_w"]
            assert (device["mode"] == "uplink") == (device["downlink_power_w"] is None)


def test_output_is_whole_or_not_at_all(msopt: Command) -> None:
    path, written = msopt.scenario(s2()), msopt.folder / "control.json"
    written.write_text("old", encoding="utf-8")
    assert msopt("solve", path, "--method", "nope", "--output", written).code == 2
    assert written.read_text(encoding="utf-8") == "old"
    msopt.done("solve", path, "--output", written, "--format", "json")
    assert sorted(file.name for file in msopt.folder.iterdir()) == ["control.json", "scenario.toml"]


def test_no_bound_for_shares_that_the_problem_does_not_have(msopt: Command) -> None:
    """Problem `modes` shares equally: a control with other shares may well lie above its bound."""
    path = msopt.scenario(s2())
    solved = json.loads(msopt.done("solve", path, "--problem", "modes", "--format", "json").out)
    solved["devices"][0]["bandwidth_hz"] *= 0.5
    written = msopt.folder / "unequal.json"
    written.write_text(json.dumps(solved))
    shown = json.loads(msopt.done("evaluate", path, "--control", written, "--format", "json").out)
    assert shown["bound_tokens_per_s"] is None
    assert shown["gap"] is None
