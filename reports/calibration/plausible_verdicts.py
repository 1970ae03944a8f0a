"""The claims at every setting that the inverse study leaves: how many verdicts hold, and what they depend on."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from msopt.arrays import FloatArray
from reports.calibration.fit import Candidate, Fit
from reports.calibration.unknowns import RANGES, Dimension
from reports.claims.judging import HELD, IN_PART, NOT_HERE, NOT_SETTLED, NOT_TESTED, judge
from reports.claims.ms_claims import MS_CLAIMS, MS_TACIT
from reports.claims.ud_claims import UD_CLAIMS, UD_TACIT
from reports.shared.rows import Row
from reports.shared.words import per_cent
from reports.studies import closed_forms, paper_figures
from reports.studies.effort import Effort
from reports.studies.paper_figures import PRESETS_OF
from reports.studies.points import SOLVED, Failure, attempt, chunks, solve_rows
from reports.studies.probes import probe_ms, probe_ud
from reports.studies.settings import over
from reports.studies.study import Study, draw_seed

if TYPE_CHECKING:
    import pandas as pd

    Draws = dict[str, pd.DataFrame]

CLAIMS_OF = {"MS": (*MS_CLAIMS, *MS_TACIT), "UD": (*UD_CLAIMS, *UD_TACIT)}
SCORES = {HELD: 1.0, IN_PART: 0.5, NOT_SETTLED: 0.5, NOT_HERE: 0.0}
_LEAST_SIDE = 2
_SHUFFLES, _LEVEL = 400, 0.95
_ONE_POINT = ("ms_grid",)
"""Studies that take long and whose claim is about every point alike."""
_WORDS = {NOT_HERE: "did not appear", IN_PART: "in part", NOT_SETTLED: "not settled"}


class Cut(NamedTuple):
    """The unknown and the value at which a verdict turns: the part of its variance that they explain."""

    dimension: Dimension
    place: float
    explained: float
    below: float
    above: float


def verdicts_at(
    paper: str,
    settings: Mapping[str, Mapping[str, Any]],
    effort: Effort,
    seed: int,
    swept_to: Mapping[str, float] = MappingProxyType({}),
) -> list[Row]:
    """The verdict of every claim of a paper at one setting.

    Parameters
    ----------
    paper : "MS" or "UD"
    settings : mapping
        Of each preset.
    effort : Effort
    seed : int
        Of the draws, the same at every setting.
    swept_to : mapping
        Where what a figure sweeps ends, as in `reports.calibration.unknowns.RANGES`.
    """
    draws = _draws(paper, settings, effort, seed)
    for name, end in swept_to.items():
        table, column = RANGES[name]
        draws[table] = draws[table][draws[table][column] <= end]
    claims, _ = judge(CLAIMS_OF[paper], draws)
    return [{"id": row["id"], "verdict": row["verdict"]} for row in claims.to_dict("records")]


def _draws(paper: str, settings: Mapping[str, Mapping[str, Any]], effort: Effort, seed: int) -> "Draws":
    """The tables of draws that the claims of a paper read, at one setting; without those in which a method failed."""
    import pandas as pd

    rows: dict[str, list[Row]] = {}
    for name, study in paper_figures.studies(effort, seed).items():
        if study.presets == PRESETS_OF[paper]:
            rows[name] = [row for preset in study.presets for row in _solved(study, preset, settings[preset])]
    tables = {name: paper_figures.with_pairs(pd.DataFrame(of_study)) for name, of_study in rows.items() if of_study}
    for name, (function, draws) in _single(paper, effort).items():
        found: list[Row] = []
        for preset in PRESETS_OF[paper]:
            for number in range(draws):
                given = (preset, number, draw_seed(seed, number), effort.devices, settings[preset])
                one = attempt(function, *given)
                found += [] if isinstance(one, Failure) else one
        tables[name] = pd.DataFrame(found)
    return tables | (closed_forms.best_lengths() if paper == "MS" else {})


def _single(paper: str, effort: Effort) -> dict[str, tuple[Callable[..., list[Row]], int]]:
    """What is computed draw by draw, and of how many draws."""
    if paper == "MS":
        return {
            "ms_fig3": (closed_forms.one_length, effort.curve_draws),
            "probes": (probe_ms, effort.draws["heterogeneous"]),
        }
    return {
        "ud_fig6": (closed_forms.uplink_sets, effort.curve_draws),
        "probes": (probe_ud, effort.draws["modes"]),
    }


def _solved(study: Study, preset: str, settings: Mapping[str, Any]) -> list[Row]:
    """The draws of one preset with its setting in place of the preset's own."""
    own = over(settings, study.fixed | dict.fromkeys(study.axes))
    fixed = {name: value for name, value in own.items() if name not in study.axes}
    axes = {name: values[:1] for name, values in study.axes.items()} if study.name in _ONE_POINT else study.axes
    here = study.model_copy(update={"presets": [preset], "fixed": fixed, "axes": axes})
    rows = [row for chunk in chunks(here, here.points()) for row in solve_rows(here, chunk)]
    return [row for row in rows if row["status"] == SOLVED]


