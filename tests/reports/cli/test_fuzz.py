"""Mangled files and options: whatever they hold, a command ends with an answer that is one, or with one line."""

import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from msopt import Scenario
from msopt.files.scenario_toml import parse
from reports.cli.app import main
from tests.cases import s2, s3
from tests.msopt.measured.test_served import GOOD_LINE
from tests.msopt.measured.test_servers import TEXTS as SERVERS
from tests.reports.command import Outcome

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
                part[key] = draw(values)
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


def ran(arguments: Sequence[str], files: Mapping[str, bytes]) -> Outcome:
    """Run a command on files in a folder of its own, and hold what holds of every one."""
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        code = main([str(Path(folder) / word) if word in files or "out." in word else word for word in arguments])
        left = {path.name for path in Path(folder).iterdir()} - set(files)
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
        assert (outcome.out, left) == ("", set())
    return outcome


bases = st.sampled_from([s2(), s3(limits={"min_draft_length": 0}), s2(radio={"uplink_sharing": "power-limited"})])
scenario_files = changed(bases).map(tomli_w.dumps).map(str.encode) | mangled(bases.map(tomli_w.dumps))
controls = changed(st.sampled_from([CONTROL, REACTION])).map(json.dumps)


@given(scenario_files, st.sampled_from(["homogeneous", "heterogeneous", "modes"]))
def test_scenario_files(content: bytes, problem: str) -> None:
    """An answer is finite, within its bound, and within the band to the last digit."""
    files = {"s.toml": content}
    outcome = ran(["solve", "s.toml", "--problem", problem, "--format", "json", "--output", "out.json"], files)
    if outcome.code == 0:
        record = outcome.record
        assert 0.0 < record["goodput_tokens_per_s"] <= record["bound_tokens_per_s"] < math.inf
        band_hz = scenario_of_text(content.decode("utf-8-sig")).uplink_bandwidth_hz
        assert math.fsum(device["bandwidth_hz"] for device in record["devices"]) <= band_hz


@given(controls.map(str.encode) | mangled(controls))
def test_controls(content: bytes) -> None:
    files = {"s.toml": tomli_w.dumps(s2()).encode(), "c.json": content}
    outcome = ran(["evaluate", "s.toml", "--control", "c.json", "--format", "json"], files)
    if outcome.code == 0:
        assert 0.0 < outcome.record.get("goodput_tokens_per_s", outcome.record.get("correction_s")) < math.inf


@given(mangled(st.sampled_from([GOOD_LINE, f"{GOOD_LINE}\n{GOOD_LINE}\n", COUNTERS, *SERVERS.values()])))
def test_logs(content: bytes) -> None:
    """What is written is a scenario."""
    outcome = ran(["scenario", "--server-log", "l.log", "--devices", "2"], {"l.log": content})
    if outcome.code == 0:
        assert scenario_of_text(outcome.out).device_count == 2
