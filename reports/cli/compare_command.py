"""The command `msopt compare`: whether drafting pays in a cell, by how much, and which method is worth it."""

import shlex
from typing import Any

from reports.cli import arguments as opt
from reports.methods.user_method import OPTION as METHOD
from reports.methods.user_method import check_methods
from reports.methods.user_variant import OPTION as VARIANT
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
    following = next_command(file, record["best_problem"], own, asked.names)
    emit(
        record,
        lambda console: show_compared(console, record, scenario.device_names, following),
        form=form,
        output=output,
        warnings=record["warnings"],
    )


def next_command(file: str, problem: str, own: tuple[str, ...], variants: tuple[str, ...]) -> str:
    """What to try once methods were compared, in words: the report with the user's own methods, else the control."""
    more = [word for name in variants for word in (VARIANT, name)]
    if own:
        more += [word for name in own for word in (METHOD, name)]
        return f"msopt report {shlex.join([file, *more])} --output out    (the same as a page)"
    return f"msopt solve {shlex.join([file, *more])} --problem {problem}    (who gets what)"
