"""Every method of every problem on a scenario, as plain records: what the report shows, and nothing else is solved."""

from pathlib import Path
from typing import Any

import msopt
from msopt import ParameterError, Scenario, Solution
from msopt.files import read_text
from msopt.scenario import Problem
from reports.inputs import provenance
from reports.method_notes import note
from reports.summary import parameters

Record = dict[str, Any]
DEFAULT = "decomposition"


def study(source: str, path: Path) -> Record:
    """Everything the report says of one scenario file; `source` is what the user called it."""
    scenario = Scenario.read(path)
    solutions = {problem: msopt.solve(scenario, problem, DEFAULT) for problem in msopt.PROBLEMS}
    return {
        "name": scenario.name,
        "source": source,
        "provenance": provenance(read_text(path)),
        "parameters": [row._asdict() for row in parameters(scenario)],
        "devices": _devices(scenario),
        "solutions": [solution.to_dict() for solution in solutions.values()],
        "comparison": [row for solution in solutions.values() for row in compare(solution)],
    }


def compare(ours: Solution) -> list[Record]:
    """A record for each method of a problem, beside its solution by the default method."""
    return [_row(ours, method) for method in msopt.METHODS[ours.problem]]


def _row(ours: Solution, method: str) -> Record:
    """One method's goodput, what the default method gains over it, and its gap to the bound.

    `gap` is None where the bound does not apply: the method is no control of the problem. A method that needs
    what the scenario lacks has a `reason` in place of numbers.
    """
    whose, what = note(ours.problem, method)
    solution, reason = (ours, None) if method == ours.method else _attempt(ours.scenario, ours.problem, method)
    of_the_problem = solution is not None and solution.control is not None and ours.bound is not None
    goodput = None if solution is None else solution.goodput
    return {
        "problem": ours.problem,
        "method": method,
        "whose": whose,
        "what": what,
        "goodput_tokens_per_s": goodput,
        "standard_error_tokens_per_s": None if solution is None else solution.standard_error,
        "gain_of_decomposition": None if goodput is None else ours.goodput / goodput - 1.0,
        "gap": ours.bound / goodput - 1.0 if of_the_problem and ours.bound and goodput else None,
        "reason": reason,
    }


def _attempt(scenario: Scenario, problem: Problem, method: str) -> tuple[Solution | None, str | None]:
    try:
        return msopt.solve(scenario, problem, method), None
    except ParameterError as error:
        return None, str(error)


def _devices(scenario: Scenario) -> list[Record]:
    laws = zip(scenario.acceptance.mean, scenario.acceptance.std, scenario.acceptance.curves, strict=True)
    return [
        {
            "name": scenario.device_names[k],
            "acceptance": float(mean) if curve is None else None,
            "acceptance_std": float(std) if std > 0.0 else None,
            "acceptance_curve": None if curve is None else curve.tolist(),
            "draft_s_per_token": float(scenario.draft_s_per_token[k]),
            "uplink_snr_db": float(scenario.uplink_snr_db[k]),
            "downlink_snr_db": float(scenario.downlink_snr_db[k]),
        }
        for k, (mean, std, curve) in enumerate(laws)
    ]
