"""How often the 95 % intervals of the claims' estimators hold the truth, on draws like the report's.

A population of draws is solved once; samples of it, with replacement, are as many draws as a report has, and the truth
is the population's: where a step or a peak is chosen on half of a sample, that of the step or peak chosen. What is not
settled for want of differing draws states no interval: then the share of samples that do stands behind, too.
Run: python benchmarks/bench_coverage.py [draws of the population]
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from msopt import draw
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.model.sharing import spectral_efficiency
from reports.claims.comparisons import (
    FLAT,
    change_of_ratio,
    falls_from_its_peak,
    flattens,
    highest_point,
    steepest_step,
)
from reports.claims.judging import Case, within_if_differing
from reports.shared.estimators import Mean, halves, lies, mean_between, mean_of, ratio_of_means, share_of
from reports.studies.paper_figures import GOODPUT, LENGTH_SCHEMES, MS_PRESETS, MS_SCHEMES, UD_PRESETS
from reports.studies.points import chunks, solve_rows
from reports.studies.study import Study

POPULATION, SAMPLES, RESAMPLED = 1000, 4000, 200
MS_DRAWS, UD_DRAWS = (6, 10, 40, 100, 400), (6, 10, 20, 40)
Drawn = dict[str, pd.DataFrame]
Estimator = Callable[[Drawn], Mean]


class Row(NamedTuple):
    """An estimator, the draws it is of, and what it is to be: by default itself, of the whole population."""

    words: str
    estimator: Estimator
    drawn: Drawn
    truth: Callable[[Drawn, Drawn], float] | None = None
    """Of a sample and the population."""


def population(study: Study, value: str = GOODPUT) -> Drawn:
    """For each scheme a table with a row for each draw and a column for each value of the one axis."""
    return tables(study, solved(study), value)


def solved(study: Study) -> pd.DataFrame:
    return pd.DataFrame([row for chunk in chunks(study, study.points()) for row in solve_rows(study, chunk)])


def tables(study: Study, rows: pd.DataFrame, value: str = GOODPUT) -> Drawn:
    (axis,) = study.axes
    by_scheme = rows.pivot(index="draw", columns=["scheme", axis], values=value).astype(float)
    return {scheme: by_scheme[scheme].sort_index(axis=1).dropna() for scheme in study.methods}


def coverage(row: Row, count: int, samples: int) -> str:
    """Of those samples that state an interval the part that holds the truth, in per cent; how many do, if not all."""
    rng, held, stated = np.random.default_rng(0), 0, 0
    size = len(next(iter(row.drawn.values())))
    always = row.estimator(row.drawn).mean if row.truth is None else None
    for _ in range(samples):
        picked = rng.integers(0, size, count)
        sample = {scheme: table.iloc[picked] for scheme, table in row.drawn.items()}
        found = row.estimator(sample)
        truth = row.truth(sample, row.drawn) if row.truth is not None else always
        stated += np.isfinite(found.low)
        held += bool(lies(Mean(truth, truth, truth, 2), found.low, found.high))
    shown = f"{100.0 * held / stated:5.1f}" if stated else "   - "
    return shown if stated == samples else f"{shown} (of {100.0 * stated / samples:.0f} %)"


def last(table: pd.DataFrame) -> pd.Series:
    return table.iloc[:, -1]


def bootstrapped(above: pd.Series, below: pd.Series, method: str) -> Mean:
    def ratio(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return a.mean(axis) / b.mean(axis)

    pair = (above.to_numpy(), below.to_numpy())
    found = stats.bootstrap(pair, ratio, paired=True, n_resamples=999, method=method, rng=0).confidence_interval
    return Mean(float(ratio(*pair)), float(found.low), float(found.high), len(above))


def case_estimate(case: Case) -> Mean:
    low, high = (np.nan if end is None else end for end in (case.low, case.high))
    return Mean(case.value, low, high, case.draws)


def show(row: Row, counts: tuple[int, ...], samples: int) -> None:
    print(f"  {row.words:58}", *(coverage(row, count, samples) for count in counts), flush=True)


def multispin(preset: str, size: int) -> None:
    def study(schemes: list[str], **axis: list[float]) -> Study:
        fixed = {} if "devices" in axis else {"devices": 20}
        more = {"exact_up_to_devices": 0, "draws": size, "seed": 1, "fixed": fixed, "axes": axis}
        return Study(problem="heterogeneous", presets=[preset], methods=schemes, **more)

    by_band = population(study(["optimum", "fixed"], bandwidth_hz=[5e6, 10e6, 15e6, 20e6]))
    few = {scheme: table[[20e6, 5e6]] for scheme, table in by_band.items()}  # the least band last
    many = population(study(MS_SCHEMES, devices=[10, 15, 20, 24, 40]))
    ends, to_24 = ({s: table[points] for s, table in many.items()} for points in ([10, 24], [10, 15, 20, 24]))
    print(f"{preset}, draws", *MS_DRAWS)
    ours = "optimum"
    rows: list[Row] = [
        Row("mean: optimum, 5 MHz", lambda d: mean_of(last(d[ours])), few),
        Row("mean: fixed, 5 MHz", lambda d: mean_of(last(d["fixed"])), few),
        Row("ratio of means: over fixed, 5 MHz", lambda d: ratio_of_means(last(d[ours]), last(d["fixed"])), few),
        Row("mean of ratios: over fixed, 5 MHz", lambda d: mean_of(last(d[ours]) / last(d["fixed"])), few),
        Row("ratio of means: over fixed, K = 24", lambda d: ratio_of_means(last(d[ours]), last(d["fixed"])), ends),
        Row("change of ratio: over fixed, 20 to 5 MHz", lambda d: change_of_ratio(d[ours], d["fixed"]), few),
        Row("change of ratio: over fixed, K = 10 to 24", lambda d: change_of_ratio(d[ours], d["fixed"]), ends),
        Row("ratio of means: Uni-BW over Homo, K = 24", _uniform, ends),
        Row("change of ratio: over Homo, K = 10 to 24", lambda d: change_of_ratio(d[ours], d["homogeneous"]), ends),
        Row("change of difference: from Homo, K = 10 to 24", _gap, ends),
        Row("slope, steepest less last, half of the draws", _slope, by_band, _of_the_step),
        Row("the same of fixed, K to 24", lambda d: _slope(d, "fixed"), to_24, _of_fixed),
        Row("peak over end of fixed, K to 40, half of the draws", _peak, many, _of_the_peak),
        Row("the same, K to 24", _peak, to_24, _of_the_peak),
        Row("mean rank correlation of B_k and efficiency", _rank, correlations(preset, size)),
        Row("share of draws, Clopper-Pearson", lambda d: share_of(last(d["fixed"]) > 40.0), few),
    ]  # fmt: skip
    for row in rows:
        show(row, MS_DRAWS, SAMPLES)
    for method in ("BCa", "percentile"):
        name = f"ratio of means: over fixed, 5 MHz, {method} bootstrap"
        resampled = Row(name, lambda d, m=method: bootstrapped(last(d[ours]), last(d["fixed"]), m), few)
        show(resampled, (6, 40), RESAMPLED)


def correlations(preset: str, size: int) -> Drawn:
    """Of each draw the rank correlation that the claim about weak channels is judged by."""
    found = []
    for seed in range(size):
        cell, _ = draw(preset, devices=20, seed=seed)
        share = solve_homogeneous(cell).bandwidth_hz
        found.append(-float(stats.spearmanr(share, spectral_efficiency(cell.uplink_snr)).statistic))
    return {"rank": pd.DataFrame({0: found})}


def _rank(drawn: Drawn) -> Mean:
    return mean_between(last(drawn["rank"]), -1.0, 1.0)


def _uniform(drawn: Drawn) -> Mean:
    return ratio_of_means(last(drawn["equal-bandwidth"]), last(drawn["homogeneous"]))


def _gap(drawn: Drawn) -> Mean:
    gap = drawn["optimum"] - drawn["homogeneous"]
    return mean_of(last(gap) - gap.iloc[:, 0])


def _slope(drawn: Drawn, scheme: str = "optimum") -> Mean:
    return case_estimate(flattens("", drawn[scheme], unit=""))


def _of_the_step(sample: Drawn, population: Drawn, scheme: str = "optimum") -> float:
    """The population's number for the step that a sample's half chooses."""
    x, whole = sample[scheme].columns.to_numpy(dtype=float), population[scheme].to_numpy().mean(axis=0)
    slopes = np.diff(whole) / np.diff(x)
    return float(FLAT * slopes[steepest_step(x, halves(sample[scheme])[0])] - slopes[-1])


def _of_fixed(sample: Drawn, population: Drawn) -> float:
    return _of_the_step(sample, population, "fixed")


def _peak(drawn: Drawn) -> Mean:
    return case_estimate(falls_from_its_peak("", drawn["fixed"]))


def _of_the_peak(sample: Drawn, population: Drawn) -> float:
    means = population["fixed"].to_numpy().mean(axis=0)
    return float(means[highest_point(halves(sample["fixed"])[0])] / means[-1] - 1.0)


def _step(drawn: Drawn, scheme: str, low: float, high: float) -> Mean:
    rise = np.round((drawn[scheme][high] - drawn[scheme][low]).to_numpy(), 9)
    return case_estimate(within_if_differing("", rise, 0.0, np.inf))


def uplink_or_downlink(preset: str, size: int) -> None:
    def study(schemes: list[str], fixed: dict[str, float], **axis: list[float]) -> Study:
        more = {"draws": size, "seed": 1, "fixed": fixed, "axes": axis}
        return Study(problem="modes", presets=[preset], methods=schemes, **more)

    by_power = study(["optimum", "greedy"], {"devices": 10}, downlink_power_dbm=[0.0, 20.0, 35.0, 50.0])
    rows = solved(by_power)
    part = rows["uplink_share"] / (rows["uplink_share"] + rows["downlink_share"])
    goodput, lengths = (tables(by_power, rows, value) for value in (GOODPUT, "mean_draft_length_tokens"))
    parts = {"optimum": tables(by_power, rows.assign(part=part), "part")["optimum"]}
    at_20 = {scheme: table[[0.0, 20.0]] for scheme, table in goodput.items()}
    schemes = ["optimum", "all-uplink", "all-downlink", "random-modes"]
    by_devices = population(study(schemes, {"power_ratio": 16.0}, devices=[8, 16]))
    by_ratio = population(study(schemes, {"devices": 10}, power_ratio=[4.0, 16.0]))
    rules = population(study(LENGTH_SCHEMES, {"devices": 10}, power_ratio=[1.0, 4.0]))
    print(f"{preset}, K = 10, draws", *UD_DRAWS)
    every: list[Row] = [
        Row("ratio of means: 50 over 0 dBm", _rise, goodput),
        Row("slope, half the steepest less last, half of the draws", _slope, goodput, _of_the_step),
        Row("mean length, 50 less 0 dBm", lambda d: mean_of(last(d["greedy"]) - d["greedy"].iloc[:, 0]), lengths),
        *(Row(f"mean length of {scheme}, {low:g} to {high:g} dBm", partial(_step, scheme=scheme, low=low, high=high),
              lengths) for scheme in lengths for low, high in ((0.0, 20.0), (20.0, 35.0), (35.0, 50.0))),
        Row("uplink's part of the rejected, 50 dBm", lambda d: mean_between(last(d["optimum"]), 0.0, 1.0), parts),
        Row("the same, 0 less 50 dBm", _moved, parts),
        Row("ratio of means: over greedy, 20 dBm", lambda d: _over(d, "greedy"), at_20),
        *(Row(f"ratio of means: over {one}, ratio 16", lambda d, s=one: _over(d, s), by_ratio) for one in schemes[1:]),
        Row("change of ratio: over all-downlink, ratio 4 to 16", _down, by_ratio),
        Row("change of ratio: over all-downlink, K = 8 to 16", _down, by_devices),
        *(Row(f"ratio of means: greedy over {one}, ratio 4", lambda d, s=one: _over(d, s, "greedy"), rules)
          for one in LENGTH_SCHEMES[2:]),
        *(Row(f"ratio of means: optimum over {one}, ratio 4", lambda d, s=one: _over(d, s), rules)
          for one in LENGTH_SCHEMES[2:]),
    ]  # fmt: skip
    for row in every:
        show(row, UD_DRAWS, SAMPLES)


def _over(drawn: Drawn, other: str, scheme: str = "optimum") -> Mean:
    return ratio_of_means(last(drawn[scheme]), last(drawn[other]))


def _rise(drawn: Drawn) -> Mean:
    return ratio_of_means(last(drawn["optimum"]), drawn["optimum"].iloc[:, 0])


def _moved(drawn: Drawn) -> Mean:
    return mean_between(drawn["optimum"].iloc[:, 0] - last(drawn["optimum"]), -1.0, 1.0)


def _down(drawn: Drawn) -> Mean:
    return change_of_ratio(drawn["optimum"], drawn["all-downlink"])


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else POPULATION
    for preset in MS_PRESETS:
        multispin(preset, size)
    for preset in UD_PRESETS:
        uplink_or_downlink(preset, max(20, size // 5))


if __name__ == "__main__":
    main()
