"""Acceptance that a profile holds, kept while times are measured anew: it belongs to the pair, times to the machine."""

from collections.abc import Mapping
from typing import Any

from msopt.errors import ParameterError, describe
from msopt.measured.profile import Profile
from msopt.measured.provenance import Origin
from verification.pairs import Pair
from verification.profile_records import model_record, vocabulary_record

_COMPARED = ("quantisation", "compute_type", "parameters", "layers", "layers_left_out")


def kept_settings(profile: Profile, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a plan that keeps the acceptance of a profile: those it was measured with, and no task.

    ParameterError where the profile has no acceptance, or one asked for is not what it was measured with.

    Parameters
    ----------
    profile : Profile
    given : mapping
        Settings that were asked for beside it: `tasks`, `prompts`, `tokens` and the others that are returned.
    """
    label = f"profile {describe(profile.name)}"
    if profile.sampling is None or not profile.tasks:
        raise ParameterError(f"{label} has no acceptance to keep")
    sampled = {name: getattr(profile.sampling, name) for name in ("draft_length", "temperature", "top_k", "top_p")}
    kept = sampled | {"seed": profile.seed, "tasks": ()}
    prompts = sorted({task.prompts for task in profile.tasks.values()})
    held = kept | {"tasks": tuple(sorted(profile.tasks)), "tokens": profile.sampling.tokens, "prompts": prompts[0]}
    for name, value in given.items():
        asked = tuple(sorted(value)) if name == "tasks" else value
        unknown = name == "tokens" and held[name] is None
        if not unknown and (asked != held[name] or (name == "prompts" and len(prompts) > 1)):
            was = prompts if name == "prompts" else held[name]
            raise ParameterError(
                f"{name} = {_shown(asked)}: the acceptance of {label} was measured with {_shown(was)}; leave it out"
            )
    return kept


def check_same_pair(profile: Profile, pair: Pair) -> None:
    """Refuse to keep the acceptance of another pair.

    A model with a file of its own is known by the SHA-256 of it, any other by its name. ParameterError with the first
    difference.
    """
    for role, was, model in (("draft", profile.draft, pair.draft), ("target", profile.target, pair.target)):
        now = model_record(model)
        for name in ("file_sha256" if was.file_sha256 or now.file_sha256 else "name", *_COMPARED):
            if getattr(now, name) != getattr(was, name):
                raise ParameterError(_other(profile, f"{role}.{name}", getattr(was, name), getattr(now, name)))
    sizes = vocabulary_record(pair, None, None)
    for name in ("tokenizer_entries", "draft_entries", "target_entries", "shared_entries"):
        if getattr(sizes, name) != getattr(profile.vocabulary, name):
            raise ParameterError(_other(profile, name, getattr(profile.vocabulary, name), getattr(sizes, name)))


def origin(profile: Profile) -> Origin:
    """Where the acceptance of a profile was first measured."""
    own = Origin(name=profile.name, machine=profile.machine, versions=profile.versions, date=profile.date)
    return profile.acceptance_from or own


def _other(profile: Profile, name: str, was: Any, now: Any) -> str:
    return (
        f"profile {describe(profile.name)} is of another pair, its acceptance cannot be kept: "
        f"{name} = {_shown(was)} there, {_shown(now)} here"
    )


def _shown(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return ", ".join(str(each) for each in value) or "none"
    return "none" if value is None else describe(value)
