"""What [MS] says of the goodput and the gains over other schemes, as tests on the draws."""

from functools import partial
from typing import TYPE_CHECKING

from reports.claims.comparisons import (
    FLAT_WORDS,
    at_points,
    by_pair,
    by_scheme,
    change_of_ratio,
    falls_from_its_peak,
    flattens,
    short_of_optimum,
    steps,
)
from reports.claims.judging import SAME, Case, Claim, above_0, gains
from reports.claims.quoted_claims import claims_of
from reports.shared.estimators import mean_of
from reports.studies.paper_figures import MOST_DEVICES_OF_MS
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_claim = partial(Claim, paper="[MS]")
_BY_BANDWIDTH, _BY_DEVICES = ("ms_fig7", "bandwidth_hz"), ("ms_fig8", "devices")
_RATIO = "the interval of the change of the ratio of the means lies above 0"
_HALF = "which, chosen on one half of the draws and compared on the other"


def _along(draws: "Draws", figure: str, key: str) -> "pd.DataFrame":
    """Schemes side by side; along the devices as far as the paper goes."""
    table = by_scheme(draws[figure], [key])
    return table if key != "devices" else table[table.index.get_level_values(key) <= MOST_DEVICES_OF_MS]


def _grows(draws: "Draws", over: str, figure: str, key: str, sign: float = 1.0, scale: float = 1.0) -> list[Case]:
    cases = []
    for name, table in by_pair(_along(draws, figure, key)):
        ours, others = steps(table, key, OPTIMUM), steps(table, key, over)
        first, last = (scale * float(ours.columns[end]) for end in (0, -1))
        cases.append(above_0(f"{name}, {first:g} to {last:g}", change_of_ratio(ours, others).times(sign)))
    return cases


def _widens_in_tokens(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(_along(draws, *_BY_DEVICES)):
        gap = steps(table, "devices", OPTIMUM) - steps(table, "devices", "homogeneous")
        ends = f"{name}, K = {gap.columns[0]:g} to {gap.columns[-1]:g}"
        cases.append(above_0(ends, mean_of(gap.iloc[:, -1] - gap.iloc[:, 0]), unit="token/s"))
    return cases


def _fixed_by_devices(table: "pd.DataFrame") -> list[tuple[str, "pd.DataFrame"]]:
    return [(name, steps(of_pair, "devices", "fixed")) for name, of_pair in by_pair(table)]


def _uniform_bandwidth(draws: "Draws") -> list[Case]:
    return [
        gains(f"{name} at {scale * x:g} {unit}", here["equal-bandwidth"], here["homogeneous"])
        for (figure, key), unit, scale in ((_BY_BANDWIDTH, "MHz", 1e-6), (_BY_DEVICES, "devices", 1.0))
        for name, (x,), here in at_points(_along(draws, figure, key), key)
    ]


def _grid(draws: "Draws") -> list[Case]:
    table = by_scheme(draws["ms_grid"], ["devices", "bandwidth_hz"])
    return [
        short_of_optimum(f"{name}, K = {devices:g}", here, "grid", SAME)
        for name, (devices,), here in at_points(table, "devices")
    ]


OF_THE_GOODPUT = (
    *claims_of("[MS]"),
    _claim(
        id="gain-grows",
        sentence="The gain over the fixed scheme grows with K.",
        test=f"Gain at K = {MOST_DEVICES_OF_MS} less gain at the least K: {_RATIO}",
        cases=lambda draws: _grows(draws, "fixed", *_BY_DEVICES),
    ),
    _claim(
        id="fixed-saturates",
        sentence="The fixed scheme saturates as K grows.",
        test=f"{FLAT_WORDS}, {_HALF}: the interval of half the steepest slope in K less the last lies above 0",
        cases=lambda draws: [
            flattens(name, curve, unit="token/s per device")
            for name, curve in _fixed_by_devices(_along(draws, *_BY_DEVICES))
        ],
    ),
    _claim(
        id="fixed-degrades",
        sentence=f"The fixed scheme degrades as K grows to {MOST_DEVICES_OF_MS}, where the paper ends.",
        test=f"Its mean at the K of its peak over that at the greatest, {_HALF}: the interval lies above 0",
        cases=lambda draws: [
            falls_from_its_peak(name, curve) for name, curve in _fixed_by_devices(_along(draws, *_BY_DEVICES))
        ],
    ),
    _claim(
        id="fixed-degrades-later",
        sentence="The fixed scheme degrades as K grows, as far as we go.",
        test=f"Its mean at the K of its peak over that at the greatest, {_HALF}: the interval lies above 0",
        cases=lambda draws: [
            falls_from_its_peak(name, curve)
            for name, curve in _fixed_by_devices(by_scheme(draws["ms_fig8"], ["devices"]))
        ],
    ),
    _claim(
        id="saturates",
        sentence="Goodput saturates as the band grows.",
        test=f"{FLAT_WORDS}, {_HALF}: the interval of half the steepest slope less the last lies above 0",
        cases=lambda draws: [
            flattens(name, steps(table, "bandwidth_hz", OPTIMUM), unit="token/s per MHz", scale=1e-6)
            for name, table in by_pair(_along(draws, *_BY_BANDWIDTH))
        ],
    ),
    _claim(
        id="gain-narrows",
        sentence="The gain over the fixed scheme narrows as the band grows.",
        test=f"Gain at the least bandwidth less gain at the greatest: {_RATIO}",
        cases=lambda draws: _grows(draws, "fixed", *_BY_BANDWIDTH, sign=-1.0, scale=1e-6),
    ),
    _claim(
        id="gap-widens",
        sentence="The gap of a length for each over one length for all widens with K, relatively.",
        test=f"Gain over it at K = {MOST_DEVICES_OF_MS} less gain at the least K: {_RATIO}",
        cases=lambda draws: _grows(draws, "homogeneous", *_BY_DEVICES),
    ),
    _claim(
        id="gap-widens-in-tokens",
        sentence="The gap of a length for each over one length for all widens with K, in tokens per second.",
        test=f"Difference of the means at K = {MOST_DEVICES_OF_MS} less that at the least K: its interval lies above 0",
        cases=_widens_in_tokens,
    ),
    _claim(
        id="uni-bw-above-homo",
        sentence="Equal bandwidth with its own lengths is above one length with the best split, throughout.",
        test="At every point of Figs. 7 and 8: the interval of the ratio of the means, less 1, lies above 0",
        cases=_uniform_bandwidth,
    ),
    _claim(
        id="grid-global",
        sentence="Algorithm 1, the grid over (phi, lambda), finds the global optimum.",
        test="Its goodput is that of method exact to 1e-9, in every draw (300 x 300 points, both axes logarithmic, "
        "lambda from 1e-4 of its greatest: ours)",
        cases=_grid,
    ),
)
