"""`msopt crosscheck`: every formulation against its closed form, the papers' algorithms and enumeration.

Inputs that a formulation needs beside the scenario are functions of the scenario alone, so a saved worst
scenario replays: `msopt crosscheck FILE`. Solvers are asked without a fallback: a failure is a failure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from formulations import DraftControl
from formulations.core.solvers import MODULES, check_solver
from msopt import ParameterError, Scenario
from msopt.files.whole_files import make_folder
from msopt.model.validation import LARGEST_WHOLE, MOST_TRIALS, check_whole
from reports.crosscheck.crosscheck_tables import CrosscheckTables, Subject, tables_of
from reports.crosscheck.formulation_checks import CHECKS, Check
from reports.crosscheck.own_formula import Formula, formula_tables, score_formula
from reports.crosscheck.random_scenarios import random_scenario
from reports.crosscheck.trial import Trial, attempt, reference_of
from reports.crosscheck.variant_checks import NAMES, cells_of, own_of, own_row, variant_tables
from reports.crosscheck.verdict import badness, faults
from reports.methods.user_variant import NONE, Variants

DEFAULT_TRIALS = 20
LARGEST = 50
DEFAULT_SOLVERS = ("ECOS", "CLARABEL", "HIGHS")
SOLVED_AGAIN = 20
"""In so many trials of a row the program is updated and solved once more, for the time that takes."""


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """What to check.

    Attributes
    ----------
    scenarios : tuple of Scenario
        The user's; random ones where empty.
    trials, seed, largest : int
        Number of random scenarios for each formulation, the seed of the first, and the greatest K drawn.
    solvers : tuple of str
        Each formulation is solved by those of them that it takes.
    formulations : tuple of str
        Names; all where empty.
    formula : Formula or None
        A user's own, checked beside them.
    own : Variants
        A user's own utility and limits, checked in place of the variants that come with the package.
    """

    scenarios: tuple[Scenario, ...] = ()
    trials: int = DEFAULT_TRIALS
    seed: int = 0
    largest: int = LARGEST
    solvers: tuple[str, ...] = DEFAULT_SOLVERS
    formulations: tuple[str, ...] = ()
    formula: Formula | None = None
    checks: tuple[Check, ...] = field(init=False)

    own: Variants = NONE
    variants: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for name in self.formulations:
            if name not in CHECKS and name not in NAMES:
                raise ParameterError(f'there is no formulation "{name}"; there are {", ".join([*CHECKS, *NAMES])}')
        check_whole("--trials", self.trials, 1, MOST_TRIALS)
        check_whole("--seed", self.seed, 0, LARGEST_WHOLE)
        named = tuple(solver.upper() for solver in self.solvers)
        for solver in named:
            check_solver("the cross-check", solver, tuple(MODULES))
        object.__setattr__(self, "solvers", named)
        chosen = tuple(CHECKS[name] for name in self.formulations or CHECKS if name in CHECKS)
        object.__setattr__(self, "checks", () if self.own.names and not self.formulations else chosen)
        object.__setattr__(self, "variants", self._variants())

    def _variants(self) -> tuple[str, ...]:
        """The rows of variants: the user's alone where there is one; of files one, where a file has a variant."""
        if self.own.names:
            return (own_row(self.own),)
        if self.scenarios and not any(one.variant_fields for one in self.scenarios):
            return ()
        named = tuple(name for name in self.formulations if name in NAMES)
        if self.formulations:
            return named
        return ("variant",) if self.scenarios else NAMES

    def solvers_of(self, check: Check) -> list[str]:
        """The solvers asked that a formulation takes."""
        return [solver for solver in self.solvers if solver in check.entry.formulation.solvers]

    def drawn(self, check: Check) -> list[Scenario]:
        """The scenarios of one formulation: the user's, or random ones with its ways to share in turn."""
        if self.scenarios:
            return list(self.scenarios)
        found = []
        for n in range(self.trials):
            sharing = check.sharings[n % len(check.sharings)]
            drawn = random_scenario(
                self.seed + n, devices=(1, min(check.largest or self.largest, self.largest)), uplink_sharing=sharing
            )
            prepared = check.prepare(drawn, n)
            found.append(prepared.replace(name=f"{check.name} seed {self.seed + n} K={drawn.device_count}"))
        return found

    @property
    def steps(self) -> int:
        """Solves to come, for a progress bar."""
        each = len(self.scenarios) or self.trials
        of_variants = len(self.variants) * (1 + len(self.conic_solvers))
        of_checks = sum(len(self.solvers_of(check)) for check in self.checks)
        return each * (of_checks + of_variants + (self.formula is not None))

    @property
    def conic_solvers(self) -> list[str]:
        """The solvers asked that take the conic program of a variant."""
        return [solver for solver in self.solvers if solver in DraftControl.solvers and solver != "SCS"]


