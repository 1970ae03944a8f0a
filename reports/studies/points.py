"""Solving points of a study by every method: plain rows, the same whoever computes them and however many at once."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

import msopt
from msopt import (
    Control,
    InfeasibleError,
    MsoptError,
    ParameterError,
    Scenario,
    Solution,
    evaluate,
    solve_many,
)
from msopt.many import LARGEST_TOGETHER
from msopt.methods import DECOMPOSITION, optimum_at
from msopt.model.control import EQUAL_SHARES, Correction, correction_of
from msopt.model.problems import KINDS, Problem
from msopt.solution import finite
from reports.methods.user_method import user_solution
from reports.methods.user_variant import NONE, Variants, load_variants
from reports.shared.rows import Row
from reports.shared.words import exception_words
from reports.studies.settings import scenario_at, scenario_hash
from reports.studies.study import OPTIMUM, Point, Study

Found = TypeVar("Found")
SOLVED, NOT_ITS_PROBLEM, REFUSED = "solved", "does not apply", "refused"
"""Status of a row with numbers; of one of a user's method that is not for its scenario; and of a fault in what a method
was given, or of one for which the memory is too small. Other faults are "infeasible" and "failed"."""
NUMBERS = (
    "goodput_tokens_per_s",
    "standard_error_tokens_per_s",
    "bound_tokens_per_s",
    "round_s",
    "draft_upload_s",
    "verify_s",
    "correction_s",
    "mean_draft_length_tokens",
    "accepted_share",
    "uplink_share",
    "downlink_share",
)
"""What a row holds of a solution."""
TOGETHER = 32
"""The most points of one task, where one call of `solve_many` serves them."""


def chunks(study: Study, points: Sequence[Point]) -> list[list[Point]]:
    """The points of each task: several where `solve_many` serves them, else one. The rows do not depend on it."""
    found: list[list[Point]] = []
    for devices, alike in itertools.groupby(points, lambda point: _devices(study, point)):
        run = list(alike)
        together = devices is not None and any(_together(study, scheme, devices) for scheme in study.methods)
        size = TOGETHER if together else 1
        found += [run[first : first + size] for first in range(0, len(run), size)]
    return found


def _devices(study: Study, point: Point) -> int | None:
    """The number of devices at a point; None where it has no scenario, which its rows will say."""
    try:
        return study.devices_at(point)
    except MsoptError:
        return None


def solve_points(study: Study, points: Sequence[Point], *, hashed: bool = True) -> list[list[Row]]:
    """For each of some points with as many devices a row for each method, in their order.

    The least bound that the methods have shown at a point serves those after them with the same kind of correction,
    which compute none of their own.
    A method that has no answer at a point has a row all the same: its `status` is not `SOLVED`, its `cause` says why,
    and its numbers are None. Rows that are not kept need no hash of their scenario, which costs a sixth of the time.
    """
    scenarios = [attempt(scenario_at, point.base, point.settings, point.seed) for point in points]
    found = _solved_together(study, scenarios)
    hashes = [scenario_hash(one) if hashed and isinstance(one, Scenario) else None for one in scenarios]
    return [_rows(study, *one) for one in zip(points, scenarios, hashes, found, strict=True)]


def solve_rows(study: Study, points: Sequence[Point]) -> list[Row]:
    """The rows of `solve_points` below each other."""
    return list(itertools.chain.from_iterable(solve_points(study, points)))


class Failure(NamedTuple):
    """Why there is no answer."""

    status: str
    cause: str | None


def attempt(function: Callable[..., Found], *arguments: Any, **named: Any) -> Found | Failure:
    """What a function finds, or why it does not: whatever goes wrong at one point, the others are computed."""
    try:
        return function(*arguments, **named)
    except ParameterError as error:
        return Failure(REFUSED, str(error))
    except InfeasibleError as error:
        return Failure("infeasible", str(error))
    except MsoptError as error:
        return Failure("failed", str(error))
    except Exception as error:
        return Failure("failed", exception_words(error))


def is_fault(row: Row) -> bool:
    """Whether a method should have had an answer at a point and has none."""
    return row["status"] not in (SOLVED, NOT_ITS_PROBLEM)


def head_of(point: Point) -> Row:
    """What every row of a point says of it."""
    return {"base": point.base, **point.settings, "draw": point.draw, "scenario_seed": point.seed}


def fault_words(study: Study, row: Row) -> str:
    """The method, the point and the cause of a row without an answer."""
    setting = setting_words(study, row)
    where = f"{row['base']}{' at ' if setting else ''}{setting}, draw {row['draw']}"
    return f"method {row['scheme']} on {where}: {row['cause']}"


def setting_words(study: Study, row: Row) -> str:
    """The settings of a row."""
    return ", ".join(f"{name} = {row[name]}" for name in (*study.fixed, *study.axes))


def _rows(
    study: Study,
    point: Point,
    scenario: Scenario | Failure,
    hashed: str | None,
    found: Mapping[str, Solution | Failure],
) -> list[Row]:
    """A row for each method at one point; `found` holds the schemes that are solved already."""
    head = head_of(point) | {"scenario_hash": hashed}
    rows: list[Row] = []
    bounds: dict[Correction, float] = {}
    for scheme in study.methods:
        solution: Solution | Failure | None = scenario if isinstance(scenario, Failure) else found.get(scheme)
        if solution is None and isinstance(scenario, Scenario):
            kind = _correction(study, scheme, scenario.device_count)
            solution = attempt(_solve, study, scheme, scenario, bounds.get(kind))
        if isinstance(solution, Solution) and solution.bound is not None:
            kind = EQUAL_SHARES if solution.control is None else correction_of(solution.control.mode_rule)
            bounds[kind] = min(bounds.get(kind, solution.bound), solution.bound)
        rows.append({**head, "scheme": scheme, **_result(scheme, solution), **_worth(study, scenario, solution, head)})
    return rows


def _correction(study: Study, scheme: str, devices: int) -> Correction:
    """The kind of correction that a scheme is given: bounds hold for one kind alone."""
    method = optimum_at(study.problem, devices, study.exact_up_to_devices) if scheme == OPTIMUM else scheme
    kind: Correction = study.options.get(method, {}).get("correction", EQUAL_SHARES)  # type: ignore[assignment]
    return kind


def _worth(study: Study, scenario: Scenario | Failure, solution: Solution | Failure | None, head: Row) -> Row:
    """The utility of a scenario with a variant, its value and its bound; nothing of others."""
    if isinstance(scenario, Failure) or not (scenario.variant_fields or study.variants):
        return {}
    evaluation = solution.evaluation if isinstance(solution, Solution) else None
    bound = solution.utility_bound if isinstance(solution, Solution) else None
    return {
        "utility": head.get("utility") if evaluation is None else evaluation.utility.name,
        "utility_value": None if evaluation is None else finite(evaluation.utility_value),
        "utility_bound": None if bound is None else finite(bound),
    }


def _result(scheme: str, solution: Solution | Failure | None) -> Row:
    """What a row says of a solution, or of why there is none."""
    method = solution.method if isinstance(solution, Solution) else scheme
    found = attempt(numbers, solution) if isinstance(solution, Solution) else solution
    why = found if isinstance(found, Failure) else Failure(SOLVED if found else NOT_ITS_PROBLEM, None)
    return {"method": method, **why._asdict(), **(found if isinstance(found, dict) else dict.fromkeys(NUMBERS))}


def _solve(study: Study, scheme: str, scenario: Scenario, bound: float | None) -> Solution | Failure | None:
    """The solution by a method of ours or of the user; None where the user's does not apply."""
    asked = load_variants(study.variants)
    if ":" in scheme:
        own = attempt(user_solution, scheme, scenario, study.problem, **asked.asked)
        # It was given nothing that it could refuse: whatever is wrong with what it does is its own.
        return own._replace(status="failed") if isinstance(own, Failure) and own.status == REFUSED else own
    if scheme == OPTIMUM:
        exact_up_to = study.exact_up_to_devices
        return solve_best(scenario, study.problem, exact_up_to, bound=bound, options=study.options, own=asked)
    options: Mapping[str, Any] = study.options.get(scheme, {})
    return msopt.solve(scenario, study.problem, scheme, bound=bound, **asked.asked, **options)


