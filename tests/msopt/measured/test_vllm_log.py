"""Logs of every version of vLLM, and what is left of one that is damaged.

The formats are those of vllm/spec_decode/metrics.py (the V0 engine) and vllm/v1/spec_decode/metrics.py, the numbers
made up where no test says that they were published.
"""

import time

import pytest

from msopt.errors import ParameterError
from msopt.measured.served import Served
from msopt.measured.servers import read_server
from tests.msopt.measured.test_served import GOOD_LINE, line
from tests.tolerances import EXACT


def of_version_0_9(drafts: int, drafted: int, at: list[int]) -> str:
    accepted = sum(at)
    return (
        "INFO 05-11 20:12:38 [metrics.py:84] SpecDecoding metrics: Draft acceptance rate: "
        f"{100 * accepted / drafted:.1f}%, Mean acceptance length: {1 + accepted / drafts:.2f}, Accepted: {accepted} "
        f"tokens, Drafted: {drafted} tokens, Per-position acceptance rate: "
        + ", ".join(f"{count / drafts:.3f}" for count in at)
    )


def of_version_0_8(drafted: int, accepted: int) -> str:
    rate = f"{100 * accepted / drafted:.1f}" if drafted else "nan"
    return (
        f"INFO 04-01 10:00:00 [metrics.py:53] SpecDecoding metrics: Draft acceptance rate: {rate}%, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens"
    )


def of_version_0_6(length: int, drafts: int, accepted: int, emitted: int) -> str:
    return (
        f"INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: "
        f"{accepted / (length * drafts):.3f}, System efficiency: {emitted / ((length + 1) * drafts):.3f}, Number of "
        f"speculative tokens: {length}, Number of accepted tokens: {accepted}, Number of draft tokens: "
        f"{length * drafts}, Number of emitted tokens: {emitted}."
    )


def survival(served: Served) -> list[float]:
    return [point.survival for point in served.curve]


# Versions


def test_rates_at_the_end_of_the_line() -> None:
    """A published line: 387 tokens in drafts of 3 are 129 drafts, and 150 = 70 + 46 + 34."""
    text = of_version_0_9(129, 387, [70, 46, 34])
    assert "Draft acceptance rate: 38.8%, Mean acceptance length: 2.16, Accepted: 150 tokens, Drafted: 387" in text
    assert text.endswith("Per-position acceptance rate: 0.543, 0.357, 0.264")
    for ending in ("", "\n", "\r\n", '\\n","stream":"stderr"}\n'):
        served = read_server(text + ending)
        assert (served.drafts, served.accepted, served.drafted, served.notes) == (129, 150, 387, ())
        assert survival(served) == pytest.approx([70 / 129, 46 / 129, 34 / 129], rel=EXACT)


def test_no_cut_of_a_line_that_ends_with_rates_is_taken_for_the_whole() -> None:
    """With a last rate of 0.000, too: less digits, a comma, a position less all show."""
    for at in ([70, 46, 34], [70, 46, 0]):
        whole = of_version_0_9(129, 387, at)
        for end in range(len(whole)):
            with pytest.raises(ParameterError):
                read_server(whole[:end])
        assert read_server(f"{whole}\n{whole[:-2]}").drafts == 129
        assert read_server(f"{whole}\n{whole[:-2]}").notes[0].startswith("line 2 left out")


def test_tokens_alone_need_a_draft_length() -> None:
    """123 of 200 tokens in drafts of 4 are 1 + 2.46 tokens a round."""
    text = of_version_0_8(0, 0) + "\n" + of_version_0_8(200, 123) + "\n"
    assert "rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens" in text
    with pytest.raises(ParameterError, match="accepted and drafted tokens only: give the length"):
        read_server(text)
    served = read_server(text, draft_length=4)
    assert (served.drafts, served.accepted, served.drafted) == (50, 123, 200)
    assert served.law(1).expected_tokens(4.0)[0] == pytest.approx(1.0 + 4 * 123 / 200, rel=1e-12)
    with pytest.raises(ParameterError, match="no drafts yet"):
        read_server(of_version_0_8(0, 0) + "\n")
    earliest = "Speculative metrics: Draft acceptance rate: 0.615, Number of accepted tokens: 123, "
    earliest += "Number of draft tokens: 200, "
    assert read_server(earliest, draft_length=4) == served
    for length in (0, 10**9):
        with pytest.raises(ParameterError, match="pooled length"):
            read_server(text, draft_length=length)
    with pytest.raises(ParameterError, match="tells how long its drafts are"):
        read_server(GOOD_LINE, draft_length=7)


