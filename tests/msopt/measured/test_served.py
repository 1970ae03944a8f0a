"""vLLM's log lines and Prometheus text: counts recovered exactly, curves, pooled rates, and texts that mislead.

The lines are written here by the formats of vllm/v1/spec_decode/metrics.py from simulated drafts.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.errors import ParameterError
from msopt.measured.served import Served, pooled_acceptance
from msopt.measured.servers import read_server
from msopt.numerics.intervals import proportion_interval
from tests.tolerances import EXACT

PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "published_curves.json").read_text())
COUNTED = [case for case in PUBLISHED if "drafts" in case]


def line(drafts: int, drafted: int, at: Sequence[int], *, head: str = "INFO 09-04 11:01:16 [metrics.py:125] ") -> str:
    accepted = sum(at)
    rates = ", ".join(f"{count / drafts:.3f}" for count in at)
    return (
        f"{head}SpecDecoding metrics: Mean acceptance length: {1 + accepted / drafts:.2f}, "
        f"Accepted throughput: {accepted / 10:.2f} tokens/s, Drafted throughput: {drafted / 10:.2f} tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )


def counters(
    drafts: int, drafted: int, at: Sequence[int], model: str = "m", engine: str = "0", **leave_out: bool
) -> str:
    labels = f'engine="{engine}",model_name="{model}"'
    rows = {
        "drafts": [f"vllm:spec_decode_num_drafts_total{{{labels}}} {float(drafts)}"],
        "draft_tokens": [f"vllm:spec_decode_num_draft_tokens_total{{{labels}}} {drafted:.6e}"],
        "accepted": [f"vllm:spec_decode_num_accepted_tokens_total{{{labels}}} {sum(at)}"],
        "per_pos": [
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="{l}"}} {count}.0'
            for l, count in enumerate(at)
        ],
    }
    return "\n".join(row for key, held in rows.items() if not leave_out.get(key) for row in held) + "\n"


NOISE = """\
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.75e+09
vllm:num_requests_running{engine="0",model_name="m"} 2.0
"""


@st.composite
def intervals(draw: st.DrawFn, positions: int) -> tuple[int, list[int]]:
    """Drafts of one interval, all of one length, and how many accepted each position."""
    drafts = draw(st.integers(1, 900))
    at = sorted(draw(st.lists(st.integers(0, drafts), min_size=positions, max_size=positions)), reverse=True)
    return drafts, at


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[int, list[int]]]:
    positions = draw(st.integers(1, 9))
    return draw(st.lists(intervals(positions), min_size=1, max_size=4))


@given(logs())
def test_counts_of_log_lines_are_recovered_and_added(parts: list[tuple[int, list[int]]]) -> None:
    """A line does not print its number of drafts; up to 900 of them (half a digit of a rate is less than half a
    count) it follows from what it prints. Without any accepted token, too."""
    positions = len(parts[0][1])
    text = "\n".join(["INFO starting", *(line(n, n * positions, at) for n, at in parts), "INFO done"])
    served = read_server(text)
    total = [sum(at[l] for _, at in parts) for l in range(positions)]
    assert served.drafts == sum(n for n, _ in parts)
    assert (served.accepted, served.drafted) == (sum(total), served.drafts * positions)
    assert served.notes == ()
    check_curve(served, served.drafts, total)


@given(st.integers(1000, 10**6), st.floats(0.1, 0.99), st.integers(2, 8))
def test_long_intervals_are_as_exact_as_their_rates(drafts: int, alpha: float, positions: int) -> None:
    """Three digits of a rate no longer tell single counts apart; with drafts of one length their number still is."""
    at = [int(drafts * alpha**l) for l in range(1, positions + 1)]
    for drafted in (drafts * positions, drafts * positions - 1):
        served = read_server(line(drafts, drafted, at))
        assert served.drafts == pytest.approx(drafts, rel=0.05)
        assert served.drafts == drafts or drafted < drafts * positions
        curve = [p.survival for p in served.curve] + [0.0] * (positions - len(served.curve))
        assert curve == pytest.approx([count / drafts for count in at], abs=1.1e-3)


@given(logs())
def test_counters_of_several_engines_are_added(parts: list[tuple[int, list[int]]]) -> None:
    positions = len(parts[0][1])
    text = NOISE + "".join(counters(n, n * positions, at, engine=str(e)) for e, (n, at) in enumerate(parts))
    total = [sum(at[l] for _, at in parts) for l in range(positions)]
    check_curve(read_server(text), sum(n for n, _ in parts), total)


def check_curve(served: Served, drafts: int, total: Sequence[int]) -> None:
    last = next((l for l, count in enumerate(total, 1) if count == 0), len(total))
    assert len(served.curve) == last
    for point, count in zip(served.curve, total, strict=False):
        assert point.survival == pytest.approx(count / drafts, rel=EXACT)
        assert (point.low, point.high) == pytest.approx(proportion_interval(count, drafts), rel=1e-9, abs=1e-12)


def test_drafts_that_shorten_with_the_batch_count_as_far_as_they_went() -> None:
    """Intervals of 5 tokens and of 2: positions 3 to 5 are judged by the first alone."""
    text = line(100, 500, [80, 60, 45, 30, 20]) + "\n" + line(400, 800, [300, 200, 0, 0, 0])
    served = read_server(text)
    assert [(p.visited, p.accepted) for p in served.curve] == [(500, 380), (380, 260), (60, 45), (45, 30), (30, 20)]
    assert served.curve[2].survival == pytest.approx(260 / 500 * 45 / 60, rel=EXACT)
    assert served.notes == ()


@pytest.mark.parametrize("case", COUNTED, ids=lambda case: case["pair"])
def test_published_serving_logs(case: dict[str, Any]) -> None:
    """The number of drafts, and the counts that add up to the tokens accepted."""
    curve = case["curve"]
    text = (
        f"SpecDecoding metrics: Mean acceptance length: {case['mean']}, Accepted: {case['accepted']} tokens, "
        f"Drafted: {case['drafted']} tokens, Per-position acceptance rate: {', '.join(map(str, curve))}, "
        f"Avg Draft acceptance rate: {100 * case['accepted'] / case['drafted']:.1f}%"
    )
    served = read_server(f"\x1b[36m(APIServer pid=1)\x1b[0;0m {text}\n")
    assert served.drafts == case["drafts"]
    assert sum(p.accepted for p in served.curve) == served.accepted == case["accepted"]
    assert [p.survival for p in served.curve] == pytest.approx(curve, abs=5.001e-4)
    assert bool(served.notes) == (served.drafted != served.drafts * len(curve))


def test_accepted_of_drafted_is_no_acceptance() -> None:
    case = COUNTED[0]
    served = read_server(line(23, 161, [17, 11, 6, 4, 3, 2, 1]))
    assert served.accepted / served.drafted == pytest.approx(0.273, abs=5e-4)
    assert sum(p.accepted for p in served.curve) / sum(p.visited for p in served.curve) == pytest.approx(44 / 66)
    assert 1 + sum(p.survival for p in served.curve) == pytest.approx(case["mean"], abs=5e-3)


# Pooled rates


@given(st.floats(0.0, 1.0), st.integers(1, 40))
def test_the_pooled_rate_of_a_geometric_law_gives_its_alpha_back(alpha: float, length: int) -> None:
    pooled = sum(alpha**l for l in range(1, length + 1)) / length
    assert pooled_acceptance(min(pooled, 1.0), length) == pytest.approx(alpha, rel=1e-9, abs=1e-12)


def test_tokens_per_round_are_kept_by_the_pooled_law() -> None:
    alpha = pooled_acceptance(0.42, 8)
    assert (1 - alpha**9) / (1 - alpha) == pytest.approx(1 + 8 * 0.42, rel=1e-12)


@pytest.mark.parametrize(("pooled", "length", "part"), [(1.2, 3, r"pooled rate = 1\.2"), (0.5, 0, "draft length = 0")])
def test_bad_pooled_rates(pooled: float, length: int, part: str) -> None:
    with pytest.raises(ParameterError, match=part):
        pooled_acceptance(pooled, length)
    with pytest.raises(ParameterError):
        pooled_acceptance(float("nan"), 3)


def test_texts_without_positions_give_a_pooled_rate() -> None:
    at = [80, 64, 51]
    pooled = pooled_acceptance(sum(at) / 300, 3)
    by_counters = read_server(counters(100, 300, at, per_pos=True))
    assert by_counters.curve == ()
    assert by_counters.pooled == (pytest.approx(pooled), 3)
    assert "no rates by position" in by_counters.notes[0]
    head, _, tail = line(100, 300, at).partition("Per-position")
    by_log = read_server(head + tail[tail.index("Avg") :])
    assert by_log.pooled[0] == pytest.approx(pooled, rel=1e-6)
    assert by_log.law(2).mean == pytest.approx([pooled] * 2, rel=1e-6)


# Laws


def test_the_law_of_every_device() -> None:
    law = read_server(counters(100, 300, [80, 64, 32])).law(3)
    assert law.survival(np.full(3, 2.0)) == pytest.approx([0.64] * 3)
    assert law.survival(np.full(3, 4.0)) == pytest.approx([0.16] * 3), "continued with the last ratio"


# Texts that mislead

GOOD_LINE = line(23, 161, [17, 11, 6, 4, 3, 2, 1])
GOOD_COUNTERS = counters(100, 300, [80, 64, 32])
MISLEADING = [
    ("", ["neither"]),
    ("INFO Engine 000: Avg prompt throughput: 1.0 tokens/s", ["neither", "no drafts were verified"]),
    (GOOD_LINE[:-40], ["line 1 is cut short"]),
    ("INFO\n" + GOOD_LINE[:90] + "\n" + GOOD_LINE[:110], ["line 2 is cut short"]),
    (GOOD_LINE.replace("Accepted: 44", "Accepted: 99"), ["line 1 contradicts itself"]),
    (GOOD_LINE.replace("0.478", "0.978"), ["line 1 contradicts itself"]),
    (GOOD_LINE.replace("0.478", "0.4.78"), ["line 1 is cut short or damaged", "Per-position", "0.4.78"]),
    (GOOD_LINE.replace("0.739", "1.739"), ["line 1 contradicts itself", "above 1"]),
    (GOOD_LINE.replace("27.3%", "72.3%"), ["line 1 contradicts itself", "44 tokens accepted of 161", "72.3%"]),
    (GOOD_LINE.replace("Accepted: 44", "Accepted: 162"), ["line 1 contradicts itself", "162 tokens accepted of 161"]),
    (GOOD_LINE.replace("2.91", "nan"), ["line 1 contradicts itself", "length: nan"]),
    (GOOD_LINE.replace("2.91", "0.91"), ["line 1 contradicts itself", "0.91"]),
    (GOOD_LINE + "\n" + line(10, 30, [8, 6, 4]), ["lines of 3 and of 7 positions"]),
    (
        "INFO Initializing a V1 LLM engine (v0.11) with config: model='a/b', speculative_config=None\n"
        "INFO Initializing a V1 LLM engine (v0.11) with config: model='c', speculative_config=None\n" + GOOD_LINE,
        ["several models (a/b, c)"],
    ),
    (line(1, 3, [0, 0, 0]).replace("Drafted: 3", "Drafted: 0"), ["no drafts yet"]),
    (counters(0, 0, [0, 0]), ["no drafts yet"]),
    (GOOD_COUNTERS + counters(9, 27, [8, 6, 4], model="other"), ["several models (m, other)", "name one"]),
    (counters(100, 300, [80, 64, 32], draft_tokens=True), ["cut short", "draft_tokens_total is not"]),
    (GOOD_COUNTERS.replace('position="1"', 'position="7"'), ["cut short", "by position"]),
    (GOOD_COUNTERS[: GOOD_COUNTERS.index('position="2"')] + 'posit', ["cut short", "no line break"]),
    (GOOD_COUNTERS[: GOOD_COUNTERS.index('position="2"')] + "posit\n", ["line 6 is cut short"]),
    (GOOD_COUNTERS.rpartition("vllm:")[0], ["cut short", "176 tokens were accepted", "144 of them"]),
    (GOOD_COUNTERS + GOOD_COUNTERS, ["line 7 gives a counter a second time"]),
    (counters(70, 210, [80, 64, 32]), ["contradicts itself"]),
    (GOOD_COUNTERS.replace("80.0", "80.5"), ["line 4", "no count"]),
    (GOOD_COUNTERS.replace(" 80.0", " NaN"), ["line 4", "no count"]),
    (GOOD_COUNTERS.replace(" 80.0", " -80.0"), ["line 4", "no count"]),
    (GOOD_COUNTERS.replace(" 80.0", " 1e300"), ["line 4", "no count", "1e+15"]),
    (GOOD_COUNTERS.replace(" 80.0", " " + "9" * 5000), ["line 4", "no count"]),
    (GOOD_COUNTERS.replace(" 80.0", " ..."), ["line 4", "no count"]),
    (GOOD_COUNTERS.replace('position="1"', 'position="' + "1" * 5000 + '"'), ["line 5", "position"]),
    (counters(100, 150, [80, 64, 32]), ["contradicts itself", "176 tokens accepted of 150"]),
    (counters(100, 900, [80, 64, 32]), ["contradicts itself", "900 tokens drafted in 100 drafts of at most 3"]),
    ("\udcff\udcfeI\0N\0", ["UTF-16"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), MISLEADING)
def test_misleading_texts_are_told_apart(text: str, parts: list[str]) -> None:
    with pytest.raises(ParameterError) as caught:
        read_server(text)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_one_model_of_several() -> None:
    text = GOOD_COUNTERS + counters(10, 30, [9, 8, 7], model="other")
    assert read_server(text, "other").drafts == 10
    with pytest.raises(ParameterError, match='no counters of model "third"; it has m, other'):
        read_server(text, "third")
    with pytest.raises(ParameterError, match="does not say which model"):
        read_server(GOOD_LINE, "m")


def test_no_cut_of_a_text_gives_anything_but_counts_or_a_parameter_error() -> None:
    for text in (GOOD_LINE, NOISE + GOOD_COUNTERS):
        for end in range(len(text)):
            try:
                served = read_server(text[:end])
            except ParameterError:
                continue
            assert served.accepted in (44, 176), text[:end]
