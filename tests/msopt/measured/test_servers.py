"""What four servers say of acceptance, each in its own quantity: right values by arithmetic, and texts that mislead.

The formats in tests/data/servers are the servers' own, the numbers made up.
"""

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from msopt.errors import ParameterError
from msopt.measured.served import Served
from msopt.measured.servers import READERS, read_server
from msopt.numerics.intervals import mean_interval, proportion_interval
from tests.msopt.measured.test_served import GOOD_LINE, counters
from tests.tolerances import EXACT

FOLDER = Path(__file__).parents[2] / "data" / "servers"
TEXTS = {path.name: path.read_text() for path in sorted(FOLDER.iterdir())}
ANSWER = TEXTS["vllm_answers_summary.json"]


def read(name: str, draft_length: int | None = None) -> Served:
    return read_server(TEXTS[name], draft_length=draft_length)


def tokens_a_round(served: Served) -> float:
    alpha, length = served.pooled or (0.0, 0)
    return sum(alpha**l for l in range(length + 1))


def test_steps_one_by_one_leave_no_length_to_be_guessed() -> None:
    """Ten drafts of 4, 2 and 1 tokens in both spellings. Seven accept a token and six a second, of seven that had
    one; of three that had a third one accepts it, and its fourth. The histograms alone would say 1/10 for both."""
    served = read("vllm_answers.jsonl")
    assert (served.drafts, served.drafted, served.accepted) == (10, 3 * 4 + 2 * 2 + 1 + 2 * 4 + 2 * 2, 9 + 6)
    assert [p.survival for p in served.curve] == pytest.approx([7 / 10, 6 / 10, 6 / 10 / 3, 6 / 10 / 3], rel=EXACT)
    assert [(p.visited, p.accepted) for p in served.curve] == [(10, 7), (7, 6), (3, 1), (1, 1)]
    assert served.notes == ()
    assert "how requests differ" in served.source


def test_histograms_of_requests_are_added() -> None:
    """Of 50 steps 24 accept nothing, 10 one, 7 two, 9 three."""
    served = read("vllm_answers_summary.json")
    assert (served.drafts, served.drafted, served.accepted) == (50, 150, 10 + 2 * 7 + 3 * 9)
    assert [p.survival for p in served.curve] == pytest.approx([26 / 50, 16 / 50, 9 / 50], rel=EXACT)
    assert [(p.low, p.high) for p in served.curve] == [
        pytest.approx(proportion_interval(count, 50)) for count in (26, 16, 9)
    ]


@pytest.mark.parametrize(
    ("name", "drafts", "accepted", "survival"),
    [
        ("vllm.log", 300, 597, [220 / 300, 165 / 300, 122 / 300, 90 / 300]),
        ("vllm_rates_last.log", 150, 185, [95 / 150, 60 / 150, 30 / 150]),
        ("vllm_metrics.txt", 500, 870, [380 / 500, 290 / 500, 200 / 500]),
        ("vllm_v0.log", 120, 180, []),
    ],
)
def test_vllm_s_texts_of_every_version(name: str, drafts: int, accepted: int, survival: list[float]) -> None:
    """The V0 engine's lines are since the start: 300 tokens emitted in 120 rounds, 180 of them drafted."""
    served = read(name)
    assert (served.drafts, served.accepted) == (drafts, accepted)
    assert [p.survival for p in served.curve] == pytest.approx(survival, rel=EXACT)
    if not survival:
        assert tokens_a_round(served) == pytest.approx(300 / 120, rel=1e-12)


def test_two_digits_of_two_numbers_tell_the_length_and_what_the_rate_is() -> None:
    """2.31 and 0.58: 2.31/4 is 0.5775, no (2.31 - 1)/K is near; 2.74 and 0.58: (2.74 - 1)/3, no 2.74/(K + 1) is."""
    served = read("sglang.log")
    assert tokens_a_round(served) == pytest.approx((10 * 2.31 + 20 * 2.61 + 10 * 2.39) / 40, rel=1e-12)
    assert served.positions == 3
    assert "accept len/4: the target's own token counts as drafted and as accepted" in served.notes[1]
    later = read("sglang_later.log")
    assert tokens_a_round(later) == pytest.approx((2.74 + 2.50) / 2, rel=1e-12)
    assert later.positions == 3
    assert not any("counts as drafted" in note for note in later.notes)
    with pytest.raises(ParameterError, match="has rates of drafts of 3 tokens, not of 5"):
        read("sglang.log", 5)


