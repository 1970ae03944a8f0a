"""The command `msopt study`: measure, find the best controls, play them with the models, set both side by side."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msopt import Control, ParameterError, Scenario, solve
from msopt.drawn.from_profiles import draw_from_profiles, drawn_roles
from msopt.emulation.exchanges import undisturbed_corrections
from msopt.emulation.left_out import LEAST_ROUNDS
from msopt.emulation.sources import RoundSources
from msopt.files.profile_json import find_profile, task_of
from msopt.files.scenario_toml import to_toml
from msopt.files.whole_files import make_folder, write_bytes, write_text
from msopt.measured.profile import Profile
from msopt.model.problems import Problem
from msopt.model.validation import LARGEST_WHOLE, check_whole
from msopt.numerics.intervals import LEVEL
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
    measure,
)
from reports.cli.model_play import ModelOptions, Models, Role, profile_clock, shared_rounds
from reports.shared.output import as_json, check_folder, print_tables, warn
from reports.shared.rows import Row
from reports.shared.words import literal, per_cent
from reports.studies.loop_rows import VERSION, LoopPlay, batch_fit_s, loop_play, loop_tables, with_geometric_law

if TYPE_CHECKING:
    from rich.console import Console

METHODS: dict[Problem, tuple[str, ...]] = {
    "heterogeneous": ("decomposition", "equal-bandwidth", "homogeneous", "fixed"),
    "modes": ("decomposition", "greedy", "all-uplink", "uniform-length"),
}
"""What is played, ours first; the others are papers' schemes that have one control."""
DRAWN_DEVICES, STUDY_ROUNDS = 8, 64
RESULT, CELL, TIMELINE = "loop.json", "scenario.toml", "timeline.svg"

KnownProfiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PROFILE]...", help="Profiles of the drafts, files or bundled; without them: measured."),
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
StudyFolder = Annotated[
    str,
    typer.Option(
        "--output", metavar="DIR", callback=opt.named, help=f"Folder for profiles, {CELL}, {RESULT} and {TIMELINE}."
    ),
]
StudyDevices = Annotated[int, typer.Option("--devices", metavar="K", min=1, help="Devices of the cell that is drawn.")]
StudyRounds = Annotated[
    int, typer.Option("--rounds", metavar="N", help=f"Rounds of every play, at least {LEAST_ROUNDS}.")
]
StudySeed = Annotated[int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_WHOLE, help="Seed of every draw.")]


