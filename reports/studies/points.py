"""Solving points of a study by every method: plain rows, the same whoever computes them and however many at once."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import msopt
from msopt import METHODS, Control, MsoptError, Scenario, Solution, evaluate, solve_many
from msopt.many import LARGEST_TOGETHER
from msopt.scenario import Problem
from reports.studies.settings import scenario_at, scenario_hash
from reports.studies.study import OPTIMUM, Point, Study
from reports.user_method import user_solution

Row = dict[str, Any]


TOGETHER = 32
"""The most points of one task, where one call of `solve_many` serves them."""


def chunks(study: Study, points: Sequence[Point]) -> list[list[Point]]:
    """The points of each task: several where `solve_many` serves them, else one. The rows do not depend on it."""
    found: list[list[Point]] = []
    for devices, alike in itertools.groupby(points, study.devices_at):
        run = list(alike)
        size = TOGETHER if any(_together(study, scheme, devices) for scheme in study.methods) else 1
        found += [run[first : first + size] for first in range(0, len(run), size)]
    return found


def solve_points(study: Study, points: Sequence[Point]) -> list[list[Row]]:
    """For each of some points with as many devices a row for each method; none for a user's that does not apply.

    The least bound that the methods have shown at a point serves those after them, which compute none of their own.

    Raises
    ------
    MsoptError
        Where a method fails; the text names it and the point.
    """
    scenarios = [scenario_at(point.base, point.settings, point.seed) for point in points]
    schemes = [scheme for scheme in study.methods if _together(study, scheme, scenarios[0].device_count)]
    found: list[dict[str, Solution]] = [{} for _ in points]
    if schemes:
        with _named(schemes[0], points):
            found = [dict.fromkeys(schemes, solution) for solution in _decompositions(scenarios)]
    return [_rows(study, *one) for one in zip(points, scenarios, found, strict=True)]


def solve_rows(study: Study, points: Sequence[Point]) -> list[Row]:
    """The rows of `solve_points` below each other."""
    return list(itertools.chain.from_iterable(solve_points(study, points)))


def _rows(study: Study, point: Point, scenario: Scenario, found: dict[str, Solution]) -> list[Row]:
    """A row for each method at one point; `found` holds the schemes that are solved already."""
    head: Row = {
        "base": point.base,
        **point.settings,
        "draw": point.draw,
        "scenario_seed": point.seed,
        "scenario_hash": scenario_hash(scenario),
    }
    rows, bound = [], None
    for scheme in study.methods:
        with _named(scheme, [point]):
            solution = found[scheme] if scheme in found else _solve(study, scheme, scenario, bound)
        if solution is None:
            continue
        if solution.bound is not None:
            bound = solution.bound if bound is None else min(bound, solution.bound)
        rows.append({**head, "scheme": scheme, "method": solution.method, **numbers(solution)})
    return rows


@contextlib.contextmanager
def _named(scheme: str, points: Sequence[Point]) -> Iterator[None]:
    """Name the method and the points in the text of an error."""
    try:
        yield
    except MsoptError as error:
        point = points[0]
        setting = ", ".join(f"{name} = {value}" for name, value in point.settings.items())
        where = f"{point.base}{' at ' if setting else ''}{setting}, draw {point.draw}"
        others = f" or one of the {len(points) - 1} points after it" if len(points) > 1 else ""
        raise type(error)(f"method {scheme} on {where}{others}: {error}") from None


def _solve(study: Study, scheme: str, scenario: Scenario, bound: float | None) -> Solution | None:
    """The solution by a method of ours or of the user; None where the user's does not apply."""
    if ":" in scheme:
        return user_solution(scheme, scenario, study.problem)
    method = _method(study, scheme, scenario.device_count)
    return msopt.solve(scenario, study.problem, method, bound=bound, **study.options.get(method, {}))


def _together(study: Study, scheme: str, devices: int) -> bool:
    """Whether `solve_many` is the quick way to a scheme."""
    decomposed = study.problem == "heterogeneous" and _method(study, scheme, devices) == "decomposition"
    return decomposed and devices <= LARGEST_TOGETHER


def _decompositions(scenarios: Sequence[Scenario]) -> list[Solution]:
    """Problem `heterogeneous` by method `decomposition`, all scenarios in one call; the bounds are the relaxed ones."""
    many = solve_many(scenarios)
    found = []
    for row, scenario in enumerate(scenarios):
        control = Control(
            problem="heterogeneous", draft_length=many.draft_length[row], bandwidth_hz=many.bandwidth_hz[row]
        )
        evaluation, bound = evaluate(scenario, control), float(many.bound[row])
        found.append(Solution.of(scenario, control, evaluation, bound, proven=True, method="decomposition"))
    return found


def _method(study: Study, scheme: str, devices: int) -> str:
    """The method that a scheme stands for at some number of devices."""
    return best_method(study.problem, devices, study.exact_up_to) if scheme == OPTIMUM else scheme


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
