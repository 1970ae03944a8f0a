"""What [UD] says, as tests on the draws."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from reports.claims.comparisons import (
    FLAT_WORDS,
    at,
    at_points,
    by_pair,
    by_scheme,
    change_of_ratio,
    flattens,
    points,
    short_of_optimum,
    steps,
)
from reports.claims.judging import (
    LEAST_DIFFERING,
    SAME,
    Case,
    Claim,
    above_0,
    each,
    gains,
    number_words,
    some,
    within,
    within_if_differing,
)
from reports.claims.quoted_claims import claims_of
from reports.shared.estimators import OfMeans, gain_of_means, halves, mean_between, mean_of
from reports.studies.paper_figures import GOODPUT
from reports.studies.study import OPTIMUM

if TYPE_CHECKING:
    import pandas as pd

    from reports.claims.judging import Draws

_WHOSE = {"greedy": "the lengths of Algorithm 1", OPTIMUM: "our lengths"}
_LEAST_SHARE = 0.01
_LENGTH_DIGITS = 9  # of tokens: what is apart by round-off is a tie
_POWER = "downlink_power_dbm"
_FIGURES = {
    "ud_fig7_8": ("Figs. 7 and 8", [_POWER]),
    "ud_fig9_10": ("Figs. 9 and 10", ["power_ratio", "devices"]),
    "ud_fig11": ("Fig. 11", ["power_ratio"]),
}
_ABOVE = "the interval of the ratio of the means, less 1, lies above 0"


def _crossings(draws: "Draws") -> Iterator[tuple[str, list[bool], list[bool]]]:
    """For each pair and draw of Fig. 6: whether its time is the shortest, and whether its size is at the crossing."""
    table = draws["ud_fig6"].set_index(["pair", "draw"])
    for name, of_pair in by_pair(table):
        shortest, first = [], []
        for _, drawn in of_pair.groupby("draw"):
            delays = drawn.pivot(index="uplink_devices", columns="scheme", values="delay_s").sort_index()
            crossed = int(np.argmax((delays["downlink"] <= delays["uplink"]).to_numpy()))
            best, found, enumerated = drawn[["best_uplink_devices", "shortest_s", "enumerated_s"]].iloc[0]
            shortest.append(found <= enumerated * (1.0 + SAME))
            first.append(best in (crossed, crossed - 1))
        yield name, shortest, first


def _along_power(draws: "Draws", scheme: str, value: str = GOODPUT) -> "Iterator[tuple[str, pd.DataFrame]]":
    for name, table in by_pair(by_scheme(draws["ud_fig7_8"], [_POWER], value)):
        yield name, steps(table, _POWER, scheme)


def _rises(draws: "Draws", scheme: str) -> list[Case]:
    return [gains(name, curve.iloc[:, -1], curve.iloc[:, 0]) for name, curve in _along_power(draws, scheme)]


def _saturates(draws: "Draws", scheme: str) -> list[Case]:
    return [flattens(name, curve, unit="token/s per dB") for name, curve in _along_power(draws, scheme)]


def _longer(draws: "Draws", scheme: str) -> list[Case]:
    return [
        above_0(name, mean_of(curve.iloc[:, -1] - curve.iloc[:, 0]), unit="token")
        for name, curve in _along_power(draws, scheme, "mean_draft_length_tokens")
    ]


def _never_shorter(draws: "Draws", scheme: str) -> list[Case]:
    cases = []
    for name, curve in _along_power(draws, scheme, "mean_draft_length_tokens"):
        for low, high in zip(curve.columns[:-1], curve.columns[1:], strict=True):
            rise = np.round((curve[high] - curve[low]).to_numpy(), _LENGTH_DIGITS)
            cases.append(within_if_differing(f"{name}, {low:g} to {high:g} dBm", rise, -SAME, np.inf, unit="token"))
    return cases


def _uplinks_part(draws: "Draws") -> "Iterator[tuple[str, pd.DataFrame]]":
    """The share of the rejected devices that is corrected by uplink, along the power."""
    table = draws["ud_fig7_8"]
    table = table.assign(up=table["uplink_share"] / (table["uplink_share"] + table["downlink_share"]))
    for name, of_pair in by_pair(by_scheme(table, [_POWER], "up")):
        yield name, steps(of_pair, _POWER, OPTIMUM)


def _moves(draws: "Draws") -> list[Case]:
    fall = [(name, part.iloc[:, 0] - part.iloc[:, -1]) for name, part in _uplinks_part(draws)]
    return [above_0(name, mean_between(less, -1.0, 1.0)) for name, less in fall]


def _not_all(draws: "Draws") -> list[Case]:
    shares = [(name, mean_between(part.iloc[:, -1], 0.0, 1.0)) for name, part in _uplinks_part(draws)]
    return [within(name, share, _LEAST_SHARE, np.inf) for name, share in shares]


def _modes(draws: "Draws") -> "pd.DataFrame":
    return by_scheme(draws["ud_fig9_10"], ["power_ratio", "devices"])


def _selection(draws: "Draws", other: str) -> list[Case]:
    return [
        gains(f"{name}, ratio {ratio:g}, K = {devices:g}", here[OPTIMUM], here[other])
        for name, (ratio, devices), here in at_points(_modes(draws), "power_ratio", "devices")
    ]


def _better_somewhere(draws: "Draws", better: str, worse: str) -> list[Case]:
    """At the point where a direction looks best on one half of the draws, whether it is so on the other."""
    found: dict[str, list[tuple[float, str, np.ndarray]]] = {}
    for name, (ratio, devices), here in at_points(_modes(draws), "power_ratio", "devices"):
        chosen, judged = halves(here[[better, worse]])
        lead = chosen[:, 0].mean() / chosen[:, 1].mean()
        found.setdefault(name, []).append((lead, f"{name} at ratio {ratio:g}, K = {devices:g}", judged))
    best = [max(of_pair, key=lambda one: one[0]) for of_pair in found.values()]
    return [gains(words, judged[:, 0], judged[:, 1]) for _, words, judged in best]


def _better_in_a_draw(draws: "Draws", better: str, worse: str) -> list[Case]:
    return [some(name, table[better] > table[worse] * (1.0 + SAME)) for name, table in by_pair(_modes(draws))]


def _behind(draws: "Draws") -> list[Case]:
    table = _modes(draws)
    last = at(table, power_ratio=points(table, "power_ratio")[-1])
    return [
        gains(f"{name}, K = {devices:g}", here[OPTIMUM], here["all-downlink"])
        for name, (devices,), here in at_points(last, "devices")
    ]


def _more_competitive(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(_modes(draws)):
        low, high = points(table, "power_ratio")
        for devices in points(table, "devices"):
            ends = [at(table, power_ratio=ratio, devices=devices) for ratio in (low, high)]
            drawn = ends[0].index.intersection(ends[1].index)
            behind = [OfMeans.of(end.loc[drawn, OPTIMUM]) / OfMeans.of(end.loc[drawn, "all-downlink"]) for end in ends]
            cases.append(above_0(f"{name}, K = {devices:g}, closer by", (behind[0] - behind[1]).interval()))
    return cases


def _further_behind(draws: "Draws") -> list[Case]:
    cases = []
    for name, table in by_pair(_modes(draws)):
        here = at(table, power_ratio=points(table, "power_ratio")[-1])
        ours, down = (steps(here, "devices", scheme) for scheme in (OPTIMUM, "all-downlink"))
        ends = f"{name}, K = {ours.columns[0]:g} to {ours.columns[-1]:g}, further behind by"
        cases.append(above_0(ends, change_of_ratio(ours, down)))
    return cases


def _above_lengths(draws: "Draws", scheme: str, other: str) -> list[Case]:
    """Most draws are ties and few are far apart: no interval of their mean can be trusted, so draws are counted."""
    cases = []
    for name, (ratio,), here in at_points(by_scheme(draws["ud_fig11"], ["power_ratio"]), "power_ratio"):
        mean = gain_of_means(here[scheme], here[other]).mean
        above = bool((here[scheme] > here[other] * (1.0 + SAME)).any())
        no_lower = above & (here[scheme] >= here[other] * (1.0 - SAME))
        cases.append(each(f"{name}, ratio {ratio:g}", no_lower, beside=f"gain of means {number_words(mean, '1')}"))
    return cases


def _greedy(draws: "Draws") -> list[Case]:
    return [
        short_of_optimum(f"{name}, {words}", table, "greedy")
        for figure, (words, keys) in _FIGURES.items()
        for name, table in by_pair(by_scheme(draws[figure], keys))
    ]


def _claim(id_: str, sentence: str, test: str, cases: "Callable[[Draws], list[Case]]") -> Claim:
    return Claim(id=id_, paper="[UD]", sentence=sentence, test=test, cases=cases)


def _by_method(id_: str, sentence: str, test: str, cases: "Callable[[Draws, str], list[Case]]") -> tuple[Claim, ...]:
    """A claim for each way to choose the lengths."""
    return tuple(
        _claim(f"{id_}-{scheme}", f"{sentence} ({whose}).", test, lambda draws, scheme=scheme: cases(draws, scheme))  # type: ignore[misc]
        for scheme, whose in _WHOSE.items()
    )


def _lengths_above(scheme: str, other: str, words: str) -> Claim:
    return _claim(
        f"{scheme}-above-{other}",
        f"The proposed lengths are above {words} at every ratio ({_WHOSE[scheme]}).",
        "At every ratio: goodput no lower, in every draw, and higher in one at least (most are ties and rare ones far "
        "apart, so that no interval of their mean can be trusted)",
        lambda draws: _above_lengths(draws, scheme, other),
    )


_DIRECTIONS = ("all-uplink", "all-downlink")


def _neither(better: str, worse: str) -> tuple[Claim, Claim]:
    """Neither fixed direction is universally optimal: what that says of one of them, on average and draw by draw."""
    link = better.removeprefix("all-")
    return (
        _claim(
            f"{link}-somewhere",
            f"No fixed direction is best everywhere: the {link} for all is better than the other on average somewhere.",
            "At the K and ratio where it leads most, which, chosen on one half of the draws and compared on the other: "
            f"{_ABOVE}",
            lambda draws: _better_somewhere(draws, better, worse),
        ),
        _claim(
            f"{link}-in-a-draw",
            f"No fixed direction is best in every draw: the {link} for all is better than the other in some.",
            "Figs. 9 and 10 have a draw in which it is; the share of them stands beside",
            lambda draws: _better_in_a_draw(draws, better, worse),
        ),
    )


_COMPUTATION = "those that ignore communication"
_FLATTER = (
    f"{FLAT_WORDS}, which, chosen on one half of the draws and compared on the other: the interval of half the "
    "steepest slope less the last lies above 0"
)
UD_CLAIMS = (
    _claim(
        "crossing",
        "The best uplink set is a prefix by uplink delay.",
        "8 of 20 devices rejected: the time is the shortest of all 2^8 choices of modes (to 1e-9), in every draw",
        lambda draws: [each(name, shortest) for name, shortest, _ in _crossings(draws)],
    ),
    _claim(
        "crossing-size",
        "The size of the best uplink set is that of the crossing of the two delays, or one less.",
        "8 of 20 devices rejected: the size is the first at which the downlink is not slower, or one less, in every "
        "draw",
        lambda draws: [each(name, first) for name, _, first in _crossings(draws)],
    ),
    *claims_of("[UD]"),
    *_by_method(
        "power-rises",
        "Goodput rises with the downlink power",
        f"Mean at the greatest power over that at the least: {_ABOVE}",
        _rises,
    ),
    *_by_method("power-saturates", "Goodput saturates as the downlink power grows", _FLATTER, _saturates),
    *_by_method(
        "length-rises",
        "The mean draft length rises with the downlink power",
        "Mean at the greatest power less that at the least: its interval lies above 0",
        _longer,
    ),
    *_by_method(
        "length-never-falls",
        "The mean draft length falls nowhere as the downlink power grows",
        "Mean at each power less that at the power before: its interval lies at 0 or above (most draws are ties: not "
        f"settled where fewer than {LEAST_DIFFERING} differ from the others)",
        _never_shorter,
    ),
    _claim(
        "moves-to-downlink",
        "As the downlink power grows, rejected devices move from the uplink to the downlink.",
        "Uplink's part of the rejected devices, at the least power less that at the greatest: the interval of the mean "
        "lies above 0",
        _moves,
    ),
    _claim(
        "not-all-move",
        "Not all rejected devices move to the downlink.",
        "Uplink's part of the rejected devices at the greatest power: the interval of the mean lies above 1 %",
        _not_all,
    ),
    *(
        _claim(
            f"selection-over-{other}",
            f"Selecting the mode is better than {words} in every case.",
            f"At every K and ratio, the lengths of both being ours: {_ABOVE}",
            lambda draws, other=other: _selection(draws, other),  # type: ignore[misc]
        )
        for other, words in (
            ("all-uplink", "the uplink for all"),
            ("all-downlink", "the downlink for all"),
            ("random-modes", "choosing at random"),
        )
    ),
    *(claim for better, worse in (_DIRECTIONS, _DIRECTIONS[::-1]) for claim in _neither(better, worse)),
    _claim(
        "ratio-closer",
        "At power ratio 16 all-downlink is more competitive than at 4.",
        "Gain of our optimum over it at ratio 4 less that at 16 (ratios of means): the interval lies above 0",
        _more_competitive,
    ),
    _claim(
        "ratio-behind",
        "At power ratio 16 all-downlink is still behind.",
        f"Our optimum over it at every K: {_ABOVE}",
        _behind,
    ),
    _claim(
        "ratio-further-behind",
        "At power ratio 16 all-downlink falls further behind as K grows.",
        "Gain of our optimum over it at the greatest K less that at the least (ratios of means): the interval lies "
        "above 0",
        _further_behind,
    ),
    _lengths_above("greedy", "uniform-length", "the best uniform length"),
    _lengths_above(OPTIMUM, "uniform-length", "the best uniform length"),
    _lengths_above("greedy", "computation-only-greedy", f"{_COMPUTATION}, found by the same search,"),
    _lengths_above("greedy", "computation-only", f"{_COMPUTATION}, found exactly,"),
    _lengths_above(OPTIMUM, "computation-only", f"{_COMPUTATION}, found exactly,"),
)
"""In the order of the paper."""
UD_TACIT = (
    Claim(
        id="greedy-close",
        paper="[UD]",
        kind="tacit assumption",
        sentence="Algorithm 1 is close to the best lengths.",
        test="Goodput at most 1 % below our optimum, in every draw",
        cases=_greedy,
    ),
)
