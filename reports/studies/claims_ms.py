"""What [MS] says, as tests on the draws."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from msopt.multispin import common_length
from reports.studies.claims import Case, Claim, above, always, below, near
from reports.studies.comparisons import SHORT, at, by_pair, by_scheme, end_slopes, points, steps, worst_draws
from reports.studies.gains import PAPER_GAIN
from reports.studies.paper_figures import GOODPUT, MS_PRESETS, pair
from reports.studies.probes import expected_tokens_with_deviations
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.studies.claims import Draws

CLOSE = 0.01
"""A loss up to here counts as none."""
LEVEL_RTOL = 0.1
"""How near a quoted number has to be met."""
_EXACT = 1e-9
_ASYMPTOTE_RTOL = 1e-3
_LEVELS = {"Llama-2": 145.0, "Qwen3.5": 153.0}
_OVER_CENTRALISED = {"Llama-2": 2.5, "Qwen3.5": 3.0}
_OVER_POINT_TO_POINT = {"Llama-2": 4.6}
_QUOTED_LENGTH = 8


def _probe(draws: "Draws", *names: str) -> list[tuple[str, str, np.ndarray]]:
    """Pair, probe and its values over the draws."""
    table = draws["probes"]
    found = []
    for of_pair, name in SHORT.items():
        for probe in names:
            values = table[(table["pair"] == of_pair) & (table["probe"] == probe)]["value"]
            if len(values):
                found.append((name, probe, values.to_numpy()))
    return found


def _always(draws: "Draws", probe: str) -> list[Case]:
    return [always(name, values) for name, _, values in _probe(draws, probe)]


def _compensates(draws: "Draws") -> list[Case]:
    ranks = [
        above(f"{name}, minus the rank correlation of B_k and e_k", values, unit="")
        for name, _, values in _probe(draws, "compensates: rank")
    ]
    changes = [
        always(f"{name}, devices whose B_k rises at 1 dB less", values)
        for name, _, values in _probe(draws, "compensates: change")
    ]
    return ranks + changes


def _unimodal(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(_one_length(draws)):
        curves = table["one length"].unstack("draft_length_tokens").dropna(axis=1).to_numpy()
        signs = np.sign(np.diff(curves, axis=1))
        cases.append(always(name, np.all(np.diff(signs, axis=1) <= 0.0, axis=1)))
    return cases


def _closed_form(draws: "Draws") -> list[Case]:
    table = draws["ms_fig3"]
    searched = table[(table["scheme"] == "one length") & (table["draft_length_tokens"] >= 1.0)]
    best = searched.groupby(["pair", "draw"])[GOODPUT].max()
    closed = table[table["scheme"] == "closed form"].set_index(["pair", "draw"])[GOODPUT]
    met = closed.ge(best.reindex(closed.index) * (1.0 - _EXACT)).to_frame("met")
    return [always(name, of_pair["met"]) for name, of_pair in by_pair(met)]


def _one_length(draws: "Draws") -> "pd.DataFrame":
    table = draws["ms_fig3"]
    return by_scheme(table[table["scheme"] == "one length"], ["draft_length_tokens"])


def _monotone(draws: "Draws") -> list[Case]:
    cases = []
    for name, sign in (("verification", 1.0), ("latency", -1.0), ("acceptance", 1.0)):
        table = draws[f"ms_fig4_{name}"]
        lengths = table[table["scheme"] == "closed form (real)"]["mean"].to_numpy()
        cases.append(always(f"{'rises' if sign > 0 else 'falls'} with the {name}", sign * np.diff(lengths) > 0.0))
    return cases


def _asymptote(draws: "Draws") -> list[Case]:
    del draws
    cases, before = [], np.inf
    ratio = 6.0
    for rejection in (1e-2, 1e-4, 1e-6, 1e-8):
        alpha = 1.0 - rejection
        length = float(common_length(alpha, 1.0, ratio))
        error = (length + 1.0) / np.sqrt(2.0 * (ratio - 1.0) / -np.log(alpha)) - 1.0
        last = rejection == 1e-8
        holds = abs(error) < before and (not last or abs(error) <= _ASYMPTOTE_RTOL)
        cases.append(Case(name=f"1 - alpha = {rejection:g}", value=abs(error), draws=1, degree=float(holds)))
        before = abs(error)
    return cases


def _gain(draws: "Draws", figure: str, key: str, baseline: str = "fixed") -> "pd.DataFrame":
    table = by_scheme(draws[figure], [key])
    return (table[OPTIMUM] / table[baseline] - 1.0).to_frame("gain")


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
        for name, gain in by_pair(_over_homogeneous(draws, figure, key)):
            for x in points(gain, key):
                cases.append(above(f"{name} at {x / scale:g} {unit}", at(gain, **{key: x})["gain"]))
    return cases


def _over_homogeneous(draws: "Draws", figure: str, key: str) -> "pd.DataFrame":
    table = by_scheme(draws[figure], [key])
    return (table["equal-bandwidth"] / table["homogeneous"] - 1.0).to_frame("gain")


def _grid(draws: "Draws") -> list[Case]:
    figures = {"ms_fig7": ("Fig. 7", ["bandwidth_hz"]), "ms_fig8": ("Fig. 8", ["devices"])}
    return worst_draws(draws, "grid", figures, _EXACT)


def _ratio_cases(draws: "Draws", paper: dict[str, float], over: str | None, unit: str) -> list[Case]:
    table = by_scheme(draws["ms_fig6"], ["devices"])
    cases = []
    for name, of_pair in by_pair(table):
        if name in paper:
            values = of_pair[OPTIMUM] / (of_pair[over] if over else 1.0)
            cases.append(near(f"{name}, {paper[name]:g} in the paper", values, paper[name], LEVEL_RTOL, unit))
    return cases


def _one_mean(draws: "Draws") -> list[Case]:
    lost = [below(f"{name}, goodput lost", values, CLOSE) for name, _, values in _probe(draws, "one mean: lost")]
    tokens = [
        Case(
            name=f"{SHORT[pair(preset)]} {dataset}, E[N] at {_QUOTED_LENGTH} tokens above the formula's",
            value=more,
            draws=1,
            degree=float(abs(more) <= CLOSE),
        )
        for preset in MS_PRESETS
        for dataset, more in expected_tokens_with_deviations(preset, _QUOTED_LENGTH)
    ]
    return lost + tokens


def _upload(draws: "Draws") -> list[Case]:
    return [below(name, values, CLOSE) for name, _, values in _probe(draws, "upload")]


_PAIRED = "the 95 % interval of the mean paired difference lies above 0"
MS_CLAIMS = (
    Claim(
        id="compensates",
        paper="[MS]",
        sentence="With one length for all, the split of the band compensates the devices with weak channels.",
        test="Minus the rank correlation of B_k and spectral efficiency over the devices has its interval above 0, and "
        "the B_k of a device rises when its own SNR falls by 1 dB, for every device",
        cases=_compensates,
    ),
    Claim(
        id="rewards",
        paper="[MS]",
        sentence="With a length for each, the split rewards devices whose tokens are accepted: B_k rises with alpha_k.",
        test="At the best real lengths B_k rises when the alpha_k of that device alone goes a tenth of its way to 1; "
        "share of the devices",
        cases=lambda draws: _always(draws, "rewards"),
    ),
    Claim(
        id="unimodal",
        paper="[MS]",
        sentence="Goodput is unimodal in the common length.",
        test="Over lengths 0 to 24 the differences change their sign at most once, from plus to minus; share of draws",
        cases=_unimodal,
    ),
    Claim(
        id="closed-form",
        paper="[MS]",
        sentence="The best common length is the better of floor and ceiling of the closed form.",
        test="The goodput at it is the greatest over lengths 1 to 24 (to 1e-9); share of draws",
        cases=_closed_form,
    ),
    Claim(
        id="length-trends",
        paper="[MS]",
        sentence="The best length rises with verification time and acceptance and falls with the latency per token.",
        test="Sign of every step of the closed form along Fig. 4; share of the steps",
        cases=_monotone,
    ),
    Claim(
        id="asymptote",
        paper="[MS]",
        sentence="As alpha goes to 1, L + 1 approaches the square root of 2 (T_ver/theta - 1)/(-ln alpha).",
        test=f"At T_ver/theta = 6 the relative distance falls with 1 - alpha, to at most {_ASYMPTOTE_RTOL:g} at 1e-8",
        cases=_asymptote,
        small_is_good=True,
    ),
    Claim(
        id="phi-rises",
        paper="[MS]",
        sentence="The common end phi rises with each L_k.",
        test="One token more for one device, from the best lengths; share of the devices for which phi rises",
        cases=lambda draws: _always(draws, "phi rises"),
    ),
    Claim(
        id="share-rises",
        paper="[MS]",
        sentence="B_k rises with L_k.",
        test="One token more for one device, from the best lengths; share of the devices whose own B_k rises",
        cases=lambda draws: _always(draws, "share rises"),
    ),
    Claim(
        id="budget",
        paper="[MS]",
        sentence="Relaxing the budget of the band to an inequality loses nothing.",
        test="The share of the band that the best control leaves unused is at most 1e-9, in every draw",
        cases=lambda draws: [
            Case(name=name, value=float(np.max(np.abs(v))), draws=v.size, degree=float(np.mean(np.abs(v) <= _EXACT)))
            for name, _, v in _probe(draws, "band left")
        ],
        small_is_good=True,
    ),
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
        test=f"Gain at the greatest K less gain at the least: {_PAIRED}",
        cases=_grows,
    ),
    Claim(
        id="fixed-degrades",
        paper="[MS]",
        sentence="The fixed scheme saturates, then degrades, as K grows.",
        test=f"Its goodput at the K of its greatest mean less that at the greatest K, relative: {_PAIRED}",
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
        test=f"Gain at the least bandwidth less gain at the greatest: {_PAIRED}",
        cases=_narrows,
    ),
    Claim(
        id="gap-widens",
        paper="[MS]",
        sentence="The gap of a length for each over one length for all widens with K.",
        test=f"Gap at the greatest K less gap at the least, in token/s and relative: {_PAIRED}",
        cases=_widens,
    ),
    Claim(
        id="uni-bw-above-homo",
        paper="[MS]",
        sentence="Equal bandwidth with its own lengths is above one length with the best split, throughout.",
        test=f"At every point of Figs. 7 and 8: {_PAIRED}",
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
"""In the order of the paper."""
MS_TACIT = (
    Claim(
        id="one-mean",
        paper="[MS]",
        kind="tacit assumption",
        sentence="One mean acceptance is enough, in spite of Table I's deviations over prompts.",
        test="The deviations taken as a Beta law over prompts: the interval of the goodput lost by lengths chosen from "
        "the mean lies at or below 1 %, and E[N] is within 1 % of the formula's",
        cases=_one_mean,
        small_is_good=True,
    ),
    Claim(
        id="token-upload",
        paper="both",
        kind="tacit assumption",
        sentence="The upload of token indices and their probabilities can be neglected.",
        test="Index and 16 bits charged for every token: the interval of the goodput lost lies at or below 1 %",
        cases=_upload,
        small_is_good=True,
    ),
)
