"""Throughputs in a CSV file: batch, length, tokens_per_s, and acceptance or tokens_per_round."""

import csv
import io
import math
from collections.abc import Mapping

import numpy as np

from msopt.errors import ParameterError, describe
from msopt.model.acceptance import Acceptance
from msopt.model.validation import MOST_SERVED, MOST_TOGETHER, check_whole
from verification.throughput_fit import ThroughputRow

_NEEDED = ("batch", "length", "tokens_per_s")
_ONE_OF = ("acceptance", "tokens_per_round")
_MOST_ROWS = 100_000


def parse_throughputs(text: str) -> list[ThroughputRow]:
    """The rows of a CSV text with a head line.

    `acceptance` is a token's, by the geometric law, `tokens_per_round` counts the target's own token, too. Neither is
    needed at length 0.

    Raises
    ------
    ParameterError
        One line, without the file's name, with the line of what is wrong.
    """
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    try:
        heads = [head.strip() for head in reader.fieldnames or ()]
        reader.fieldnames = heads
        missing = [head for head in _NEEDED if head not in heads]
        if missing or sum(head in heads for head in _ONE_OF) != 1 or len(set(heads)) < len(heads):
            raise ParameterError(
                f"needs the columns {', '.join(_NEEDED)} and one of {' and '.join(_ONE_OF)}, each once; it has "
                f"{describe(', '.join(heads))}"
            )
        rows: list[ThroughputRow] = []
        for row in reader:
            if len(rows) == _MOST_ROWS:
                raise ParameterError(f"has more than {_MOST_ROWS} rows")
            rows.append(_row(row, f"line {reader.line_num}"))
    except csv.Error as error:
        raise ParameterError(f"line {reader.line_num} is no CSV: {error}") from None
    return rows


def _row(row: Mapping[str | None, str | list[str] | None], place: str) -> ThroughputRow:
    batch, length, tokens_per_s = (_number(row.get(key), f"{place}: {key}") for key in _NEEDED)
    for key, value, least, most in (("batch", batch, 1, MOST_TOGETHER), ("length", length, 0, MOST_SERVED)):
        check_whole(f"{place}: {key}", int(value) if value.is_integer() else value, least, most)
    if not 1e-9 <= tokens_per_s <= 1e15:
        raise ParameterError(f"{place}: tokens_per_s = {tokens_per_s:g} is outside [1e-9, 1e15]")
    key = next(name for name in _ONE_OF if name in row)
    tokens = 1.0
    if length:
        value = _number(row[key], f"{place}: {key}")
        low, high = (0.0, 1.0) if key == "acceptance" else (1.0, length + 1.0)
        if not low <= value <= high:
            raise ParameterError(f"{place}: {key} = {value:g} is outside [{low:g}, {high:g}]")
        tokens = value
        if key == "acceptance":
            tokens = float(Acceptance.of([value]).expected_tokens(np.array([length]))[0])
    return ThroughputRow(int(batch), int(length), tokens_per_s, tokens)


def _number(value: str | list[str] | None, name: str) -> float:
    try:
        found = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ParameterError(f"{name} = {describe(value if isinstance(value, str) else '')} is no number")
    return found
