"""JSON in a server's text: whole, one object a line, or behind a log's prefix; and what is cut off among it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msopt.errors import ParameterError, describe
from msopt.measured.served_counts import MOST_TOKENS
from msopt.measured.server_records import ContradictionError, DamagedError

_MOST_TRIED = 20
"""How many times its length a text may be read in vain: what is no JSON may begin as such at every line."""

Cut = str
"""What begins an object and does not end it."""


def json_objects(lines: Sequence[str], key: str) -> Iterator[tuple[int, Mapping[str, Any] | Cut]]:
    """The objects that hold a key, at any depth, each with the line that its outermost value begins in.

    ParameterError where the text begins JSON over and over and ends none of it.
    """
    text = "\n".join(lines)
    last_line = text.rstrip().rfind("\n") + 1
    decoder = json.JSONDecoder()
    start, end, tried, cut = 0, 0, 0, False
    for place, line in enumerate(lines, 1):
        opening = sorted(at for sign in "[{" if (at := line.find(sign, max(0, end - start))) >= 0)
        for at in opening:
            try:
                value, end = decoder.raw_decode(text, start + at)
            except (ValueError, RecursionError) as error:
                stopped = getattr(error, "pos", len(text))
                tried += stopped - start - at
                cut = cut or start < last_line <= stopped
            else:
                for found in _holding(value, key):
                    yield place, found
                break
        else:
            if opening and f'"{key}"' in line:
                yield place, line
        if tried > _MOST_TRIED * len(text):
            raise ParameterError(f"line {place} begins JSON that never ends: {describe(line)}")
        start += len(line) + 1
    if cut:
        yield len(text.rstrip().split("\n")), text[last_line:].rstrip()


def _holding(value: Any, key: str) -> Iterator[Mapping[str, Any]]:
    left = [value]
    while left:
        here = left.pop()
        if isinstance(here, dict):
            if key in here:
                yield here
            left.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            left.extend(reversed(here))


def held(record: Mapping[str, Any] | Cut) -> Mapping[str, Any]:
    """The object, where it is whole."""
    if isinstance(record, Cut):
        raise DamagedError(describe(record))
    return record


def count(record: Mapping[str, Any], key: str) -> int:
    """A whole number of an object, from 0."""
    if key not in record:
        raise DamagedError(f'"{key}" is missing')
    return checked_count(record[key], key)


def counts(values: Any, key: str) -> list[int]:
    """A list of whole numbers, from 0."""
    if not isinstance(values, list):
        raise DamagedError(f"{key} = {describe(values)} is no list")
    return [checked_count(value, key) for value in values]


def checked_count(value: Any, key: str) -> int:
    """A value as a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise ContradictionError(f"{key} = {describe(value)} is no whole number from 0 to {MOST_TOKENS:g}")
    return value
