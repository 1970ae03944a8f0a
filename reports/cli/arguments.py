"""The arguments and options of the commands, with their help."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Literal, Optional

import typer

from msopt import PRESETS, PROBLEMS, ParameterError, bundled
from msopt.drawn.channel import CELLS
from msopt.methods import methods_of
from msopt.options import OPTIONS, TYPES
from msopt.serving.server_settings import SERVERS
from reports.methods import CONVEX  # noqa: F401  (so that the help names it)
from reports.shared.output import Format


def named(path: str | None) -> str | None:
    """A shell's unset variable must not scatter a report over the folder that one stands in."""
    if path == "":
        raise ParameterError("--output is empty; name a file or a folder")
    return path


def with_options(*names: str, before: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of methods, in place of its last parameter, `**options`, which holds those given.

    Parameters
    ----------
    *names : str
        Of `msopt.options.OPTIONS`.
    before : str
        The parameter before which they stand in the help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: object) -> None:
            chosen = {name: given.pop(name) for name in names}
            command(**given, **{name: value for name, value in chosen.items() if value is not None})

        signature = inspect.signature(command)
        own = list(signature.parameters.values())[:-1]
        place = list(signature.parameters).index(before)
        parameters = [*own[:place], *map(_parameter, names), *own[place:]]
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        return run

    return decorate


def _parameter(name: str) -> inspect.Parameter:
    option = OPTIONS[name]
    told = typer.Option(f"--{name.replace('_', '-')}", metavar=option.metavar or None, help=option.help)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=Annotated[Optional[TYPES[name]], told])  # noqa: UP045


ProblemChoice = Literal["homogeneous", "heterogeneous", "modes", "all"]

