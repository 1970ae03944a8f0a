"""Mangled files and options: whatever they hold, a command ends with an answer that is one, or with one line.

Four tests try 50 inputs each and four 20, 280 in all, the same in every run.
"""

import io
import json
import math
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NoReturn

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from msopt import Scenario
from msopt.files.profile_json import profile_text
from msopt.files.scenario_toml import parse
from msopt.serving.server_settings import SERVERS
from reports.cli.app import main
from tests.cases import s1, s2, s3
from tests.msopt.measured.test_served import GOOD_LINE
from tests.msopt.measured.test_servers import TEXTS as SERVER_TEXTS
from tests.msopt.measured.test_vllm_log import of_version_0_6, of_version_0_8, of_version_0_9
from tests.profiles import profile
from tests.reports.cli.test_fit_command import table
from tests.reports.command import Outcome, strict_json

Tree = Any
CONTROL = {
    "problem": "heterogeneous",
    "devices": [{"name": name, "draft_length": 3, "bandwidth_hz": 1e7} for name in ("dev-1", "dev-2")],
}
REACTION = {
    "devices": [
        {"name": "dev-1", "mode": "uplink", "bandwidth_hz": 1e7},
        {"name": "dev-2", "mode": "downlink", "bandwidth_hz": 1e7, "downlink_power_w": 1.0},
    ]
}
COUNTERS = "\n".join(
    f'vllm:spec_decode_num_{name}{{model_name="m"{position}}} {count}'
    for name, position, count in (
        ("drafts_total", "", 100),
        ("draft_tokens_total", "", 200),
        ("accepted_tokens_total", "", 130),
        ("accepted_tokens_per_pos_total", ',position="0"', 80),
        ("accepted_tokens_per_pos_total", ',position="1"', 50),
    )
)
NUMBERS = (
    0,
    -0.0,
    1,
    -1,
    2,
    5e-324,
    1e-30,
    1e30,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
    1.0 - 1e-16,
    0.5,
    2**63,
    10**400,
)
TEXTS = ("", "\x1b[31m", "a\nb", "\u202e", "é漢字", "x" * 5000, "=1+1", "dev-1", "nan", "\ufeff")
values = st.one_of(
    st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from([True, [], {}, [[1]]])
)


