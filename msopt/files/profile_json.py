"""The file of a profile: JSON, checked key by key, written whole or not at all."""

import os
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from msopt.errors import ParameterError, describe, did_you_mean
from msopt.files import bundled
from msopt.files.json_text import first_fault, load_json, to_json
from msopt.files.whole_files import read_as, write_text
from msopt.measured.profile import VERSION, Profile
from msopt.measured.task_acceptance import TaskAcceptance


def parse_profile(text: str) -> Profile:
    """The profile that a text describes.

    ParameterError for a text that is no profile; one line, without the file's name: key, value, what is allowed.
    """
    raw = load_json(text)
    if not isinstance(raw, dict) or "schema_version" not in raw:
        raise ParameterError("is not a profile: it has no schema_version")
    version = raw["schema_version"]
    if isinstance(version, bool) or version != VERSION:
        raise ParameterError(f"schema_version = {describe(version)} is not known; this msopt reads {VERSION}")
    try:
        return Profile.model_validate_json(text)
    except ValidationError as error:
        raise ParameterError(first_fault(error)) from None


def profile_text(profile: Profile) -> str:
    """The text that `parse_profile` turns back into the same profile: strict JSON, full precision."""
    return to_json(profile.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_profile(path: str | PathLike[str]) -> Profile:
    """Read a profile's file; ParameterError names the file, key, value and what is allowed."""
    return read_as(path, parse_profile)


def write_profile(profile: Profile, path: str | PathLike[str]) -> None:
    """Write a profile's file, whole or not at all; `read_profile` gives back an equal profile."""
    write_text(path, profile_text(profile))


def find_profile(given: str, folder: Path | None = None) -> Profile:
    """The profile of a path, relative to a folder (default: where the program runs), or of a bundled name.

    A path wins where it exists. ParameterError where it is neither, or no good profile.
    """
    path = (folder or Path()) / given
    if os.path.exists(path) and not path.is_dir():
        return read_profile(path)
    known = bundled.profile_names()
    if given in known:
        return read_profile(bundled.profile_path(given))
    there = f", which are {', '.join(known)}" if known else ""
    hint = did_you_mean(Path(given).stem, known)
    raise ParameterError(f"{describe(given)} is neither a file nor a bundled profile{there}{hint}")


def task_of(profile: Profile, task: str) -> TaskAcceptance:
    """The acceptance that a profile measured on a task, with at least one draft.

    ParameterError where it has none: the text lists the tasks there are.
    """
    if profile.compute_only:
        raise ParameterError(f"profile {describe(profile.name)} is compute-only: it carries no acceptance")
    if not profile.tasks:
        raise ParameterError(f"profile {describe(profile.name)} has no acceptance: it measured no task")
    if task not in profile.tasks:
        known = ", ".join(profile.tasks)
        raise ParameterError(f"task = {describe(task)} is not in profile {describe(profile.name)}; its tasks: {known}")
    found = profile.tasks[task]
    if not found.curve:
        raise ParameterError(f"task {describe(task)} of profile {describe(profile.name)} had no drafts: no acceptance")
    return found
