"""Solving one point of a study by every method: plain rows, the same whoever computes them."""

from typing import Any

import numpy as np

import msopt
from msopt import METHODS, MsoptError, Scenario, Solution
from msopt.scenario import Problem
from reports.studies.settings import scenario_at, scenario_hash
from reports.studies.study import OPTIMUM, Point, Study
from reports.user_method import user_solution

Row = dict[str, Any]


def solve_point(study: Study, point: Point) -> list[Row]:
    """A row for each method; none for a method of the user that does not apply.

    Raises
    ------
    MsoptError
        Where a method fails; the text names it and the point.
    """
    scenario = scenario_at(point.base, point.settings, point.seed)
    head: Row = {
        "base": point.base,
        **point.settings,
        "draw": point.draw,
        "scenario_seed": point.seed,
        "scenario_hash": scenario_hash(scenario),
    }
    rows = []
    for scheme in study.methods:
        try:
            solution = solve_by(study, scheme, scenario)
        except MsoptError as error:
            setting = ", ".join(f"{name} = {value}" for name, value in point.settings.items())
            where = f"{point.base}{' at ' if setting else ''}{setting}, draw {point.draw}"
            raise type(error)(f"method {scheme} on {where}: {error}") from None
        if solution is not None:
            rows.append({**head, "scheme": scheme, "method": solution.method, **numbers(solution)})
    return rows


def solve_by(study: Study, scheme: str, scenario: Scenario) -> Solution | None:
    """The solution by a method of ours or of the user; None where the user's does not apply."""
    if ":" in scheme:
        return user_solution(scheme, scenario, study.problem)
    method = best_method(study.problem, scenario.device_count, study.exact_up_to) if scheme == OPTIMUM else scheme
    return msopt.solve(scenario, study.problem, method, **study.options.get(method, {}))


def best_method(problem: Problem, devices: int, exact_up_to: int) -> str:
    """`exact` where there is that method and it is affordable, else `decomposition`."""
    return "exact" if devices <= exact_up_to and "exact" in METHODS[problem] else "decomposition"


def numbers(solution: Solution) -> Row:
    """What a study keeps of a solution; None for what it does not have."""
    played = None if solution.evaluation is None else solution.evaluation.round
    row: Row = {
        "goodput_tokens_per_s": float(solution.goodput),
        "standard_error_tokens_per_s": _number(solution.standard_error),
        "bound_tokens_per_s": _number(solution.bound),
        "round_s": None if played is None else float(played.round_s),
        "draft_upload_s": None if played is None else float(played.draft_upload_s),
        "verify_s": None if played is None else float(played.verify_s),
        "correction_s": float(played.correction_s) if played is not None and solution.problem == "modes" else None,
    }
    shares = dict.fromkeys(("mean_draft_length_tokens", "accepted_share", "uplink_share", "downlink_share"))
    if solution.control is None or solution.evaluation is None:
        return row | shares
    rejected = float(np.mean(solution.evaluation.rejection_probability))
    shares |= {
        "mean_draft_length_tokens": float(np.mean(solution.control.draft_length)),
        "accepted_share": 1.0 - rejected,
    }
    if solution.evaluation.uplink_probability is not None:
        up = float(np.mean(solution.evaluation.uplink_probability))
        shares |= {"uplink_share": up, "downlink_share": max(0.0, rejected - up)}
    return row | shares


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
