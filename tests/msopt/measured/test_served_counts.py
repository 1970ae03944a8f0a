"""Drafts of unlike lengths within one interval: which positions count, and by how many drafts."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.measured.served_counts import Counts, curve_of
from msopt.measured.servers import read_server
from tests.msopt.measured.test_served import counters, line
from tests.tolerances import EXACT

S = (0.8, 0.64, 0.5, 0.4)


def mixed(drafts: dict[int, int], survival: Sequence[float], positions: int) -> Counts:
    """What an interval counts on average that drafted so often (values) so many tokens (keys)."""
    reach = [sum(n for length, n in drafts.items() if length >= place) for place in range(1, positions + 1)]
    at = tuple(round(n * s) for n, s in zip(reach, survival, strict=True))
    tokens = sum(length * n for length, n in drafts.items())
    return Counts(sum(drafts.values()), tokens, sum(at), at)


def curve(counts: Sequence[Counts], told: Sequence[int] = ()) -> list[float]:
    return [point.survival for point in curve_of(counts, told)[0]]


def test_two_lengths_follow_from_the_totals() -> None:
    """100 drafts of 4 and 300 of 2, as printed: no other two lengths give 1000 tokens and rates that do not rise."""
    text = line(400, 1000, [301, 237, 44, 34])
    assert "Per-position acceptance rate: 0.752, 0.593, 0.110, 0.085" in text
    for served in (read_server(text), read_server(counters(400, 1000, [301, 237, 44, 34]))):
        assert [p.survival for p in served.curve] == pytest.approx(
            [301 / 400, 237 / 400, 44 / 100, 34 / 100], rel=EXACT
        )
        assert served.curve[2].low < 0.44 < served.curve[2].high
        assert served.curve[2].high - served.curve[2].low > 0.19, "the interval is that of 100 drafts"
        assert served.notes == (
            "400 of 400 drafts are of intervals taken to mix drafts of 2 and of 4 tokens, as the tokens drafted tell; "
            "a position counts the drafts that reached it",
        )
        assert served.positions == 4


def test_lengths_that_the_totals_leave_open_count_as_far_as_all_went() -> None:
    """300 of 4 and 100 of 2 are as many tokens as 333 of 4 and 67 of 1."""
    part = mixed({4: 300, 2: 100}, S, 4)
    assert curve([part]) == pytest.approx([0.8])
    assert "not known; beyond position 1" in curve_of([part])[1][0]
    assert curve([part], told=[4, 2]) == pytest.approx(S)
    assert curve([part, mixed({2: 50}, S, 4)]) == pytest.approx(S), "an interval of one length tells it"
    assert curve([part, mixed({4: 100, 2: 300}, S, 4)]) == pytest.approx(S), "one pair has to fit both"


def test_three_lengths_count_as_far_as_the_shortest() -> None:
    part = mixed({5: 300, 3: 300, 2: 400}, (*S, 0.3), 5)
    known = [mixed({length: 100}, (*S, 0.3), 5) for length in (5, 3, 2)]
    assert curve([part, *known])[:2] == pytest.approx(S[:2], rel=1e-3)
    assert curve([part, *known]) == pytest.approx([*S, 0.3], rel=1e-2)
    assert curve([part], told=[5, 3, 2]) == pytest.approx(S[:2])


def test_the_server_s_arguments_tell_its_lengths() -> None:
    part = mixed({4: 300, 2: 100}, S, 4)
    head = (
        "INFO non-default args: {'speculative_config': {'num_speculative_tokens': 4, "
        "'num_speculative_tokens_per_batch_size': [[1, 16, 4], [17, 64, 2], [65, 256, 0]]}}\n"
    )
    text = line(400, part.drafted, part.at)
    assert len(read_server(text).curve) == 1
    assert [p.survival for p in read_server(head + text).curve] == pytest.approx(S, abs=1e-3)


def test_a_few_that_end_early_count_as_the_others() -> None:
    """10 of 400 drafts are one token short, as at the end of a text."""
    part = mixed({4: 390, 3: 10}, S, 4)
    assert curve([part]) == pytest.approx([0.8, 0.64, 0.5, 390 * 0.4 / 400])
    assert "10" not in curve_of([part])[1][0]
    assert "counts them as rejected where they ended" in curve_of([part])[1][0]


def test_a_text_that_ends_is_no_length_of_the_server() -> None:
    """One draft of one token alone in an interval: 1 and 4 would fit 300 of 4 and 100 of 2, and give S(2) = .77."""
    part, end = mixed({4: 300, 2: 100}, S, 4), Counts(1, 1, 1, (1, 0, 0, 0))
    alone = mixed({4: 500}, S, 4)
    assert curve([part, end, alone])[:2] == pytest.approx([0.8, 0.64], abs=1e-3)
    assert curve([part, end, alone, mixed({2: 500}, S, 4)]) == pytest.approx(S, abs=1e-3)


def test_two_positions_always_tell() -> None:
    assert curve([mixed({2: 100, 1: 300}, S[:2], 2)]) == pytest.approx(S[:2])


@given(
    st.integers(2, 6).flatmap(lambda high: st.tuples(st.integers(1, high - 1), st.just(high))),
    st.integers(300, 5000),
    st.integers(300, 5000),
    st.floats(0.5, 0.95),
)
def test_known_lengths_give_the_whole_curve(pair: tuple[int, int], few: int, many: int, alpha: float) -> None:
    low, high = pair
    law = [alpha**l for l in range(1, high + 1)]
    found = curve([mixed({low: few, high: many}, law, high)], told=pair)
    assert len(found) == high
    assert found == pytest.approx(law, rel=0.06, abs=4e-3)


def test_positions_nobody_accepted_are_known_to_be_drafted() -> None:
    """A server that ran at its shorter length only: nothing is said of the longer."""
    served = read_server(line(400, 800, [320, 256, 0, 0]))
    assert [p.survival for p in served.curve] == pytest.approx(S[:2])
    assert served.positions == 4


def test_many_positions_are_not_paired() -> None:
    rates = np.linspace(1.0, 0.5, 3000)
    part = Counts(1000, 2_000_000, int((rates * 1000).astype(int).sum()), tuple((rates * 1000).astype(int).tolist()))
    assert len(curve([part])) == 1
