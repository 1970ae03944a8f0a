"""What [MS] says of the goodput and the gains over other schemes, as tests on the draws."""

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
from reports.claims.judging import PAIRED, SAME, Case, Claim, above, near
from reports.studies.gains import PAPER_GAIN
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

LEVEL_RTOL = 0.1
"""How near a quoted number has to be met."""
_LEVELS = {"Llama-2": 145.0, "Qwen3.5": 153.0}
_OVER_CENTRALISED = {"Llama-2": 2.5, "Qwen3.5": 3.0}
_OVER_POINT_TO_POINT = {"Llama-2": 4.6}


def _gain(draws: "Draws", figure: str, key: str, scheme: str = OPTIMUM, over: str = "fixed") -> "pd.DataFrame":
    table = by_scheme(draws[figure], [key])
    return (table[scheme] / table[over] - 1.0).to_frame("gain")


def _up_to(draws: "Draws") -> list[Case]:
    cases = []
    for name, gain in by_pair(_gain(draws, "ms_fig7", "bandwidth_hz")):
        least = points(gain, "bandwidth_hz")[0]
        here = above(f"{name} at {least / 1e6:g} MHz", at(gain, bandwidth_hz=least)["gain"])
        inside = here.low is not None and here.high is not None and here.low <= PAPER_GAIN <= here.high
        cases.append(Case(**{**vars(here), "degree": float(inside)}))
        means = steps(gain, "bandwidth_hz", "gain").mean().to_numpy()
        top, place = float(means.max()), int(means.argmax())
        cases.append(
            Case(
                name=f"{name}, greatest mean, at {points(gain, 'bandwidth_hz')[place] / 1e6:g} MHz, at least 88 %",
                value=top,
                draws=here.draws,
                degree=float(top >= PAPER_GAIN),
            )
        )
    return cases


def _grows(draws: "Draws") -> list[Case]:
    return [
        above(f"{name}, K = {first:g} to {last:g}", change)
        for name, first, last, change in _ends(_gain(draws, "ms_fig8", "devices"), "devices", "gain")
    ]


def _narrows(draws: "Draws") -> list[Case]:
    return [
        above(f"{name}, {first / 1e6:g} to {last / 1e6:g} MHz", -change)
        for name, first, last, change in _ends(_gain(draws, "ms_fig7", "bandwidth_hz"), "bandwidth_hz", "gain")
    ]


def _ends(table: "pd.DataFrame", key: str, column: str) -> Iterator[tuple[str, float, float, np.ndarray]]:
    for name, of_pair in by_pair(table):
        curve = steps(of_pair, key, column)
        yield name, float(curve.columns[0]), float(curve.columns[-1]), (curve.iloc[:, -1] - curve.iloc[:, 0]).to_numpy()


