"""What [MS] says of the best control, its split and its lengths, as tests on the draws."""

from typing import TYPE_CHECKING

import numpy as np

from msopt.formulas.multispin import common_length
from reports.claims.comparisons import by_pair, by_scheme, probed
from reports.claims.judging import SAME, Case, Claim, above, always
from reports.studies.paper_figures import GOODPUT

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_ASYMPTOTE_RTOL = 1e-3


def _always(draws: "Draws", probe: str) -> list[Case]:
    return [always(name, values) for name, values in probed(draws, probe)]


def _compensates(draws: "Draws") -> list[Case]:
    ranks = [
        above(f"{name}, minus the rank correlation of B_k and e_k", values, unit="")
        for name, values in probed(draws, "compensates: rank")
    ]
    changes = [
        always(f"{name}, devices whose B_k rises at 1 dB less", values)
        for name, values in probed(draws, "compensates: change")
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
    met = closed.ge(best.reindex(closed.index) * (1.0 - SAME)).to_frame("met")
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


OF_THE_OPTIMUM = (
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
            Case(name=name, value=float(np.max(np.abs(v))), draws=v.size, degree=float(np.mean(np.abs(v) <= SAME)))
            for name, v in probed(draws, "band left")
        ],
        small_is_good=True,
    ),
)