def test_intervals_of_a_mean_are_as_wide_as_its_lines_spread() -> None:
    """Equal weights: Student's; the ends are tokens a round, at most 4 with drafts of 3."""
    means = (2.31, 2.41, 2.33, 2.35)
    text = "".join(f"Decode batch, accept len: {mean:.2f}, cuda graph: True\n" for mean in means)
    served = read_server(text, draft_length=3)
    low, high = served.pooled_interval or (0.0, 1.0)
    mean_ends = mean_interval(np.array(means))
    assert [sum(a**l for l in range(4)) for a in (low, high)] == pytest.approx(mean_ends, rel=1e-9)
    alone = read_server(text.partition("\n")[0] + "\n", draft_length=3)
    assert (alone.pooled_interval, tokens_a_round(alone)) == (None, pytest.approx(2.31))


def test_a_length_that_is_not_told_is_asked_for() -> None:
    text = "Decode batch, #running-req: 1, accept len: 1.00, accept rate: 0.00, cuda graph: True\n"
    with pytest.raises(ParameterError, match="lengths 1 to 64 fit its rates: give --pooled-length"):
        read_server(text)
    assert read_server(text, draft_length=4).pooled == (0.0, 4)
    told = "ServerArgs(speculative_num_steps=5, speculative_eagle_topk=4, speculative_num_draft_tokens=8)\n"
    served = read_server(told + text)
    assert served.positions == 5
    assert "drafts are trees" in served.notes[0]
    with pytest.raises(ParameterError, match="tells that its drafts have 5 tokens"):
        read_server(told + text, draft_length=4)


def test_gauges_and_server_info_are_tokens_a_round() -> None:
    assert tokens_a_round(read("sglang_metrics.txt")) == pytest.approx((2.5 + 2.7) / 2, rel=1e-12)
    assert tokens_a_round(read("sglang_server_info.json")) == pytest.approx(2.77, rel=1e-12)
    without = TEXTS["sglang_metrics.txt"].replace("num_steps", "num_other")
    with pytest.raises(ParameterError, match="not how long its drafts are: give --pooled-length"):
        read_server(without)
    assert read_server(without, draft_length=3).pooled == read("sglang_metrics.txt").pooled
    for value in ("NaN", "0.0"):
        with pytest.raises(ParameterError, match="has no drafts yet"):
            read_server(TEXTS["sglang_metrics.txt"].replace("} 2.5", f"}} {value}").replace("} 2.7", f"}} {value}"))


def test_ranks_that_repeat_the_first_are_counted_once() -> None:
    """24 of 48 tokens in 16 drafts of 3: 2.5 tokens a round. The interval is that of 8 of 16 drafts all or nothing."""
    served = read("tensorrt_llm.jsonl")
    assert (served.drafts, served.drafted, served.accepted) == (16, 48, 24)
    assert tokens_a_round(served) == pytest.approx(2.5, rel=1e-12)
    low, high = served.pooled_interval or (0.0, 0.0)
    assert [sum(a**l for l in (1, 2, 3)) / 3 for a in (low, high)] == pytest.approx(proportion_interval(8, 16))


def test_lengths_of_a_schedule_have_one_law() -> None:
    """4 drafts of 4 and 20 of 2 accept 31 tokens: as many as alpha has accepted on average."""
    alpha, longest = read("tensorrt_llm_schedule.json").pooled or (0.0, 0)
    assert 24 * (alpha + alpha**2) + 4 * (alpha**3 + alpha**4) == pytest.approx(31, rel=1e-12)
    assert longest == 4


def test_a_line_that_is_cut_is_left_out() -> None:
    served = read("tensorrt_llm_cut.log")
    assert (served.drafts, served.accepted) == (20, 30)
    assert served.notes[0].startswith("line 2 left out: it is cut short or damaged")


def test_json_over_many_lines_that_is_cut_is_read_as_far_as_it_is_whole() -> None:
    served = read_server(ANSWER[: ANSWER.index('"num_draft_tokens": 30')])
    assert (served.drafts, served.accepted) == (40, 39)
    assert served.notes[0].startswith("line 23 left out: it is cut short or damaged")


