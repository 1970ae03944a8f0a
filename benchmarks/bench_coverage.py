"""How often the 95 % intervals of the claims' estimators hold the truth, on draws like the report's.

A population of draws is solved once; samples of it, with replacement, are as many draws as a report has, and the truth
is the population's. Run: python benchmarks/bench_coverage.py [draws of the population]
"""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from msopt import draw
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.model.sharing import spectral_efficiency
from reports.claims.comparisons import change_of_ratio, falls_from_its_peak, flattens
from reports.claims.judging import Case
from reports.shared.estimators import Mean, lies, mean_between, mean_of, ratio_of_means, share_of
from reports.studies.paper_figures import GOODPUT, LENGTH_SCHEMES, MS_PRESETS, MS_SCHEMES, UD_PRESETS
from reports.studies.points import chunks, solve_rows
from reports.studies.study import Study

POPULATION, SAMPLES, RESAMPLED = 1000, 1000, 200
MS_DRAWS, UD_DRAWS = (6, 10, 40, 100, 400), (6, 10, 20, 40)
Estimator = Callable[[dict[str, pd.DataFrame]], Mean]


def population(study: Study, value: str = GOODPUT) -> dict[str, pd.DataFrame]:
    """For each scheme a table with a row for each draw and a column for each value of the one axis."""
    return tables(study, solved(study), value)


def solved(study: Study) -> pd.DataFrame:
    return pd.DataFrame([row for chunk in chunks(study, study.points()) for row in solve_rows(study, chunk)])


def tables(study: Study, rows: pd.DataFrame, value: str = GOODPUT) -> dict[str, pd.DataFrame]:
    (axis,) = study.axes
    by_scheme = rows.pivot(index="draw", columns=["scheme", axis], values=value).astype(float)
    return {scheme: by_scheme[scheme].sort_index(axis=1).dropna() for scheme in study.methods}


def coverage(estimator: Estimator, drawn: dict[str, pd.DataFrame], truth: float, count: int, samples: int) -> float:
    rng, held = np.random.default_rng(0), 0
    size = len(next(iter(drawn.values())))
    for _ in range(samples):
        picked = rng.integers(0, size, count)
        found = estimator({scheme: table.iloc[picked] for scheme, table in drawn.items()})
        held += bool(lies(Mean(truth, truth, truth, 2), found.low, found.high))
    return held / samples


def last(table: pd.DataFrame) -> pd.Series:
    return table.iloc[:, -1]


