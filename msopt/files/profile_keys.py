"""The keys `profile` and `task` of a scenario file: the numbers that a profile puts where none are written."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msopt.errors import ParameterError
from msopt.files.profile_json import find_profile, task_of
from msopt.measured.profile import Profile
from msopt.model.fields import VERIFY_TIMES

_Read = TypeVar("_Read")
_LAWS = ("acceptance", "acceptance_curve")


def verify_numbers(profile: Profile) -> dict[str, float]:
    """The keys `verify_*` of a profile's fit [s]; ParameterError where no verification was measured."""
    if profile.verification is None:
        raise ParameterError(f'profile "{profile.name}" has no verification times; name one that has')
    fit = profile.verification.fit
    terms = (fit.base, fit.per_device, fit.per_token)
    return {key: term.seconds for key, term in zip(VERIFY_TIMES, terms, strict=True)}


def draft_seconds(profile: Profile) -> float:
    """The key `draft_s_per_token` of a device: the median [s].

    ParameterError where no draft time was measured.
    """
    if profile.draft_time is None:
        raise ParameterError(f'profile "{profile.name}" has no draft time; name one that has')
    return profile.draft_time.median_s


class Profiles:
    """Fills tables of a scenario file; every profile is read once. Paths are relative to a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._read: dict[str, Profile] = {}

    def server(self, table: Mapping[str, Any], device_count: int) -> dict[str, Any]:
        """The table [server] in numbers: each that is written stays, the others are the profile's.

        Its `draft_s_per_token` is the profile's drafting step for a batch of all devices.
        """
        numbers = {key: value for key, value in table.items() if key != "profile"}
        profile = self._of(table, "server")
        if profile is not None:
            if table["verify_base_s"] is None or profile.verification is not None:
                numbers |= _where_none(numbers, _labelled("server", lambda: verify_numbers(profile), "verify_base_s"))
            numbers |= _where_none(numbers, {"draft_s_per_token": profile.server_draft_s(device_count)})
        if numbers["verify_base_s"] is None:
            raise ParameterError("server: verify_base_s is missing")
        return numbers | _where_none(numbers, dict.fromkeys(VERIFY_TIMES, 0.0))

    def device(self, table: Mapping[str, Any], label: str) -> dict[str, Any]:
        """A table of [[devices]] in numbers: a law or a draft time that is written stays, else it is the profile's.

        The profile's law is its measured curve on the task.
        """
        numbers = {key: value for key, value in table.items() if key not in ("profile", "task")}
        profile, task = self._of(table, label), table["task"]
        if profile is None:
            if task is not None:
                raise ParameterError(f"{label}: task goes with profile, which is missing")
        else:
            if all(table[key] is None for key in _LAWS):
                if task is None:
                    known = ", ".join(profile.tasks) or "none"
                    raise ParameterError(f"{label}: task is missing beside profile; its tasks: {known}")
                curve = _labelled(label, lambda: task_of(profile, task).survival)
                numbers["acceptance_curve"] = curve
            if table["draft_s_per_token"] is None:
                numbers["draft_s_per_token"] = _labelled(label, lambda: draft_seconds(profile), "draft_s_per_token")
        if numbers["draft_s_per_token"] is None:
            raise ParameterError(f"{label}: draft_s_per_token is missing")
        return numbers

    def _of(self, table: Mapping[str, Any], label: str) -> Profile | None:
        given = table["profile"]
        if given is not None and given not in self._read:
            self._read[given] = _labelled(label, lambda: find_profile(given, self._folder))
        return None if given is None else self._read[given]


def _labelled(label: str, work: Callable[[], _Read], key: str = "") -> _Read:
    """The result, or the error with the table it is about and the key that may be written instead."""
    try:
        return work()
    except ParameterError as error:
        raise ParameterError(f"{label}: {error}{f', or write {key}' if key else ''}") from None


def _where_none(numbers: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in more.items() if numbers[key] is None}