Throughputs = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="CSV: batch, length, tokens_per_s, and acceptance (of a token) or tokens_per_round."
    ),
]


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """For a shell that completes a name; where none begins so, it completes files."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def methods_so_far(context: typer.Context, incomplete: str) -> list[str]:
    """The methods of the problem that the line names already."""
    problem = context.params.get("problem") or "all"
    known = [[method.name for method in methods_of(each)] for each in PROBLEMS if problem in (each, "all")]
    return [name for name in known[0] if name.startswith(incomplete) and all(name in names for names in known)]


SCENARIOS, PROFILES = one_of(bundled.names), one_of(bundled.profile_names)


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A scenario file, or the name of a bundled scenario.", autocompletion=SCENARIOS
    ),
]
ProblemOption = Annotated[
    ProblemChoice,
    typer.Option("--problem", help="One length for all, a length for each, or lengths with correction modes; or all."),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        autocompletion=methods_so_far,
        help="A method of the problem. "
        + "; ".join(f"{problem}: {', '.join(method.name for method in methods_of(problem))}" for problem in PROBLEMS)
        + ".",
    ),
]
Form = Annotated[Format, typer.Option("--format", help="What is printed.")]
JsonOutput = Annotated[
    str | None, typer.Option("--output", metavar="FILE", callback=named, help="Also write the JSON to this file.")
]
ControlFile = Annotated[
    str,
    typer.Option(
        "--control", metavar="CONTROL.json", help="What solve --output or react --format json wrote, or yours."
    ),
]
Rejected = Annotated[
    list[str],
    typer.Option(
        "--rejected",
        metavar="NAME,NAME,...",
        help="Devices whose draft was rejected; may be repeated, which also tells names with commas apart.",
    ),
]
PresetName = Annotated[
    str | None,
    typer.Argument(
        metavar="[PRESET]",
        autocompletion=one_of(lambda: PRESETS),
        help=f"A setting of the papers: {', '.join(PRESETS)}. Or none, with --profile or what a server says.",
    ),
]
ProfileNames = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        autocompletion=PROFILES,
        help="A profile's file or bundled name, in place of a preset; may be repeated: the devices take turns.",
    ),
]
ProfileName = Annotated[
    str,
    typer.Argument(metavar="PROFILE", help="A profile's file, or a bundled profile's name.", autocompletion=PROFILES),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="NAME", help="A task of the profile; may be repeated (default: all)."),
]
ServerLog = Annotated[
    str | None,
    typer.Option(
        "--server-log",
        "--vllm-log",
        metavar="FILE",
        help="Acceptance from a server's log, the text of its /metrics, or its answers as JSON: vLLM, SGLang, "
        "TensorRT-LLM, llama.cpp.",
    ),
]
ServerModel = Annotated[
    str | None,
    typer.Option("--server-model", "--vllm-model", metavar="NAME", help="The model, where /metrics has several."),
]
PooledRate = Annotated[
    float | None,
    typer.Option(
        "--pooled-rate",
        metavar="R",
        help="Acceptance as accepted/drafted tokens [1], where nothing better is known; with --pooled-length. No token "
        "behind a rejection may count as accepted, as in vLLM's V0 engine: give --mean-length for such a server.",
    ),
]
MeanLength = Annotated[
    float | None,
    typer.Option(
        "--mean-length",
        metavar="E",
        help="Acceptance as tokens a round with the target's own (emitted tokens over drafts); with --pooled-length.",
    ),
]
PooledLength = Annotated[
    int | None,
    typer.Option(
        "--pooled-length",
        metavar="K",
        help="The draft length that it was measured at [token]; with a log only where that does not tell it.",
    ),
]
DistributionBits = Annotated[
    int | None,
    typer.Option(
        "--distribution-bits",
        metavar="V",
        help="With --profile: one distribution as sent [bit] (default: its table's).",
    ),
]
BatchSizes = Annotated[
    str, typer.Option("--batch-sizes", metavar="LIST", help='Batch sizes and inclusive ranges, such as "1,2,4,8-64".')
]
MaxLength = Annotated[
    int | None,
    typer.Option("--max", metavar="N", help="Greatest draft length [token] (default: as far as was measured)."),
]
MinLength = Annotated[
    int,
    typer.Option("--min", metavar="N", help="Least draft length [token]: 1 for a drafter that must not pause."),
]
Server = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="SERVER",
        help=f"Whose setting is written: {', '.join(SERVERS)}.",
        autocompletion=one_of(lambda: SERVERS),
    ),
]
Tolerance = Annotated[
    float,
    typer.Option("--tolerance", metavar="X", help="Share of its best goodput that merging may cost a batch size [1]."),
]
Synthetic = Annotated[
    bool,
    typer.Option("--synthetic", help="Let vLLM accept by the measured curve, whatever is drafted: for load tests."),
]
ConfigOutput = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="FILE", callback=named, help="Write the server's setting to this file (vLLM: JSON)."
    ),
]
Devices = Annotated[int, typer.Option("--devices", metavar="K", help="Number of devices.")]
DrawSeed = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the draw.")]
Bandwidth = Annotated[
    float | None,
    typer.Option("--bandwidth-hz", metavar="B", help="Either band [Hz], in place of the paper's; powers stay."),
]
UplinkPower = Annotated[
    float | None, typer.Option("--uplink-power-dbm", metavar="P", help="Power of each device [dBm].")
]
DownlinkPower = Annotated[
    float | None, typer.Option("--downlink-power-dbm", metavar="P", help="Power of the server [dBm].")
]
PowerRatio = Annotated[
    float | None,
    typer.Option("--power-ratio", metavar="R", help="Server's power over a device's at a fixed sum [1]; uldl presets."),
]
Dataset = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Dataset of every device; by default each draws one.")
]
CellName = Annotated[
    str | None,
    typer.Option(
        "--cell",
        metavar="NAME",
        help=f"Another radio than the paper's: {' or '.join(CELLS)} (TR 38.901).",
        autocompletion=one_of(lambda: CELLS),
    ),
]
DraftMean = Annotated[
    float | None, typer.Option("--draft-mean-s", metavar="T", help="Mean draft time of the devices [s/token].")
]
FirstDatasetShare = Annotated[
    float | None,
    typer.Option(
        "--first-dataset-share",
        metavar="P",
        help="Probability that a device draws the preset's first dataset, the others being equally probable [1].",
    ),
]
Fading = Annotated[
    bool | None,
    typer.Option("--fading/--no-fading", help="Whether Rayleigh fading is drawn (default: as in the cell)."),
]
OverArea = Annotated[
    bool | None,
    typer.Option("--over-area/--no-over-area", help="Whether places are uniform in the area or in the distance."),
]
TomlOutput = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="FILE", callback=named, help="Write the scenario to this file, not to the terminal."
    ),
]
Reported = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SCENARIO]...",
        help="Scenario files or bundled names (default: the first bundled one).",
        autocompletion=SCENARIOS,
    ),
]
Checked = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Scenario files or bundled names (default: random scenarios).",
        autocompletion=SCENARIOS,
    ),
]
Trials = Annotated[
    int | None, typer.Option("--trials", metavar="N", help="Random scenarios for each formulation (default 20).")
]
CheckSeed = Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of the first one (default 0).")]
Solvers = Annotated[
    list[str] | None,
    typer.Option(
        "--solver",
        metavar="NAME",
        help="ECOS, CLARABEL, SCS or HIGHS; may be repeated (default: all but SCS, which is good for "
        "small programs and a second opinion: slower, and without an answer on measured curves).",
    ),
]
Formulations = Annotated[
    list[str] | None,
    typer.Option("--formulation", metavar="NAME", help="Only this formulation; may be repeated (default: all)."),
]
_YOURS = (
    "A function of yours, from a Scenario to a Control, a Solution, K lengths or one for all, or to None where it does "
    "not apply"
)
FormulaName = Annotated[
    list[str] | None,
    typer.Option("--formula", metavar="MODULE:FUNCTION", help=f"{_YOURS}, scored beside the formulations; one."),
]
UserVariants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="MODULE:CLASS",
        help="A Utility or ControlLimit of yours, with numbers such as 'mine:Limit(2.0)', in quotes for the shell; "
        "may be repeated.",
    ),
]
WorstFolder = Annotated[
    str,
    typer.Option(
        "--output", metavar="DIR", callback=named, help="Folder of the worst scenario of each row, to be replayed."
    ),
]
Folder = Annotated[
    str,
    typer.Option("--output", metavar="DIR", callback=named, help="Folder of the results; made where it is missing."),
]
UserMethods = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="MODULE:FUNCTION", help=f"{_YOURS}, beside ours; may be repeated."),
]
