"""What [MS] says of the best control, its split and its lengths, as tests on the draws."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from msopt.formulas.multispin import common_length
from reports.claims.comparisons import by_pair, by_scheme, probed
from reports.claims.judging import SAME, Case, Claim, above_0, each, exactly, number_words
from reports.shared.estimators import mean_between
from reports.studies.closed_forms import CLOSED
from reports.studies.paper_figures import GOODPUT

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_claim = partial(Claim, paper="[MS]")
_ASYMPTOTE_RTOL = 1e-3
_REJECTION = 1e-8
_VERIFY_OVER_TOKEN = 6.0


def _every_device(draws: "Draws", probe: str) -> list[Case]:
    """A property of every device, looked for in each draw."""
    return [
        each(name, values == 1.0, beside=f"{number_words(float(np.mean(values)), '1')} of the devices")
        for name, values in probed(draws, probe)
    ]


def _unimodal(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(_one_length(draws)):
        curves = table["one length"].unstack("draft_length_tokens").dropna(axis=1).to_numpy()
        signs = np.sign(np.diff(curves, axis=1))
        cases.append(each(name, np.all(np.diff(signs, axis=1) <= 0.0, axis=1)))
    return cases


def _closed_form(draws: "Draws") -> list[Case]:
    table = draws["ms_fig3"]
    searched = table[(table["scheme"] == "one length") & (table["draft_length_tokens"] >= 1.0)]
    best = searched.groupby(["pair", "draw"])[GOODPUT].max()
    closed = table[table["scheme"] == "closed form"].set_index(["pair", "draw"])[GOODPUT]
    met = closed.ge(best.reindex(closed.index) * (1.0 - SAME)).to_frame("met")
    return [each(name, of_pair["met"]) for name, of_pair in by_pair(met)]


def _one_length(draws: "Draws") -> "pd.DataFrame":
    table = draws["ms_fig3"]
    return by_scheme(table[table["scheme"] == "one length"], ["draft_length_tokens"])


def _monotone(draws: "Draws", quantity: str, sign: float) -> list[Case]:
    table = draws[f"ms_fig4_{quantity}"]
    lengths = table[table["scheme"] == "closed form (real)"]["mean"].to_numpy()
    return [each(f"along the {quantity}", sign * np.diff(lengths) > 0.0, "steps")]


def _asymptote(draws: "Draws") -> list[Case]:
    """Relative distance of L + 1 from its asymptote near alpha = 1."""
    del draws
    alpha = 1.0 - _REJECTION
    length = float(common_length(alpha, 1.0, _VERIFY_OVER_TOKEN))
    distance = abs((length + 1.0) / np.sqrt(2.0 * (_VERIFY_OVER_TOKEN - 1.0) / -np.log(alpha)) - 1.0)
    return [exactly(f"at 1 - alpha = {_REJECTION:g}", distance, 0.0, _ASYMPTOTE_RTOL)]


def _trend(quantity: str, sign: float) -> Claim:
    """[MS] Fig. 4: how the best length follows one quantity."""
    return _claim(
        id=f"length-{quantity}",
        sentence=str(CLOSED[f"ms_fig4_{quantity}"].paper_says),
        test="Sign of every step of the closed form along Fig. 4",
        cases=lambda draws: _monotone(draws, quantity, sign),
    )


OF_THE_OPTIMUM = (
    _claim(
        id="compensates",
        sentence="With one length for all, the split of the band compensates the devices with weak channels.",
        test="The mean of minus the rank correlation of B_k and spectral efficiency over the devices has its interval "
        "above 0",
        cases=lambda draws: [
            above_0(name, mean_between(values, -1.0, 1.0), unit="")
            for name, values in probed(draws, "compensates: rank")
        ],
    ),
    _claim(
        id="compensates-change",
        sentence="With one length for all, a device whose channel weakens gets more of the band.",
        test="The B_k of a device rises when its own SNR falls by 1 dB, for every device of every draw",
        cases=lambda draws: _every_device(draws, "compensates: change"),
    ),
    _claim(
        id="rewards",
        sentence="With a length for each, the split rewards devices whose tokens are accepted: B_k rises with alpha_k.",
        test="At the best real lengths B_k rises when the alpha_k of that device alone goes a tenth of its way to 1, "
        "for every device of every draw",
        cases=lambda draws: _every_device(draws, "rewards"),
    ),
    _claim(
        id="unimodal",
        sentence="Goodput is unimodal in the common length.",
        test="Over lengths 0 to 24 the differences change their sign at most once, from plus to minus, in every draw",
        cases=_unimodal,
    ),
    _claim(
        id="closed-form",
        sentence="The best common length is the better of floor and ceiling of the closed form.",
        test="The goodput at it is the greatest over lengths 1 to 24 (to 1e-9), in every draw",
        cases=_closed_form,
    ),
    _trend("verification", 1.0),
    _trend("latency", -1.0),
    _trend("acceptance", 1.0),
    _claim(
        id="asymptote",
        sentence="As alpha goes to 1, L + 1 approaches the square root of 2 (T_ver/theta - 1)/(-ln alpha).",
        test=f"At T_ver/theta = {_VERIFY_OVER_TOKEN:g} and 1 - alpha = {_REJECTION:g} the relative distance is at "
        f"most {_ASYMPTOTE_RTOL:g}",
        cases=_asymptote,
    ),
    _claim(
        id="phi-rises",
        sentence="The common end phi rises with each L_k.",
        test="One token more for one device, from the best lengths: phi rises, for every device of every draw",
        cases=lambda draws: _every_device(draws, "phi rises"),
    ),
    _claim(
        id="share-rises",
        sentence="B_k rises with L_k.",
        test="One token more for one device, from the best lengths: its own B_k rises, for every device of every draw",
        cases=lambda draws: _every_device(draws, "share rises"),
    ),
    _claim(
        id="budget",
        sentence="Relaxing the budget of the band to an inequality loses nothing.",
        test="The share of the band that the best control leaves unused is at most 1e-9, in every draw",
        cases=lambda draws: [each(name, np.abs(values) <= SAME) for name, values in probed(draws, "band left")],
    ),
)
