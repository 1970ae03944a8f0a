"""The command `msopt schedule`: draft lengths by batch size for a server that drafts and verifies itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt import ParameterError
from msopt.errors import describe
from msopt.files.json_text import to_json
from msopt.files.profile_json import find_profile, task_of
from msopt.files.profile_keys import draft_seconds
from msopt.files.whole_files import write_text
from msopt.measured.profile import Profile
from msopt.measured.served import Served
from msopt.measured.verification_times import VerificationTimes
from msopt.model.acceptance import Acceptance
from msopt.model.mixture import mixed
from msopt.model.scenario import DEFAULT_MAX_DRAFT_LENGTH
from msopt.model.validation import MOST_SERVED, MOST_TOGETHER, check_whole
from msopt.serving.batch_lengths import DEFAULT_TOLERANCE, Schedule
from msopt.serving.batch_lengths import schedule as find_schedule
from msopt.serving.server_settings import SERVERS, SETTINGS, Ranges, pauses, setting_ranges
from msopt.serving.vllm_config import speculative_config
from reports.cli import arguments as opt
from reports.shared.inputs import read_served, whole_numbers
from reports.shared.output import as_json, emit
from reports.shared.words import number, per_cent

if TYPE_CHECKING:
    from rich.console import Console


_ENDS = ("goodput_tokens_per_s", "without_drafts_tokens_per_s")


def schedule(
    profile: opt.ProfileName,
    *,
    task: opt.Tasks = None,
    server_log: opt.ServerLog = None,
    server_model: opt.ServerModel = None,
    pooled_rate: opt.PooledRate = None,
    mean_length: opt.MeanLength = None,
    pooled_length: opt.PooledLength = None,
    batch_sizes: opt.BatchSizes = "1-256",
    max_length: opt.MaxLength = None,
    min_length: opt.MinLength = 0,
    server: opt.Server = "vllm",
    tolerance: opt.Tolerance = DEFAULT_TOLERANCE,
    synthetic: opt.Synthetic = False,
    form: opt.Form = "table",
    output: opt.ConfigOutput = None,
) -> None:
    """Find the best draft length of each batch size at a server that drafts and verifies itself, and its setting."""
    if server not in SERVERS:
        raise ParameterError(f"--for {describe(server)} is none of {', '.join(SERVERS)}")
    if synthetic and server != "vllm":
        raise ParameterError(f"--synthetic is vLLM's: {server} has no acceptance by a given curve")
    measured = find_profile(profile)
    sizes = whole_numbers(batch_sizes, "--batch-sizes", MOST_TOGETHER)
    served = read_served(server_log, server_model, pooled_rate, pooled_length, mean_length)
    if served is not None and task:
        raise ParameterError("--task and what a server says are two sources of one acceptance")
    tasks = [] if served is not None else task or [name for name, found in measured.tasks.items() if found.curve]
    if served is None and not tasks:
        task_of(measured, next(iter(measured.tasks), ""))
    laws = [served.law(1)] if served else [_law(measured, name) for name in tasks]
    known = min(int(law.last_measured[0]) for law in laws)
    most = max_length
    if most is not None:
        check_whole("--max", most, 1, MOST_SERVED)
    else:
        most = known if served is None else _longest(measured, served)
    law = mixed(laws, most)
    times = VerificationTimes(measured)
    found = find_schedule(law, times.seconds, _step(measured), sizes, most, tolerance, min_length)
    setting = SETTINGS.get(server)
    ranges = setting_ranges(found, setting is None or setting.by_batch)
    config = speculative_config(measured, ranges, law if synthetic else None, served) if setting is None else None
    drafts = any(length for _, _, length in ranges)
    written = None if setting is None or not drafts else setting.write(measured.draft.source, ranges)
    warnings = [
        *measured.cautions,
        *times.notes(found.batch_sizes, max(length for _, _, length in ranges)),
        *(served.notes if served else ()),
        *_warnings(measured, found, known, ranges),
    ]
    if setting is None:
        warnings += [] if synthetic or config is None else _drafting(measured, served)
    elif drafts:
        warnings += setting.cautions(ranges)
    record = _record(measured, tasks, found, ranges, warnings) | {
        "server": server,
        "speculative_config": config,
        "setting": written,
    }
    if output is not None:
        write_text(output, as_json(config) if setting is None else f"{written or ''}\n")
    emit(record, lambda console: _show(console, record), form=form, warnings=warnings)


def _longest(profile: Profile, served: Served) -> int:
    """How far to look where a server told the acceptance: as far as it, or the profile, ever drafted.

    Never only as far as the server's drafts were accepted: then a schedule found from the log of a server that
    runs the schedule before it could not grow again.
    """
    if served.pooled is not None:
        return max(DEFAULT_MAX_DRAFT_LENGTH, served.positions)
    return max(served.positions, *(len(task.curve) for task in profile.tasks.values()), 1)


def _drafting(profile: Profile, served: Served | None) -> list[str]:
    """Where the acceptance is that of another way of drafting than the schedule's."""
    sampling = profile.sampling
    sampled = sampling is not None and sampling.temperature > 0.0
    texts = []
    if served is not None:
        if served.method not in (None, "draft_model"):
            texts.append(
                f"the log's server drafts by {served.method}: its acceptance is not that of {profile.draft.source}, "
                "whose times the schedule rests on"
            )
        if sampled and served.draft_sample_method is None:
            texts.append(
                "the acceptance is that of the log's server, which does not say how it drafts (vLLM's default is the "
                "most probable token): draft_sample_method is not written; set it as that server has it"
            )
    elif sampling is not None and sampled:
        filters = {"top-k": sampling.top_k, "top-p": None if sampling.top_p == 1.0 else sampling.top_p}
        used = [f"{name} {value:g}" for name, value in filters.items() if value is not None]
        if used:
            texts.append(
                f"the profile was measured with {' and '.join(used)}, which vLLM does not apply to drafts: its "
                "acceptance will be another; give a log of it, or measure without"
            )
    return texts


