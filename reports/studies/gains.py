"""Gains over the baselines that know nothing of heterogeneity: Monte Carlo over families of scenarios."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.method import Method
from msopt.methods import methods_of
from msopt.model.problems import KINDS
from reports.studies.effort import Effort
from reports.studies.paper_figures import PAPER_SAMPLES, PRESETS_OF
from reports.studies.quoted import UP_TO
from reports.studies.study import OPTIMUM, Study

if TYPE_CHECKING:
    import pandas as pd


def _named(methods: Iterable[Method]) -> list[str]:
    """In the order of the papers' names for them."""
    return [method.name for method in sorted(methods, key=lambda method: method.whose)]


BASELINES: dict[str, list[str]] = {
    "heterogeneous": _named(methods_of("heterogeneous", "baseline")),
    "modes": [*_named(methods_of("modes", "baseline")), *_named(methods_of("modes", "algorithm"))],
}
_EXACT_UP_TO = {"heterogeneous": 0}
"""Thousands of scenarios: their optimum is that of `solve_many`, found without the proof that the figures pay for."""
_QUANTILES = np.linspace(0.0, 1.0, 101)

FAMILIES: dict[str, dict[str, dict[str, list[Any]]]] = {
    "heterogeneous": {
        "spread of acceptance": {"acceptance_spread": [0.0, 0.5, 1.5]},
        "spread of draft time": {"draft_time_spread": [0.0, 3.0, 6.0]},
        "spread of SNR": {"snr_spread": [0.0, 0.5, 1.5]},
        "number of devices": {"devices": [5, 10, 30]},
        "bandwidth": {"bandwidth_hz": [2.5e6, 5e6, 20e6, 40e6]},
        "distribution bits": {"distribution_bits": [8_000, 16_000, 64_000, 128_000]},
        "server speed": {"server_speed": [0.5, 2.0, 4.0]},
    },
    "modes": {
        "spread of acceptance": {"acceptance_spread": [0.0, 2.0]},
        "spread of SNR": {"snr_spread": [0.0, 1.5]},
        "number of devices": {"devices": [6, 10, 14]},
        "bandwidth": {"bandwidth_hz": [5e6, 20e6]},
        "distribution bits": {"distribution_bits": [8_000, 128_000]},
        "server speed": {"server_speed": [0.5, 4.0]},
        "downlink power": {"downlink_power_dbm": [0.0, 15.0]},
    },
}
"""What varies in each family, one quantity at a time, on the presets of the problem's paper; 1 and the presets' own
values are the family "presets"."""


def studies(effort: Effort, seed: int, methods: tuple[str, ...] = ()) -> dict[str, Study]:
    """The study of each family, "PROBLEM: FAMILY"."""
    found = {}
    for number, (problem, families) in enumerate(FAMILIES.items()):
        kind = KINDS[problem]
        presets = PRESETS_OF[kind.paper]
        every: dict[str, tuple[list[str], dict[str, list[Any]]]] = {
            "presets": (presets if kind.corrects else [*PRESETS_OF["MS"], *PRESETS_OF["UD"]], {}),
            **{family: (presets, axes) for family, axes in families.items()},
        }
        for place, (family, (bases, axes)) in enumerate(every.items()):
            devices = effort.devices if family == "presets" else effort.gains_devices[problem]
            found[f"{problem}: {family}"] = Study(
                name=family,
                problem=problem,  # type: ignore[arg-type]
                presets=bases,
                methods=[OPTIMUM, *BASELINES[problem], *methods],
                draws=effort.gains_draws[problem],
                seed=seed + 1000 * (number + 1) + place,
                exact_up_to_devices=_EXACT_UP_TO.get(problem),
                fixed={} if "devices" in axes else {"devices": devices},
                axes=axes,
                options=PAPER_SAMPLES if "greedy" in BASELINES[problem] else {},
            )
    return found


def gains_of(study: Study, draws: "pd.DataFrame") -> "pd.DataFrame":
    """One row for each scenario and baseline: optimum/baseline - 1."""
    best = draws[draws["scheme"] == OPTIMUM].reset_index(drop=True)
    settings = best.apply(lambda row: ", ".join(f"{name} = {row[name]:g}" for name in study.axes) or "own", axis=1)
    point = ["base", "scenario_hash", *study.axes, "draw"]
    tables = []
    for baseline in study.methods[1:]:
        other = draws[draws["scheme"] == baseline]
        if other.empty:
            continue
        matched = best[point].merge(other, on=point, how="left")["goodput_tokens_per_s"]
        one = best[["base", "draw", "scenario_seed", "scenario_hash", "method"]].assign(
            problem=study.problem,
            family=study.name,
            setting=settings,
            baseline=baseline,
            optimum_tokens_per_s=best["goodput_tokens_per_s"],
            baseline_tokens_per_s=matched,
            gain=best["goodput_tokens_per_s"] / matched - 1.0,
        )
        tables.append(one[one["gain"].notna()])  # of a draw in which the baseline failed there is none
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _distributions(gains: "pd.DataFrame", *groupings: list[str]) -> Iterator[tuple[dict[str, str], FloatArray]]:
    """What each group of the problem, the baseline and these keys is called, "all" where a key is none; its gains."""
    for keys in groupings:
        names = ["problem", *keys, "baseline"]
        for key, group in gains.groupby(names, sort=False):
            named: dict[str, Any] = {"family": "all", "setting": "all"} | dict(zip(names, key, strict=True))
            yield {name: named[name] for name in ("problem", "family", "setting", "baseline")}, group["gain"].to_numpy()


def summary(gains: "pd.DataFrame") -> "pd.DataFrame":
    """The distribution of the gain: of every setting, of every family, and of all families together."""
    import pandas as pd

    rows = [
        head
        | {
            "scenarios": len(gain),
            "mean": float(np.mean(gain)),
            "median": float(np.median(gain)),
            "p95": float(np.quantile(gain, 0.95)),
            "max": float(np.max(gain)),
            "share_above_paper": float(np.mean(gain > UP_TO)),
        }
        for head, gain in _distributions(gains, ["family", "setting"], ["family"], [])
    ]
    return pd.DataFrame(rows)


def quantiles(gains: "pd.DataFrame") -> "pd.DataFrame":
    """Every hundredth of the distribution in each family and in all together."""
    import pandas as pd

    rows = [
        head | {"level": float(level), "gain": float(value)}
        for head, gain in _distributions(gains, ["family"], [])
        for level, value in zip(_QUANTILES, np.quantile(gain, _QUANTILES), strict=True)
    ]
    return pd.DataFrame(rows).drop(columns="setting")
