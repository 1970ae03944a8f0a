"""`msopt measure`: a pair of real models turned into a profile, step by step, resumable (design section 8)."""

import datetime
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from msopt.errors import ParameterError
from msopt.files.profile_json import profile_text
from msopt.measured.profile import Profile
from msopt.measured.provenance import Sampling
from msopt.measured.step_times import BatchTiming, Timing, Verification, VerificationRow
from msopt.model.validation import MOST_MEASURED, check_whole
from msopt.numerics.intervals import LEVEL
from verification.estimates import PromptRun, task_acceptance
from verification.kept_acceptance import check_same_pair, origin
from verification.pairs import Pair
from verification.partial import Partial
from verification.payload import payload_rows, replays
from verification.profile_records import machine_record, model_record, version_record, vocabulary_record
from verification.prompts import prompts_of, sha256_of
from verification.rounds import Drafted, Session, generate
from verification.sampling import SamplingRule, own_generator
from verification.text_pass import read_text
from verification.timing import Clock, Stopwatch, time_prompts, time_steps
from verification.verification_fit import fit_verification

Progress = Callable[[str], None]
"""Called after each step with the name of the next."""
STEPS_OF_A_ROUND, PROMPTS = "drafting and verification", "prompt processing"


@dataclass(frozen=True, kw_only=True)
class MeasurementPlan:
    """What to measure and how long.

    Attributes
    ----------
    name, draft, target : str
        Of the profile and of the two models, as the command was given them.
    tasks : tuple of str
    prompts : int
        The first so many of each task.
    tokens : int
        Generated for each prompt at least, unless the text ends before [token].
    draft_length : int
        Of the measured rounds [token].
    rule : SamplingRule
    seed : int
    batches, draft_lengths : tuples of int
        The grid of verification times, length 0 being a step without drafts; `batches` also of the server's drafting
        times.
    prompt_lengths : tuple of int
        Prompts whose reading is timed [token].
    context : int
        Tokens in the cache when drafting and verification are timed [token].
    repeats : int
        Single times of each row of the grid; drafting steps are timed eight times as often.
    kept : Profile or None
        Of the same pair, whose acceptance is kept in place of measuring it; `tasks` are none then, and `draft_length`,
        `rule` and `seed` those that it was measured with (`verification.kept_acceptance`).
    """

    name: str
    draft: str
    target: str
    tasks: tuple[str, ...]
    prompts: int = 8
    tokens: int = 96
    draft_length: int = 8
    rule: SamplingRule = field(default_factory=SamplingRule)
    seed: int = 0
    batches: tuple[int, ...] = (1, 2, 4, 8)
    draft_lengths: tuple[int, ...] = (0, 1, 3, 7)
    prompt_lengths: tuple[int, ...] = (32, 128)
    context: int = 128
    repeats: int = 10
    kept: Profile | None = None

    def __post_init__(self) -> None:
        for name in ("prompts", "tokens", "draft_length", "context", "repeats"):
            check_whole(name, getattr(self, name), 1, MOST_MEASURED)
        for name, least in (("batches", 1), ("draft_lengths", 0), ("prompt_lengths", 1)):
            values = getattr(self, name)
            if len(values) < 2 or len(set(values)) < len(values) or min(values) < least:
                raise ParameterError(
                    f"{name} = {list(values)} are not two or more different whole numbers of at least {least}"
                )
            check_whole(name, max(values), least, MOST_MEASURED)
        check_whole("seed", self.seed, 0)
        if bool(self.tasks) == bool(self.kept) or len(set(self.tasks)) < len(self.tasks):
            raise ParameterError(f"tasks = {list(self.tasks)}: one at least, and none twice")
        for task in self.tasks:
            prompts_of(task, self.prompts)

    @property
    def grid(self) -> list[tuple[int, int]]:
        """Batch and draft length of each row of verification times."""
        return [(batch, length) for batch in self.batches for length in self.draft_lengths]

    @property
    def steps(self) -> list[str]:
        """Names of the steps: acceptance for each task, then the times."""
        return [*self.tasks, STEPS_OF_A_ROUND, PROMPTS]


def measure(
    plan: MeasurementPlan,
    pair: Pair,
    output: Path,
    progress: Progress = lambda _: None,
    clock: Clock = time.perf_counter,
) -> Profile:
    """Measure a pair and return its profile; what an interrupt leaves undone is all that a second call does.

    Nothing is written to `output`; beside it lies a file with the finished steps until `finish` removes it.
    ParameterError where a measurement with other settings was interrupted at the same output, or a model gives no law:
    the step, the model, the text and the place are named, and nothing is left.

    Parameters
    ----------
    plan : MeasurementPlan
    pair : Pair
        The models that the plan names.
    output : Path
        Where the profile will be written.
    progress : callable
    clock : callable
        Gives the present time [s].
    """
    if plan.kept is not None:
        check_same_pair(plan.kept, pair)
    partial = Partial.beside(output, _settings(plan, pair))
    found_there = bool(partial.done)
    watch = Stopwatch(pair.target.device, clock)
    for step in plan.steps:
        progress(step)
        if step not in partial.done:
            try:
                partial.add(step, _run_step(step, plan, pair, watch))
            except ParameterError as error:
                partial.remove()  # what the others found of such a model is worth nothing
                raise ParameterError(f"{step}: {error}") from None
            partial.write()  # a full disk loses this step alone
    try:
        return _profile(plan, pair, partial.done)
    except (LookupError, TypeError, ValueError, ParameterError):
        if not found_there:
            raise
        raise partial.damaged() from None


def finish(plan: MeasurementPlan, pair: Pair, output: Path) -> None:
    """Remove the file of finished steps, once the profile is written."""
    Partial.beside(output, _settings(plan, pair)).remove()