def crosscheck(
    plan: TrialPlan, folder: Path | None = None, tick: Callable[[str], None] = lambda _: None
) -> CrosscheckTables:
    """The tables of the formula, which somebody waits for, and of every formulation by every solver.

    Parameters
    ----------
    plan : TrialPlan
    folder : Path, optional
        Where the worst scenario of each row and every failed one are written; made where it is missing.
    tick : callable
        Called with a label after each solve.
    """
    found = [_formula(plan, plan.formula, folder, tick)] if plan.formula is not None else []
    found += [_checked(plan, check, folder, tick) for check in plan.checks]
    for name in plan.variants:
        cells = [one for one in plan.scenarios if one.variant_fields or plan.own.names]
        cells = cells or cells_of(name, plan.trials, plan.seed)
        own = plan.own if plan.own.names else own_of(name)
        found.append(variant_tables(name, cells, plan.conic_solvers, own, folder, tick))
    return CrosscheckTables.joined(found)


def _checked(plan: TrialPlan, check: Check, folder: Path | None, tick: Callable[[str], None]) -> CrosscheckTables:
    solvers = plan.solvers_of(check)
    trials: dict[str, list[Trial]] = {solver: [] for solver in solvers}
    reasons: dict[str, str] = {}
    for number, scenario in enumerate(plan.drawn(check) if solvers else []):
        asked = [solver for solver in solvers if not check.refuses(scenario, solver)]
        given, reference = reference_of(check, scenario) if asked else ({}, None)
        for solver in solvers:
            if solver in asked and reference is not None:
                again = len(trials[solver]) < SOLVED_AGAIN
                trials[solver].append(attempt(check, number, scenario, given, reference, solver, again))
            else:
                reasons[solver] = check.refuses(scenario, solver)
            tick(f"{check.name} {solver}")
    return CrosscheckTables.joined(
        tables_of(
            Subject.of(check, solver),
            of_solver,
            faults(check, solver, of_solver),
            reasons.get(solver, ""),
            _save(check, solver, of_solver, folder),
        )
        for solver, of_solver in trials.items()
    )


def _save(check: Check, solver: str, trials: Sequence[Trial], folder: Path | None) -> str | None:
    """Write the worst scenario and every failed one; the path of the worst."""
    if folder is None or not trials:
        return None
    make_folder(folder)
    worst = max(trials, key=lambda trial: badness(check, trial))
    for trial in trials:
        if not trial.solved:
            path = folder / f"{check.name}-{solver.lower()}-failed-{trial.number}.toml"
            trial.scenario.write(path, f"{check.name} by {solver}: {trial.status}. {trial.cause}")
    path = folder / f"{check.name}-{solver.lower()}.toml"
    told = "failed" if worst.difference is None else f"differs from {check.entry.closed_form} by {worst.difference:.2e}"
    worst.scenario.write(path, f"The worst of {len(trials)} trials: {check.name} by {solver} {told}.")
    return str(path)


def _formula(plan: TrialPlan, formula: Formula, folder: Path | None, tick: Callable[[str], None]) -> CrosscheckTables:
    scenarios = plan.scenarios
    if not scenarios:
        scenarios = tuple(
            random_scenario(
                plan.seed + n, devices=(1, plan.largest), uplink_sharing=("fixed-snr", "power-limited")[n % 2]
            )
            for n in range(plan.trials)
        )
    scores = []
    for number, scenario in enumerate(scenarios):
        scores.append(score_formula(formula, number, scenario))
        tick("formula")
    return formula_tables(formula, scores, folder)
