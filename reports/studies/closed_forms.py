"""The figures that come from closed forms: [MS] Figs. 3 to 5, [UD] Fig. 6. Pure functions of a preset and a seed."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt import PRESETS, Scenario, react
from msopt.formulas.multispin import common_length
from msopt.lengths.homogeneous import best_common_length, solve_homogeneous
from msopt.model.goodput import play, round_at
from msopt.modes.correction import CorrectionTimes
from reports.shared.estimators import mean_of
from reports.shared.rows import Row
from reports.studies.paper_figures import MS_PRESETS, Figure, pair
from reports.studies.settings import over, scenario_at

if TYPE_CHECKING:
    import pandas as pd


FIG3_LENGTHS = 24
FIG4_PRESET, FIG4_DATASET, FIG4_PER_TOKEN_S, FIG4_DEVICES = "multispin-llama2", "GSM8K", 0.05, 20
FIG4_SEARCHED = 200
FIG5_BATCHES = 16
REJECTED = 8
_DEFAULTS = (
    f"the others held at K = {FIG4_DEVICES}, {FIG4_DATASET}, {1e3 * FIG4_PER_TOKEN_S:g} ms a token of this pair (ours)"
)


def _best_length_figure(quantity: str, verb: str, x: str) -> Figure:
    return Figure(
        title=f"Best length against {quantity} ([MS] Fig. 4)",
        paper_says=f"The best length {verb} with the {quantity}.",
        source=f"[MS], its range; {_DEFAULTS}",
        x=x,
        y="best draft length",
        y_unit="token",
    )


CLOSED: dict[str, Figure] = {
    "ms_fig3": Figure(
        title="Goodput against one common draft length, GSM8K ([MS] Fig. 3)",
        paper_says="Goodput is unimodal in the length, and the closed form finds its maximum.",
        source="[MS], its setting; the transmit power, the mean draft time and all laws of the draws are ours",
        x="draft_length_tokens",
    ),
    "ms_fig4_verification": _best_length_figure("verification time", "rises", "verify_s"),
    "ms_fig4_latency": _best_length_figure("latency per token", "falls", "per_token_s"),
    "ms_fig4_acceptance": _best_length_figure("acceptance", "rises", "acceptance"),
    "ms_fig5": Figure(
        title="Verification time against batch size ([MS] Fig. 5)",
        paper_says="Verification time is linear in the batch size and does not depend on the lengths.",
        source="[MS], fits on an A100; measured profiles beside them where there are any",
        x="batch_devices",
        y="verification time",
        y_unit="s",
    ),
    "ud_fig6": Figure(
        title=f"Delays against the size of the uplink set, {REJECTED} devices rejected ([UD] Fig. 6)",
        paper_says="The uplink delay rises and the downlink delay falls with the size of the uplink set; the best "
        "size lies at their crossing, 3 of 8 in the paper's example.",
        source="[UD], its setting; which devices are rejected is ours: the first 8 of 20",
        x="uplink_devices",
        y="delay",
        y_unit="s",
    ),
}
"""The figures by table."""


def one_length(
    preset: str, draw_number: int, seed: int, devices: int, settings: Mapping[str, Any] = MappingProxyType({})
) -> list[Row]:
    """Goodput at each common length from 0 on with the best split, and the closed form's; one draw of [MS] Fig. 3."""
    scenario = scenario_at(preset, over(settings, {"devices": devices, "dataset": "GSM8K"}), seed)
    best = solve_homogeneous(scenario)
    lengths = np.arange(FIG3_LENGTHS + 1)
    every = np.repeat(lengths[:, None], scenario.device_count, axis=1)
    goodput = play(scenario, "homogeneous", every, best.bandwidth_hz).goodput
    found = float(play(scenario, "homogeneous", best.draft_length, best.bandwidth_hz).goodput)
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed}
    rows = [
        head | {"scheme": "one length", "draft_length_tokens": float(length), "goodput_tokens_per_s": float(value)}
        for length, value in zip(lengths, goodput, strict=True)
    ]
    closed = {"scheme": "closed form", "draft_length_tokens": best.relaxed_length, "goodput_tokens_per_s": found}
    return [*rows, head | closed]


def one_length_table(draws: "pd.DataFrame") -> "pd.DataFrame":
    """[MS] Fig. 3: means at each length; the closed form at its mean length."""
    import pandas as pd

    rows = []
    for (of_pair, scheme), group in draws.groupby(["pair", "scheme"], sort=False):
        whole = scheme == "one length"
        parts = [at for _, at in group.groupby("draft_length_tokens")] if whole else [group]
        for at in parts:
            length = float(at["draft_length_tokens"].mean())
            mean = mean_of(at["goodput_tokens_per_s"])
            rows.append({"pair": of_pair, "draft_length_tokens": length, "scheme": scheme} | mean._asdict())
    return pd.DataFrame(rows)