def _settings(plan: MeasurementPlan, pair: Pair) -> dict[str, Any]:
    texts = [prompt for task in plan.tasks for prompt in prompts_of(task, plan.prompts)]
    return {
        **asdict(plan),
        "kept": plan.kept and sha256_of([profile_text(plan.kept)]),
        "prompt texts": sha256_of(texts),
        "models": [model_record(model).model_dump(mode="json") for model in (pair.draft, pair.target)],
        "machine": machine_record(pair.target.device).model_dump(mode="json"),
        "versions": version_record(),
    }


def _run_step(step: str, plan: MeasurementPlan, pair: Pair, watch: Stopwatch) -> Any:
    if step in plan.tasks:
        return _acceptance(step, plan, pair)
    if step == STEPS_OF_A_ROUND:
        return time_steps(pair, plan.rule, plan.batches, plan.grid, plan.context, plan.repeats, watch)
    return [time_prompts(pair.target, pair.entries, length, plan.repeats, watch) for length in plan.prompt_lengths]


def _acceptance(task: str, plan: MeasurementPlan, pair: Pair) -> dict[str, Any]:
    """Rounds of all prompts of a task in one batch, then each text read once by both models."""
    prompts = [pair.target.chat(prompt) for prompt in prompts_of(task, plan.prompts)]
    own = [own_generator(pair.target.device, plan.seed, task, place) for place in range(len(prompts))]
    session = Session(pair, prompts, plan.rule, own, record=True)
    rounds = generate(session, [plan.draft_length] * len(prompts), plan.tokens)
    found = []
    for device, (prompt, text) in enumerate(zip(prompts, session.texts, strict=True)):
        laws = read_text(pair, prompt, text, plan.rule)
        found.append(
            {
                "rounds": [asdict(drafted) for drafted in rounds if drafted.device == device],
                "text_overlap": laws.overlap,
                "replayed": replays(laws, pair.entries, plan.draft_length),
            }
        )
    return {"prompts": found, "mass_outside": [session.drafts[0].mass_outside, session.target.mass_outside]}


def _runs(found: dict[str, Any]) -> list[PromptRun]:
    """Prompts of one task, from what JSON kept of them."""
    return [
        PromptRun(
            tuple(Drafted(**{**d, "overlap": tuple(d["overlap"]), "ratio": tuple(d["ratio"])}) for d in run["rounds"]),
            tuple(run["text_overlap"]),
            tuple((visited, accepted) for visited, accepted in run["replayed"]),
        )
        for run in found["prompts"]
    ]


def _profile(plan: MeasurementPlan, pair: Pair, done: dict[str, Any]) -> Profile:
    """The profile of finished steps: what is of the pair, measured now or kept, and what is of the machine."""
    return Profile(
        name=plan.name,
        draft=model_record(pair.draft),
        target=model_record(pair.target),
        machine=machine_record(pair.target.device),
        versions=version_record(),
        seed=plan.seed,
        date=datetime.date.today().isoformat(),
        **(_acceptance_parts(plan, pair, done) if plan.kept is None else _kept_parts(plan.kept)),
        **_time_parts(plan, done),
    )


def _acceptance_parts(plan: MeasurementPlan, pair: Pair, done: dict[str, Any]) -> dict[str, Any]:
    runs = {task: _runs(done[task]) for task in plan.tasks}
    outside = [sum(done[task]["mass_outside"][side] for task in plan.tasks) / len(plan.tasks) for side in (0, 1)]
    return {
        "vocabulary": vocabulary_record(pair, *outside),
        "sampling": Sampling(
            temperature=plan.rule.temperature,
            top_k=plan.rule.top_k,
            top_p=plan.rule.top_p,
            draft_length=plan.draft_length,
            tokens=plan.tokens,
        ),
        "interval_level": LEVEL,
        "tasks": {task: task_acceptance(own, sha256_of(prompts_of(task, plan.prompts))) for task, own in runs.items()},
        "payload": tuple(payload_rows(runs, pair.entries, LEVEL)),
    }


def _kept_parts(kept: Profile) -> dict[str, Any]:
    names = ("vocabulary", "sampling", "interval_level", "tasks", "payload")
    return {name: getattr(kept, name) for name in names} | {"acceptance_from": origin(kept)}


def _time_parts(plan: MeasurementPlan, done: dict[str, Any]) -> dict[str, Any]:
    drafted, verified = done[STEPS_OF_A_ROUND]
    rows = tuple(
        VerificationRow(batch=batch, draft_length=length, time=Timing.of(times))
        for (batch, length), times in zip(plan.grid, verified, strict=True)
    )
    fit = fit_verification(
        [row.batch for row in rows], [row.draft_length for row in rows], [row.time.median_s for row in rows]
    )
    drafting = [Timing.of(times) for times in drafted]
    return {
        "draft_time": drafting[plan.batches.index(1)] if 1 in plan.batches else None,
        "server_draft": tuple(
            BatchTiming(batch=batch, time=time_) for batch, time_ in zip(plan.batches, drafting, strict=True)
        ),
        "verification": Verification(rows=rows, fit=fit),
        "prompt_processing": tuple(
            BatchTiming(batch=1, tokens=length, time=Timing.of(times))
            for length, times in zip(plan.prompt_lengths, done[PROMPTS], strict=True)
        ),
    }


def use_threads(count: int | None) -> None:
    """Compute with so many threads from now on; None: with as many as torch chose."""
    if count is not None:
        if count < 1:
            raise ParameterError(f"threads = {count} is not a whole number of at least 1")
        torch.set_num_threads(count)
