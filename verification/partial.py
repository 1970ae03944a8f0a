"""What a measurement has done so far, kept in a file beside its output, so that an interrupt costs one step."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msopt.errors import MsoptError, ParameterError
from msopt.files.json_text import to_json
from msopt.files.whole_files import read_text, write_text


@dataclass
class Partial:
    """Finished steps of one measurement.

    Attributes
    ----------
    path : Path
        The file; written whole after every step, removed at the end.
    settings : dict
        What the steps depend on, as JSON holds it.
    done : dict
        Name of a step to its result, as JSON holds it.
    """

    path: Path
    settings: dict[str, Any]
    done: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def beside(cls, output: Path, settings: dict[str, Any]) -> "Partial":
        """Go on from what an interrupted measurement with the same settings left, or begin.

        ParameterError where a measurement with other settings was interrupted, or its file is damaged.
        """
        path = output.with_name(f"{output.name}.partial")
        settings = json.loads(to_json(settings))
        if not path.exists():
            return cls(path, settings)
        try:
            held = json.loads(read_text(path), parse_constant=_no_number)
            found = cls(path, held["settings"], held["done"])
        except (ValueError, KeyError, TypeError):
            raise cls(path, settings).damaged() from None
        if found.settings != settings:
            other = [key for key in settings if found.settings.get(key) != settings[key]]
            raise ParameterError(
                f"{path}: was left by a measurement with another {' and '.join(other)}; "
                "finish that one, remove the file or name another output"
            )
        return found

    def add(self, step: str, result: Any) -> None:
        """Take up a step's result; `write` keeps it.

        Raises
        ------
        ParameterError
            Where it holds what is no finite number.
        """
        try:
            to_json(result)
        except MsoptError as error:
            raise ParameterError(f"a number that was measured is not finite: {error}") from None
        self.done[step] = result

    def write(self) -> None:
        """Keep what was taken up."""
        write_text(self.path, to_json({"settings": self.settings, "done": self.done}))

    def damaged(self) -> ParameterError:
        """The error for a file that holds something else."""
        return ParameterError(f"{self.path}: is not what an interrupted measurement leaves; remove it to begin")

    def remove(self) -> None:
        """Remove the file: the measurement is complete."""
        self.path.unlink(missing_ok=True)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")
