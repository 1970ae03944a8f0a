"""The command `msopt measure`."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msopt import ParameterError
from msopt.errors import describe
from msopt.files.profile_json import find_profile, write_profile
from reports.shared.output import print_tables, warn
from reports.shared.progress import step_bar

if TYPE_CHECKING:
    from verification.measurement import MeasurementPlan
    from verification.pairs import Pair

MOST_THREADS = 1024
"""Where a system gives no more threads, what computes with them ends the program."""

Draft = Annotated[
    str,
    typer.Option(
        "--draft",
        metavar="MODEL",
        help="A GGUF file, a folder, a Hugging Face id, smollm2, or skip-N: the target without N of its layers, those "
        "of least influence.",
    ),
]
Target = Annotated[
    str, typer.Option("--target", metavar="MODEL", help="A GGUF file, a folder, a Hugging Face id, or smollm2.")
]
Output = Annotated[str, typer.Option("--output", metavar="FILE", help="The profile that is written.")]
Task = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="NAME", help="Measure acceptance on this task; may be repeated (default: all)."),
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="TEXT", help="The profile's name (default: the file's without .json).")
]
Prompts = Annotated[int | None, typer.Option("--prompts", metavar="N", help="Prompts of each task (default: 8).")]
Tokens = Annotated[
    int | None, typer.Option("--tokens", metavar="N", help="Tokens generated for each prompt (default: 96).")
]
DraftLength = Annotated[
    int | None, typer.Option("--draft-length", metavar="L", help="Tokens drafted in each measured round (default: 8).")
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", metavar="T", help="Of both models; 0: most probable (default: 1)."),
]
TopK = Annotated[int | None, typer.Option("--top-k", metavar="K", help="Keep the K most probable tokens.")]
TopP = Annotated[float | None, typer.Option("--top-p", metavar="P", help="Keep tokens up to this share.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="S", help="Seed of every draw (default: 0).")]
AcceptanceFrom = Annotated[
    str | None,
    typer.Option(
        "--acceptance-from",
        metavar="PROFILE",
        help="Keep the acceptance of this profile of the same pair, and its settings; measure only times.",
    ),
]
Device = Annotated[str, typer.Option("--device", metavar="NAME", help="cpu, or cuda for a GPU.")]
ComputeType = Annotated[str, typer.Option("--dtype", metavar="NAME", help="float32, bfloat16 or float16.")]
Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, max=MOST_THREADS, help="Threads of the CPU.")
]
Repeats = Annotated[int, typer.Option("--repeats", metavar="N", help="Single times of each verification.")]
Batches = Annotated[str, typer.Option("--batches", metavar="N,N,...", help="Batch sizes that are timed.")]
DraftLengths = Annotated[
    str, typer.Option("--draft-lengths", metavar="L,L,...", help="Draft lengths that are timed; 0: without drafts.")
]


def measure(
    draft: Draft,
    output: Output,
    target: Target = "smollm2",
    *,
    task: Task = None,
    name: Name = None,
    acceptance_from: AcceptanceFrom = None,
    prompts: Prompts = None,
    tokens: Tokens = None,
    draft_length: DraftLength = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    device: Device = "cpu",
    dtype: ComputeType = "float32",
    threads: Threads = None,
    repeats: Repeats = 10,
    batches: Batches = "1,2,4,8",
    draft_lengths: DraftLengths = "0,1,3,7",
) -> None:
    """Measure a pair of models: acceptance by task, times, payloads. After an interrupt the same command goes on."""
    require_models("measure needs")
    for option, text in (("--draft", draft), ("--target", target), ("--output", output), ("--name", name)):
        _must_be_text(option, text)
    path = Path(output)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise ParameterError(f"--output = {describe(output)} is not a file in a folder that exists")

    from verification.kept_acceptance import kept_settings
    from verification.measurement import MeasurementPlan, use_threads
    from verification.pairs import load_pair
    from verification.prompts import all_prompts
    from verification.sampling import SamplingRule

    asked = {
        "tasks": task and tuple(task),
        "prompts": prompts,
        "tokens": tokens,
        "draft_length": draft_length,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
    }
    settings: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    kept = find_profile(acceptance_from) if acceptance_from is not None else None
    settings = {"tasks": tuple(all_prompts())} | settings if kept is None else kept_settings(kept, settings)
    rule = {key: settings.pop(key) for key in ("temperature", "top_k", "top_p") if key in settings}
    plan = MeasurementPlan(
        name=name or path.name.removesuffix(".json"),
        draft=draft,
        target=target,
        rule=SamplingRule(**rule),
        repeats=repeats,
        batches=whole_numbers("--batches", batches),
        draft_lengths=whole_numbers("--draft-lengths", draft_lengths),
        kept=kept,
        **settings,
    )
    use_threads(threads)
    measured(plan, lambda: load_pair(draft, target, dtype=dtype, device=device), path)


def measured(plan: "MeasurementPlan", load: "Callable[[], Pair]", path: Path) -> None:
    """Measure a pair by a plan, write its profile and show it."""
    from reports.cli.measure_table import disagreements, show_profile
    from verification.measurement import finish
    from verification.measurement import measure as run

    with step_bar("", len(plan.steps) + 1, done=-1) as progress:
        progress("loading the models")
        pair = load()
        try:
            profile = run(plan, pair, path, progress)
        except KeyboardInterrupt:
            print(f"msopt: interrupted; the same command goes on from {path}.partial", file=sys.stderr)
            raise
    write_profile(profile, path)
    finish(plan, pair, path)
    wrong = disagreements(profile)
    if wrong:
        warn([f"the two estimates of acceptance at visited positions differ on {', '.join(wrong)}"])
    print_tables(lambda console: show_profile(console, profile))


def _must_be_text(option: str, text: str | None) -> None:
    """Names go into the profile, which is UTF-8; what the system hands over may be any bytes."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{option} = {describe(text)} is not UTF-8 text") from None


def require_models(what: str) -> None:
    """Refuse where what runs models is not installed."""
    missing = [module for module in ("torch", "transformers") if importlib.util.find_spec(module) is None]
    if missing:
        raise ParameterError(f"{what} {' and '.join(missing)}, not installed here; pip install 'msopt[verification]'")


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"{option} = {describe(text)} are not whole numbers separated by commas") from None
