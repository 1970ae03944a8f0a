"""The command `msopt emulate`: a control played round after round, beside the formula, and what that leaves out.

The tokens come from the acceptance laws, or with `--draft` from real models.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from msopt import Control, FaultPlan, LeftOut, ParameterError, PlayedRounds, Scenario, attribution, evaluate, solve
from msopt import emulate as play
from msopt.emulation.attribution import TOGETHER, effect_cost
from msopt.emulation.fault_plan_toml import read_fault_plan
from msopt.emulation.left_out import FORMULA, LEAST_ROUNDS, typical
from msopt.emulation.sources import Watch
from msopt.files.whole_files import make_folder, write_bytes, write_text
from msopt.model.scenario import Problem
from msopt.model.validation import LARGEST_WHOLE, check_whole
from reports.cli import arguments as opt
from reports.cli.measure_command import (
    ComputeType,
    Device,
    Prompts,
    Target,
    Task,
    Temperature,
    Threads,
    Tokens,
    TopK,
    TopP,
)
from reports.cli.model_play import (
    DraftModels,
    ModelOptions,
    Models,
    PlayedClockOption,
    Quiet,
    played_by_models,
    played_parquet,
    roles_of,
    show_model_play,
    written_rows,
)
from reports.shared.effect_words import size_of
from reports.shared.inputs import read_control, read_scenario
from reports.shared.live_view import live_view
from reports.shared.output import as_json, check_folder, emit
from reports.shared.rows import Row
from reports.shared.words import between, literal, number

if TYPE_CHECKING:
    from rich.console import Console

    from verification.played_texts import PlayedTexts

RECORD, ROUNDS, TIMELINE = "emulation.json", "rounds.csv", "timeline"
TEXTS, MODEL_ROUNDS = "texts.json", "rounds.parquet"
PLAYED, PLAYED_BY_MODELS = 1000, 64
"""Rounds, where nothing else is said."""

PlayedProblem = Annotated[
    Problem | None,
    typer.Option("--problem", help="The problem that is solved for the control (default: heterogeneous)."),
]
PlayedMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        autocompletion=opt.methods_so_far,
        help="The method that solves it (default: decomposition).",
    ),
]
PlayedControl = Annotated[
    str | None,
    typer.Option("--control", metavar="CONTROL.json", help="In their place: what solve --output wrote, or yours."),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        metavar="N",
        help=f"Rounds to play, at least {LEAST_ROUNDS} (default: {PLAYED}; with models {PLAYED_BY_MODELS}).",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_WHOLE, help="Seed of every draw.")]
Faults = Annotated[
    str | None,
    typer.Option("--faults", metavar="FAULTS.toml", help="What goes wrong in the play; DESIGN.md, section 15."),
]
PlayFolder = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="DIR",
        callback=opt.named,
        help=f"Folder for {RECORD}, {ROUNDS} (a row for each round and device) and {TIMELINE}.svg and .pdf; with "
        f"models {MODEL_ROUNDS} in place of {ROUNDS}, and {TEXTS}.",
    ),
]


def emulate(
    file: opt.File,
    *,
    problem: PlayedProblem = None,
    method: PlayedMethod = None,
    control: PlayedControl = None,
    rounds: Rounds = None,
    seed: Seed = 0,
    faults: Faults = None,
    draft: DraftModels = None,
    target: Target = "smollm2",
    task: Task = None,
    prompts: Prompts = None,
    tokens: Tokens = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    device: Device = "cpu",
    dtype: ComputeType = "float32",
    threads: Threads = None,
    clock: PlayedClockOption = "profile",
    quiet: Quiet = False,
    form: opt.Form = "table",
    output: PlayFolder = None,
) -> None:
    """Play a control round after round: its goodput beside the formula's, and what that leaves out.

    Without --draft tokens are drawn from the acceptance laws; with it real models draft, verify and write texts.
    """
    scenario = read_scenario(file)
    rounds = (PLAYED_BY_MODELS if draft else PLAYED) if rounds is None else rounds
    check_whole("--rounds", rounds, LEAST_ROUNDS)
    folder = None if output is None else Path(output)
    if folder is not None:
        files = (MODEL_ROUNDS, TEXTS) if draft else (ROUNDS,)
        check_folder(folder, files=(RECORD, *files, f"{TIMELINE}.svg", f"{TIMELINE}.pdf"))
    effects = typical(rounds, scenario.device_names)
    if faults is not None:
        effects = LeftOut(faults=_plan(faults, scenario))
    chosen = _control(scenario, problem, method, control)
    predicted = evaluate(scenario, chosen)
    predicted.require_feasible()
    given = {"prompts": prompts, "tokens": tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    asked: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    models = None
    if draft:
        asked |= {"device": device, "dtype": dtype, "threads": threads, "clock": clock}
        options = ModelOptions(draft=tuple(draft), target=target, task=tuple(task or ()), **asked)
        models = Models(scenario, roles_of(file), options)
    elif asked or task:
        raise ParameterError(
            f"--{'-'.join(next(iter(asked), 'task').split('_'))} is about models; name them by --draft"
        )
    struck = effects if faults is not None else FORMULA

    def played_with(left_out: LeftOut, texts: "PlayedTexts | None", watch: Watch | None = None) -> PlayedRounds:
        sources = models.sources(texts, rounds) if models and texts else None
        options: dict[str, Any] = {"seed": seed, "predicted": predicted, "sources": sources, "watch": watch}
        return play(scenario, chosen, rounds, left_out=left_out, **options)

    model_texts = None if models is None else models.texts(chosen.problem, seed)
    as_written = None if model_texts is None else lambda: model_texts.texts
    at_once = None if models is None else 1
    with live_view(scenario, rounds, quiet=quiet, texts=as_written, rounds_at_once=at_once) as watch:
        played = played_with(struck, model_texts, watch)
    record = _record(scenario, chosen, played, effects) | {"seed": seed, "left_out": []}
    if faults is not None:
        plain = played_with(FORMULA, None if models is None else models.texts(chosen.problem, seed))
        record["undisturbed_tokens_per_s"] = plain.goodput
    if models is not None and model_texts is not None:
        record["models"] = models.record | played_by_models(scenario, chosen, played, model_texts.record)
        costs = [effect_cost(TOGETHER, plain, played)] if faults is not None else []
    else:
        costs = [*attribution(scenario, chosen, rounds, effects, seed=seed)]
    record["left_out"] = [asdict(cost) for cost in costs]
    if folder is not None:
        _write(folder, scenario, played, record)
        if models is not None and model_texts is not None:
            write_bytes(folder / MODEL_ROUNDS, played_parquet(played, model_texts.record))
            write_text(folder / TEXTS, as_json(written_rows(model_texts, models)))
    sizes = [size_of(effect) for _, effect in effects.each()] if models is None else []
    emit(record, lambda console: _show(console, scenario, record, sizes), form=form, warnings=scenario.warnings)


def _plan(file: str, scenario: Scenario) -> FaultPlan:
    """The faults of a file, of devices that are there."""
    plan = read_fault_plan(file)
    try:
        plan.strikes(scenario.device_names, 1, 0)
    except ParameterError as error:
        raise ParameterError(f"{file}: {error}") from None
    return plan


def _control(scenario: Scenario, problem: Problem | None, method: str | None, file: str | None) -> Control:
    if file is None:
        found = solve(scenario, problem or "heterogeneous", method or "decomposition").control
        if found is None:
            raise ParameterError(f"method {method} has no one control to play")
        return found
    if problem is not None or method is not None:
        raise ParameterError("--control brings its problem with it; --problem and --method do not go with it")
    control = read_control(file, scenario)
    if not isinstance(control, Control):
        raise ParameterError(f"{file}: holds a reaction to one outcome; a control with draft_length is needed")
    return control


def _record(scenario: Scenario, control: Control, played: PlayedRounds, effects: LeftOut) -> Row:
    low, high = played.interval()
    waits_s = played.verify_start_s[:, None] - played.upload_end_s + played.start_s[1:, None] - played.corrected_s
    waits_s = np.sum(np.where(played.drafts, waits_s, 0.0), axis=0)
    each = {
        "draft_length": control.draft_length,
        "goodput_tokens_per_s": played.device_goodput,
        "accepted_tokens_per_round": np.mean(played.accepted, axis=0),
        "rejected": np.mean(played.arrives & (played.accepted < played.drafted), axis=0),
        "uplink": np.mean(played.mode == 1, axis=0),
        "downlink": np.mean(played.mode == 2, axis=0),
        "waits": np.round(waits_s / played.start_s[-1], 12) + 0.0,  # differences of a clock end in round-off, or in -0
    }
    return {
        "scenario": scenario.name,
        "problem": control.problem,
        "rounds": played.rounds,
        "seconds": float(played.start_s[-1]),
        "goodput_tokens_per_s": played.goodput,
        "low_tokens_per_s": low,
        "high_tokens_per_s": high,
        "predicted_tokens_per_s": played.predicted,
        "predicted_standard_error_tokens_per_s": played.predicted_error,
        "devices": [
            {"name": name} | {key: values[k].item() for key, values in each.items()}
            for k, name in enumerate(scenario.device_names)
        ],
        "effects": asdict(effects),
    }


def _write(folder: Path, scenario: Scenario, played: PlayedRounds, record: Row) -> None:
    from reports.plots.style import rendered
    from reports.plots.timeline import timeline_panel
    from reports.shared.record import table_csv

    figure = timeline_panel(played, scenario.name)
    make_folder(folder)
    if "models" not in record:
        write_text(folder / ROUNDS, table_csv(played.to_frame()))
    write_bytes(folder / f"{TIMELINE}.svg", rendered(figure, "svg", TIMELINE))
    write_bytes(folder / f"{TIMELINE}.pdf", rendered(figure, "pdf", TIMELINE))
    write_text(folder / RECORD, as_json(record))


def _show(console: "Console", scenario: Scenario, record: Row, sizes: Sequence[str]) -> None:
    from reports.shared.table_terminal import show_table
    from reports.shared.text_table import Table, number_column, quantity_column, ratio_column, words_column

    console.print(literal(scenario.name), style="bold")
    console.print(f"problem {record['problem']}: {record['rounds']} rounds in {number(record['seconds'])} s")
    ends = " to ".join(number(record[key], 5) for key in ("low_tokens_per_s", "high_tokens_per_s"))
    console.print(f"goodput as played: {number(record['goodput_tokens_per_s'], 5)} token/s ({ends})")
    if "undisturbed_tokens_per_s" in record:
        console.print(f"without faults: {number(record['undisturbed_tokens_per_s'], 5)} token/s")
    console.print(f"by the formula: {number(record['predicted_tokens_per_s'], 5)} token/s")
    corrects = any(device["uplink"] or device["downlink"] for device in record["devices"])
    columns = (
        words_column("name", "device"),
        quantity_column("draft_length", "length"),
        number_column("accepted_tokens_per_round", "accepted", "/round"),
        quantity_column("goodput_tokens_per_s"),
        ratio_column("rejected", "rejected"),
        *((ratio_column("uplink", "up"), ratio_column("downlink", "down")) if corrects else ()),
        ratio_column("waits", "waits"),
    )
    show_table(console, Table.of("", record["devices"], columns))
    if "models" in record:
        show_model_play(console, record["models"])
        if not record["left_out"]:
            return
    what = "What goes wrong" if "undisturbed_tokens_per_s" in record else "What the formula leaves out"
    console.print(f"{what}, each alone on the same luck, as a share of the formula's goodput:")
    rows = [
        cost | {"ends": between(cost["low"], cost["high"]), "size": size}
        for cost, size in zip(record["left_out"], [*sizes, ""], strict=False)
    ]
    costs = (
        words_column("effect", "effect"),
        words_column("size", "here"),
        number_column("goodput", "goodput", "token/s", digits=5),
        ratio_column("cost", "costs"),
        words_column("ends", "between", numeric=True),
    )
    show_table(console, Table.of("", rows, costs))
