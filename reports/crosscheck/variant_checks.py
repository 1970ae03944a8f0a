"""Variants in the cross-check: the table of actions against enumeration, the conic program against both and SLSQP.

The keys of a variant stand in the scenario, so that a saved scenario replays by itself: `msopt crosscheck FILE`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from formulations import DraftControl, SolveError
from formulations.registry import OBJECTIVE_RTOL
from msopt import InfeasibleError, MsoptError, ParameterError, Scenario, Utility, solve
from msopt.files.whole_files import make_folder
from msopt.variants.variant import Variant
from reports.crosscheck.crosscheck_tables import CrosscheckTables, Subject, tables_of
from reports.crosscheck.formulation_checks import CHECKS
from reports.crosscheck.solver_promises import promise
from reports.crosscheck.trial import Trial, status_of
from reports.crosscheck.variant_cells import LIMITS, UTILITIES, several, small_cell, with_keys
from reports.crosscheck.variant_enumeration import best_of_all
from reports.crosscheck.variant_nonlinear import best_nearby
from reports.crosscheck.verdict import too_few_solved
from reports.methods.convex_variant import check_stated, conic_optimum
from reports.methods.user_variant import NONE, UsersLimit, Variants, load_variants

TABLE_RTOL = 1e-9
"""How far the table's optimum may be from that of enumeration, as a part of all goodputs."""
TABLE = "table"
WRONGLY = "wrongly infeasible"
FORM_FAILS = "form fails"
"""What a utility or a limit says that it has for a table or a program, and what then is none."""
SEVERAL = "several"
WITHOUT_KEYS = (
    *("msopt:LongestDraft(3)", "msopt:AllowedLengths([0, 1, 3])", "msopt:EnergyPerToken(2.0, 0.5, 0.05)"),
    "msopt:EarliestDeadline(0.3)",
)
"""Limits that no key of a scenario file stands for, as `--variant` takes them; the cells' numbers vary."""
NAMES = tuple(f"variant {name}" for name in (*UTILITIES, *LIMITS, *WITHOUT_KEYS, SEVERAL))
"""A row for each, for each way to solve it."""
_SEED = 7919  # of what is drawn beside the cell


def own_row(own: Variants) -> str:
    """What the rows of a user's variant are called."""
    return f"variant {', '.join(own.names)}"


def own_of(name: str) -> Variants:
    """What a row of its name asks for beside the keys of its cells."""
    key = name.removeprefix("variant ")
    return load_variants([key]) if key in WITHOUT_KEYS else NONE


def cells_of(name: str, trials: int, seed: int) -> list[Scenario]:
    """The random cells of one row, each with its keys."""
    found = []
    for number in range(trials):
        rng = np.random.default_rng([seed + number, _SEED])
        key = name.removeprefix("variant ")
        keys = several(rng) if key == SEVERAL else (key,) if key in (*UTILITIES, *LIMITS) else ()
        cell = with_keys(small_cell(seed + number, number), keys, rng)
        found.append(cell.replace(name=f"{name} seed {seed + number} K={cell.device_count}"))
    return found


def variant_tables(
    name: str,
    cells: Sequence[Scenario],
    solvers: Sequence[str],
    own: Variants = NONE,
    folder: Path | None = None,
    tick: Callable[[str], None] = lambda _: None,
) -> CrosscheckTables:
    """The rows of one variant: by the table, and by each solver for convex programs.

    Parameters
    ----------
    name : str
        Of `NAMES`, or of what is the user's. Names of limits without keys are as `--variant` replays them.
    cells : sequence of Scenario
        With the keys of the variant.
    solvers : sequence of str
        Asked where the variant has a conic program.
    own : Variants
        Beside the keys.
    folder : Path, optional
        Where the worst cell of each row is written.
    tick : callable
        Called with a label after each solve.
    """
    trials: dict[str, list[Trial]] = {TABLE: [], **{solver: [] for solver in solvers}}
    reasons: dict[str, str] = {}
    for number, cell in enumerate(cells):
        variant = Variant.of(cell, own.utility, own.limits)
        best = best_of_all(cell, variant)
        for way, found in trials.items():
            try:
                if way == TABLE:
                    found.append(_by_table(number, cell, own, variant, best))
                else:
                    found.append(_by_program(number, cell, variant, best, way))
            except ParameterError as error:
                reasons[way] = str(error)
            tick(f"{name} {way}")
    return CrosscheckTables.joined(
        _row(name, way, found, reasons.get(way, ""), folder) for way, found in trials.items()
    )


def _by_table(number: int, cell: Scenario, own: Variants, variant: Variant, best: float | None) -> Trial:
    """The table's answer beside that of enumeration; both may be that no choice keeps the limits."""
    best = _checked_best(variant, best)
    trial = Trial(number=number, scenario=cell, status="optimal")
    try:
        solution = solve(cell, "heterogeneous", "exact", utility=own.utility, limits=own.limits)
    except InfeasibleError as error:
        if best == -np.inf:
            return replace(trial, difference=0.0, cause=str(error))
        return replace(trial, status=WRONGLY, cause=str(error))
    except ParameterError as error:
        return replace(trial, status=FORM_FAILS, cause=str(error))
    assert solution.evaluation is not None
    assert solution.utility_bound is not None or variant.plain
    value = solution.evaluation.utility_value
    bound = solution.utility_bound if solution.utility_bound is not None else solution.bound
    assert bound is not None
    above_bound = variant.utility.gap(bound, value) > TABLE_RTOL
    difference = np.inf if above_bound else _signed(variant.utility, value, best)
    if np.isfinite(difference) and any(isinstance(limit, UsersLimit) for limit in own.limits):
        # Enumeration gives every choice its shortest round and no more bandwidth than its bits need. A user's limit may
        # ask for more; that the table's control keeps its two sides the evaluator has found.
        difference = min(difference, 0.0)
    return replace(trial, difference=difference)


