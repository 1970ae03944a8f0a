"""What the answer means for a decision: how far the optimum moves with more of one thing, each solved anew."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import msopt
from msopt import Scenario, Solution
from msopt.model.chosen_devices import chosen_devices
from msopt.model.fields import VERIFY_TIMES
from reports.methods.user_variant import Variants
from reports.page.comparison import NO_OPTIONS
from reports.shared.rows import Row
from reports.shared.words import literal
from reports.studies.points import Failure, attempt

MOST_DEVICES = 100
"""Devices up to which each change is solved: one more solution each of what the answer took."""
FASTER = 2.0
METHOD = "decomposition"


def what_if(
    solutions: Sequence[Solution],
    methods: Sequence[Row],
    asked: Variants,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> list[Row]:
    """Rows of `change`, `problem`, `goodput_tokens_per_s` and `gain`, the problem's optimum after one change.

    Both sides of a gain are by method `decomposition`.

    Parameters
    ----------
    solutions : sequence of Solution
        Of one scenario, one for each problem.
    methods : sequence of dict
        What every method reaches without a change: rows of `compare`.
    asked : Variants
        A utility and limits beside the scenario's.
    options : mapping
        `samples` and `seed`, as `methods` were solved with.
    """
    scenario = solutions[0].scenario if solutions else None
    if scenario is None or scenario.device_count > MOST_DEVICES:
        return []
    rows = []
    problems = [solution.problem for solution in solutions]
    before = {row["problem"]: row["goodput_tokens_per_s"] for row in methods if row["method"] == METHOD}
    for change, changed in changes(scenario, solutions[-1]):
        for problem in problems:
            old, new = before.get(problem), attempt(msopt.solve, changed, problem, METHOD, **asked.asked, **options)
            if isinstance(new, Failure) or not old:
                continue
            gain = new.goodput / old - 1.0
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
        like = scenario.device_names[middle]
        more = chosen_devices(
            scenario, np.append(np.arange(goodput.size), middle), [*scenario.device_names, f"another {like}"]
        )
        yield f"one device more, like {literal(like)}", more