def solve_best(
    scenario: Scenario,
    problem: Problem,
    exact_up_to: int | None = None,
    *,
    bound: float | None = None,
    options: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    own: Variants = NONE,
) -> Solution:
    """The optimum where method `exact` is affordable, else the best control that `decomposition` finds."""
    method = optimum_at(problem, scenario.device_count, exact_up_to)
    try:
        return msopt.solve(scenario, problem, method, bound=bound, **own.asked, **options.get(method, {}))
    except (ParameterError, MemoryError):
        if method == DECOMPOSITION:
            raise
    # Its table does not fit this machine's memory; `bound` may be of another kind of correction.
    return msopt.solve(scenario, problem, DECOMPOSITION, **own.asked, **options.get(DECOMPOSITION, {}))


def _together(study: Study, scheme: str, devices: int) -> bool:
    """Whether `solve_many` is the quick way to a scheme."""
    decomposed = study.problem == "heterogeneous" and _method(study, scheme, devices) == DECOMPOSITION
    return decomposed and devices <= LARGEST_TOGETHER


def _solved_together(study: Study, scenarios: Sequence[Scenario | Failure]) -> list[dict[str, Solution | Failure]]:
    """The schemes that one call of `solve_many` serves, at each point; one by one where that call fails."""
    cells = [scenario for scenario in scenarios if isinstance(scenario, Scenario) and not scenario.variant_fields]
    cells = [] if study.variants else cells
    schemes = [scheme for scheme in study.methods if cells and _together(study, scheme, cells[0].device_count)]
    if not schemes:
        return [{} for _ in scenarios]
    together = attempt(_decompositions, cells)
    solved: Iterator[Solution | Failure] = iter(
        together if isinstance(together, list) else [attempt(_decomposition, cell) for cell in cells]
    )
    return [dict.fromkeys(schemes, next(solved)) if scenario in cells else {} for scenario in scenarios]


