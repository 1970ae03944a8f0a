"""What the command line is given: a scenario, someone's control, the names of rejected devices."""

import os
import re
from collections.abc import Container, Sequence
from pathlib import Path

from msopt import Control, ParameterError, Scenario, bundled
from msopt.errors import describe, did_you_mean
from msopt.files.control_json import parse_control
from msopt.files.whole_files import read_as, read_log
from msopt.measured.served import Served
from msopt.measured.servers import read_server
from msopt.model.control import Reaction


def scenario_path(file: str) -> Path:
    """The file that a path or a bundled name means; a path wins if it exists.

    Raises
    ------
    ParameterError
        Where it is neither; the text lists the bundled names.
    """
    if os.path.exists(file):  # which a name too long for any file does not end
        return Path(file)
    known = bundled.names()
    if file in known:
        return bundled.path(file)
    hint = did_you_mean(Path(file).stem, known)
    raise ParameterError(
        f"{describe(file)} is neither a file nor a bundled scenario, which are {', '.join(known)}{hint}"
    )


def read_scenario(file: str) -> Scenario:
    """The scenario of a path or a bundled name."""
    return Scenario.read(scenario_path(file))


def read_control(file: str, scenario: Scenario) -> Control | Reaction:
    """Someone's control or reaction; ParameterError names the file."""
    return read_as(file, lambda text: parse_control(text, scenario))


def read_served(
    log: str | None,
    model: str | None = None,
    pooled_rate: float | None = None,
    pooled_length: int | None = None,
    mean_length: float | None = None,
) -> Served | None:
    """Acceptance as a server tells it: from its text, a pooled rate, or tokens a round; None where none is given.

    Raises
    ------
    ParameterError
        For a text that says nothing, naming its file, or for options that do not go together.
    """
    sources = {"--server-log": log, "--pooled-rate": pooled_rate, "--mean-length": mean_length}
    given = [option for option, value in sources.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(f"{given[0]} and {given[1]} are two sources of one acceptance")
    if log is None and (pooled_length is None) != (not given):
        raise ParameterError("--pooled-rate or --mean-length and --pooled-length go together")
    if model is not None and log is None:
        raise ParameterError("--server-model goes with --server-log")
    if pooled_rate is not None and pooled_length is not None:
        return Served.of_pooled(pooled_rate, pooled_length)
    if mean_length is not None and pooled_length is not None:
        return Served.of_mean_length(mean_length, pooled_length)
    if log is None:
        return None
    return read_as(log, lambda text: read_server(text, model, pooled_length), read_log)


def whole_numbers(text: str, option: str, most: int) -> list[int]:
    """The numbers of a list with inclusive ranges, rising and each once, up to some number.

    >>> whole_numbers("8-10,1,9", "--batch-sizes", 100)
    [1, 8, 9, 10]
    """
    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,99})(?:-(\d{1,99}))?\s*", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (0, 0)
        if not 1 <= first <= last:
            raise ParameterError(
                f"{option}: {describe(part)} is neither a number of at least 1 nor a rising range such as 1-16"
            )
        if last > most:
            raise ParameterError(f"{option}: {describe(part)} goes beyond {most}, the most that is allowed")
        found |= set(range(first, last + 1))
    return sorted(found)


def provenance(text: str) -> list[str]:
    """The comment lines at the head of a scenario file, without their "# "."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" ").rstrip())
    return lines


def about(text: str, name: str) -> str:
    """What a scenario file says it is: the first sentence of its comment, or its first two lines."""
    first, stop, _ = " ".join(provenance(text)[:2]).partition(". ")
    words = first + "." * bool(stop)
    return words.removeprefix(f"{name}: ")


def rejected_names(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """The devices that `--rejected` names, each option once or several with commas in between.

    A value that is a device's whole name is that device. Of a list, the longest run of its parts that is a
    name counts as one: names may hold commas.

    >>> rejected_names(["a,b (c, d)", "x,y"], ["a", "b (c, d)", "x,y", "x"])
    ['a', 'b (c, d)', 'x,y']
    """
    known = frozenset(names)
    most = 1 + max(name.count(",") for name in names)
    found = []
    for value in given:
        parts = [value] if value in known else value.split(",")
        place = 0
        while place < len(parts):
            run = _longest_run(parts[place : place + most], known)
            if run is None:
                raise _unknown(parts[place].strip(), names)
            found.append(run[0])
            place += run[1]
    return found


def _longest_run(parts: Sequence[str], known: Container[str]) -> tuple[str, int] | None:
    """The name that the most of the first parts make, and how many they are."""
    for length in range(len(parts), 0, -1):
        run = ",".join(parts[:length])
        for name in (run, run.strip()):
            if name in known:
                return name, length
    return None


def _unknown(unknown: str, names: Sequence[str]) -> ParameterError:
    hint = did_you_mean(unknown, names) or f"; devices are {_some(names)}"
    return ParameterError(f"--rejected: {describe(unknown)} is not a device of the scenario{hint}")


def _some(names: Sequence[str], most: int = 8) -> str:
    listed = ", ".join(map(describe, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
