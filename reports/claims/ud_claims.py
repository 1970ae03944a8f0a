"""What [UD] says, as tests on the draws."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from reports.claims.comparisons import (
    at,
    by_pair,
    by_scheme,
    end_slopes,
    points,
    steps,
    worst_draws,
)
from reports.claims.judging import CLOSE, PAIRED, SAME, Case, Claim, above, always
from reports.studies.paper_figures import GOODPUT
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_SCHEMES = (OPTIMUM, "greedy")
_LEAST_SHARE = 0.01
_FIGURES = {
    "ud_fig7_8": ("Figs. 7 and 8", ["downlink_power_dbm"]),
    "ud_fig9_10": ("Figs. 9 and 10", ["power_ratio", "devices"]),
    "ud_fig11": ("Fig. 11", ["power_ratio"]),
}


def _crossing(draws: "Draws") -> list[Case]:
    table = draws["ud_fig6"].set_index(["pair", "draw"])
    cases = []
    for name, of_pair in by_pair(table):
        shortest, first = [], []
        for _, drawn in of_pair.groupby("draw"):
            delays = drawn.pivot(index="uplink_devices", columns="scheme", values="delay_s").sort_index()
            crossed = int(np.argmax((delays["downlink"] <= delays["uplink"]).to_numpy()))
            best, found, enumerated = drawn[["best_uplink_devices", "shortest_s", "enumerated_s"]].iloc[0]
            shortest.append(found <= enumerated * (1.0 + SAME))
            first.append(best in (crossed, crossed - 1))
        cases += [always(f"{name}, as short as any of the 2^8 choices", shortest)]
        cases += [always(f"{name}, at the crossing or one before", first)]
    return cases


def _power(draws: "Draws", value: str = GOODPUT) -> "Iterator[tuple[str, pd.DataFrame]]":
    return by_pair(by_scheme(draws["ud_fig7_8"], ["downlink_power_dbm"], value))


def _rises(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in _power(draws):
        for scheme in _SCHEMES:
            curve = steps(table, "downlink_power_dbm", scheme)
            first, last = end_slopes(curve)
            cases.append(above(f"{name}, {scheme}, rise over the range", curve.iloc[:, -1] / curve.iloc[:, 0] - 1.0))
            cases.append(above(f"{name}, {scheme}, fall of the slope", first - last, unit="token/s/dB"))
    return cases


def _lengths(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in _power(draws, "mean_draft_length_tokens"):
        for scheme in _SCHEMES:
            curve = steps(table, "downlink_power_dbm", scheme)
            rise = above(f"{name}, {scheme}, rise over the range", curve.iloc[:, -1] - curve.iloc[:, 0], unit="token")
            up = np.diff(curve.mean().to_numpy()) >= -SAME
            cases.append(rise)
            cases.append(always(f"{name}, {scheme}, steps at which the mean does not fall", up))
    return cases


def _moves(draws: "Draws") -> list[Case]:
    table = draws["ud_fig7_8"]
    table = table.assign(up=table["uplink_share"] / (table["uplink_share"] + table["downlink_share"]))
    cases = []
    for name, of_pair in by_pair(by_scheme(table, ["downlink_power_dbm"], "up")):
        curve = steps(of_pair, "downlink_power_dbm", OPTIMUM)
        cases.append(above(f"{name}, fall of the uplink's part", curve.iloc[:, 0] - curve.iloc[:, -1]))
        cases.append(above(f"{name}, uplink's part at the greatest power", curve.iloc[:, -1], _LEAST_SHARE))
    return cases


def _selection(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(by_scheme(draws["ud_fig9_10"], ["power_ratio", "devices"])):
        for ratio in points(table, "power_ratio"):
            for devices in points(table, "devices"):
                here = at(table, power_ratio=ratio, devices=devices)
                for other in ("all-uplink", "all-downlink", "random-modes"):
                    gain = here[OPTIMUM] / here[other] - 1.0
                    cases.append(above(f"{name} over {other}, ratio {ratio:g}, K = {devices:g}", gain))
    return cases


def _no_direction(draws: "Draws") -> list[Case]:
    table = by_scheme(draws["ud_fig9_10"], ["power_ratio", "devices"])
    up = (table["all-uplink"] > table["all-downlink"]).to_numpy()
    return [
        Case(name=f"draws in which {name} is the better one", value=share, draws=up.size, degree=float(share > 0.0))
        for name, share in (("all-uplink", float(np.mean(up))), ("all-downlink", float(np.mean(~up))))
    ]


def _more_power(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(by_scheme(draws["ud_fig9_10"], ["power_ratio", "devices"])):
        behind = (1.0 - table["all-downlink"] / table[OPTIMUM]).to_frame("behind")
        low, high = points(table, "power_ratio")
        for devices in points(table, "devices"):
            at_low = at(behind, power_ratio=low, devices=devices)["behind"]
            at_high = at(behind, power_ratio=high, devices=devices)["behind"]
            cases.append(above(f"{name}, K = {devices:g}, closer at ratio {high:g} by", at_low - at_high))
            cases.append(above(f"{name}, K = {devices:g}, behind at ratio {high:g} by", at_high))
        curve = steps(at(behind, power_ratio=high), "devices", "behind")
        more = curve.iloc[:, -1] - curve.iloc[:, 0]
        cases.append(above(f"{name}, K = {curve.columns[0]} to {curve.columns[-1]}, further behind by", more))
    return cases


def _above_lengths(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(by_scheme(draws["ud_fig11"], ["power_ratio"])):
        for scheme in ("greedy", OPTIMUM):
            for other in ("uniform-length", "computation-only"):
                for ratio in points(table, "power_ratio"):
                    here = at(table, power_ratio=ratio)
                    cases.append(
                        above(f"{name}, {scheme} over {other}, ratio {ratio:g}", here[scheme] / here[other] - 1)
                    )
    return cases


def _greedy(draws: "Draws") -> list[Case]:
    return worst_draws(draws, "greedy", _FIGURES, CLOSE)


UD_CLAIMS = (
    Claim(
        id="crossing",
        paper="[UD]",
        sentence="The best uplink set is a prefix by uplink delay, its size that of the crossing or one less.",
        test="8 of 20 devices rejected: the time is the shortest of all 2^8 choices of modes (to 1e-9), and the size "
        "is the first at which the downlink is not slower, or one less; share of draws",
        cases=_crossing,
    ),
    Claim(
        id="power-saturates",
        paper="[UD]",
        sentence="Goodput rises with the downlink power and saturates.",
        test="The interval of the mean rise from the least to the greatest power lies above 0, and so does that of the "
        "slope at the low end less the slope at the high end",
        cases=_rises,
    ),
    Claim(
        id="length-rises",
        paper="[UD]",
        sentence="The mean draft length rises with the downlink power.",
        test="The interval of the mean rise from the least to the greatest power lies above 0, and the mean falls at "
        "no step",
        cases=_lengths,
    ),
    Claim(
        id="moves-to-downlink",
        paper="[UD]",
        sentence="As the downlink power grows, rejected devices move from the uplink to the downlink, but not all.",
        test="Uplink's part of the rejected devices: the interval of its fall lies above 0, and that of what is left "
        "at the greatest power above 1 %",
        cases=_moves,
    ),
    Claim(
        id="selection-best",
        paper="[UD]",
        sentence="Selecting the mode is best in every case.",
        test=f"Over all-uplink, all-downlink and random modes at every K and ratio: {PAIRED}",
        cases=_selection,
    ),
    Claim(
        id="no-direction",
        paper="[UD]",
        sentence="Neither fixed direction is best everywhere.",
        test="Over the draws of Figs. 9 and 10 either direction is the better one at least once",
        cases=_no_direction,
    ),
    Claim(
        id="ratio-16",
        paper="[UD]",
        sentence="At power ratio 16 all-downlink is more competitive than at 4 but still behind, more so as K grows.",
        test="Shortfall of all-downlink at ratio 4 less that at 16, that at 16 itself, and its growth from the least "
        f"to the greatest K: {PAIRED}",
        cases=_more_power,
    ),
    Claim(
        id="lengths-above",
        paper="[UD]",
        sentence="The proposed lengths are above the best uniform length and above computation-only at every ratio.",
        test=f"Algorithm 1 (greedy) and our optimum over each, at every ratio: {PAIRED}",
        cases=_above_lengths,
    ),
)
"""In the order of the paper."""
UD_TACIT = (
    Claim(
        id="greedy-close",
        paper="[UD]",
        kind="tacit assumption",
        sentence="Algorithm 1 is close to the best lengths.",
        test="Goodput at most 1 % below our optimum, in every draw; share of draws",
        cases=_greedy,
        small_is_good=True,
    ),
)
