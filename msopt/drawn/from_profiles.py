"""Scenarios drawn from profiles: measured acceptance and times in the cell of [UD]."""

from collections.abc import Mapping, Sequence

import numpy as np

from msopt.drawn.channel import ULDL_CELL, Draws, unreplaced
from msopt.drawn.draw_preset import numbered_devices
from msopt.errors import ParameterError, describe
from msopt.files.comments import sections
from msopt.files.profile_json import task_of
from msopt.files.profile_keys import draft_seconds, verify_numbers
from msopt.measured.profile import Profile
from msopt.measured.served import Served
from msopt.model.acceptance import Acceptance
from msopt.model.scenario import DEFAULT_MAX_DRAFT_LENGTH, Scenario
from msopt.model.validation import MOST_DEVICES, check_whole

KEPT_ACCEPTANCE = 0.99
"""The share of the best acceptance in the payload table that the chosen payload keeps."""
_KEPT_ENTRIES, _PROBABILITY_BITS = 1024, 16


def draw_from_profiles(
    profiles: Mapping[str, Profile],
    *,
    tasks: Sequence[str] = (),
    served: Served | None = None,
    devices: int = 20,
    seed: int = 0,
    distribution_bits: int | None = None,
    **radio: float,
) -> tuple[Scenario, str]:
    """Draw a scenario whose devices take turns with the profiles, each on a task of its profile.

    Device k of a seed has the same place, fading and choice whatever the other arguments are.

    Parameters
    ----------
    profiles : mapping of str to Profile
        By the name under which the comment cites them; one target, several drafts for devices of unlike ability.
    tasks : sequence of str, optional
        The tasks drawn from, with equal probability; by default all of the device's profile.
    served : Served, optional
        Acceptance that a server told, for every device in place of the profiles' tasks.
    devices, seed : int
        Number of devices K; seed of numpy's default generator.
    distribution_bits : int, optional
        In place of what the payload tables suggest [bit].
    **radio : float
        `bandwidth_hz`, `uplink_power_dbm`, `downlink_power_dbm` or `power_ratio`, as in `msopt.draw`.

    Returns
    -------
    Scenario
    str
        The comment for the head of its file.

    Raises
    ------
    ParameterError
        For profiles of several targets, a task that a profile lacks, or what no profile has.
    """
    check_whole("devices", devices, 1, MOST_DEVICES)
    check_whole("seed", seed, 0)
    if served is not None and tasks:
        raise ParameterError("tasks choose among a profile's acceptances; what a server told takes their place")
    named = list(profiles.items())
    _check_one_target(named)
    cell = ULDL_CELL.with_options(devices, radio)
    place, fading, *_ = np.random.default_rng(seed).random((devices, 4)).T
    mine = [named[k % len(named)] for k in range(devices)]
    chosen = [""] * devices if served else [task for _, task in drawn_roles(profiles, tasks, devices, seed)]
    curves = [] if served else [task_of(p, task).survival for (_, p), task in zip(mine, chosen, strict=True)]
    timed = next((p for _, p in named if p.verification is not None), named[0][1])
    stepped = next((p for _, p in named if p.server_draft), named[0][1])
    verify = verify_numbers(timed)
    bits, bits_from = _distribution_bits([p for _, p in named], distribution_bits)
    scenario = Scenario(
        name=f"{' and '.join(profiles)} K={devices} seed={seed}",
        verify_base_s=verify["verify_base_s"],
        verify_per_device_s=verify["verify_per_device_s"],
        verify_per_token_s=verify["verify_per_token_s"],
        server_draft_s_per_token=stepped.server_draft_s(devices),
        token_bits=max(p.vocabulary.token_bits for _, p in named),
        distribution_bits=bits,
        max_draft_length=_longest(curves if served is None else [served.curve]),
        device_names=numbered_devices(devices),
        acceptance=Acceptance.of(curves=curves) if served is None else served.law(devices),
        draft_s_per_token=np.array([draft_seconds(p) for _, p in mine]),
        **cell.fields(Draws.of(place, fading, seed)),
    )
    stated, ours = ([text.format(c=cell) for text in unreplaced(texts, radio)] for texts in (cell.stated, cell.ours))
    step = f"a step for {devices} sequences, {stepped.label}" if stepped.server_draft else "not measured, left out"
    law = "the measured curve of the device's task" if served is None else f"as a server told it: {about(served)}"
    measured = [
        *(f"{name}: {_provenance(p)}" for name, p in named),
        f"acceptance: {law}",
        "draft time: the median of the device's profile",
        f"verification: the fit of {timed.label}",
        f"server.draft_s_per_token: {step}",
        f"distribution_bits: {bits_from}",
    ]
    turns = "devices take the profiles in turn" + ("" if served else "; each draws a task with equal probability")
    whose = [
        f"{name}: {source}{task and ', '}{task}"
        for name, (source, _), task in zip(scenario.device_names, mine, chosen, strict=True)
    ]
    comment = sections(
        [f"{scenario.name}: measured acceptance and times in a cell drawn at random."],
        (
            ("Given as options:", [f"{option} = {value}" for option, value in radio.items()]),
            ("Measured:", measured),
            ("The cell of [UD], arXiv 2608.29618, where no option says otherwise:", stated),
            ("Ours:", [*ours, turns]),
            ("The profile and task of each device:", whose),
        ),
    )
    return scenario, comment


