"""`msopt scenario` and `msopt schedule` with what a server's log or counters say, as a user calls them."""

from pathlib import Path

import pytest

from msopt import Scenario
from msopt.files.profile_json import write_profile
from msopt.measured.provenance import Sampling
from tests.msopt.measured.test_served import GOOD_LINE, counters, line
from tests.profiles import profile
from tests.reports.cli.test_profile_commands import served
from tests.reports.command import Command, assert_one_line


def interval(ranges: list[list[int]], batches: dict[int, int], survival: list[float]) -> str:
    """A log line of a server that drafts by ranges of batch sizes: so many steps (values) at batch sizes (keys)."""
    most = max(length for _, _, length in ranges)
    drafts = [0] * (most + 1)
    for batch, steps in batches.items():
        drafts[next(length for first, last, length in ranges if first <= batch <= last)] += batch * steps
    reach = [sum(drafts[place:]) for place in range(1, most + 1)]
    at = [round(n * s) for n, s in zip(reach, survival, strict=False)]
    return line(reach[0], sum(reach), at) + "\n"


def test_a_schedule_read_back_from_its_server_s_log_stays(msopt: Command, measured: Path) -> None:
    """Again and again, from intervals that mix its lengths; and from a server that ran at its shorter length alone."""
    law = profile().tasks["code"].survival
    ask = ("schedule", measured, "--batch-sizes", "1-64", "--tolerance", "0.03", "--task", "code", "--format", "json")
    first = msopt(*ask).record["speculative_config"]["num_speculative_tokens_per_batch_size"]
    lengths = {length for _, _, length in first}
    assert len(lengths - {0}) > 1, "the schedule has something to mix"
    ask = tuple(word for word in ask if word not in ("--task", "code"))
    ranges = first
    for _ in range(4):
        batches = [next(last for _, last, length in ranges if length == each) for each in sorted(lengths - {0})[-2:]]
        text = interval(ranges, {batches[0]: 1000, batches[1]: 300}, law)
        text += interval(ranges, {batches[0]: 200, batches[1]: 4000}, law)
        ranges = msopt(*ask, "--vllm-log", served(msopt, text)).record["ranges"]
        ranges = [list(place.values()) for place in ranges]
        assert ranges == first
    alone = interval(first, {batches[0]: 9000}, law)
    assert ", 0.000, Avg" in alone
    told = msopt(*ask, "--vllm-log", served(msopt, alone))
    assert max(length for _, _, length in first) in {place["draft_length"] for place in told.record["ranges"]}
    assert "were not measured; the curve is continued with its last ratio" in told.err


def test_how_to_draft_is_said_by_where_the_acceptance_is_from(msopt: Command, measured: Path) -> None:
    """The profile sampled its drafts; a server drafts its most probable token unless told otherwise."""
    text = counters(1000, 4000, [900, 800, 720, 640])
    told = msopt("schedule", measured, "--vllm-log", served(msopt, text), "--batch-sizes", "1-4", "--format", "json")
    assert "draft_sample_method" not in told.record["speculative_config"]
    assert "does not say how it drafts (vLLM's default is the most probable token)" in told.err
    text = (
        f"INFO non-default args: {{'draft_sample_method': 'probabilistic'}}\n{line(1000, 4000, [900, 800, 720, 640])}"
    )
    told = msopt("schedule", measured, "--vllm-log", served(msopt, text), "--batch-sizes", "1-4", "--format", "json")
    assert told.record["speculative_config"]["draft_sample_method"] == "probabilistic"
    assert "most probable" not in told.err
    engine = "INFO Initializing a V1 LLM engine (v0.33) with config: model='m', speculative_config=SpeculativeConfig"
    for method, part in (("eagle3", "drafts by eagle3: its acceptance is not that of org/small"), ("draft_model", "")):
        log = served(msopt, f"{engine}(method='{method}', model='d', num_spec_tokens=4)\n{text}")
        told = msopt("schedule", measured, "--vllm-log", log, "--batch-sizes", "1-4")
        assert ("drafts by" in told.err) == bool(part)
        assert part in told.err


