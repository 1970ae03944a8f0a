"""The figures that are studies: goodput of several schemes along one quantity, in the papers' settings.

What a figure shows, what its paper says of it, and how its table is made of the draws.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msopt import PRESETS
from msopt.model.problems import KINDS, Problem
from reports.shared.estimators import Mean, mean_between, mean_of
from reports.shared.quantities import units_of
from reports.studies.effort import Effort
from reports.studies.study import OPTIMUM, Study, Value

if TYPE_CHECKING:
    import pandas as pd

MS_PRESETS = ["multispin-llama2", "multispin-qwen35"]
UD_PRESETS = ["uldl-qwen25", "uldl-deepseek-r1"]
PRESETS_OF = {"MS": MS_PRESETS, "UD": UD_PRESETS}
PAPER_SAMPLES: dict[str, dict[str, Value]] = {"greedy": {"samples": 1000}}
FINE_GRID: dict[str, dict[str, Value]] = {
    "grid": {"grid_phi": 300, "grid_lambda": 300, "grid_spacing": "logarithmic", "grid_epsilon": 1e-4}
}
"""Of [MS] Algorithm 1: so fine that hardly anything of its loss is the grid's, which the paper leaves open."""
MOST_DEVICES_OF_MS = 24
"""Where [MS] ends; Fig. 8 goes on, to see whether what it says of the fixed scheme comes later."""
MS_SCHEMES = [OPTIMUM, "equal-bandwidth", "homogeneous", "fixed"]
MODE_SCHEMES = [OPTIMUM, "greedy", "all-uplink", "all-downlink", "random-modes"]
LENGTH_SCHEMES = [OPTIMUM, "greedy", "uniform-length", "computation-only-greedy", "computation-only"]
GOODPUT = "goodput_tokens_per_s"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A table of a record.

    Attributes
    ----------
    title, paper_says, source : str
        What it shows, what the paper says of it (None: nothing), whose setting it is.
    x, y, y_unit : str
        The column along which it is drawn (None: along none); the quantity and its unit.
    value : str
        The column of the draws that is averaged.
    by : tuple of str
        Columns beside pair, x and scheme that tell its lines apart.
    """

    title: str
    paper_says: str | None
    source: str
    x: str | None
    y: str = "goodput"
    y_unit: str = "token/s"
    value: str = GOODPUT
    by: tuple[str, ...] = ()

    def entry(self) -> dict[str, Any]:
        """What the manifest says of the table."""
        told = {name: getattr(self, name) for name in ("title", "paper_says", "source", "x", "y", "y_unit")}
        return told | {"columns": units_of([self.x]) | dict.fromkeys(("mean", "low", "high"), self.y_unit)}


_MS = "[MS], its setting; the transmit power, the mean draft time and all laws of the draws are ours"
_UD = "[UD], its setting; the law of the distances and the longest draft of 20 tokens are ours"

STUDIED: dict[str, Figure] = {
    "ms_fig6": Figure(
        title="Three protocols ([MS] Fig. 6)",
        paper_says="The best goodput is about 145 (Llama-2) and 153 token/s (Qwen3.5): 2.5 and about 3 times the "
        "centralised one, 4.6 times point-to-point (Llama-2).",
        source=_MS
        + "; how the server drafts is not stated there: in one step for the whole batch, or for one device after "
        "another, a token in [UD]'s draft time",
        x="devices",
    ),
    "ms_fig7": Figure(
        title="Goodput against bandwidth ([MS] Fig. 7)",
        paper_says="Goodput saturates and the gain narrows as the band grows; up to 88 % over the fixed scheme, at "
        "5 MHz, both pairs; equal bandwidth with its own lengths stays above one length with the best split.",
        source=_MS + "; its noise is a power, so the SNRs stay as the band grows",
        x="bandwidth_hz",
    ),
    "ms_grid": Figure(
        title="Algorithm 1 beside the proven optimum ([MS] Algorithm 1)",
        paper_says="Algorithm 1, the grid over (phi, lambda), finds the global optimum.",
        source=_MS
        + "; so are the 300 x 300 points of its grid, both axes logarithmic, lambda from 1e-4 of its greatest",
        x="bandwidth_hz",
        by=("devices",),
    ),
    "ms_fig8": Figure(
        title="Goodput against the number of devices ([MS] Fig. 8)",
        paper_says="The gain over the fixed scheme grows with K, from 21 % to 67 % (Llama-2) and from 29 % to above "
        "80 % (Qwen3.5); the fixed scheme saturates, then degrades; the gap over one length for all widens.",
        source=f"{_MS}; so are the points beyond K = {MOST_DEVICES_OF_MS}, where the paper ends",
        x="devices",
    ),
    "ud_fig7_8_goodput": Figure(
        title="Goodput against downlink power ([UD] Figs. 7 and 8)",
        paper_says="Goodput rises with the downlink power and saturates.",
        source=_UD + "; the range of the power is ours",
        x="downlink_power_dbm",
    ),
    "ud_fig7_8_length": Figure(
        title="Mean draft length against downlink power ([UD] Figs. 7 and 8)",
        paper_says="The mean length rises with the downlink power.",
        source=_UD + "; the range of the power is ours",
        x="downlink_power_dbm",
        y="mean draft length",
        y_unit="token",
        value="mean_draft_length_tokens",
    ),
    "ud_fig7_8_shares": Figure(
        title="Devices accepted, corrected by uplink, corrected by downlink ([UD] Figs. 7 and 8)",
        paper_says="Rejected devices move from the uplink to the downlink as its power grows, but not all of them.",
        source=_UD + "; the range of the power is ours",
        x="downlink_power_dbm",
        y="share of the devices",
        y_unit="1",
        value="value",
        by=("share",),
    ),
    "ud_fig9_10": Figure(
        title="Ways to choose the modes, against the number of devices ([UD] Figs. 9 and 10)",
        paper_says="Selecting the mode is best in every case and neither fixed direction is best everywhere; at ratio "
        "16 all-downlink is more competitive but still behind, more so as K grows.",
        source=_UD + "; the range of K is ours",
        x="devices",
        by=("power_ratio",),
    ),
    "ud_fig11": Figure(
        title="Ways to choose the lengths, against the power ratio ([UD] Fig. 11)",
        paper_says="The proposed lengths are above the best uniform one and those that ignore communication at every "
        "ratio.",
        source=_UD + "; the range of the ratio is ours",
        x="power_ratio",
    ),
}
"""The figures made of draws of a study, by table."""

STUDY_OF = {name: "ud_fig7_8" if name.startswith("ud_fig7_8") else name for name in STUDIED}
"""Which study a figure is made of: three figures share one."""


def studies(effort: Effort, seed: int, methods: Sequence[str] = ()) -> dict[str, Study]:
    """The study behind each figure; `methods` are a user's own, beside the schemes."""

    def study(
        name: str, problem: Problem, schemes: list[str], draws: int | None = None, **axes: Sequence[float]
    ) -> Study:
        return Study(
            name=name,
            problem=problem,
            presets=PRESETS_OF[KINDS[problem].paper],
            methods=[*schemes, *methods],
            draws=effort.draws[problem] if draws is None else draws,
            seed=seed,
            # Many draws for gains whose rare ones weigh: without the proof, which is for the algorithms beside it.
            exact_up_to_devices=None if draws is None else 0,
            fixed={} if "devices" in axes else {"devices": effort.devices},
            axes={axis: list(values) for axis, values in axes.items()},
            options={name: options for name, options in (PAPER_SAMPLES | FINE_GRID).items() if name in schemes},
        )

    protocols = [OPTIMUM, "centralised", "centralised-serial", "point-to-point", "server-only"]
    powers, many = effort.downlink_power_dbm, effort.curve_draws
    within = [devices for devices in effort.ms_devices if devices <= MOST_DEVICES_OF_MS]
    return {
        "ms_fig6": study("ms_fig6", "heterogeneous", protocols, many, devices=(effort.devices,)),
        "ms_fig7": study("ms_fig7", "heterogeneous", MS_SCHEMES, many, bandwidth_hz=effort.bandwidth_hz),
        "ms_grid": study(
            "ms_grid",
            "heterogeneous",
            [OPTIMUM, "grid"],
            bandwidth_hz=_ends(effort.bandwidth_hz),
            devices=_ends(within),
        ),
        "ms_fig8": study("ms_fig8", "heterogeneous", MS_SCHEMES, many, devices=effort.ms_devices),
        "ud_fig7_8": study("ud_fig7_8", "modes", [OPTIMUM, "greedy"], downlink_power_dbm=powers),
        "ud_fig9_10": study("ud_fig9_10", "modes", MODE_SCHEMES, power_ratio=(4.0, 16.0), devices=effort.ud_devices),
        "ud_fig11": study("ud_fig11", "modes", LENGTH_SCHEMES, power_ratio=effort.power_ratio),
    }