def best_lengths() -> dict[str, "pd.DataFrame"]:
    """[MS] Fig. 4: the closed form, real and whole, and a search, along each quantity."""
    import pandas as pd

    preset = PRESETS[FIG4_PRESET]
    verify_s = preset.verify_base_s + FIG4_DEVICES * preset.verify_per_device_s
    acceptance = dict(preset.acceptance)[FIG4_DATASET]
    held = {"acceptance": acceptance, "per_token_s": FIG4_PER_TOKEN_S, "verify_s": verify_s}
    swept = {
        "ms_fig4_verification": ("verify_s", np.arange(100, 401, 10) / 1e3),
        "ms_fig4_latency": ("per_token_s", np.arange(20, 81, 2) / 1e3),
        "ms_fig4_acceptance": ("acceptance", np.arange(60, 91) / 100),
    }
    return {
        name: pd.DataFrame([row for value in values for row in _best_length(name_x, {**held, name_x: float(value)})])
        for name, (name_x, values) in swept.items()
    }


def _best_length(x: str, at: Mapping[str, float]) -> list[Row]:
    alone = Scenario(
        acceptance=[at["acceptance"]],  # type: ignore[arg-type]
        draft_s_per_token=np.array([at["per_token_s"]]),
        uplink_snr_db=np.zeros(1),
        downlink_snr_db=np.zeros(1),
        verify_base_s=at["verify_s"],
        downlink_power_w=1.0,
        uplink_bandwidth_hz=1.0,
        downlink_bandwidth_hz=1.0,
        token_bits=0,
        distribution_bits=1,
        max_draft_length=FIG4_SEARCHED,
    )
    limits = alone.length_limits("homogeneous")
    every = np.arange(limits[0], limits[1] + 1)
    goodput = round_at(alone, every[:, None], at["per_token_s"] * every).goodput
    whole, _ = best_common_length(alone, at["per_token_s"], limits)
    real = float(common_length(at["acceptance"], at["per_token_s"], at["verify_s"]))
    found = {
        "closed form (real)": real,
        "closed form (whole)": float(whole),
        "search": float(every[np.argmax(goodput)]),
    }
    return [
        {"pair": pair(FIG4_PRESET), x: at[x], "scheme": scheme, "mean": value, "low": value, "high": value, "draws": 1}
        for scheme, value in found.items()
    ]


def verification(measured: Mapping[str, Sequence[tuple[int, float]]]) -> "pd.DataFrame":
    """[MS] Fig. 5: the papers' fits, and (batch, seconds) of measured profiles by name."""
    import pandas as pd

    lines = {
        (pair(name), "fit of the paper"): [
            (batch, PRESETS[name].verify_base_s + batch * PRESETS[name].verify_per_device_s)
            for batch in range(1, FIG5_BATCHES + 1)
        ]
        for name in MS_PRESETS
    }
    lines |= {(name, f"measured: {name}"): list(points) for name, points in measured.items()}
    return pd.DataFrame(
        [
            {"pair": of_pair, "batch_devices": batch, "scheme": scheme, "mean": s, "low": s, "high": s, "draws": 1}
            for (of_pair, scheme), points in lines.items()
            for batch, s in points
        ]
    )


def uplink_sets(
    preset: str, draw_number: int, seed: int, devices: int, settings: Mapping[str, Any] = MappingProxyType({})
) -> list[Row]:
    """Delays at each size of the uplink set, 8 devices rejected, and the best size found; one draw of [UD] Fig. 6.

    `best_uplink_devices` is Proposition 1's; `shortest_s` its time, `enumerated_s` the shortest over all 2^8 modes.
    """
    scenario = scenario_at(preset, over(settings, {"devices": max(devices, REJECTED)}), seed)
    times = CorrectionTimes(scenario)
    places = np.flatnonzero(times.order < REJECTED)
    one = np.full(REJECTED, REJECTED)
    up = times.uplink_s(one, places)
    inverse = times.inverse_snr[places]
    modes = (np.arange(2**REJECTED)[:, None] >> np.arange(REJECTED)) & 1 == 1
    slowest_up = np.max(np.where(modes, up, 0.0), axis=1)
    down = times.downlink_s(np.full(len(modes), REJECTED), np.sum(np.where(modes, 0.0, inverse), axis=1))
    best, shortest = best_uplink_set(scenario)
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed}
    found = {
        "best_uplink_devices": best,
        "shortest_s": shortest,
        "enumerated_s": float(np.min(np.maximum(slowest_up, down))),
    }
    rows = []
    for size in range(REJECTED + 1):
        prefix = 2**size - 1
        delays = {"uplink": float(slowest_up[prefix]), "downlink": float(down[prefix])}
        delays["slower of the two"] = max(delays.values())
        rows += [head | {"uplink_devices": size, "scheme": name, "delay_s": s} | found for name, s in delays.items()]
    return rows


def best_uplink_set(scenario: Scenario) -> tuple[int, float]:
    """The size of Proposition 1's uplink set with the first 8 devices rejected, and the time of its correction [s]."""
    reaction, shortest = react(scenario, np.arange(REJECTED))
    return int(np.sum(reaction.on_uplink)), shortest


def uplink_sets_table(draws: "pd.DataFrame") -> "pd.DataFrame":
    """[UD] Fig. 6: means and intervals, and draw 0 alone as the `example`."""
    import pandas as pd

    keys = ["pair", "uplink_devices", "scheme"]
    rows = [
        dict(zip(keys, key, strict=True))
        | mean_of(group["delay_s"])._asdict()
        | {"example": float(group["delay_s"].iloc[0])}
        for key, group in draws.groupby(keys, sort=False)
    ]
    return pd.DataFrame(rows)
