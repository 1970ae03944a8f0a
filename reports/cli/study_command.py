"""The command `msopt study`: measure, find the best controls, play them with the models, set both side by side."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msopt import ParameterError, bundled
from msopt.drawn.from_profiles import draw_from_profiles, drawn_roles
from msopt.emulation.left_out import LEAST_ROUNDS
from msopt.files.profile_json import find_profile
from msopt.files.scenario_toml import load_toml, to_toml
from msopt.files.whole_files import make_folder, read_text, write_bytes, write_text
from msopt.measured.profile import Profile
from msopt.model.validation import LARGEST_WHOLE, MOST_DEVICES, check_whole
from reports.cli import arguments as opt
from reports.cli.measure_command import (
    Device,
    Prompts,
    Target,
    Task,
    Temperature,
    Threads,
    Tokens,
    TopK,
    TopP,
    measured,
)
from reports.cli.model_play import ModelOptions, Models, Quiet, Role, roles_of
from reports.cli.study_plays import StudiedCell, closed_loop_record, study_plays
from reports.shared.inputs import read_scenario, scenario_path
from reports.shared.output import as_json, check_folder, print_tables, warn
from reports.shared.rows import Row
from reports.shared.words import between, literal
from reports.studies.loop_rows import LoopPlay

if TYPE_CHECKING:
    from rich.console import Console

    from verification.measurement import MeasurementPlan
    from verification.pairs import Pair

DRAWN_DEVICES, STUDY_ROUNDS = 8, 64
RESULT, CELL, TIMELINE = "loop.json", "scenario.toml", "timeline.svg"

Studied = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SCENARIO|PROFILE...]",
        help="A scenario whose devices name profiles and tasks, or profiles of the drafts; files or bundled. Without "
        "them the drafts are measured.",
    ),
]
StudiedDrafts = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        metavar="MODEL",
        help="A draft, as measure takes it; may be repeated, one target for all. Without it the profiles' own, where "
        "they are skip-N.",
    ),
]
StudiedType = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        metavar="NAME",
        help="float32, bfloat16 or float16 (default: as the profiles were measured, else float32).",
    ),
]
StudyFolder = Annotated[
    str,
    typer.Option(
        "--output", metavar="DIR", callback=opt.named, help=f"Folder for profiles, {CELL}, {RESULT} and {TIMELINE}."
    ),
]
StudyDevices = Annotated[
    int | None,
    typer.Option(
        "--devices", metavar="K", min=1, help=f"Devices of the cell that is drawn (default: {DRAWN_DEVICES})."
    ),
]
StudyRounds = Annotated[
    int, typer.Option("--rounds", metavar="N", help=f"Rounds of every play, at least {LEAST_ROUNDS}.")
]
StudySeed = Annotated[int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_WHOLE, help="Seed of every draw.")]


def study(
    given: Studied = None,
    *,
    output: StudyFolder,
    draft: StudiedDrafts = None,
    target: Target = "smollm2",
    task: Task = None,
    prompts: Prompts = None,
    tokens: Tokens = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    devices: StudyDevices = None,
    rounds: StudyRounds = STUDY_ROUNDS,
    seed: StudySeed = 0,
    device: Device = "cpu",
    dtype: StudiedType = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Measure, optimise, play with the models, and set what was promised beside what was delivered.

    A scenario whose devices name their profiles and tasks is played as it is; of profiles or drafts a cell is drawn.
    """
    check_whole("--rounds", rounds, LEAST_ROUNDS)
    check_whole("--devices", DRAWN_DEVICES if devices is None else devices, 1, MOST_DEVICES)
    asked: dict[str, Any] = {"prompts": prompts, "tokens": tokens, "dtype": dtype}
    asked |= {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    options = ModelOptions(
        draft=tuple(draft or ()),
        target=target,
        task=tuple(task or ()),
        device=device,
        threads=threads,
        **{key: value for key, value in asked.items() if value is not None},
    )
    options.check()
    folder = Path(output)
    check_folder(folder, files=(RESULT, CELL, TIMELINE))
    cell, pairs = None, None
    if given:
        cell = _given_cell(given, options.task, devices, seed)
        options = _as_measured(options, cell, {key for key, value in asked.items() if value is not None})
    elif not draft:
        raise ParameterError("neither a scenario nor a profile nor --draft is given; one of them says what is studied")
    else:
        plans = _plans(options, seed)
        pairs = options.loaded()
        cell = _drawn(_measured_drafts(plans, pairs, folder), options.task, devices, seed)
    cell.check(options.prompts)
    models = Models(cell.scenario, cell.roles, options, pairs)
    warn(models.others)
    plays = study_plays(cell, models, rounds, seed, quiet=quiet)
    record = closed_loop_record(cell, plays, models, seed)
    _write(folder, cell, plays, record)
    print_tables(lambda console: show_closed_loop(console, record))


def _given_cell(given: list[str], tasks: tuple[str, ...], devices: int | None, seed: int) -> StudiedCell:
    """The cell of a scenario, or one that is drawn of profiles."""
    scenarios = [name for name in given if name.endswith(".toml") or name in bundled.names()]
    if not scenarios:
        return _drawn({name: find_profile(name) for name in given}, tasks, devices, seed)
    if len(given) > 1:
        raise ParameterError(f"{scenarios[0]} is a scenario, and is studied alone")
    if tasks or devices is not None:
        raise ParameterError(
            f"{given[0]} is a scenario and says its devices and tasks; --devices and --task draw a cell"
        )
    path, scenario = scenario_path(given[0]), read_scenario(given[0])
    toml = read_text(path)
    named = load_toml(toml)["server"].get("profile")
    server = None if named is None else find_profile(named, path.parent)
    return StudiedCell(scenario, roles_of(given[0]), toml, server)


def _drawn(profiles: dict[str, Profile], tasks: tuple[str, ...], devices: int | None, seed: int) -> StudiedCell:
    """Devices that draw their tasks and take the profiles in turn."""
    count = DRAWN_DEVICES if devices is None else devices
    scenario, comment = draw_from_profiles(profiles, tasks=tasks, devices=count, seed=seed)
    roles = [Role(profiles[name], own) for name, own in drawn_roles(profiles, tasks, count, seed)]
    return StudiedCell(scenario, roles, to_toml(vars(scenario), comment))


def _as_measured(options: ModelOptions, cell: StudiedCell, said: set[str]) -> ModelOptions:
    """The drafts that the profiles are of and how they were measured, where the command line says nothing else."""
    kept: dict[str, Any] = {"prompts": cell.seen, "dtype": cell.profiles[0].target.compute_type}
    sampling = cell.profiles[0].sampling
    if sampling is not None:
        kept |= {"temperature": sampling.temperature, "top_k": sampling.top_k, "top_p": sampling.top_p}
        kept |= {} if sampling.tokens is None else {"tokens": sampling.tokens}
    if not options.draft:
        kept["draft"] = tuple(dict.fromkeys(_draft_of(profile) for profile in cell.profiles))
    return replace(options, **{key: value for key, value in kept.items() if key not in said})


def _draft_of(profile: Profile) -> str:
    """How the models are named that a profile was measured on, where they lie in a package."""
    if profile.draft.source.startswith("package ") and profile.draft.layers_left_out:
        return f"skip-{len(profile.draft.layers_left_out)}"
    raise ParameterError(f"{profile.name}: where its models lie is not known; name them by --draft and --target")


def _plans(options: ModelOptions, seed: int) -> "list[MeasurementPlan]":
    """How each draft is measured."""
    from verification.measurement import MeasurementPlan
    from verification.prompts import all_prompts

    return [
        MeasurementPlan(
            name=f"profile-{place}",
            draft=draft,
            target=options.target,
            tasks=options.task or tuple(all_prompts()),
            prompts=options.prompts,
            tokens=options.tokens,
            rule=options.rule,
            seed=seed,
        )
        for place, draft in enumerate(options.draft, start=1)
    ]


def _measured_drafts(plans: "list[MeasurementPlan]", pairs: "list[Pair]", folder: Path) -> dict[str, Profile]:
    """The profiles of drafts, measured where the folder has them not yet; those it has must be of what is asked for."""
    from verification.kept_acceptance import check_same_pair, kept_settings

    files = [folder / f"{plan.name}.json" for plan in plans]
    for plan, pair, file in zip(plans, pairs, files, strict=True):
        if file.exists():
            found = find_profile(str(file))
            check_same_pair(found, pair)
            asked = {name: getattr(plan, name) for name in ("tasks", "prompts", "tokens", "seed")}
            kept_settings(found, asked | vars(plan.rule))
    make_folder(folder)
    for plan, pair, file in zip(plans, pairs, files, strict=True):
        if not file.exists():
            measured(plan, partial(_itself, pair), file)
    return {str(file): find_profile(str(file)) for file in files}


def _itself(pair: "Pair") -> "Pair":
    return pair


def _write(folder: Path, cell: StudiedCell, plays: list[LoopPlay], record: Row) -> None:
    from reports.plots.style import rendered
    from reports.plots.timeline import timeline_panel

    figure = timeline_panel(plays[0].played, cell.scenario.name)
    make_folder(folder)
    write_text(folder / CELL, cell.toml)
    write_bytes(folder / TIMELINE, rendered(figure, "svg", "timeline"))
    write_text(folder / RESULT, as_json(record))


def show_closed_loop(console: "Console", record: Row) -> None:
    """What was promised and delivered, the order of methods, and the assumptions of the first play."""
    from reports.shared.table_terminal import show_table
    from reports.shared.text_table import Table, gain_column, number_column, ratio_column, words_column

    console.print(literal(record["name"]), style="bold")
    head = (words_column("problem", "problem"), words_column("method", "method"), words_column("prompts", "prompts"))
    plays = (
        *head,
        number_column("tokens_per_round", "tokens", "/round", digits=4),
        number_column("predicted_tokens_curve", "promised", "/round", digits=4),
        number_column("goodput", "goodput", "token/s", digits=4),
        number_column("predicted_goodput_curve", "promised", "token/s", digits=4),
    )
    show_table(console, Table.of("", record["plays"], plays))
    order = (
        *head,
        words_column("against", "against"),
        gain_column("predicted_gain", "promised"),
        gain_column("realised_gain", "delivered"),
        words_column("ends", "between", numeric=True),
    )
    show_table(console, Table.of("Gains", [_with_ends(row) for row in record["order"]], order))
    effects = (*head, words_column("assumption", "without it"), ratio_column("change", "change"), order[-1])
    show_table(console, Table.of("Assumptions", [_with_ends(row) for row in record["assumptions"]], effects))


def _with_ends(row: Row) -> Row:
    return row | {"ends": between(row["low"], row["high"])}
