"""The command line: `msopt compare | solve | react | evaluate | emulate | scenario | schedule | report | ...`.

Exit codes: 0 done, 1 a cross-check failed, 2 bad input (one line on standard error, nothing written), 3 infeasible,
the solver failed, or a sweep has rows without an answer, 130 interrupted, 143 terminated. pandas and matplotlib
are loaded by `report` and for the files of `emulate`, jinja2 by `report` only, cvxpy by `crosscheck` and by method
`convex`, rich where a table is printed.
"""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

import msopt
from msopt import ParameterError, Scenario, Solution
from msopt.errors import describe
from msopt.files.whole_files import read_text
from msopt.methods import methods_of
from msopt.model.scenario import Problem
from msopt.options import OPTIONS
from reports.cli import arguments as opt
from reports.cli.calibrate_command import calibrate
from reports.cli.compare_command import compare
from reports.cli.crosscheck_command import crosscheck
from reports.cli.emulate_command import emulate
from reports.cli.fit_command import fit
from reports.cli.measure_command import measure
from reports.cli.next_command import after_solving
from reports.cli.report_command import report
from reports.cli.scenario_command import scenario
from reports.cli.schedule_command import schedule
from reports.cli.schema_command import schema
from reports.cli.study_command import study
from reports.cli.sweep_command import sweep
from reports.methods.user_variant import load_variants
from reports.shared.ending import Interrupted, Terminated, terminable
from reports.shared.inputs import about, read_control, read_scenario, rejected_names
from reports.shared.output import check_file, emit, print_tables, say, tell, warn
from reports.shared.protocols import with_protocols
from reports.shared.solution_warnings import told_once

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

FIRST_COMMANDS = """msopt: who drafts how many tokens, and who gets what part of the radio

  msopt scenarios                         cells that come with it, by name
  msopt compare edge-cell                 does drafting pay, by which method
  msopt scenario uldl-qwen25 --output my.toml    a cell of your own, to edit
  msopt emulate my.toml --output played   its best control, round after round
  msopt report my.toml --output out       methods, checks and figures: a page

msopt --help lists every command; msopt COMMAND --help tells its options."""
_COMPLETION = "_MSOPT_COMPLETE"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Where a stream was closed before the start (`>&-`), Python has none.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if _COMPLETION in os.environ:
        get_command(app)([], prog_name="msopt", complete_var=_COMPLETION)
    with terminable():
        try:
            return _run(arguments or ["first-commands"])
        except (Interrupted, Terminated) as error:
            return error.exit_code
        except KeyboardInterrupt:
            return Interrupted.exit_code


def _run(arguments: list[str]) -> int:
    try:
        try:
            with get_command(app).make_context("msopt", arguments) as context:
                context.command.invoke(context)
        finally:
            say(end="")  # what the commands' own help and the libraries have written there, too
    except typer.Exit as exit_:
        return exit_.exit_code
    except msopt.MsoptError as error:
        return _complain(str(error), error.exit_code)
    except typer.TyperException as error:
        return _complain(error.format_message().replace("Value error, ", ""), ParameterError.exit_code)
    except BrokenPipeError:
        return 0  # the reader of a pipe has what it wanted
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}", ParameterError.exit_code)
    return 0


def _complain(text: str, code: int) -> int:
    tell(f"msopt: {msopt.MsoptError(text)}")  # which bounds what the option parser repeats
    return code


def _print_version(asked: bool) -> None:
    if asked:
        say(f"msopt {msopt.__version__}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Optimal control of multi-access speculative inference: draft lengths, bandwidth, modes and power."""


@app.command(hidden=True)
def first_commands() -> None:
    """Say which commands to try first."""
    say(FIRST_COMMANDS)


app.command()(crosscheck)
app.command()(emulate)
app.command()(study)
app.command()(measure)
app.command()(report)
app.command()(sweep)
app.command()(calibrate)


def solve_problems(
    scenario: Scenario, problems: Sequence[Problem], method: str, options: Mapping[str, Any]
) -> list[Solution]:
    """The solutions of one method; a method that one of several problems lacks is an error before any is solved."""
    known = [[each.name for each in methods_of(problem)] for problem in problems]
    lacking = [problem for problem, names in zip(problems, known, strict=True) if method not in names]
    if lacking and len(problems) > 1:
        shared = [name for name in known[0] if all(name in names for names in known)]
        raise ParameterError(
            f"method = {describe(method)} does not solve problem {lacking[0]}; "
            f"all of them are solved by {', '.join(shared)}"
        )
    return [msopt.solve(scenario, problem, method, **options) for problem in problems]


@app.command()
@opt.with_options(*OPTIONS, before="form")
def solve(
    file: opt.File,
    *,
    problem: opt.ProblemOption = "heterogeneous",
    method: opt.Method = "decomposition",
    variant: opt.UserVariants = None,
    form: opt.Form = "table",
    output: opt.JsonOutput = None,
    **options: object,
) -> None:
    """Find the best control of a scenario. The JSON is in SI units; a table's heads name theirs."""
    scenario = read_scenario(file)
    if output is not None:
        check_file(output)
    problems = msopt.PROBLEMS if problem == "all" else (problem,)
    own = load_variants(variant)
    solutions = solve_problems(scenario, problems, method, options | own.asked)
    records = [with_protocols(solution) for solution in solutions]

    from reports.shared.solution_tables import show_solutions

    record = records if problem == "all" else records[0]
    following = after_solving(file, problem, own.names, varied=bool(scenario.variant_fields))
    emit(
        record,
        lambda console: show_solutions(console, scenario, records, following),
        form=form,
        output=output,
        warnings=told_once(solutions),
    )


@app.command()
@opt.with_options("correction", before="form")
def react(file: opt.File, rejected: opt.Rejected, form: opt.Form = "table", **options: Any) -> None:
    """Find the best modes and power for rejections. Of several reactions that take the same time, one is shown."""
    from reports.methods.scoring import best_reaction
    from reports.shared.solution_tables import show_reaction

    scenario = read_scenario(file)
    record = best_reaction(scenario, rejected_names(rejected, scenario.device_names), **options)
    warn(scenario.warnings)
    emit(record, lambda console: show_reaction(console, record), form=form)


@app.command()
@opt.with_options("samples", "seed", before="form")
def evaluate(
    file: opt.File,
    control: opt.ControlFile,
    variant: opt.UserVariants = None,
    form: opt.Form = "table",
    **options: object,
) -> None:
    """Score anyone's control or reaction. One that breaks a constraint is not scored: exit code 3 and which one."""
    from reports.methods.scoring import scored
    from reports.shared.solution_tables import show_score

    scenario = read_scenario(file)
    record = scored(control, scenario, read_control(control, scenario), options, load_variants(variant))
    warn(record["warnings"])
    emit(record, lambda console: show_score(console, scenario, record), form=form)


app.command()(compare)
app.command()(scenario)
app.command()(schedule)
app.command()(fit)
app.command()(schema)


@app.command()
def scenarios() -> None:
    """List the bundled scenarios."""
    from reports.shared.solution_tables import show_bundled

    rows = []
    for name in msopt.bundled.names():
        path = msopt.bundled.path(name)
        found = {"name": name, "devices": Scenario.read(path).device_count, "about": about(read_text(path), name)}
        rows.append(found)
    print_tables(lambda console: show_bundled(console, rows))
