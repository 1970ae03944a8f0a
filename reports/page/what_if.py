"""What the answer means for a decision: how far the optimum moves with more of one thing, each solved anew."""

from collections.abc import Iterator, Sequence

import numpy as np

import msopt
from msopt import Acceptance, Scenario, Solution
from msopt.model.fields import PER_DEVICE, VERIFY_TIMES
from reports.methods.user_variant import Variants
from reports.shared.rows import Row
from reports.shared.words import literal
from reports.studies.points import Failure, attempt

MOST_DEVICES = 100
"""Devices up to which each change is solved: one more solution each of what the answer took."""
FASTER = 2.0


def what_if(solutions: Sequence[Solution], asked: Variants) -> list[Row]:
    """Rows of `change`, `problem`, `goodput_tokens_per_s` and `gain`, the problem's optimum after one change.

    Both sides of a gain are by method `decomposition`.

    Parameters
    ----------
    solutions : sequence of Solution
        Of one scenario, one for each problem.
    asked : Variants
        A utility and limits beside the scenario's.
    """
    scenario = solutions[0].scenario if solutions else None
    if scenario is None or scenario.device_count > MOST_DEVICES:
        return []
    rows = []
    problems = [solution.problem for solution in solutions]
    before = {problem: attempt(msopt.solve, scenario, problem, **asked.asked) for problem in problems}
    for change, changed in changes(scenario, solutions[-1]):
        for problem in problems:
            old, new = before[problem], attempt(msopt.solve, changed, problem, **asked.asked)
            if isinstance(old, Failure) or isinstance(new, Failure) or not old.goodput:
                continue
            gain = new.goodput / old.goodput - 1.0
            rows.append({"change": change, "problem": problem, "goodput_tokens_per_s": new.goodput, "gain": gain})
    return rows


def changes(scenario: Scenario, solution: Solution) -> Iterator[tuple[str, Scenario]]:
    """Each change in words, and the scenario after it; powers stay where bands grow."""
    yield (
        "twice the uplink band, at the same powers",
        scenario.with_bandwidth(uplink_hz=FASTER * scenario.uplink_bandwidth_hz),
    )
    yield "twice the server's downlink power", scenario.with_downlink_power(FASTER * scenario.downlink_power_w)
    yield (
        "a server that verifies twice as fast",
        scenario.replace(**{name: getattr(scenario, name) / FASTER for name in VERIFY_TIMES}),
    )
    yield "devices that draft twice as fast", scenario.replace(draft_s_per_token=scenario.draft_s_per_token / FASTER)
    if solution.evaluation is not None:
        goodput = solution.evaluation.round.device_goodput
        middle = int(np.argsort(goodput, kind="stable")[goodput.size // 2])
        yield f"one device more, like {literal(scenario.device_names[middle])}", with_another(scenario, middle)


def with_another(scenario: Scenario, device: int) -> Scenario:
    """The scenario with one more device that has all numbers of a device."""
    rows = [*range(scenario.device_count), device]
    law = scenario.acceptance
    acceptance = Acceptance.of(law.mean[rows], std=law.std[rows], curves=[law.curves[row] for row in rows])
    fields = {row.field: getattr(scenario, row.field) for row in PER_DEVICE}
    several = {name: value[rows] for name, value in fields.items() if value is not None}
    names = (*scenario.device_names, f"another {scenario.device_names[device]}")
    return scenario.replace(acceptance=acceptance, device_names=names, **several)