def test_llama_cpp_s_lines() -> None:
    """With a mean 311/1.55 are 200 drafts (199.97 to 201.29), 30/1.00 are 30, and the request that had nothing
    accepted drafts 8 tokens as the others do, 459/230 a draft. Without it the statistics count 200, or it is asked."""
    assert tokens_a_round(read("llamacpp.log")) == pytest.approx(1 + 311 / 200, rel=1e-12)
    alone = TEXTS["llamacpp.log"].partition("statistics")[0]
    with pytest.raises(ParameterError, match="accepted and drafted tokens only"):
        read_server(alone)
    assert tokens_a_round(read_server(alone, draft_length=2)) == pytest.approx(1 + 311 / 200, rel=1e-12)
    served = read("llamacpp_means.log")
    assert (served.drafts, served.drafted, served.accepted) == (200 + 30 + 4, 467, 341)
    assert tokens_a_round(served) == pytest.approx(1 + 341 / 234, rel=1e-12)
    assert "--spec-draft-p-min" in served.notes[-1]


def test_llama_cpp_s_statistics_are_those_of_each_run_of_one_draft_model() -> None:
    """Since the start of the server, which starts anew after 300 drafts; two ways to draft are no one acceptance."""
    head = "draft acceptance rate = 0.50000 (   10 accepted /    20 generated)\n"
    told = "statistics {}: #calls = 1, #gen drafts = {}, #acc drafts = 3, #gen tokens = {}, #acc tokens = {}\n"
    runs = [(100, 200, 110), (300, 600, 330), (20, 40, 15)]
    served = read_server(head + "".join(told.format("draft-mtp", *run) for run in runs))
    assert (served.drafts, served.drafted, served.accepted) == (320, 640, 345)
    both = head + told.format("draft", *runs[0]) + told.format("draft-mtp", *runs[1])
    with pytest.raises(ParameterError, match="accepted and drafted tokens only"):
        read_server(both)
    others = head + told.format("ngram_mod", *runs[1]) + told.format("draft", *runs[0])
    assert read_server(others).drafts == 100


def test_llama_cpp_s_rates_by_position_in_either_place() -> None:
    """A published line: 87 drafts, 70, 55 and 42 of which had so many tokens accepted, 167 in all; then 40: 28, 20
    and 12. Of the former two drafts are shorter than 3."""
    served = read("llamacpp_positions.log")
    assert (served.drafts, served.drafted, served.accepted) == (127, 379, 227)
    assert [p.survival for p in served.curve] == pytest.approx([98 / 127, 75 / 127, 54 / 127], rel=EXACT)
    assert "counts them as rejected where they ended" in served.notes[0]
    cut = TEXTS["llamacpp_positions.log"].split("acceptance rate per")[0] + "acceptance rate per position = (0.805, 0.6"
    assert read_server(TEXTS["llamacpp_positions.log"].replace("0.632", "x")).notes[0].startswith("line 2 left out")
    assert read_server(cut + "\n").curve == ()
    assert read_server(cut + "\n").drafts == 87


def test_llama_cpp_s_answers_count_once_for_each_request() -> None:
    """Three requests of 66/150, 42/90 and 12/60, two of them streams whose earlier chunks are in the last."""
    with pytest.raises(ParameterError, match="accepted and drafted tokens only"):
        read("llamacpp_answers.jsonl")
    served = read("llamacpp_answers.jsonl", 3)
    assert (served.drafts, served.drafted, served.accepted) == (100, 300, 120)
    assert tokens_a_round(served) == pytest.approx(1 + 3 * 120 / 300, rel=1e-12)


def test_sglang_s_answers_have_histograms_under_either_name() -> None:
    """40 rounds of three requests accept 0 to 3 tokens 15, 9, 6 and 10 times; of a stream the last chunk counts."""
    served = read("sglang_answers.jsonl")
    assert (served.drafts, served.drafted, served.accepted) == (40, 120, 9 + 2 * 6 + 3 * 10)
    assert [p.survival for p in served.curve] == pytest.approx([25 / 40, 16 / 40, 10 / 40], rel=EXACT)
    assert served.notes == ()


