"""The formulations' speed as ratios, each measured in one interleaved run, with spread.

1. K = 1000: the conic program in vector form, built and solved once, against the same program written with one
   constraint for each device, as a loop would have it. The vector form has to take at most a tenth.
2. K = 50: a re-solve after `update` against building the parametrised program anew and solving it. The re-solve has
   to be at least three times faster. Also without the certificate's gradient, which a first solve has to compile.

Run: python benchmarks/bench_formulations.py [rounds]
"""

import sys
from collections.abc import Callable
from functools import partial

import cvxpy as cp
import numpy as np

from benchmarks.ratios import interleaved, table
from formulations import DraftControl, SolverOptions
from formulations.terms.program import LEAST_ROUND_RATE
from msopt import Scenario, draw
from reports.crosscheck.random_scenarios import family

ROUNDS = 9
LARGE, SMALL = 1000, 50
SOLVERS = ("ECOS", "CLARABEL")
PLAIN = SolverOptions(stationarity=False)


class LoopForm:
    """The units of a DraftControl, the same constraints, device by device; numbers compiled in."""

    def __init__(self, program: DraftControl) -> None:
        given = {name: np.asarray(p.value) for name, p in program.parameters.items()}
        K, limits = program.scenario.device_count, program.scenario.length_limits("heterogeneous")
        least, greatest = (limit / given["length_unit"] for limit in limits)
        s, d = cp.Variable(), cp.Variable()
        length, excess, g = cp.Variable(K), cp.Variable(K), cp.Variable(K)
        rows: list[cp.Constraint] = [
            float(given["deadline"]) * d + float(given["verify_idle"]) * s + given["verify_per_token"] @ length == 1.0,
            s >= LEAST_ROUND_RATE,
            given["share"] @ length + given["share_of_excess"] @ excess <= d,
        ]
        for k in range(K):
            slack = given["slack_of_deadline"][k] * d - given["busy"][k] * length[k]
            exponent = given["log_alpha"][k] * s + given["log_alpha_length"][k] * length[k]
            rows += [
                length[k] >= least[k] * s,
                length[k] <= greatest[k] * s,
                cp.SOC(slack + excess[k], cp.hstack([2.0 * length[k], slack - excess[k]])),
                cp.ExpCone(exponent, s, s - given["rejection"][k] * g[k]),
                g[k] >= 0.0,
            ]
        counted = cp.multiply(given["inner"], g) + cp.multiply(given["certain_length"], length) + given["end"] * s
        self.problem = cp.Problem(cp.Maximize(cp.sum(counted)), rows)

    def solve(self, solver: str) -> float:
        """One solve in CVXPY; the scaled objective."""
        self.problem.solve(solver=solver)
        return float(self.problem.value)


def vector_form(scenario: Scenario, solver: str) -> None:
    DraftControl(scenario).cvxpy.solve(solver=solver, ignore_dpp=True)


def loop_form(units: DraftControl, solver: str) -> None:
    LoopForm(units).solve(solver)


def anew(scenario: Scenario, solver: str, options: SolverOptions) -> None:
    DraftControl(scenario).solve(solver, options)


def again(kept: DraftControl, scenario: Scenario, solver: str, options: SolverOptions) -> None:
    kept.update(scenario)
    kept.solve(solver, options)


def vector_against_loop(rounds: int) -> None:
    """Build and one CVXPY solve of each form, in the same units, for the same scenario."""
    ratios: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for n in range(rounds):
        scenario, _ = draw("multispin-llama2", devices=LARGE, seed=n)
        for solver in SOLVERS:
            units = DraftControl(scenario)
            works: dict[str, Callable[[], object]] = {
                "vector": partial(vector_form, scenario, solver),
                "loop": partial(loop_form, units, solver),
            }
            taken = interleaved(works, n)
            ratios.setdefault(f"loop / vector, {solver}", []).append(taken["loop"] / taken["vector"])
            for name, value in taken.items():
                times.setdefault(f"{name} form, {solver}", []).append(value)
    report(f"K = {LARGE}: build and solve once ({rounds} rounds)", times, ratios, least=10.0)


def again_against_anew(rounds: int) -> None:
    """Update and solve against build and solve, both certified, then both without the gradient."""
    ratios: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for solver in SOLVERS:
        for label, options in (("certified", SolverOptions()), ("without the gradient", PLAIN)):
            kept = DraftControl(family(1000, SMALL))
            kept.solve(solver, options)
            for n in range(2 * rounds):
                scenario = family(n, SMALL)
                works: dict[str, Callable[[], object]] = {
                    "anew": partial(anew, scenario, solver, options),
                    "again": partial(again, kept, scenario, solver, options),
                }
                taken = interleaved(works, n)
                ratios.setdefault(f"anew / again, {solver}, {label}", []).append(taken["anew"] / taken["again"])
                for name, value in taken.items():
                    times.setdefault(f"{name}, {solver}, {label}", []).append(value)
    report(f"K = {SMALL}: anew or again ({2 * rounds} rounds)", times, ratios, least=3.0)


def report(title: str, times: dict[str, list[float]], ratios: dict[str, list[float]], least: float) -> None:
    table(title, times, "s")
    table("the same as ratios", ratios, "times", dict.fromkeys(ratios, f"{least:g} needed"))


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    vector_against_loop(rounds)
    again_against_anew(rounds)


if __name__ == "__main__":
    main()
