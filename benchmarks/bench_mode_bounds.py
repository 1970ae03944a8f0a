"""The upper bounds of problem `modes` beside each other: how far each lies above the control found, and its time.

The stand-in bound, which holds where all or nothing does, and the adaptive one over both [UD] presets, and up to 20
devices the additive one. Run: python benchmarks/bench_mode_bounds.py [--devices K ...] [--powers DBM ...] [--draws N]
"""

import argparse
import time
from collections.abc import Callable

from benchmarks.ratios import table
from msopt import draw, solve
from msopt.modes.bounds.adaptive import adaptive_bound
from msopt.modes.bounds.stand_in import stand_in_bound
from msopt.modes.bounds.upper import additive_bound
from msopt.modes.expected import EXACT_UP_TO, expected_correction
from msopt.modes.mode_problem import ModeProblem
from msopt.modes.table import TableOfOutcomes

PRESETS = ("uldl-qwen25", "uldl-deepseek-r1")
Bound = Callable[[ModeProblem, float], float]
SAMPLES = 2  # no bound looks at them


def additive(problem: ModeProblem, _: float) -> float:
    assert isinstance(problem.correction, TableOfOutcomes)
    return additive_bound(problem, problem.correction)


def bounds(devices: int) -> dict[str, Bound]:
    found: dict[str, Bound] = {"stand-in": stand_in_bound, "adaptive": adaptive_bound}
    return found | ({"additive": additive} if devices <= EXACT_UP_TO else {})


def compare(devices: int, powers_dbm: list[float], draws: int) -> None:
    tried = bounds(devices)
    gaps: dict[str, list[float]] = {name: [] for name in tried}
    taken: dict[str, list[float]] = {name: [] for name in tried}
    least: dict[str, list[float]] = {name: [] for name in tried}
    for preset in PRESETS:
        for power in powers_dbm:
            for seed in range(draws):
                scenario, _ = draw(preset, devices=devices, seed=seed, downlink_power_dbm=power)
                reached = solve(scenario, "modes", bound=float("inf")).goodput
                problem = ModeProblem(scenario, expected_correction(scenario, "best", samples=SAMPLES))
                found = {}
                for name, bound in tried.items():
                    start = time.process_time()
                    found[name] = bound(problem, reached)
                    taken[name].append(time.process_time() - start)
                    gaps[name].append(100.0 * (found[name] / reached - 1.0))
                for name in tried:
                    least[name].append(float(found[name] == min(found.values())))
    table(f"K = {devices}: gap to decomposition", gaps, "%")
    table("time", taken, "s of CPU")
    table("share of the draws in which it is the least", {name: [sum(v) / len(v)] for name, v in least.items()}, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--powers", type=float, nargs="+", default=[5.0, 10.0, 20.0, 30.0], help="of the server [dBm]")
    parser.add_argument("--draws", type=int, default=2)
    options = parser.parse_args()
    for devices in options.devices:
        compare(devices, options.powers, options.draws)


if __name__ == "__main__":
    main()
