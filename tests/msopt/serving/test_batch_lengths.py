"""Draft lengths by batch size against brute force; the ranges against every other cut; what vLLM makes of them."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msopt.arrays import FloatArray, IntArray
from msopt.errors import ParameterError
from msopt.model.acceptance import Acceptance
from msopt.model.mixture import mixed
from msopt.model.scenario import Scenario
from msopt.serving.batch_lengths import Schedule, schedule
from msopt.serving.vllm_config import speculative_config, synthetic_acceptance_rates
from msopt.solve import solve
from tests.profiles import profile
from tests.strategies import decades
from tests.tolerances import EXACT

VERIFY = {"verify_base_s": 0.02, "verify_per_device_s": 0.0005, "verify_per_token_s": 0.0004}
CURVE = [0.837, 0.685, 0.562, 0.460, 0.368, 0.283, 0.217, 0.161]


def step(batch: int) -> float:
    return 0.002 + 1e-5 * batch


def affine(verify: dict[str, float]) -> Callable[[int, IntArray], FloatArray]:
    """Verification times of a scenario's three numbers."""
    base, device, token = (verify[f"verify_{name}_s"] for name in ("base", "per_device", "per_token"))
    return lambda batch, lengths: base + batch * (device + token * (lengths + 1.0))


def by_hand(curve: Sequence[float], batch: int, length: int, verify: dict[str, float], step_s: float) -> float:
    tokens = batch * (1.0 + sum(curve[:length]))
    seconds = verify["verify_base_s"] + batch * verify["verify_per_device_s"]
    seconds += batch * (length + 1) * verify["verify_per_token_s"]
    return tokens / (seconds + length * step_s)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], dict[str, float], float, list[int]]:
    curve = [draw(st.floats(0.05, 1.0))]
    for ratio in draw(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5)):
        curve.append(curve[-1] * ratio)
    verify = {
        "verify_base_s": draw(decades(1e-3, 1.0)),
        "verify_per_device_s": draw(st.sampled_from([0.0, 1e-3])),
        "verify_per_token_s": draw(st.sampled_from([0.0, 1e-4, 1e-2])),
    }
    sizes = draw(st.lists(st.integers(1, 200), min_size=1, max_size=8, unique=True))
    return curve, verify, draw(decades(1e-4, 0.1)), sorted(sizes)


@given(cases(), st.sampled_from([0.0, 0.005, 0.1]))
def test_against_brute_force(case: tuple[list[float], dict[str, float], float, list[int]], tolerance: float) -> None:
    curve, verify, step_s, sizes = case
    found = schedule(
        Acceptance.of([0.0], curves=[curve]), affine(verify), lambda _: step_s, sizes, len(curve), tolerance
    )
    table = [[by_hand(curve, b, length, verify, step_s) for length in range(len(curve) + 1)] for b in sizes]
    assert found.goodput_by_length == pytest.approx(np.array(table), rel=EXACT)
    best = [max(row) for row in table]
    assert found.best_goodput == pytest.approx(best, rel=EXACT)
    read = lookup(found.ranges, max(sizes))
    for b, row, most in zip(sizes, table, best, strict=True):
        assert row[read[b]] >= most * (1.0 - tolerance) * (1.0 - EXACT)
    assert len(found.ranges) == fewest(table, tolerance)


def fewest(table: list[list[float]], tolerance: float) -> int:
    """The least number of ranges over every way to cut, by dynamic programming."""
    n = len(table)
    least = [0] + [n] * n
    for end in range(1, n + 1):
        for start in range(end):
            share = [min(row[length] / max(row) for row in table[start:end]) for length in range(len(table[0]))]
            if max(share) >= 1.0 - tolerance:
                least[end] = min(least[end], least[start] + 1)
    return least[n]


def lookup(ranges: Sequence[tuple[int, int, int]], greatest: int, most: int = 10**6) -> list[int]:
    """Length by batch size as vLLM reads its list: gaps and the tail keep the value before, all clamped."""
    held = [0] * (greatest + 1)
    for size in range(1, greatest + 1):
        inside = [length for first, last, length in ranges if first <= size <= last]
        before = [length for _, last, length in ranges if last < size]
        held[size] = min(most, (inside or before[-1:])[0])
    return held


@given(cases())
def test_the_ranges_are_what_vllm_reads(case: tuple[list[float], dict[str, float], float, list[int]]) -> None:
    curve, verify, step_s, sizes = case
    found = schedule(Acceptance.of([0.0], curves=[curve]), affine(verify), lambda _: step_s, sizes, len(curve))
    assert found.ranges[0][0] == 1, "vLLM wants the first range to start at 1"
    assert all(first <= last < after for (first, last, _), (after, _, _) in pairwise(found.ranges))
    read = lookup(found.ranges, max(sizes))
    assert [read[b] for b in sizes] == found.draft_length.tolist()
    assert found.loss.max() <= 0.005 + EXACT
    assert found.loss.min() >= 0.0


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_it_is_the_centralised_baseline(batch: int) -> None:
    """A batch as one device with scaled costs against as many devices, by the closed form of problem homogeneous."""
    cell = Scenario(
        **VERIFY,
        server_draft_s_per_token=step(batch),
        acceptance=Acceptance.of([0.0] * batch, curves=[CURVE] * batch),
        draft_s_per_token=np.zeros(batch),
        uplink_snr_db=np.zeros(batch),
        downlink_snr_db=np.zeros(batch),
        downlink_power_w=1.0,
        uplink_bandwidth_hz=1e6,
        downlink_bandwidth_hz=1e6,
        token_bits=16,
        distribution_bits=1e4,
        min_draft_length=0,
        max_draft_length=8,
    )
    found = schedule(Acceptance.of([0.0], curves=[CURVE]), affine(VERIFY), step, [batch], 8)
    assert found.best_goodput[0] == pytest.approx(solve(cell, "homogeneous", "centralised").goodput, rel=EXACT)


