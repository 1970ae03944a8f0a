"""Start-up time of `msopt solve qwen-coder` as ratios to two yardsticks, all measured in one interleaved run.

Each round starts the three commands once, in an order that turns from round to round, so that a slow spell of
the machine meets all of them. A ratio is taken within its round. Run: python benchmarks/bench_startup.py
"""

import itertools
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.ratios import over, table

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


def main() -> None:
    times = measure(ROUNDS)
    table(f"{ROUNDS} interleaved runs", times, "s")
    table("ratio", over(times, "python -c pass"), "times")
    table("ratio", over(times, list(COMMANDS)[2]), "times")


if __name__ == "__main__":
    main()
