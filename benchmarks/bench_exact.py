"""Proven optima: time by size, and against the mixed-integer formulation.

Problem `heterogeneous`: method `exact` at K = 16, 32 and 64 over the random family (seeds from 0, c1 zero and not
in turn) and the [MS] presets; then, at K = 8, against the mixed-integer formulation (HiGHS) given the best deadline,
which solves only the lengths. Problem `modes`: `exact` and `decomposition` at K = 20 over the [UD] presets, 0 to
30 dBm. Run: python benchmarks/bench_exact.py [scenarios]
"""

import sys
import time
from functools import partial

import numpy as np

from benchmarks.ratios import Work, collect, interleaved, over, table
from formulations import WholeLengths
from msopt import Scenario, draw, solve
from reports.crosscheck.random_scenarios import family

SCENARIOS = 20
NEEDED_S = {16: 0.5, 32: 3.0, 64: 30.0}
MIXED_INTEGER_AT = 8
MODES_AT, MODES_SCENARIOS = 20, 5


def cells(source: str, count: int, scenarios: int) -> list[Scenario]:
    if source == "random family":
        return [family(seed, count) for seed in range(scenarios)]
    return [draw(source, devices=count, seed=seed)[0] for seed in range(scenarios)]


def by_size(source: str, scenarios: int) -> None:
    seconds: dict[str, list[float]] = {}
    gaps: dict[str, list[float]] = {}
    asked = {}
    for count, needed in NEEDED_S.items():
        label = f"{source}, K = {count}"
        asked[label] = f"median below {needed:g} needed"
        for scenario in cells(source, count, scenarios):
            start = time.process_time()
            found = solve(scenario, method="exact")
            seconds.setdefault(label, []).append(time.process_time() - start)
            gaps.setdefault(label, []).append(found.gap or 0.0)
    table(f"exact, {scenarios} scenarios", seconds, "s of CPU", asked)
    table("gap at the end", gaps, "")


def mixed_integer(scenario: Scenario, deadline_s: float, kept: dict[str, float]) -> None:
    kept["HiGHS"] = WholeLengths(scenario, deadline_s).solve().objective


def ours(scenario: Scenario, kept: dict[str, float]) -> None:
    kept["exact"] = solve(scenario, method="exact").goodput


def against_mixed_integer(scenarios: int) -> None:
    taken, differ = [], []
    for n, scenario in enumerate(cells("random family", MIXED_INTEGER_AT, scenarios)):
        best = solve(scenario, method="exact").evaluation
        if best is None or best.round.draft_upload_s <= 0.0:
            continue
        kept: dict[str, float] = {}
        works: dict[str, Work] = {
            "exact": partial(ours, scenario, kept),
            "HiGHS, deadline given": partial(mixed_integer, scenario, float(best.round.draft_upload_s), kept),
        }
        taken.append(interleaved(works, n))
        differ.append(abs(kept["HiGHS"] / kept["exact"] - 1.0))
    times = collect(taken)
    table(f"K = {MIXED_INTEGER_AT}", times, "s")
    table("ratio", over(times, "exact"), "times")
    table("difference of the goodput", {"relative": differ}, "")


def modes() -> None:
    for preset in ("uldl-qwen25", "uldl-deepseek-r1"):
        taken, short = [], []
        for n, power in enumerate(np.linspace(0.0, 30.0, MODES_SCENARIOS)):
            scenario, _ = draw(preset, devices=MODES_AT, seed=n, downlink_power_dbm=float(power))
            kept: dict[str, float] = {}

            def run(method: str, scenario: Scenario = scenario, kept: dict[str, float] = kept) -> None:
                kept[method] = solve(scenario, "modes", method).goodput

            taken.append(interleaved({m: partial(run, m) for m in ("exact", "decomposition")}, n))
            short.append(1.0 - kept["decomposition"] / kept["exact"])
        times = collect(taken)
        table(f"modes, {preset}, K = {MODES_AT}", times, "s")
        table("decomposition short of the optimum", {"relative": short}, "", {"relative": "at most 0.001 needed"})


def main() -> None:
    scenarios = int(sys.argv[1]) if len(sys.argv) > 1 else SCENARIOS
    for source in ("random family", "multispin-llama2", "multispin-qwen35"):
        by_size(source, scenarios)
    against_mixed_integer(scenarios)
    modes()


if __name__ == "__main__":
    main()
