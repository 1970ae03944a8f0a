"""JSON that people or other programs wrote: read strictly, with one line that says what is wrong."""

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from msopt.errors import ParameterError, describe


def load_json(text: str) -> Any:
    """What a JSON text holds.

    Raises
    ------
    ParameterError
        Where it is no JSON, or a key stands twice in one object; one line, without the file's name.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ParameterError(f"is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"cannot be read as JSON: {error}") from None


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise ParameterError(f"the key {describe(twice)} stands twice in one object")
    return content


def first_fault(error: ValidationError) -> str:
    """One line for the fault that explains the others: a misspelt key before the key it leaves missing."""
    faults = error.errors()
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    place = place_of(fault["loc"])
    if fault["type"] == "extra_forbidden":
        missing = [str(f["loc"][-1]) for f in faults if f["type"] == "missing" and f["loc"][:-1] == fault["loc"][:-1]]
        near = difflib.get_close_matches(str(fault["loc"][-1]), missing, n=1)
        return f"{place}: unknown key" + (f"; did you mean {near[0]}?" if near else "")
    if fault["type"] == "missing":
        return f"{place} is missing"
    text = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "value_error":
        return f"{place}: {text}" if place else text
    return f"{place} = {describe(fault['input'])}: {text[0].lower()}{text[1:]}"


def place_of(parts: Iterable[int | str]) -> str:
    """Where something stands in a JSON text, as a path.

    >>> place_of(["tasks", "code", "curve", 3, "accepted"])
    'tasks.code.curve[3].accepted'
    """
    return ".".join(f"[{part}]" if isinstance(part, int) else part for part in parts).replace(".[", "[")
