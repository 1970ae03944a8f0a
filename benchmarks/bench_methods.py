"""The papers' own algorithms against ours: time and goodput, side by side in one run.

[MS] Algorithm 1 (`grid`, 100 x 100 points) against `decomposition` on problem `heterogeneous`; [UD] Algorithm 1
(`greedy`, 1000 fresh outcomes at each evaluation, as the paper draws them) against `decomposition` on problem
`modes`; K = 20, another draw of the preset in each round. Run: python benchmarks/bench_methods.py [rounds]
"""

import sys
from functools import partial

from benchmarks.ratios import Work, collect, interleaved, over, table
from msopt import Scenario, draw, solve
from msopt.model.scenario import Problem

ROUNDS = 5
DEVICES = 20
OURS = "decomposition"
CASES: tuple[tuple[str, Problem, str, dict[str, object], dict[str, float]], ...] = (
    ("multispin-llama2", "heterogeneous", "grid", {}, {}),
    ("multispin-qwen35", "heterogeneous", "grid", {}, {}),
    ("uldl-qwen25", "modes", "greedy", {"samples": 1000}, {"downlink_power_dbm": 10.0}),
    ("uldl-qwen25", "modes", "greedy", {"samples": 1000}, {"downlink_power_dbm": 30.0}),
    ("uldl-deepseek-r1", "modes", "greedy", {"samples": 1000}, {"downlink_power_dbm": 10.0}),
)


def run(scenario: Scenario, problem: Problem, method: str, options: dict[str, object], kept: dict[str, float]) -> None:
    kept[method] = solve(scenario, problem, method, **options).goodput


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for preset, problem, theirs, options, drawn in CASES:
        taken, short = [], []
        for n in range(rounds):
            scenario, _ = draw(preset, devices=DEVICES, seed=n, **drawn)  # type: ignore[arg-type]
            kept: dict[str, float] = {}
            works: dict[str, Work] = {
                OURS: partial(run, scenario, problem, OURS, {}, kept),
                theirs: partial(run, scenario, problem, theirs, options, kept),
            }
            taken.append(interleaved(works, n))
            short.append(1.0 - kept[theirs] / kept[OURS])
        label = ", ".join([preset, problem, *(f"{name} {value:g}" for name, value in drawn.items())])
        times = collect(taken)
        table(label, times, "s")
        table("time", over(times, OURS), "times")
        table("goodput short of ours", {theirs: short}, "")


if __name__ == "__main__":
    main()
