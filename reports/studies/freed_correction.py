"""What freeing a correction gains over [UD]'s equal shares, what prefixes lose, and which payload to send (ours).

Freed bandwidths make [UD]'s expected correction a tenth to a fifth shorter, but its goodput at most 2 % greater: a weak
device there is short of power and not of band. A payload for each device pays where the downlink is weak, and next to
nothing elsewhere (DESIGN.md section 5 has the numbers).

Pure functions of a preset or a size, the number of a draw and its seed, then tables and one figure made of their rows;
`compute` runs them all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import msopt
from msopt import best_payloads, draw
from msopt.arrays import FloatArray, IntArray
from msopt.model.control import CORRECTIONS, EQUAL_SHARES, BandRule, best_rule
from msopt.model.sharing import UplinkSharing
from msopt.modes.free_bands import FreeBands
from msopt.modes.uplink_payload import UPLINK_PAYLOADS
from reports.plots.study_plots import study_panels
from reports.plots.style import Panel
from reports.shared.rows import Row
from reports.studies.paper_figures import MS_PRESETS, UD_PRESETS, Figure, figure_table, pair
from reports.studies.study import draw_seed

if TYPE_CHECKING:
    import pandas as pd

POWERS_DBM = (10.0, 20.0, 30.0)
DEVICES = 12
MOST_REJECTED = 8
_LOSS = 1e-9  # relative: less is round-off

FREED = Figure(
    title="Freed correction: what is gained over equal shares",
    paper_says=None,
    source="[UD], its setting with 12 devices; lengths proven optimal for each kind of correction",
    x="downlink_power_dbm",
    y="gain in goodput",
    y_unit="1",
    value="gain",
)
SHORTER = replace(
    FREED,
    title="Freed correction: how much shorter the expected correction is",
    source="[UD], its setting with 12 devices; at the lengths that are best for equal shares",
    y="correction shorter by",
    value="shorter",
)


def corrections(preset: str, draw_number: int, seed: int, power_dbm: float, devices: int = DEVICES) -> list[Row]:
    """The best goodput with each kind of correction, and the time that corrections take at [UD]'s best lengths."""
    scenario, _ = draw(preset, devices=devices, seed=seed, downlink_power_dbm=power_dbm)
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed, "downlink_power_dbm": power_dbm}
    rows: list[Row] = []
    equal: msopt.Solution | None = None
    for kind in CORRECTIONS:
        solution = msopt.solve(scenario, "modes", "exact", correction=kind)
        equal = equal or solution
        assert equal.control is not None
        as_equal = msopt.Control(
            problem="modes",
            draft_length=equal.control.draft_length,
            bandwidth_hz=equal.control.bandwidth_hz,
            mode_rule=best_rule(kind),
        )
        seconds = float(msopt.evaluate(scenario, as_equal).round.correction_s)
        found = {"scheme": kind, "goodput_tokens_per_s": solution.goodput, "correction_s": seconds}
        gains = {
            "gain": solution.goodput / equal.goodput - 1.0,
            "shorter": 1.0 - seconds / float(rows[0]["correction_s"]) if rows else 0.0,
        }
        rows.append(head | found | gains)
    return rows


