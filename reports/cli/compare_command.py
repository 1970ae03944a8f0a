"""The command `msopt compare`: whether drafting pays in a cell, by how much, and which method is worth it."""

from typing import Any

from reports.cli import arguments as opt
from reports.cli.next_command import after_comparing
from reports.methods.user_method import check_methods
from reports.methods.user_variant import load_variants
from reports.shared.inputs import read_scenario
from reports.shared.output import check_file, emit
from reports.shared.progress import step_bar


@opt.with_options("samples", "seed", before="form")
def compare(
    file: opt.File,
    *,
    problem: opt.ProblemOption = "all",
    method: opt.UserMethods = None,
    variant: opt.UserVariants = None,
    form: opt.Form = "table",
    output: opt.JsonOutput = None,
    **options: Any,
) -> None:
    """Say whether drafting pays, which method is worth it, and what more of one thing would bring.

    Every method is tried that does not take long in a cell of that size, but for convex (msopt solve --method convex).
    """
    scenario = read_scenario(file)
    if output is not None:
        check_file(output)
    own = tuple(dict.fromkeys(method or ()))
    check_methods(own)
    asked = load_variants(variant)

    from reports.cli.compared_text import show_compared
    from reports.page.comparison import problems_of
    from reports.page.ranking import Comparison, compared

    problems = problems_of(scenario, asked) if problem == "all" else [problem]
    order = Comparison(scenario=scenario, problems=problems, own=own, asked=asked, options=options)
    with step_bar("compare", order.steps, done=-1) as tick:
        record = compared(order, tick)
    following = after_comparing(file, record["best_problem"], own, asked.names)
    emit(
        record,
        lambda console: show_compared(console, record, scenario.device_names, following),
        form=form,
        output=output,
        warnings=record["warnings"],
    )
