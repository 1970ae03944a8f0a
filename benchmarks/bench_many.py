"""`solve_many` against a Python loop over `solve`: a fading trace of 1000 scenarios of 8 devices.

Both in one run, in turn; the ratio has to be at least 20, and the goodput the same to 1e-10.
Run: python benchmarks/bench_many.py [rounds]
"""

import sys
from functools import partial

import numpy as np

from benchmarks.ratios import Work, collect, interleaved, over, table
from msopt import Scenario, draw, solve, solve_many

ROUNDS = 3
SCENARIOS, DEVICES = 1000, 8
TOGETHER, LOOP = "solve_many", "loop over solve"
SAME = 1e-10


def together(scenarios: list[Scenario], values: dict[str, np.ndarray]) -> None:
    values[TOGETHER] = solve_many(scenarios).goodput


def loop(scenarios: list[Scenario], values: dict[str, np.ndarray]) -> None:
    values[LOOP] = np.array([solve(scenario).goodput for scenario in scenarios])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for preset in ("multispin-llama2", "multispin-qwen35"):
        taken, differ = [], []
        for n in range(rounds):
            first = n * SCENARIOS
            scenarios = [draw(preset, devices=DEVICES, seed=seed)[0] for seed in range(first, first + SCENARIOS)]
            values: dict[str, np.ndarray] = {}
            works: dict[str, Work] = {
                TOGETHER: partial(together, scenarios, values),
                LOOP: partial(loop, scenarios, values),
            }
            taken.append(interleaved(works, n))
            differ.append(float(np.count_nonzero(np.abs(values[TOGETHER] / values[LOOP] - 1.0) > SAME)))
        times = collect(taken)
        ratios = over(times, TOGETHER)
        table(f"{preset}: {SCENARIOS} scenarios of {DEVICES} devices", times, "s")
        table("ratio", ratios, "times", dict.fromkeys(ratios, "20 needed"))
        table(
            "scenarios whose goodput differs by more than 1e-10", {"different": differ}, "", {"different": "0 needed"}
        )


if __name__ == "__main__":
    main()
