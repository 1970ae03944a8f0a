"""What comes with the package, by name: scenarios (msopt/scenarios) and profiles (msopt/profiles)."""

from importlib.resources import files
from pathlib import Path

from msopt.errors import ParameterError, describe, did_you_mean

default = "edge-cell"
"""The scenario that is solved where none is named."""


def names() -> tuple[str, ...]:
    """Names of the bundled scenarios, the default first."""
    stems = sorted(file.stem for file in _folder().glob("*.toml"))
    return (default, *(stem for stem in stems if stem != default))


def path(name: str) -> Path:
    """The file of a bundled scenario.

    Raises
    ------
    ParameterError
        Where no bundled scenario has that name.
    """
    known = names()
    if name not in known:
        there = f"there are {', '.join(known)}{did_you_mean(name, known)}"
        raise ParameterError(f"no bundled scenario is called {describe(name)}; {there}")
    return _folder() / f"{name}.toml"


def profile_names() -> tuple[str, ...]:
    """Names of the bundled profiles."""
    return tuple(sorted(file.stem for file in _profiles().glob("*.json")))


def profile_path(name: str) -> Path:
    """The file of a bundled profile, one of `profile_names()`."""
    return _profiles() / f"{name}.json"


def _folder() -> Path:
    return Path(str(files("msopt") / "scenarios"))


def _profiles() -> Path:
    return Path(str(files("msopt") / "profiles"))