def _law(profile: Profile, task: str) -> Acceptance:
    return Acceptance.of(curves=[task_of(profile, task).survival])


def _step(profile: Profile) -> Callable[[int], float]:
    """A drafting step by batch size; that of a single sequence where no other was measured."""
    alone = None if profile.server_draft else draft_seconds(profile)

    def step(batch: int) -> float:
        measured = profile.server_draft_s(batch)
        return measured if measured is not None else alone or 0.0

    return step


def _warnings(profile: Profile, found: Schedule, known: int, ranges: Ranges) -> list[str]:
    texts = []
    if pauses(ranges):
        texts.append(
            "some batch sizes draft nothing: a drafter that misses tokens meanwhile (TensorRT-LLM's one-engine modes, "
            "vllm-metal before pull request 716) has less accepted when it drafts again; with --min 1 none pauses"
        )
    if not profile.server_draft:
        texts.append("no drafting step of a batch was measured; that of one sequence stands for every batch size")
    rows = profile.verification.rows if profile.verification else ()
    batches = [row.batch for row in rows] + [row.batch for row in profile.server_draft]
    if batches and found.batch_sizes[-1] > max(batches):
        texts.append(f"batch sizes above {max(batches)} were not measured; the fits are carried on to them")
    if max(length for _, _, length in ranges) > known:
        texts.append(f"lengths above {known} were not measured; the curve is continued with its last ratio")
    if profile.draft.layers_left_out:
        texts.append(f"the draft is {profile.draft.source} with layers left out, which no server loads as such")
    return texts


