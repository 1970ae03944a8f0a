"""Payloads, draft models and trees as actions: against enumeration in words of their own."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from msopt import ActionTable, DeviceMemory, ParameterError, Scenario, bundled, read_profile, solve, solve_actions
from msopt.choices.draft_models import DraftModel, draft_model_actions, ladder
from msopt.choices.participation import take_turns
from msopt.choices.payload_actions import PayloadOption, payload_actions, payload_options
from msopt.choices.tree_actions import full_tree, tree_actions
from msopt.model.acceptance import Acceptance

ALPHA, TAU, SNR_DB = np.array([0.9, 0.6]), np.array([0.01, 0.02]), np.array([15.0, 0.0])
CELL = Scenario(
    verify_base_s=0.1,
    downlink_power_w=1.0,
    uplink_bandwidth_hz=2e6,
    downlink_bandwidth_hz=1e7,
    token_bits=17,
    distribution_bits=2e4,
    acceptance=ALPHA,
    draft_s_per_token=TAU,
    uplink_snr_db=SNR_DB,
    downlink_snr_db=[10.0, 10.0],
    max_draft_length=4,
)
EFFICIENCY = np.log2(1.0 + 10.0 ** (SNR_DB / 10.0))
Row = tuple[float, float, float]


def enumerated(rows: Callable[[int], list[Row]], verify_s: float = 0.1) -> float:
    """The most tokens per second of two devices: rows of tokens, seconds and bits, the deadline by bisection."""
    best = 0.0
    for pair in itertools.product(rows(0), rows(1)):
        tokens, seconds, bits = np.array(pair).T
        low, high = float(np.max(seconds)), 100.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            left = np.maximum(middle - seconds, 1e-300)
            good = np.sum(bits / EFFICIENCY / left) <= 2e6
            low, high = (low, middle) if good else (middle, high)
        best = max(best, float(np.sum(tokens)) / (high + verify_s))
    return best


def tokens_of(alpha: float, length: int) -> float:
    return float(sum(alpha**n for n in range(length + 1)))


def test_a_payload_for_each_device_is_the_best_of_all() -> None:
    options = [PayloadOption(2e4, 1.0), PayloadOption(5e3, 0.9), PayloadOption(5e2, 0.5)]

    def rows(k: int) -> list[Row]:
        return [
            (tokens_of(ALPHA[k] * one.kept, n), n * TAU[k], n * (17 + one.distribution_bits))
            for one in options
            for n in range(1, 5)
        ]

    found = solve_actions(CELL, payload_actions(CELL, [options]))
    assert found.goodput == pytest.approx(enumerated(rows), rel=1e-9)
    assert found.gap < 1e-9
    assert found.goodput > solve(CELL).goodput


def test_the_payload_options_of_a_profile_rise_in_both_numbers() -> None:
    profile = read_profile(bundled.profile_path("smollm2-skip-4"))
    for at_device in (False, True):
        options = payload_options(profile, "code", at_device=at_device)
        assert options[-1].kept == 1.0
        bits, kept = (np.array([getattr(one, name) for one in options]) for name in ("distribution_bits", "kept"))
        assert np.all(np.diff(bits) > 0.0)
        assert np.all(np.diff(kept) > 0.0)
    with pytest.raises(ParameterError, match='no payload table for task "poetry"'):
        payload_options(profile, "poetry")


def test_a_draft_model_for_each_device_is_the_best_of_all() -> None:
    small = DraftModel(name="small", acceptance=Acceptance.of([0.6, 0.4]), draft_s_per_token=TAU / 4, memory_bytes=1e8)
    large = DraftModel(name="large", acceptance=Acceptance.of([0.9, 0.8]), draft_s_per_token=TAU * 2, memory_bytes=4e8)

    def rows(k: int) -> list[Row]:
        return [
            (tokens_of(float(one.acceptance.mean[k]), n), n * float(one.draft_s_per_token[k]), n * 20017.0)
            for one in (small, large)
            for n in range(1, 5)
        ]

    table = draft_model_actions(CELL, [small, large])
    assert solve_actions(CELL, table).goodput == pytest.approx(enumerated(rows), rel=1e-9)
    tight = solve_actions(CELL, table, limits=[DeviceMemory([2e8, 5e8])])
    assert tight.labels[0].endswith("small")
    assert all(slack.violation == 0.0 for slack in tight.slacks)


def test_the_ladder_of_bundled_profiles_has_a_model_for_each_rung() -> None:
    rungs = [read_profile(bundled.profile_path(f"smollm2-skip-{n}")) for n in (2, 4, 8)]
    models = ladder(rungs, ["code", "chat"], speed=[1.0, 4.0])
    assert [model.memory_bytes for model in models] == [2.0 * rung.draft.parameters for rung in rungs]
    assert models[0].draft_s_per_token[0] == pytest.approx(4.0 * models[0].draft_s_per_token[1])


def test_trees_are_the_best_of_all_shapes() -> None:
    shapes = [full_tree(ALPHA, depth, width) for depth in range(1, 4) for width in (1, 2)]

    def rows(k: int) -> list[Row]:
        found = []
        for depth in range(1, 4):
            for width in (1, 2):
                nodes = depth if width == 1 else 2 ** (depth + 1) - 2
                passed = ALPHA[k] if width == 1 else 1.0 - (1.0 - ALPHA[k]) ** 2
                found.append((tokens_of(passed, depth), depth * TAU[k], nodes * 20017.0))
        return found

    assert solve_actions(CELL, tree_actions(CELL, shapes)).goodput == pytest.approx(enumerated(rows), rel=1e-9)


def test_trees_of_width_one_are_drafts() -> None:
    shapes = [full_tree(ALPHA, depth, 1) for depth in range(1, 5)]
    table, plain = tree_actions(CELL, shapes), ActionTable.of_lengths(CELL)
    for name in ("tokens", "compute_s", "bits", "verified", "drafted"):
        assert getattr(table, name) == pytest.approx(getattr(plain, name), rel=1e-12)


def test_everyone_has_a_turn() -> None:
    found = take_turns(CELL, 1, 6)
    assert np.all(np.sum(found.served, axis=1) == 1)
    assert np.all(np.any(found.served, axis=0))
    assert found.goodput == pytest.approx(float(np.sum(found.tokens) / np.sum(found.round_s)), rel=1e-12)
    assert take_turns(CELL, 2, 1).goodput == pytest.approx(solve(CELL).goodput, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PayloadOption(-1.0, 1.0), "distribution_bits = -1.0"),
        (lambda: PayloadOption(1.0, 1.5), r"kept = 1\.5 is not in"),
        (lambda: payload_actions(CELL, [[], []]), "2 that are not empty are needed"),
        (lambda: draft_model_actions(CELL, []), "no draft model"),
        (lambda: tree_actions(CELL, [full_tree(ALPHA[:1], 2, 2)]), "2 expected tokens are needed"),
        (lambda: take_turns(CELL, 3, 2), "slots = 3 is above 2"),
    ],
)
def test_bad_input_is_one_line(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()