def test_sglang_s_trees_and_adaptive_lengths_count_as_far_as_all_went() -> None:
    """Seven tokens a round in a tree of which no more than three follow each other; then rounds of 3 and of 1."""
    text = '{"meta_info": {"id": "%s", "spec_verify_ct": 10, "spec_draft_token_num": %d, "spec_accept_token_num": %d, '
    text += '"spec_accept_histogram": %s}}\n'
    tree = read_server(text % ("a", 70, 15, [3, 2, 2, 3]))
    assert [p.survival for p in tree.curve] == pytest.approx([0.7, 0.5, 0.3])
    assert "positions beyond 3 are not counted: up to 7 tokens are drafted a round" in tree.notes[0]
    mixed = read_server(text % ("a", 30, 15, [3, 2, 2, 3]) + text % ("b", 10, 5, [5, 5]))
    assert [p.survival for p in mixed.curve] == pytest.approx([12 / 20])


def test_sglang_s_earlier_answers_are_tokens_a_round() -> None:
    """50/20, 66/30 and 27/10 weigh by their rounds: 143/60; or accepted and drafted tokens are told, 15 of 30."""
    with pytest.raises(ParameterError, match="give --pooled-length"):
        read("sglang_answers_earlier.json")
    served = read("sglang_answers_earlier.json", 3)
    assert tokens_a_round(served) == pytest.approx(143 / 60, rel=1e-12)
    assert served.pooled_interval is not None
    pooled = '{"spec_verify_ct": 10, "spec_draft_token_num": 30, "spec_accept_token_num": 15}\n'
    assert tokens_a_round(read_server(pooled)) == pytest.approx(1 + 15 / 10, rel=1e-12)


def test_tensorrt_llm_s_answers_are_not_taken_for_vllm_s() -> None:
    """30 steps accept 0 to 3 tokens 12, 3, 8 and 7 times. The histogram has vLLM's name, the totals have not."""
    served = read("tensorrt_llm_answers.jsonl")
    assert (served.drafts, served.drafted, served.accepted) == (30, 90, 40)
    assert [p.survival for p in served.curve] == pytest.approx([18 / 30, 15 / 30, 7 / 30], rel=EXACT)
    assert served.source.startswith("TensorRT-LLM's answers: ")


def test_a_schedule_of_tensorrt_llm_has_no_bound_and_is_counted_as_far_as_is_known() -> None:
    """60 drafts of 4 and 40 of 1 tokens, where num_spec_tokens is null and none of the fourth tokens was accepted."""
    text = (
        '{"speculative_decoding": {"total_accepted_draft_tokens": %d, "total_draft_tokens": %d, "num_spec_steps": 100, '
    )
    text += '"acceptance_histogram": %s, "num_spec_tokens": null}}\n'
    served = read_server(text % (40 + 2 * 20 + 3 * 10, 280, [30, 40, 20, 10]))
    assert served.curve[0].survival == pytest.approx(0.7)
    assert served.positions >= 3


def test_tensorrt_llm_s_counters_tell_how_many_drafts_had_a_token() -> None:
    """60 drafts of 2 and 40 of 4 tokens: S(3) = 20 of the 40, S(4) = 16 of them. Workers are added."""
    served = read("tensorrt_llm_metrics.txt")
    assert (served.drafts, served.drafted, served.accepted) == (100, 280, 180)
    assert [p.survival for p in served.curve] == pytest.approx([0.8, 0.64, 20 / 40, 16 / 40], rel=EXACT)
    assert [(p.visited, p.accepted) for p in served.curve] == [(100, 80), (80, 64), (26, 20), (20, 16)]
    assert served.notes == ()
    text = TEXTS["tensorrt_llm_metrics.txt"].replace('"}', '",worker="0"}')
    both = read_server(text + text.replace('worker="0"', 'worker="1"'))
    assert (both.drafts, both.accepted) == (200, 360)
    earlier = "trtllm_spec_decode_num_draft_tokens_total 300\ntrtllm_spec_decode_num_accepted_tokens_total 120\n"
    assert read_server(earlier, draft_length=3).drafts == 100
    with pytest.raises(ParameterError, match="accepted and drafted tokens only"):
        read_server(earlier)


def test_tensorrt_llm_s_request_metrics_are_tokens_alone() -> None:
    with pytest.raises(ParameterError, match="accepted and drafted tokens only"):
        read("tensorrt_llm_perf_metrics.json")
    served = read("tensorrt_llm_perf_metrics.json", 3)
    assert (served.drafts, served.drafted, served.accepted) == (50, 150, 60)


def test_llama_cpp_s_counters_have_positions() -> None:
    served = read("llamacpp_metrics.txt")
    assert [p.survival for p in served.curve] == pytest.approx([75 / 106, 46 / 106, 27 / 106], rel=EXACT)
    assert (served.drafts, served.drafted, served.accepted) == (106, 318, 148)