def _record(
    profile: Profile, tasks: Sequence[str], found: Schedule, ranges: Ranges, warnings: Sequence[str]
) -> dict[str, Any]:
    found = replace(found, ranges=tuple(ranges))
    worst = int(found.loss.argmax())
    near = [np.flatnonzero(row).tolist() for row in found.near_best]
    columns = (found.batch_sizes, found.best_length, near, found.draft_length, found.goodput, found.best_goodput)
    idle = found.goodput_by_length[:, 0]
    return {
        "profile": profile.name,
        "tasks": list(tasks),
        "batch_sizes": [
            {
                "batch_size": int(batch),
                "best_draft_length": int(best),
                "draft_lengths_within_1_percent": alike,
                "draft_length": int(length),
                "goodput_tokens_per_s": float(goodput),
                "best_goodput_tokens_per_s": float(most),
                "without_drafts_tokens_per_s": float(without),
            }
            for batch, best, alike, length, goodput, most, without in zip(*columns, idle, strict=True)
        ],
        "ranges": [
            {"first_batch_size": first, "last_batch_size": last, "draft_length": length}
            for first, last, length in ranges
        ],
        "largest_loss_by_merging": float(found.loss[worst]),
        "largest_loss_at_batch_size": int(found.batch_sizes[worst]),
        "mean_loss_by_merging": float(found.loss.mean()),
        "drafting_stops_paying_at_batch_size": found.stops_paying_at,
        "warnings": list(warnings),
    }


def _show(console: "Console", record: dict[str, Any]) -> None:
    from reports.shared.table_terminal import show_table
    from reports.shared.text_table import Column, Table

    tasks = ", ".join(record["tasks"]) or "as a server told it"
    console.print(f"{record['profile']}; acceptance: {tasks}", style="bold")
    columns = (
        Column("batch sizes", "batch sizes"),
        Column("draft_length", "length", "token", numeric=True),
        Column("near", "within 1 % at the ends", "token", numeric=True),
        Column("goodput_tokens_per_s", "goodput at the ends", "token/s", numeric=True),
        Column("without_drafts_tokens_per_s", "without drafts", "token/s", numeric=True),
    )
    rows = []
    for place in record["ranges"]:
        first, last = place["first_batch_size"], place["last_batch_size"]
        inside = [row for row in record["batch_sizes"] if first <= row["batch_size"] <= last]
        ends = [inside[0], inside[-1]] if len(inside) > 1 else inside
        cells = {key: " to ".join(number(row[key]) for row in ends) for key in _ENDS}
        cells["near"] = "; ".join(dict.fromkeys(_runs(row["draft_lengths_within_1_percent"]) for row in ends))
        rows.append(place | cells | {"batch sizes": f"{first}-{last}" if first < last else str(first)})
    show_table(console, Table.of("", rows, columns))
    lost, mean = per_cent(record["largest_loss_by_merging"]), per_cent(record["mean_loss_by_merging"])
    console.print(f"lost by merging: {lost} at batch size {record['largest_loss_at_batch_size']}, {mean} on average")
    stop, greatest = record["drafting_stops_paying_at_batch_size"], record["batch_sizes"][-1]["batch_size"]
    console.print(
        f"drafting pays at batch size {greatest}, the greatest looked at"
        if stop is None
        else f"drafting no longer pays from batch size {stop} on, as far as {greatest}"
    )
    config = record["speculative_config"]
    if config is not None:
        console.print(to_json(config))
    elif record["setting"] is not None:
        console.print(record["setting"])
    else:
        what = "speculative_config" if record["server"] == "vllm" else "setting"
        console.print(f"no {what}: no draft ever pays")


def _runs(lengths: Sequence[int]) -> str:
    """Whole numbers in runs.

    >>> _runs([1, 2, 3, 5])
    '1-3, 5'
    """
    ends = [place for place in range(len(lengths)) if lengths[place + 1 : place + 2] != [lengths[place] + 1]]
    starts = [0, *(place + 1 for place in ends[:-1])]
    pairs = [(lengths[start], lengths[end]) for start, end in zip(starts, ends, strict=True)]
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in pairs)