def _degrades(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(by_scheme(draws["ms_fig8"], ["devices"])):
        curve = steps(table, "devices", "fixed")
        peak = curve.mean().idxmax()
        drop = 1.0 - curve.iloc[:, -1] / curve[peak]
        cases.append(above(f"{name}, from K = {peak} to {curve.columns[-1]}", drop))
    return cases


def _saturates(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(by_scheme(draws["ms_fig7"], ["bandwidth_hz"])):
        first, last = end_slopes(steps(table, "bandwidth_hz", OPTIMUM))
        cases.append(above(f"{name}, fall of the slope", 1.0 - last / first))
    return cases


def _widens(draws: "Draws") -> list[Case]:
    table = by_scheme(draws["ms_fig8"], ["devices"])
    table["token/s"] = table[OPTIMUM] - table["homogeneous"]
    table["1"] = table[OPTIMUM] / table["homogeneous"] - 1.0
    return [
        above(f"{name}, {'relative' if unit == '1' else 'in token/s'}, K = {first:g} to {last:g}", change, unit=unit)
        for unit in ("token/s", "1")
        for name, first, last, change in _ends(table, "devices", unit)
    ]


def _uniform_bandwidth(draws: "Draws") -> list[Case]:
    cases = []
    for figure, key, unit, scale in (("ms_fig7", "bandwidth_hz", "MHz", 1e6), ("ms_fig8", "devices", "devices", 1.0)):
        for name, gain in by_pair(_gain(draws, figure, key, "equal-bandwidth", "homogeneous")):
            for x in points(gain, key):
                cases.append(above(f"{name} at {x / scale:g} {unit}", at(gain, **{key: x})["gain"]))
    return cases


def _grid(draws: "Draws") -> list[Case]:
    figures = {"ms_fig7": ("Fig. 7", ["bandwidth_hz"]), "ms_fig8": ("Fig. 8", ["devices"])}
    return worst_draws(draws, "grid", figures, SAME)


def _ratio_cases(draws: "Draws", paper: dict[str, float], over: str | None, unit: str) -> list[Case]:
    table = by_scheme(draws["ms_fig6"], ["devices"])
    cases = []
    for name, of_pair in by_pair(table):
        if name in paper:
            values = of_pair[OPTIMUM] / (of_pair[over] if over else 1.0)
            cases.append(near(f"{name}, {paper[name]:g} in the paper", values, paper[name], LEVEL_RTOL, unit))
    return cases


OF_THE_GOODPUT = (
    Claim(
        id="levels",
        paper="[MS]",
        sentence="The best goodput is about 145 (Llama-2) and 153 token/s (Qwen3.5).",
        test="Mean at K = 20 within 10 %; no independent evidence, since transmit power and draft time, which the "
        "paper does not state, were chosen to come near",
        cases=lambda draws: _ratio_cases(draws, _LEVELS, None, "token/s"),
    ),
    Claim(
        id="over-centralised",
        paper="[MS]",
        sentence="That is 2.5 (Llama-2) and about 3 times (Qwen3.5) the centralised protocol.",
        test="Mean ratio at K = 20 within 10 %; the centralised one drafts for the whole batch in one step (ours)",
        cases=lambda draws: _ratio_cases(draws, _OVER_CENTRALISED, "centralised", "times"),
    ),
    Claim(
        id="over-point-to-point",
        paper="[MS]",
        sentence="It is 4.6 times point-to-point (Llama-2).",
        test="Mean ratio at K = 20 within 10 %",
        cases=lambda draws: _ratio_cases(draws, _OVER_POINT_TO_POINT, "point-to-point", "times"),
    ),
    Claim(
        id="up-to-88",
        paper="[MS]",
        sentence="Up to 88 % over the fixed scheme, at 5 MHz, both pairs.",
        test="88 % lies in the interval of the mean gain at the least bandwidth; and the greatest mean gain along the "
        "bandwidth is at least 88 %",
        cases=_up_to,
    ),
    Claim(
        id="gain-grows",
        paper="[MS]",
        sentence="The gain over the fixed scheme grows with K: 21 to 67 % (Llama-2), 29 to above 80 % (Qwen3.5).",
        test=f"Gain at the greatest K less gain at the least: {PAIRED}",
        cases=_grows,
    ),
    Claim(
        id="fixed-degrades",
        paper="[MS]",
        sentence="The fixed scheme saturates, then degrades, as K grows.",
        test=f"Its goodput at the K of its greatest mean less that at the greatest K, relative: {PAIRED}",
        cases=_degrades,
    ),
    Claim(
        id="saturates",
        paper="[MS]",
        sentence="Goodput saturates as the band grows.",
        test="Slope between the last two bandwidths against that between the first two: the interval of its relative "
        "fall lies above 0",
        cases=_saturates,
    ),
    Claim(
        id="gain-narrows",
        paper="[MS]",
        sentence="The gain over the fixed scheme narrows as the band grows.",
        test=f"Gain at the least bandwidth less gain at the greatest: {PAIRED}",
        cases=_narrows,
    ),
    Claim(
        id="gap-widens",
        paper="[MS]",
        sentence="The gap of a length for each over one length for all widens with K.",
        test=f"Gap at the greatest K less gap at the least, in token/s and relative: {PAIRED}",
        cases=_widens,
    ),
    Claim(
        id="uni-bw-above-homo",
        paper="[MS]",
        sentence="Equal bandwidth with its own lengths is above one length with the best split, throughout.",
        test=f"At every point of Figs. 7 and 8: {PAIRED}",
        cases=_uniform_bandwidth,
    ),
    Claim(
        id="grid-global",
        paper="[MS]",
        sentence="Algorithm 1, the grid over (phi, lambda), finds the global optimum.",
        test="Its goodput is the optimum's to 1e-9; share of draws (100 x 100 points, spacing ours)",
        cases=_grid,
        small_is_good=True,
    ),
)