def test_emitted_over_drafts_where_the_rate_counts_behind_rejections() -> None:
    """A published line: 13311/3 = 4437 drafts emit 10616 tokens, 2.3926 a round; its rate 0.642 would give 2.926."""
    text = of_version_0_6(3, 4437, 8547, 10616)
    assert "rate: 0.642, System efficiency: 0.598, Number of speculative tokens: 3, Number of accepted" in text
    served = read_server(text)
    alpha, length = served.pooled or (0.0, 0)
    assert 1.0 + alpha + alpha**2 + alpha**3 == pytest.approx(10616 / 4437, rel=1e-12)
    assert (round(alpha, 4), length) == (0.6626, 3)
    assert "behind a rejection" in served.notes[0]
    earlier = text.replace("draft tokens:", "draft tokens tokens:").replace("emitted tokens:", "emitted tokens tokens:")
    assert read_server(earlier) == served, "version 0.5 stutters"


def test_lines_since_the_start_count_once_for_each_run() -> None:
    runs = [(10, 12, 20), (40, 50, 80), (40, 50, 80), (5, 6, 9), (30, 31, 55)]  # the fourth after a restart
    served = read_server("\n".join(of_version_0_6(2, *run) for run in runs))
    assert (served.drafts, served.drafted, served.accepted) == (70, 140, 80 - 40 + 55 - 30)


@pytest.mark.parametrize(
    ("emitted", "part"), [(4000, "4000 tokens emitted for 13311 drafted"), (17749, "17749 tokens emitted")]
)
def test_emitted_tokens_that_no_drafts_emit(emitted: int, part: str) -> None:
    """At least one for each draft, at most its length and one more."""
    with pytest.raises(ParameterError, match="line 1 contradicts itself: " + part):
        read_server(of_version_0_6(3, 4437, 8547, emitted))


def test_counters_of_emitted_tokens() -> None:
    text = "".join(
        f'vllm:spec_decode_num_{name}_total{{model_name="m"}} {count}\n'
        for name, count in (("accepted_tokens", 8547.0), ("draft_tokens", 13311.0), ("emitted_tokens", 10616.0))
    )
    with pytest.raises(ParameterError, match="--pooled-length"):
        read_server(text)
    assert read_server(text, draft_length=3).pooled == read_server(of_version_0_6(3, 4437, 8547, 10616)).pooled
    with pytest.raises(ParameterError, match="not of drafts of 2 tokens"):
        read_server(text, draft_length=2)


def test_lines_that_tell_less_are_left_out_and_told() -> None:
    served = read_server(of_version_0_8(200, 123) + "\n" + GOOD_LINE + "\n")
    assert served.drafts == 23
    assert served.notes == ("1 of 2 lines that tell less than the others are left out",)


# Damage


def undecoded(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="surrogateescape")


@pytest.mark.parametrize(
    ("text", "drafts", "notes"),
    [
        (GOOD_LINE + "\n" + GOOD_LINE[:120], 23, ["line 2 left out"]),
        (GOOD_LINE + "\n" + GOOD_LINE[:150] + "\n" + GOOD_LINE + "\n", 46, ["line 2 left out"]),
        (GOOD_LINE[:120] + GOOD_LINE, 23, ["line 1 left out"]),
        (undecoded(b"INFO\xff\n" + GOOD_LINE.encode()), 23, ["bytes that are not UTF-8 in line 1"]),
        (
            undecoded((GOOD_LINE + "\n").encode() * 2).replace("Accepted: 44", "Accepted: 4\udcff", 1),
            23,
            ["bytes that are not UTF-8 in line 1", 'line 1 left out: it is cut short or damaged: "Accepted: 4'],
        ),
        (undecoded(b"\xef\xbb\xbf") + "a\rb\u2028c\n" + GOOD_LINE[:99] + "\n" + GOOD_LINE, 23, ["line 2 left out"]),
        ("\0" * 4096 + GOOD_LINE + "\n", 23, []),
        (GOOD_LINE + ("\n" + GOOD_LINE[:130]) * 8, 23, ["lines 2, 3, 4, 5, 6 and 3 more left out: the first"]),
    ],
)  # fmt: skip
def test_what_can_be_read_is_read_and_the_rest_told(text: str, drafts: int, notes: list[str]) -> None:
    served = read_server(text)
    assert served.drafts == drafts
    assert len(served.notes) == len(notes)
    assert all(part in note for part, note in zip(notes, served.notes, strict=True)), served.notes