def test_drafts_that_end_for_want_of_confidence_are_not_taken_for_two_lengths() -> None:
    """100 drafts of 1 and of 3 tokens: vLLM chooses by batch size, and S(2) is counted among the 60 longer ones;
    llama.cpp goes on where its draft is sure, and nothing is known of what the others would have had accepted."""
    text = counters(100, 40 + 3 * 60, [70, 40, 25])
    by_batch = read_server(text)
    assert [p.survival for p in by_batch.curve] == pytest.approx([0.7, 40 / 60, 25 / 60], rel=EXACT)
    by_confidence = read_server(text.replace("vllm:", "llamacpp:"))
    assert [p.survival for p in by_confidence.curve] == [0.7]
    assert "beyond position 1 they are not counted" in by_confidence.notes[0]


def prefix_of(server: str) -> str:
    return server.lower().replace("-", "_").replace(".", "")


def test_each_server_has_at_least_five_of_its_texts_here() -> None:
    for server in {reader.server for reader in READERS}:
        assert sum(name.startswith(prefix_of(server)) for name in TEXTS) >= 5


STATISTICS = "draft acceptance rate = 0.50000 (   10 accepted /    20 generated) statistics draft: "
TOKENS_ALONE = {"llamacpp_answers.jsonl", "sglang_answers_earlier.json", "tensorrt_llm_perf_metrics.json"}


def test_every_server_says_what_its_rate_is_and_what_is_not_known() -> None:
    for name in TEXTS:
        served = read(name, 3 if name in TOKENS_ALONE else None)
        server = next(reader.server for reader in READERS if name.startswith(prefix_of(reader.server)))
        assert served.source.startswith(f"{server}'s ")
        assert "; not known: " in served.source
        assert any(note.startswith(f"not known from {server}'s ") for note in served.notes) == bool(served.pooled)


# Texts that mislead

