"""Every example runs, ends in one figure, and finds what its first lines say."""

import ast
import re
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from msopt import AveragePower, solve

EXAMPLES = Path(__file__).parent.parent / "examples"
LLAMA, QWEN = "multispin-llama2", "uldl-qwen25"
Found = Mapping[str, Any]


def within(values: Any, low: float, high: float) -> bool:
    return bool(np.all((np.asarray(values) >= low) & (np.asarray(values) <= high)))


def price_of_fairness(found: Found) -> None:
    total, worst, jain = found["total"], found["worst"], found["jain"]
    assert within(jain[LLAMA][:, 0], 0.955, 0.98)
    assert within(jain[QWEN][:, 0], 0.815, 0.875)
    for preset in (LLAMA, QWEN):
        assert within(total[preset], 0.0, 1.0 + 1e-9)
        assert within(worst[preset], 0.0, 1.0 + 1e-9)
        assert within(total[preset][:, 1], 0.995, 1.0 + 1e-9)
    assert within(1.0 - total[LLAMA][:, -1], 0.055, 0.105)
    assert within(1.0 - total[QWEN][:, -1], 0.675, 0.715)
    assert within(worst[QWEN][:, 0], 0.99, 1.0)


def price_of_a_floor(found: Found) -> None:
    parts, kept, worst = found["PARTS"], {name: np.array(rows) for name, rows in found["kept"].items()}, found["worst"]
    assert within(worst[LLAMA], 0.895, 0.965)
    for rows in kept.values():
        assert within(rows, 0.0, 1.0 + 1e-9)
        assert np.all(rows[:, parts <= 0.9] > 0.99)
    # What the free optimum gives anyway costs nothing.
    free = np.array(worst[LLAMA])[:, None] >= parts
    assert within(kept[LLAMA][free], 1.0 - 1e-9, 1.0 + 1e-9)
    assert within(1.0 - kept[LLAMA][:, -1], 0.02, 0.10)
    assert within(kept[QWEN][:, parts <= 0.97], 1.0 - 1e-9, 1.0 + 1e-9)
    assert len(found["refused"]) == sum(found["DRAWS"].values())


def admission(found: Found) -> None:
    admitted, total = np.array(found["admitted"]), np.array(found["total"])
    assert np.array_equal(admitted, found["proven"])
    assert within(np.array(found["rates"])[:, 0], 13.6, 14.2)
    at = {factor: admitted[:, n] for n, factor in enumerate(found["FACTORS"])}
    assert within(at[1.0], 6, 6)
    assert within(at[1.1], 5, 5)
    assert within(at[1.25], 4, 4)
    assert within(at[1.5], 2, 3)
    assert within(at[2.0], 1, 1)
    assert within(total[:, -1] / total[:, 0], 0.3, 0.4)
    assert np.all(total >= admitted * np.array(found["rates"]) * (1.0 - 1e-9))


def power_budget(found: Found) -> None:
    kept, lengths = np.array(found["kept"]), np.array(found["lengths"])
    assert within(found["drafting"], 0.225, 0.265)
    assert np.all(np.diff(kept, axis=1) >= -1e-9)
    at = {watt: kept[:, n] for n, watt in enumerate(found["BUDGETS_W"])}
    assert within(at[0.75], 1.0 - 1e-9, 1.0 + 1e-9)
    assert within(1.0 - at[0.5], 0.015, 0.03)
    assert within(1.0 - at[0.25], 0.235, 0.265)
    assert within(lengths[:, 0], 1.0, 1.0)
    cell = found["cell"]
    waiting = solve(cell, limits=[AveragePower(found["DRAFT_W"], found["SEND_W"], 0.15)])
    assert waiting.control is not None
    assert waiting.control.not_before_s is not None
    assert np.all(waiting.control.draft_length == 1)
    assert within(1.0 - waiting.goodput / solve(cell).goodput, 0.345, 0.355)


def resource_blocks(found: Found) -> None:
    loss = found["loss"]
    assert max(found["gaps"]) < 1e-10
    assert within(loss[LLAMA][:, 0], 0.004, 0.008)
    assert within(loss[LLAMA][:, -1], 0.025, 0.038)
    assert within(loss[QWEN][:, 0], 0.0, 0.001)
    assert within(loss[QWEN][:, -1], 0.006, 0.012)


def payload_choice(found: Found) -> None:
    for task, gain in found["gain"].items():
        assert within(gain, 0.005, 0.105)
        bits = np.array(found["sent_bits"][task])
        assert within(bits[:, 0], 384, 1536)
        assert within(bits[:, -1], 7168, 8192)
    fewest = found["payload_options"](found["PROFILE"], "chat")[0]
    assert fewest.distribution_bits == 384
    assert fewest.kept == pytest.approx(0.82, abs=0.005)


def draft_model_choice(found: Found) -> None:
    for task in found["TASKS"]:
        assert within(found["best"][task] / max(found["one_for_all"][task]) - 1.0, 0.04, 0.06)
        assert within(1.0 - found["limited"][task] / found["best"][task], 0.0, 0.03)
        assert found["rung"][task].tolist() == [2] + 8 * [0]
        assert np.all(found["rung_limited"][task][found["speed"] < 1.0] > 0)