def judged_settings(found: Fit, most: int) -> list[Candidate]:
    """The settings at which claims are judged: the plausible ones, or the nearest where there are none; each once.

    Of more than `most`, so many that are spread over their order of fit.
    """
    left = list({one.number: one for one in found.left}.values())
    if len(left) <= most:
        return left
    return [left[int(place)] for place in np.linspace(0, len(left) - 1, most)]


def verdict_words(verdicts: Sequence[str], plausible: bool) -> str:
    """How many of the settings have which verdict.

    >>> verdict_words(["held", "held"], True), verdict_words(["held", "not settled"], False)
    ('held in all of 2 plausible settings', 'held in 50 % of the 2 nearest settings, not settled in 50 %')
    """
    count = len(verdicts)
    if not count:
        return NOT_TESTED
    of = f"of {count} plausible settings" if plausible else f"of the {count} nearest settings"
    held = sum(verdict == HELD for verdict in verdicts)
    if held == count:
        return f"held in all {of}"
    first = f"held in {per_cent(held / count)} {of}" if held else f"held in none {of}"
    others = {words: sum(verdict == name for verdict in verdicts) for name, words in _WORDS.items()}
    return ", ".join([first, *(f"{words} in {per_cent(n / count)}" for words, n in others.items() if n)])


def turning_cut(dimensions: Sequence[Dimension], points: FloatArray, verdicts: Sequence[str]) -> Cut | None:
    """The cut of one unknown that explains most of the variance of the verdicts (a regression tree of one cut).

    Parameters
    ----------
    dimensions : sequence of Dimension
    points : array, shape (settings, dimensions)
    verdicts : sequence of str
        Held counts 1, did not appear 0, the others a half.

    Returns
    -------
    Cut or None
        None where all verdicts are alike, or the best cut explains no more than it does in 95 of 100 shuffles of them.
    """
    score = np.array([SCORES[verdict] for verdict in verdicts])
    if score.size == 0 or np.all(score == score[0]):
        return None
    rng = np.random.default_rng(0)
    rows = np.vstack([score, *(rng.permutation(score) for _ in range(_SHUFFLES))])
    every = [
        (one, *_explained(rows, points[:, place], _cuts(one, points[:, place]))) for place, one in enumerate(dimensions)
    ]
    every = [entry for entry in every if entry[1].size]
    if not every:
        return None
    best = np.max(np.hstack([explained for *_, explained in every]), axis=1)
    if best[0] <= np.quantile(best[1:], _LEVEL):
        return None
    dimension, cuts, explained = max(every, key=lambda entry: float(entry[2][0].max()))
    cut = float(cuts[np.argmax(explained[0])])
    above = points[:, list(dimensions).index(dimension)] >= cut
    return Cut(dimension, cut, float(best[0]), float(score[~above].mean()), float(score[above].mean()))


def _explained(rows: FloatArray, column: FloatArray, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The cuts that leave some settings on either side, and the part of each row's variance that each explains."""
    above = column >= cuts[:, None]
    count = above.sum(axis=1)
    kept = np.minimum(count, column.size - count) >= _LEAST_SIDE
    above, count, cuts = above[kept], count[kept], cuts[kept]
    centred = rows - rows.mean(axis=1, keepdims=True)
    shift = centred @ above.T
    between = shift**2 * (1.0 / count + 1.0 / (column.size - count))
    return cuts, between / np.sum(centred**2, axis=1, keepdims=True)


def _cuts(dimension: Dimension, column: FloatArray) -> FloatArray:
    """Between each two neighbours; of a few values between these; shape (cuts,)."""
    values = dimension.unknown.values
    if values is not None:
        return np.arange(1, len(values)) / len(values)
    ordered = np.unique(column)
    return np.asarray((ordered[1:] + ordered[:-1]) / 2.0)


def cut_words(cut: Cut | None) -> str:
    """The unknown, where the verdict turns, and how surely."""
    if cut is None:
        return ""
    one, values = cut.dimension, cut.dimension.unknown.values
    if values is None:
        at = one.at(cut.place)
        value = str(at) if isinstance(at, int) else f"{at:.3g}"
        above, below = f"at {value} or more", "below"
    else:
        count = round(cut.place * len(values))
        above, below = (" or ".join(map(str, part)) for part in (values[count:], values[:count]))
    more, less = (above, below) if cut.above > cut.below else (below, above)
    return f"{one.name}: rather held {more}, less {less} ({per_cent(cut.explained)} of its variance)"
