"""JSON, read and written strictly, with one line that says what is wrong."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from msopt.errors import MsoptError, ParameterError, describe, did_you_mean


def load_json(text: str) -> Any:
    """What a JSON text holds.

    ParameterError where it is no JSON, or a key stands twice in one object; one line, without the file's name.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ParameterError(f"is not JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"cannot be read as JSON: {error}") from None


def to_json(record: Any, *, indent: int | None = None, ensure_ascii: bool = True) -> str:
    """Strict JSON in full precision: the one place where any is made.

    MsoptError where a number is infinite or none, which JSON does not have; the text says which.
    """
    try:
        return json.dumps(record, indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)
    except ValueError:
        path, number = next(_not_finite(record, ()), ((), "a circle"))
        raise MsoptError(f"{place_of(path)} is {number}, which JSON cannot hold") from None


def _not_finite(part: Any, path: tuple[int | str, ...]) -> Iterator[tuple[tuple[int | str, ...], float]]:
    if isinstance(part, float) and not math.isfinite(part):
        yield path, part
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list | tuple) else ()
    for key, value in inside:
        yield from _not_finite(value, (*path, key))


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice, _ = next(pair for pair in Counter(key for key, _ in pairs).items() if pair[1] > 1)
        raise ParameterError(f"the key {describe(twice)} stands twice in one object")
    return content


def first_fault(error: ValidationError) -> str:
    """One line for the fault that explains the others: a misspelt key before the key it leaves missing."""
    faults = error.errors()
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    place = place_of(fault["loc"])
    if fault["type"] == "extra_forbidden":
        missing = [str(f["loc"][-1]) for f in faults if f["type"] == "missing" and f["loc"][:-1] == fault["loc"][:-1]]
        return f"{place}: unknown key{did_you_mean(str(fault['loc'][-1]), missing)}"
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