STATS = TEXTS["tensorrt_llm.jsonl"]
LATER = TEXTS["sglang_later.log"]
MEANS = TEXTS["llamacpp_means.log"]
INFO = TEXTS["sglang_server_info.json"]
MISLEADING = [
    (GOOD_LINE + "\n" + LATER, ["several servers (vLLM, SGLang)"]),
    (STATS + MEANS, ["several servers (TensorRT-LLM, llama.cpp)"]),
    (ANSWER.replace('"num_spec_steps": 40', '"num_spec_steps": 41') + "\n", ["line 1 contradicts itself", "41 steps"]),
    (ANSWER.replace("120,", "30,") + "\n", ["line 1 contradicts itself", "39 of 30 tokens"]),
    (ANSWER.replace("[20, 8", "[NaN, 8") + "\n", ["line 1 contradicts itself", "acceptance_histogram = nan"]),
    (ANSWER.replace('"num_draft_tokens"', '"num_tokens"') + "\n", ["line 1", '"num_draft_tokens" is missing']),
    (ANSWER[:300], ["line 10 is cut short or damaged"]),
    (
        TEXTS["vllm_answers.jsonl"].replace("[4,4,4,2,2,1]", "[4,4,4,2,2]"),
        ["line 1 contradicts itself: 5 steps draft and 6"],
    ),
    (TEXTS["vllm_answers.jsonl"].replace("[4,4,4,2,2,1]", "[3,4,4,2,2,2]"), ["line 1", "step 1 accepts 4 of 3"]),
    (STATS.replace('"numAcceptedTokens":13', '"numAcceptedTokens":33'), ["line 2 contradicts itself", "33 of 24"]),
    (STATS.replace(":13,", ":1e9,"), ["line 2 contradicts itself", "numAcceptedTokens = 1000000000.0 is no whole"]),
    (STATS.partition("\n")[0] + "\n", ["has no drafts yet"]),
    (LATER.replace("accept len: 2.74,", "accept len: 0.74,"), ["line 1 contradicts itself", "below the target's own"]),
    (LATER.replace("accept len: 2.74,", "accept len: 2.7").replace("2.50,", "nan,"), ["line 1 is cut"]),
    (LATER.replace("0.58", "0.99"), ["not how long its drafts are: give"]),
    (LATER.replace("2.74", "0.00").replace("2.50", "0.00"), ["has no drafts yet"]),
    (INFO.replace("2.77", "null"), ["has no drafts yet"]),
    (INFO.replace("2.77", "NaN") + "\n", ["line 1 contradicts itself", "avg_spec_accept_length = nan"]),
    (INFO.replace("2.77", "4.2"), ["mean length = 4.2 is outside [1, 4]"]),
    (MEANS.replace("311 accepted", "312 accepted"), ["line 1 contradicts itself", "312 tokens accepted of 399"]),
    (MEANS.replace("2.55", "2.95"), ["line 1 contradicts itself", "a mean acceptance length of 2.95"]),
    (MEANS.split("\n", maxsplit=1)[0][:-20], ["line 1 is cut short or damaged"]),
    (TEXTS["llamacpp_metrics.txt"].replace(" 75", " 300"), ["cut short", "373 of them"]),
    (TEXTS["sglang_metrics.txt"].replace("} 2.5", "} ..."), ["line 3 is cut short or holds no number"]),
    (TEXTS["tensorrt_llm_metrics.txt"].replace(" 64.0", " 164.0"), ["more is drafted or accepted at a position"]),
    (TEXTS["tensorrt_llm_metrics.txt"].replace(" 64.0", " 64.5"), ["line 10 is cut short or holds no count"]),
    (TEXTS["tensorrt_llm_metrics.txt"].replace('"3"', '"x"'), ["line 6: token_position"]),
    (TEXTS["tensorrt_llm_metrics.txt"].replace("drafted_tokens_", "other_"), ["drafted_tokens_total is not"]),
    (TEXTS["tensorrt_llm_answers.jsonl"].replace("[8,0,6,6]", "[8,0,6,5]"), ["line 1 contradicts itself", "20 steps"]),
    (TEXTS["sglang_answers.jsonl"].replace("[6,4,4,6]", "[6,4,4,7]"), ["line 1 contradicts itself", "20 rounds"]),
    (TEXTS["sglang_answers.jsonl"].replace('ct":20', 'ct":-1'), ["line 1 contradicts itself", "no whole number"]),
    (TEXTS["llamacpp_positions.log"].replace("0.632", "0.832"), ["line 2 contradicts itself", "rates by position"]),
    (TEXTS["llamacpp_answers.jsonl"].replace('accepted":66', 'accepted":166'), ["line 1 contradicts itself"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), MISLEADING)
def test_misleading_words_are_told_apart(text: str, parts: list[str]) -> None:
    with pytest.raises(ParameterError) as caught:
        read_server(text)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    for name in ("sglang.log", "llamacpp_means.log", "tensorrt_llm.jsonl", "llamacpp_metrics.txt"):
        served = read_server("\udcff\n" + TEXTS[name])
        assert served.notes[0] == "bytes that are not UTF-8 in line 1"
        assert served.pooled == read(name).pooled
        assert served.curve == read(name).curve


def test_a_model_is_named_for_counters_alone() -> None:
    other = TEXTS["sglang_metrics.txt"].replace('"m"', '"other"').replace("2.5", "1.5").replace("2.7", "1.7")
    with pytest.raises(ParameterError, match=r"counters of several models \(m, other\)"):
        read_server(TEXTS["sglang_metrics.txt"] + other)
    served = read_server(TEXTS["sglang_metrics.txt"] + other, "other")
    assert tokens_a_round(served) == pytest.approx(1.6, rel=1e-12)
    with pytest.raises(ParameterError, match="does not say which model"):
        read_server(LATER, "m")
    assert read_server(counters(10, 30, [9, 8, 7]), "m").drafts == 10


@pytest.mark.parametrize(
    "phrase",
    [
        '[{"specDecodingStats":',
        "[[",
        "draft acceptance = 0.5",
        "accept len: 2.31",
        "sglang:spec_",
        '{"a":[',
        STATISTICS,
        '{"timings":{"draft_n":',
        '{"spec_verify_ct":',
    ],
)
def test_reading_is_linear_in_every_server_s_text(phrase: str) -> None:
    """A phrase 30,000 times in one line and in as many: a square of that would take minutes."""
    start = time.process_time()
    ending = '"specDecodingStats"' if phrase[0] in "[{" else ""
    for text in (phrase * 30_000, (phrase + "\n") * 30_000):
        with suppress(ParameterError):
            read_server(text + ending)
    assert time.process_time() - start < 10.0