@pytest.mark.parametrize(
    ("sampling", "part"),
    [
        ({"temperature": 1.0, "top_p": 0.9}, "measured with top-p 0.9, which vLLM does not apply to drafts"),
        ({"temperature": 0.7, "top_k": 20, "top_p": 0.8}, "measured with top-k 20 and top-p 0.8, which"),
        ({"temperature": 1.0, "top_p": 1.0}, ""),
        ({"temperature": 0.0, "top_k": 20}, ""),
    ],
)
def test_filters_that_vllm_does_not_apply_to_drafts(msopt: Command, sampling: dict[str, float], part: str) -> None:
    path = msopt.folder / "p.json"
    write_profile(profile(sampling=Sampling(draft_length=4, **sampling)), path)
    told = msopt("schedule", path, "--batch-sizes", "1-4").err
    assert part in told
    assert ("does not apply" in told) == bool(part)
    assert "does not apply" not in msopt("schedule", path, "--batch-sizes", "1-4", "--synthetic").err
    log = served(msopt, counters(1000, 4000, [900, 800, 720, 640]))
    assert "does not apply" not in msopt("schedule", path, "--batch-sizes", "1-4", "--vllm-log", log).err


def test_a_damaged_log_is_read_and_told(msopt: Command) -> None:
    path = msopt.folder / "server.log"
    path.write_bytes(b"INFO \xff caf\xc3\xa9\n" + f"{GOOD_LINE}\n{GOOD_LINE}\n{GOOD_LINE[:150]}".encode())
    outcome = msopt("scenario", "--vllm-log", path, "--devices", 1)
    assert outcome.code == 0
    assert "88 of 322 drafted tokens accepted in 46 drafts" in outcome.out
    assert outcome.err.splitlines() == [
        "warning: bytes that are not UTF-8 in line 1",
        'warning: line 4 left out: it is cut short or damaged: "Accepted" is missing',
    ]


def test_tokens_alone_are_asked_for_their_length(msopt: Command, measured: Path) -> None:
    text = "SpecDecoding metrics: Draft acceptance rate: 61.5%, Accepted: 123 tokens, Drafted: 200 tokens\n"
    log = served(msopt, text)
    for command in (["scenario"], ["schedule", measured]):
        words = [f"{log}: tells accepted and drafted tokens only", "--pooled-length"]
        assert_one_line(msopt(*command, "--vllm-log", log), 2, words)
        assert msopt(*command, "--vllm-log", log, "--pooled-length", 4).code == 0


def test_which_quantity_a_pooled_rate_is(msopt: Command) -> None:
    """0.642 is the rate of a server of old, which emitted 10616 tokens in 4437 rounds of 3: 2.926 are too many."""
    told = msopt("scenario", "--pooled-rate", 0.642, "--pooled-length", 3, "--devices", 1)
    assert "none counted behind a rejection: 2.926 tokens a round" in told.err
    assert "--mean-length" in told.err
    path = msopt.folder / "cell.toml"
    mean = 10616 / 4437
    told = msopt("scenario", "--mean-length", mean, "--pooled-length", 3, "--devices", 1, "--output", path)
    assert "2.39261 is taken as tokens a round with the target's own" in told.err
    law = Scenario.read(path).acceptance
    assert law.expected_tokens(3.0)[0] == pytest.approx(mean, rel=1e-12)
    assert law.mean[0] == pytest.approx(0.6626, abs=5e-5)


