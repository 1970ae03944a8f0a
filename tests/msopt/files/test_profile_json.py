"""The profile's file: an exact round trip, and one clear line for every broken file."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from msopt import bundled
from msopt.errors import MsoptError, ParameterError
from msopt.files.profile_json import (
    find_profile,
    parse_profile,
    profile_text,
    read_profile,
    task_of,
    write_profile,
)
from msopt.measured.profile import Profile
from tests.profiles import profile, profiles

GOOD = profile()


@given(profiles())
def test_round_trip(measured: Profile) -> None:
    text = profile_text(measured)
    assert parse_profile(text) == measured
    assert profile_text(parse_profile(text)) == text


def test_through_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    write_profile(GOOD, path)
    assert read_profile(path) == GOOD
    assert [p.name for p in tmp_path.iterdir()] == ["p.json"]


def changed(*place: str | int, value: Any = None, delete: bool = False) -> str:
    content = json.loads(profile_text(GOOD))
    *outer, last = place
    part = content
    for step in outer:
        part = part[step]
    if delete:
        del part[last]
    else:
        part[last] = value
    return json.dumps(content)


TIMES = ("median_s", "q10_s", "q25_s", "q75_s", "q90_s")
BROKEN = [
    ("", ["is not JSON"]),
    ("{", ["is not JSON"]),
    ("[1, 2]", ["no schema_version"]),
    ("{}", ["no schema_version"]),
    ('{"schema_version": 1, "schema_version": 1}', ["schema_version", "twice"]),
    (changed("schema_version", value=2), ["schema_version = 2", "reads 1"]),
    (changed("schema_version", value=True), ["schema_version = True", "reads 1"]),
    (changed("schema_version", value="1"), ['schema_version = "1"', "reads 1"]),
    (changed("machine", delete=True), ["machine is missing"]),
    (changed("tasks", "code", "curve", delete=True), ["tasks.code.curve is missing"]),
    (changed("tasks", "code", "curve", 1, "accepted", value=91), ["tasks.code", "curve[1]"]),
    (changed("tasks", "code", "curve", 1, "accepted", value=2.5), ["tasks.code.curve[1].accepted = 2.5", "integer"]),
    (changed("tasks", "code", "curve", 1, "survival", value=0.7), ["curve[1].survival = 0.7", "0.8"]),
    (changed("tasks", "code", "curve", 0, "survival", value=1.5), ["tasks.code.curve[0].survival = 1.5", "equal to 1"]),
    (changed("tasks", "code", "by_counts", "n", value=5), ["tasks.code", "by_counts.n = 5"]),
    (changed("tasks", "code", "prompts_sha256", value="abc"), ['tasks.code.prompts_sha256 = "abc"']),
    (changed("tasks", value=[]), ["tasks = []", "object"]),
    (changed("draft_time", "median_s", value="fast"), ['draft_time.median_s = "fast"', "number"]),
    (changed("draft_time", "median_s", value=float("nan")), ["draft_time.median_s = nan", "finite"]),
    (changed("draft_time", "median_s", value=float("inf")), ["draft_time.median_s = inf", "finite"]),
    (changed("draft_time", "q90_s", value=0.0), ["draft_time", "rise from q10_s"]),
    (changed("draft_time", "median_s", value=-1.0), ["draft_time.median_s = -1.0", "greater than or equal to 0"]),
    (changed("draft_time", "n", value=True), ["draft_time.n = True", "integer"]),
    (changed("verification", "fit", "base", "secondes", value=1.0), ["verification.fit.base.secondes", "unknown key"]),
    (changed("verification", "fit", "residuals_s", value=[0.0]), ["verification", "1 values for 4 rows"]),
    (changed("verification", "rows", 1, "draft_length", value=0), ["rows[1]: batch 1 at draft_length 0 stands twice"]),
    (
        changed("verification", "rows", 0, "time", value=dict.fromkeys(TIMES, 0.0) | {"n": 1}),
        ["rows[0].time.median_s = 0: verification takes time"],
    ),
    (changed("verification", "fit", "base", "seconds", value=float("nan")), ["verification.fit.base.seconds = nan"]),
    (changed("payload", 0, "acceptance", "value", value=float("nan")), ["payload[0].acceptance.value = nan"]),
    (changed("tasks", "code", "over_prompts", "std", value=float("inf")), ["over_prompts.std = inf"]),
    (changed("verification", "rows", value=[]), ["verification.rows = []"]),
    (changed("target", "random_weights", value=True), ["compute_only = false"]),
    (changed("compute_only", value=True), ["compute_only = true"]),
    (changed("sampling", value=None), ["sampling is null"]),
    (changed("draft", "layers_left_out", value=[30]), ["draft", "below layers = 30"]),
    (changed("vocabulary", "shared_entries", value=50000), ["vocabulary", "shared_entries = 50000"]),
    (changed("server_draft", 1, "batch", value=1), ["server_draft holds a batch twice"]),
    (changed("date", value="31.1.2026"), ['date = "31.1.2026"']),
    ('{"schema_version": ' + "9" * 5000 + "}", ["cannot be read as JSON"]),
    ("[" * 100_000, ["cannot be read as JSON"]),
]


@pytest.mark.parametrize(("text", "parts"), BROKEN)
def test_a_broken_file_is_one_clear_line(tmp_path: Path, text: str, parts: list[str]) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        read_profile(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert all(part in message for part in parts), message


def test_no_cut_and_no_change_of_a_byte_is_more_than_a_parameter_error() -> None:
    """A file cut anywhere, and 300 random single-character changes: a profile or a ParameterError, nothing else."""
    text = profile_text(GOOD)
    rng = random.Random(3)
    spoilt = [text[: len(text) * k // 100] for k in range(100)]
    for _ in range(300):
        place = rng.randrange(len(text))
        spoilt.append(text[:place] + rng.choice('0a-{}[]",:.e \x00é') + text[place + 1 :])
    refused = 0
    for one in spoilt:
        try:
            parse_profile(one)
        except MsoptError:
            refused += 1
    assert refused >= 100


def test_misspelt_key_before_the_missing_one() -> None:
    content = json.loads(profile_text(GOOD))
    content["machin"] = content.pop("machine")
    with pytest.raises(ParameterError, match="machin: unknown key; did you mean machine"):
        parse_profile(json.dumps(content))


def test_find_by_path_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(GOOD, tmp_path / "mine.json")
    assert find_profile("mine.json", tmp_path) == GOOD
    assert find_profile(str(tmp_path / "mine.json")) == GOOD
    with pytest.raises(ParameterError, match=r'"mine\.json" is neither a file nor a bundled profile'):
        find_profile("mine.json")
    monkeypatch.setattr(bundled, "_profiles", lambda: tmp_path)
    assert find_profile("mine") == GOOD
    with pytest.raises(ParameterError, match="which are mine; did you mean mine"):
        find_profile("mines")


def test_tasks() -> None:
    assert task_of(GOOD, "chat") == GOOD.tasks["chat"]
    with pytest.raises(ParameterError, match='task = "sums" is not in profile "invented pair"; its tasks: code, chat'):
        task_of(GOOD, "sums")
    empty = GOOD.model_copy(update={"tasks": {}, "payload": (), "compute_only": True})
    with pytest.raises(ParameterError, match="compute-only"):
        task_of(empty, "code")
