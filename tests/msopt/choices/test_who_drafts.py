"""Devices that draft against a server that drafts: where they meet, and how many either serves."""

import numpy as np
import pytest

from msopt import ParameterError, draw
from msopt.choices.who_drafts import capacity, colocated_goodput, crossing, distributed_goodput, repeated

CELL = draw("multispin-llama2", devices=6, seed=3)[0]


@pytest.mark.parametrize("how", ["batched", "one-by-one"])
def test_a_server_that_drafts_has_the_best_of_all_lengths(how: str) -> None:
    step = CELL.server_draft_s_per_token
    each = step * (1 if how == "batched" else CELL.device_count)
    lengths = np.arange(0.0, CELL.max_draft_length + 1.0)
    alpha = CELL.acceptance.mean[:, None]
    tokens = np.sum((1.0 - alpha ** (lengths + 1.0)) / (1.0 - alpha), axis=0)
    seconds = lengths * each + CELL.verify_base_s + CELL.verify_per_device_s * CELL.device_count
    assert colocated_goodput(CELL, how) == pytest.approx(float(np.max(tokens / seconds)), rel=1e-12)  # type: ignore[arg-type]


def test_they_deliver_as_much_where_they_cross() -> None:
    found = crossing(CELL, "one-by-one")
    assert found.round_trip_s > 0.0
    there = CELL.replace(round_trip_s=np.full(CELL.device_count, found.round_trip_s))
    assert distributed_goodput(there) == pytest.approx(found.colocated, rel=1e-6)


def test_a_server_without_any_cost_of_drafting_is_never_passed() -> None:
    assert crossing(CELL.replace(server_draft_s_per_token=1e-9)).round_trip_s == 0.0


def test_the_capacity_is_the_last_number_that_is_served() -> None:
    most = capacity(CELL, 8.0, distributed_goodput)
    assert distributed_goodput(repeated(CELL, most)) >= 8.0 * most
    assert distributed_goodput(repeated(CELL, most + 1)) < 8.0 * (most + 1)
    assert capacity(CELL, 1e6, distributed_goodput) == 0
    assert capacity(CELL, 1e-9, lambda _: 1.0, most=50) == 50


def test_repeated_devices_are_the_same_in_turn() -> None:
    twice = repeated(CELL, 9)
    assert np.array_equal(twice.uplink_snr_db[6:], CELL.uplink_snr_db[:3])
    assert np.array_equal(twice.acceptance.mean[6:], CELL.acceptance.mean[:3])


def test_a_server_without_a_draft_time_is_one_line() -> None:
    with pytest.raises(ParameterError, match=r"needs server\.draft_s_per_token"):
        colocated_goodput(CELL.replace(server_draft_s_per_token=None), "batched")
