"""The relaxed optimum of problem `heterogeneous` by its own structure against programs written for any problem.

Fixed SNR ([MS]'s cell) and power-limited ([UD]'s), K = 10, 100, 1000 and 10 000: `solve_relaxed` against the conic
program in vector form, scaled as `formulations` does, built and solved once by each free solver that knows
exponential cones; power-limited also, at K = 20 and 1000, against the program as a user of CVXPY would write it
(`benchmarks/plain_program.py`), solved as it is; and up to K = 1000 scipy's SLSQP and differential evolution on the
same objective, each stopped after 20 s. CPU seconds, interleaved in one run; objectives as shares of ours.
`optimal_inaccurate`, errors and stops are counted, not hidden. Run: python benchmarks/bench_relaxed.py [rounds]
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.optimize import differential_evolution, minimize

from benchmarks.plain_program import PlainProgram
from benchmarks.ratios import Work, collect, interleaved, over, table
from formulations import DraftControl
from msopt import Scenario, draw
from msopt.arrays import FloatArray
from msopt.lengths.relaxed import shortest_deadline, solve_relaxed
from msopt.model.goodput import round_at

ROUNDS = 7
OURS = "solve_relaxed"
SOLVERS = ("ECOS", "CLARABEL", "SCS")
FIXED, LIMITED = "multispin-llama2", "uldl-qwen25"
NEEDED = {(FIXED, 1000): 100.0, (FIXED, 10_000): 300.0, (LIMITED, 1000): 50.0, (LIMITED, 10_000): 100.0}
PLAIN = "plain CVXPY, "
"""What stands before a solver's name where it is given the program as a user would write it."""
PLAIN_AT = (20, 1000)
GENERAL = ("SLSQP", "differential evolution")
GENERAL_ROUNDS = 2
GENERAL_S = 20.0
"""Seconds that a general-purpose method is given."""


class OutOfTimeError(Exception):
    """The seconds are over."""


def conic(scenario: Scenario, solver: str, seen: dict[str, Counter[str]], values: dict[str, list[float]]) -> None:
    """Build and solve once; the lengths found are scored by the evaluator, as ours are."""
    program = DraftControl(scenario)
    try:
        program.cvxpy.solve(solver=solver, ignore_dpp=True)
        status = str(program.cvxpy.status)
        lengths = program.decision()["draft_length"] if status in ("optimal", "optimal_inaccurate") else None
    except Exception as error:  # a solver may fail in any way; that is a result here
        status, lengths = type(error).__name__, None
    seen.setdefault(solver, Counter())[status] += 1
    values.setdefault(solver, []).append(np.nan if lengths is None else goodput(scenario, lengths))


def plain(scenario: Scenario, name: str, seen: dict[str, Counter[str]], values: dict[str, list[float]]) -> None:
    """The program as a user would write it, solved as it is."""
    status, lengths = PlainProgram(scenario).solve(name.removeprefix(PLAIN))
    seen.setdefault(name, Counter())[status] += 1
    found = lengths is not None and bool(np.all(np.isfinite(lengths)))
    values.setdefault(name, []).append(goodput(scenario, lengths) if found and lengths is not None else np.nan)


def goodput(scenario: Scenario, lengths: FloatArray) -> float:
    """Of real lengths within their limits, at the shortest deadline that they allow."""
    low, high = scenario.length_limits("heterogeneous")
    held = np.clip(lengths, low, high)
    return float(round_at(scenario, held, shortest_deadline(scenario, held)).goodput)


def general_purpose(
    scenario: Scenario, name: str, seen: dict[str, Counter[str]], values: dict[str, list[float]]
) -> None:
    """The best lengths that a general-purpose method met in its time."""
    low, high = scenario.length_limits("heterogeneous")
    box = [(float(low), float(high))] * scenario.device_count
    end, best = time.perf_counter() + GENERAL_S, -np.inf

    def loss(lengths: FloatArray) -> float:
        nonlocal best
        if time.perf_counter() > end:
            raise OutOfTimeError
        reached = goodput(scenario, lengths)
        best = max(best, reached)
        return -reached

    try:
        if name == "SLSQP":
            minimize(loss, np.full(len(box), 0.5 * (low + high)), method="SLSQP", bounds=box)
        else:
            differential_evolution(loss, box, seed=0, maxiter=200, tol=1e-8)
        status = "ended"
    except OutOfTimeError:
        status = "stopped"
    seen.setdefault(name, Counter())[status] += 1
    values.setdefault(name, []).append(best)


def ours(scenario: Scenario, values: dict[str, list[float]]) -> None:
    found = solve_relaxed(scenario)
    values.setdefault(OURS, []).append(found.goodput)
    values.setdefault("gap", []).append(found.gap)


def work_of(name: str) -> Callable[[Scenario, str, dict[str, Counter[str]], dict[str, list[float]]], None]:
    if name in GENERAL:
        return general_purpose
    return plain if name.startswith(PLAIN) else conic


def compare(preset: str, count: int, rounds: int, others: Sequence[str]) -> None:
    """Ours and others at one K, for another draw of the cell in each round."""
    seen: dict[str, Counter[str]] = {}
    values: dict[str, list[float]] = {}
    taken = []
    solve_relaxed(draw(preset, devices=count, seed=rounds)[0])  # fills caches; not counted
    for n in range(rounds):
        scenario, _ = draw(preset, devices=count, seed=n)
        works: dict[str, Work] = {OURS: partial(ours, scenario, values)}
        works |= {name: partial(work_of(name), scenario, name, seen, values) for name in others}
        taken.append(interleaved(works, n))
    times = collect(taken)
    least = NEEDED.get((preset, count), 1.0) if set(others) <= set(SOLVERS) else 1.0
    asked, ratios = f"{least:g} needed of the fastest", over(times, OURS)
    print(f"== {preset}, K = {count}, {rounds} rounds")
    table("time", times, "s of CPU")
    table(f"times slower than {OURS}", ratios, "times", dict.fromkeys(ratios, asked))
    best = values.pop(OURS)
    table("proven gap of ours, by its own residuals", {"gap": values.pop("gap")}, "")
    short = {name: [1.0 - v / b for v, b in zip(each, best, strict=True)] for name, each in values.items()}
    table("goodput short of ours (below 0: above it; nan: none)", short, "")
    for solver, statuses in seen.items():
        print(f"{solver}: {', '.join(f'{status} {n} times' for status, n in statuses.items())}")
    print()


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for preset in (FIXED, LIMITED):
        for count in (10, 100, 1000):
            compare(preset, count, rounds, SOLVERS)
        compare(preset, 10_000, max(2, rounds // 2), SOLVERS[:2])
    for count in PLAIN_AT:
        compare(LIMITED, count, rounds, [PLAIN + solver for solver in SOLVERS[:2]])
    for count in (10, 100, 1000):
        compare(FIXED, count, GENERAL_ROUNDS, GENERAL)


if __name__ == "__main__":
    main()
