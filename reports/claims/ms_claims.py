"""What [MS] says, and what both papers take for granted, as tests on the draws."""

import math
from typing import TYPE_CHECKING

from reports.claims.comparisons import SHORT, probed
from reports.claims.judging import CLOSE, Case, Claim, exactly, within
from reports.claims.ms_goodput_claims import OF_THE_GOODPUT
from reports.claims.ms_optimum_claims import OF_THE_OPTIMUM
from reports.shared.estimators import gain_of_means
from reports.studies.paper_figures import MS_PRESETS, pair
from reports.studies.probes import expected_tokens_with_deviations

if TYPE_CHECKING:
    from reports.claims.judging import Draws

_QUOTED_LENGTH = 8


def _lost(draws: "Draws", probe: str) -> list[Case]:
    """The share of the possible mean goodput that is not got."""
    both = zip(probed(draws, f"{probe}: got"), probed(draws, f"{probe}: possible"), strict=True)
    lost = [(name, gain_of_means(got, possible).times(-1.0)) for (name, got), (_, possible) in both]
    return [within(name, share, -math.inf, CLOSE) for name, share in lost]


def _expected_tokens(draws: "Draws") -> list[Case]:
    del draws
    return [
        exactly(f"{SHORT[pair(preset)]} {dataset}", more, -CLOSE, CLOSE)
        for preset in MS_PRESETS
        for dataset, more in expected_tokens_with_deviations(preset, _QUOTED_LENGTH)
    ]


MS_CLAIMS = (*OF_THE_OPTIMUM, *OF_THE_GOODPUT)
"""In the order of the paper."""
MS_TACIT = (
    Claim(
        id="one-mean",
        paper="[MS]",
        kind="tacit assumption",
        sentence="One mean acceptance is enough to choose lengths by, in spite of Table I's deviations over prompts.",
        test="The deviations taken as a Beta law over prompts: the interval of the mean goodput lost by lengths chosen "
        "from the mean lies at or below 1 %",
        cases=lambda draws: _lost(draws, "one mean"),
    ),
    Claim(
        id="one-mean-tokens",
        paper="[MS]",
        kind="tacit assumption",
        sentence="One mean acceptance is enough to foresee the tokens of a round.",
        test=f"The deviations taken as a Beta law over prompts: E[N] at {_QUOTED_LENGTH} tokens less the formula's, "
        "relatively, is at most 1 %",
        cases=_expected_tokens,
    ),
    Claim(
        id="token-upload",
        paper="both",
        kind="tacit assumption",
        sentence="The upload of token indices and their probabilities can be neglected.",
        test="Index and 16 bits charged for every token: the interval of the mean goodput lost lies at or below 1 %",
        cases=lambda draws: _lost(draws, "upload"),
    ),
)