def _decomposition(scenario: Scenario) -> Solution:
    return _decompositions([scenario])[0]


def _decompositions(scenarios: Sequence[Scenario]) -> list[Solution]:
    """Problem `heterogeneous` by method `decomposition`, all scenarios in one call; the bounds are the relaxed ones."""
    many = solve_many(scenarios)
    found = []
    for row, scenario in enumerate(scenarios):
        control = Control(
            problem="heterogeneous", draft_length=many.draft_length[row], bandwidth_hz=many.bandwidth_hz[row]
        )
        evaluation, bound = evaluate(scenario, control), float(many.bound[row])
        found.append(Solution.of(scenario, control, evaluation, bound, proven=True, method=DECOMPOSITION))
    return found


def _method(study: Study, scheme: str, devices: int) -> str:
    """The method that a scheme stands for at some number of devices."""
    return optimum_at(study.problem, devices, study.exact_up_to_devices) if scheme == OPTIMUM else scheme


def numbers(solution: Solution) -> Row:
    """What a study keeps of a solution; None for what it does not have.

    Raises
    ------
    MsoptError
        Where one of them is no finite number.
    """
    evaluation, control = solution.evaluation, solution.control
    row: Row = dict.fromkeys(NUMBERS)
    row |= {
        "goodput_tokens_per_s": solution.goodput,
        "standard_error_tokens_per_s": solution.standard_error,
        "bound_tokens_per_s": solution.bound,
    }
    if evaluation is not None:
        played = evaluation.round
        row |= {name: getattr(played, name) for name in ("round_s", "draft_upload_s", "verify_s")}
        row["correction_s"] = played.correction_s if KINDS[solution.problem].corrects else None
    if evaluation is not None and control is not None:
        rejected = np.mean(evaluation.rejection_probability)
        row |= {"mean_draft_length_tokens": np.mean(control.draft_length), "accepted_share": 1.0 - rejected}
        if evaluation.uplink_probability is not None:
            up = np.mean(evaluation.uplink_probability)
            row |= {"uplink_share": up, "downlink_share": max(0.0, rejected - up)}
    return {name: None if value is None else _finite(name, float(value)) for name, value in row.items()}


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise MsoptError(f"{name} is {value}, which is no finite number")
    return value
