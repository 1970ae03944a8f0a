"""The command `msopt crosscheck`."""

from pathlib import Path

import typer

from msopt import ParameterError
from reports.cli import arguments as opt
from reports.methods.conic_needs import need_cvxpy
from reports.methods.user_variant import load_variants
from reports.shared.inputs import read_scenario
from reports.shared.output import check_folder, emit
from reports.shared.progress import step_bar

FAILED = 1
"""Exit code where a row fails."""


def crosscheck(
    files: opt.Checked = None,
    *,
    trials: opt.Trials = None,
    seed: opt.CheckSeed = None,
    solver: opt.Solvers = None,
    formulation: opt.Formulations = None,
    formula: opt.FormulaName = None,
    variant: opt.UserVariants = None,
    form: opt.Form = "table",
    output: opt.WorstFolder = "msopt-crosscheck",
) -> None:
    """Check every formulation against its closed form. Exit code 1 where one is beyond its tolerances."""
    scenarios = tuple(read_scenario(file) for file in files or ())
    if scenarios and (trials is not None or seed is not None):
        raise ParameterError("--trials and --seed are of random scenarios; with files there are none")
    if len(formula or ()) > 1:
        raise ParameterError("--formula is given several times; one formula is checked at a time")
    folder = Path(output)
    need_cvxpy("the cross-check")
    check_folder(folder)

    from reports.crosscheck.own_formula import load_formula
    from reports.crosscheck.trials_run import DEFAULT_SOLVERS, DEFAULT_TRIALS, TrialPlan
    from reports.crosscheck.trials_run import crosscheck as run
    from reports.crosscheck.verdict_table import show_crosscheck

    plan = TrialPlan(
        scenarios=scenarios,
        trials=DEFAULT_TRIALS if trials is None else trials,
        seed=seed or 0,
        solvers=tuple(solver or DEFAULT_SOLVERS),
        formulations=tuple(formulation or ()),
        formula=load_formula(formula[0]) if formula else None,
        own=load_variants(variant),
    )
    with step_bar("cross-check", plan.steps) as tick:
        found = run(plan, folder, tick)
    emit(found._asdict(), lambda console: show_crosscheck(console, found), form=form)
    if not found.passed:
        raise typer.Exit(FAILED)
