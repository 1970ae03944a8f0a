"""What `msopt study` plays, and what it keeps of it."""

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt import Control, ParameterError, Scenario, emulate, solve
from msopt.emulation.sources import RoundSources
from msopt.errors import InfeasibleError
from msopt.files.profile_json import task_of
from msopt.measured.profile import Profile
from msopt.measured.task_acceptance import TaskAcceptance
from msopt.methods import methods_of
from msopt.model.problems import Problem
from msopt.numerics.intervals import LEVEL
from msopt.variants.variant import Variant
from reports.cli.model_play import Models, Role, profile_clock, shared_rounds
from reports.shared.live_view import live_view
from reports.shared.output import warn
from reports.shared.rows import Row
from reports.shared.words import counted
from reports.studies.loop_rows import VERSION, LoopPlay, batch_fit_s, loop_tables, with_geometric_law

if TYPE_CHECKING:
    from verification.played_texts import Drafter, PlayedTexts
    from verification.side_by_side import SideBySide

PROBLEMS: tuple[Problem, ...] = ("heterogeneous", "modes")
"""One for each paper: corrections at the server, and where `react` says."""


@dataclass(frozen=True)
class StudiedCell:
    """What is studied.

    Attributes
    ----------
    scenario : Scenario
    roles : list of K Role
        Each with its profile and its task.
    toml : str
        The scenario's file.
    server : Profile, optional
        That the server's times come from, where the scenario names one.
    """

    scenario: Scenario
    roles: list[Role]
    toml: str
    server: Profile | None = None

    def check(self, prompts: int) -> None:
        """Refuse, before anything is played, what could not be set side by side after it."""
        if prompts > self.seen:
            raise ParameterError(f"--prompts = {prompts}: the profiles have seen {self.seen} of each task")
        if not Variant.of(self.scenario).plain:
            raise ParameterError(f"{self.scenario.name}: a study plays all methods, of which most take no variant")
        _ = self.verify_by_batch_s

    @property
    def profiles(self) -> list[Profile]:
        """Of each device."""
        return [profile for profile, _ in self._known]

    @property
    def tasks(self) -> list[TaskAcceptance]:
        """What each device's profile says of its task."""
        return [task_of(profile, task) for profile, task in self._known]

    @property
    def seen(self) -> int:
        """Prompts of each task that all profiles have seen."""
        return min(task.prompts for task in self.tasks)

    @property
    def verify_by_batch_s(self) -> tuple[float, float]:
        """The fit to the batch size alone [s] of the times that verification took: the server's, else a device's."""
        for profile in (self.server, *self.profiles):
            rows = () if profile is None or profile.verification is None else profile.verification.rows
            batches = [row.batch for row in rows]
            if len(set(batches)) > 1:
                return batch_fit_s(batches, [row.time.median_s for row in rows])
        raise ParameterError(f"{self.scenario.name}: no profile in it has verification times; name one that has")

    @property
    def _known(self) -> list[tuple[Profile, str]]:
        known = [(role.profile, role.task) for role in self.roles]
        for name, (profile, task) in zip(self.scenario.device_names, known, strict=True):
            if profile is None or task is None:
                raise ParameterError(f"device {name} names no profile or no task; nothing measured is to be compared")
        return [(profile, task) for profile, task in known if profile is not None and task is not None]


@dataclass(frozen=True)
class Held:
    """A control, and which methods found it, the first of them before the others."""

    methods: tuple[str, ...]
    control: Control


def held_controls(scenario: Scenario, problem: Problem) -> list[Held]:
    """The controls of every method of a problem that has one, ours first; what several methods find is held once."""
    found: list[Held] = []
    for method in methods_of(problem, "optimum", "algorithm", "baseline"):
        try:
            control = solve(scenario, problem, method.name).control
        except InfeasibleError:
            continue
        if control is None:
            continue
        same = next((place for place, held in enumerate(found) if _same(held.control, control)), None)
        if same is None:
            found.append(Held((method.name,), control))
        else:
            found[same] = Held((*found[same].methods, method.name), found[same].control)
    return found


def _same(one: Control, other: Control) -> bool:
    shares = (one.bandwidth_hz, other.bandwidth_hz)
    alike = np.array_equal(*shares) if any(share is None for share in shares) else np.allclose(*shares, rtol=1e-6)
    return alike and one.mode_rule == other.mode_rule and np.array_equal(one.draft_length, other.draft_length)


def study_plays(cell: StudiedCell, models: Models, rounds: int, seed: int, *, quiet: bool) -> list[LoopPlay]:
    """Every method of every problem, on prompts that the profiles have seen and on others."""
    found: list[LoopPlay] = []
    controls = {problem: held_controls(cell.scenario, problem) for problem in PROBLEMS}
    for prompts, drafters in _prompt_sets(cell, models).items():
        for problem, held in controls.items():
            together = _side_by_side(models, problem, held, drafters, seed)
            title = f"{cell.scenario.name}, {problem}, {prompts} prompts, {counted(len(held) - 1, 'more method')}"
            shown = cell.scenario.replace(name=title)
            for one, tokens in zip(held, together.plays, strict=True):
                sources = RoundSources(
                    tokens, profile_clock(cell.scenario), shared_rounds(models.options.tokens, rounds)
                )
                with live_view(shown, rounds, quiet=quiet, texts=tokens.as_written, rounds_at_once=1) as watch:
                    played = emulate(cell.scenario, one.control, rounds, sources=sources, watch=watch)
                found.append(LoopPlay(one.methods[0], one.methods[1:], prompts, one.control, played, tokens.record))
    return found


def _side_by_side(
    models: Models, problem: Problem, held: list[Held], drafters: "list[Drafter]", seed: int
) -> "SideBySide":
    """The models of all plays of one problem; the first that is played runs them."""
    from verification.side_by_side import SideBySide

    def texts(rows: "list[Drafter]") -> "PlayedTexts":
        return models.texts(problem, seed, rows)

    return SideBySide(texts, drafters, [one.control.draft_length for one in held])


def _prompt_sets(cell: StudiedCell, models: Models) -> "dict[str, list[Drafter]]":
    """Devices with prompts that all profiles have seen, and with some that none has, where there are such."""
    from verification.prompts import prompts_of

    seen = max(task.prompts for task in cell.tasks)
    left = min(len(prompts_of(task)) for task in models.tasks) - seen
    sets = {"seen": models.drafters(0, models.options.prompts)}
    if left < 1:
        warn([f"the profiles have seen all prompts there are ({seen}); none is left that they have not"])
        return sets
    return sets | {"unseen": models.drafters(seen, min(left, models.options.prompts))}


def closed_loop_record(cell: StudiedCell, plays: list[LoopPlay], models: Models, seed: int) -> Row:
    """Everything that is kept of a study; stored, it is a result that the report shows."""
    from verification.profile_records import machine_record, version_record

    scenario, tasks = cell.scenario, cell.tasks
    geometric = with_geometric_law(scenario, [task.by_counts.value or 0.0 for task in tasks])
    target = models.pairs[0].target
    about: dict[str, Any] = models.record
    tables = loop_tables(scenario, geometric, plays, tasks, cell.verify_by_batch_s)
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
        "compute_type": models.options.dtype,
        "temperature": about["temperature"],
        "text_tokens": about["text_tokens"],
        "clock": about["clock"],
        "interval_level": LEVEL,
        "scenario": scenario.name,
        "scenario_toml": cell.toml,
        **tables,
    }