def study(
    profile: KnownProfiles = None,
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
    devices: StudyDevices = DRAWN_DEVICES,
    rounds: StudyRounds = STUDY_ROUNDS,
    seed: StudySeed = 0,
    device: Device = "cpu",
    dtype: ComputeType = "float32",
    threads: Threads = None,
) -> None:
    """Measure, optimise, play with the models, and set what was promised beside what was delivered."""
    check_whole("--rounds", rounds, LEAST_ROUNDS)
    check_whole("--tokens", 1 if tokens is None else tokens, 1)
    folder = Path(output)
    check_folder(folder, files=(RESULT, CELL, TIMELINE))
    given = {"prompts": prompts, "tokens": tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    sampling: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    computing: dict[str, Any] = {"device": device, "dtype": dtype, "threads": threads}
    if profile:
        profiles = {name: find_profile(name) for name in profile}
        draft = draft or [_draft_of(name, own) for name, own in profiles.items()]
    elif not draft:
        raise ParameterError("neither a profile nor --draft is given; one of them says what is studied")
    else:
        make_folder(folder)
        files = [folder / f"profile-{place}.json" for place in range(1, len(draft) + 1)]
        for one, file in zip(draft, files, strict=True):
            if not file.exists():
                measure(one, str(file), target, task=task, seed=seed, **sampling, **computing)
        profiles = {str(file): find_profile(str(file)) for file in files}
    scenario, comment = draw_from_profiles(profiles, tasks=task or (), devices=devices, seed=seed)
    roles = [Role(profiles[name], own) for name, own in drawn_roles(profiles, task or (), devices, seed)]
    options = ModelOptions(draft=tuple(draft), target=target, task=tuple(task or ()), **sampling, **computing)
    models = Models(scenario, roles, options)
    plays = _plays(scenario, models, roles, rounds, seed)
    record = closed_loop_record(scenario, roles, plays, models, seed, to_toml(vars(scenario), comment))
    _write(folder, scenario, comment, plays, record)
    print_tables(lambda console: show_closed_loop(console, record))


def _draft_of(name: str, profile: Profile) -> str:
    """How the models are named that a profile was measured on, where they lie in a package."""
    if profile.draft.source.startswith("package ") and profile.draft.layers_left_out:
        return f"skip-{len(profile.draft.layers_left_out)}"
    raise ParameterError(f"{name}: where its models lie is not known; name them by --draft and --target")


def _plays(scenario: Scenario, models: Models, roles: list[Role], rounds: int, seed: int) -> list[LoopPlay]:
    """Every method of every problem, on prompts that the profiles have seen and on others."""
    found = []
    for prompts, first in _prompt_sets(models, roles).items():
        for problem, methods in METHODS.items():
            controls = {method: solve(scenario, problem, method).control for method in methods}
            held = {method: control for method, control in controls.items() if control is not None}
            found += play_side_by_side(scenario, models, held, prompts, first, rounds, seed)
    return found


def _prompt_sets(models: Models, roles: list[Role]) -> dict[str, int]:
    """Where the prompts begin that all profiles have seen, and those that none has, where there are so many."""
    seen = max(task_of(role.profile, role.task).prompts for role in roles if role.profile and role.task)
    sets = {"seen": 0}
    try:
        models.prompts_of(seen, 1)
    except ParameterError:
        warn([f"the profiles have seen all prompts there are ({seen}); none is left that they have not"])
        return sets
    return sets | {"unseen": seen}


def play_side_by_side(
    scenario: Scenario, models: Models, controls: dict[str, Control], prompts: str, first: int, rounds: int, seed: int
) -> list[LoopPlay]:
    """Controls of one problem in one batch of the models, each then put on the clock."""
    from verification.side_by_side import side_by_side

    problem = next(iter(controls.values())).problem
    texts = models.texts(problem, seed, len(controls), first)
    told = side_by_side(
        texts,
        [control.draft_length for control in controls.values()],
        rounds,
        [undisturbed_corrections(scenario, control, rounds, 0).on_uplink for control in controls.values()],
    )
    shared = shared_rounds(models.options.tokens, rounds)
    return [
        loop_play(scenario, control, method, prompts, RoundSources(one, profile_clock(scenario), shared), one.record)
        for (method, control), one in zip(controls.items(), told, strict=True)
    ]


def closed_loop_record(
    scenario: Scenario, roles: list[Role], plays: list[LoopPlay], models: Models, seed: int, toml: str
) -> Row:
    """Everything that is kept of a study."""
    from verification.profile_records import machine_record, version_record

    said = [task_of(role.profile, role.task) for role in roles if role.profile is not None and role.task is not None]
    geometric = with_geometric_law(scenario, [task.by_counts.value or 0.0 for task in said])
    target = models.pairs[0].target
    about = models.record
    tables = loop_tables(scenario, geometric, plays, said, verification_by_batch(roles[0].profile))
    whose = dict(zip(scenario.device_names, zip(about["tasks"], about["drafts"], strict=True), strict=True))
    for row in tables["devices"]:
        row["task"], row["draft"] = whose[row["device"]]
    return {
        "schema_version": VERSION,
        "name": scenario.name,
        "date": datetime.date.today().isoformat(),
        "seed": seed,
        "machine": machine_record(target.device).model_dump(mode="json"),
        "versions": version_record(),
        "target": target.name,
        "drafts": list(dict.fromkeys(about["drafts"])),
        "temperature": about["temperature"],
        "text_tokens": about["text_tokens"],
        "clock": about["clock"],
        "interval_level": LEVEL,
        "scenario": scenario.name,
        "scenario_toml": toml,
        **tables,
    }


def verification_by_batch(profile: Profile | None) -> tuple[float, float]:
    """The fit of a profile's verification times to the batch size alone [s]."""
    rows = () if profile is None or profile.verification is None else profile.verification.rows
    if not rows:
        raise ParameterError("the first device's profile holds no verification times")
    return batch_fit_s([row.batch for row in rows], [row.time.median_s for row in rows])


def _write(folder: Path, scenario: Scenario, comment: str, plays: list[LoopPlay], record: Row) -> None:
    from reports.plots.style import rendered
    from reports.plots.timeline import timeline_panel

    figure = timeline_panel(plays[0].played, scenario.name)
    make_folder(folder)
    scenario.write(folder / CELL, comment)
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
    return row | {"ends": f"{per_cent(row['low'])} to {per_cent(row['high'])}"}