def test_a_last_line_without_a_break_may_be_cut_where_no_field_shows_it() -> None:
    """Without a break 44 may be the beginning of 441; with one, the line is whole and contradicts itself."""
    wrong = GOOD_LINE.replace("Accepted: 44", "Accepted: 45")
    assert read_server(f"{GOOD_LINE}\n{wrong}").drafts == 23
    with pytest.raises(ParameterError, match="line 2 contradicts itself"):
        read_server(f"{GOOD_LINE}\n{wrong}\n")


NUMBERS = ("...", "9" * 5000, "1" + "0" * 300, "1e300", "-1", "inf", "٤", "")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:6])
@pytest.mark.parametrize("field", ["Accepted: 44", "Drafted: 161", "length: 2.91", "0.478", "rate: 27.3", "0.043"])
def test_a_number_that_is_none_is_not_counted(field: str, number: str) -> None:
    bad = GOOD_LINE.replace(field, field.rpartition(" ")[0] + " " + number if " " in field else number)
    assert bad != GOOD_LINE
    with pytest.raises(ParameterError, match=r"line 1 (is cut short or damaged|contradicts itself)"):
        read_server(bad)


def test_counts_at_the_end_of_what_is_read() -> None:
    """Tens of millions of millions of drafts: no list of that many numbers is made."""
    drafts = 10**14
    served = read_server(line(drafts, 3 * drafts - 7, [drafts // 2, drafts // 4, drafts // 8]))
    assert survival(served) == pytest.approx([0.5, 0.25, 0.125], rel=2e-2)


@pytest.mark.parametrize(
    "phrase",
    [
        "Initializing a V1 LLM engine ",
        "SpecDecoding metrics: ",
        "0.500, ",
        "num_speculative_tokens_per_batch_size: [[1, 2, 3], ",
        "\x1b[0",
        'vllm:spec_decode_num_drafts_total{a="b',
    ],
)
def test_reading_is_linear(phrase: str) -> None:
    """A phrase 60,000 times in one line: a square of that would take minutes."""
    start = time.process_time()
    for text in (phrase * 60_000, GOOD_LINE.replace("0.739, ", phrase * 60_000)):
        with pytest.raises(ParameterError):
            read_server(text)
    assert time.process_time() - start < 10.0


# What a log says of the server


ARGUMENTS = (
    "INFO non-default args: {'model_tag': 'a/b', 'speculative_config': {'method': 'draft_model', "
    "'num_speculative_tokens': 7, 'draft_sample_method': 'probabilistic'}}\n"
)


def test_how_the_server_drafts() -> None:
    assert read_server(GOOD_LINE).draft_sample_method is None
    assert read_server(ARGUMENTS + GOOD_LINE).draft_sample_method == "probabilistic"
    greedy = ARGUMENTS.replace("probabilistic", "greedy")
    assert read_server(greedy + GOOD_LINE).draft_sample_method == "greedy"
    assert read_server(ARGUMENTS + greedy + GOOD_LINE).draft_sample_method is None, "two servers say two things"


def test_models_of_every_version() -> None:
    engines = [
        "INFO Initializing an LLM engine (v0.6.3) with config: model='a', speculative_config=None",
        "INFO Initializing a V1 LLM engine (v0.11) with config: model='b', speculative_config=None",
    ]
    assert read_server("\n".join([*engines[:1] * 3, GOOD_LINE])).drafts == 23
    with pytest.raises(ParameterError, match=r"several models \(a, b\)"):
        read_server("\n".join([*engines, GOOD_LINE]))
    many = [f"Initializing a V1 LLM engine with config: model='{'m' * 5000}{k}'" for k in range(20)]
    with pytest.raises(ParameterError, match="and 12 more") as caught:
        read_server("\n".join([*many, GOOD_LINE]))
    assert len(str(caught.value)) < 1000