def test_where_drafting_stops_paying() -> None:
    """c1 makes drafts dear in a large batch: at L = 1 it pays while S(1)(c0 + (c2 + c1) b) > step + c1 b."""
    verify = {"verify_base_s": 0.02, "verify_per_device_s": 0.0, "verify_per_token_s": 0.001}
    found = schedule(Acceptance.of([0.5]), affine(verify), lambda _: 0.001, range(1, 65), 4)
    pays = [0.5 * (0.02 + 0.001 * b) > 0.001 + 0.001 * b + 1e-15 for b in range(1, 65)]
    assert found.stops_paying_at == pays.index(False) + 1 == 18
    assert found.ranges[-1][2] == 0
    free = schedule(
        Acceptance.of([0.5]), affine(VERIFY | {"verify_per_token_s": 0.0}), lambda _: 0.001, range(1, 65), 4
    )
    assert free.stops_paying_at is None
    never = schedule(Acceptance.of([0.0]), affine(verify), lambda _: 0.001, [2, 4], 4)
    assert (never.stops_paying_at, never.ranges) == (2, ((1, 4, 0),))


def test_without_tolerance_each_range_is_optimal() -> None:
    found = schedule(Acceptance.of([0.0], curves=[CURVE]), affine(VERIFY), step, range(1, 257), 8, 0.0)
    assert found.loss.max() == 0.0
    coarse = schedule(Acceptance.of([0.0], curves=[CURVE]), affine(VERIFY), step, range(1, 257), 8, 0.05)
    assert len(coarse.ranges) < len(found.ranges)
    assert 0.0 < coarse.loss.max() <= 0.05


def test_a_mixture_of_tasks_yields_their_mean() -> None:
    one, other = Acceptance.of([0.9]), Acceptance.of([0.0], curves=[[0.5, 0.2]])
    law = mixed([one, other], 6)
    for length in range(7):
        mean = (one.expected_tokens(float(length))[0] + other.expected_tokens(float(length))[0]) / 2.0
        assert law.expected_tokens(float(length))[0] == pytest.approx(mean, rel=EXACT)
    assert mixed([one], 6) is one


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"max_length": 0}, "max = 0"),
        ({"tolerance": 1.0}, "tolerance = 1 is not"),
        ({"tolerance": float("nan")}, "tolerance = nan"),
        ({"batch_sizes": []}, "no batch size"),
        ({"batch_sizes": [0]}, "batch size = 0"),
    ],
)
def test_bad_arguments(changes: dict[str, object], part: str) -> None:
    options: dict[str, object] = {"batch_sizes": [1], "max_length": 2, "tolerance": 0.0} | changes
    with pytest.raises(ParameterError, match=part):
        schedule(Acceptance.of([0.5]), affine(VERIFY), step, **options)  # type: ignore[arg-type]


# What is written for vLLM


def test_speculative_config() -> None:
    config = speculative_config(profile(), ((1, 16, 3), (32, 128, 2), (256, 256, 0)))
    assert config == {
        "method": "draft_model",
        "model": "org/small",
        "num_speculative_tokens": 3,
        "num_speculative_tokens_per_batch_size": [[1, 16, 3], [32, 128, 2], [256, 256, 0]],
        "draft_sample_method": "probabilistic",
    }
    assert speculative_config(profile(), ((1, 9, 0),)) is None


def test_synthetic_rates_are_unconditional_and_as_many_as_tokens() -> None:
    law = Acceptance.of([0.0], curves=[CURVE])
    config = speculative_config(profile(), ((1, 16, 9),), law)
    rates = config["synthetic_acceptance_rates"]
    assert config["rejection_sample_method"] == "synthetic"
    assert rates == pytest.approx([*CURVE, 0.161**2 / 0.217], rel=EXACT)
    assert all(0.0 <= after <= before <= 1.0 for before, after in pairwise(rates))
    assert 1.0 + sum(synthetic_acceptance_rates(law, 5)) == pytest.approx(law.expected_tokens(5.0)[0], rel=EXACT)


def test_schedule_is_a_value() -> None:
    found = Schedule(np.array([1, 4]), np.array([[1.0, 2.0], [3.0, 2.0]]), ((1, 4, 1),))
    assert found.best_length.tolist() == [1, 0]
    assert found.draft_length.tolist() == [1, 1]
    assert found.loss.tolist() == [0.0, pytest.approx(1.0 / 3.0)]
    assert found.stops_paying_at == 4