def _checked_best(variant: Variant, best: float | None) -> float:
    """What enumeration found; ParameterError, with the cause, for a variant whose table cannot be compared with it."""
    if best is None:
        raise ParameterError("too many choices to try them all")
    for limit in variant.limits:
        if not limit.sided:
            raise ParameterError(f"limit {limit.name} has no two sides (`left`, `right`) for enumeration to check")
    variant.check_table()
    return best


def _check_program(cell: Scenario, variant: Variant, solver: str) -> None:
    """Raise ParameterError, with the cause, for what has no convex program, or none that the solver is asked."""
    check_stated(cell, variant)
    unfit = CHECKS[DraftControl(cell).name].not_asked.get((solver, cell.uplink_sharing))
    if unfit:
        raise ParameterError(unfit)


def _by_program(number: int, cell: Scenario, variant: Variant, best: float | None, solver: str) -> Trial:
    """The conic optimum beside the best point that SLSQP finds from it, and beside enumeration."""
    _check_program(cell, variant, solver)
    trial = Trial(number=number, scenario=cell, status="optimal")
    try:
        found = conic_optimum(cell, variant, "heterogeneous", solver)
    except SolveError as error:
        if isinstance(error, InfeasibleError):
            return replace(trial, status="optimal" if best in (None, -np.inf) else WRONGLY, cause=error.cause)
        cause = error.cause + promise(solver, cell.uplink_sharing, {}).told
        return replace(trial, status=status_of(error), cause=cause)
    except MsoptError as error:
        return replace(trial, status=FORM_FAILS, cause=str(error))
    near = best_nearby(cell, variant, found["draft_length"], found["bandwidth_hz"], float(found["deadline_s"]))
    return replace(
        trial,
        difference=None if near is None else _signed(variant.utility, found.objective, near),
        above_brute_force=None if best in (None, -np.inf) else _signed(variant.utility, found.objective, best or 0.0),
        certificate=found.certificate.worst,
    )


def _signed(utility: Utility, value: float, other: float) -> float:
    """By what part all goodputs would have to change to lead from one value to the other; above 0: the first is."""
    if value == other:
        return 0.0
    if other == -np.inf:
        return np.inf
    return utility.gap(other, value) if value > other else -utility.gap(value, other)


def _row(name: str, way: str, trials: Sequence[Trial], not_asked: str, folder: Path | None) -> CrosscheckTables:
    table = way == TABLE
    subject = Subject(
        formulation=name,
        solver=way,
        statement=f"design section 7 (ours): {'the table of actions' if table else 'the conic program'}",
        closed_form="enumeration of all choices" if table else "scipy.optimize:minimize",
        bound=not table,
        objective_tolerance=TABLE_RTOL if table else OBJECTIVE_RTOL,
    )
    return tables_of(subject, trials, _faults(subject, trials), not_asked, _saved(subject, trials, folder))


def _faults(subject: Subject, trials: Sequence[Trial]) -> list[str]:
    found = [f"{trial.status} in trial {trial.number}" for trial in trials if trial.status == WRONGLY]
    failing = [trial for trial in trials if trial.status == FORM_FAILS]
    if failing:
        found.append(f"{failing[0].cause} ({len(failing)} of {len(trials)} trials)")
    asked = [trial for trial in trials if trial.status not in (WRONGLY, FORM_FAILS)]
    found += too_few_solved(subject.solver or "", asked)
    solved = [trial for trial in trials if trial.solved]
    limit = subject.objective_tolerance
    for words, values in (
        ("enumeration missed by" if not subject.bound else "below SLSQP's point by", [t.difference for t in solved]),
        ("below enumeration by", [t.above_brute_force for t in solved]),
    ):
        off = [
            (-value if subject.bound else abs(value), trial.number)
            for value, trial in zip(values, solved, strict=True)
            if value is not None
        ]
        if off and max(off)[0] > limit:
            worst, number = max(off)
            found.append(f"{words} {worst:.1e} in trial {number}, {limit:.0e} allowed")
    return found


def _saved(subject: Subject, trials: Sequence[Trial], folder: Path | None) -> str | None:
    if folder is None or not trials:
        return None
    make_folder(folder)
    worst = max(trials, key=lambda trial: np.inf if not trial.solved else abs(trial.difference or 0.0))
    name = re.sub(r"\W+", "-", subject.formulation).strip("-")
    path = folder / f"{name}-{(subject.solver or '').lower()}.toml"
    worst.scenario.write(path, f"The worst of {len(trials)} trials: {subject.formulation} by {subject.solver}.")
    return str(path)
