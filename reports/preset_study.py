"""Goodput of every method on seeded draws of the papers' settings: `python -m reports.preset_study`.

Draws seeds 0 to N-1 of each preset at the papers' K = 20, the [UD] presets also at several downlink powers,
and prints mean, least and greatest goodput of each method as a Markdown table.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from msopt import METHODS, PRESETS, PROBLEMS, draw, solve

DOWNLINK_POWERS_DBM = (10.0, 20.0, 30.0)


def settings() -> Iterator[tuple[str, float | None]]:
    """Each preset with the downlink powers it is drawn at; None for its own."""
    for preset in PRESETS:
        for power in DOWNLINK_POWERS_DBM if preset.startswith("uldl") else (None,):
            yield preset, power


def rows(preset: str, power_dbm: float | None, draws: int) -> Iterator[tuple[str, str, list[float]]]:
    """Problem, method and the goodput [token/s] of each draw."""
    scenarios = [draw(preset, seed=seed, downlink_power_dbm=power_dbm)[0] for seed in range(draws)]
    for problem in PROBLEMS:
        for method in METHODS[problem]:
            yield problem, method, [solve(scenario, problem, method).goodput for scenario in scenarios]


def main() -> None:
    """Print one table for each preset and power."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    for preset, power in settings():
        where = "" if power is None else f", downlink {power:g} dBm"
        print(f"\n{preset}{where}, K = 20, seeds 0 to {draws - 1}\n")
        print("| problem | method | mean [token/s] | least | greatest |\n| --- | --- | --- | --- | --- |")
        for problem, method, goodput in rows(preset, power, draws):
            numbers = " | ".join(f"{value:.2f}" for value in (np.mean(goodput), min(goodput), max(goodput)))
            print(f"| {problem} | {method} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
