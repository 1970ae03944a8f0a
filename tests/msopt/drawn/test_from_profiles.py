"""Scenarios drawn from profiles: whose numbers they hold, a ladder of drafts, payloads, what vLLM served."""

import numpy as np
import pytest

from msopt.drawn.channel import ULDL_CELL
from msopt.drawn.draw_preset import draw
from msopt.drawn.from_profiles import draw_from_profiles
from msopt.errors import ParameterError
from msopt.files.scenario_toml import parse, to_toml
from msopt.measured.profile import Profile
from msopt.measured.served import Served
from msopt.measured.servers import read_server
from msopt.measured.task_acceptance import Estimate, PayloadRow
from msopt.model.scenario import Scenario
from tests.msopt.measured.test_served import counters
from tests.profiles import profile, task, timing

STRONG = profile(name="strong")
WEAK = profile(name="weak", draft_time=timing(0.005), verification=None, server_draft=(), payload=(),
               tasks={"code": task([50, 20], [20, 4])})  # fmt: skip
LADDER = {"strong": STRONG, "weak": WEAK}


def test_devices_take_turns_on_a_ladder() -> None:
    cell, comment = draw_from_profiles(LADDER, devices=4, tasks=["code"])
    strong, weak = STRONG.tasks["code"].survival, WEAK.tasks["code"].survival
    assert [c.tolist() for c in cell.acceptance.curves if c is not None] == [strong, weak, strong, weak]
    assert cell.draft_s_per_token.tolist() == [0.02, 0.005, 0.02, 0.005]
    assert (cell.verify_base_s, cell.verify_per_device_s, cell.verify_per_token_s) == (0.1, 0.01, 0.001)
    assert cell.server_draft_s_per_token == STRONG.server_draft_s(4)
    assert cell.max_draft_length == 4
    assert cell.token_bits == 16
    assert "- device-02: weak, code" in comment
    assert "some processor, 2 threads, 2026-01-31" in comment


def test_the_radio_is_that_of_the_presets() -> None:
    """The same place and fading for device k of a seed, and the same options."""
    options = {"bandwidth_hz": 5e6, "uplink_power_dbm": 20.0}
    cell, comment = draw_from_profiles(LADDER, devices=5, seed=3, **options)
    other, _ = draw("uldl-qwen25", devices=5, seed=3, **options)  # type: ignore[arg-type]
    assert np.array_equal(cell.uplink_snr_db, other.uplink_snr_db)
    assert np.array_equal(cell.downlink_snr_db, other.downlink_snr_db)
    assert (cell.uplink_bandwidth_hz, cell.uplink_sharing) == (5e6, ULDL_CELL.uplink_sharing)
    assert "bandwidth_hz = 5000000.0" in comment
    assert "power of a device" not in comment, "what an option replaces is not the paper's"
    ratio, told = draw_from_profiles(LADDER, devices=5, seed=3, power_ratio=16.0)
    assert ratio.downlink_power_w == draw("uldl-qwen25", devices=5, seed=3, power_ratio=16.0)[0].downlink_power_w
    assert "power of" not in told


def test_the_file_is_read_back() -> None:
    cell, comment = draw_from_profiles(LADDER, devices=3)
    assert Scenario(**parse(to_toml(vars(cell), comment), "x")) == cell
    again, _ = draw_from_profiles(LADDER, devices=3)
    assert again == cell


def test_every_task_is_drawn_and_only_those_with_drafts() -> None:
    silent = task([], [], drafted=0)
    measured = profile(tasks={**STRONG.tasks, "silent": silent})
    cell, comment = draw_from_profiles({"p": measured}, devices=60)
    first = {float(m) for m in cell.acceptance.mean}
    assert first == {found.survival[0] for found in STRONG.tasks.values()}
    assert "silent" not in comment
    longer, _ = draw_from_profiles({"p": measured}, devices=80)
    assert np.array_equal(longer.acceptance.mean[:60], cell.acceptance.mean), "device k is the same whatever K"


def row(bits: int, share: float, name: str | None = None) -> PayloadRow:
    return PayloadRow(task=name, kept_entries=bits, probability_bits=8, distribution_bits=bits,
                      acceptance=Estimate.of_counts(round(1000 * share), 1000))  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "bits"),
    [
        ([row(100, 0.5), row(200, 0.797), row(400, 0.8)], 200),
        ([row(100, 0.5), row(200, 0.79), row(400, 0.8)], 400),
        ([row(100, 0.8, "a"), row(200, 0.8, "a"), row(100, 0.3, "b"), row(200, 0.6, "b")], 200),
        ([], 1024 * (16 + 16)),
    ],
)
def test_the_payload_keeps_99_per_cent_of_the_best_acceptance(rows: list[PayloadRow], bits: int) -> None:
    cell, _ = draw_from_profiles({"p": profile(payload=tuple(rows))}, devices=1)
    assert cell.distribution_bits == bits
    given, comment = draw_from_profiles({"p": profile(payload=tuple(rows))}, devices=1, distribution_bits=77)
    assert given.distribution_bits == 77
    assert "given as an option" in comment


def test_what_vllm_served_takes_the_place_of_the_tasks() -> None:
    served = read_server(counters(100, 300, [80, 64, 32]))
    bare = profile(compute_only=True, tasks={}, payload=(), sampling=None)
    cell, comment = draw_from_profiles({"p": bare}, served=served, devices=2)
    assert [c.tolist() for c in cell.acceptance.curves if c is not None] == [[0.8, 0.64, 0.32]] * 2
    assert cell.max_draft_length == 3
    assert "176 of 300 drafted tokens accepted in 100 drafts" in comment
    assert "0.800 (0.708 to 0.873)" in comment, "the interval of 80 in 100"
    pooled, comment = draw_from_profiles({"p": bare}, served=Served.of_pooled(0.5, 1), devices=2)
    assert pooled.acceptance.mean.tolist() == [0.5, 0.5]
    assert pooled.max_draft_length == 16
    assert "; times only" in comment


@pytest.mark.parametrize(
    ("profiles", "options", "part"),
    [
        ({}, {}, "no profile"),
        (LADDER, {"devices": 0}, "devices = 0"),
        (LADDER, {"tasks": ["chat"], "devices": 2}, 'task = "chat" is not in profile "weak"; its tasks: code'),
        ({"weak": WEAK}, {}, '"weak" has no verification times'),
        ({"p": profile(draft_time=None)}, {}, "has no draft time"),
        ({"p": profile(tasks={})}, {}, "it measured no task"),
        ({"p": profile(compute_only=True, tasks={}, payload=(), sampling=None)}, {}, "compute-only"),
        (LADDER, {"power_ratio": -1.0}, "power_ratio = -1"),
        (LADDER, {"tasks": ["code"], "served": Served.of_pooled(0.5, 1)}, "takes their place"),
        (
            {"a": STRONG, "b": profile(target=STRONG.target.model_copy(update={"name": "huge"}))},
            {},
            'several targets: "large" in a, "huge" in b',
        ),
    ],
)
def test_what_cannot_be_drawn(profiles: dict[str, Profile], options: dict[str, object], part: str) -> None:
    with pytest.raises(ParameterError) as caught:
        draw_from_profiles(profiles, **options)  # type: ignore[arg-type]
    assert part in str(caught.value)