def bootstrapped(above: pd.Series, below: pd.Series, method: str) -> Mean:
    def ratio(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return a.mean(axis) / b.mean(axis)

    pair = (above.to_numpy(), below.to_numpy())
    found = stats.bootstrap(pair, ratio, paired=True, n_resamples=999, method=method, rng=0).confidence_interval
    return Mean(float(ratio(*pair)), float(found.low), float(found.high), len(above))


def case_estimate(case: Case) -> Mean:
    return Mean(case.value, case.low, case.high, case.draws)


def show(
    words: str, estimator: Estimator, drawn: dict[str, pd.DataFrame], counts: tuple[int, ...], samples: int
) -> None:
    truth = estimator(drawn).mean
    shown = [f"{100.0 * coverage(estimator, drawn, truth, count, samples):5.1f}" for count in counts]
    print(f"  {words:58}", *shown, flush=True)


def multispin(preset: str, size: int) -> None:
    def study(schemes: list[str], **axis: list[float]) -> Study:
        fixed = {} if "devices" in axis else {"devices": 20}
        more = {"exact_up_to_devices": 0, "draws": size, "seed": 1, "fixed": fixed, "axes": axis}
        return Study(problem="heterogeneous", presets=[preset], methods=schemes, **more)

    few = population(study(["optimum", "fixed"], bandwidth_hz=[20e6, 5e6]))
    few = {scheme: table[[20e6, 5e6]] for scheme, table in few.items()}  # the least band last
    by_devices = population(study(MS_SCHEMES, devices=[10, 24, 40]))
    ends = {scheme: table[[10, 24]] for scheme, table in by_devices.items()}
    by_band = population(study(["optimum"], bandwidth_hz=[5e6, 10e6, 15e6, 20e6]))
    print(f"{preset}, draws", *MS_DRAWS)
    ours = "optimum"
    rows: list[tuple[str, Estimator, dict[str, pd.DataFrame]]] = [
        ("mean: optimum, 5 MHz", lambda d: mean_of(last(d[ours])), few),
        ("mean: fixed, 5 MHz", lambda d: mean_of(last(d["fixed"])), few),
        ("ratio of means: over fixed, 5 MHz", lambda d: ratio_of_means(last(d[ours]), last(d["fixed"])), few),
        ("mean of ratios: over fixed, 5 MHz", lambda d: mean_of(last(d[ours]) / last(d["fixed"])), few),
        ("ratio of means: over fixed, K = 24", lambda d: ratio_of_means(last(d[ours]), last(d["fixed"])), ends),
        ("change of ratio: over fixed, 20 to 5 MHz", lambda d: change_of_ratio(d[ours], d["fixed"]), few),
        ("change of ratio: over fixed, K = 10 to 24", lambda d: change_of_ratio(d[ours], d["fixed"]), ends),
        ("ratio of means: Uni-BW over Homo, K = 24", _uniform, ends),
        ("change of ratio: over Homo, K = 10 to 24", lambda d: change_of_ratio(d[ours], d["homogeneous"]), ends),
        ("change of difference: from Homo, K = 10 to 24", _gap, ends),
        ("slope, steepest less last, half of the draws", _slope, by_band),
        ("peak over end of fixed, K to 40, half of the draws", _peak, by_devices),
        ("mean rank correlation of B_k and efficiency", _rank, correlations(preset, size)),
        ("share of draws, Clopper-Pearson", lambda d: share_of(last(d["fixed"]) > 40.0), few),
    ]  # fmt: skip
    for words, estimator, drawn in rows:
        show(words, estimator, drawn, MS_DRAWS, SAMPLES)
    for method in ("BCa", "percentile"):
        name = f"ratio of means: over fixed, 5 MHz, {method} bootstrap"
        show(name, lambda d, m=method: bootstrapped(last(d[ours]), last(d["fixed"]), m), few, (6, 40), RESAMPLED)


def correlations(preset: str, size: int) -> dict[str, pd.DataFrame]:
    """Of each draw the rank correlation that the claim about weak channels is judged by."""
    found = []
    for seed in range(size):
        cell, _ = draw(preset, devices=20, seed=seed)
        share = solve_homogeneous(cell).bandwidth_hz
        found.append(-float(stats.spearmanr(share, spectral_efficiency(cell.uplink_snr)).statistic))
    return {"rank": pd.DataFrame({0: found})}


def _rank(drawn: dict[str, pd.DataFrame]) -> Mean:
    return mean_between(last(drawn["rank"]), -1.0, 1.0)


def _uniform(drawn: dict[str, pd.DataFrame]) -> Mean:
    return ratio_of_means(last(drawn["equal-bandwidth"]), last(drawn["homogeneous"]))


def _gap(drawn: dict[str, pd.DataFrame]) -> Mean:
    gap = drawn["optimum"] - drawn["homogeneous"]
    return mean_of(last(gap) - gap.iloc[:, 0])


def _slope(drawn: dict[str, pd.DataFrame]) -> Mean:
    return case_estimate(flattens("", drawn["optimum"], unit=""))


def _peak(drawn: dict[str, pd.DataFrame]) -> Mean:
    return case_estimate(falls_from_its_peak("", drawn["fixed"]))


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
    by_devices = population(study(schemes, {"power_ratio": 16.0}, devices=[6, 10]))
    by_ratio = population(study(schemes, {"devices": 10}, power_ratio=[4.0, 16.0]))
    rules = population(study(LENGTH_SCHEMES, {"devices": 10}, power_ratio=[1.0, 4.0]))
    print(f"{preset}, K = 10, draws", *UD_DRAWS)
    every: list[tuple[str, Estimator, dict[str, pd.DataFrame]]] = [
        ("ratio of means: 50 over 0 dBm", _rise, goodput),
        ("slope, half the steepest less last, half of the draws", _slope, goodput),
        ("mean length, 50 less 0 dBm", lambda d: mean_of(last(d["greedy"]) - d["greedy"].iloc[:, 0]), lengths),
        ("uplink's part of the rejected, 50 dBm", lambda d: mean_between(last(d["optimum"]), 0.0, 1.0), parts),
        ("the same, 0 less 50 dBm", _moved, parts),
        ("ratio of means: over greedy, 20 dBm", lambda d: _over(d, "greedy"), at_20),
        *((f"ratio of means: over {one}, ratio 16", lambda d, s=one: _over(d, s), by_ratio) for one in schemes[1:]),
        ("change of ratio: over all-downlink, ratio 4 to 16", _down, by_ratio),
        ("change of ratio: over all-downlink, K = 6 to 10", _down, by_devices),
        *((f"ratio of means: greedy over {one}, ratio 4", lambda d, s=one: _over(d, s, "greedy"), rules)
          for one in LENGTH_SCHEMES[2:]),
        *((f"ratio of means: optimum over {one}, ratio 4", lambda d, s=one: _over(d, s), rules)
          for one in LENGTH_SCHEMES[2:]),
    ]  # fmt: skip
    for words, estimator, drawn in every:
        show(words, estimator, drawn, UD_DRAWS, SAMPLES)


def _over(drawn: dict[str, pd.DataFrame], other: str, scheme: str = "optimum") -> Mean:
    return ratio_of_means(last(drawn[scheme]), last(drawn[other]))


def _rise(drawn: dict[str, pd.DataFrame]) -> Mean:
    return ratio_of_means(last(drawn["optimum"]), drawn["optimum"].iloc[:, 0])


def _moved(drawn: dict[str, pd.DataFrame]) -> Mean:
    return mean_between(drawn["optimum"].iloc[:, 0] - last(drawn["optimum"]), -1.0, 1.0)


def _down(drawn: dict[str, pd.DataFrame]) -> Mean:
    return change_of_ratio(drawn["optimum"], drawn["all-downlink"])


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else POPULATION
    for preset in MS_PRESETS:
        multispin(preset, size)
    for preset in UD_PRESETS:
        uplink_or_downlink(preset, max(20, size // 5))


if __name__ == "__main__":
    main()