def drawn_roles(
    profiles: Mapping[str, Profile], tasks: Sequence[str], devices: int, seed: int
) -> list[tuple[str, str]]:
    """The profile, by its name, and the task of each device of `draw_from_profiles`."""
    named = list(profiles.items())
    mine = [named[k % len(named)] for k in range(devices)]
    *_, choice = np.random.default_rng(seed).random((devices, 4)).T
    return [(name, _task(profile, tasks, float(u))) for (name, profile), u in zip(mine, choice, strict=True)]


def about(served: Served) -> str:
    """What a server told, in a few words."""
    counts = f"{served.accepted} of {served.drafted} drafted tokens accepted in {served.drafts} drafts"
    whose = f" ({served.source})" if served.source else ""
    if served.pooled is not None:
        (alpha, length), interval = served.pooled, served.pooled_interval
        source = f"{counts}; " if served.drafts else ""
        within = f" (95 % interval {interval[0]:.4g} to {interval[1]:.4g})" if interval else ""
        return (
            f"{source}the geometric law, acceptance {alpha:.6g}{within}, of a pooled rate at draft length {length}"
            f"{whose}"
        )
    points = ", ".join(f"{p.survival:.3f} ({p.low:.3f} to {p.high:.3f})" for p in served.curve)
    return f"{counts}; S(1), S(2), ... with 95 % intervals: {points}{whose}"


def _check_one_target(named: Sequence[tuple[str, Profile]]) -> None:
    if not named:
        raise ParameterError("no profile is given")
    (first, one), *others = named
    for name, other in others:
        if (other.target.name, other.target.file_sha256) != (one.target.name, one.target.file_sha256):
            raise ParameterError(
                f"profiles of several targets: {describe(one.target.name)} in {first}, "
                f"{describe(other.target.name)} in {name}; one server verifies for all"
            )


def _task(profile: Profile, tasks: Sequence[str], choice: float) -> str:
    known = list(tasks) or [task for task, found in profile.tasks.items() if found.curve]
    if not known:
        known = [next(iter(profile.tasks), "")]  # task_of says what is wrong with it
    return known[int(choice * len(known))]


def _longest(curves: Sequence[Sequence[object]]) -> int:
    return max((len(curve) for curve in curves), default=0) or DEFAULT_MAX_DRAFT_LENGTH


def _distribution_bits(profiles: Sequence[Profile], given: int | None) -> tuple[int, str]:
    """Fewest bits that keep nearly the best acceptance of every payload table, or as in the papers; and why."""
    if given is not None:
        return given, "given as an option"
    kept: dict[int, list[float]] = {}
    tables = 0
    for profile in profiles:
        for task in {row.task for row in profile.payload}:
            rows = [row for row in profile.payload if row.task == task and row.acceptance.value]
            best = max((row.acceptance.value or 0.0 for row in rows), default=0.0)
            tables += bool(rows)
            for row in rows:
                kept.setdefault(row.distribution_bits, []).append((row.acceptance.value or 0.0) / best)
    good = [bits for bits, shares in kept.items() if len(shares) >= tables and min(shares) >= KEPT_ACCEPTANCE]
    if good:
        return min(good), f"the fewest of the payload table that keep {KEPT_ACCEPTANCE:.0%} of its best acceptance"
    index_bits = max(profile.vocabulary.token_bits for profile in profiles)
    bits = _KEPT_ENTRIES * (_PROBABILITY_BITS + index_bits)
    return bits, f"{_KEPT_ENTRIES} entries of {_PROBABILITY_BITS} + {index_bits} bits as in the papers; not measured"


def _provenance(profile: Profile) -> str:
    sampled = f" at temperature {profile.sampling.temperature:g}" if profile.sampling else ""
    only = "; times only" if profile.compute_only else ""
    first = f"; acceptance: {profile.acceptance_from.label}" if profile.acceptance_from else ""
    return f"{profile.label}{sampled}, on {profile.machine.label}, {profile.date}{only}{first}"