def _ends(values: Sequence[float]) -> tuple[float, ...]:
    return values[0], values[-1]


def with_pairs(draws: "pd.DataFrame") -> "pd.DataFrame":
    """The draws with a column `pair` in place of `base`."""
    named = draws.rename(columns={"base": "pair"})
    named["pair"] = [pair(base) for base in draws["base"]]
    return named


def pair(base: str) -> str:
    """The model pair of a preset; of a scenario, what it was called."""
    return PRESETS[base].pair if base in PRESETS else base


def figure_table(figure: Figure, draws: "pd.DataFrame") -> "pd.DataFrame":
    """Means and intervals over the draws, one row for each pair, line and point."""
    keys = ["pair", *figure.by, *([figure.x] if figure.x else []), "scheme"]
    if "share" in figure.by:
        return averaged(shares(draws), keys, figure.value, lambda drawn: mean_between(drawn, 0.0, 1.0))
    return averaged(draws, keys, figure.value)


def averaged(
    draws: "pd.DataFrame", keys: list[str], value: str, estimate: Callable[[Any], Mean] = mean_of
) -> "pd.DataFrame":
    """Mean and interval of a column for each combination of keys, in the order in which they come."""
    import pandas as pd

    rows = []
    for key, group in draws.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | estimate(group[value])._asdict()
        rows.append(row | {"method": group["method"].iloc[0]})
    return pd.DataFrame(rows)


def shares(draws: "pd.DataFrame") -> "pd.DataFrame":
    """The three shares of every draw below each other, in the columns `share` and `value`."""
    names = {f"{share}_share": share for share in ("accepted", "uplink", "downlink")}
    kept = [column for column in draws.columns if column not in names]
    return draws.rename(columns=names).melt(id_vars=kept, value_vars=list(names.values()), var_name="share")