def places(tree: Tree, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        yield (*above, key)
        yield from places(value, (*above, key))


def scenario_of_text(text: str) -> Scenario:
    return Scenario(**parse(text, "name"))


@st.composite
def changed(draw: st.DrawFn, whole: st.SearchStrategy[Tree]) -> Tree:
    """A tree in which something is another value, gone, under another key or there twice."""
    tree = deepcopy(draw(whole))
    for _ in range(draw(st.integers(0, 3))):
        *above, key = draw(st.sampled_from(list(places(tree)) or [("devices",)]))
        part = tree
        for step in above:
            part = part[step]
        match draw(st.sampled_from(["value", "value", "value", "gone", "key", "twice"])):
            case "value":
                part[key] = deepcopy(draw(values))
            case "gone" if key in part or isinstance(part, list):
                del part[key]
            case "key" if isinstance(part, dict) and key in part:
                part[draw(st.sampled_from(TEXTS))] = part.pop(key)
            case "twice" if isinstance(part, list):
                part.append(deepcopy(part[key]))
    return tree


@st.composite
def mangled(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """A text's bytes: as they are, cut, with bytes in between, or with another number somewhere."""
    text = draw(texts)
    numbers = list(re.finditer(r"\d+(\.\d+)?", text))
    if numbers and draw(st.booleans()):
        found = draw(st.sampled_from(numbers))
        text = text[: found.start()] + str(draw(values))[:4000] + text[found.end() :]
    content = text.encode()
    place = draw(st.integers(0, len(content)))
    match draw(st.sampled_from(["whole", "whole", "cut", "bytes", "utf-16", "mark"])):
        case "cut":
            content = content[:place]
        case "bytes":
            content = content[:place] + draw(st.binary(min_size=1, max_size=3)) + content[place:]
        case "utf-16":
            content = text.encode("utf-16")
        case "mark":
            content = b"\xef\xbb\xbf" + content
    return content


LONGEST_S = 20.0
"""Of the processor's time, and far beyond what any of these commands takes: what takes longer hangs."""


class Hang(BaseException):
    """No command may catch it."""


@contextmanager
def ended() -> Iterator[None]:
    def hang(number: int, frame: FrameType | None) -> NoReturn:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def ran(arguments: Sequence[str], files: Mapping[str, bytes]) -> Outcome:
    """Run a command on files in a folder of its own, and hold what holds of every one."""
    with TemporaryDirectory() as name, redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).write_bytes(content)
        with ended():
            code = main([str(folder / word) if word in files or "out." in word else word for word in arguments])
        left = {path.name for path in folder.iterdir()} - set(files)
        for path in folder.glob("out.*.json"):
            strict_json(path.read_text(encoding="utf-8"))
        for path in folder.glob("out.toml"):
            Scenario.read(path)
    outcome = Outcome(code, out.getvalue(), err.getvalue())
    assert all(character.isprintable() or character == "\n" for character in outcome.out + outcome.err)
    lines = outcome.err.splitlines()
    assert outcome.err == "".join(f"{line}\n" for line in lines)
    if code == 0:
        assert all(line.startswith("warning: ") for line in lines)
        assert left == {word for word in arguments if "out." in word}
    else:
        assert code in (2, 3)
        assert len(lines) == 1
        assert lines[0].startswith("msopt: ")
        if arguments[0] not in ("sweep", "calibrate") or code == 2:  # rows without an answer are rows all the same
            assert (outcome.out, left) == ("", set())
    return outcome


VARIANT = {"utility": "alpha-fair", "fairness_alpha": 2.0, "goodput_floor_tokens_per_s": 0.5, "token_budget": 6}
bases = st.sampled_from([s2(), s3(limits={"min_draft_length": 0}), s2(radio={"uplink_sharing": "power-limited"})])
scenario_files = changed(bases).map(tomli_w.dumps).map(str.encode) | mangled(bases.map(tomli_w.dumps))
variants = changed(st.sampled_from([s1() | {"variant": VARIANT}, s2() | {"variant": {"utility": "max-min"}}]))
controls = changed(st.sampled_from([CONTROL, REACTION])).map(json.dumps)
VLLM = (of_version_0_9(129, 387, [70, 46, 34]), of_version_0_8(200, 123), of_version_0_6(3, 4437, 8547, 10616))
logs = mangled(st.sampled_from([GOOD_LINE, f"{GOOD_LINE}\n{GOOD_LINE}\n", COUNTERS, *VLLM, *SERVER_TEXTS.values()]))
WHOLE = profile().draft.model_copy(update={"layers_left_out": ()})
profiles = changed(st.just(json.loads(profile_text(profile(draft=WHOLE))))).map(json.dumps)
STUDY = {
    "problem": "heterogeneous", "presets": ["multispin-llama2"], "methods": ["fixed", "homogeneous"], "draws": 2,
    "seed": 5, "fixed": {"devices": 3}, "axes": {"bandwidth_hz": [5e6, 10000000]}, "options": {"fixed": {"length": 4}},
}  # fmt: skip


TARGETS = {
    "settings": 2, "starts": 0, "base": {"presets": ["multispin-llama2"], "draws": 2, "fixed": {"devices": 3}},
    "unknowns": {"uplink_power_dbm": {"low": -50.0, "high": -40.0}},
    "targets": [
        {"name": "level", "value": 70.0, "tolerance": 5.0},
        {"name": "gain", "value": 0.2, "tolerance": 0.1, "kind": "gain", "over": "fixed", "at": {"bandwidth_hz": 5e6}},
    ],
}  # fmt: skip


@given(scenario_files, st.sampled_from(["homogeneous", "heterogeneous", "modes"]))
def test_scenario_files(content: bytes, problem: str) -> None:
    """An answer is finite, within its bound, and within the band to the last digit."""
    files = {"s.toml": content}
    outcome = ran(["solve", "s.toml", "--problem", problem, "--format", "json", "--output", "out.1.json"], files)
    if outcome.code == 0:
        record = outcome.record
        assert 0.0 < record["goodput_tokens_per_s"] <= record["bound_tokens_per_s"] < math.inf
        band_hz = scenario_of_text(content.decode("utf-8-sig")).uplink_bandwidth_hz
        assert math.fsum(device["bandwidth_hz"] for device in record["devices"]) <= band_hz


@settings(max_examples=20)
@given(variants.map(tomli_w.dumps).map(str.encode))
def test_variants(content: bytes) -> None:
    outcome = ran(["solve", "s.toml", "--format", "json", "--output", "out.1.json"], {"s.toml": content})
    if outcome.code == 0:
        assert 0.0 < outcome.record["goodput_tokens_per_s"] < math.inf


@given(controls.map(str.encode) | mangled(controls))
def test_controls(content: bytes) -> None:
    files = {"s.toml": tomli_w.dumps(s2()).encode(), "c.json": content}
    outcome = ran(["evaluate", "s.toml", "--control", "c.json", "--format", "json"], files)
    if outcome.code == 0:
        assert 0.0 < outcome.record.get("goodput_tokens_per_s", outcome.record.get("correction_s")) < math.inf


@given(logs, st.sampled_from([(), ("--pooled-length", "3")]))
def test_logs(content: bytes, length: tuple[str, ...]) -> None:
    """What is written is a scenario."""
    outcome = ran(["scenario", "--server-log", "l.log", *length, "--devices", "2"], {"l.log": content})
    if outcome.code == 0:
        assert scenario_of_text(outcome.out).device_count == 2


@given(profiles.map(str.encode) | mangled(profiles), st.sampled_from(SERVERS), st.booleans())
def test_profiles(content: bytes, server: str, drawn: bool) -> None:
    """A scenario that is one, or a schedule whose goodputs are above 0."""
    if drawn:
        ran(["scenario", "--profile", "p.json", "--devices", "2", "--output", "out.toml"], {"p.json": content})
        return
    output = "out.1.json" if server == "vllm" else "out.txt"
    asked = ["schedule", "p.json", "--batch-sizes", "1-9", "--for", server, "--format", "json", "--output", output]
    outcome = ran(asked, {"p.json": content})
    if outcome.code == 0:
        assert all(0.0 < row["goodput_tokens_per_s"] < math.inf for row in outcome.record["batch_sizes"])


@settings(max_examples=20)
@given(mangled(st.sampled_from([table(True), table(False)])))
def test_throughputs(content: bytes) -> None:
    outcome = ran(["fit", "t.csv", "--format", "json", "--output", "out.1.json"], {"t.csv": content})
    if outcome.code == 0:
        assert all(0.0 <= cost["seconds"] < math.inf for cost in outcome.record["costs"].values())


@settings(max_examples=20)
@given(changed(st.just(STUDY)).map(tomli_w.dumps).map(str.encode))
def test_studies(content: bytes) -> None:
    ran(["sweep", "s.toml", "--jobs", "1", "--output", "out.d"], {"s.toml": content})


@settings(max_examples=20)
@given(changed(st.just(TARGETS)).map(tomli_w.dumps).map(str.encode))
def test_targets(content: bytes) -> None:
    ran(["calibrate", "t.toml", "--jobs", "1", "--output", "out.d"], {"t.toml": content})
