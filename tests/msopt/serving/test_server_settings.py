"""The settings of servers: what each one reads out of its own, against the lengths that the schedule means."""

import re
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.serving.batch_lengths import NEAR, Schedule, schedule
from msopt.serving.server_settings import SETTINGS, pauses, setting_ranges
from tests.msopt.serving.test_batch_lengths import CURVE, VERIFY, affine, step
from tests.tolerances import EXACT


def found(min_length: int = 0, tolerance: float = 0.0, **verify: float) -> Schedule:
    law = Acceptance.of([0.0], curves=[CURVE])
    return schedule(law, affine(VERIFY | verify), step, range(1, 129), 8, tolerance, min_length)


def tensorrt_reads(text: str, batch: int) -> int:
    """The length of the least key that is no less than the batch size; above all keys there is no draft."""
    inside = re.search(r"draft_len_schedule: \{(.*)\}", text)
    assert inside
    keys = {int(key): int(value) for key, value in (pair.split(": ") for pair in inside[1].split(", "))}
    return next((keys[key] for key in sorted(keys) if batch <= key), 0)


def test_tensorrt_reads_the_lengths_of_the_schedule() -> None:
    at = found(verify_per_token_s=0.002)
    assert len(at.ranges) > 3, "there is something to read"
    text = SETTINGS["tensorrt-llm"].write("a/draft", at.ranges)
    assert [tensorrt_reads(text, int(b)) for b in at.batch_sizes] == at.draft_length.tolist()
    assert f"max_draft_len: {at.draft_length[0]}\n" in text, "it wants the first to be the greatest"
    assert 'speculative_model: "a/draft"' in text


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=5))
def test_tensorrt_s_keys_cover_gaps_and_never_rise_above_the_first(parts: list[tuple[int, int, int]]) -> None:
    ranges, first = [], 1
    for width, gap, length in parts:
        ranges.append((first, first + width - 1, length))
        first += width + gap
    text = SETTINGS["tensorrt-llm"].write("d", ranges)
    held = 0
    for batch in range(1, ranges[-1][1] + 1):
        held = next((length for low, high, length in ranges if low <= batch <= high), held)
        assert tensorrt_reads(text, batch) == min(held, ranges[0][2])
    cautions = " ".join(SETTINGS["tensorrt-llm"].cautions(ranges))
    assert ("wants the first length to be the greatest" in cautions) == any(n > ranges[0][2] for _, _, n in ranges)
    assert ("drafts nothing above" in cautions) == bool(ranges[-1][2])


def test_one_length_loses_least_where_it_loses_most() -> None:
    at = found(verify_per_token_s=0.002)
    worst = [
        max(1 - row[length] / row.max() for row in at.goodput_by_length)
        for length in range(at.goodput_by_length.shape[1])
    ]
    assert at.one_length == int(np.argmin(worst))
    assert setting_ranges(at, by_batch=False) == [(1, 128, at.one_length)]
    assert setting_ranges(at, by_batch=True) == at.ranges


@pytest.mark.parametrize(
    ("server", "option"), [("sglang", "--speculative-num-steps"), ("llama.cpp", "--spec-draft-n-max")]
)
def test_one_length_as_the_server_s_own_argument(server: str, option: str) -> None:
    words = shlex.split(SETTINGS[server].write("my draft", [(1, 64, 5)]))
    assert words[words.index(option) + 1] == "5"
    assert "my draft" in words
    if server == "sglang":
        assert words[words.index("--speculative-num-draft-tokens") + 1] == "6", "the target's own token counts"
    else:
        assert words[words.index("--spec-draft-p-min") + 1] == "0", "no draft ends early"
    assert SETTINGS[server].cautions([(1, 64, 5)])


def test_a_floor_of_one_never_pauses_and_is_the_best_of_the_rest() -> None:
    free, floored = found(verify_per_token_s=0.01), found(1, verify_per_token_s=0.01)
    assert pauses(free.ranges)
    assert not pauses(floored.ranges)
    assert floored.draft_length.min() == 1
    rest = floored.goodput_by_length[:, 1:]
    assert floored.best_length.tolist() == (1 + rest.argmax(axis=1)).tolist()
    assert floored.goodput == pytest.approx(rest.max(axis=1), rel=EXACT)
    assert floored.goodput_by_length == pytest.approx(free.goodput_by_length), "what no drafts yield is still known"
    assert floored.one_length >= 1
    with pytest.raises(ParameterError, match="min = 9"):
        found(9)


def test_lengths_as_good_as_the_best_are_told() -> None:
    at = found(1)
    for row, near, best in zip(at.goodput_by_length, at.near_best, at.best_length, strict=True):
        assert near.tolist() == [n >= 1 and value >= (1 - NEAR) * row[1:].max() for n, value in enumerate(row)]
        assert near[best]
    assert at.near_best.sum(axis=1).max() > 1
