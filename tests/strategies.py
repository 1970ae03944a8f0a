"""Hypothesis strategies: valid scenarios over the decades that practice spans.

They produce dicts in the shape of a scenario file, which the independent `brute_force` reads too;
`scenarios` turns them into a Scenario.
"""

from collections.abc import Sequence
from math import log10, sqrt
from typing import Any

from hypothesis import strategies as st

from msopt.model.scenario import Scenario
from tests.cases import Description, scenario_of

LAWS = ("geometric", "curve", "beta")
SHARINGS = ("fixed-snr", "power-limited")

ODD_NAMES = ("NA", "$$", "<b>x</b>", "a|b", "=1+1", "x" * 200, "Ünï", "a_b", 'say "hi"', "back\\slash", "#", "0")


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    """Floats between two positive ends, uniform in the logarithm."""
    return st.floats(log10(low), log10(high)).map(lambda exponent: min(max(10.0**exponent, low), high))


def acceptances(low: float = 0.0, high: float = 1.0) -> st.SearchStrategy[float]:
    """Acceptance probabilities, now and then the ends themselves or almost."""
    inner = st.floats(max(low, 0.01), min(high, 0.999))
    ends = [value for value in (0.0, 1e-12, 1.0 - 1e-12, 1.0) if low <= value <= high]
    return st.one_of(inner, inner, inner, st.sampled_from(ends)) if ends else inner


def names() -> st.SearchStrategy[str]:
    """Names that trouble tables, files and plots, and any other printable text."""
    text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
    return st.one_of(st.sampled_from(ODD_NAMES), text.filter(str.strip))


@st.composite
def laws(draw: st.DrawFn, kinds: Sequence[str] = LAWS, low: float = 0.0, high: float = 1.0) -> dict[str, Any]:
    """The keys of one device's acceptance law."""
    kind = draw(st.sampled_from(kinds))
    if kind == "curve":
        curve = [draw(st.floats(0.01, 1.0))]
        for ratio in draw(st.lists(st.floats(0.01, 1.0), max_size=4)):
            curve.append(curve[-1] * ratio)
        return {"acceptance_curve": curve}
    if kind == "beta":
        mean = draw(st.floats(max(low, 0.05), min(high, 0.95)))
        return {"acceptance": mean, "acceptance_std": draw(st.floats(0.02, 0.95)) * sqrt(mean * (1.0 - mean))}
    return {"acceptance": draw(acceptances(low, high))}


@st.composite
def descriptions(
    draw: st.DrawFn,
    *,
    devices: tuple[int, int] = (1, 4),
    sharings: Sequence[str] = SHARINGS,
    kinds: Sequence[str] = LAWS,
    longest: tuple[int, int] = (1, 12),
    shortest: Sequence[int | None] = (None, 0, 1),
    per_token: bool = True,
    inner: bool = False,
) -> Description:
    """A valid scenario; `inner` keeps it away from ends where an optimum is degenerate (alpha 0 or 1, tau 0)."""
    count = draw(st.integers(*devices))
    band = draw(decades(1e6, 1e8))
    server = {"verify_base_s": draw(decades(1e-3, 1.0)), "downlink_power_w": draw(decades(1e-2, 1e2))}
    server["verify_per_device_s"] = draw(st.sampled_from([0.0, 1.0])) * draw(decades(1e-4, 2e-2))
    if per_token:
        server["verify_per_token_s"] = draw(st.sampled_from([0.0, 1.0])) * draw(decades(1e-5, 5e-3))
    radio = {"uplink_bandwidth_hz": band, "downlink_bandwidth_hz": draw(st.sampled_from([1.0, 0.3, 4.0])) * band}
    radio["uplink_sharing"] = draw(st.sampled_from(sharings))
    bits = {"token_bits": draw(st.sampled_from([0, 17, 34])), "distribution_bits": draw(decades(1e3, 2.4e6))}
    limits = {"max_draft_length": draw(st.integers(*longest))}
    if (least := draw(st.sampled_from(shortest))) is not None:
        limits["min_draft_length"] = least
    draft = decades(1e-3, 0.2) if inner else st.one_of(st.just(0.0), *[decades(1e-4, 0.2)] * 4)
    snr = st.floats(-10.0, 30.0)
    members = [
        {
            "name": f"dev-{k + 1}",
            **draw(laws(kinds, 0.02, 0.99) if inner else laws(kinds)),
            "draft_s_per_token": draw(draft),
            "uplink_snr_db": draw(snr),
            "downlink_snr_db": draw(snr),
        }
        for k in range(count)
    ]
    return {
        "name": "drawn",
        "server": server,
        "radio": radio,
        "payload": bits,
        "limits": limits,
        "devices": members,
    }


def scenarios(**options: Any) -> st.SearchStrategy[Scenario]:
    """The same as a Scenario."""
    return descriptions(**options).map(scenario_of)