def prefix_losses(draw_number: int, seed: int, sharing: UplinkSharing, alike: bool) -> list[Row]:
    """By how much the best prefix loses against all uplink sets of 3 to 8 devices, all rejected.

    Devices have SNRs over 45 dB; `alike`: the same channel either way, the server 0 to 20 dB louder. Prefixes of two
    orders: by uplink delay, and by uplink over downlink delay with everything for one device alone.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, MOST_REJECTED + 1))
    up_db = rng.uniform(-15.0, 30.0, count)
    down_db = up_db + rng.uniform(0.0, 20.0) if alike else rng.uniform(-10.0, 40.0, count)
    base, _ = draw(UD_PRESETS[0], devices=count, seed=0)
    bands = FreeBands.of(base.replace(uplink_snr_db=up_db, downlink_snr_db=down_db, uplink_sharing=sharing))
    up = (np.arange(2**count)[:, None] >> np.arange(count)) & 1 == 1
    up_s, down_s = bands.uplink_s(up), bands.downlink(~up).seconds
    alone = 2 ** np.arange(count)
    orders = {"uplink delay": up_s[alone], "uplink over downlink delay": up_s[alone] / down_s[-1 - alone]}
    found: dict[BandRule, FloatArray] = {
        "shared-band": bands.shared(up, ~up).seconds,
        "separate-bands": np.maximum(up_s, down_s),
    }
    head = {"draw": draw_number, "sharing": sharing, "channels": "alike" if alike else "unlike", "devices": count}
    return [
        head | {"scheme": rule, "order": name, "loss": float(np.min(times[_prefixes(key)]) / np.min(times) - 1.0)}
        for rule, times in found.items()
        for name, key in orders.items()
    ]


def _prefixes(key: FloatArray) -> IntArray:
    """The indices of the sets of the first n devices in an order."""
    return np.cumsum(np.concatenate([[0], 2 ** np.argsort(key, kind="stable")]))


def payloads(preset: str, draw_number: int, seed: int, power_dbm: float | None, devices: int = DEVICES) -> list[Row]:
    """The best goodput with each payload for all, and with the better for each device."""
    scenario, _ = draw(preset, devices=devices, seed=seed, downlink_power_dbm=power_dbm)
    head = {"pair": pair(preset), "draw": draw_number, "scenario_seed": seed, "downlink_power_dbm": power_dbm}
    rows: list[Row] = []
    for name, allowed in (*((one, [one]) for one in UPLINK_PAYLOADS), ("each its own", UPLINK_PAYLOADS)):
        best = best_payloads(scenario, allowed)
        found = {"goodput_tokens_per_s": best.goodput, "bound_tokens_per_s": best.bound}
        distributions = best.payload.count("distributions")
        rows.append(head | {"scheme": name} | found | {"distributions": distributions})
    return rows


def compute(
    draws: int, cells: int, seed: int, *, devices: int = DEVICES, powers_dbm: Sequence[float] = POWERS_DBM
) -> dict[str, "pd.DataFrame"]:
    """All draws and their tables; `cells` is the number of random cells of each of four kinds.

    Returns
    -------
    dict of DataFrame
        `draws_freed`, `draws_prefixes`, `draws_payloads` with a row for each draw and scheme; `freed` and
        `correction_times` (of the figure), `prefixes` and `payloads` with what they say on the whole.
    """
    import pandas as pd

    seeds = [draw_seed(seed, number) for number in range(max(draws, cells))]
    settings = [(preset, power) for preset in UD_PRESETS for power in powers_dbm]
    freed = pd.DataFrame(
        row
        for preset, power in settings
        for number in range(draws)
        for row in corrections(preset, number, seeds[number], power, devices)
    )
    lost = pd.DataFrame(row for one in _cells(cells, seeds) for row in one)
    sent = pd.DataFrame(
        row
        for preset, power in [*((preset, None) for preset in MS_PRESETS), *settings]
        for number in range(draws)
        for row in payloads(preset, number, seeds[number], power, devices)
    )
    gained = freed[freed["scheme"] != EQUAL_SHARES].assign(method="exact")
    return {
        "draws_freed": freed,
        "draws_prefixes": lost,
        "draws_payloads": sent,
        "freed": figure_table(FREED, gained),
        "correction_times": figure_table(SHORTER, gained),
        "prefixes": prefix_table(lost),
        "payloads": payload_table(sent),
    }


def _cells(cells: int, seeds: Sequence[int]) -> Iterator[list[Row]]:
    for number in range(cells):
        for sharing in ("fixed-snr", "power-limited"):
            for alike in (False, True):
                yield prefix_losses(number, seeds[number], sharing, alike)


def prefix_table(lost: "pd.DataFrame") -> "pd.DataFrame":
    """By kind of cell and order: in which share of cells the best prefix is not the best set, and what it loses."""
    import pandas as pd

    keys = ["scheme", "sharing", "channels", "order"]
    return pd.DataFrame(
        dict(zip(keys, key, strict=True))
        | {
            "cells": len(group),
            "share": float(np.mean(group["loss"] > _LOSS)),
            "mean": float(np.mean(group["loss"])),
            "max": float(np.max(group["loss"])),
        }
        for key, group in lost.groupby(keys, sort=False)
    )


def payload_table(sent: "pd.DataFrame") -> "pd.DataFrame":
    """By setting: what a payload for each device gains over the better one for all, and in which share of draws."""
    import pandas as pd

    rows = []
    for (of_pair, power), group in sent.groupby(["pair", "downlink_power_dbm"], sort=False, dropna=False):
        by_draw = group.pivot(index="draw", columns="scheme", values="goodput_tokens_per_s")
        gain = by_draw["each its own"] / by_draw[list(UPLINK_PAYLOADS)].max(axis=1) - 1.0
        own = group[group["scheme"] == "each its own"]
        rows.append(
            {"pair": of_pair, "downlink_power_dbm": power}
            | {"tokens over distributions": float(np.mean(by_draw["tokens"] / by_draw["distributions"] - 1.0))}
            | {"gain": float(gain.mean()), "greatest": float(gain.max()), "share": float((gain > _LOSS).mean())}
            | {"distributions": float(own["distributions"].mean())}
            | {"gap": float((own["bound_tokens_per_s"] / own["goodput_tokens_per_s"] - 1.0).max())}
        )
    return pd.DataFrame(rows)


def panels(tables: dict[str, "pd.DataFrame"]) -> list[Panel]:
    """The figure: for each pair the gain in goodput, and by how much corrections are shorter."""
    return [
        *study_panels("freed_correction", tables["freed"], FREED.entry()),
        *study_panels("freed_correction_times", tables["correction_times"], SHORTER.entry()),
    ]
