"""What [MS] says, and what both papers take for granted, as tests on the draws."""

from typing import TYPE_CHECKING

from reports.claims.comparisons import SHORT, probed
from reports.claims.judging import CLOSE, Case, Claim, below
from reports.claims.ms_goodput_claims import OF_THE_GOODPUT
from reports.claims.ms_optimum_claims import OF_THE_OPTIMUM
from reports.studies.paper_figures import MS_PRESETS, pair
from reports.studies.probes import expected_tokens_with_deviations

if TYPE_CHECKING:
    from reports.claims.judging import Draws

_QUOTED_LENGTH = 8


def _one_mean(draws: "Draws") -> list[Case]:
    lost = [below(f"{name}, goodput lost", values, CLOSE) for name, values in probed(draws, "one mean: lost")]
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
    return [below(name, values, CLOSE) for name, values in probed(draws, "upload")]


MS_CLAIMS = (*OF_THE_OPTIMUM, *OF_THE_GOODPUT)
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
