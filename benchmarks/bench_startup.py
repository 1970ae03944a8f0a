"""Start-up time of `msopt solve qwen-coder` as ratios to two yardsticks, all measured in one interleaved run.

Each round starts the three commands once, in an order that turns from round to round, so that a slow spell of
the machine meets all of them. A ratio is taken within its round. Run: python benchmarks/bench_startup.py
"""

import itertools
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
SOLVE = "msopt solve qwen-coder"
COMMANDS = {
    SOLVE: [str(Path(sys.executable).parent / "msopt"), "solve", "qwen-coder"],
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import numpy, scipy.optimize'": [sys.executable, "-c", "import numpy, scipy.optimize"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(rounds: int) -> dict[str, list[float]]:
    for command in COMMANDS.values():  # fill the caches of files and bytecode; not counted
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    orders = itertools.cycle(itertools.permutations(COMMANDS))
    for _, order in zip(range(rounds), orders, strict=False):
        for name in order:
            times[name].append(seconds(COMMANDS[name]))
    return times


def row(name: str, values: list[float], unit: str) -> str:
    spread = (statistics.median(values), min(values), max(values))
    return f"{name:<58}" + "".join(f"{value:>10.3f}" for value in spread) + f"  {unit}"


def main() -> None:
    times = measure(ROUNDS)
    print(f"{f'{ROUNDS} interleaved runs':<58}{'median':>10}{'min':>10}{'max':>10}")
    for name, values in times.items():
        print(row(name, values, "s"))
    for name in list(COMMANDS)[1:]:
        ratios = [own / other for own, other in zip(times[SOLVE], times[name], strict=True)]
        print(row(f"msopt / {name}", ratios, "times"))


if __name__ == "__main__":
    main()