def test_the_comment_of_a_served_acceptance_is_true(msopt: Command) -> None:
    """Nothing is left of the paper's acceptance, and the times are said to be those of its machines."""
    for preset, pair in (("uldl-qwen25", "Qwen2.5-0.5B drafts"), ("multispin-llama2", "TinyLlama-1.1B drafts")):
        out = msopt("scenario", preset, "--vllm-log", served(msopt, GOOD_LINE), "--devices", 2, "--seed", 3).out
        comment = "\n".join(text for text in out.splitlines() if text.startswith("#"))
        own = msopt("scenario", preset, "--devices", 2, "--seed", 3).out
        for stale in ("dataset", "HumanEval", "GSM8K", "MT-Bench", "MBPP", "geometric law"):
            assert stale not in comment
        assert "The dataset of each device" in own
        assert comment.startswith(f"# {preset} with another acceptance; all else as for\n# {pair}")
        assert "- acceptance of every device: 44 of 161 drafted tokens accepted in 23 drafts" in comment
        assert f"stay those of {pair}" in comment
        assert "verification on an A100" in comment
        path, other = msopt.folder / "served.toml", msopt.folder / "own.toml"
        path.write_text(out)
        other.write_text(own)
        there, here = Scenario.read(path), Scenario.read(other)
        assert there.replace(acceptance=here.acceptance) == here


@pytest.mark.parametrize(
    ("server", "parts"),
    [
        ("sglang", ["--speculative-algorithm STANDALONE", "--speculative-num-steps "]),
        ("llama.cpp", ["--model-draft ", "--spec-draft-n-max "]),
        ("tensorrt-llm", ["speculative_config:\n", "draft_len_schedule: {"]),
        ("vllm", ['"num_speculative_tokens_per_batch_size"']),
    ],
)
def test_each_server_gets_its_own_setting(msopt: Command, measured: Path, server: str, parts: list[str]) -> None:
    path = msopt.folder / "setting.txt"
    asked = ("schedule", measured, "--batch-sizes", "1-4", "--task", "code", "--for", server)
    outcome = msopt(*asked, "--output", path)
    record = msopt(*asked, "--format", "json").record
    text = path.read_text()
    assert outcome.code == 0
    assert all(part in text for part in parts), text
    assert (record["setting"] is None, record["speculative_config"] is None) == (server == "vllm", server != "vllm")
    assert "within 1 % at the ends" in outcome.out
    for row in record["batch_sizes"]:
        assert row["best_draft_length"] in row["draft_lengths_within_1_percent"]


def test_a_setting_that_no_server_has(msopt: Command, measured: Path) -> None:
    for arguments, part in (
        (("--for", "tgi"), '--for "tgi" is none of vllm, sglang, tensorrt-llm, llama.cpp'),
        (("--for", "sglang", "--synthetic"), "--synthetic is vLLM's"),
        (("--min", "-1"), "min = -1"),
        (("--mean-length", "2.77"), "go together"),
    ):
        assert_one_line(msopt("schedule", measured, *arguments), 2, [part])


def test_a_pause_of_the_drafter_is_told_with_its_remedy(msopt: Command, measured: Path) -> None:
    """Length 0 pays at large batches only; with a floor of 1 no batch size drafts nothing."""
    asked = ("schedule", measured, "--batch-sizes", "1-400", "--task", "chat")
    assert "with --min 1 none pauses" in msopt(*asked).err
    floored = msopt(*asked, "--min", 1, "--format", "json")
    assert "none pauses" not in floored.err
    assert min(row["draft_length"] for row in floored.record["batch_sizes"]) == 1


def test_a_schedule_of_a_mean_length_is_that_of_its_law(msopt: Command, measured: Path) -> None:
    """2.77 tokens a round at length 3: 1 + a + a^2 + a^3; the same from a server's own words."""
    asked = ("schedule", measured, "--batch-sizes", "1-8", "--format", "json")
    by_hand = msopt(*asked, "--mean-length", 2.77, "--pooled-length", 3).record
    info = served(msopt, '{"speculative_num_steps": 3, "internal_states": [{"avg_spec_accept_length": 2.77}]}\n')
    assert msopt(*asked, "--server-log", info).record["batch_sizes"] == by_hand["batch_sizes"]
    told = msopt("scenario", "--server-log", info, "--devices", 1)
    assert "SGLang's server info: avg_spec_accept_length is tokens a round with the target's own" in told.out.replace(
        "\n#   ", " "
    )
    assert "warning: not known from SGLang's server info: S by position" in told.err