def overlap(found: Found) -> None:
    gain, busy, groups = found["gain"], found["busy"], list(found["GROUPS"])
    assert within(gain[LLAMA][:, groups.index(4)], 0.48, 0.52)
    assert np.array_equal(np.argmax(gain[LLAMA], axis=1), 3 * [groups.index(4)])
    assert within(busy[LLAMA][:, groups.index(4)], 0.999, 1.0 + 1e-9)
    assert within(-gain[LLAMA][:, groups.index(20)], 0.10, 0.15)
    assert gain[QWEN].max(axis=1) == pytest.approx([0.085, 0.19, 0.296], abs=0.006)
    for preset in (LLAMA, QWEN):
        assert within(gain[preset].max(axis=1) / busy[preset][:, 0], 0.77, 0.87)
        assert np.all(gain[preset] <= found["roofs"][preset] + 1e-9)


def own_formula(found: Found) -> None:
    one, two = (np.array(found["loss"][terms]) for terms in (1, 2))
    assert within(one.reshape(4, 12).mean(axis=1), 0.015, 0.03)
    assert within(one, -1e-9, 0.055)
    assert within(two, -1e-9, 0.006)
    assert two.mean() == pytest.approx(0.0005, abs=0.0005)
    assert found["too_long"][1] == 0
    assert within(found["above"], -1e-6, 0.005)


def method_against_baselines(found: Found) -> None:
    part = found["part"]
    assert within(part["two steps"], 0.985, 0.995)
    assert within(part["two steps"] - part["equal-bandwidth"], 0.01, 0.022)
    assert within(part["two steps"] - part["homogeneous"], 0.035, 0.055)
    assert part["fixed"][[0, -1]] == pytest.approx([0.69, 0.82], abs=0.006)
    table = Path("baselines.tex").read_text()
    assert table.count(r"\\") == 1 + len(part)
    assert "{two steps} & 98.6 &" in table


def sizing(found: Found) -> None:
    assert found["served"].tolist() == [[15, 16, 18], [24, 30, 35], [36, 50, 62]]


def schedule_from_log(found: Found) -> None:
    # 3000 and 2000 drafts: 0.751 * 3000 + 0.742 * 2000 = 3737 of 5000 pass the first position.
    assert [point.survival for point in found["served"].curve] == pytest.approx([0.7474, 0.5878, 0.4592, 0.3524, 0.27])
    assert found["found"].ranges == ((1, 2, 2), (3, 5, 1), (6, 20, 0))
    alone = found["found"].goodput_by_length[0]
    assert alone[[2, 5]] / alone[0] - 1.0 == pytest.approx([0.35, 0.14], abs=0.005)


def measured_models(found: Found) -> None:
    curves, lost = found["curves"], found["lost"]
    kept = {name: bool(np.all(curve >= curve[0] ** np.arange(1, curve.size + 1))) for name, curve in curves.items()}
    assert sum(kept.values()) >= 3
    assert lost.pop("qwen2.5-coder-0.5b-1.5b") == pytest.approx(0.014, abs=0.001)
    assert within(list(lost.values()), 0.0, 0.005)


def sweep_on_dask(found: Found) -> None:
    kept = found["kept"].xs("mean", axis=1, level=1)
    llama, qwen = kept.loc["multispin-llama2"], kept.loc["multispin-qwen35"]
    assert within(llama["homogeneous"], 0.99, 0.993)
    assert qwen["homogeneous"].iloc[[0, -1]].to_numpy() == pytest.approx([0.978, 0.942], abs=0.001)
    assert within(kept["equal-bandwidth"], 0.96, 0.981)


def papers_figures(found: Found) -> None:
    means = found["means"].set_index(["pair", "bandwidth_hz", "scheme"])["mean"].unstack()
    gain = (means["optimum"] / means["fixed"] - 1.0).unstack()
    for pair, ends in (
        ("TinyLlama-1.1B drafts for Llama-2-7B", [1.09, 0.40]),
        ("Qwen3.5-0.8B drafts for Qwen3.5-27B", [0.70, 0.31]),
    ):
        assert gain.loc[pair].iloc[[0, -1]].to_numpy() == pytest.approx(ends, abs=0.01)
        assert np.all(np.diff(gain.loc[pair]) < 0.0)


CHECKS: tuple[Callable[[Found], None], ...] = (
    price_of_fairness,
    price_of_a_floor,
    admission,
    power_budget,
    resource_blocks,
    payload_choice,
    draft_model_choice,
    overlap,
    own_formula,
    method_against_baselines,
    sizing,
    schedule_from_log,
    measured_models,
    sweep_on_dask,
    papers_figures,
)
BESIDE_THE_PICTURE = {"method_against_baselines": {"baselines.tex", "baselines.pdf"}}
OF_THE_CLUSTER = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, marks=OF_THE_CLUSTER) if check is sweep_on_dask else check for check in CHECKS],
    ids=lambda check: check.__name__,
)
def test_an_example_finds_what_it_says(
    check: Callable[[Found], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context():
        mpl.use("Agg")
        from matplotlib import pyplot as plt

        try:
            found = runpy.run_path(str(EXAMPLES / f"plot_{check.__name__}.py"))
            assert len(plt.get_fignums()) == 1
        finally:
            plt.close("all")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"{check.__name__}.png"} | BESIDE_THE_PICTURE.get(check.__name__, set())
    check(found)


def test_every_example_has_a_title_a_finding_and_a_setting() -> None:
    names = {path.stem.removeprefix("plot_") for path in EXAMPLES.glob("*.py")}
    assert names == {check.__name__ for check in CHECKS}
    for name in names:
        text = ast.get_docstring(ast.parse((EXAMPLES / f"plot_{name}.py").read_text())) or ""
        title, line = text.splitlines()[:2]
        assert line == "=" * len(title)
        assert re.search(r"^\*\*Finding\.\*\* .*^\*\*Setting\.\*\* ", text, flags=re.MULTILINE | re.DOTALL), name
