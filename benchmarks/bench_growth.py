"""How time and memory of the closed forms and of the relaxed optimum grow with the number of devices.

K = 10 to 10^6 in steps of ten, another draw in each round, all K in turn within a round. The exponent is the slope
of ln(time) over ln(K) by least squares from K = 10^3 on; it has to be at most 1.1. Memory is the peak beyond the
scenario itself, over K. Run: python benchmarks/bench_growth.py [rounds]
"""

import sys
from functools import partial

import numpy as np

from benchmarks.ratios import Work, collect, interleaved, peak_bytes, table
from msopt import Scenario
from msopt.lengths.homogeneous import solve_homogeneous
from msopt.lengths.relaxed import solve_relaxed
from reports.crosscheck.random_scenarios import family

ROUNDS = 5
COUNTS = (10, 100, 1000, 10_000, 100_000, 1_000_000)
FROM = 1000
WORKS = {"solve_relaxed": solve_relaxed, "solve_homogeneous": solve_homogeneous}
ASKED = "at most 1.1 needed"


def exponent(seconds: dict[int, float]) -> float:
    counts = np.array([count for count in seconds if count >= FROM], dtype=float)
    return float(np.polyfit(np.log(counts), np.log([seconds[int(count)] for count in counts]), 1)[0])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    taken = []
    for n in range(rounds):
        scenarios: dict[int, Scenario] = {count: family(n, count) for count in COUNTS}
        for scenario in scenarios.values():
            scenario.uplink  # noqa: B018  (derived once; not what is measured)
        works: dict[str, Work] = {
            f"{name}, K = {count}": partial(work, scenarios[count]) for count in COUNTS for name, work in WORKS.items()
        }
        taken.append(interleaved(works, n))
    times = collect(taken)
    table(f"{rounds} rounds", times, "s")
    for name in WORKS:
        slopes = [exponent({count: each[f"{name}, K = {count}"] for count in COUNTS}) for each in taken]
        table(f"{name}: exponent of time from K = {FROM} on", {name: slopes}, "", {name: ASKED})
    for name, work in WORKS.items():
        each = {
            f"{name}, K = {count}": [peak_bytes(partial(work, family(n, count))) / count for n in range(2)]
            for count in COUNTS[2:]
        }
        table("peak memory", each, "bytes a device")


if __name__ == "__main__":
    main()
